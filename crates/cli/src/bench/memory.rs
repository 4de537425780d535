//! The memory of the operator's process alone: the most that it holds through drift sweeps, one of them while a watch
//! begins anew.

use std::time::Duration;

use operator::limits::KUBERNETES_PAGE;
use sandbox::kubernetes::Status;
use serde_json::json;

use super::measure::{Counts, counts, enterprise, progress, record, reset, settled, unready, until, zone};
use super::process::{Memory, ServedWorld};
use super::rows::{RECORDS, what};
use super::{BenchError, Row};
use crate::world::World;

/// The drift interval: several times as long as a sweep takes, and short enough to wait for some.
const SWEEP: Duration = Duration::from_secs(10);
/// Between two looks; some go through all records, on the processors that the operator needs.
const LOOK: Duration = Duration::from_millis(250);
/// Sweeps that are waited for, since what each leaves behind may add up.
const SWEEPS: u64 = 3;
/// The targets, in KiB.
const IDLE_MAX: u64 = 30 * 1024;
const RECORDS_MAX: u64 = 150 * 1024;

/// What is swept: how its reads are counted, and what makes its watch begin anew.
struct Swept {
    kind: &'static str,
    name: &'static str,
    /// Reads of Cloudflare of this bench so far.
    reads: fn(&Counts) -> u64,
    /// Reads of one sweep.
    per_sweep: u64,
    /// Pages of one list in Kubernetes.
    lists: u64,
}

/// One account and nothing else.
pub(super) async fn idle() -> Result<Row, BenchError> {
    let served = ServedWorld::of(settled()?).await?;
    let operator = served.start(SWEEP)?;
    progress("the operator with one account: a new list, some sweeps");
    let account = Swept {
        kind: "CloudflareAccount",
        name: "main",
        reads: |counts| counts.calls,
        // Its token and itself.
        per_sweep: 2,
        lists: 1,
    };
    sweep(&served, &account).await?;
    Ok(row("memory-idle", &served, operator.memory(), IDLE_MAX, String::new()))
}

/// All records of one large zone, Ready. A process that creates them comes first and its memory is told, too, since
/// whoever sets a limit has to know both; the target is for what a process needs day after day.
pub(super) async fn records() -> Result<Row, BenchError> {
    let served = ServedWorld::of(enterprise()?).await?;
    let kubernetes = &served.world.kubernetes;
    kubernetes.apply(zone("example-com", "example.com"))?;
    for number in 0..RECORDS {
        kubernetes.apply(record(&format!("r{number}"), "example-com", number))?;
    }
    progress("the operator creates 10,000 records");
    let creator = served.start(SWEEP)?;
    until("memory", LOOK, || unready(&served.world) == 0).await?;
    let creating = creator.memory().map(|memory| format!(", creating them {}", mib(memory.peak)));
    drop(creator);
    reset(&served.world);
    progress("another one with 10,000 Ready records: a new list, some sweeps");
    let operator = served.start(SWEEP)?;
    let records = Swept {
        kind: "DNSRecord",
        name: "r0",
        reads: |counts| counts.pages,
        per_sweep: 2,
        lists: (RECORDS as u64).div_ceil(u64::from(KUBERNETES_PAGE)),
    };
    sweep(&served, &records).await?;
    Ok(row("memory", &served, operator.memory(), RECORDS_MAX, creating.unwrap_or_default()))
}

/// Waits for sweeps; in the middle of the first one, the watch begins anew.
async fn sweep(served: &ServedWorld, swept: &Swept) -> Result<(), BenchError> {
    let world = &served.world;
    let reads = || (swept.reads)(&counts(world));
    // The look that everything gets at the start, and the first page of the first sweep.
    until("memory", LOOK, || reads() > swept.per_sweep).await?;
    let lists = counts(world).lists;
    expire(world, swept)?;
    until("memory", LOOK, || counts(world).lists >= lists + swept.lists).await?;
    // A unit never runs twice at a time: the last of these sweeps is over when one more begins.
    until("memory", LOOK, || reads() > swept.per_sweep * (1 + SWEEPS)).await?;
    Ok(())
}

/// Makes the version that the watch has seen too old, and lets the watch know.
fn expire(world: &World, swept: &Swept) -> Result<(), Status> {
    let kubernetes = &world.kubernetes;
    // Something that it does not see: it may have just seen all there is.
    kubernetes.apply(json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "bench" } }))?;
    kubernetes.compact();
    let touch = json!({ "metadata": { "annotations": { "bench": "touched" } } });
    kubernetes.patch(swept.kind, None, swept.name, touch).map(drop)
}

fn row(name: &str, served: &ServedWorld, memory: Option<Memory>, most: u64, more: String) -> Row {
    let writes = counts(&served.world).writes;
    // How busy the machine is hardly matters to it: from run to run it varies by a tenth. So it may fail the bench.
    let fits = memory.is_none_or(|memory| memory.peak <= most);
    let cost = memory.map_or_else(
        || "not told here".to_owned(),
        |memory| format!("{}, now {}{more}", mib(memory.peak), mib(memory.now)),
    );
    Row {
        what: what(name),
        counts: format!("{SWEEPS} sweeps, 1 new list, {writes} writes"),
        cost,
        target: format!("0 writes; <= {}", mib(most)),
        met: writes == 0 && fits,
        in_time: true,
    }
}

fn mib(kib: u64) -> String {
    format!("{} MiB", kib.div_ceil(1024))
}
