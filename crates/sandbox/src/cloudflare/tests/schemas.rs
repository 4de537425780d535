//! The facts of the real API: every operation is answered as they say, every exception stands for something, and what is
//! wrong in an answer or in a request of kflare's is found.

use std::collections::BTreeSet;

use bytes::Bytes;
use http::Method;
use serde_json::{Value, json};

use super::super::rate_limit;
use super::super::route;
use super::super::service::{Answer, Arrived};
use super::super::witness::{Flaw, Misfit, Witness, known_operations};
use super::*;
use crate::cloudflare::TokenKind;

/// The records of every type that Cloudflare's clients create too.
const RECORDS: &str = include_str!("../../../../../testing/clients/records.json");

fn key(method: &str, template: &str) -> String {
    let words = template.split('/').map(|word| if word.starts_with('{') { "{}" } else { word });
    format!("{method} {}", words.collect::<Vec<_>>().join("/"))
}

#[test]
fn there_are_facts_of_every_operation_that_is_answered_and_of_no_other() {
    let answered: BTreeSet<String> =
        route::operations().map(|(method, template)| key(method, template)).collect();
    let known: BTreeSet<String> = known_operations().into_keys().collect();
    assert_eq!(answered, known);
}

/// Plays every operation once or more, and what is refused, with every type of record.
#[tokio::test]
async fn every_operation_fits_and_every_exception_stands_for_something() {
    let mut scene = Scene::new(Plan::Enterprise);
    let cloudflare = scene.cloudflare.clone();
    cloudflare.set_enterprise(ACCOUNT);
    zones(&scene).await;
    scene.agent = "kflare/0";
    records(&scene).await;
    tunnels(&scene).await;
    scene.agent = "";
    tunnels_of_others(&scene).await;
    files_and_scans(&scene).await;
    tokens(&scene, "/user/tokens").await;
    tokens(&scene, &format!("/accounts/{ACCOUNT}/tokens")).await;
    for path in ["/user", "/memberships", "/accounts", "/user/tokens/verify"] {
        assert_eq!(scene.get(path).await.status, 200, "{path}");
    }
    let account = format!("/accounts/{ACCOUNT}");
    assert_eq!(scene.get(&account).await.status, 200);
    assert_eq!(scene.get(&format!("{account}/dns_records/usage")).await.status, 200);
    let body = json!({ "id": ACCOUNT, "name": "Acme Inc", "type": "enterprise" });
    assert_eq!(scene.ask("PUT", &account, body).await.status, 200);
    assert_eq!(scene.ask("POST", "/accounts", json!({ "name": "More" })).await.status, 403);
    assert_eq!(scene.ask("DELETE", &account, Value::Null).await.status, 403);
    assert_eq!(scene.get("/nothing").await.status, 404);
    refusals(&mut scene).await;
    let owned = Token { kind: TokenKind::Account { account_id: ACCOUNT.to_owned() }, ..Token::all(ACCOUNT) };
    cloudflare.add_token("cfat_owned", owned);
    scene.secret = "cfat_owned".to_owned();
    assert_eq!(scene.get(&format!("{account}/tokens/verify")).await.status, 200);

    let played: BTreeSet<String> =
        cloudflare.log().lines().into_iter().map(|line| key(&line.method, &line.route)).collect();
    let unplayed: Vec<String> =
        known_operations().into_keys().filter(|operation| !played.contains(operation)).collect();
    assert_eq!(unplayed, Vec::<String>::new());
    let witness = cloudflare.shared.witness.get().unwrap();
    assert_eq!(witness.unused(), Vec::<String>::new());
}

async fn zones(scene: &Scene) {
    for kind in ["full", "partial", "secondary", "internal"] {
        let name = format!("{kind}.example");
        let body = json!({ "name": name, "account": { "id": ACCOUNT }, "type": kind });
        assert_eq!(scene.ask("POST", "/zones", body).await.status, 200, "{kind}");
    }
    let zone = format!("/zones/{}", scene.zone);
    let names = json!({ "vanity_name_servers": ["ns1.example.com", "ns2.example.com"] });
    assert_eq!(scene.ask("PATCH", &zone, names).await.status, 200);
    let check = scene.ask("PUT", &format!("{zone}/activation_check"), Value::Null).await;
    assert_eq!(check.status, 200);
    assert_eq!(scene.ask("PUT", &format!("{zone}/activation_check"), Value::Null).await.status, 400);
    scene.cloudflare.activate_zone(&scene.zone);
    assert_eq!(scene.get("/zones?per_page=5").await.status, 200);
    assert_eq!(scene.get("/zones?type=internal,full").await.status, 200);
    assert_eq!(scene.get(&zone).await.status, 200);
    let hold = format!("{zone}/hold");
    assert_eq!(scene.get(&hold).await.status, 200);
    assert_eq!(scene.ask("POST", &format!("{hold}?include_subdomains=true"), Value::Null).await.status, 200);
    assert_eq!(scene.ask("PATCH", &hold, json!({ "include_subdomains": false })).await.status, 200);
    assert_eq!(scene.ask("DELETE", &hold, Value::Null).await.status, 200);
    let purge = scene.ask("POST", &format!("{zone}/purge_cache"), json!({ "purge_everything": true })).await;
    assert_eq!(purge.status, 200);
    let other = scene.get("/zones?name=full.example").await;
    let other = format!("/zones/{}", other.result()[0]["id"].as_str().unwrap());
    for plan in Plan::ALL {
        let subscription = format!("{other}/subscription");
        let body = json!({ "rate_plan": { "id": plan.name() } });
        assert_eq!(scene.ask("POST", &subscription, body.clone()).await.status, 200);
        assert_eq!(scene.ask("PUT", &subscription, body).await.status, 200);
        assert_eq!(scene.get(&subscription).await.status, 200);
        assert_eq!(scene.get(&other).await.status, 200);
    }
    assert_eq!(scene.ask("DELETE", &other, Value::Null).await.status, 200);
}

async fn records(scene: &Scene) {
    let path = scene.records_path();
    let wanted: Vec<Value> = serde_json::from_str(RECORDS).unwrap();
    let mut ids = Vec::new();
    for (at, record) in wanted.iter().enumerate() {
        let mut body = record["body"].clone();
        body["name"] = record["name"].clone();
        body["type"] = record["type"].clone();
        let created = scene.post(body.clone()).await;
        assert_eq!(created.status, 200, "{body}: {}", created.text);
        let one = format!("{path}/{}", created.id());
        assert_eq!(scene.get(&one).await.status, 200);
        if at % 2 == 0 {
            let told = json!({ "comment": "Told", "tags": ["team:web"] });
            assert_eq!(scene.ask("PATCH", &one, told).await.status, 200);
        } else {
            assert_eq!(scene.ask("PUT", &one, body).await.status, 200);
        }
        ids.push(created.id());
    }
    assert_eq!(scene.get(&path).await.result().as_array().map(Vec::len), Some(wanted.len()));
    assert_eq!(scene.get(&format!("{path}?include_shadow_metadata=true")).await.status, 200);
    assert_eq!(scene.get(&format!("{path}?per_page=5&page=2")).await.status, 200);
    assert_eq!(scene.get(&format!("{path}?name.exact=www.example.com")).await.status, 200);
    assert_eq!(scene.get(&format!("{path}/usage")).await.status, 200);
    let batch = json!({
        "deletes": [{ "id": ids[0] }],
        "patches": [{ "id": ids[1], "comment": "Patched" }],
        "puts": [{ "id": ids[2], "type": "AAAA", "name": "www", "content": "2001:db8::1", "ttl": 1 }],
        "posts": [{ "type": "A", "name": "new", "content": "192.0.2.1", "ttl": 1 }],
    });
    let done = scene.ask("POST", &format!("{path}/batch"), batch).await;
    assert_eq!(done.status, 200, "{}", done.text);
    assert_eq!(scene.ask("DELETE", &format!("{path}/{}", ids[3]), Value::Null).await.status, 200);
    for none in [
        json!({ "type": "MX", "name": "no-mail", "content": ".", "priority": 0, "ttl": 1 }),
        json!({ "type": "SRV", "name": "_no._tcp", "data": { "priority": 0, "weight": 0, "port": 0, "target": "." }, "ttl": 1 }),
    ] {
        assert_eq!(scene.post(none).await.status, 200);
    }
}

async fn files_and_scans(scene: &Scene) {
    let path = scene.records_path();
    let file = Bytes::from_static(
        b"--b\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nx 1 IN A 192.0.2.2\r\n--b--\r\n",
    );
    let mut import = scene.request("POST", &format!("{path}/import"), file);
    import.headers_mut().insert("content-type", "multipart/form-data; boundary=b".parse().unwrap());
    let import = scene.send(import).await.unwrap();
    assert_eq!(import.status, 200, "{}", import.text);
    for scan in ["scan", "scan/trigger"] {
        assert_eq!(scene.ask("POST", &format!("{path}/{scan}"), Value::Null).await.status, 200);
    }
    assert_eq!(scene.get(&format!("{path}/scan/review")).await.status, 200);
    assert_eq!(scene.ask("POST", &format!("{path}/scan/review"), json!({ "accepts": [] })).await.status, 200);
    let exported = scene.get(&format!("{path}/export")).await;
    assert_eq!(exported.status, 200);
    assert_eq!(scene.post(json!({ "type": "A", "name": "x", "content": "no address" })).await.status, 400);
}

/// What kflare may ask of tunnels, and what it is answered.
async fn tunnels(scene: &Scene) {
    let path = format!("/accounts/{ACCOUNT}/cfd_tunnel");
    let made = scene.ask("POST", &path, json!({ "name": "web", "config_src": "cloudflare" })).await;
    assert_eq!(made.status, 200, "{}", made.text);
    let one = format!("{path}/{}", made.id());
    for query in ["", "?name=web&is_deleted=false&per_page=1000&page=1", "?status=inactive&include_prefix=w"]
    {
        assert_eq!(scene.get(&format!("{path}{query}")).await.result().as_array().map(Vec::len), Some(1));
    }
    assert_eq!(scene.ask("PATCH", &one, json!({ "name": "app" })).await.status, 200);
    assert_eq!(scene.get(&format!("{one}/token")).await.status, 200);
    let configuration = format!("{one}/configurations");
    assert_eq!(scene.get(&configuration).await.status, 404);
    let switches = scene.cloudflare.switches();
    scene.cloudflare.set_switches(super::super::Switches { tunnel_warp_routing: true, ..switches });
    let config = json!({ "config": {
        "ingress": [
            { "hostname": "www.example.com", "path": "/a", "service": "http://web", "originRequest": { "noTLSVerify": true } },
            { "service": "http_status:404" },
        ],
        "originRequest": { "connectTimeout": 5, "access": { "teamName": "acme", "audTag": ["tag"] } },
    } });
    assert_eq!(scene.ask("PUT", &configuration, config).await.status, 200);
    assert_eq!(scene.get(&configuration).await.status, 200);
    scene.cloudflare.connect_tunnel(&made.id(), 4).unwrap();
    for path in [&one, &path, &format!("{one}/connections")] {
        assert_eq!(scene.get(path).await.status, 200);
    }
    assert_eq!(scene.ask("DELETE", &one, Value::Null).await.status, 400);
    assert_eq!(scene.ask("DELETE", &format!("{one}/connections"), Value::Null).await.status, 200);
    assert_eq!(scene.ask("DELETE", &one, Value::Null).await.status, 200);
    assert_eq!(scene.get(&format!("{path}?is_deleted=true")).await.status, 200);
}

/// What others ask of tunnels, and the answers that only some versions of the API give.
async fn tunnels_of_others(scene: &Scene) {
    let path = format!("/accounts/{ACCOUNT}/cfd_tunnel");
    let mut switches = scene.cloudflare.switches();
    switches.tunnel_create_tells_token = true;
    switches.tunnel_tells_connections = true;
    scene.cloudflare.set_switches(switches);
    let made = scene.ask("POST", &path, json!({ "name": "other" })).await;
    assert_eq!(made.status, 200, "{}", made.text);
    let connector = scene.cloudflare.connect_tunnel(&made.id(), 2).unwrap();
    let one = format!("{path}/{}", made.id());
    for path in
        [&one, &path, &format!("/accounts/{ACCOUNT}/tunnels"), &format!("{one}/connectors/{connector}")]
    {
        assert_eq!(scene.get(path).await.status, 200, "{path}");
    }
    let logs = scene.ask("POST", &format!("{one}/management"), json!({ "resources": ["logs"] })).await;
    assert_eq!(logs.status, 200);
}

async fn tokens(scene: &Scene, path: &str) {
    let groups = scene.get(&format!("{path}/permission_groups")).await;
    let group = groups.result()[0]["id"].clone();
    let resource = format!("com.cloudflare.api.account.{ACCOUNT}");
    let body = json!({
        "name": "made",
        "expires_on": "2030-01-01T00:00:00Z",
        "policies": [{ "effect": "allow", "permission_groups": [{ "id": group }], "resources": { resource: "*" } }],
    });
    let made = scene.ask("POST", path, body.clone()).await;
    assert_eq!(made.status, 200, "{}", made.text);
    let one = format!("{path}/{}", made.id());
    assert_eq!(scene.get(path).await.status, 200);
    assert_eq!(scene.get(&one).await.status, 200);
    assert_eq!(scene.ask("PUT", &one, body).await.status, 200);
    assert_eq!(scene.ask("PUT", &format!("{one}/value"), json!({})).await.status, 200);
    assert_eq!(scene.ask("DELETE", &one, Value::Null).await.status, 200);
    assert_eq!(scene.ask("POST", path, json!({ "name": "" })).await.status, 400);
}

/// What the gateway refuses, and the two answers to too many requests.
async fn refusals(scene: &mut Scene) {
    use crate::cloudflare::RateLimitCode;
    use crate::fault::{Fault, Target};
    for code in [RateLimitCode::Code971, RateLimitCode::Code10429] {
        let switches = scene.cloudflare.switches();
        scene.cloudflare.set_switches(super::super::Switches { rate_limit_code: code, ..switches });
        scene.cloudflare.faults().arm(Fault::TooManyRequests, Target::default(), 0, 1);
        assert_eq!(scene.get("/zones").await.status, 429);
    }
    let refused = [(Fault::InternalError, 500), (Fault::Unavailable, 503), (Fault::Unauthorized, 401)];
    let of_the_way = [
        (Fault::BadGateway, 502),
        (Fault::GatewayTimeout, 504),
        (Fault::TooManyRequestsBare, 429),
        (Fault::Page, 200),
        (Fault::CutBody, 200),
    ];
    for (fault, status) in refused.into_iter().chain(of_the_way) {
        scene.cloudflare.faults().arm(fault, Target::default(), 0, 1);
        assert_eq!(scene.get("/zones").await.status, status);
    }
    let known = std::mem::replace(&mut scene.secret, "malformed token".to_owned());
    assert_eq!(scene.get("/zones").await.status, 400);
    scene.secret = "cfut_unknown".to_owned();
    assert_eq!(scene.get("/user/tokens/verify").await.status, 401);
    scene.secret = known;
}

/// A request with this user agent, and an answer.
fn looked_at(agent: &str, method: Method, uri: &str, body: &Value, answer: &Value) -> Vec<Misfit> {
    let witness = Witness::default();
    let mut headers = http::HeaderMap::new();
    headers.insert("user-agent", agent.parse().unwrap());
    let body = if body.is_null() { Bytes::new() } else { Bytes::from(body.to_string()) };
    let uri: http::Uri = uri.parse().unwrap();
    let path = uri.path().to_owned();
    let arrived = Arrived { method, uri, headers, body };
    let answer = Answer {
        status: 200,
        content_type: "application/json",
        body: answer.to_string(),
        left: rate_limit::UNCOUNTED,
        retry_after: None,
        slow: false,
    };
    witness.note(&arrived, &path, Some(&answer).filter(|answer| answer.body != "null"));
    witness.take()
}

const ZONE_RECORDS: &str = "/zones/0123456789abcdef0123456789abcdef/dns_records";

fn record() -> Value {
    let epoch: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
    let cloudflare = Cloudflare::new(Clock::starting_at(epoch), 1);
    cloudflare.add_account(ACCOUNT, "Acme");
    let zone = cloudflare.add_zone(ACCOUNT, "example.com", Plan::Pro);
    let body = json!({ "type": "A", "name": "www", "content": "192.0.2.1", "comment": "Fine" });
    cloudflare.put_record(&zone, body).unwrap();
    cloudflare.records(&zone).remove(0)
}

#[test]
fn each_flaw_of_an_answer_is_found_in_the_last_of_many_records() {
    let table: [(&str, Value, Flaw); 8] = [
        ("id", json!(7), Flaw::Type),
        ("id", json!("0123456789abcdef0123456789abcdef0"), Flaw::Bound),
        ("ttl", Value::Null, Flaw::Null),
        ("ttl", json!(29), Flaw::Bound),
        ("content", json!("192.0.2.256"), Flaw::Form),
        ("created_on", json!("yesterday"), Flaw::Form),
        ("type", json!("AB"), Flaw::Enum),
        ("invented", json!(1), Flaw::Unknown),
    ];
    let good = record();
    let list = |last: Value| {
        let result = [vec![good.clone(); 500], vec![last]].concat();
        json!({ "success": true, "errors": [], "messages": [], "result": result, "result_info": {} })
    };
    let look = |last| looked_at("curl/8", Method::GET, ZONE_RECORDS, &Value::Null, &list(last));
    assert_eq!(look(good.clone()), Vec::new());
    for (field, value, flaw) in table {
        let mut wrong = good.clone();
        wrong[field] = value;
        let misfits = look(wrong);
        assert!(
            misfits
                .iter()
                .any(|misfit| { misfit.pointer == format!("/result/500/{field}") && misfit.flaw == flaw }),
            "{field}: {misfits:?}"
        );
    }
    // Of SRV records alone it is known that the API answers it beside their data.
    let mut wrong = good.clone();
    wrong["priority"] = json!(1);
    assert_eq!(look(wrong)[0].pointer, "/result/500/priority");
    let mut wrong = good.clone();
    wrong.as_object_mut().unwrap().remove("proxiable");
    let found = look(wrong).remove(0);
    assert_eq!(
        found.to_string(),
        "GET /zones/{}/dns_records, answer 200, /result/500/proxiable: expected the field [document], got nothing"
    );
}

#[test]
fn each_flaw_of_a_request_is_found_when_it_is_kflares() {
    let record = |extra: Value| {
        let mut body = json!({ "type": "A", "name": "www.example.com", "content": "192.0.2.1", "ttl": 60 });
        body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        body
    };
    let table: [(Method, &str, Value, &str, Flaw); 8] = [
        (Method::POST, "", record(json!({ "ttl": "60" })), "/body/ttl", Flaw::Type),
        (Method::POST, "", record(json!({ "ttl": 20 })), "/body/ttl", Flaw::Bound),
        (Method::POST, "", record(json!({ "proxiable": true })), "/body/proxiable", Flaw::ReadOnly),
        (Method::POST, "", record(json!({ "zone": "x" })), "/body/zone", Flaw::Unknown),
        (Method::POST, "", Value::Null, "/body", Flaw::Missing),
        (Method::GET, "?per_page=0", Value::Null, "/query/per_page", Flaw::Bound),
        (Method::GET, "?pages=1", Value::Null, "/query/pages", Flaw::Unknown),
        (Method::PUT, "/export", json!({}), "", Flaw::Unheard),
    ];
    for (method, rest, body, pointer, flaw) in table {
        let uri = format!("{ZONE_RECORDS}{rest}");
        let look = |agent| looked_at(agent, method.clone(), &uri, &body, &Value::Null);
        let misfits = look("kflare/1.2.3");
        assert!(
            misfits.iter().any(|misfit| misfit.pointer == pointer && misfit.flaw == flaw),
            "{pointer}: {misfits:?}"
        );
        assert_eq!(look("curl/8"), Vec::new());
    }
    let look = |body| looked_at("kflare/1", Method::POST, ZONE_RECORDS, &body, &Value::Null);
    assert_eq!(look(record(json!({}))), Vec::new());
}

#[test]
fn a_record_of_any_type_may_be_looked_for() {
    // The document's list of types is older than the last of them.
    for kind in ["A", "SVCB", "URI", "OPENPGPKEY"] {
        let uri = format!("{ZONE_RECORDS}?type={kind}");
        assert_eq!(looked_at("kflare/1", Method::GET, &uri, &Value::Null, &Value::Null), Vec::new());
    }
}

#[test]
fn a_target_may_have_underscores_and_is_a_host_name_otherwise() {
    // Cloudflare itself makes `_dc-mx.…` ones, though the document says host name, which RFC 1123 gives none.
    let look = |content: &str| {
        let body =
            json!({ "type": "MX", "name": "example.com", "ttl": 1, "priority": 10, "content": content });
        looked_at("kflare/1", Method::POST, ZONE_RECORDS, &body, &Value::Null)
    };
    for content in ["mail.example.net", "_dc-mx.0123456789ab.example.com", "my_host.example.net", "a._b"] {
        assert_eq!(look(content), Vec::new(), "{content}");
    }
    for content in ["mail example.net", "-mail.example.net", "mail..example.net", "mäil.example.net"] {
        let misfits = look(content);
        assert!(misfits.iter().any(|misfit| misfit.pointer == "/body/content"), "{content}: {misfits:?}");
    }
}

#[test]
fn a_batch_is_checked_though_the_document_lacks_it() {
    let batch = format!("{ZONE_RECORDS}/batch");
    let look = |body| looked_at("kflare/1", Method::POST, &batch, &body, &Value::Null);
    let misfits =
        look(json!({ "posts": [{ "type": "A", "name": "a.example.com", "ttl": 1, "content": 7 }] }));
    assert_eq!(misfits[0].pointer, "/body/posts/0/content");
    assert_eq!(look(json!({ "deletes": [{ "id": "0123456789abcdef0123456789abcdef" }] })), Vec::new());
    let answer =
        json!({ "success": true, "errors": [], "messages": [], "result": { "posts": [{ "id": 1 }] } });
    assert!(!looked_at("curl/8", Method::POST, &batch, &Value::Null, &answer).is_empty());
}
