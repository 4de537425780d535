//! The rows of the table, in the order of design §8. Each says what it does to the world and what it may cost.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::measure::{Counts, counts, enterprise, progress, record, reset, rest, settled, until, zone};
use super::{BenchError, Row, Table, memory};
use crate::world::World;

/// Every row: its name for selections, and what it measures.
pub const ROWS: &[(&str, &str)] = &[
    ("idle", "idle reconcile of a record, a zone, an account"),
    ("create", "10,000 new records, one Enterprise zone"),
    ("free-zones", "50 Free zones of 200 new records"),
    ("drift", "drift sweep of 10,000 records"),
    ("edit", "one edit among 10,000 records, first request"),
    ("restart", "restart with 10,000 Ready records"),
    ("memory-idle", "operator process, no records: peak"),
    ("memory", "operator process, 10,000 records: peak"),
];

/// Records of the large zone.
pub(super) const RECORDS: usize = 10_000;
/// Small zones, and records in each: the quota of a Free zone.
const ZONES: usize = 50;
const RECORDS_PER_ZONE: usize = 200;
/// Edits that are measured.
const EDITS: usize = 100;
/// Between two edits, so that each meets an idle zone: longer than the first hold-off.
const BETWEEN_EDITS: Duration = Duration::from_millis(1_300);
/// Between two looks for a request; a fiftieth of the target.
const EDIT_LOOK: Duration = Duration::from_millis(1);
/// The drift interval of the sweep: long enough for the restart before it.
const DRIFT: Duration = Duration::from_secs(15);
/// Calls of an idle reconcile: record 1, zone 1, account 2 (its token and itself).
const IDLE_CALLS: u64 = 4;

/// What a row is called in the table.
pub(super) fn what(name: &str) -> String {
    ROWS.iter().find(|(known, _)| *known == name).map_or(name, |(_, what)| *what).to_owned()
}

fn seconds(duration: Duration) -> String {
    format!("{:.2} s", duration.as_secs_f64())
}

fn per_record(count: u64, records: usize) -> f64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of a bench are far below 2^52, so nothing is lost"
    )]
    let share = count as f64 / records as f64;
    share
}

/// Measures the selected rows; none means all.
pub(super) async fn measured(selection: &[String]) -> Result<Table, BenchError> {
    let wants = |name: &str| selection.is_empty() || selection.iter().any(|wanted| wanted == name);
    let mut table = Table::default();
    if wants("idle") {
        table.rows.push(idle().await?);
    }
    if ["create", "drift", "edit", "restart"].into_iter().any(wants) {
        let (mut world, created) = create().await?;
        let mut rows = vec![("create", created)];
        if wants("edit") {
            rows.push(("edit", edit(&world).await?));
        }
        if wants("restart") || wants("drift") {
            let (restarted, swept) = restart_and_drift(&mut world).await?;
            rows.extend([("restart", restarted), ("drift", swept)]);
        }
        table.rows.extend(rows.into_iter().filter(|(name, _)| wants(name)).map(|(_, row)| row));
    }
    if wants("free-zones") {
        table.rows.push(free_zones().await?);
    }
    if wants("memory-idle") {
        table.rows.push(memory::idle().await?);
    }
    if wants("memory") {
        table.rows.push(memory::records().await?);
    }
    let place = |row: &Row| ROWS.iter().position(|(_, what)| *what == row.what);
    table.rows.sort_by_key(place);
    Ok(table)
}

async fn idle() -> Result<Row, BenchError> {
    progress("one object of each kind is looked at again");
    let mut world = settled()?;
    world.kubernetes.apply(zone("example-com", "example.com"))?;
    world.kubernetes.apply(record("www", "example-com", 1))?;
    world.start();
    rest(&world, "idle", Instant::now()).await?;
    tokio::time::sleep(BETWEEN_EDITS).await;
    reset(&world);
    for (kind, name) in [("DNSRecord", "www"), ("Zone", "example-com"), ("CloudflareAccount", "main")] {
        let patch = json!({ "metadata": { "annotations": { kinds::names::RECONCILE_AT: "now" } } });
        world.kubernetes.patch(kind, None, name, patch)?;
    }
    until("idle", EDIT_LOOK, || counts(&world).calls >= IDLE_CALLS - 1).await?;
    tokio::time::sleep(BETWEEN_EDITS).await;
    let Counts { calls, writes, kubernetes, .. } = counts(&world);
    Ok(Row {
        what: what("idle"),
        counts: format!("{calls} calls, {} writes", writes + kubernetes),
        cost: String::new(),
        target: format!("<= {IDLE_CALLS} calls, 0 writes"),
        met: calls <= IDLE_CALLS && writes + kubernetes == 0,
        in_time: true,
    })
}

async fn create() -> Result<(World, Row), BenchError> {
    progress("10,000 records are created");
    let mut world = enterprise()?;
    world.kubernetes.apply(zone("example-com", "example.com"))?;
    world.start();
    rest(&world, "create", Instant::now()).await?;
    world.crash();
    for number in 0..RECORDS {
        world.kubernetes.apply(record(&format!("r{number}"), "example-com", number))?;
    }
    reset(&world);
    let since = Instant::now();
    world.start();
    let took = rest(&world, "create", since).await?;
    let found = counts(&world);
    let (writes, events) = (per_record(found.records, RECORDS), per_record(found.events, RECORDS));
    let row = Row {
        what: what("create"),
        counts: format!(
            "{} calls, {} of them writes; each: {writes:.2} Kubernetes writes, {events:.2} Events",
            found.calls, found.writes
        ),
        cost: seconds(took),
        target: "<= 6 writes; each <= 3 and 1 Event; <= 60 s".to_owned(),
        met: found.writes <= 6 && writes <= 3.0 && events <= 1.0,
        in_time: took <= Duration::from_secs(60),
    };
    Ok((world, row))
}

async fn free_zones() -> Result<Row, BenchError> {
    progress("50 zones of 200 records are created");
    let mut world = settled()?;
    for number in 0..ZONES {
        world.kubernetes.apply(zone(&format!("z{number}"), &format!("z{number}.example")))?;
    }
    world.start();
    let is_ready = |world: &World| {
        let zones = world.kubernetes.list("Zone");
        zones.iter().all(|zone| zone["status"]["conditions"][0]["status"] == "True")
    };
    until("free-zones", Duration::from_millis(50), || is_ready(&world)).await?;
    world.crash();
    for number in 0..ZONES * RECORDS_PER_ZONE {
        let zone = number / RECORDS_PER_ZONE;
        world.kubernetes.apply(record(&format!("r{number}"), &format!("z{zone}"), number))?;
    }
    reset(&world);
    let since = Instant::now();
    world.start();
    let took = rest(&world, "free-zones", since).await?;
    let found = counts(&world);
    Ok(Row {
        what: what("free-zones"),
        counts: format!("{} calls, {} of them writes", found.calls, found.writes),
        cost: seconds(took),
        target: "<= 60 writes; <= 60 s".to_owned(),
        met: found.writes <= 60,
        in_time: took <= Duration::from_secs(60),
    })
}

async fn edit(world: &World) -> Result<Row, BenchError> {
    progress("100 edits, one after the other: two minutes");
    let mut times = Vec::new();
    for number in 0..EDITS {
        tokio::time::sleep(BETWEEN_EDITS).await;
        reset(world);
        let name = format!("r{}", number * (RECORDS / EDITS));
        world.kubernetes.patch("DNSRecord", None, &name, json!({ "spec": { "ttl": 120 } }))?;
        times.push(until("edit", EDIT_LOOK, || world.cloudflare.log().total() > 0).await?);
        until("edit", EDIT_LOOK, || world.cloudflare.log().writes() > 0).await?;
    }
    times.sort();
    // The smallest that so many of them do not exceed.
    let percentile = |percent: usize| {
        let rank = (times.len() * percent).div_ceil(100).max(1);
        times.get(rank - 1).copied().unwrap_or_default()
    };
    let (median, p99, most) = (percentile(50), percentile(99), percentile(100));
    Ok(Row {
        what: what("edit"),
        counts: format!("{} calls, {} of them writes", counts(world).calls, counts(world).writes),
        cost: format!("p50 {}, p99 {}, most {} ms", median.as_millis(), p99.as_millis(), most.as_millis()),
        target: "p99 <= 50 ms".to_owned(),
        met: counts(world).writes == 1,
        in_time: p99 <= Duration::from_millis(50),
    })
}

async fn restart_and_drift(world: &mut World) -> Result<(Row, Row), BenchError> {
    progress("a restart with 10,000 Ready records, then a drift sweep");
    world.crash();
    world.set_drift_interval(Some(DRIFT));
    reset(world);
    let since = Instant::now();
    world.start();
    until("restart", EDIT_LOOK, || counts(world).pages >= 2).await?;
    let took = rest(world, "restart", since).await?;
    let found = counts(world);
    let writes = found.writes + found.kubernetes + found.events;
    let restarted = Row {
        what: what("restart"),
        counts: format!("{} calls, {writes} writes, Secret read {}x", found.calls, found.secrets),
        cost: seconds(took),
        target: "<= 20 calls, 0 writes, each Secret once; <= 5 s".to_owned(),
        met: found.calls <= 20 && writes == 0 && found.secrets <= 1,
        in_time: took <= Duration::from_secs(5),
    };
    reset(world);
    // The interval varies by a tenth; a second sweep would only begin after another interval.
    until("drift", Duration::from_millis(50), || counts(world).pages >= 2).await?;
    let since = Instant::now();
    let took = rest(world, "drift", since).await?;
    let Counts { pages, writes, kubernetes, .. } = counts(world);
    let swept = Row {
        what: what("drift"),
        counts: format!("{pages} pages, {} writes", writes + kubernetes),
        cost: seconds(took),
        target: "2 pages, 0 writes".to_owned(),
        met: pages == 2 && writes + kubernetes == 0,
        in_time: true,
    };
    Ok((restarted, swept))
}
