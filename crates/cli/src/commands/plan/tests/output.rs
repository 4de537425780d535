//! What a plan looks like, situation by situation.

use expect_test::{Expect, expect};
use serde_json::json;

use super::*;
use crate::world::{ACCOUNT_ID, SECRET_NAME, SECRET_NAMESPACE, TOKEN};

pub(super) const ZONE: &str = "\
apiVersion: kflare.dev/v1alpha1
kind: Zone
metadata: {name: example-com}
spec: {name: example.com, accountRef: {name: main}}
---
";

pub(super) fn record(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: kflare.dev/v1alpha1\nkind: DNSRecord\nmetadata: {{name: {name}}}\n\
         spec: {{zoneRef: {{name: example-com}}, name: {name}, {spec}}}\n---\n"
    )
}

pub(super) fn account() -> String {
    format!(
        "apiVersion: v1\nkind: Secret\nmetadata: {{name: {SECRET_NAME}, namespace: {SECRET_NAMESPACE}}}\n\
         stringData: {{CF_API_TOKEN: {TOKEN}}}\n---\n\
         apiVersion: kflare.dev/v1alpha1\nkind: CloudflareAccount\nmetadata: {{name: main}}\n\
         spec: {{accountID: {ACCOUNT_ID}, tokenSecretRef: {{name: {SECRET_NAME}, namespace: {SECRET_NAMESPACE}}}}}\n---\n"
    )
}

const QUIET: Style = Style { colour: false, verbose: false };

#[track_caller]
fn shows(findings: &Findings, expected: &Expect) {
    let text = text::render(findings, QUIET);
    assert!(!text.contains(TOKEN) && !json::render(findings).to_string().contains(TOKEN));
    expected.assert_eq(&text);
}

pub(super) fn code(findings: &Findings) -> u8 {
    let codes = [0, CHANGES, OBSTRUCTED].into_iter();
    let shown = format!("{:?}", exit_code(findings));
    codes.into_iter().find(|code| format!("{:?}", ExitCode::from(*code)) == shown).unwrap()
}

#[test]
fn a_tree_from_nothing() {
    in_world(Options { empty: true, ..Options::default() }, async |world| {
        let manifests = format!(
            "{}{}{}{ZONE}",
            account(),
            record("www", "type: A, content: 192.0.2.1"),
            record("sip", "type: SRV, data: {priority: 1, weight: 5, port: 5060, target: sip.example.net}"),
        );
        let findings = ask(world, Ask::apply(&manifests)).await.unwrap();
        shows(
            &findings,
            &expect![[r#"
                  CloudflareAccount main  a.yaml:6
                      protect Secret kflare-system/cloudflare-token from deletion
                + Zone default/example-com  a.yaml:21
                      create it in Cloudflare
                        account.id: "0123456789abcdef0123456789abcdef"
                        name: "example.com"
                        type: "full"
                + DNSRecord default/sip  a.yaml:16
                      create it in Cloudflare
                        data.port: 5060
                        data.priority: 1
                        data.target: "sip.example.net"
                        data.weight: 5
                        name: "sip.example.com"
                        ttl: 1
                        type: "SRV"
                + DNSRecord default/www  a.yaml:11
                      create it in Cloudflare
                        content: "192.0.2.1"
                        name: "www.example.com"
                        proxied: false
                        ttl: 1
                        type: "A"

                Plan: 3 to create, 0 to change, 0 to delete, 1 to mark in Kubernetes.
                2 writes would be sent to Cloudflare, and 8 patches to Kubernetes. Finding out took 3 reads.
            "#]],
        );
        assert_eq!(code(&findings), CHANGES);
        let verbose = text::render(&findings, Style { colour: false, verbose: true });
        let requests: Vec<&str> = verbose.lines().map(str::trim).filter(|line| line.contains(" /")).collect();
        expect![[r#"
                  POST /zones
                  POST /zones/(known after apply)/dns_records/batch (with 1 other)
                  POST /zones/(known after apply)/dns_records/batch (with 1 other)"#]]
        .assert_eq(&requests.join("\n"));
    });
}

/// A world with a record, and the manifest that changes its TTL and drops its comment.
async fn changed(world: &mut World) -> (String, String) {
    let before = record("www", "type: A, content: 192.0.2.1, ttl: 120, comment: mine");
    apply(world, &format!("{ZONE}{before}"));
    run(world).await;
    (before, record("www", "type: A, content: 192.0.2.1, ttl: 300"))
}

#[test]
fn a_changed_ttl_and_nothing_else() {
    in_world(Options::default(), async |world| {
        let (before, after) = changed(world).await;
        let same = ask(world, Ask::apply(&before)).await.unwrap();
        assert_eq!(code(&same), 0);
        shows(
            &same,
            &expect![[r#"
            Nothing to do.
            0 writes would be sent to Cloudflare, and 0 patches to Kubernetes. Finding out took 4 reads.
        "#]],
        );
        let changed = ask(world, Ask::apply(&after)).await.unwrap();
        shows(
            &changed,
            &expect![[r#"
            ~ DNSRecord default/www  a.yaml:1
                  ttl: 120 -> 300
                  comment: "mine" -> (not set)

            Plan: 0 to create, 1 to change, 0 to delete.
            1 write would be sent to Cloudflare, and 0 patches to Kubernetes. Finding out took 4 reads.
        "#]],
        );
    });
}

#[test]
fn a_script_reads_the_same_as_json() {
    in_world(Options::default(), async |world| {
        let (_, after) = changed(world).await;
        let plan = json::render(&ask(world, Ask::apply(&after)).await.unwrap());
        let members: Vec<&String> = plan.as_object().unwrap().keys().collect();
        assert_eq!(members, ["apart", "notes", "objects", "requests", "summary", "version"]);
        let objects = plan["objects"].as_array().unwrap().iter().map(ToString::to_string).collect::<Vec<_>>();
        let parts = [objects.join("\n"), plan["requests"].to_string(), plan["summary"].to_string()];
        expect![[r#"
            {"actions":[],"kind":"CloudflareAccount","name":"main"}
            {"actions":[],"kind":"Zone","name":"example-com","namespace":"default"}
            {"actions":[{"action":"change","fields":[{"field":"ttl","from":120,"to":300},{"field":"comment","from":"mine","to":null}]}],"file":"a.yaml","kind":"DNSRecord","line":1,"name":"www","namespace":"default"}
            [{"body":{"comment":"","ttl":300},"method":"PATCH","objects":[{"kind":"DNSRecord","name":"www","namespace":"default"}],"path":"/zones/8c7654ecfd7b0b623b803e2f4e02ad1c/dns_records/84acc16af38f59d2ddeb004751e48c2d","target":"cloudflare"}]
            {"adopt":0,"calls":1,"change":1,"create":0,"delete":0,"held":0,"mark":0,"patches":0,"paused":0,"reads":4,"release":0,"unchanged":2}"#]].assert_eq(&parts.join("\n"));
    });
}

#[test]
fn adoption_conflict_pause_and_a_missing_parent() {
    in_world(Options::default(), async |world| {
        apply(world, ZONE);
        run(world).await;
        let zones = world.cloudflare.zones();
        let zone = zones[0]["id"].as_str().unwrap();
        for name in ["old.example.com", "taken.example.com"] {
            let body = json!({"type": "A", "name": name, "content": "192.0.2.1", "ttl": 120});
            world.cloudflare.put_record(zone, body).unwrap();
        }
        let adopt = record("old", "type: A, content: 192.0.2.1, ttl: 300")
            .replace("{name: old}", "{name: old, annotations: {kflare.dev/adoption-policy: adopt}}");
        let paused = record("still", "type: A, content: 192.0.2.1")
            .replace("{name: still}", "{name: still, annotations: {kflare.dev/paused: \"true\"}}");
        let taken = record("taken", "type: A, content: 192.0.2.1");
        let lost = record("lost", "type: A, content: 192.0.2.1").replace("example-com", "example-org");
        let findings = ask(world, Ask::apply(&format!("{adopt}{paused}{taken}{lost}"))).await.unwrap();
        shows(
            &findings,
            &expect![[r#"
                ! DNSRecord default/lost  a.yaml:16
                      ZoneNotFound: Zone default/example-org does not exist: create it, or correct spec.zoneRef
                = DNSRecord default/old  a.yaml:1
                      adopt 84acc16af38f59d2ddeb004751e48c2d, which exists
                      ttl: 120 -> 300
                | DNSRecord default/still  a.yaml:6
                      paused by annotation kflare.dev/paused: nothing is read or changed
                ! DNSRecord default/taken  a.yaml:11
                      AlreadyExists: adf21c0341a4dfca3200c2668f4b0412 exists with this key and kflare did not create it; annotate the DNSRecord with kflare.dev/adoption-policy: adopt to take it over

                Plan: 0 to create, 1 to change, 0 to delete, 1 to adopt, 2 held, 1 paused.
                1 write would be sent to Cloudflare, and 1 patch to Kubernetes. Finding out took 4 reads.
            "#]],
        );
        assert_eq!(code(&findings), OBSTRUCTED);
        let only_paused = ask(world, Ask::apply(&paused)).await.unwrap();
        assert_eq!(code(&only_paused), 0);
    });
}

#[test]
fn a_deletion_takes_what_is_named_and_waits_for_the_rest() {
    in_world(Options::default(), async |world| {
        let (www, kept) =
            (record("www", "type: A, content: 192.0.2.1"), record("kept", "type: A, content: 192.0.2.2"));
        let kept =
            kept.replace("{name: kept}", "{name: kept, annotations: {kflare.dev/deletion-policy: retain}}");
        apply(world, &format!("{ZONE}{www}{kept}"));
        run(world).await;
        let all = ask(world, Ask::delete(&format!("{ZONE}{www}{kept}"))).await.unwrap();
        shows(
            &all,
            &expect![[r#"
                - Zone default/example-com  a.yaml:1
                      delete 8c7654ecfd7b0b623b803e2f4e02ad1c in Cloudflare
                  DNSRecord default/kept  a.yaml:11
                      let it go; what it stands for stays in Cloudflare
                - DNSRecord default/www  a.yaml:6
                      delete adf21c0341a4dfca3200c2668f4b0412 in Cloudflare

                Plan: 0 to create, 0 to change, 2 to delete, 1 to let go.
                2 writes would be sent to Cloudflare, and 4 patches to Kubernetes. Finding out took 3 reads.
            "#]],
        );
        let zone = ask(world, Ask::delete(&format!("{ZONE}{www}"))).await.unwrap();
        shows(
            &zone,
            &expect![[r#"
                ! Zone default/example-com  a.yaml:1
                      InUse: waiting for DNSRecord default/kept
                ! DNSRecord default/kept
                      ZoneNotReady: Zone default/example-com is being deleted
                - DNSRecord default/www  a.yaml:6
                      delete adf21c0341a4dfca3200c2668f4b0412 in Cloudflare

                Plan: 0 to create, 0 to change, 1 to delete, 2 held.
                1 write would be sent to Cloudflare, and 1 patch to Kubernetes. Finding out took 7 reads.
            "#]],
        );
        let unknown = ask(world, Ask::delete(&record("gone", "type: A, content: 192.0.2.1"))).await.unwrap();
        shows(
            &unknown,
            &expect![[r#"
            Note: DNSRecord default/gone is not in the cluster.
            Nothing to do.
            0 writes would be sent to Cloudflare, and 0 patches to Kubernetes. Finding out took 0 reads.
        "#]],
        );
    });
}

#[test]
fn drift_shows_without_any_manifest() {
    in_world(Options::default(), async |world| {
        apply(world, &format!("{ZONE}{}", record("www", "type: A, content: 192.0.2.1, proxied: true")));
        run(world).await;
        let zones = world.cloudflare.zones();
        let zone = zones[0]["id"].as_str().unwrap();
        let records = world.cloudflare.records(zone);
        let id = records[0]["id"].as_str().unwrap();
        world
            .cloudflare
            .try_edit_record(zone, id, json!({"proxied": false, "content": "192.0.2.9"}))
            .unwrap();
        let findings = ask(world, Ask { all: true, ..Ask::apply("") }).await.unwrap();
        shows(
            &findings,
            &expect![[r#"
            ~ DNSRecord default/www
                  content: "192.0.2.9" -> "192.0.2.1"
                  proxied: false -> true

            Plan: 0 to create, 1 to change, 0 to delete.
            1 write would be sent to Cloudflare, and 0 patches to Kubernetes. Finding out took 4 reads.
        "#]],
        );
    });
}

#[test]
fn without_a_cluster_what_exists_counts_as_ones_own() {
    in_world(Options::default(), async |world| {
        apply(world, &format!("{ZONE}{}", record("www", "type: A, content: 192.0.2.1, ttl: 120")));
        run(world).await;
        let account = account();
        let (_, account) = account.split_once("---\n").unwrap();
        let (www, api) = ("type: A, content: 192.0.2.7, ttl: 120", "type: AAAA, content: \"2001:db8::1\"");
        let manifests = format!("{account}{ZONE}{}{}", record("www", www), record("api", api));
        let findings = ask(world, Ask { no_cluster: true, ..Ask::apply(&manifests) }).await.unwrap();
        shows(
            &findings,
            &expect![[r#"
                  Zone default/example-com  a.yaml:6
                      8c7654ecfd7b0b623b803e2f4e02ad1c exists; whether it is its own, only the cluster knows
                + DNSRecord default/api  a.yaml:16
                      create it in Cloudflare
                        content: "2001:db8::1"
                        name: "api.example.com"
                        proxied: false
                        ttl: 1
                        type: "AAAA"
                ~ DNSRecord default/www  a.yaml:11
                      84acc16af38f59d2ddeb004751e48c2d exists; whether it is its own, only the cluster knows
                      content: "192.0.2.1" -> "192.0.2.7"

                Plan: 1 to create, 1 to change; what would be removed is unknown without the cluster.
                1 write would be sent to Cloudflare, and 0 patches to Kubernetes. Finding out took 5 reads.
            "#]],
        );
    });
}

#[test]
fn an_object_that_stands_twice_is_noted_and_the_last_counts() {
    in_world(Options::default(), async |world| {
        apply(world, ZONE);
        run(world).await;
        let of = |content: &str| record("www", &format!("type: A, content: {content}"));
        let manifests = format!("{}{}", of("192.0.2.1"), of("192.0.2.2"));
        let findings = ask(world, Ask::apply(&manifests)).await.unwrap();
        let note = "DNSRecord default/www stands in a.yaml:1 and a.yaml:6; the last counts";
        assert_eq!(findings.notes, [note]);
        let text = text::render(&findings, Style::default());
        assert!(text.contains(&format!("Note: {note}.")) && text.contains("192.0.2.2"), "{text}");
        assert!(!text.contains("192.0.2.1\""), "{text}");
        assert_eq!(json::render(&findings)["notes"][0], note);
        assert_eq!(
            ask(world, Ask::delete(&manifests)).await.unwrap().notes.len(),
            2,
            "nothing there to delete"
        );
    });
}

#[test]
fn what_is_only_marked_says_with_what() {
    let marks = finding::Marks {
        set: vec!["finalizer kflare.dev/finalizer".to_owned()],
        removed: vec!["annotation kflare.dev/creating".to_owned()],
    };
    let finding = finding::Finding {
        member: MemberId::new(kinds::KINDS[0], Key::new("", "main")),
        place: None,
        deeds: vec![finding::Deed::Mark(marks)],
        obstacle: None,
        paused: None,
    };
    let findings = Findings { objects: vec![finding], has_cluster: true, ..Findings::default() };
    let said = "set finalizer kflare.dev/finalizer; remove annotation kflare.dev/creating; nothing changes in Cloudflare";
    let text = text::render(&findings, Style::default());
    assert!(text.contains(said), "{text}");
    assert_eq!((findings.counts().mark, json::render(&findings)["summary"]["mark"].clone()), (1, json!(1)));
    let action = &json::render(&findings)["objects"][0]["actions"][0];
    assert_eq!(action["set"][0], "finalizer kflare.dev/finalizer");
}

#[test]
fn a_plan_that_only_marks_says_so_in_its_summary() {
    in_world(Options::default(), async |world| {
        apply(world, ZONE);
        run(world).await;
        let free = json!({"metadata": {"finalizers": []}});
        world.kubernetes.patch("CloudflareAccount", None, "main", free).unwrap();
        let findings = ask(world, Ask::apply(ZONE)).await.unwrap();
        shows(
            &findings,
            &expect![[r#"
              CloudflareAccount main
                  set finalizer kflare.dev/finalizer; nothing changes in Cloudflare

            Plan: 0 to create, 0 to change, 0 to delete, 1 to mark in Kubernetes.
            0 writes would be sent to Cloudflare, and 1 patch to Kubernetes. Finding out took 3 reads.
        "#]],
        );
        assert_eq!(code(&findings), CHANGES);
    });
}

#[test]
fn plans_of_different_times_are_the_same_json() {
    in_world(Options::default(), async |world| {
        apply(world, ZONE);
        run(world).await;
        let manifests = record("www", "type: A, content: 192.0.2.1");
        let before = json::render(&ask(world, Ask::apply(&manifests)).await.unwrap());
        tokio::time::advance(std::time::Duration::from_secs(3600)).await;
        let after = json::render(&ask(world, Ask::apply(&manifests)).await.unwrap());
        assert!(before.to_string().contains(" until (known after apply)"), "{before}");
        assert_eq!(before["requests"], after["requests"]);
    });
}

#[test]
fn a_token_that_may_not_read_is_named_and_nothing_is_planned() {
    in_world(Options::default(), async |world| {
        apply(world, ZONE);
        run(world).await;
        let token = sandbox::cloudflare::Token::all(ACCOUNT_ID).with_permissions([]);
        world.cloudflare.set_token(TOKEN, token);
        let findings = ask(world, Ask::apply(&record("www", "type: A, content: 192.0.2.1"))).await.unwrap();
        assert_eq!((findings.acts.len(), findings.counts().held), (0, 3));
        let account = findings.objects[0].obstacle.as_ref().unwrap();
        assert!(account.message.contains(SECRET_NAME), "{}", account.message);
        assert_eq!(code(&findings), OBSTRUCTED);
    });
}

#[test]
fn a_cluster_without_our_kinds_is_told_from_one_that_forbids() {
    in_world(Options::default(), async |_| {
        let empty =
            sandbox::kubernetes::ApiServer::new(sandbox::clock::Clock::starting_at(Timestamp::UNIX_EPOCH), 1);
        let client = kube::Client::new(empty.service(), "default");
        let error = Inventory::read(client, "http://sandbox".to_owned(), &Teller::default())
            .await
            .map(drop)
            .unwrap_err();
        assert!(matches!(error, cluster::ClusterError::NoSuchKinds(_)), "{error:?}");
    });
}
