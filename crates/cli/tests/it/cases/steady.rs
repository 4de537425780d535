//! What must hold at every moment: nothing happens by itself, and nobody is told of success before its time.

use std::collections::BTreeMap;
use std::time::Duration;

use cli::scenario::simulate;
use cli::world::{Options, World};
use sandbox::fault::{Fault, Target};
use serde_json::{Value, json};

use super::{get, patch, ready, record, with_zone};

/// Everything that must not move in an idle world.
#[derive(Debug, PartialEq)]
struct Idle {
    /// The metrics that count reconciles, as they are shown.
    reconciles: Vec<String>,
    /// Requests to Cloudflare, by method and route.
    cloudflare: BTreeMap<(String, String), u64>,
    /// Requests to Kubernetes; watches end and begin again by themselves.
    kubernetes: BTreeMap<(String, String), u64>,
    /// The resourceVersion of every object of ours.
    versions: Vec<Value>,
}

impl Idle {
    fn of(world: &World) -> Self {
        let metrics = world.operator().unwrap().metrics().text();
        let counts = |line: &&str| line.starts_with("controller_runtime_reconcile_total{");
        let mut kubernetes = world.kubernetes.log().counts();
        kubernetes.retain(|(method, _), _| method != "WATCH");
        Self {
            reconciles: metrics.lines().filter(counts).map(str::to_owned).collect(),
            cloudflare: world.cloudflare.log().counts(),
            kubernetes,
            versions: world
                .resources()
                .iter()
                .map(|(_, object)| object["metadata"]["resourceVersion"].clone())
                .collect(),
        }
    }
}

const RECORDS: usize = 5;
const IDLE: Duration = Duration::from_secs(600);

#[test]
fn b165_nothing_moves_in_ten_idle_minutes() {
    simulate(async {
        let (mut world, _) = with_zone(Options::default()).await;
        for n in 0..RECORDS {
            let spec = json!({ "type": "A", "name": format!("r{n}"), "content": "192.0.2.10" });
            world.kubernetes.apply(record(&format!("r{n}"), &spec)).unwrap();
        }
        world.settle().await;
        world.advance(IDLE).await;
        let before = Idle::of(&world);
        assert_eq!((before.versions.len(), before.reconciles.is_empty()), (RECORDS + 2, false));
        world.advance(IDLE).await;
        assert_eq!(Idle::of(&world), before);
    })
    .unwrap();
}

#[test]
fn b165_a_second_writer_of_status_wakes_nobody_into_writing() {
    simulate(async {
        let (mut world, _) = with_zone(Options::default()).await;
        let spec = json!({ "type": "A", "name": "www", "content": "192.0.2.10" });
        world.kubernetes.apply(record("www", &spec)).unwrap();
        world.settle().await;
        let mut conditions = get(&world, "www")["status"]["conditions"].clone();
        let theirs = json!({
            "type": "Seen", "status": "True", "reason": "Seen", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z",
        });
        conditions.as_array_mut().unwrap().push(theirs.clone());
        let status = json!({ "status": { "conditions": conditions } });
        world.kubernetes.patch_status("DNSRecord", Some("default"), "www", status).unwrap();
        let version = get(&world, "www")["metadata"]["resourceVersion"].clone();
        let writes = world.writes();
        world.advance(IDLE).await;
        let object = get(&world, "www");
        assert_eq!(world.writes(), writes);
        assert_eq!(object["metadata"]["resourceVersion"], version);
        assert!(object["status"]["conditions"].as_array().unwrap().contains(&theirs));
        // Our next status leaves theirs alone, too.
        patch(&world, "www", &json!({ "content": "192.0.2.20" }));
        world.settle().await;
        assert!(get(&world, "www")["status"]["conditions"].as_array().unwrap().contains(&theirs));
    })
    .unwrap();
}

/// kstatus, as Flux and Argo CD use it, for a kind that it does not know: true for Current.
fn is_current(object: &Value) -> bool {
    let observed = object["status"]["observedGeneration"].as_i64();
    let is_looked_at = observed.is_none() || observed == object["metadata"]["generation"].as_i64();
    let is_going = object["metadata"]["deletionTimestamp"].is_string();
    !is_going && is_looked_at && ready(object).is_none_or(|condition| condition["status"] == "True")
}

/// What `kubectl wait --for=condition=Ready` ends on.
fn ends_the_wait(object: &Value) -> bool {
    let Some(condition) = ready(object) else { return false };
    let observed =
        condition["observedGeneration"].as_i64().or(object["status"]["observedGeneration"].as_i64());
    let is_old = observed.is_some_and(|observed| Some(observed) < object["metadata"]["generation"].as_i64());
    condition["status"] == "True" && !is_old
}

/// Whether Cloudflare's record has the content that the spec asks for.
fn is_done(world: &World) -> bool {
    let wanted = &get(world, "www")["spec"]["content"];
    world.cloudflare.records_anywhere().iter().any(|(_, record)| record["content"] == *wanted)
}

/// Lets time pass, and looks all the time whether somebody is told of success too early.
async fn watched(world: &mut World, time: Duration) {
    let step = Duration::from_millis(10);
    for _ in 0..time.as_millis() / step.as_millis() {
        world.advance(step).await;
        let object = get(world, "www");
        assert!(is_done(world) || !is_current(&object), "Current too early: {object}");
        assert!(is_done(world) || !ends_the_wait(&object), "the wait ends too early: {object}");
    }
}

fn assert_told(world: &World) {
    let object = get(world, "www");
    let generation = &object["metadata"]["generation"];
    assert!(is_current(&object) && ends_the_wait(&object), "{object}");
    assert_eq!(&object["status"]["observedGeneration"], generation);
    assert_eq!(&ready(&object).unwrap()["observedGeneration"], generation);
}

#[test]
fn b170_nobody_is_told_of_success_before_the_generation_is_done() {
    simulate(async {
        let (mut world, _) = with_zone(Options::default()).await;
        world.crash();
        let spec = json!({ "type": "A", "name": "www", "content": "192.0.2.10" });
        world.kubernetes.apply(record("www", &spec)).unwrap();
        // No operator runs.
        watched(&mut world, Duration::from_secs(1)).await;
        assert_eq!(get(&world, "www")["status"], json!({ "observedGeneration": -1 }));
        world.start();
        watched(&mut world, Duration::from_secs(5)).await;
        assert_told(&world);

        patch(&world, "www", &json!({ "content": "192.0.2.20" }));
        let object = get(&world, "www");
        assert!(!is_current(&object) && !ends_the_wait(&object), "read at once after the edit: {object}");
        watched(&mut world, Duration::from_secs(5)).await;
        assert_told(&world);

        // The same while Cloudflare fails, and then does not answer: the condition says so for the new generation.
        let writes = Target { method: Some("PATCH".to_owned()), ..Target::default() };
        world.cloudflare.faults().arm(Fault::InternalError, writes.clone(), 0, 3);
        world.cloudflare.faults().arm(Fault::TimeoutBeforeCommit, writes, 0, 1);
        patch(&world, "www", &json!({ "content": "192.0.2.30" }));
        watched(&mut world, Duration::from_secs(3)).await;
        let object = get(&world, "www");
        assert_eq!(ready(&object).unwrap()["status"], "False", "{object}");
        assert_eq!(object["status"]["observedGeneration"], object["metadata"]["generation"]);
        watched(&mut world, Duration::from_secs(200)).await;
        assert_told(&world);
    })
    .unwrap();
}
