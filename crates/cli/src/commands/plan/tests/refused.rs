//! What is said of manifests that are refused, passed over, or do not do what they seem to.

use expect_test::expect;

use super::output::{ZONE, account, code, record};
use super::*;

#[test]
fn files_that_are_refused_say_where_and_what_was_meant() {
    in_world(Options::default(), async |world| {
        let manifests = "\
apiVersion: kflare.dev/v1alpha1
kind: DNSRecord
metadata:
  name: www
spec:
  zoneRef: {name: example-com}
  name: www
  type: A
  contnet: 192.0.2.1
---
apiVersion: kflare.dev/v1alpha1
kind: DNSRecord
metadata:
  name: mail
spec:
  zoneRef: {name: example-com}
  name: mail
  type: AX
  ttl: 7
  content: 192.0.2.1
---
apiVersion: kflare.dev/v1alpha1
kind: DnsRecord
metadata: {name: a}
spec: {}
---
apiVersion: kflare.dev/v1beta1
kind: Zone
metadata: {name: a}
spec: {}
---
apiVersion: kflare.dev/v1alpha1
kind: Zone
metadata: {name: a, namespace: nowhere}
spec: {name: example.org, accountRef: {name: main}}
";
        let error = ask(world, Ask::apply(manifests)).await.unwrap_err();
        expect![[r#"
            a.yaml: document 1 (line 9): DNSRecord default/www: unknown field spec.contnet; did you mean content?
            a.yaml: document 2 (line 18): DNSRecord default/mail: spec.type: Unsupported value: "AX": supported values: "A", "AAAA", "CAA", "CERT", "CNAME", "DNSKEY", "DS", "HTTPS", "LOC", "MX", "NAPTR", "NS", "OPENPGPKEY", "PTR", "SMIMEA", "SRV", "SSHFP", "SVCB", "TLSA", "TXT", "URI"
            a.yaml: document 3 (line 23): there is no kind DnsRecord in kflare.dev/v1alpha1; did you mean DNSRecord?
            a.yaml: document 4 (line 28): Zone is of apiVersion kflare.dev/v1alpha1, not kflare.dev/v1beta1
            a.yaml: document 5 (line 34): Zone nowhere/a: namespace nowhere does not exist: create it with `kubectl create namespace nowhere`, or add its manifest"#]].assert_eq(&error.to_string());
        let tokenless =
            manifest::parse("a.yaml", &account().replace("kind: Secret", "kind: ConfigMap")).unwrap();
        let question = Question {
            manifests: tokenless,
            intent: Intent::Apply,
            all: false,
            namespace: None,
            token: None,
        };
        let (_, cloudflare, config) = world.ways();
        let error = find(question, None, cloudflare, &config, world.clock.now()).await.unwrap_err();
        expect!["a.yaml: document 2 (line 6): CloudflareAccount main has no token: set CLOUDFLARE_API_TOKEN, or add the Secret kflare-system/cloudflare-token to the manifests"].assert_eq(&error.to_string());
    });
}

#[test]
fn an_annotation_with_a_slip_is_noted() {
    in_world(Options::default(), async |world| {
        apply(world, ZONE);
        run(world).await;
        let www = record("www", "type: A, content: 192.0.2.1")
            .replace("{name: www}", "{name: www, annotations: {kflare.dev/deletion-polcy: retain}}");
        let findings = ask(world, Ask::apply(&www)).await.unwrap();
        let said = "a.yaml:3: DNSRecord default/www: annotation kflare.dev/deletion-polcy is unknown and does nothing \
                    (did you mean kflare.dev/deletion-policy?)";
        assert_eq!(findings.notes, [said]);
        assert_eq!(code(&findings), CHANGES);
    });
}

#[test]
fn a_group_with_a_slip_is_refused_and_what_is_passed_over_is_named() {
    in_world(Options::default(), async |world| {
        apply(world, ZONE);
        run(world).await;
        let www = record("www", "type: A, content: 192.0.2.1");
        let slip = www.replace("kflare.dev/v1alpha1", "kflare.de/v1alpha1");
        for ask_for in [Ask::apply(&slip), Ask::delete(&slip)] {
            let error = ask(world, ask_for).await.unwrap_err().to_string();
            let said = "a.yaml: document 1 (line 2): DNSRecord is of apiVersion kflare.dev/v1alpha1, not kflare.de/v1alpha1";
            assert_eq!(error, said);
        }
        let other =
            |kind: &str, name: &str| format!("apiVersion: apps/v1\nkind: {kind}\nmetadata: {name}\n---\n");
        let foreign = www.replace("kflare.dev/v1alpha1", "ingress.operator.openshift.io/v1");
        let few = foreign + &other("Deployment", "{name: web, namespace: app}");
        let findings = ask(world, Ask::apply(&few)).await.unwrap();
        let named = "2 objects of other kinds are passed over: DNSRecord www of ingress.operator.openshift.io/v1, Deployment app/web";
        assert_eq!(findings.notes, [named]);
        let many: String = (0..7).map(|n| other("Job", &format!("{{name: n{n}}}"))).collect();
        let findings = ask(world, Ask::apply(&many)).await.unwrap();
        let named =
            "7 objects of other kinds are passed over: Job n0, Job n1, Job n2, Job n3, Job n4 and 2 more";
        assert_eq!(findings.notes, [named]);
    });
}

#[test]
fn a_form_that_does_not_fit_is_told_with_an_example_and_without_its_expression() {
    in_world(Options::default(), async |world| {
        let manifests = ZONE.replace("name: example.com", "name: exa mple.com")
            + &account().replace(crate::world::ACCOUNT_ID, "0123456789ABCDEF0123456789abcdef")
            + &record("a b", "type: TXT, content: x, tags: [\"team:dns\", \"a b\"]")
                .replace("{name: a b}", "{name: a}");
        let error = ask(world, Ask::apply(&manifests)).await.unwrap_err();
        expect![[r#"
            a.yaml: document 1 (line 4): Zone default/example-com: spec.name: Invalid value: "exa mple.com": name: must be a domain such as example.com: at least two labels of letters, digits and inner hyphens with dots between them, the last one not all digits
            a.yaml: document 3 (line 14): CloudflareAccount main: spec.accountID: Invalid value: "0123456789ABCDEF0123456789abcdef": accountID: must be 32 hexadecimal digits in lower case, such as 0123456789abcdef0123456789abcdef; the dashboard shows it on the account's overview
            a.yaml: document 4 (line 19): DNSRecord default/a: spec.name: Invalid value: "a b": name: must hold no white space, as in www, www.example.com or @
            a.yaml: document 4 (line 19): DNSRecord default/a: spec.tags: Invalid value: tags: each must be a name of letters, digits, - and _, or such a name with a value, as in team:dns"#]].assert_eq(&error.to_string());
        let fine = ZONE.replace("name: example.com", "name: müller.example.")
            + &record("@", "type: TXT, content: x, tags: [\"team:dns ops\", ops]")
                .replace("{name: @}", "{name: a}");
        assert!(ask(world, Ask::apply(&fine.replace("name: @,", "name: \"@\","))).await.is_ok());
    });
}
