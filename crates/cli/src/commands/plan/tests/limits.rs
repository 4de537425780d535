//! What a plan says where it knows less, or where there is nothing to look at: paused objects, no cluster, definitions
//! that are older, questions that ask for nothing.

use clap::Parser;
use expect_test::expect;
use serde_json::{Value, json};

use super::output::{ZONE, account, record};

use super::*;
use crate::commands::{Cli, Command};

fn text(findings: &Findings) -> String {
    text::render(findings, Style::default())
}

#[test]
fn a_paused_object_is_shown_as_paused_and_is_in_nobodys_way() {
    in_world(Options::default(), async |world| {
        let paused = record("still", "type: A, content: 192.0.2.1")
            .replace("{name: still}", "{name: still, annotations: {kflare.dev/paused: \"true\"}}");
        apply(world, &format!("{ZONE}{paused}"));
        run(world).await;
        let findings = ask(world, Ask { all: true, ..Ask::apply("") }).await.unwrap();
        expect![[r#"
            | DNSRecord default/still
                  paused by annotation kflare.dev/paused: nothing is read or changed

            Nothing to do, 1 paused.
            0 writes would be sent to Cloudflare, and 0 patches to Kubernetes. Finding out took 3 reads.
        "#]]
        .assert_eq(&text(&findings));
        let plan = json::render(&findings);
        assert_eq!((&plan["summary"]["paused"], &plan["summary"]["held"]), (&json!(1), &json!(0)));
        let object =
            plan["objects"].as_array().unwrap().iter().find(|object| object["name"] == "still").unwrap();
        let said = "paused by annotation kflare.dev/paused: nothing is read or changed";
        assert_eq!((&object["paused"]["message"], object.get("held")), (&json!(said), None));
        assert_eq!(format!("{:?}", exit_code(&findings)), format!("{:?}", ExitCode::SUCCESS));
    });
}

#[test]
fn what_would_be_removed_is_unknown_without_a_cluster() {
    in_world(Options::default(), async |world| {
        let (_, account) = account().split_once("---\n").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
        let manifests = format!("{account}{ZONE}");
        let findings = ask(world, Ask { no_cluster: true, ..Ask::apply(&manifests) }).await.unwrap();
        assert!(
            text(&findings).contains(
                "\nPlan: 1 to create, 0 to change; what would be removed is unknown without the cluster.\n"
            ),
            "{}",
            text(&findings)
        );
        let summary = json::render(&findings)["summary"].clone();
        assert_eq!(
            (&summary["delete"], &summary["release"], &summary["create"]),
            (&Value::Null, &Value::Null, &json!(1))
        );
    });
}

#[test]
fn without_a_cluster_a_parent_in_no_manifest_is_asked_for() {
    in_world(Options::default(), async |world| {
        let lost = record("www", "type: A, content: 192.0.2.1");
        let findings = ask(world, Ask { no_cluster: true, ..Ask::apply(&lost) }).await.unwrap();
        expect![[r#"
            ! DNSRecord default/www  a.yaml:1
                  ZoneNotFound: Zone default/example-com does not exist: create it, or correct spec.zoneRef

            Note: without a cluster only what the manifests hold exists; add the manifests of what is missing with another -f.
            Plan: 0 to create, 0 to change, 1 held; what would be removed is unknown without the cluster.
            0 writes would be sent to Cloudflare, and 0 patches to Kubernetes. Finding out took 0 reads.
        "#]]
        .assert_eq(&text(&findings));
    });
}

#[test]
fn definitions_that_are_older_are_named_with_what_they_lack() {
    in_world(Options::default(), async |world| {
        let crds = kinds::CRDS.iter().map(|crd| serde_json::from_str::<Value>(crd).unwrap());
        let mut crd = crds.into_iter().find(|crd| crd["spec"]["names"]["kind"] == "DNSRecord").unwrap();
        crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
            .as_object_mut()
            .unwrap()
            .remove("tags");
        world.kubernetes.delete("CustomResourceDefinition", None, "dnsrecords.kflare.dev").unwrap();
        world.kubernetes.install_crds(&[crd]).unwrap();
        let findings = ask(world, Ask { all: true, ..Ask::apply("") }).await.unwrap();
        assert_eq!(
            findings.notes,
            [
                "CustomResourceDefinition dnsrecords.kflare.dev lacks spec.tags, which this kflare knows; update it with \
                 `kflare crds | kubectl apply -f -`"
            ]
        );
    });
}

#[test]
fn the_placeholder_of_the_samples_is_no_unknown_token() {
    in_world(Options::default(), async |world| {
        let samples = manifest::SAMPLES.iter().map(|(_, text)| *text).collect::<Vec<_>>().join("---\n");
        let findings = ask(world, Ask { no_cluster: true, ..Ask::apply(&samples) }).await.unwrap();
        let obstacle = findings.objects[0].obstacle.as_ref().unwrap();
        assert_eq!(obstacle.reason, "InvalidToken");
        let said = "holds the placeholder of the samples: put an API token of your account in its place";
        assert!(obstacle.message.contains(said), "{}", obstacle.message);
    });
}

#[test]
fn a_token_of_the_environment_is_not_blamed_on_a_secret() {
    in_world(Options::default(), async |world| {
        let manifests = manifest::parse("a.yaml", account().split_once("---\n").unwrap().1).unwrap();
        let question = |token| Question {
            manifests: manifests.clone(),
            intent: Intent::Apply,
            all: false,
            namespace: None,
            token,
        };
        let (_, cloudflare, config) = world.ways();
        let now = world.clock.now();
        let wrong = find(question(Some("Bearer x")), None, cloudflare.clone(), &config, now).await.unwrap();
        let note = "Secret kflare-system/cloudflare-token is in no manifest: the token of CLOUDFLARE_API_TOKEN stands for it";
        assert_eq!(wrong.notes, [note], "{:?}", wrong.objects);
        let message = &wrong.objects[0].obstacle.as_ref().unwrap().message;
        assert!(message.contains("the variable CLOUDFLARE_API_TOKEN"), "{message}");
        assert!(!message.contains("Secret kflare-system/cloudflare-token"), "{message}");
        let refused = find(question(Some("wrong")), None, cloudflare.clone(), &config, now).await.unwrap();
        let message = &refused.objects[0].obstacle.as_ref().unwrap().message;
        assert!(message.contains("CloudflareAccount main (the variable CLOUDFLARE_API_TOKEN):"), "{message}");
        let right = find(question(Some(crate::world::TOKEN)), None, cloudflare, &config, now).await.unwrap();
        assert_eq!(right.notes, [""; 0]);
    });
}

#[test]
fn manifests_that_name_no_namespace_get_the_one_that_is_asked_for() {
    in_world(Options::default(), async |world| {
        apply(world, "apiVersion: v1\nkind: Namespace\nmetadata: {name: app}\n");
        let members = async |namespace, manifests: &str| {
            let findings = ask(world, Ask { namespace, ..Ask::apply(manifests) }).await?;
            let named = findings.objects.into_iter().filter(|object| object.place.is_some());
            anyhow::Ok(named.map(|object| object.member.to_string()).collect::<Vec<_>>())
        };
        assert_eq!(members(None, ZONE).await.unwrap(), ["Zone default/example-com"]);
        assert_eq!(members(Some("app"), ZONE).await.unwrap(), ["Zone app/example-com"]);
        let elsewhere = ZONE.replace("{name: example-com}", "{name: example-com, namespace: default}");
        let error = members(Some("app"), &elsewhere).await.unwrap_err().to_string();
        assert!(
            error.starts_with("a.yaml: document 1 (line 3): Zone default/example-com: it names another"),
            "{error}"
        );
        let missing = members(Some("nope"), ZONE).await.unwrap_err().to_string();
        assert!(missing.contains("namespace nope does not exist"), "{missing}");
    });
}

#[test]
fn a_plan_of_nothing_says_what_can_be_asked_for() {
    let asked = |line: &str| {
        let Command::Plan(arguments) = Cli::try_parse_from(line.split(' ')).unwrap().command else {
            panic!("{line}")
        };
        arguments.check().map_err(|error| error.to_string())
    };
    for fine in ["kflare plan -f a.yaml", "kflare plan --all", "kflare plan --all -f a.yaml --delete"] {
        assert_eq!(asked(fine), Ok(()), "{fine}");
    }
    let nothing = asked("kflare plan").unwrap_err();
    assert!(nothing.contains("-f PATH") && nothing.contains("--all"), "{nothing}");
    for line in ["kflare plan --delete", "kflare plan --delete --all", "kflare plan --no-cluster --all"] {
        assert!(asked(line).unwrap_err().contains("-f PATH"), "{line}");
    }
}
