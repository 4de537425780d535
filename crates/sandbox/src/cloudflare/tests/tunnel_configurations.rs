//! Configurations of tunnels: versions, what is stored, what is refused.

use serde_json::{Value, json};

use super::super::{Plan, Unconfigured};
use super::{ACCOUNT, Got, Scene};

struct Configured {
    scene: Scene,
    path: String,
}

impl Configured {
    fn new(source: &str) -> Self {
        let scene = Scene::new(Plan::Free);
        let body = json!({ "name": "web", "config_src": source });
        let id = scene.cloudflare.put_tunnel(ACCOUNT, &body).unwrap();
        let path = format!("/accounts/{ACCOUNT}/cfd_tunnel/{id}/configurations");
        Self { scene, path }
    }

    async fn put(&self, config: Value) -> Got {
        self.scene.ask("PUT", &self.path, json!({ "config": config })).await
    }

    async fn get(&self) -> Got {
        self.scene.get(&self.path).await
    }
}

/// The catch-all.
fn last() -> Value {
    json!({ "service": "http_status:404" })
}

#[tokio::test]
async fn the_version_counts_puts_and_reading_changes_nothing() {
    let tunnel = Configured::new("cloudflare");
    let missing = tunnel.get().await;
    assert_eq!((missing.status, missing.code()), (404, 1055));
    let config =
        json!({ "ingress": [{ "hostname": "www.example.com", "service": "http://web:80" }, last()] });
    for version in 1..=3 {
        let put = tunnel.put(config.clone()).await;
        assert_eq!((&put.result()["version"], &put.result()["config"]), (&json!(version), &config));
        for _ in 0..2 {
            assert_eq!(tunnel.get().await.result(), put.result());
        }
    }
    let result = tunnel.get().await.result().clone();
    assert_eq!((&result["source"], &result["account_id"]), (&json!("cloudflare"), &json!(ACCOUNT)));
    assert!(tunnel.path.contains(result["tunnel_id"].as_str().unwrap()));
    let replaced = tunnel.put(json!({ "ingress": [last()] })).await;
    assert_eq!(replaced.result()["config"], json!({ "ingress": [last()] }), "a put replaces everything");
}

#[tokio::test]
async fn a_tunnel_that_was_never_configured_may_read_empty() {
    for (switch, version) in [(Unconfigured::VersionZero, 0), (Unconfigured::VersionOne, 1)] {
        let tunnel = Configured::new("local");
        let mut switches = tunnel.scene.cloudflare.switches();
        switches.tunnel_unconfigured = switch;
        tunnel.scene.cloudflare.set_switches(switches);
        let empty = tunnel.get().await.result().clone();
        assert_eq!((&empty["version"], &empty["config"]), (&json!(version), &json!({})));
        assert_eq!(empty["source"], "local");
        assert_eq!(tunnel.put(json!({ "ingress": [last()] })).await.result()["version"], version + 1);
    }
}

#[tokio::test]
async fn only_what_was_sent_comes_back_and_what_is_unknown_is_dropped() {
    let tunnel = Configured::new("cloudflare");
    let full = json!({
        "ingress": [
            {
                "hostname": "*.example.com",
                "path": "^/static/.*\\.css$",
                "service": "https://web.default.svc:8443",
                "originRequest": {
                    "access": { "required": true, "teamName": "acme", "audTag": ["tag"] },
                    "caPool": "/ca.pem", "connectTimeout": 1, "disableChunkedEncoding": true,
                    "http2Origin": true, "httpHostHeader": "web", "keepAliveConnections": 5,
                    "keepAliveTimeout": 6, "matchSNItoHost": true, "noHappyEyeballs": true,
                    "noTLSVerify": true, "originServerName": "web", "proxyType": "socks",
                    "tcpKeepAlive": 7, "tlsTimeout": 8,
                },
            },
            last(),
        ],
        "originRequest": { "connectTimeout": 30 },
        "warp-routing": { "enabled": true },
    });
    assert_eq!(tunnel.put(full.clone()).await.result()["config"], full);
    let odd = json!({
        "ingress": [{ "hostname": "", "path": null, "service": "http_status:503", "weight": 1 }],
        "originRequest": {},
        "metrics": "no",
    });
    let wanted =
        json!({ "ingress": [{ "hostname": "", "service": "http_status:503" }], "originRequest": {} });
    assert_eq!(tunnel.put(odd).await.result()["config"], wanted);
    let mut switches = tunnel.scene.cloudflare.switches();
    switches.tunnel_warp_routing = true;
    tunnel.scene.cloudflare.set_switches(switches);
    let added = tunnel.put(json!({ "ingress": [last()] })).await;
    assert_eq!(added.result()["config"]["warp-routing"], json!({ "enabled": false }));
}

#[tokio::test]
async fn rules_that_make_no_sense_are_refused() {
    let tunnel = Configured::new("cloudflare");
    let rule = |hostname: &str, path: &str, service: &str| json!({ "ingress": [{ "hostname": hostname, "path": path, "service": service }, last()] });
    let one = |rule: Value| json!({ "ingress": [rule] });
    let request =
        |request: Value| json!({ "ingress": [{ "service": "http_status:404", "originRequest": request }] });
    for (situation, config) in [
        ("no rules", json!({})),
        ("an empty list", json!({ "ingress": [] })),
        ("rules of another type", json!({ "ingress": {} })),
        ("a rule of another type", one(json!("x"))),
        ("no service", one(json!({}))),
        ("a service of another type", one(json!({ "service": 404 }))),
        ("the last with a hostname", one(json!({ "hostname": "a.example.com", "service": "http://a" }))),
        ("the last with a path", one(json!({ "path": "/a", "service": "http://a" }))),
        ("one before the last for everything", rule("", "", "http://a")),
        ("one before the last for every hostname", rule("*", "", "http://a")),
        ("a port", rule("a.example.com:443", "", "http://a")),
        ("a wildcard inside", rule("a.*.example.com", "", "http://a")),
        ("two wildcards", rule("*.*.example.com", "", "http://a")),
        ("a path that is no expression", rule("a.example.com", "(", "http://a")),
        ("no scheme", rule("a.example.com", "", "web:80")),
        ("an unknown scheme", rule("a.example.com", "", "gopher://web")),
        ("no host", rule("a.example.com", "", "http://")),
        ("a path in the service", rule("a.example.com", "", "http://web/app")),
        ("no status", rule("a.example.com", "", "http_status:fine")),
        ("a number as text", request(json!({ "connectTimeout": "10s" }))),
        ("half a second", request(json!({ "connectTimeout": 0.5 }))),
        ("a flag as text", request(json!({ "noTLSVerify": "true" }))),
        ("a text as flag", request(json!({ "caPool": true }))),
        ("access without a team", request(json!({ "access": { "audTag": [] } }))),
        ("tags of another type", request(json!({ "access": { "teamName": "a", "audTag": "b" } }))),
        ("routing of another type", json!({ "ingress": [last()], "warp-routing": true })),
        ("a default of another type", json!({ "ingress": [last()], "originRequest": [] })),
    ] {
        let got = tunnel.put(config).await;
        assert_eq!((got.status, got.code()), (400, 1056), "{situation}: {}", got.text);
    }
    for body in [json!({}), json!({ "config": null }), json!({ "config": [] }), json!("x")] {
        let got = tunnel.scene.ask("PUT", &tunnel.path, body).await;
        assert_eq!((got.status, got.code()), (400, 1003), "{}", got.text);
    }
    assert_eq!(tunnel.get().await.code(), 1055, "nothing of it was stored");
    for service in [
        "http://a",
        "https://a:8443",
        "tcp://a:1",
        "ssh://a:22",
        "rdp://a:3389",
        "smb://a:445",
        "unix:/a.sock",
        "unix+tls:/a.sock",
        "http_status:200",
        "hello_world",
        "bastion",
    ] {
        let got = tunnel.put(rule("a.example.com", "", service)).await;
        assert_eq!(got.status, 200, "{service}: {}", got.text);
    }
}
