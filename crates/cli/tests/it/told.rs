//! What an operator tells of its passes: status, Events, log lines, metrics. Each test looks at one of them in a small
//! world; what is written to Cloudflare is for scenarios.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use cli::scenario::simulate;
use cli::world::{Options, World};
use http::{Method, Request};
use operator::transport::Transport;
use operator::{Config, Operator};
use sandbox::fault::{Fault, Target};
use serde_json::{Value, json};
use tower::ServiceExt;
use tower::util::BoxCloneSyncService;

/// Bytes of an Event's note that the API server takes.
const NOTE_BYTES: usize = 1_024;
/// Records of which a pass marks some in time and some not, if each mark takes long.
const RECORDS: usize = 60;
/// The longest name of an object.
const NAME_LETTERS: usize = 253;

fn zone() -> Value {
    json!({
        "apiVersion": "kflare.dev/v1alpha1",
        "kind": "Zone",
        "metadata": {"name": "example-com", "namespace": "default"},
        "spec": {"name": "example.com", "accountRef": {"name": "main"}},
    })
}

fn record(name: &str) -> Value {
    json!({
        "apiVersion": "kflare.dev/v1alpha1",
        "kind": "DNSRecord",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"zoneRef": {"name": "example-com"}, "name": "www", "type": "A", "content": "192.0.2.10"},
    })
}

fn patch(world: &World, kind: &str, name: &str, patch: Value) {
    world.kubernetes.patch(kind, Some("default"), name, patch).unwrap();
}

fn object(world: &World, kind: &str, name: &str) -> Value {
    world.kubernetes.get(kind, Some("default"), name).unwrap()
}

/// The Ready condition: its status, reason and message.
fn ready(world: &World, kind: &str, name: &str) -> [String; 3] {
    let object = object(world, kind, name);
    ["status", "reason", "message"]
        .map(|field| object["status"]["conditions"][0][field].as_str().unwrap_or_default().to_owned())
}

/// The Events about an object, oldest first: type, reason, note.
fn events(world: &World, kind: &str, name: &str) -> Vec<[String; 3]> {
    let mut events = world.kubernetes.list("Event");
    let about =
        |event: &Value| event["involvedObject"]["kind"] == kind && event["involvedObject"]["name"] == name;
    events.retain(about);
    events.sort_by_key(|event| event["eventTime"].to_string());
    let told = |event: &Value| {
        ["type", "reason", "message"].map(|field| event[field].as_str().unwrap_or_default().to_owned())
    };
    events.iter().map(told).collect()
}

/// A world whose objects have been looked at.
async fn world_with(objects: &[Value]) -> World {
    let mut world = World::new(Options::default()).unwrap();
    world.start();
    for object in objects {
        world.kubernetes.apply(object.clone()).unwrap();
    }
    world.settle().await;
    world
}

/// An operator beside a world's own, which was not started.
fn operator(
    world: &World,
    change: impl FnOnce(&mut Config),
    way: impl FnOnce(Transport) -> Transport,
) -> Operator {
    let (client, transport, mut config) = world.ways();
    change(&mut config);
    Operator::start(client, way(transport), config)
}

#[test]
fn status_records_what_cloudflare_says() {
    simulate(async {
        let mut world = world_with(&[zone(), record("www")]).await;
        let live_zone = world.cloudflare.zones().remove(0);
        let zone_id = live_zone["id"].clone();
        let live = world.cloudflare.records(zone_id.as_str().unwrap()).remove(0);
        let www = object(&world, "DNSRecord", "www");
        assert_eq!(www["status"]["recordID"], live["id"]);
        assert_eq!(www["metadata"]["labels"]["kflare.dev/record-id"], live["id"]);
        assert_eq!(www["status"]["zoneID"], zone_id);
        assert_eq!(www["status"]["proxiable"], live["proxiable"]);
        assert_eq!(www["status"]["appliedFields"], Value::Null);
        let zone = object(&world, "Zone", "example-com");
        let shown = &zone["status"]["cloudflareMetadata"];
        assert_eq!(shown["zoneID"], zone_id);
        assert_eq!(zone["metadata"]["labels"]["kflare.dev/zone-id"], zone_id);
        assert_eq!(shown["nameServers"], live_zone["name_servers"]);
        assert_eq!(shown["status"], live_zone["status"]);
        patch(&world, "DNSRecord", "www", json!({"spec": {"comment": "ours"}}));
        world.settle().await;
        assert_eq!(object(&world, "DNSRecord", "www")["status"]["appliedFields"], json!(["comment"]));
        patch(&world, "DNSRecord", "www", json!({"spec": {"comment": null}}));
        world.settle().await;
        assert_eq!(object(&world, "DNSRecord", "www")["status"]["appliedFields"], Value::Null);
    })
    .unwrap();
}

#[test]
fn events_are_normal_for_true_and_paused_and_warnings_for_false() {
    simulate(async {
        let mut world = world_with(&[zone(), record("www")]).await;
        let steps = [
            json!({"spec": {"ttl": 30}}),
            // Another wrong value, but the same condition.
            json!({"spec": {"ttl": 31}}),
            json!({"metadata": {"annotations": {"kflare.dev/paused": "true"}}}),
            json!({"metadata": {"annotations": {"kflare.dev/paused": null}}, "spec": {"ttl": 300}}),
        ];
        for step in steps {
            world.advance(Duration::from_secs(60)).await;
            patch(&world, "DNSRecord", "www", step);
            world.settle().await;
        }
        let told = events(&world, "DNSRecord", "www");
        let kinds: Vec<[&str; 2]> =
            told.iter().map(|[kind, reason, _]| [kind.as_str(), reason.as_str()]).collect();
        let expected =
            [["Normal", "Synced"], ["Warning", "InvalidSpec"], ["Normal", "Paused"], ["Normal", "Synced"]];
        assert_eq!(kinds, expected);
        let [_, _, message] = ready(&world, "DNSRecord", "www");
        assert_eq!(told.last().unwrap()[2], message, "the note is the condition's message");
    })
    .unwrap();
}

#[test]
fn no_event_follows_a_status_that_was_not_written() {
    simulate(async {
        let mut world = World::new(Options::default()).unwrap();
        let target = Target { path: Some("/status".to_owned()), ..Target::default() };
        world.kubernetes.faults().arm(Fault::InternalError, target, 0, u32::MAX);
        world.start();
        for object in [zone(), record("www")] {
            world.kubernetes.apply(object).unwrap();
        }
        world.advance(Duration::from_secs(300)).await;
        assert_eq!(world.kubernetes.list("Event"), [Value::Null; 0]);
        world.kubernetes.faults().clear();
        world.settle().await;
        let told = events(&world, "CloudflareAccount", "main");
        assert_eq!(told.len(), 1, "{told:?}");
    })
    .unwrap();
}

#[test]
fn a_note_is_cut_to_what_an_event_holds() {
    simulate(async {
        let names: Vec<String> = ('a'..='e').map(|letter| letter.to_string().repeat(NAME_LETTERS)).collect();
        let records = names.iter().map(|name| record(name));
        let objects: Vec<Value> = std::iter::once(zone()).chain(records).collect();
        let mut world = world_with(&objects).await;
        world.kubernetes.delete("Zone", Some("default"), "example-com").unwrap();
        world.settle().await;
        let [_, reason, message] = ready(&world, "Zone", "example-com");
        assert_eq!(reason, "InUse");
        assert!(message.len() > NOTE_BYTES && message.contains(&names[4]), "{message}");
        let told = events(&world, "Zone", "example-com");
        let note = &told.iter().find(|[_, reason, _]| reason == "InUse").unwrap()[2];
        assert!(note.len() <= NOTE_BYTES && note.ends_with('…'), "{note}");
        assert!(message.starts_with(note.trim_end_matches('…')));
    })
    .unwrap();
}

/// How many passes over records there were.
fn passes(world: &World) -> u64 {
    let metrics = world.operator().unwrap().metrics().text();
    let counts = metrics.lines().filter_map(|line| {
        line.strip_prefix("controller_runtime_reconcile_total{controller=\"DNSRecord\"")?.rsplit(' ').next()
    });
    counts.map(|count| count.parse::<u64>().unwrap()).sum()
}

#[test]
fn a_paused_resource_is_not_looked_at_again_and_a_false_one_with_the_resync_alone() {
    simulate(async {
        let drift_interval = Some(Duration::from_secs(600));
        let mut world = World::new(Options { drift_interval, ..Options::default() }).unwrap();
        world.start();
        for object in [zone(), record("www")] {
            world.kubernetes.apply(object).unwrap();
        }
        world.settle().await;
        let hour = Duration::from_secs(3_600);
        let before = passes(&world);
        world.advance(hour).await;
        assert!(passes(&world) >= before + 5, "what is in order is checked");
        for edit in [
            json!({"metadata": {"annotations": {"kflare.dev/paused": "true"}}}),
            json!({"spec": {"ttl": 30}}),
        ] {
            patch(&world, "DNSRecord", "www", edit);
            world.settle().await;
            let before = passes(&world);
            world.advance(hour).await;
            assert_eq!(passes(&world), before);
            patch(
                &world,
                "DNSRecord",
                "www",
                json!({"metadata": {"annotations": {"kflare.dev/paused": null}}}),
            );
        }
    })
    .unwrap();
}

/// A way on which the first create of a record is never carried out and never answered.
fn stalling(transport: Transport) -> Transport {
    let stalled = Arc::new(Mutex::new(false));
    BoxCloneSyncService::new(tower::service_fn(move |request: Request<Bytes>| {
        let is_create = request.method() == Method::POST && request.uri().path().ends_with("/dns_records");
        let stalls = is_create && !std::mem::replace(&mut *stalled.lock().unwrap(), is_create);
        let transport = transport.clone();
        async move { if stalls { std::future::pending().await } else { transport.oneshot(request).await } }
    }))
}

#[test]
fn a_reconcile_that_runs_out_of_time_says_so_and_is_tried_again() {
    simulate(async {
        let world = World::new(Options::default()).unwrap();
        for object in [zone(), record("www")] {
            world.kubernetes.apply(object).unwrap();
        }
        let operator =
            operator(&world, |config| config.reconcile_timeout = Duration::from_secs(20), stalling);
        tokio::time::sleep(Duration::from_secs(10)).await;
        let mut second = zone();
        second["metadata"]["name"] = "second".into();
        second["spec"]["name"] = "example.net".into();
        world.kubernetes.apply(second).unwrap();
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert_eq!(ready(&world, "Zone", "second")[0], "True", "the others go on");
        assert_eq!(ready(&world, "DNSRecord", "www")[1], "", "it hangs");
        let turned = async {
            while ready(&world, "DNSRecord", "www")[1] != "APIError" {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(40), turned).await.unwrap();
        let [status, _, message] = ready(&world, "DNSRecord", "www");
        assert_eq!(status, "False");
        assert!(message.contains("reconciliation timeout"), "{message}");
        let metrics = operator.metrics().text();
        for name in ["reconcile_timeouts_total", "reconcile_errors_total"] {
            let line = format!("controller_runtime_{name}{{controller=\"DNSRecord\"}} 1");
            assert!(metrics.contains(&line), "{line} is not in\n{metrics}");
        }
        tokio::time::sleep(Duration::from_secs(600)).await;
        assert_eq!(ready(&world, "DNSRecord", "www")[1], "Synced");
        assert_eq!(world.cloudflare.records_anywhere().len(), 1);
    })
    .unwrap();
}

/// A Kubernetes that takes its time for each patch of a record, but for its status.
fn slow(world: &World, takes: Duration) -> kube::Client {
    let service = world.kubernetes.service();
    let slow = tower::service_fn(move |request: Request<kube::client::Body>| {
        let path = request.uri().path();
        let waits =
            request.method() == Method::PATCH && path.contains("/dnsrecords/") && !path.ends_with("/status");
        let service = service.clone();
        async move {
            if waits {
                tokio::time::sleep(takes).await;
            }
            service.oneshot(request).await
        }
    });
    kube::Client::new(slow, "default")
}

#[test]
fn what_a_pass_that_runs_out_of_time_did_not_get_to_says_so_too() {
    simulate(async {
        let world = World::new(Options::default()).unwrap();
        world.kubernetes.apply(zone()).unwrap();
        let names: Vec<String> = (0..RECORDS).map(|number| format!("r{number}")).collect();
        for name in &names {
            let mut record = record(name);
            record["spec"]["name"] = name.as_str().into();
            world.kubernetes.apply(record).unwrap();
        }
        let (_, transport, mut config) = world.ways();
        config.reconcile_timeout = Duration::from_secs(20);
        let operator = Operator::start(slow(&world, Duration::from_secs(6)), transport, config);
        let told = async {
            while names
                .iter()
                .any(|name| !ready(&world, "DNSRecord", name)[2].contains("reconciliation timeout"))
            {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(40), told).await.unwrap();
        assert_eq!(world.cloudflare.records_anywhere().len(), 0, "no time was left for a call");
        tokio::time::sleep(Duration::from_secs(900)).await;
        assert!(names.iter().all(|name| ready(&world, "DNSRecord", name)[1] == "Synced"));
        assert!(operator.activity().is_quiet());
    })
    .unwrap();
}

/// Lines of a log.
#[derive(Clone, Debug, Default)]
struct Lines(Arc<Mutex<String>>);

impl io::Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().push_str(&String::from_utf8_lossy(line));
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn the_log_names_the_request_whose_refusal_the_condition_tells() {
    let lines = Lines::default();
    let writer = lines.clone();
    // As long as there is one subscriber alone, tracing asks whichever thread comes to a line first whether it has any.
    let _second = tracing::Dispatch::new(tracing::subscriber::NoSubscriber::default());
    let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
    let message = tracing::subscriber::with_default(subscriber, || {
        simulate(async {
            let mut world = world_with(&[zone(), record("www")]).await;
            world.cloudflare.faults().arm(Fault::ResetBeforeCommit, Target::default(), 0, 1);
            let mut alias = record("alias");
            alias["spec"]["type"] = "CNAME".into();
            alias["spec"]["content"] = "www.example.net".into();
            world.kubernetes.apply(alias).unwrap();
            world.settle().await;
            ready(&world, "DNSRecord", "alias")[2].clone()
        })
        .unwrap()
    });
    assert!(message.contains("(81053)") && !message.contains("POST"), "{message}");
    let log = lines.0.lock().unwrap();
    let says = |parts: &[&str]| {
        let found = log.lines().any(|line| parts.iter().all(|part| line.contains(part)));
        assert!(found, "no line with {parts:?} in\n{log}");
    };
    says(&["POST", "/zones/{parent}/dns_records", "400", "(81053)"]);
    says(&["no answer", "GET", "/zones/{parent}/dns_records", "broke"]);
}
