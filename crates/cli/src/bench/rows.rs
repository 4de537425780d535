//! The targets of design §8, in its order: what is done to a place, and what it may cost. What the kinds of work of the
//! curve cost is `work`.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::BenchError;
use super::place::{Place, Server};
use super::running::{Done, Running};
use super::table::Row;
use super::work::{self, Sample};
use crate::usage::Usage;

/// Every row: its name for selections.
pub const ROWS: &[&str] =
    &["idle", "create", "free-zones", "drift", "edit", "restart", "memory-idle", "memory", "binary", "curve"];

/// Small zones, and records in each: the quota of a Free zone.
const ZONES: usize = 50;
const RECORDS_PER_ZONE: usize = 200;
/// Edits that are measured, most of the time that a run takes. The largest of so many is above their 97th percentile.
const EDITS: usize = 40;
/// The same on a real server, where their times have no target.
const EDITS_REAL: usize = 10;
/// Between two edits, so that each meets an idle zone: longer than the first hold-off.
const BETWEEN_EDITS: Duration = Duration::from_millis(1_300);
/// Between two looks for a request; a fiftieth of the target.
const EDIT_LOOK: Duration = Duration::from_millis(1);
/// Between two looks for what takes longer.
const LOOK: Duration = Duration::from_millis(20);
/// Calls of an idle reconcile: record 1, zone 1, account 2 (its token and itself).
const IDLE_CALLS: u64 = 4;
/// Records of one batch, of one page.
const BATCH: usize = 3_500;
const PAGE: usize = 5_000;
/// The drift interval of an account alone.
const ACCOUNT_DRIFT: Duration = Duration::from_secs(2);
/// What a sweep of an account reads: its token and itself.
const ACCOUNT_READS: u64 = 2;
/// Memory without records and with them, in KiB.
const IDLE_MAX: u64 = 30 * 1024;
const RECORDS_MAX: u64 = 150 * 1024;
/// The binary, in bytes.
const BINARY_MAX: u64 = 25 * 1024 * 1024;

/// One object of each kind is looked at again.
pub(super) async fn idle(server: Server<'_>) -> Result<Row, BenchError> {
    let place = Place::new(server).await?;
    work::with_zones(&place, work::the_zone()).await?;
    place.apply(work::the_records(1)).await?;
    let mut running = Running::start(&place, None).await?;
    running.rest(&place, running.since, Done::Records(1)).await?;
    // What was read within the hold-off of the pass before would serve this one, too.
    tokio::time::sleep(BETWEEN_EDITS).await;
    let before = place.counts()?;
    for (kind, name) in [("DNSRecord", "r0"), ("Zone", "example-com"), ("CloudflareAccount", "main")] {
        let patch = json!({ "metadata": { "annotations": { kinds::names::RECONCILE_AT: "now" } } });
        place.patch(kind, vec![name.to_owned()], &patch).await?;
    }
    let since = Instant::now();
    running.until(&place, LOOK, |counts| (counts - before).calls() >= IDLE_CALLS - 1).await?;
    running.rest(&place, since, Done::Records(1)).await?;
    let found = place.counts()? - before;
    running.stop().await?;
    Ok(Row {
        name: "idle",
        what: "idle reconcile of a record, a zone, an account".to_owned(),
        counts: format!("{} calls, {} writes", found.calls(), found.all_writes()),
        cost: String::new(),
        target: format!("<= {IDLE_CALLS} calls, 0 writes"),
        met: found.calls() <= IDLE_CALLS && found.all_writes() == 0,
        in_time: true,
    })
}

/// What creating the records of one zone may cost: two batches for each that it takes at least.
pub(super) fn create(sample: &Sample, is_timed: bool) -> Row {
    let Sample { records, counts, took, .. } = *sample;
    let batches = 2 * u64_of(records.div_ceil(BATCH));
    let (writes, events) = (share(counts.kubernetes_writes, records), share(counts.events, records));
    Row {
        name: "create",
        what: format!("{records} new records, one Enterprise zone"),
        counts: format!(
            "{} calls, {} of them writes; each: {writes:.2} Kubernetes writes, {events:.2} Events",
            counts.calls(),
            counts.writes
        ),
        cost: seconds(took),
        target: format!("<= {batches} writes; each <= 3 and 1 Event; <= 60 s"),
        met: counts.writes <= batches && writes <= 3.0 && events <= 1.0,
        in_time: !is_timed || took <= Duration::from_secs(60),
    }
}

/// Records of many small zones.
pub(super) async fn free_zones() -> Result<Row, BenchError> {
    let place = Place::new(Server::Sandbox).await?;
    let zones = (0..ZONES).map(|zone| work::zone(&format!("z{zone}"), &format!("z{zone}.example")));
    work::with_zones(&place, zones.collect()).await?;
    let records = (0..ZONES * RECORDS_PER_ZONE)
        .map(|number| work::record(number, &format!("z{}", number / RECORDS_PER_ZONE)));
    let Sample { counts, took, .. } = work::create(&place, records.collect()).await?;
    Ok(Row {
        name: "free-zones",
        what: format!("{ZONES} Free zones of {RECORDS_PER_ZONE} new records"),
        counts: format!("{} calls, {} of them writes", counts.calls(), counts.writes),
        cost: seconds(took),
        target: "<= 60 writes; <= 60 s".to_owned(),
        met: counts.writes <= 60,
        in_time: took <= Duration::from_secs(60),
    })
}

pub(super) fn drift(sample: &Sample) -> Row {
    let Sample { records, counts, took, .. } = *sample;
    let pages = u64_of(records.div_ceil(PAGE));
    Row {
        name: "drift",
        what: format!("drift sweep of {records} records"),
        counts: format!("{} pages, {} writes", counts.pages, counts.all_writes()),
        cost: seconds(took),
        target: format!("{pages} pages, 0 writes"),
        met: counts.pages == pages && counts.all_writes() == 0,
        in_time: true,
    }
}

pub(super) fn restart(sample: &Sample, is_timed: bool) -> Row {
    let Sample { records, counts, took, .. } = *sample;
    Row {
        name: "restart",
        what: format!("restart with {records} Ready records"),
        counts: format!(
            "{} calls, {} writes, Secret read {}x",
            counts.calls(),
            counts.all_writes(),
            counts.secrets
        ),
        cost: seconds(took),
        target: "<= 20 calls, 0 writes, each Secret once; <= 5 s".to_owned(),
        met: counts.calls() <= 20 && counts.all_writes() == 0 && counts.secrets <= 1,
        in_time: !is_timed || took <= Duration::from_secs(5),
    }
}

/// Single edits, while nothing else is to be done.
pub(super) async fn edit(place: &Place, running: &mut Running, records: usize) -> Result<Row, BenchError> {
    let edits = if place.is_sandbox() { EDITS } else { EDITS_REAL }.min(records);
    let before = place.counts()?;
    let mut times = Vec::new();
    for number in 0..edits {
        tokio::time::sleep(BETWEEN_EDITS).await;
        let calls = place.cloudflare.log().total();
        let name = format!("r{}", number * (records / edits));
        place.patch("DNSRecord", vec![name], &json!({ "spec": { "ttl": 120 } })).await?;
        let since = Instant::now();
        while place.cloudflare.log().total() == calls {
            // It also ends when the process does.
            running.until(place, EDIT_LOOK, |_| true).await?;
            tokio::time::sleep(EDIT_LOOK).await;
            if since.elapsed() > EDIT_MAX {
                let state = "an edit led to no call".to_owned();
                return Err(BenchError::Restless { seconds: EDIT_MAX.as_secs(), state });
            }
        }
        times.push(since.elapsed());
    }
    running.rest(place, Instant::now(), Done::Records(records)).await?;
    let counts = place.counts()? - before;
    times.sort();
    // The smallest that so many of them do not exceed.
    let percentile = |percent: usize| {
        let rank = (times.len() * percent).div_ceil(100).max(1);
        times.get(rank - 1).copied().unwrap_or_default()
    };
    let (median, p99) = (percentile(50), percentile(99));
    let writes = share(counts.kubernetes_writes, edits);
    Ok(Row {
        name: "edit",
        what: format!("one edit among {records} records, first request"),
        counts: format!(
            "each: {:.2} calls, {:.2} of them writes, {writes:.2} Kubernetes writes, {:.2} Events",
            share(counts.calls(), edits),
            share(counts.writes, edits),
            share(counts.events, edits),
        ),
        cost: format!("p50 {}, p99 {} ms", median.as_millis(), p99.as_millis()),
        target: "each 1 write, <= 1 Kubernetes write; p99 <= 50 ms".to_owned(),
        met: counts.writes == u64_of(edits) && writes <= 1.0,
        in_time: !place.is_sandbox() || p99 <= Duration::from_millis(50),
    })
}

/// The longest that an edit is waited for.
const EDIT_MAX: Duration = Duration::from_secs(60);

/// The memory of an operator with one account and nothing else.
pub(super) async fn memory_idle(server: Server<'_>) -> Result<Row, BenchError> {
    let place = Place::new(server).await?;
    let before = place.counts()?;
    let mut running = Running::start(&place, Some(ACCOUNT_DRIFT)).await?;
    running.rest(&place, running.since, Done::Nothing).await?;
    // Its first look writes a status.
    let ready = place.counts()?;
    work::list_anew(&place, &mut running, "CloudflareAccount", "main", 1).await?;
    let sweeps = ACCOUNT_READS * (1 + work::SWEEPS);
    running.until(&place, LOOK, |counts| (counts - before).reads >= ACCOUNT_READS + sweeps).await?;
    let usage = running.usage()?;
    let writes = (place.counts()? - ready).all_writes();
    running.stop().await?;
    let what = "operator process, no records: peak".to_owned();
    Ok(memory("memory-idle", what, usage, "", writes, IDLE_MAX))
}

/// The memory of an operator with all records, Ready; what one held that created them is told beside it, since whoever
/// sets a limit has to know both. The target is for what a process needs day after day.
pub(super) fn memory_records(created: &Sample, most: Option<Usage>, swept: [&Sample; 2]) -> Row {
    let writes = swept.iter().map(|sample| sample.counts.all_writes()).sum();
    let creating =
        created.usage.map(|usage| format!(", creating them {}", mib(usage.peak))).unwrap_or_default();
    let what = format!("operator process, {} records: peak", created.records);
    memory("memory", what, most, &creating, writes, RECORDS_MAX)
}

fn memory(name: &'static str, what: String, usage: Option<Usage>, more: &str, writes: u64, most: u64) -> Row {
    let cost = usage.map_or_else(
        || "not told by this system".to_owned(),
        |usage| format!("{}, now {}{more}", mib(usage.peak), mib(usage.now)),
    );
    Row {
        name,
        what,
        counts: format!("some sweeps, {writes} writes"),
        cost,
        target: format!("0 writes; <= {}", mib(most)),
        // How busy the machine is hardly matters to it: from run to run it varies by a tenth. So it may fail the bench.
        met: writes == 0 && usage.is_none_or(|usage| usage.peak <= most),
        in_time: true,
    }
}

/// The size of this program. A debug build is several times as large, and nobody ships it.
pub(super) fn binary() -> Result<Row, BenchError> {
    let program = std::env::current_exe().and_then(std::fs::metadata).map_err(BenchError::Binary)?;
    let is_shipped = !cfg!(debug_assertions);
    Ok(Row {
        name: "binary",
        what: if is_shipped { "the binary" } else { "the binary, a debug build" }.to_owned(),
        counts: String::new(),
        cost: mib(program.len() / 1024),
        target: format!("<= {}", mib(BINARY_MAX / 1024)),
        met: !is_shipped || program.len() <= BINARY_MAX,
        in_time: true,
    })
}

fn seconds(duration: Duration) -> String {
    format!("{:.2} s", duration.as_secs_f64())
}

pub(super) fn mib(kib: u64) -> String {
    format!("{} MiB", kib.div_ceil(1024))
}

fn u64_of(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

fn share(count: u64, of: usize) -> f64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of a bench are far below 2^52, so nothing is lost"
    )]
    let share = count as f64 / of.max(1) as f64;
    share
}
