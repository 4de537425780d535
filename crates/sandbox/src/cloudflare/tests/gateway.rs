//! The gateway: headers, credentials, routes, bodies, limits.

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use serde_json::{Value, json};

use super::super::{Permission, Plan, Scope, Token, TokenStatus};
use super::{ACCOUNT, Scene};

#[tokio::test]
async fn b147_headers_are_validated_before_anything_else() {
    let scene = Scene::new(Plan::Free);
    for (header, value, status, code, inner) in [
        ("x-nothing", "", 400, 9106, 0),
        ("authorization", "cfut_everything", 400, 6003, 6111),
        ("authorization", "Bearer ", 400, 6003, 6111),
        ("authorization", "Bearer Bearer cfut_everything", 400, 6003, 6111),
        ("authorization", "Bearer \"cfut_everything\"", 400, 6003, 6111),
        ("authorization", "Bearer cfut_unknown", 401, 9109, 0),
        ("x-auth-key", "0123", 400, 6003, 6103),
        ("x-auth-email", "nobody", 400, 6003, 6102),
    ] {
        let request = Request::get("/zones").header(header, value).body(Full::new(Bytes::new())).unwrap();
        let got = scene.send(request).await.unwrap();
        let chain = got.json.pointer("/errors/0/error_chain/0/code").and_then(Value::as_u64).unwrap_or(0);
        assert_eq!((got.status, got.code(), chain), (status, code, inner), "{header}: {value}");
    }
}

#[tokio::test]
async fn b150_paths_without_a_route() {
    let scene = Scene::new(Plan::Free);
    let zone = scene.zone.clone();
    for (method, path, status, codes) in [
        ("GET", "/zones//dns_records".to_owned(), 404, vec![7003, 7000]),
        ("GET", "/zones/dns_records".to_owned(), 404, vec![7003, 7000]),
        ("GET", "/zones/XYZ".to_owned(), 404, vec![7003, 7000]),
        ("GET", "/nothing".to_owned(), 404, vec![7003, 7000]),
        ("GET", format!("/zones/{zone}/dns_records/batch"), 405, vec![7001]),
        ("PUT", "/zones".to_owned(), 405, vec![7001]),
        ("GET", format!("/zones/{}", "f".repeat(32)), 403, vec![9109]),
    ] {
        let got = scene.ask(method, &path, Value::Null).await;
        let errors = got.json["errors"].as_array().unwrap();
        let found: Vec<u64> = errors.iter().map(|error| error["code"].as_u64().unwrap()).collect();
        assert_eq!((got.status, found), (status, codes), "{method} {path}");
    }
}

#[tokio::test]
async fn bodies_must_be_json_of_that_type() {
    let scene = Scene::new(Plan::Free);
    let path = scene.records_path();
    for (content_type, body, code) in [
        ("application/json", "{", 6007),
        ("application/json", "\u{0}", 6007),
        ("application/x-www-form-urlencoded", "{}", 6003),
        ("application/json; charset=utf-8", "[]", 9207),
        ("APPLICATION/JSON", "null", 9207),
    ] {
        let mut request = scene.request("POST", &path, Bytes::from(body));
        request.headers_mut().insert("content-type", content_type.parse().unwrap());
        let got = scene.send(request).await.unwrap();
        assert_eq!((got.status, got.code()), (400, code), "{content_type} {body}");
    }
    let invalid = scene.request("POST", &path, Bytes::from_static(b"{\"name\":\"\xff\"}"));
    assert_eq!(scene.send(invalid).await.unwrap().code(), 6007);
}

#[tokio::test]
async fn tokens_do_only_what_they_may() {
    let mut scene = Scene::new(Plan::Free);
    let other = scene.cloudflare.add_zone(ACCOUNT, "example.net", Plan::Free);
    let mut one_zone = Token::all(ACCOUNT).with_permissions([Permission::ZoneRead, Permission::DnsEdit]);
    one_zone.zones = Scope::Only([scene.zone.clone()].into());
    scene.cloudflare.add_token("one-zone", one_zone);
    let mut ended = Token::all(ACCOUNT);
    ended.expires_on = Some("2025-01-01T00:00:00Z".parse().unwrap());
    scene.cloudflare.add_token("ended", ended);
    let mut early = Token::all(ACCOUNT);
    early.not_before = Some("2027-01-01T00:00:00Z".parse().unwrap());
    scene.cloudflare.add_token("early", early);
    scene.cloudflare.add_token("off", Token::all(ACCOUNT));
    scene.cloudflare.set_token_status("off", TokenStatus::Disabled);
    let zone = scene.zone.clone();
    let records = scene.records_path();
    for (secret, method, path, status, code) in [
        ("one-zone", "GET", format!("/zones/{zone}"), 200, 0),
        ("one-zone", "GET", records.clone(), 200, 0),
        ("one-zone", "GET", format!("/zones/{other}"), 403, 9109),
        ("one-zone", "DELETE", format!("/zones/{zone}"), 403, 10000),
        ("one-zone", "GET", format!("/accounts/{ACCOUNT}"), 403, 10000),
        ("ended", "GET", records.clone(), 401, 9109),
        ("early", "GET", records.clone(), 401, 9109),
        ("off", "GET", records.clone(), 401, 9109),
        ("off", "GET", "/user/tokens/verify".to_owned(), 200, 0),
    ] {
        scene.secret = secret.to_owned();
        let got = scene.ask(method, &path, Value::Null).await;
        assert_eq!((got.status, got.code()), (status, code), "{secret} {method} {path}");
    }
    scene.secret = "one-zone".to_owned();
    let new = json!({ "name": "example.org", "account": { "id": ACCOUNT } });
    let mut may_edit = Token::all(ACCOUNT);
    may_edit.zones = Scope::Only([scene.zone.clone()].into());
    scene.cloudflare.add_token("edits-one-zone", may_edit);
    scene.secret = "edits-one-zone".to_owned();
    assert_eq!(scene.ask("POST", "/zones", new).await.code(), 10000);
    scene.secret = "one-zone".to_owned();
    let list = scene.get(&format!("/zones?account.id={ACCOUNT}")).await;
    assert_eq!(list.result().as_array().unwrap().len(), 1, "b148 only the zones of the token");
}

#[tokio::test]
async fn b146_account_owned_tokens() {
    let mut scene = Scene::new(Plan::Free);
    scene.cloudflare.add_token("cfat_owned", Token::account_owned(ACCOUNT));
    let verify_user = "/user/tokens/verify".to_owned();
    let verify_account = format!("/accounts/{ACCOUNT}/tokens/verify");
    for (secret, path, status, code) in [
        ("cfut_everything", &verify_user, 200, 0),
        ("cfut_everything", &verify_account, 401, 1000),
        ("cfat_owned", &verify_user, 401, 1000),
        ("cfat_owned", &verify_account, 200, 0),
        ("", &verify_user, 400, 9106),
        ("", &verify_account, 401, 1001),
        ("nobody", &verify_user, 401, 1000),
        ("cfat_owned", &"/user".to_owned(), 403, 9109),
        ("cfat_owned", &"/memberships".to_owned(), 403, 9109),
        ("cfat_owned", &"/accounts".to_owned(), 400, 1001),
        ("cfat_owned", &format!("/accounts/{ACCOUNT}"), 200, 0),
        ("cfut_everything", &"/user".to_owned(), 200, 0),
        ("cfut_everything", &"/memberships".to_owned(), 200, 0),
        ("cfut_everything", &"/accounts".to_owned(), 200, 0),
    ] {
        scene.secret = secret.to_owned();
        let got = scene.get(path).await;
        assert_eq!((got.status, got.code()), (status, code), "{secret} {path}: {}", got.text);
    }
    scene.secret = "cfat_owned".to_owned();
    let verified = scene.get(&verify_account).await;
    assert_eq!(verified.result()["status"], "active");
    assert_eq!(verified.json["messages"][0]["code"], 10000);
}

#[tokio::test(start_paused = true)]
async fn the_rate_limit_is_shared_by_a_users_tokens_and_blocks_for_five_minutes() {
    let mut scene = Scene::new(Plan::Free);
    scene.cloudflare.add_token("second", Token::all(ACCOUNT));
    let path = format!("/zones/{}", scene.zone);
    let first = scene.get(&path).await;
    assert_eq!(first.header("ratelimit"), Some("\"default\";r=1199;t=300"));
    assert_eq!(first.header("ratelimit-policy"), Some("\"default\";q=1200;w=300"));
    assert_eq!(first.header("retry-after"), None);
    for _ in 1..1200 {
        assert_eq!(scene.get(&path).await.status, 200);
    }
    scene.secret = "second".to_owned();
    let refused = scene.get(&path).await;
    assert_eq!((refused.status, refused.code()), (429, 10429));
    assert_eq!(refused.header("retry-after"), Some("300"));
    let lines = scene.cloudflare.log().lines();
    let (first, last) = (&lines[0], &lines[1200]);
    assert_eq!((last.status, last.fault), (429, None));
    assert!(first.who != last.who && first.subject == last.subject, "{first:?} {last:?}");
    tokio::time::advance(std::time::Duration::from_millis(1500)).await;
    assert_eq!(scene.get(&path).await.header("retry-after"), Some("299"));
    tokio::time::advance(std::time::Duration::from_secs(299)).await;
    assert_eq!(scene.get(&path).await.status, 200);
    let mut switches = scene.cloudflare.switches();
    switches.rate_limit = false;
    scene.cloudflare.set_switches(switches);
    for _ in 0..1300 {
        assert_eq!(scene.get(&path).await.status, 200);
    }
}

#[tokio::test]
async fn the_log_counts_routes_and_names_tokens_by_id() {
    let scene = Scene::new(Plan::Free);
    let body = json!({"type":"A","name":"x","content":"192.0.2.1"});
    let id = scene.post(body).await.id();
    scene.get(&format!("{}/{id}?x=1", scene.records_path())).await;
    let lines = scene.cloudflare.log().lines();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[1].route, "/zones/{zone_id}/dns_records/{record_id}");
    assert!(lines[1].path.ends_with("?x=1"));
    assert_eq!((lines[0].body.len(), lines[1].body.len()), (16, 0));
    assert_eq!((lines[0].status, lines[0].who.len()), (200, 32));
    assert!(!format!("{lines:?}").contains("everything"));
}

/// Only a check of types: tests open no sockets.
#[tokio::test]
async fn the_service_can_be_served_over_http() {
    let scene = Scene::new(Plan::Free);
    drop(crate::serve::on_loopback(0, scene.cloudflare.service()));
}
