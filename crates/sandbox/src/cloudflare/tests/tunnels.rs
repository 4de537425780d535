//! Tunnels: what they are, what is refused, their connectors; and how they are listed.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::super::{ChangeKind, ObjectKind, Permission, Plan, Switches, Token};
use super::{ACCOUNT, Got, Scene};

const UNKNOWN: &str = "00000000-0000-4000-8000-000000000000";

fn tunnels() -> String {
    format!("/accounts/{ACCOUNT}/cfd_tunnel")
}

fn secret(bytes: usize) -> String {
    STANDARD.encode(vec![7_u8; bytes])
}

impl Scene {
    async fn tunnel(&self, name: &str) -> String {
        let got = self.ask("POST", &tunnels(), json!({ "name": name, "config_src": "cloudflare" })).await;
        assert_eq!(got.status, 200, "{}", got.text);
        format!("{}/{}", tunnels(), got.id())
    }

    fn switch(&self, change: impl FnOnce(&mut Switches)) {
        let mut switches = self.cloudflare.switches();
        change(&mut switches);
        self.cloudflare.set_switches(switches);
    }

    async fn names(&self, query: &str) -> Vec<String> {
        let got = self.get(&format!("{}?{query}", tunnels())).await;
        assert_eq!(got.status, 200, "{query}: {}", got.text);
        let rows = got.result().as_array().unwrap().iter();
        rows.map(|row| row["name"].as_str().unwrap().to_owned()).collect()
    }
}

fn id_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap()
}

fn refusal(got: &Got) -> (u16, u64) {
    (got.status, got.code())
}

#[tokio::test]
async fn a_new_tunnel_is_inactive_and_reads_as_it_was_answered() {
    let scene = Scene::new(Plan::Free);
    let got = scene.ask("POST", &tunnels(), json!({ "name": "web", "tunnel_secret": secret(32) })).await;
    let tunnel = got.result();
    assert_eq!((&tunnel["name"], &tunnel["status"]), (&json!("web"), &json!("inactive")));
    assert_eq!((&tunnel["config_src"], &tunnel["remote_config"]), (&json!("local"), &json!(false)));
    assert_eq!((&tunnel["account_tag"], &tunnel["tun_type"]), (&json!(ACCOUNT), &json!("cfd_tunnel")));
    for field in ["deleted_at", "conns_active_at", "conns_inactive_at"] {
        assert!(tunnel[field].is_null(), "{field}");
    }
    for secret in ["tunnel_secret", "token", "credentials_file"] {
        assert!(tunnel.get(secret).is_none(), "{secret}");
    }
    let path = format!("{}/{}", tunnels(), got.id());
    assert_eq!(scene.get(&path).await.result(), tunnel);
    scene.switch(|switches| switches.tunnel_create_tells_token = true);
    let got = scene.ask("POST", &tunnels(), json!({ "name": "app", "tunnel_secret": secret(32) })).await;
    assert_eq!(got.result()["credentials_file"]["TunnelSecret"], secret(32));
    let token = scene.get(&format!("{}/{}/token", tunnels(), got.id())).await;
    assert_eq!(got.result()["token"], *token.result());
}

#[tokio::test]
async fn tunnels_are_refused_with_their_codes() {
    let scene = Scene::new(Plan::Free);
    scene.tunnel("taken").await;
    for (situation, body, status, code) in [
        ("no name", json!({}), 400, 1003),
        ("an empty name", json!({ "name": " " }), 400, 1003),
        ("a name of another type", json!({ "name": 7 }), 400, 1003),
        ("no object", json!("x"), 400, 1003),
        ("an unknown source", json!({ "name": "x", "config_src": "file" }), 400, 1003),
        ("a short secret", json!({ "name": "x", "tunnel_secret": secret(31) }), 400, 1003),
        ("no base64", json!({ "name": "x", "tunnel_secret": "*".repeat(64) }), 400, 1003),
        ("a secret of another type", json!({ "name": "x", "tunnel_secret": 1 }), 400, 1003),
        ("a name that is in use", json!({ "name": "taken" }), 409, 1013),
        ("nulls", json!({ "name": "y", "tunnel_secret": null, "config_src": null }), 200, 0),
        ("unknown fields", json!({ "name": "z", "colour": "red" }), 200, 0),
    ] {
        let got = scene.ask("POST", &tunnels(), body).await;
        assert_eq!(refusal(&got), (status, code), "{situation}: {}", got.text);
    }
    scene.switch(|switches| switches.tunnel_names_repeat = true);
    assert_eq!(scene.ask("POST", &tunnels(), json!({ "name": "taken" })).await.status, 200);
    assert_eq!(scene.names("name=taken").await.len(), 2);
}

#[tokio::test]
async fn what_is_not_there_is_not_found_and_ids_have_their_shape() {
    let scene = Scene::new(Plan::Free);
    let unknown = format!("{}/{UNKNOWN}", tunnels());
    let config = json!({ "config": { "ingress": [{ "service": "http_status:404" }] } });
    for (method, path, body) in [
        ("GET", unknown.clone(), Value::Null),
        ("PATCH", unknown.clone(), json!({ "name": "x" })),
        ("DELETE", unknown.clone(), Value::Null),
        ("GET", format!("{unknown}/token"), Value::Null),
        ("GET", format!("{unknown}/connections"), Value::Null),
        ("DELETE", format!("{unknown}/connections"), Value::Null),
        ("GET", format!("{unknown}/configurations"), Value::Null),
        ("PUT", format!("{unknown}/configurations"), config),
        ("POST", format!("{unknown}/management"), json!({ "resources": ["logs"] })),
    ] {
        assert_eq!(refusal(&scene.ask(method, &path, body).await), (404, 1002), "{method} {path}");
    }
    for id in ["f".repeat(32), UNKNOWN.replace('0', "g"), "x".to_owned()] {
        assert_eq!(refusal(&scene.get(&format!("{}/{id}", tunnels())).await), (404, 7003), "{id}");
    }
    let other = format!("/accounts/{}/cfd_tunnel", "f".repeat(32));
    assert_eq!(refusal(&scene.get(&other).await), (403, 9109));
    scene.cloudflare.add_account(&"f".repeat(32), "Other");
    scene.cloudflare.add_token("cfut_other", Token::all(&"f".repeat(32)));
    let tunnel = scene.tunnel("web").await;
    let through = tunnel.replace(ACCOUNT, &"f".repeat(32));
    let other = Scene { secret: "cfut_other".to_owned(), zone: String::new(), ..scene };
    assert_eq!(refusal(&other.get(&through).await), (404, 1002), "another account's tunnel");
}

#[tokio::test]
async fn reading_and_writing_need_their_permissions() {
    let scene = Scene::new(Plan::Free);
    let tunnel = scene.tunnel("web").await;
    for (permissions, read, write) in [
        (vec![Permission::TunnelRead], 200, 403),
        (vec![Permission::TunnelEdit], 200, 200),
        (vec![Permission::DnsEdit, Permission::ZoneEdit, Permission::AccountSettingsEdit], 403, 403),
    ] {
        let token = Token::all(ACCOUNT).with_permissions(permissions.clone());
        assert!(scene.cloudflare.set_token(super::SECRET, token));
        for part in ["", "/token", "/connections"] {
            assert_eq!(scene.get(&format!("{tunnel}{part}")).await.status, read, "{permissions:?} {part}");
        }
        assert_eq!(scene.get(&tunnels()).await.status, read, "{permissions:?}");
        let got = scene.ask("PATCH", &tunnel, json!({ "name": "web" })).await;
        assert_eq!(got.status, write, "{permissions:?}");
    }
}

#[tokio::test]
async fn a_token_holds_account_tunnel_and_secret_and_changes_with_the_secret_alone() {
    let scene = Scene::new(Plan::Free);
    let tunnel = scene.tunnel("web").await;
    let path = format!("{tunnel}/token");
    let token = async || scene.get(&path).await.result().as_str().unwrap().to_owned();
    let first = token().await;
    let parts: Value = serde_json::from_slice(&STANDARD.decode(&first).unwrap()).unwrap();
    assert_eq!((&parts["a"], &parts["t"]), (&json!(ACCOUNT), &json!(id_of(&tunnel))));
    assert!(STANDARD.decode(parts["s"].as_str().unwrap()).unwrap().len() >= 32);
    assert_eq!(scene.ask("PATCH", &tunnel, json!({ "name": "renamed" })).await.result()["name"], "renamed");
    assert_eq!(token().await, first);
    assert_eq!(scene.ask("PATCH", &tunnel, json!({ "tunnel_secret": secret(40) })).await.status, 200);
    let second = token().await;
    assert_ne!(second, first);
    let parts: Value = serde_json::from_slice(&STANDARD.decode(second).unwrap()).unwrap();
    assert_eq!(parts["s"], secret(40));
    let short = scene.ask("PATCH", &tunnel, json!({ "tunnel_secret": secret(8) })).await;
    assert_eq!(refusal(&short), (400, 1003));
    scene.tunnel("other").await;
    assert_eq!(refusal(&scene.ask("PATCH", &tunnel, json!({ "name": "other" })).await), (409, 1013));
    assert_eq!(scene.ask("PATCH", &tunnel, json!({ "name": "renamed" })).await.status, 200, "its own name");
}

#[tokio::test(start_paused = true)]
async fn a_deleted_tunnel_stays_listed_and_readable_and_its_name_is_free() {
    let scene = Scene::new(Plan::Free);
    let tunnel = scene.tunnel("web").await;
    let deleted = scene.ask("DELETE", &tunnel, Value::Null).await;
    assert!(deleted.result()["deleted_at"].is_string(), "{}", deleted.text);
    assert_eq!(scene.get(&tunnel).await.result(), deleted.result());
    for (method, path, code) in [
        ("DELETE", tunnel.clone(), 1002),
        ("PATCH", tunnel.clone(), 1002),
        ("GET", format!("{tunnel}/token"), 1054),
        ("GET", format!("{tunnel}/configurations"), 1055),
    ] {
        let body = if method == "PATCH" { json!({ "name": "x" }) } else { Value::Null };
        assert_eq!(refusal(&scene.ask(method, &path, body).await), (404, code), "{method} {path}");
    }
    tokio::time::advance(Duration::from_secs(1)).await;
    let second = scene.tunnel("web").await;
    assert_ne!(second, tunnel);
    for (query, count) in [("", 2), ("is_deleted=", 2), ("is_deleted=true", 1), ("is_deleted=false", 1)] {
        assert_eq!(scene.names(query).await.len(), count, "{query}");
    }
    let kinds: Vec<ChangeKind> = scene
        .cloudflare
        .history()
        .iter()
        .filter(|change| change.object == ObjectKind::Tunnel && change.id == id_of(&tunnel))
        .map(|change| change.kind)
        .collect();
    assert_eq!(kinds, [ChangeKind::Create, ChangeKind::Delete]);
}

#[tokio::test(start_paused = true)]
async fn lists_are_filtered_and_paged() {
    let scene = Scene::new(Plan::Free);
    let second = Duration::from_secs(1);
    let a = scene.tunnel("vpc1-a").await;
    tokio::time::advance(second * 10).await;
    let b = scene.tunnel("vpc1-b").await;
    scene.cloudflare.connect_tunnel(id_of(&b), 4).unwrap();
    tokio::time::advance(second * 10).await;
    scene.tunnel("office").await;
    scene.ask("DELETE", &a, Value::Null).await;
    scene.cloudflare.set_tunnel_connections(id_of(&b), None, 0).unwrap();
    let uuid = format!("uuid={}", id_of(&b));
    for (query, names) in [
        ("", &["vpc1-a", "vpc1-b", "office"][..]),
        ("name=office", &["office"]),
        ("name=off", &[]),
        ("is_deleted=false&include_prefix=vpc1-", &["vpc1-b"]),
        ("exclude_prefix=vpc1-", &["office"]),
        ("status=down", &["vpc1-b"]),
        ("status=inactive&is_deleted=false", &["office"]),
        (uuid.as_str(), &["vpc1-b"]),
        ("existed_at=2026-01-01T00:00:05Z", &["vpc1-a"]),
        ("existed_at=2026-01-01T00:00:15Z", &["vpc1-a", "vpc1-b"]),
        ("existed_at=2026-01-01T00:00:20Z", &["vpc1-b", "office"]),
        ("was_active_at=2026-01-01T00:00:15Z", &["vpc1-b"]),
        ("was_active_at=2026-01-01T00:00:20Z", &[]),
        ("was_inactive_at=2026-01-01T00:00:15Z", &["vpc1-a"]),
        ("per_page=2", &["vpc1-a", "vpc1-b"]),
        ("per_page=2&page=2", &["office"]),
        ("page=9", &[]),
    ] {
        assert_eq!(scene.names(query).await, names, "{query}");
    }
    let info = scene.get(&format!("{}?per_page=2", tunnels())).await.json["result_info"].clone();
    assert_eq!((&info["count"], &info["total_count"]), (&json!(2), &json!(3)));
    for query in ["per_page=0", "per_page=1001", "page=0", "status=fine", "is_deleted=1", "existed_at=now"] {
        assert_eq!(scene.get(&format!("{}?{query}", tunnels())).await.status, 400, "{query}");
    }
    for (query, count) in [("", 3), ("?tun_types=cfd_tunnel,gre", 3), ("?tun_types=warp_connector", 0)] {
        let got = scene.get(&format!("/accounts/{ACCOUNT}/tunnels{query}")).await;
        assert_eq!(got.result().as_array().map(Vec::len), Some(count), "{query}");
    }
    assert_eq!(scene.get(&format!("/accounts/{ACCOUNT}/tunnels?tun_types=x")).await.status, 400);
}

#[tokio::test(start_paused = true)]
async fn a_connector_makes_a_tunnel_healthy_degraded_and_down() {
    let scene = Scene::new(Plan::Free);
    let path = scene.tunnel("web").await;
    let id = id_of(&path).to_owned();
    tokio::time::advance(Duration::from_secs(5)).await;
    let connector = scene.cloudflare.connect_tunnel(&id, 4).unwrap();
    let tunnel = scene.get(&path).await.result().clone();
    assert_eq!((&tunnel["status"], &tunnel["connections"]), (&json!("healthy"), &json!([])));
    assert_eq!(tunnel["conns_active_at"], "2026-01-01T00:00:05.000000Z");
    assert!(tunnel["conns_inactive_at"].is_null());
    let clients = scene.get(&format!("{path}/connections")).await.result().clone();
    assert_eq!((&clients[0]["id"], &clients[0]["config_version"]), (&json!(connector), &json!(0)));
    assert_eq!(clients[0]["conns"].as_array().map(Vec::len), Some(4));
    assert_eq!(scene.get(&format!("{path}/connectors/{connector}")).await.result(), &clients[0]);
    assert_eq!(refusal(&scene.get(&format!("{path}/connectors/{UNKNOWN}")).await), (404, 1002));
    scene.switch(|switches| switches.tunnel_tells_connections = true);
    assert_eq!(scene.get(&path).await.result()["connections"], clients[0]["conns"]);
    scene.cloudflare.set_tunnel_connections(&id, Some(&connector), 2).unwrap();
    assert_eq!(scene.get(&path).await.result()["status"], "degraded");
    let second = scene.cloudflare.connect_tunnel(&id, 4).unwrap();
    assert_eq!(scene.get(&path).await.result()["status"], "healthy");
    scene.cloudflare.set_tunnel_connections(&id, Some(&second), 0).unwrap();
    tokio::time::advance(Duration::from_secs(5)).await;
    scene.cloudflare.set_tunnel_connections(&id, None, 0).unwrap();
    let tunnel = scene.get(&path).await.result().clone();
    assert_eq!((&tunnel["status"], &tunnel["conns_active_at"]), (&json!("down"), &Value::Null));
    assert_eq!(tunnel["conns_inactive_at"], "2026-01-01T00:00:10.000000Z");
    assert_eq!(scene.get(&format!("{path}/connections")).await.result(), &json!([]));
}

#[tokio::test(start_paused = true)]
async fn a_tunnel_cannot_be_deleted_until_its_connections_are_forgotten() {
    let scene = Scene::new(Plan::Free);
    let path = scene.tunnel("web").await;
    let id = id_of(&path).to_owned();
    scene.cloudflare.connect_tunnel(&id, 4).unwrap();
    let delete = async || refusal(&scene.ask("DELETE", &path, Value::Null).await);
    assert_eq!(delete().await, (400, 1022), "connected");
    scene.cloudflare.set_tunnel_connections(&id, None, 0).unwrap();
    for (seconds, wanted) in [(0, (400, 1022)), (29, (400, 1022)), (1, (200, 0))] {
        tokio::time::advance(Duration::from_secs(seconds)).await;
        assert_eq!(delete().await, wanted, "{seconds}");
    }
    let path = scene.tunnel("web").await;
    let id = id_of(&path).to_owned();
    let first = scene.cloudflare.connect_tunnel(&id, 4).unwrap();
    scene.cloudflare.connect_tunnel(&id, 4).unwrap();
    let clean = async |query: &str| {
        let got = scene.ask("DELETE", &format!("{path}/connections{query}"), Value::Null).await;
        assert_eq!((got.status, got.result()), (200, &Value::Null), "{query}");
    };
    clean(&format!("?client_id={first}")).await;
    assert_eq!(scene.get(&format!("{path}/connections")).await.result().as_array().map(Vec::len), Some(1));
    assert_eq!(refusal(&scene.ask("DELETE", &path, Value::Null).await), (400, 1022));
    clean("").await;
    assert_eq!(scene.get(&path).await.result()["status"], "down");
    assert_eq!(scene.ask("DELETE", &path, Value::Null).await.status, 200);
    let path = scene.tunnel("forced").await;
    scene.cloudflare.connect_tunnel(id_of(&path), 4).unwrap();
    assert_eq!(scene.ask("DELETE", &format!("{path}?cascade=true"), Value::Null).await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn new_tunnels_show_up_late_where_the_switches_say_so() {
    let scene = Scene::new(Plan::Free);
    let second = Duration::from_secs(1);
    tokio::time::advance(second * 10).await;
    scene.switch(|switches| {
        switches.lag.list_after_create = second * 3;
        switches.lag.read_after_create = second * 2;
    });
    let path = scene.tunnel("web").await;
    for (seconds, read, listed) in [(0, 404, 0), (2, 200, 0), (1, 200, 1)] {
        tokio::time::advance(second * seconds).await;
        assert_eq!(scene.get(&path).await.status, read, "{seconds}");
        assert_eq!(scene.get(&format!("{path}/token")).await.status, read, "{seconds}");
        assert_eq!(scene.names("").await.len(), listed, "{seconds}");
    }
}

#[tokio::test]
async fn tunnels_are_changed_behind_the_api_and_noted() {
    let scene = Scene::new(Plan::Free);
    let id = scene.cloudflare.put_tunnel(ACCOUNT, &json!({ "name": "web" })).unwrap();
    assert_eq!(scene.cloudflare.put_tunnel(ACCOUNT, &json!({ "name": "web" })).unwrap_err().code(), 1013);
    scene.cloudflare.edit_tunnel(&id, &json!({ "name": "app" })).unwrap();
    let rules = json!({ "ingress": [{ "service": "http_status:404" }] });
    scene.cloudflare.configure_tunnel(&id, &rules).unwrap();
    assert_eq!(scene.cloudflare.tunnel_configuration(&id).unwrap()["config"], rules);
    assert!(scene.cloudflare.tunnel_token(&id).is_some());
    scene.cloudflare.connect_tunnel(&id, 4).unwrap();
    assert!(scene.cloudflare.remove_tunnel(&id), "connections or not");
    assert!(!scene.cloudflare.remove_tunnel(&id));
    assert_eq!(scene.cloudflare.connect_tunnel(&id, 4).unwrap_err().code(), 1002);
    assert_eq!(scene.cloudflare.tunnels()[0]["name"], "app");
    let kinds: Vec<(ObjectKind, ChangeKind)> =
        scene.cloudflare.history().iter().skip(1).map(|change| (change.object, change.kind)).collect();
    assert_eq!(
        kinds,
        [
            (ObjectKind::Tunnel, ChangeKind::Create),
            (ObjectKind::Tunnel, ChangeKind::Update),
            (ObjectKind::TunnelConfiguration, ChangeKind::Create),
            (ObjectKind::Tunnel, ChangeKind::Delete),
        ]
    );
}
