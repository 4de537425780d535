//! Batches: order, all or nothing, limits, speed; import and export.

use bytes::Bytes;
use serde_json::{Value, json};

use super::super::{ChangeKind, Culprit, Plan};
use super::Scene;

fn a(name: &str, content: &str) -> Value {
    json!({ "type": "A", "name": name, "content": content })
}

async fn batch(scene: &Scene, body: Value) -> super::Got {
    scene.ask("POST", &format!("{}/batch", scene.records_path()), body).await
}

#[tokio::test]
async fn deletes_make_room_for_patches_puts_and_posts() {
    let scene = Scene::new(Plan::Free);
    let cname = scene.post(json!({"type":"CNAME","name":"x","content":"y.example"})).await.id();
    let patched = scene.post(a("p", "192.0.2.1")).await.id();
    let put = scene.post(a("q", "192.0.2.1")).await.id();
    let got = batch(
        &scene,
        json!({
            "posts": [a("x", "192.0.2.5"), a("x", "192.0.2.6")],
            "puts": [{"id": put, "type": "A", "name": "q", "content": "192.0.2.3"}],
            "patches": [{"id": patched, "content": "192.0.2.2"}],
            "deletes": [{"id": cname}],
        }),
    )
    .await;
    assert_eq!(got.status, 200, "{}", got.text);
    let result = got.result();
    assert_eq!(result["deletes"][0]["id"], json!(cname));
    assert_eq!(result["patches"][0]["content"], "192.0.2.2");
    assert_eq!(result["puts"][0]["content"], "192.0.2.3");
    assert_eq!(result["posts"][0]["created_on"], result["posts"][1]["created_on"]);
    let kinds: Vec<ChangeKind> =
        scene.cloudflare.history().iter().skip(4).map(|change| change.kind).collect();
    use ChangeKind as K;
    assert_eq!(kinds, [K::Delete, K::Update, K::Update, K::Create, K::Create]);
}

#[tokio::test]
async fn b074_one_bad_record_changes_nothing() {
    let scene = Scene::new(Plan::Free);
    let id = scene.post(a("old", "192.0.2.1")).await.id();
    let before = scene.cloudflare.records_anywhere();
    let mut posts: Vec<Value> = (0..50).map(|n| a(&format!("n{n}"), "192.0.2.1")).collect();
    posts[37]["comment"] = json!("x".repeat(101));
    let body = json!({ "deletes": [{ "id": id }], "patches": [], "puts": null, "posts": posts });
    let got = batch(&scene, body.clone()).await;
    assert_eq!((got.status, got.code()), (400, 9313));
    assert_eq!(got.json.pointer("/errors/0/source"), None);
    assert_eq!(scene.cloudflare.records_anywhere(), before);
    assert_eq!(scene.cloudflare.history().len(), 2, "the zone and the first record");
    let mut switches = scene.cloudflare.switches();
    switches.batch_names_culprit = Culprit::Pointer;
    scene.cloudflare.set_switches(switches);
    let got = batch(&scene, body).await;
    assert_eq!(got.json["errors"][0]["source"]["pointer"], "/posts/37");
}

#[tokio::test]
async fn a_record_that_was_deleted_in_the_same_batch_is_gone() {
    let scene = Scene::new(Plan::Free);
    let id = scene.post(a("x", "192.0.2.1")).await.id();
    let body = json!({ "deletes": [{ "id": id }], "patches": [{ "id": id, "content": "192.0.2.2" }] });
    assert_eq!(batch(&scene, body).await.code(), 81044);
    assert_eq!(scene.cloudflare.records(&scene.zone).len(), 1);
}

#[tokio::test]
async fn limits_follow_the_plan() {
    for (plan, fits) in [(Plan::Free, 200), (Plan::Pro, 3_500)] {
        let scene = Scene::new(plan);
        let posts = |count: usize| json!({ "posts": (0..count).map(|n| a(&format!("n{n}"), "192.0.2.1")).collect::<Vec<_>>() });
        assert_eq!(batch(&scene, posts(fits + 1)).await.code(), 9207);
        assert_eq!(batch(&scene, posts(fits)).await.status, 200);
        assert_eq!(batch(&scene, json!({ "posts": [a("more", "192.0.2.1")] })).await.code(), 81045);
    }
    let scene = Scene::new(Plan::Free);
    for body in [
        json!([]),
        json!({"posts": {}}),
        json!({"deletes": [1]}),
        json!({"puts": [{}]}),
        json!({"patches": [{"id": 5}]}),
    ] {
        let got = batch(&scene, body.clone()).await;
        assert!(got.status == 400 && got.code() >= 9207, "{body}: {}", got.text);
    }
    assert_eq!(
        batch(&scene, json!({})).await.result(),
        &json!({"deletes":[],"patches":[],"puts":[],"posts":[]})
    );
}

/// Takes about a second; a scan of the zone for each operation would make it minutes.
#[tokio::test]
async fn ten_thousand_records_fit_into_three_batches_and_two_pages() {
    let scene = Scene::new(Plan::Enterprise);
    for part in 0..3 {
        let posts: Vec<Value> = (0..3_400).map(|n| a(&format!("h{part}-{n}"), "192.0.2.1")).collect();
        assert_eq!(batch(&scene, json!({ "posts": posts })).await.status, 200);
    }
    let page = scene.get(&format!("{}?per_page=5000&page=2", scene.records_path())).await;
    assert_eq!(page.result().as_array().unwrap().len(), 5_000);
    assert_eq!(page.json["result_info"]["total_count"], 10_200);
    for n in 0..100 {
        let got = scene.get(&format!("{}?name=h1-{n}.example.com", scene.records_path())).await;
        assert_eq!(got.json["result_info"]["total_count"], 1);
    }
}

fn upload(scene: &Scene, file: &str, proxied: &str) -> http::Request<http_body_util::Full<Bytes>> {
    let body = format!(
        "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"z\"\r\n\r\n{file}\r\n\
         --b\r\nContent-Disposition: form-data; name=\"proxied\"\r\n\r\n{proxied}\r\n--b--\r\n"
    );
    let mut request = scene.request("POST", &format!("{}/import", scene.records_path()), Bytes::from(body));
    let kind = "multipart/form-data; boundary=b".parse().unwrap();
    request.headers_mut().insert("content-type", kind);
    request
}

#[tokio::test]
async fn a_zone_file_is_imported_and_exported_again() {
    let scene = Scene::new(Plan::Pro);
    let file = "$ORIGIN example.com.\n$TTL 300\n\
        @ IN SOA ns1 host (\n 1 ; serial\n 2 3 4 5 )\n@ IN NS ns1\n\
        www 600 IN A 192.0.2.1 ; the web cf_tags=cf-proxied:true,team:web\n\
        \tIN AAAA 2001:db8::1\n\
        @ IN MX 10 mail\n\
        txt IN TXT \"a; b\" \"c\"\n\
        _sip._tcp IN SRV 1 2 5060 sip.example.net.\n\
        caa IN CAA 0 issue \"ca.example\"\n\
        www 600 IN A 192.0.2.1\n";
    let got = scene.send(upload(&scene, file, "false")).await.unwrap();
    assert_eq!(got.result(), &json!({ "recs_added": 6, "total_records_parsed": 7 }), "{}", got.text);
    assert!(got.json["timing"]["start_time"].is_string());
    let export = scene.get(&format!("{}/export", scene.records_path())).await;
    assert_eq!(export.header("content-type"), Some("text/plain; charset=utf-8"));
    let lines: Vec<&str> =
        export.text.lines().filter(|line| !line.starts_with(";;") && !line.is_empty()).collect();
    assert_eq!(
        lines,
        [
            "www.example.com.\t1\tIN\tA\t192.0.2.1 ; the web cf_tags=cf-proxied:true,team:web",
            "www.example.com.\t300\tIN\tAAAA\t2001:db8::1 ; cf_tags=cf-proxied:false",
            "caa.example.com.\t300\tIN\tCAA\t0 issue \"ca.example\"",
            "example.com.\t300\tIN\tMX\t10 mail.example.com.",
            "_sip._tcp.example.com.\t300\tIN\tSRV\t1 2 5060 sip.example.net.",
            "txt.example.com.\t300\tIN\tTXT\t\"a; b\" \"c\"",
        ]
    );
    let third = scene.send(upload(&scene, &export.text, "true")).await.unwrap();
    assert_eq!(third.result(), &json!({ "recs_added": 1, "total_records_parsed": 6 }), "only the SRV again");
    let fourth = scene.send(upload(&scene, file, "false")).await.unwrap();
    assert_eq!(fourth.status, 429, "three zone files in a minute");
}

#[tokio::test]
async fn broken_zone_files_are_refused() {
    for file in ["x ( IN A 1.2.3.4", "x IN A )", "\"open", "$INCLUDE other", "x 300 IN", "$TTL x", "\u{0}"] {
        let scene = Scene::new(Plan::Free);
        let got = scene.send(upload(&scene, file, "no")).await.unwrap();
        assert_eq!((got.status, got.code()), (400, 9207), "{file}: {}", got.text);
    }
    let scene = Scene::new(Plan::Free);
    let got = scene.send(upload(&scene, &"; a comment\n".repeat(30_000), "no")).await.unwrap();
    assert_eq!(got.code(), 9207);
}
