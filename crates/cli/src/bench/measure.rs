//! What a bench looks at: counts of requests, the operator's rest, times. And what it tells while it takes long.

use std::time::Duration;

use sandbox::cloudflare::Switches;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::BenchError;
use crate::commands::outside;
use crate::world::{ACCOUNT_ID, Options, World};

/// Between two looks while a bench waits; short against every target.
const LOOK: Duration = Duration::from_millis(5);

/// Longest wait: far above every target, so that a miss is measured and not cut off.
const WAIT_MAX: Duration = Duration::from_secs(300);

/// Requests of the operator since the last reset.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// To Cloudflare, all.
    pub(super) calls: u64,
    /// To Cloudflare, changing something.
    pub(super) writes: u64,
    /// To Kubernetes, changing something, Events apart.
    pub(super) kubernetes: u64,
    /// To Kubernetes, changing a record.
    pub(super) records: u64,
    /// Events written.
    pub(super) events: u64,
    /// Secrets read.
    pub(super) secrets: u64,
    /// Pages of record lists.
    pub(super) pages: u64,
    /// Pages of lists of records and accounts in Kubernetes.
    pub(super) lists: u64,
}

/// Forgets what was counted.
pub(super) fn reset(world: &World) {
    world.kubernetes.log().reset();
    world.cloudflare.log().reset();
}

pub(super) fn counts(world: &World) -> Counts {
    let mut counts = Counts { writes: world.cloudflare.log().writes(), ..Counts::default() };
    for ((method, route), n) in world.cloudflare.log().counts() {
        counts.calls += n;
        if method == "GET" && route == "/zones/{zone_id}/dns_records" {
            counts.pages += n;
        }
    }
    for ((method, route), n) in world.kubernetes.log().counts() {
        match method.as_str() {
            "GET" if route.contains("/secrets/") => counts.secrets += n,
            "GET" if route.ends_with("/dnsrecords") || route.ends_with("/cloudflareaccounts") => {
                counts.lists += n;
            }
            "GET" | "HEAD" | "WATCH" => {}
            _ if route.contains("/events") => counts.events += n,
            _ => {
                counts.kubernetes += n;
                if route.contains("/dnsrecords") {
                    counts.records += n;
                }
            }
        }
    }
    counts
}

/// A world whose zones are at rest at once: one that only initializes would change its status once more.
pub(super) fn settled() -> Result<World, BenchError> {
    let switches = Switches { zone_status_initializing: false, ..Switches::default() };
    // In the time of day, in which a process beside it lives.
    Ok(World::starting_at(outside::now(), Options { switches, ..Options::default() })?)
}

/// The same, and its zones are Enterprise zones.
pub(super) fn enterprise() -> Result<World, BenchError> {
    let world = settled()?;
    world.cloudflare.set_enterprise(ACCOUNT_ID);
    Ok(world)
}

pub(super) fn zone(name: &str, domain: &str) -> Value {
    json!({
        "apiVersion": kinds::names::API_VERSION,
        "kind": "Zone",
        "metadata": { "name": name, "namespace": "default" },
        "spec": { "name": domain, "accountRef": { "name": "main" } },
    })
}

pub(super) fn record(name: &str, zone: &str, number: usize) -> Value {
    let content = format!("10.{}.{}.{}", number >> 16 & 255, number >> 8 & 255, number & 255);
    json!({
        "apiVersion": kinds::names::API_VERSION,
        "kind": "DNSRecord",
        "metadata": { "name": name, "namespace": "default" },
        "spec": { "zoneRef": { "name": zone }, "name": name, "type": "A", "content": content },
    })
}

/// Waits until the operator is at rest and every record is Ready; how long that took from `since`.
pub(super) async fn rest(world: &World, what: &'static str, since: Instant) -> Result<Duration, BenchError> {
    loop {
        tokio::time::sleep(LOOK).await;
        let took = since.elapsed();
        let is_quiet = world.operator().is_some_and(|operator| operator.activity().is_quiet());
        if is_quiet && unready(world) == 0 {
            return Ok(took);
        }
        if took > WAIT_MAX {
            let state = format!("{} records are not Ready", unready(world));
            return Err(BenchError::Restless { what, seconds: WAIT_MAX.as_secs(), state });
        }
    }
}

/// Tells what takes longer than people wait in silence.
pub(super) fn progress(what: &str) {
    eprintln!("bench: {what}");
}

/// How many records are not Ready.
pub(super) fn unready(world: &World) -> usize {
    let is_ready = |object: &Value| {
        let conditions = object["status"]["conditions"].as_array();
        conditions.is_some_and(|all| all.iter().any(|condition| condition["status"] == "True"))
    };
    world.kubernetes.list("DNSRecord").iter().filter(|object| !is_ready(object)).count()
}

/// Waits for a condition; how long that took.
pub(super) async fn until(
    what: &'static str,
    look: Duration,
    done: impl Fn() -> bool,
) -> Result<Duration, BenchError> {
    let since = Instant::now();
    while !done() {
        if since.elapsed() > WAIT_MAX {
            let state = "what was waited for never happened".to_owned();
            return Err(BenchError::Restless { what, seconds: WAIT_MAX.as_secs(), state });
        }
        tokio::time::sleep(look).await;
    }
    Ok(since.elapsed())
}
