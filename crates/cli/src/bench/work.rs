//! Kinds of work on so many records of one zone, and what each cost: calls, processor time, memory. What of it has a
//! target is for `rows`.

use std::time::Duration;

use operator::limits::KUBERNETES_PAGE;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::BenchError;
use super::counts::Counts;
use super::place::Place;
use super::running::{Done, Running};
use crate::usage::Usage;

/// The zone of the curve's records.
const ZONE: &str = "example-com";
/// The shortest drift interval of a sweep, and how many times what a restart takes it is: on a busy machine, too, one sweep
/// is over long before the next.
const DRIFT_MIN: Duration = Duration::from_secs(4);
const DRIFT_RESTARTS: u32 = 5;
/// By how much an interval may be longer, as it is drawn.
const DRAWN: f64 = 1.1;
/// Between two looks at what has not begun yet.
const LOOK: Duration = Duration::from_millis(20);
/// Sweeps after the list that begins anew, since what each leaves behind may add up.
pub(super) const SWEEPS: u64 = 2;

/// A kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Records that stand before the operator starts become Ready.
    Create,
    /// Another operator starts, and all is in order.
    Restart,
    /// Everything is looked at once, and is in order.
    Sweep,
    /// Every record is edited, one after the other.
    Edit,
    /// Every record is deleted, one after the other.
    Delete,
}

impl Work {
    /// In the order in which they are done.
    pub(super) const ALL: [Self; 5] = [Self::Create, Self::Restart, Self::Sweep, Self::Edit, Self::Delete];

    /// What it is called.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Create => "create all",
            Self::Restart => "restart",
            Self::Sweep => "idle sweep",
            Self::Edit => "edit all",
            Self::Delete => "delete all",
        }
    }
}

/// What some work cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) work: Work,
    pub(super) records: usize,
    pub(super) counts: Counts,
    /// Nothing where the system does not tell. The peak is that of this work alone.
    pub(super) usage: Option<Usage>,
    /// From the moment it could begin to the last request.
    pub(super) took: Duration,
}

/// Begins to measure.
struct Begun {
    records: usize,
    counts: Counts,
    cpu: Duration,
}

impl Begun {
    /// With a process that is still to start.
    fn before(place: &Place, records: usize) -> Result<Self, BenchError> {
        Ok(Self { records, counts: place.counts()?, cpu: Duration::ZERO })
    }

    /// With one that runs.
    fn with(place: &Place, running: &mut Running, records: usize) -> Result<Self, BenchError> {
        let cpu = running.usage()?.unwrap_or_default().cpu;
        running.forget_peak();
        Ok(Self { cpu, ..Self::before(place, records)? })
    }

    fn end(
        self,
        work: Work,
        place: &Place,
        running: &mut Running,
        took: Duration,
    ) -> Result<Sample, BenchError> {
        let usage = running.usage()?.map(|usage| Usage { cpu: usage.cpu.saturating_sub(self.cpu), ..usage });
        Ok(Sample { work, records: self.records, counts: place.counts()? - self.counts, usage, took })
    }
}

pub(super) fn zone(name: &str, domain: &str) -> Value {
    json!({
        "apiVersion": kinds::names::API_VERSION,
        "kind": "Zone",
        "metadata": { "name": name, "namespace": "default" },
        "spec": { "name": domain, "accountRef": { "name": "main" } },
    })
}

pub(super) fn record(number: usize, zone: &str) -> Value {
    let content = format!("10.{}.{}.{}", number >> 16 & 255, number >> 8 & 255, number & 255);
    let name = format!("r{number}");
    json!({
        "apiVersion": kinds::names::API_VERSION,
        "kind": "DNSRecord",
        "metadata": { "name": name, "namespace": "default" },
        "spec": { "zoneRef": { "name": zone }, "name": name, "type": "A", "content": content },
    })
}

/// The names of so many records.
pub(super) fn names(records: usize) -> Vec<String> {
    (0..records).map(|number| format!("r{number}")).collect()
}

/// Zones that are Ready and at rest; no operator runs any more.
pub(super) async fn with_zones(place: &Place, zones: Vec<Value>) -> Result<(), BenchError> {
    place.apply(zones).await?;
    let mut running = Running::start(place, None).await?;
    running.rest(place, running.since, Done::Zones).await?;
    running.stop().await
}

/// The zone of the curve.
pub(super) fn the_zone() -> Vec<Value> {
    vec![zone(ZONE, "example.com")]
}

/// So many records of the curve's zone, none of which is known to Cloudflare.
pub(super) fn the_records(records: usize) -> Vec<Value> {
    (0..records).map(|number| record(number, ZONE)).collect()
}

/// Records that stand before the operator starts become Ready.
pub(super) async fn create(place: &Place, records: Vec<Value>) -> Result<Sample, BenchError> {
    let count = records.len();
    place.apply(records).await?;
    let begun = Begun::before(place, count)?;
    let mut running = Running::start(place, None).await?;
    let took = running.rest(place, running.since, Done::Records(count)).await?;
    let sample = begun.end(Work::Create, place, &mut running, took)?;
    running.stop().await?;
    Ok(sample)
}

/// A new operator, when all is in order.
pub(super) async fn restart(place: &Place, records: usize) -> Result<Sample, BenchError> {
    let begun = Begun::before(place, records)?;
    let mut running = Running::start(place, None).await?;
    let took = running.rest(place, running.since, Done::Records(records)).await?;
    let sample = begun.end(Work::Restart, place, &mut running, took)?;
    running.stop().await?;
    Ok(sample)
}

/// A sweep of all that is in order, by an operator whose restart was measured before; with `again`, a list that begins anew
/// and more sweeps, too. Says as well what memory the process held at most, from its start.
pub(super) async fn sweep(
    place: &Place,
    restarted: &Sample,
    again: bool,
) -> Result<(Sample, Option<Usage>), BenchError> {
    let records = restarted.records;
    let interval = DRIFT_MIN.max(restarted.took * DRIFT_RESTARTS);
    let mut running = Running::start(place, Some(interval)).await?;
    running.rest(place, running.since, Done::Records(records)).await?;
    let started = running.usage()?;
    let begun = Begun::with(place, &mut running, records)?;
    // Within a drawn interval everything is due once, and nothing twice.
    let (next, pages) = (interval.mul_f64(DRAWN), begun.counts.pages);
    let sweep_begins = running.until(place, LOOK, |counts| counts.pages > pages).await?;
    let since = Instant::now();
    let took = running.rest(place, since, Done::Records(records)).await?;
    tokio::time::sleep(next.saturating_sub(sweep_begins + since.elapsed())).await;
    running.rest(place, since, Done::Records(records)).await?;
    let sweep = begun.end(Work::Sweep, place, &mut running, took)?;
    let mut most = [started, sweep.usage].into_iter().flatten().max_by_key(|usage| usage.peak);
    if again {
        list_anew(place, &mut running, "DNSRecord", "r0", records).await?;
        let (pages, per_sweep) = (place.counts()?.pages, sweep.counts.pages);
        running.until(place, LOOK, |counts| counts.pages >= pages + per_sweep * SWEEPS).await?;
        running.rest(place, since, Done::Records(records)).await?;
        most = most.into_iter().chain(running.usage()?).max_by_key(|usage| usage.peak);
    }
    running.stop().await?;
    Ok((sweep, most))
}

/// A watch begins anew, where that can be had.
pub(super) async fn list_anew(
    place: &Place,
    running: &mut Running,
    kind: &'static str,
    name: &str,
    objects: usize,
) -> Result<(), BenchError> {
    if !place.is_sandbox() {
        return Ok(());
    }
    let lists = place.counts()?.lists;
    let pages = u64::try_from(objects).unwrap_or(u64::MAX).div_ceil(u64::from(KUBERNETES_PAGE));
    place.expire(kind, name)?;
    running.until(place, LOOK, |counts| counts.lists >= lists + pages).await?;
    Ok(())
}

/// Every record is edited and then deleted, while an operator runs that has nothing else to do.
pub(super) async fn edit_and_delete(
    place: &Place,
    running: &mut Running,
    records: usize,
) -> Result<[Sample; 2], BenchError> {
    let begun = Begun::with(place, running, records)?;
    let since = Instant::now();
    place.patch("DNSRecord", names(records), &json!({ "spec": { "ttl": 300 } })).await?;
    let took = running.rest(place, since, Done::Records(records)).await?;
    let edit = begun.end(Work::Edit, place, running, took)?;
    let begun = Begun::with(place, running, records)?;
    let since = Instant::now();
    place.delete_records(names(records)).await?;
    let took = running.rest(place, since, Done::Records(0)).await?;
    let delete = begun.end(Work::Delete, place, running, took)?;
    Ok([edit, delete])
}
