//! Lists, pages, watches and the faults that hit them.

use std::time::Duration;

use http_body_util::BodyExt;

use super::*;
use crate::fault::{Fault, Target};
use crate::serve::AnswerBody;

struct Stream(AnswerBody);

impl Stream {
    async fn open(server: &ApiServer, query: &str) -> Self {
        Self::open_as(server, query, "application/json").await
    }

    async fn open_as(server: &ApiServer, query: &str, accept: &str) -> Self {
        let request = Request::builder()
            .uri(format!("{RECORDS}?watch=true&{query}"))
            .header("accept", accept)
            .body(Full::<Bytes>::default())
            .unwrap();
        let response = server.service().call(request).await.unwrap();
        assert_eq!(response.status().as_u16(), 200);
        Self(response.into_body())
    }

    /// The next line; `None` at the end.
    async fn next(&mut self) -> Option<Value> {
        let frame = self.0.frame().await?.unwrap();
        Some(serde_json::from_slice(&frame.into_data().unwrap()).unwrap())
    }

    /// Type and name of the next event.
    async fn event(&mut self) -> (String, String) {
        let line = self.next().await.unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (text(&line["type"]), text(&line["object"]["metadata"]["name"]))
    }

    async fn is_silent(&mut self) -> bool {
        tokio::time::timeout(Duration::from_secs(1), self.next()).await.is_err()
    }
}

fn pair(kind: &str, name: &str) -> (String, String) {
    (kind.to_owned(), name.to_owned())
}

#[tokio::test(start_paused = true)]
async fn a_watch_continues_where_a_list_ended() {
    let server = server();
    server.apply(record("a")).unwrap();
    let version =
        get(&server, RECORDS).await.body["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    let mut stream = Stream::open(&server, &format!("resourceVersion={version}")).await;
    server.apply(record("b")).unwrap();
    server.patch("dnsrecord", None, "a", json!({ "spec": { "ttl": 60 } })).unwrap();
    server.delete("dnsrecord", None, "b").unwrap();
    assert_eq!(stream.event().await, pair("ADDED", "b"));
    assert_eq!(stream.event().await, pair("MODIFIED", "a"));
    assert_eq!(stream.event().await, pair("DELETED", "b"));
    assert!(stream.is_silent().await);
    assert_eq!(server.watchers(), 1);
    drop(stream);
    assert_eq!(server.watchers(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_match_that_starts_or_stops_is_added_or_deleted() {
    let server = server();
    server.apply(record("a")).unwrap();
    let version = server.resource_version();
    let mut stream = Stream::open(&server, &format!("resourceVersion={version}&labelSelector=on")).await;
    for labels in [json!({ "on": "1" }), json!({ "on": "2" }), json!({ "on": null })] {
        server.patch("dnsrecord", None, "a", json!({ "metadata": { "labels": labels } })).unwrap();
    }
    for kind in ["ADDED", "MODIFIED", "DELETED"] {
        assert_eq!(stream.event().await, pair(kind, "a"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_compacted_version_is_410_in_the_stream() {
    let server = server();
    let version = server.resource_version();
    server.apply(record("a")).unwrap();
    server.compact();
    let mut stream = Stream::open(&server, &format!("resourceVersion={version}")).await;
    let line = stream.next().await.unwrap();
    assert_eq!((&line["type"], &line["object"]["code"]), (&json!("ERROR"), &json!(410)));
    assert_eq!(line["object"]["reason"], "Expired");
    assert!(stream.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn bookmarks_come_every_minute_and_a_watch_ends_in_time() {
    let server = server();
    let version = server.resource_version();
    let query = format!("resourceVersion={version}&allowWatchBookmarks=true&timeoutSeconds=90");
    let mut stream = Stream::open(&server, &query).await;
    let start = tokio::time::Instant::now();
    server
        .apply(json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "other" } }))
        .unwrap();
    let line = stream.next().await.unwrap();
    assert_eq!(start.elapsed(), Duration::from_secs(60));
    assert_eq!(line["type"], "BOOKMARK");
    assert_eq!(line["object"]["metadata"]["resourceVersion"], server.resource_version().to_string());
    assert_eq!(stream.next().await.unwrap()["type"], "BOOKMARK");
    assert!(stream.next().await.is_none());
    assert_eq!(start.elapsed(), Duration::from_secs(90));
}

#[tokio::test(start_paused = true)]
async fn initial_events_end_with_their_own_bookmark() {
    let server = server();
    server.apply(record("a")).unwrap();
    server.apply(record("b")).unwrap();
    let query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let mut stream = Stream::open(&server, query).await;
    assert_eq!(stream.event().await, pair("ADDED", "a"));
    assert_eq!(stream.event().await, pair("ADDED", "b"));
    let line = stream.next().await.unwrap();
    assert_eq!(line["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"], "true");
    server.apply(record("c")).unwrap();
    assert_eq!(stream.event().await, pair("ADDED", "c"));
}

#[tokio::test(start_paused = true)]
async fn metadata_and_tables_are_watched_too() {
    let server = server();
    server.apply(record("a")).unwrap();
    let metadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    let line = Stream::open_as(&server, "", metadata).await.next().await.unwrap();
    assert_eq!(line["object"]["kind"], "PartialObjectMetadata");
    assert!(line["object"].get("spec").is_none());
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let mut stream = Stream::open_as(&server, "", table).await;
    let line = stream.next().await.unwrap();
    assert_eq!(line["object"]["rows"][0]["cells"][0], "a");
    assert_eq!(line["object"]["columnDefinitions"][0]["name"], "Name");
    server.apply(record("b")).unwrap();
    assert_eq!(stream.next().await.unwrap()["object"]["columnDefinitions"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn pages_follow_their_token_until_it_expires() {
    let server = server();
    for name in ["a", "b", "c"] {
        server.apply(record(name)).unwrap();
    }
    let first = get(&server, &format!("{RECORDS}?limit=2")).await.body;
    assert_eq!(first["items"].as_array().unwrap().len(), 2);
    assert_eq!(first["metadata"]["remainingItemCount"], 1);
    let token = first["metadata"]["continue"].as_str().unwrap();
    let second = get(&server, &format!("{RECORDS}?limit=2&continue={token}")).await.body;
    assert_eq!(second["items"][0]["metadata"]["name"], "c");
    assert_eq!(second["metadata"]["continue"], "", "what has no Go type leaves nothing out");
    server.apply(record("d")).unwrap();
    server.compact();
    assert_eq!(get(&server, &format!("{RECORDS}?limit=2&continue={token}")).await.code, 410);
    let cached = get(&server, &format!("{RECORDS}?limit=2&resourceVersion=0")).await.body;
    assert_eq!(cached["items"].as_array().unwrap().len(), 4, "the watch cache ignores the limit");
}

#[tokio::test(start_paused = true)]
async fn a_running_watch_is_cut_goes_stale_or_is_told_of_a_gap() {
    let server = server();
    let target = || Target { method: Some("WATCH".into()), ..Target::default() };
    for fault in [Fault::WatchCut, Fault::WatchStale, Fault::WatchGap] {
        let version = server.resource_version();
        let mut stream = Stream::open(&server, &format!("resourceVersion={version}")).await;
        server.faults().arm(fault, target(), 0, 1);
        server.apply(record(fault.name())).unwrap();
        match fault {
            Fault::WatchCut => assert!(stream.next().await.is_none()),
            Fault::WatchStale => assert!(stream.is_silent().await),
            _ => assert_eq!(stream.next().await.unwrap()["object"]["code"], 410),
        }
        server.apply(record("more")).unwrap();
        if fault == Fault::WatchStale {
            assert!(stream.is_silent().await);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_fault_of_reads_or_writes_means_nothing_to_a_watch() {
    let server = server();
    for fault in [Fault::StaleRead, Fault::WriteConflict] {
        let mut stream =
            Stream::open(&server, &format!("resourceVersion={}", server.resource_version())).await;
        server.faults().arm(fault, Target { method: Some("WATCH".into()), ..Target::default() }, 0, 1);
        server.apply(record(fault.name())).unwrap();
        assert_eq!(stream.event().await, pair("ADDED", fault.name()));
        assert_eq!((server.faults().is_empty(), server.faults().hits(fault)), (true, 0), "{fault}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_late_watch_delivers_everything_two_seconds_late() {
    let server = server();
    let version = server.resource_version();
    let mut stream = Stream::open(&server, &format!("resourceVersion={version}")).await;
    server.faults().arm(Fault::WatchLate, Target { method: Some("WATCH".into()), ..Target::default() }, 0, 1);
    let began = tokio::time::Instant::now();
    for name in ["a", "b"] {
        server.apply(record(name)).unwrap();
    }
    for name in ["a", "b"] {
        assert_eq!(stream.next().await.unwrap()["object"]["metadata"]["name"], name);
        assert_eq!(began.elapsed(), Duration::from_secs(2), "{name}");
    }
    server.apply(record("c")).unwrap();
    assert_eq!(stream.next().await.unwrap()["object"]["metadata"]["name"], "c");
    assert_eq!(began.elapsed(), Duration::from_secs(2), "later events are in time again");
}

#[tokio::test(start_paused = true)]
async fn faults_of_requests_are_acted_out_before_or_after_the_commit() {
    let server = server();
    let arm =
        |fault| server.faults().arm(fault, Target { method: Some("POST".into()), ..Target::default() }, 0, 1);
    let try_post = |name: &'static str| {
        let server = server.clone();
        async move { tokio::time::timeout(Duration::from_secs(5), post(&server, RECORDS, &record(name))).await }
    };
    for (fault, code) in [
        (Fault::Unauthorized, 401),
        (Fault::Forbidden, 403),
        (Fault::TooManyRequests, 429),
        (Fault::TooManyRequestsBare, 429),
        (Fault::InternalError, 500),
        (Fault::BadGateway, 502),
        (Fault::Unavailable, 503),
        (Fault::WriteConflict, 409),
    ] {
        arm(fault);
        assert_eq!(try_post("answered").await.unwrap().code, code);
    }
    assert!(server.get("dnsrecord", None, "answered").is_none());
    arm(Fault::GatewayTimeout);
    assert_eq!(try_post("carried-out").await.unwrap().code, 504);
    assert!(server.get("dnsrecord", None, "carried-out").is_some());
    arm(Fault::TimeoutBeforeCommit);
    assert!(try_post("before").await.is_err());
    assert!(server.get("dnsrecord", None, "before").is_none());
    arm(Fault::TimeoutAfterCommit);
    assert!(try_post("after").await.is_err());
    assert!(server.get("dnsrecord", None, "after").is_some());
    arm(Fault::LateCommit);
    assert!(try_post("late").await.is_err());
    assert!(server.get("dnsrecord", None, "late").is_none());
    get(&server, RECORDS).await;
    assert!(server.get("dnsrecord", None, "late").is_some());
    let lines = server.log().lines();
    assert_eq!(lines.iter().filter(|line| line.status == 0).count(), 3);
    assert_eq!(lines[0].route, "/apis/kflare.dev/v1alpha1/namespaces/{namespace}/dnsrecords");
}

#[tokio::test(start_paused = true)]
async fn a_stale_list_shows_an_old_version_and_a_watch_from_it_tells_what_came_since() {
    let server = server();
    server.apply(record("a")).unwrap();
    let old = get(&server, RECORDS).await.body;
    server.apply(record("b")).unwrap();
    let stale = || server.faults().arm(Fault::StaleRead, Target::default(), 0, 1);
    let hits = || server.faults().hits(Fault::StaleRead);
    stale();
    get(&server, &format!("{RECORDS}/a")).await;
    assert_eq!(hits(), 0, "nobody read it before");
    stale();
    assert_eq!(get(&server, RECORDS).await.body, old);
    assert_eq!(hits(), 1);
    assert_eq!(get(&server, RECORDS).await.body["items"].as_array().unwrap().len(), 2);
    let version = old["metadata"]["resourceVersion"].as_str().unwrap();
    let mut stream = Stream::open(&server, &format!("resourceVersion={version}")).await;
    assert_eq!(stream.event().await, pair("ADDED", "b"));
}

#[tokio::test(start_paused = true)]
async fn a_cut_body_and_a_page_are_no_json() {
    let server = server();
    server.apply(record("a")).unwrap();
    for (fault, begins) in [(Fault::CutBody, "{"), (Fault::Page, "<html>")] {
        server.faults().arm(fault, Target::default(), 0, 1);
        let request = Request::builder().uri(RECORDS).body(Full::<Bytes>::default()).unwrap();
        let response = server.service().call(request).await.unwrap();
        assert_eq!(response.status().as_u16(), 200, "{fault}");
        let body = response.into_body().collect().await.unwrap().to_bytes();
        assert!(body.starts_with(begins.as_bytes()), "{fault}: {body:?}");
        assert!(serde_json::from_slice::<Value>(&body).is_err(), "{fault}");
    }
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_objects_are_no_burden() {
    let server = server();
    let version = server.resource_version();
    let mut stream = Stream::open(&server, &format!("resourceVersion={version}")).await;
    for index in 0..10_000 {
        server.apply(record(&format!("r{index}"))).unwrap();
    }
    assert_eq!(server.list("dnsrecords").len(), 10_000);
    assert_eq!(stream.event().await, pair("ADDED", "r0"));
    for index in 0..10_000 {
        let patch = json!({ "status": { "ready": true } });
        server.patch_status("dnsrecord", None, &format!("r{index}"), patch).unwrap();
    }
    // It read nothing meanwhile and fell out of the window.
    let mut last = Value::Null;
    while let Some(line) = stream.next().await {
        last = line;
    }
    assert_eq!(last["object"]["code"], 410);
}

#[tokio::test(start_paused = true)]
async fn a_watch_tells_of_the_last_deletions_when_the_definition_goes() {
    let server = server();
    server.apply(record("a")).unwrap();
    let mut stream = Stream::open(&server, "").await;
    assert_eq!(stream.event().await, pair("ADDED", "a"));
    server.delete("crd", None, "dnsrecords.kflare.dev").unwrap();
    loop {
        match stream.event().await {
            (kind, name) if kind == "DELETED" => {
                assert_eq!(name, "a");
                break;
            }
            (kind, _) => assert_eq!(kind, "MODIFIED"),
        }
    }
    assert_eq!(stream.next().await, None);
}
