//! Hostile input: whatever comes, an envelope goes back and nothing panics.

use bytes::Bytes;
use serde_json::{Value, json};

use super::super::Plan;
use super::Scene;

fn odd_values() -> Vec<Value> {
    vec![
        Value::Null,
        json!(true),
        json!(-1),
        json!(1e308),
        json!(18_446_744_073_709_551_615_u64),
        json!(0.5),
        json!(""),
        json!("\u{0}"),
        json!("\u{202e}ünï\"\\\n"),
        json!("x".repeat(100_000)),
        json!([]),
        json!([[[]]]),
        json!([null, 1, "a"]),
        json!({}),
        json!({ "a": { "b": [] } }),
    ]
}

#[tokio::test]
async fn every_field_with_every_odd_value() {
    let scene = Scene::new(Plan::Pro);
    let mut switches = scene.cloudflare.switches();
    switches.rate_limit = false;
    scene.cloudflare.set_switches(switches);
    let id = scene.post(json!({ "type": "A", "name": "victim", "content": "192.0.2.1" })).await.id();
    let record = format!("{}/{id}", scene.records_path());
    let fields = [
        "type",
        "name",
        "content",
        "data",
        "ttl",
        "proxied",
        "priority",
        "comment",
        "tags",
        "settings",
        "private_routing",
        "id",
    ];
    let kinds =
        ["A", "AAAA", "CNAME", "MX", "TXT", "SRV", "CAA", "LOC", "HTTPS", "NAPTR", "URI", "OPENPGPKEY"];
    for value in odd_values() {
        for field in fields {
            for kind in kinds {
                let mut body = json!({ "type": kind, "name": "n", "content": "c" });
                body[field] = value.clone();
                answered(&scene, "POST", &scene.records_path(), body.clone()).await;
                answered(&scene, "PATCH", &record, body).await;
            }
            let data =
                json!({ "type": "LOC", "name": "n", "data": { "lat_degrees": value, "target": value } });
            answered(&scene, "PUT", &record, data).await;
        }
        for path in [scene.records_path() + "/batch", "/zones".to_owned(), format!("/zones/{}", scene.zone)] {
            for field in
                ["posts", "deletes", "name", "account", "type", "plan", "paused", "vanity_name_servers"]
            {
                let method = if path.len() == 38 { "PATCH" } else { "POST" };
                answered(&scene, method, &path, json!({ field: value })).await;
                answered(&scene, method, &path, value.clone()).await;
            }
        }
    }
}

async fn answered(scene: &Scene, method: &str, path: &str, body: Value) {
    let got = scene.ask(method, path, body).await;
    assert!(got.status < 500, "{method} {path}: {}", got.text);
    assert!(got.json["success"].is_boolean(), "{method} {path}: {}", got.text);
}

#[tokio::test]
async fn odd_paths_and_queries() {
    let scene = Scene::new(Plan::Free);
    let records = scene.records_path();
    for path in [
        "/".to_owned(),
        "//".to_owned(),
        "/%".to_owned(),
        "/zones/%00".to_owned(),
        format!("/zones/{}/", scene.zone),
        format!("{records}?name=%ff%fe&content.contains=%"),
        format!("{records}?=&&==&a=b=c&tag=:&tag.present=&tag.contains=:::"),
        format!("{records}?page=-1&per_page=99999999999999999999"),
        format!("{records}?page=18446744073709551615&per_page=5000000"),
        format!("{records}?search={}", "x".repeat(10_000)),
        "/zones?name=starts_with:&account.name=:::".to_owned(),
    ] {
        let got = scene.get(&path).await;
        assert!(got.status < 500 && got.json["success"].is_boolean(), "{path}: {}", got.text);
    }
}

#[tokio::test]
async fn bodies_that_are_no_text() {
    let scene = Scene::new(Plan::Free);
    for body in [&b"\xff\xfe\x00"[..], b"{\"a\":", b"[[[[[[[[", b"\"\\ud800\"", b"1e999999", &[b'['; 200_000]]
    {
        let request = scene.request("POST", &scene.records_path(), Bytes::copy_from_slice(body));
        assert_eq!(scene.send(request).await.unwrap().status, 400);
        let mut request =
            scene.request("POST", &(scene.records_path() + "/import"), Bytes::copy_from_slice(body));
        let kind = "multipart/form-data; boundary=\"".parse().unwrap();
        request.headers_mut().insert("content-type", kind);
        assert!(matches!(scene.send(request).await.unwrap().status, 400 | 429));
    }
}
