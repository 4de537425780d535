//! Records that somebody else deletes between kflare's look and its write.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cli::scenario::simulate;
use cli::world::{Options, World};
use http::Method;
use operator::{Operator, Transport};
use serde_json::json;
use tower::ServiceExt;

use super::{get, is_ready, patch, record, with_zone};

/// More than an attempt and its repetition take.
const ATTEMPTS: Duration = Duration::from_secs(60);

/// A way to Cloudflare on which, once it is armed, every record is deleted right after a list or look was answered.
fn meddling(world: &World, zone: &str, armed: &Arc<AtomicBool>) -> Transport {
    let (_, way, _) = world.ways();
    let (cloudflare, zone, armed) = (world.cloudflare.clone(), zone.to_owned(), Arc::clone(armed));
    let answer = move |request: http::Request<bytes::Bytes>| {
        let is_look = request.method() == Method::GET && request.uri().path().contains("/dns_records");
        let (way, cloudflare, zone, armed) =
            (way.clone(), cloudflare.clone(), zone.clone(), Arc::clone(&armed));
        async move {
            let answer = way.oneshot(request).await;
            if is_look && armed.swap(false, Ordering::Relaxed) {
                for record in cloudflare.records(&zone) {
                    cloudflare.remove_record(&zone, record["id"].as_str().unwrap_or_default());
                }
            }
            answer
        }
    };
    Transport::new(tower::service_fn(answer))
}

/// A world with a record `www` that is in order, whose operator is replaced by one on that way.
async fn with_www() -> (World, String, Arc<AtomicBool>, Operator) {
    let (mut world, zone) = with_zone(Options::default()).await;
    let spec = json!({ "type": "A", "name": "www", "content": "192.0.2.10" });
    world.kubernetes.apply(record("www", &spec)).unwrap();
    world.settle().await;
    world.crash();
    let armed = Arc::default();
    let (client, _, config) = world.ways();
    let operator = Operator::start(client, meddling(&world, &zone, &armed), config);
    tokio::time::sleep(ATTEMPTS).await;
    armed.store(true, Ordering::Relaxed);
    (world, zone, armed, operator)
}

#[test]
fn b072_a_record_that_goes_before_its_update_is_made_again_once() {
    simulate(async {
        let (world, zone, armed, _operator) = with_www().await;
        let lost = get(&world, "www")["status"]["recordID"].clone();
        patch(&world, "www", &json!({ "content": "192.0.2.20" }));
        tokio::time::sleep(ATTEMPTS * 5).await;
        assert!(!armed.load(Ordering::Relaxed), "it was deleted after a look");
        let updates = world.cloudflare.log().lines().into_iter().filter(|line| line.method == "PATCH");
        assert_eq!(updates.map(|line| line.status).collect::<Vec<_>>(), [404], "the update came too late");
        let records = world.cloudflare.records(&zone);
        assert_eq!(records.len(), 1);
        assert_eq!(records[0]["content"], "192.0.2.20");
        let www = get(&world, "www");
        assert!(is_ready(&www), "{www}");
        assert_eq!(www["status"]["recordID"], records[0]["id"]);
        assert_ne!(www["status"]["recordID"], lost);
    })
    .unwrap();
}

#[test]
fn b072_a_record_that_is_gone_is_deleted_with_success() {
    simulate(async {
        let (world, zone, _armed, _operator) = with_www().await;
        let id = get(&world, "www")["status"]["recordID"].clone();
        world.cloudflare.remove_record(&zone, id.as_str().unwrap());
        world.kubernetes.delete("DNSRecord", Some("default"), "www").unwrap();
        tokio::time::sleep(ATTEMPTS).await;
        assert!(world.kubernetes.get("DNSRecord", Some("default"), "www").is_none());
        let deletes = world.cloudflare.log().lines().into_iter().filter(|line| line.method == "DELETE");
        assert_eq!(deletes.map(|line| line.status).collect::<Vec<_>>(), [404], "one attempt is enough");
    })
    .unwrap();
}
