//! Faults at endpoints, late commits, eventual consistency.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::super::{OUT_OF_BAND, Plan, Token};
use super::{ACCOUNT, Scene};
use crate::fault::{Fault, Target};

fn record() -> Value {
    json!({ "type": "SRV", "name": "_x._tcp", "data": { "priority": 1, "weight": 1, "port": 1, "target": "a" } })
}

fn arm(scene: &Scene, fault: Fault) {
    scene.cloudflare.faults().arm(fault, Target { writes: Some(true), ..Target::default() }, 0, 1);
}

#[tokio::test(start_paused = true)]
async fn b154_each_fault_acts_as_its_name_says() {
    for (fault, status, created) in [
        (Fault::Unauthorized, Some(401), false),
        (Fault::Forbidden, Some(403), false),
        (Fault::TooManyRequests, Some(429), false),
        (Fault::TooManyRequestsBare, Some(429), false),
        (Fault::InternalError, Some(500), false),
        (Fault::BadGateway, Some(502), false),
        (Fault::Unavailable, Some(503), false),
        (Fault::GatewayTimeout, Some(504), true),
        (Fault::CutBody, Some(200), true),
        (Fault::StaleRead, Some(200), true),
        (Fault::TimeoutBeforeCommit, None, false),
        (Fault::TimeoutAfterCommit, None, true),
        (Fault::ResetBeforeCommit, None, false),
        (Fault::ResetAfterCommit, None, true),
        (Fault::WriteConflict, Some(200), true),
    ] {
        let scene = Scene::new(Plan::Free);
        arm(&scene, fault);
        let request = scene.request("POST", &scene.records_path(), Bytes::from(record().to_string()));
        let sent = tokio::time::timeout(Duration::from_secs(60), scene.send(request)).await;
        let is_reset = matches!(fault, Fault::ResetBeforeCommit | Fault::ResetAfterCommit);
        assert_eq!(matches!(sent, Ok(Err(_))), is_reset, "{fault}");
        let got = sent.ok().and_then(Result::ok);
        assert_eq!(got.as_ref().map(|got| got.status), status, "{fault}");
        assert_eq!(!scene.cloudflare.records(&scene.zone).is_empty(), created, "{fault}");
        let retry_after = got.and_then(|got| got.header("retry-after").map(str::to_owned));
        assert_eq!(retry_after.is_some(), fault == Fault::TooManyRequests, "{fault}");
        assert_eq!(scene.cloudflare.log().lines()[0].status, status.unwrap_or(0), "{fault}");
        let line = &scene.cloudflare.log().lines()[0];
        assert_eq!((line.who.len(), line.fault), (32, Some(fault)));
    }
}

#[tokio::test(start_paused = true)]
async fn b153_a_502_is_html_and_a_slow_body_never_ends() {
    let scene = Scene::new(Plan::Free);
    arm(&scene, Fault::BadGateway);
    let got = scene.post(record()).await;
    assert_eq!(got.header("content-type"), Some("text/html"));
    assert!(got.text.starts_with("<html>"));
    arm(&scene, Fault::SlowBody);
    let request = scene.request("POST", &scene.records_path(), Bytes::from(record().to_string()));
    let response = scene.cloudflare.service().oneshot(request).await.unwrap();
    assert_eq!(response.status(), 200);
    let mut body = response.into_body();
    let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert!(first.starts_with(b"{\"success\":true"));
    assert!(tokio::time::timeout(Duration::from_secs(3600), body.frame()).await.is_err());
    assert_eq!(scene.cloudflare.records(&scene.zone).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn b153_proxies_and_cut_bodies_are_no_envelope() {
    let scene = Scene::new(Plan::Free);
    for (fault, content_type, begins) in [
        (Fault::TooManyRequestsBare, "text/plain", "error code: 1015"),
        (Fault::GatewayTimeout, "text/html", "<html>"),
        (Fault::Page, "text/html", "<!DOCTYPE html>"),
        (Fault::CutBody, "application/json", "{\"success\":true"),
    ] {
        arm(&scene, fault);
        let before = scene.cloudflare.records(&scene.zone).len();
        let request = scene.request("POST", &scene.records_path(), Bytes::from(record().to_string()));
        let response = scene.cloudflare.service().oneshot(request).await.unwrap();
        assert_eq!(response.headers()["content-type"], content_type, "{fault}");
        let body = response.into_body().collect().await.unwrap().to_bytes();
        assert!(body.starts_with(begins.as_bytes()), "{fault}: {body:?}");
        assert!(serde_json::from_slice::<Value>(&body).is_err(), "{fault}");
        let is_made = scene.cloudflare.records(&scene.zone).len() > before;
        assert_eq!(is_made, matches!(fault, Fault::GatewayTimeout | Fault::CutBody), "{fault}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stale_read_shows_what_it_showed_before_for_half_a_minute() {
    let scene = Scene::new(Plan::Free);
    let list = async || scene.get(&scene.records_path()).await.result().as_array().unwrap().len();
    let stale = || scene.cloudflare.faults().arm(Fault::StaleRead, Target::default(), 0, 1);
    let hits = || scene.cloudflare.faults().hits(Fault::StaleRead);
    stale();
    assert_eq!((list().await, hits()), (0, 0), "nobody asked before");
    assert_eq!(list().await, 0);
    scene.post(record()).await;
    stale();
    assert_eq!((list().await, hits()), (0, 1), "as before the create");
    assert_eq!(list().await, 1);
    tokio::time::advance(Duration::from_secs(31)).await;
    stale();
    assert_eq!((list().await, hits()), (1, 1), "reads lag by seconds");
    assert_eq!(list().await, 1);
    scene.cloudflare.add_token("another", Token::all(ACCOUNT));
    let scene = Scene { secret: "another".to_owned(), ..scene };
    scene.cloudflare.faults().arm(Fault::StaleRead, Target::default(), 0, 1);
    scene.get(&scene.records_path()).await;
    assert_eq!(scene.cloudflare.faults().hits(Fault::StaleRead), 1, "another token was shown nothing before");
}

#[tokio::test(start_paused = true)]
async fn a_late_commit_happens_right_after_the_next_list_of_its_collection() {
    let scene = Scene::new(Plan::Free);
    let other = scene.cloudflare.add_zone(ACCOUNT, "example.net", Plan::Free);
    for (path, body) in [
        (scene.records_path(), record()),
        (format!("{}/batch", scene.records_path()), json!({ "posts": [record()] })),
    ] {
        arm(&scene, Fault::LateCommit);
        let request = scene.request("POST", &path, Bytes::from(body.to_string()));
        assert!(tokio::time::timeout(Duration::from_secs(60), scene.send(request)).await.is_err());
    }
    scene.get("/zones").await;
    scene.get(&format!("/zones/{other}/dns_records")).await;
    assert_eq!(scene.cloudflare.records(&scene.zone), Vec::<Value>::new());
    let list = scene.get(&format!("{}?name=nothing", scene.records_path())).await;
    assert_eq!(list.result(), &json!([]), "the list itself does not have them");
    assert_eq!(scene.cloudflare.records(&scene.zone).len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_late_commit_that_no_list_comes_for_does_not_wait_for_hours() {
    let scene = Scene::new(Plan::Free);
    arm(&scene, Fault::LateCommit);
    let request = scene.request("POST", &scene.records_path(), Bytes::from(record().to_string()));
    let began = scene.cloudflare.shared.clock.now();
    assert!(tokio::time::timeout(Duration::from_secs(60), scene.send(request)).await.is_err());
    tokio::time::advance(Duration::from_secs(89)).await;
    assert!(scene.cloudflare.records(&scene.zone).is_empty());
    tokio::time::advance(Duration::from_secs(3_600)).await;
    assert_eq!(scene.cloudflare.records(&scene.zone).len(), 1);
    let made = scene.cloudflare.history().last().unwrap().at;
    assert_eq!(
        made.duration_since(began).as_secs(),
        150,
        "as it would have been without a look an hour later"
    );
}

#[tokio::test(start_paused = true)]
async fn late_commits_can_be_made_to_happen() {
    let scene = Scene::new(Plan::Free);
    let id = scene.cloudflare.put_record(&scene.zone, record()).unwrap();
    arm(&scene, Fault::LateCommit);
    let path = format!("{}/{id}", scene.records_path());
    let request = scene.request("DELETE", &path, Bytes::new());
    assert!(tokio::time::timeout(Duration::from_secs(60), scene.send(request)).await.is_err());
    assert_eq!(scene.cloudflare.records(&scene.zone).len(), 1);
    scene.cloudflare.commit_late();
    assert!(scene.cloudflare.records(&scene.zone).is_empty());
    let who: Vec<String> = scene.cloudflare.history().into_iter().map(|change| change.who).collect();
    assert_eq!((who[1].as_str(), who[2].len()), (OUT_OF_BAND, 32));
}

#[tokio::test(start_paused = true)]
async fn eventual_consistency_can_be_switched_on() {
    let scene = Scene::new(Plan::Free);
    let second = Duration::from_secs(1);
    tokio::time::advance(second * 10).await;
    let mut switches = scene.cloudflare.switches();
    switches.lag.list_after_create = second * 3;
    switches.lag.read_after_create = second * 2;
    scene.cloudflare.set_switches(switches.clone());
    let id = scene.post(record()).await.id();
    let path = format!("{}/{id}", scene.records_path());
    for (seconds, read, listed) in [(0, 404, 0), (2, 200, 0), (1, 200, 1)] {
        tokio::time::advance(second * seconds).await;
        assert_eq!(scene.get(&path).await.status, read, "{seconds}");
        let list = scene.get(&scene.records_path()).await;
        assert_eq!(list.result().as_array().unwrap().len(), listed, "{seconds}");
    }
    assert_eq!(scene.cloudflare.records(&scene.zone).len(), 1, "raw facts have no lag");
    switches.lag.access_after_create = second * 5;
    scene.cloudflare.set_switches(switches);
    let zone = scene.cloudflare.add_zone(ACCOUNT, "example.net", Plan::Free);
    let got = scene.get(&format!("/zones/{zone}/dns_records")).await;
    assert_eq!((got.status, got.code()), (403, 10000));
    tokio::time::advance(second * 5).await;
    assert_eq!(scene.get(&format!("/zones/{zone}/dns_records")).await.status, 200);
}

#[tokio::test]
async fn edits_behind_the_api_are_validated_and_noted() {
    let scene = Scene::new(Plan::Free);
    let body = json!({ "type": "A", "name": "x", "content": "192.0.2.1" });
    let id = scene.cloudflare.put_record(&scene.zone, body.clone()).unwrap();
    assert_eq!(scene.cloudflare.put_record(&scene.zone, body).unwrap_err().code(), 81058);
    assert!(scene.cloudflare.edit_record(&scene.zone, &id, json!({ "content": "192.0.2.9" })));
    assert!(!scene.cloudflare.edit_record(&scene.zone, &id, json!({ "content": "no" })));
    assert!(!scene.cloudflare.edit_record(&scene.zone, "nothing", json!({})));
    assert!(scene.cloudflare.remove_record(&scene.zone, &id));
    assert!(!scene.cloudflare.remove_record(&scene.zone, &id));
    let history = scene.cloudflare.history();
    assert_eq!(history.len(), 4);
    assert!(history.iter().all(|change| change.who == OUT_OF_BAND));
    assert_eq!(history[2].before.as_ref().unwrap()["content"], "192.0.2.1");
    assert_eq!(history[2].after.as_ref().unwrap()["content"], "192.0.2.9");
    assert_eq!(scene.cloudflare.log().total(), 0);
    assert!(scene.cloudflare.remove_zone(&scene.zone));
    assert!(scene.cloudflare.zones().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_fault_that_this_api_cannot_have_is_refused_and_those_that_it_can_are_listed() {
    let scene = Scene::new(Plan::Free);
    let control = async |method: &str, path: &str| {
        let request = http::Request::builder().method(method).uri(format!("/_sandbox{path}"));
        let got = scene.send(request.body(http_body_util::Full::default()).unwrap()).await.unwrap();
        (got.status, got.json["error"].as_str().unwrap_or_default().to_owned())
    };
    let can = "here can be set 401, 403, 429, 429-bare, 500, 502, 503, 504, page, timeout-before-commit, \
               timeout-after-commit, late-commit, reset-before-commit, reset-after-commit, slow-body, cut-body, \
               stale-read";
    let (status, error) = control("POST", "/faults/watch-cut").await;
    assert!(
        status == 400 && error.starts_with("watch-cut is a fault of Kubernetes") && error.ends_with(can),
        "{error}"
    );
    let (status, error) = control("POST", "/faults/nosuch").await;
    assert_eq!((status, error), (400, format!("unknown fault \"nosuch\"; {can}")));
    assert!(scene.cloudflare.faults().is_empty());
    assert_eq!(control("POST", "/faults/429").await.0, 200);
    let (status, error) = control("GET", "/nosuch").await;
    assert!(status == 404 && error.contains("docs/guide/tour.md"), "{error}");
}
