//! Hundreds of records at once.

use std::time::Duration;

use cli::scenario::simulate;
use cli::world::{ACCOUNT_ID, CrashPoint, CrashSide, Options, World};
use sandbox::cloudflare::Plan;
use sandbox::fault::{Fault, Target};
use serde_json::{Value, json};

use super::{changes, patch, record, resource, unready, with_zone, zone};

/// SRV records: Cloudflare takes a second one that is equal, so a doubled create would show.
const SRV: usize = 20;

async fn twenty_srv_with_a_crash(point: CrashPoint) -> World {
    let (mut world, _) = with_zone(Options::default()).await;
    for n in 0..SRV {
        let data = json!({ "priority": 1, "weight": 1, "port": 5060, "target": "sip.example.net" });
        let spec = json!({ "type": "SRV", "name": format!("_s{n}._tcp"), "data": data });
        world.kubernetes.apply(record(&format!("s{n}"), &spec)).unwrap();
    }
    world.crash_at(point);
    let settled = world.settle().await;
    assert!(settled.crashed, "{point:?} is not reached");
    world.start();
    world.recover().await;
    world
}

#[test]
fn b167_killed_anywhere_between_mark_and_status_each_record_is_made_once() {
    // 20 marks, one batch, 20 claims, 20 statuses.
    let writes = [1, 10, 20, 21, 22, 31, 41, 42, 51, 60];
    for point in writes.into_iter().flat_map(|write| {
        [CrashSide::Before, CrashSide::After].map(|side| CrashPoint { write, whose: None, side })
    }) {
        let world = simulate(twenty_srv_with_a_crash(point)).unwrap();
        let mut names: Vec<Value> = world
            .cloudflare
            .records_anywhere()
            .into_iter()
            .map(|(_, record)| record["name"].clone())
            .collect();
        names.sort_by_key(ToString::to_string);
        names.dedup();
        assert_eq!((names.len(), world.cloudflare.records_anywhere().len()), (SRV, SRV), "{point:?}");
        assert_eq!(unready(&world, "DNSRecord"), [""; 0], "{point:?}");
        let refused = |event: &Value| event["reason"] == "AlreadyExists";
        assert!(!world.kubernetes.list("Event").iter().any(refused), "{point:?}");
    }
}

/// Records whose target changes.
const TARGETS: usize = 300;

#[test]
fn b182_three_hundred_changed_targets_are_changed_in_place() {
    simulate(async {
        let (mut world, zone) = with_zone(Options::default()).await;
        for n in 0..TARGETS {
            let spec = json!({ "type": "CNAME", "name": format!("h{n}"), "content": "old.example.net" });
            world.kubernetes.apply(record(&format!("h{n}"), &spec)).unwrap();
        }
        world.settle().await;
        let ids = |world: &World| -> Vec<Value> {
            world.cloudflare.records(&zone).iter().map(|record| record["id"].clone()).collect()
        };
        let (before, from) = (ids(&world), world.cloudflare.history().len());
        assert_eq!(before.len(), TARGETS);
        for n in 0..TARGETS {
            patch(&world, &format!("h{n}"), &json!({ "content": "new.example.net" }));
        }
        world.settle().await;
        // Whoever asks for a name at any moment finds it: no record was deleted or made.
        assert_eq!(changes(&world, from), [("Update".to_owned(), TARGETS)].into());
        assert_eq!(ids(&world), before);
        assert!(world.cloudflare.records(&zone).iter().all(|record| record["content"] == "new.example.net"));
        assert_eq!(unready(&world, "DNSRecord"), [""; 0]);
    })
    .unwrap();
}

/// Records that are touched, each by a change of an annotation.
const TOUCHED: usize = 30;

#[test]
fn b179_touched_records_cost_no_write_and_few_reads() {
    simulate(async {
        let (mut world, _) = with_zone(Options::default()).await;
        for n in 0..TOUCHED {
            let spec = json!({ "type": "A", "name": format!("h{n}"), "content": "192.0.2.10" });
            world.kubernetes.apply(record(&format!("h{n}"), &spec)).unwrap();
        }
        world.settle().await;
        world.advance(Duration::from_secs(300)).await;
        let (writes, calls) = (world.writes(), world.cloudflare.log().total());
        for n in 0..TOUCHED {
            let touch = json!({ "metadata": { "annotations": { "example.com/touched": "yes" } } });
            world.kubernetes.patch("DNSRecord", Some("default"), &format!("h{n}"), touch).unwrap();
        }
        world.advance(Duration::from_secs(60)).await;
        assert_eq!(world.writes(), writes, "neither to Cloudflare nor to Kubernetes");
        let calls = world.cloudflare.log().total() - calls;
        assert!((1..=2).contains(&calls), "lists serve all: {calls}");
    })
    .unwrap();
}

/// Records in the namespace that is deleted, over three Free zones, each of which takes them in a batch of its own.
const DELETED: usize = 500;
const ZONES: usize = 3;

#[test]
fn b184_a_namespace_with_five_hundred_records_goes_although_cloudflare_throttles() {
    simulate(async {
        let mut world = World::new(Options::default()).unwrap();
        for namespace in ["apps", "others"] {
            let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": namespace } });
            world.kubernetes.apply(namespace).unwrap();
        }
        for n in 0..ZONES {
            let domain = format!("zone{n}.example");
            let id = world.cloudflare.add_zone(ACCOUNT_ID, &domain, Plan::Free);
            world.cloudflare.activate_zone(&id);
            for namespace in ["apps", "others"] {
                world.kubernetes.apply(zone(namespace, &format!("zone{n}"), &domain)).unwrap();
            }
        }
        let made = |namespace: &str, n: usize, content: &str| {
            let spec = json!({
                "zoneRef": { "name": format!("zone{}", n % ZONES) }, "type": "A", "name": format!("h{n}"), "content": content,
            });
            world.kubernetes.apply(resource("DNSRecord", namespace, &format!("h{n}"), &spec)).unwrap();
        };
        for n in 0..DELETED {
            made("apps", n, "192.0.2.10");
        }
        for n in 0..10 {
            // Another member of the same set of records.
            made("others", n, "192.0.2.20");
        }
        world.start();
        world.settle().await;
        assert_eq!(world.cloudflare.records_anywhere().len(), DELETED + 10);
        assert_eq!(unready(&world, "DNSRecord"), [""; 0]);

        let batches = Target { path: Some("batch".to_owned()), ..Target::default() };
        world.cloudflare.faults().arm(Fault::TooManyRequests, batches, 1, 2);
        world.kubernetes.delete("Namespace", None, "apps").unwrap();
        world.settle().await;
        world.advance(Duration::from_secs(600)).await;
        world.settle().await;
        assert!(world.cloudflare.faults().is_empty(), "the 429 came in the middle");
        assert!(world.kubernetes.get("Namespace", None, "apps").is_none());
        assert_eq!(world.kubernetes.list("DNSRecord").len(), 10);
        let stands = world.cloudflare.records_anywhere();
        assert_eq!(stands.len(), 10, "nothing is orphaned, and what others have stays");
        assert!(stands.iter().all(|(_, record)| record["content"] == "192.0.2.20"));
        assert_eq!(unready(&world, "DNSRecord"), [""; 0]);
        let mended = world.cloudflare.log().counts();
        let deletes: u64 = mended.iter().filter(|((method, _), _)| method == "DELETE").map(|(_, n)| n).sum();
        assert!(deletes < 20, "they go in batches: {mended:?}");
    })
    .unwrap();
}
