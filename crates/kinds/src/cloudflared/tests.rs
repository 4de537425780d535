use serde::Deserialize;
use serde_json::{Value, json};

use super::expression::tests::bytes;
use super::*;

/// What cloudflared (August 2026) answered for these configurations.
const INGRESS: &str = include_str!("../../testdata/cloudflared/ingress.json");
/// What its own package answered for made-up ones (commit d1df7985 of August 20, 2026, Go 1.26).
const DRAWN: &str = include_str!("../../testdata/cloudflared/drawn.json");

#[derive(Deserialize)]
struct Row {
    name: String,
    config: Value,
    #[serde(default)]
    refused: bool,
    #[serde(default)]
    crashes: bool,
    #[serde(default)]
    hits: Vec<(String, usize)>,
}

#[test]
fn every_configuration_fares_as_with_cloudflared() {
    let written: Vec<Row> = serde_json::from_str(INGRESS).unwrap();
    let drawn: Vec<Row> = serde_json::from_str(DRAWN).unwrap();
    assert!(written.len() > 200 && drawn.len() > 500);
    let mut wrong = Vec::new();
    for Row { name, config, refused, crashes, hits } in written.into_iter().chain(drawn) {
        match Configuration::read(&config) {
            Err(refusal) => {
                if refusal.crashes() != crashes || !(refused || crashes) {
                    wrong.push(format!("{name}: {refusal}"));
                }
            }
            Ok(_) if refused || crashes => wrong.push(format!("{name}: taken")),
            Ok(configuration) => {
                assert!(!hits.is_empty(), "{name} asks nothing");
                for (url, rule) in hits {
                    let found = configuration.rule_for_url(&url);
                    if found != Ok(rule) {
                        wrong.push(format!("{name}: {url} finds {found:?}, not {rule}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What Go's `url.Parse`, `net.SplitHostPort` and `net.ParseCIDR` say (`testing/cloudflared`).
const URLS: &str = include_str!("../../testdata/cloudflared/urls.json");
const HOSTS: &str = include_str!("../../testdata/cloudflared/hosts.json");
const NETWORKS: &str = include_str!("../../testdata/cloudflared/networks.json");

#[derive(Deserialize)]
struct UrlRow {
    url: String,
    taken: bool,
    scheme: String,
    host: String,
    hostname: String,
    path: String,
}

#[derive(Deserialize)]
struct HostRow {
    text: String,
    found: bool,
    host: String,
}

#[derive(Deserialize)]
struct NetworkRow {
    text: String,
    taken: bool,
}

#[test]
fn go_reads_the_same_in_a_url() {
    let rows: Vec<UrlRow> = serde_json::from_str(URLS).unwrap();
    assert!(rows.len() > 1_000);
    let mut wrong = Vec::new();
    for row in rows {
        match address::Address::parse(&row.url) {
            Ok(_) if !row.taken => wrong.push(format!("{:?}: taken", row.url)),
            Err(error) if row.taken => wrong.push(format!("{:?}: {error}", row.url)),
            Err(_) => {}
            Ok(found) => {
                let hostname = found.hostname() == bytes(&row.hostname);
                if !hostname
                    || found.scheme != row.scheme
                    || found.host != bytes(&row.host)
                    || found.path != bytes(&row.path)
                {
                    wrong.push(format!("{:?}: {found:?}", row.url));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn go_finds_the_same_port_and_takes_the_same_networks() {
    let rows: Vec<HostRow> = serde_json::from_str(HOSTS).unwrap();
    assert!(rows.len() > 300);
    for HostRow { text, found, host } in rows {
        assert_eq!(hostname::split_port(&text), found.then_some(&*host), "{text}");
    }
    let rows: Vec<NetworkRow> = serde_json::from_str(NETWORKS).unwrap();
    assert!(rows.len() > 600);
    for NetworkRow { text, taken } in rows {
        assert_eq!(origin::is_network(&text), taken, "{text}");
    }
}

#[test]
fn two_spellings_of_one_field_are_refused_as_what_cannot_be_known() {
    let rule = json!({"service": "http_status:404", "Service": "http_status:99"});
    let refusal = Configuration::read(&json!({ "ingress": [rule] })).unwrap_err();
    assert!(refusal.is_unsure() && !refusal.crashes());
    assert!(refusal.to_string().starts_with("ingress[0].service: "), "{refusal}");
}

#[test]
fn a_refusal_names_rule_and_field_and_what_to_do() {
    let last = json!({"service": "http_status:404"});
    let of = |rule: Value| Configuration::read(&json!({ "ingress": [rule, last] })).unwrap_err();
    for (rule, place, fix) in [
        (json!({"hostname": "a", "service": "svc:80"}), "ingress[0].service", "http://host:port"),
        (json!({"hostname": "a", "service": "http://svc/"}), "ingress[0].service", "a final `/` too"),
        (json!({"hostname": "a:80", "service": "http://svc"}), "ingress[0].hostname", "write the name alone"),
        (json!({"hostname": "a", "path": "*", "service": "http://svc"}), "ingress[0].path", r"write `\*`"),
        (json!({"service": "http://svc"}), "ingress[0]", "move it to the end"),
        (
            json!({"hostname": "a", "service": "http://svc", "originRequest": {"connectTimeout": "30s"}}),
            "ingress[0].originRequest.connectTimeout",
            "seconds",
        ),
        (
            json!({"hostname": "a", "service": "socks-proxy", "originRequest": {"ipRules": [{"prefix": "::/0", "ports": [0]}]}}),
            "ingress[0].originRequest.ipRules[0].ports[0]",
            "from 1 to 65535",
        ),
    ] {
        let refusal = of(rule).to_string();
        let (found, cause) = refusal.split_once(": ").unwrap();
        assert!(found == place && cause.contains(fix), "{refusal}");
    }
    let whole = Configuration::read(&json!({ "warp-routing": 1 })).unwrap_err();
    assert_eq!(whole.place.rule, None);
    assert_eq!(whole.to_string(), "warp-routing: this must be an object");
    let empty = Configuration::read(&json!({ "ingress": [] })).unwrap_err();
    assert!(empty.crashes() && empty.place.rule.is_none());
}

#[test]
fn files_of_certificates_are_listed_where_cloudflared_reads_them() {
    let config = json!({
        "originRequest": {"caPool": "/all.pem"},
        "ingress": [
            {"hostname": "a", "service": "https://svc"},
            {"hostname": "b", "service": "https://svc", "originRequest": {"caPool": "/b.pem"}},
            {"hostname": "c", "service": "tcp://svc"},
            {"hostname": "d", "service": "https://svc", "originRequest": {"caPool": ""}},
            {"service": "http_status:404"},
        ],
    });
    let configuration = Configuration::read(&config).unwrap();
    let files: Vec<_> = configuration.certificate_files().collect();
    assert_eq!(files, [(0, "/all.pem"), (1, "/b.pem")]);
}

#[test]
fn lists_and_paths_have_an_end() {
    let rule = |path: &str| json!({"hostname": "a", "path": path, "service": "http://svc"});
    let mut rules = vec![rule("a{1000}"); 1_060];
    rules.push(json!({"service": "http_status:404"}));
    let refusal = Configuration::read(&json!({ "ingress": rules })).unwrap_err();
    assert!(refusal.is_unsure() && refusal.cause == Cause::TooLarge, "{refusal}");
    let rules = vec![json!({"hostname": "a", "service": "http://svc"}); RULES_MAX + 1];
    let refusal = Configuration::read(&json!({ "ingress": rules })).unwrap_err();
    assert!(refusal.is_unsure() && refusal.cause == Cause::TooManyRules, "{refusal}");
}

#[test]
fn hostnames_and_services_can_be_asked_about_alone() {
    assert_eq!(check_hostname("*.example.com"), Ok(()));
    assert_eq!(check_hostname("a.*.example.com"), Err(Cause::HostnameWildcard));
    assert_eq!(check_service("tcp://svc"), Ok(()));
    assert_eq!(check_service("http_status:99"), Err(Cause::Status));
}
