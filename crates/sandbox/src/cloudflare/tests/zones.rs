//! Zones, plans, accounts, tokens, and the control surface.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::{Permission, Plan, Token};
use super::{ACCOUNT, Scene};

fn zone(name: &str) -> Value {
    json!({ "name": name, "account": { "id": ACCOUNT } })
}

#[tokio::test(start_paused = true)]
async fn a_new_zone_is_initializing_then_pending_then_active() {
    let scene = Scene::new(Plan::Free);
    let got = scene.ask("POST", "/zones", zone("Example.NET.")).await;
    assert_eq!(got.status, 200, "{}", got.text);
    assert_eq!(got.result()["name"], "example.net");
    assert_eq!(got.result()["status"], "initializing");
    assert_eq!(got.result()["plan"]["id"], "0feeeeeeeeeeeeeeeeeeeeeeeeeeeeee");
    assert_eq!(got.result()["name_servers"].as_array().unwrap().len(), 2);
    let path = format!("/zones/{}", got.id());
    tokio::time::advance(Duration::from_secs(2)).await;
    assert_eq!(scene.get(&path).await.result()["status"], "pending", "b156");
    assert!(scene.get(&path).await.result()["activated_on"].is_null());
    scene.cloudflare.activate_zone(&got.id());
    assert_eq!(scene.get(&path).await.result()["status"], "active");
    scene.cloudflare.move_zone(&got.id());
    assert_eq!(scene.get("/zones?status=moved").await.result()[0]["id"], json!(got.id()));
}

#[tokio::test]
async fn zones_are_refused_with_their_codes() {
    let scene = Scene::new(Plan::Free);
    for (situation, body, status, code) in [
        ("exists", zone("example.com"), 400, 1061),
        ("a label", zone("com"), 400, 1002),
        ("no name", json!({ "account": { "id": ACCOUNT } }), 400, 1002),
        ("not registered", zone("nobody.invalid"), 400, 1099),
        ("a subdomain", zone("eu.example.net"), 400, 1116),
        ("under a long suffix", zone("example.co.uk"), 200, 0),
        ("b059_unicode", zone("müller.example"), 200, 0),
        ("b059_the_same_in_ascii", zone("xn--mller-kva.example"), 400, 1061),
        ("no account", json!({ "name": "example.net" }), 400, 1004),
        (
            "the account by its former name",
            json!({ "name": "former.example", "organization": { "id": ACCOUNT } }),
            200,
            0,
        ),
        (
            "another account",
            json!({ "name": "example.net", "account": { "id": "f".repeat(32) } }),
            403,
            10000,
        ),
        (
            "partial on Free",
            json!({ "name": "example.net", "account": { "id": ACCOUNT }, "type": "partial" }),
            403,
            1015,
        ),
        (
            "an unknown type",
            json!({ "name": "example.net", "account": { "id": ACCOUNT }, "type": 5 }),
            400,
            1004,
        ),
        ("wrong types everywhere", json!({ "name": [], "account": 7, "type": {} }), 400, 1002),
        ("no object", json!("x"), 400, 1002),
    ] {
        let got = scene.ask("POST", "/zones", body).await;
        assert_eq!((got.status, got.code()), (status, code), "{situation}: {}", got.text);
    }
    scene.cloudflare.set_enterprise(ACCOUNT);
    assert_eq!(scene.ask("POST", "/zones", zone("eu.example.net")).await.status, 200);
}

#[tokio::test]
async fn a_patch_changes_exactly_one_property() {
    let scene = Scene::new(Plan::Free);
    let path = format!("/zones/{}", scene.zone);
    for (body, status, code) in [
        (json!({ "paused": true }), 200, 0),
        (json!({ "paused": true, "type": "full" }), 400, 1004),
        (json!({}), 400, 1004),
        (json!({ "paused": "yes" }), 400, 1004),
        (json!({ "type": "partial" }), 403, 1015),
        (json!({ "vanity_name_servers": ["ns1.example.com"] }), 403, 1015),
        (json!({ "plan": { "id": "94f3b7b768b0458b56d2cac4fe5ec0f9" } }), 200, 0),
        (json!({ "vanity_name_servers": ["ns1.example.com"] }), 200, 0),
        (json!({ "type": "partial" }), 200, 0),
    ] {
        let got = scene.ask("PATCH", &path, body.clone()).await;
        assert_eq!((got.status, got.code()), (status, code), "{body}: {}", got.text);
    }
    let got = scene.get(&path).await;
    assert_eq!(got.result()["paused"], true);
    assert!(got.result()["name_servers"].is_null());
    assert!(got.result()["verification_key"].is_string());
}

#[tokio::test]
async fn a_deleted_zone_takes_its_records_along() {
    let scene = Scene::new(Plan::Free);
    scene.post(json!({ "type": "A", "name": "x", "content": "192.0.2.1" })).await;
    let path = format!("/zones/{}", scene.zone);
    assert_eq!(scene.ask("DELETE", &path, Value::Null).await.result(), &json!({ "id": scene.zone }));
    assert_eq!(scene.get(&path).await.code(), 9109);
    assert_eq!(scene.get(&scene.records_path()).await.code(), 9109);
    let history = scene.cloudflare.history();
    assert_eq!(history.iter().filter(|change| change.after.is_none()).count(), 2);
    assert_eq!(scene.ask("POST", "/zones", zone("example.com")).await.status, 200);
}

#[tokio::test]
async fn zone_lists_filter_and_order() {
    let scene = Scene::new(Plan::Free);
    let other = "f".repeat(32);
    scene.cloudflare.add_account(&other, "Other");
    scene.cloudflare.add_zone(&other, "example.com", Plan::Free);
    let active = scene.cloudflare.add_zone(ACCOUNT, "apple.example", Plan::Pro);
    scene.cloudflare.activate_zone(&active);
    scene.cloudflare.add_zone(ACCOUNT, "berry.example", Plan::Free);
    for (query, wanted) in [
        ("", "apple.example,berry.example,example.com"),
        ("name=EXAMPLE.com", "example.com"),
        ("name=starts_with:b", "berry.example"),
        ("name=ends_with:.example", "apple.example,berry.example"),
        ("name=contains_case_sensitive:BERRY", ""),
        ("name=not_equal:example.com", "apple.example,berry.example"),
        ("status=active", "apple.example"),
        ("status=active&name=berry.example&match=any", "apple.example,berry.example"),
        ("account.name=contains:acm", "apple.example,berry.example,example.com"),
        ("account.id=ffffffffffffffffffffffffffffffff", ""),
        ("type=internal,partial", ""),
        ("type=partial,full", "apple.example,berry.example,example.com"),
        ("type=partial&type=full", "apple.example,berry.example,example.com"),
        ("direction=desc", "example.com,berry.example,apple.example"),
        ("order=plan.id&direction=desc", "apple.example,example.com,berry.example"),
    ] {
        let got = scene.get(&format!("/zones?{query}")).await;
        let names: Vec<&str> =
            got.result().as_array().unwrap().iter().map(|zone| zone["name"].as_str().unwrap()).collect();
        assert_eq!(names.join(","), wanted, "{query}");
    }
    for query in ["per_page=51", "per_page=4", "page=0", "status=odd", "match=x", "order=x", "type=x"] {
        assert_eq!(scene.get(&format!("/zones?{query}")).await.status, 400, "{query}");
    }
    assert_eq!(scene.cloudflare.zones().len(), 4, "b155 a name may exist twice");
}

#[tokio::test(start_paused = true)]
async fn activation_checks_are_limited_by_plan() {
    let scene = Scene::new(Plan::Free);
    let path = format!("/zones/{}/activation_check", scene.zone);
    for (advance, plan, status) in [
        (0, Plan::Free, 200),
        (3_599, Plan::Free, 400),
        (1, Plan::Free, 200),
        (299, Plan::Pro, 400),
        (1, Plan::Pro, 200),
    ] {
        tokio::time::advance(Duration::from_secs(advance)).await;
        scene.cloudflare.set_plan(&scene.zone, plan);
        assert_eq!(scene.ask("PUT", &path, Value::Null).await.status, status, "{advance} {plan:?}");
    }
}

#[tokio::test]
async fn a_subscription_changes_the_plan() {
    let mut scene = Scene::new(Plan::Free);
    let path = format!("/zones/{}/subscription", scene.zone);
    assert_eq!(scene.get(&path).await.result()["rate_plan"]["id"], "free");
    for (body, status) in [
        (json!({ "rate_plan": { "id": "gold" } }), 400),
        (json!({ "rate_plan": 5 }), 200),
        (json!({ "frequency": "daily" }), 400),
        (json!({ "rate_plan": { "id": "partners_business" }, "frequency": "yearly" }), 200),
    ] {
        assert_eq!(scene.ask("PUT", &path, body.clone()).await.status, status, "{body}");
    }
    let zone = scene.get(&format!("/zones/{}", scene.zone)).await;
    assert_eq!(zone.result()["plan"]["legacy_id"], "business");
    scene.cloudflare.add_token("reader", Token::all(ACCOUNT).with_permissions([Permission::ZoneEdit]));
    scene.secret = "reader".to_owned();
    assert_eq!(scene.ask("PUT", &path, json!({})).await.code(), 10000);
}

#[tokio::test]
async fn holds_and_purges() {
    let scene = Scene::new(Plan::Free);
    let hold = format!("/zones/{}/hold", scene.zone);
    let purge = format!("/zones/{}/purge_cache", scene.zone);
    assert_eq!(scene.ask("POST", &hold, Value::Null).await.code(), 1005);
    scene.cloudflare.set_plan(&scene.zone, Plan::Enterprise);
    assert_eq!(scene.ask("DELETE", &hold, Value::Null).await.code(), 1003);
    let query = format!("{hold}?include_subdomains=true");
    assert_eq!(scene.ask("POST", &query, Value::Null).await.result()["include_subdomains"], true);
    assert_eq!(
        scene.ask("PATCH", &hold, json!({ "hold_after": "2027-01-01T00:00:00Z" })).await.result()["hold"],
        false
    );
    assert_eq!(scene.ask("DELETE", &hold, Value::Null).await.result(), &json!({ "hold": false }));
    for (body, status) in [
        (json!({ "purge_everything": true }), 200),
        (json!({ "files": ["https://example.com/a"] }), 200),
        (json!({ "files": [], "tags": [] }), 400),
        (json!({ "purge_everything": true, "hosts": ["a"] }), 400),
        (json!({}), 400),
    ] {
        assert_eq!(scene.ask("POST", &purge, body.clone()).await.status, status, "{body}");
    }
}

#[tokio::test]
async fn accounts_are_read_and_renamed() {
    let scene = Scene::new(Plan::Free);
    let path = format!("/accounts/{ACCOUNT}");
    assert_eq!(scene.get(&path).await.result()["type"], "standard");
    for (body, status, code) in [
        (json!({ "name": "New" }), 200, 0),
        (json!({ "name": "" }), 400, 1001),
        (json!({ "name": "x".repeat(101) }), 400, 1001),
        (json!({ "name": "x", "type": "enterprise" }), 400, 1001),
        (json!({ "name": "x", "settings": { "enforce_twofactor": 1 } }), 400, 1001),
        (json!(7), 400, 1001),
    ] {
        let got = scene.ask("PUT", &path, body.clone()).await;
        assert_eq!((got.status, got.code()), (status, code), "{body}");
    }
    assert_eq!(scene.get("/accounts?name=new").await.json["result_info"]["total_count"], 1);
    assert_eq!(scene.ask("POST", "/accounts", json!({ "name": "x" })).await.code(), 1002);
    assert_eq!(scene.ask("DELETE", &path, Value::Null).await.status, 403);
    assert_eq!(scene.get(&format!("/accounts/{}", "e".repeat(32))).await.code(), 9109);
}

#[tokio::test]
async fn tokens_are_made_used_rolled_and_deleted() {
    let mut scene = Scene::new(Plan::Free);
    let groups = scene.get("/user/tokens/permission_groups?name=Zone%20Read").await;
    let group = groups.result()[0]["id"].clone();
    let body = json!({
        "name": "reader",
        "policies": [{
            "effect": "allow",
            "permission_groups": [{ "id": group }],
            "resources": { (format!("com.cloudflare.api.account.{ACCOUNT}")): { "com.cloudflare.api.account.zone.*": "*" } },
        }],
    });
    for base in ["/user/tokens".to_owned(), format!("/accounts/{ACCOUNT}/tokens")] {
        scene.secret = super::SECRET.to_owned();
        let made = scene.ask("POST", &base, body.clone()).await;
        assert_eq!(made.status, 200, "{}", made.text);
        let rolled = scene.ask("PUT", &format!("{base}/{}/value", made.id()), json!({})).await;
        scene.secret = made.result()["value"].as_str().unwrap().to_owned();
        assert_eq!(scene.get("/zones").await.status, 401, "the old secret");
        scene.secret = rolled.result().as_str().unwrap().to_owned();
        assert_eq!(scene.get("/zones").await.status, 200);
        assert_eq!(scene.get(&scene.records_path()).await.code(), 10000);
        scene.secret = super::SECRET.to_owned();
        let mut off = body.clone();
        off["status"] = json!("disabled");
        let path = format!("{base}/{}", made.id());
        assert_eq!(scene.ask("PUT", &path, off).await.result()["status"], "disabled");
        assert_eq!(scene.get(&path).await.result().get("value"), None, "the secret is never read");
        assert_eq!(scene.ask("DELETE", &path, Value::Null).await.status, 200);
        assert_eq!(scene.get(&path).await.code(), 1003);
        for bad in
            [json!({}), json!({"name":"x"}), json!({"name":"x","policies":[{"effect":"allow"}]}), json!([])]
        {
            assert_eq!(scene.ask("POST", &base, bad.clone()).await.status, 400, "{bad}");
        }
    }
}

#[tokio::test]
async fn the_world_can_be_seen_and_changed_from_outside() {
    let scene = Scene::new(Plan::Free);
    let raw = async |method: &str, path: &str, body: Value| {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let request = http::Request::builder().method(method).uri(format!("/_sandbox{path}"));
        let request = request.body(http_body_util::Full::new(bytes::Bytes::from(body))).unwrap();
        scene.send(request).await.unwrap()
    };
    let zone =
        raw("POST", "/zones", json!({ "account_id": ACCOUNT, "name": "example.net", "plan": "pro" })).await;
    let zone = zone.json["id"].as_str().unwrap().to_owned();
    let records = format!("/zones/{zone}/dns_records");
    let record = raw("POST", &records, json!({ "type": "A", "name": "x", "content": "192.0.2.1" })).await;
    let record = record.json["id"].as_str().unwrap().to_owned();
    for (method, path, body, status) in [
        ("PATCH", format!("{records}/{record}"), json!({ "content": "192.0.2.2" }), 200),
        ("PATCH", format!("{records}/{record}"), json!({ "content": "no" }), 400),
        ("DELETE", format!("{records}/none"), Value::Null, 404),
        ("POST", format!("/zones/{zone}/activate"), Value::Null, 200),
        (
            "POST",
            "/accounts".to_owned(),
            json!({ "id": "e".repeat(32), "name": "E", "plan": "enterprise" }),
            200,
        ),
        ("POST", "/accounts".to_owned(), json!({ "id": "short", "name": "E" }), 400),
        ("POST", "/faults/500".to_owned(), json!({ "path": "zones", "times": 1 }), 200),
        ("POST", "/faults".to_owned(), json!({ "fault": "no-such" }), 400),
        (
            "POST",
            "/tokens".to_owned(),
            json!({ "secret": "t", "account_id": ACCOUNT, "permissions": ["Zone Write"] }),
            200,
        ),
        (
            "POST",
            "/tokens".to_owned(),
            json!({ "secret": "t", "account_id": ACCOUNT, "permissions": ["Everything"] }),
            400,
        ),
        ("PATCH", "/switches".to_owned(), json!({ "rate_limit": false, "identical_code": "code81057" }), 200),
        ("PATCH", "/switches".to_owned(), json!({ "no_such": 1 }), 400),
        ("GET", "/nothing".to_owned(), Value::Null, 404),
        ("POST", "/zones".to_owned(), json!("x"), 400),
    ] {
        let got = raw(method, &path, body.clone()).await;
        assert_eq!(got.status, status, "{method} {path} {body}: {}", got.text);
    }
    let state = raw("GET", "/state", Value::Null).await;
    assert_eq!(state.json["dns_records"][&zone][0]["content"], "192.0.2.2");
    assert!(!scene.cloudflare.switches().rate_limit);
    assert_eq!(scene.get("/zones").await.status, 500);
    assert_eq!(raw("GET", "/counts", Value::Null).await.json["total"], 1);
    assert_eq!(raw("GET", "/log", Value::Null).await.json[0]["status"], 500);
    assert!(raw("GET", "/history", Value::Null).await.json.as_array().unwrap().len() > 3);
}
