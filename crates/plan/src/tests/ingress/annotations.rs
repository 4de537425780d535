//! Each annotation: what it accepts, what it sets, and the words by which its errors are known.

use std::fmt::Write as _;

use expect_test::expect;
use serde_json::Value;

use super::harness::World;
use crate::ingress::notice::Notice;
use crate::ingress::{assemble, rules};

/// The one rule that comes of these annotations, or what is wrong with them.
fn outcome(annotations: &str) -> String {
    let world = World::read(&format!(
        "ingresses: [{{name: apps/web, annotations: {{{annotations}}}, rules: [{{host: a.b, paths: [Prefix /x web-a:80]}}]}}]"
    ));
    let exposed = world.exposed();
    if let Some(Notice::BadAnnotation(error)) = exposed[0].notices.first() {
        return format!("{error}");
    }
    let first = assemble(&exposed, &[], "cluster.local").rules.first().map(rules::Rule::to_json);
    let mut rule = first.unwrap_or_default();
    let service = rule["service"].as_str().unwrap().replace("web-a.apps.svc.cluster.local:80", "");
    let path = rule.get("path").and_then(Value::as_str).unwrap_or("-").to_owned();
    format!("{service} {path} {}", rule["originRequest"].take())
}

fn table(rows: &[&str]) -> String {
    rows.iter().fold(String::new(), |mut table, row| {
        writeln!(table, "{row}\n    {}", outcome(row)).unwrap();
        table
    })
}

#[test]
fn b034_schemes_and_what_is_verified() {
    let rows = [
        "",
        "backend-protocol: https",
        "backend-protocol: HTTPS",
        "backend-protocol: https, no-tls-verify: 'false'",
        "backend-protocol: https, proxy-ssl-verify: 'on', origin-server-name: o.example",
        "backend-protocol: https, proxy-ssl-verify: 'off', origin-server-name: ''",
        "proxy-ssl-verify: 'on', origin-server-name: o.example",
        "proxy-ssl-verify: 'true'",
        "no-tls-verify: 'true'",
        "no-tls-verify: 'True'",
        "no-tls-verify: 'true', proxy-ssl-verify: whatever",
        "backend-protocol: tcp, http-host-header: h.example, proxy-ssl-verify: 'on', connect-timeout: 5s",
        "backend-protocol: ''",
        "backend-protocol: 'https://'",
        "backend-protocol: hello_world",
    ];
    expect![[r#"

            http:// ^/x(/|$) null
        backend-protocol: https
            https:// ^/x(/|$) {"noTLSVerify":true}
        backend-protocol: HTTPS
            https:// ^/x(/|$) {"noTLSVerify":true}
        backend-protocol: https, no-tls-verify: 'false'
            https:// ^/x(/|$) {"noTLSVerify":false}
        backend-protocol: https, proxy-ssl-verify: 'on', origin-server-name: o.example
            https:// ^/x(/|$) {"noTLSVerify":false,"originServerName":"o.example"}
        backend-protocol: https, proxy-ssl-verify: 'off', origin-server-name: ''
            https:// ^/x(/|$) {"noTLSVerify":true,"originServerName":""}
        proxy-ssl-verify: 'on', origin-server-name: o.example
            http:// ^/x(/|$) null
        proxy-ssl-verify: 'true'
            invalid value "true" for annotation cloudflare-tunnel-ingress-controller.strrl.dev/proxy-ssl-verify, available values: "on" or "off"
        no-tls-verify: 'true'
            http:// ^/x(/|$) {"noTLSVerify":true}
        no-tls-verify: 'True'
            invalid value "True" for annotation cloudflare-tunnel-ingress-controller.strrl.dev/no-tls-verify, available values: "true" or "false"
        no-tls-verify: 'true', proxy-ssl-verify: whatever
            annotations cloudflare-tunnel-ingress-controller.strrl.dev/proxy-ssl-verify and cloudflare-tunnel-ingress-controller.strrl.dev/no-tls-verify are mutually exclusive, remove one
        backend-protocol: tcp, http-host-header: h.example, proxy-ssl-verify: 'on', connect-timeout: 5s
            tcp:// - {"connectTimeout":5,"httpHostHeader":"h.example"}
        backend-protocol: ''
            invalid value "" for annotation cloudflare-tunnel-ingress-controller.strrl.dev/backend-protocol, expect the scheme of a URL, such as "https"
        backend-protocol: 'https://'
            invalid value "https://" for annotation cloudflare-tunnel-ingress-controller.strrl.dev/backend-protocol, expect the scheme of a URL, such as "https"
        backend-protocol: hello_world
            invalid value "hello_world" for annotation cloudflare-tunnel-ingress-controller.strrl.dev/backend-protocol, expect the scheme of a URL, such as "https"
    "#]].assert_eq(&table(&rows));
}

#[test]
fn durations_numbers_and_switches() {
    let rows = [
        "connect-timeout: 30s, tls-timeout: 10s, tcp-keepalive: 1m30s, keepalive-timeout: 2h, keepalive-connections: '100'",
        "connect-timeout: 3000ms",
        "connect-timeout: 1500ms",
        "tls-timeout: 0s",
        "tcp-keepalive: -5s",
        "keepalive-timeout: '30'",
        "keepalive-timeout: ''",
        "keepalive-connections: '0'",
        "keepalive-connections: '-1'",
        "keepalive-connections: 1.5",
        "keepalive-connections: '99999999999'",
        "no-happy-eyeballs: 'true', disable-chunked-encoding: 'true'",
        "no-happy-eyeballs: 'false', disable-chunked-encoding: 'false', http2-origin: 'false'",
        "no-happy-eyeballs: 'yes'",
        "disable-chunked-encoding: ' true'",
        "backend-protocol: https, http2-origin: 'true'",
        "http2-origin: 'true'",
        "http2-origin: '1'",
        "http-host-header: ''",
        "no-such-setting: x",
    ];
    expect![[r#"
        connect-timeout: 30s, tls-timeout: 10s, tcp-keepalive: 1m30s, keepalive-timeout: 2h, keepalive-connections: '100'
            http:// ^/x(/|$) {"connectTimeout":30,"keepAliveConnections":100,"keepAliveTimeout":7200,"tcpKeepAlive":90,"tlsTimeout":10}
        connect-timeout: 3000ms
            http:// ^/x(/|$) {"connectTimeout":3}
        connect-timeout: 1500ms
            invalid value "1500ms" for annotation cloudflare-tunnel-ingress-controller.strrl.dev/connect-timeout, expect a positive duration in whole seconds
        tls-timeout: 0s
            invalid value "0s" for annotation cloudflare-tunnel-ingress-controller.strrl.dev/tls-timeout, expect a positive duration in whole seconds
        tcp-keepalive: -5s
            invalid value "-5s" for annotation cloudflare-tunnel-ingress-controller.strrl.dev/tcp-keepalive, expect a positive duration in whole seconds
        keepalive-timeout: '30'
            invalid value "30" for annotation cloudflare-tunnel-ingress-controller.strrl.dev/keepalive-timeout, expect a Go duration string, such as "30s"
        keepalive-timeout: ''
            invalid value "" for annotation cloudflare-tunnel-ingress-controller.strrl.dev/keepalive-timeout, expect a Go duration string, such as "30s"
        keepalive-connections: '0'
            http:// ^/x(/|$) {"keepAliveConnections":0}
        keepalive-connections: '-1'
            invalid value "-1" for annotation cloudflare-tunnel-ingress-controller.strrl.dev/keepalive-connections, expect a non negative integer
        keepalive-connections: 1.5
            invalid value "1.5" for annotation cloudflare-tunnel-ingress-controller.strrl.dev/keepalive-connections, expect a non negative integer
        keepalive-connections: '99999999999'
            invalid value "99999999999" for annotation cloudflare-tunnel-ingress-controller.strrl.dev/keepalive-connections, expect a non negative integer
        no-happy-eyeballs: 'true', disable-chunked-encoding: 'true'
            http:// ^/x(/|$) {"disableChunkedEncoding":true,"noHappyEyeballs":true}
        no-happy-eyeballs: 'false', disable-chunked-encoding: 'false', http2-origin: 'false'
            http:// ^/x(/|$) {"disableChunkedEncoding":false,"http2Origin":false,"noHappyEyeballs":false}
        no-happy-eyeballs: 'yes'
            invalid value "yes" for annotation cloudflare-tunnel-ingress-controller.strrl.dev/no-happy-eyeballs, available values: "true" or "false"
        disable-chunked-encoding: ' true'
            invalid value " true" for annotation cloudflare-tunnel-ingress-controller.strrl.dev/disable-chunked-encoding, available values: "true" or "false"
        backend-protocol: https, http2-origin: 'true'
            https:// ^/x(/|$) {"http2Origin":true,"noTLSVerify":true}
        http2-origin: 'true'
            annotation cloudflare-tunnel-ingress-controller.strrl.dev/http2-origin "true" requires annotation cloudflare-tunnel-ingress-controller.strrl.dev/backend-protocol "https"
        http2-origin: '1'
            invalid value "1" for annotation cloudflare-tunnel-ingress-controller.strrl.dev/http2-origin, available values: "true" or "false"
        http-host-header: ''
            http:// ^/x(/|$) {"httpHostHeader":""}
        no-such-setting: x
            http:// ^/x(/|$) null
    "#]].assert_eq(&table(&rows));
}

#[test]
fn b024_who_manages_dns_and_policies_of_our_own_are_not_guessed() {
    let wishes = |annotations: &str| {
        let world = World::read(&format!("ingresses: [{{name: apps/web, annotations: {{{annotations}}}}}]"));
        let exposed = world.exposed();
        let wishes = exposed[0].wishes.as_ref();
        wishes.map(|wishes| (wishes.manages_dns, wishes.adopts, exposed[0].retains))
    };
    for (annotations, expected) in [
        ("", Some((true, false, false))),
        ("disable-dns-management: 'true'", Some((false, false, false))),
        ("disable-dns-management: 'false'", Some((true, false, false))),
        ("disable-dns-management: 'yes'", None),
        ("disable-dns-management: 'True'", None),
        ("own/adoption-policy: adopt", Some((true, true, false))),
        ("own/adoption-policy: adopt-or-create", Some((true, true, false))),
        ("own/adoption-policy: ''", Some((true, false, false))),
        ("own/adoption-policy: never", None),
        ("own/deletion-policy: retain", Some((true, false, true))),
        ("own/deletion-policy: delete", Some((true, false, false))),
        ("own/deletion-policy: keep", None),
    ] {
        assert_eq!(wishes(annotations), expected, "{annotations}");
    }
}
