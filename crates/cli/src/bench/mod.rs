//! What kflare costs, measured on a real clock with `kflare run` as a process: the targets of the design as a table, and
//! each kind of work as a curve. Calls and writes first, since they are what users pay; then time and memory. Never part
//! of the tests: a busy machine is no bug.

mod counts;
mod place;
mod rows;
mod running;
mod table;
mod work;

pub use place::Server;
pub use rows::ROWS;
pub use table::Table;

use sandbox::kubernetes::Status;
use sandbox::serve::ServeError;

use self::place::Place;
use self::running::{Done, Running};
use self::work::Work;

/// Why there is no table.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A row that does not exist.
    #[error("unknown row {name:?}; known are {known}")]
    UnknownRow {
        /// The word.
        name: String,
        /// All rows.
        known: String,
    },
    /// The world could not be made.
    #[error("the sandbox refuses an object of the bench")]
    Scene(#[from] Status),
    /// No runtime.
    #[error("cannot start a runtime")]
    Runtime(#[source] std::io::Error),
    /// The worlds cannot be served.
    #[error("cannot serve the sandbox")]
    Serve(#[from] ServeError),
    /// The process that is measured does not run, or no more.
    #[error("{0}")]
    Process(String),
    /// No folder for its kubeconfig.
    #[error("cannot write a kubeconfig for `kflare run`")]
    Scratch(#[source] std::io::Error),
    /// The program cannot be looked at.
    #[error("cannot tell the size of this program")]
    Binary(#[source] std::io::Error),
    /// A real API server cannot be used.
    #[error("cannot use the API server")]
    Cluster(#[source] anyhow::Error),
    /// A real API server refuses something.
    #[error("the API server says: {0}")]
    Refused(String),
    /// The requests to a real API server cannot be counted.
    #[error("cannot read the API server's audit log")]
    Audit(#[source] std::io::Error),
    /// Something never came to rest.
    #[error("not at rest within {seconds} s: {state}")]
    Restless {
        /// How long we waited.
        seconds: u64,
        /// What is not in order.
        state: String,
    },
}

/// Worker threads of the worlds: what the targets are stated for.
const THREADS: usize = 2;

/// What is to be measured.
#[derive(Clone, Copy, Debug)]
pub struct Order<'o> {
    /// The API server.
    pub server: Server<'o>,
    /// Rows; all when none is named.
    pub rows: &'o [String],
    /// Numbers of records of the curve. The targets are measured with the largest.
    pub sizes: &'o [usize],
}

/// Measures. Takes minutes, and tells what it is at.
pub fn run(order: Order<'_>, tell: &dyn Fn(String)) -> Result<Table, BenchError> {
    for name in order.rows {
        if !ROWS.contains(&name.as_str()) {
            return Err(BenchError::UnknownRow { name: name.clone(), known: ROWS.join(", ") });
        }
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .enable_all()
        .build()
        .map_err(BenchError::Runtime)?;
    runtime.block_on(measured(order, tell))
}

impl Order<'_> {
    fn wants(&self, names: &[&str]) -> bool {
        self.rows.is_empty() || self.rows.iter().any(|row| names.contains(&row.as_str()))
    }

    /// The numbers of records that are worth while: without a curve, the largest alone.
    fn sizes(&self) -> Vec<usize> {
        let mut sizes = self.sizes.to_vec();
        sizes.sort_unstable();
        sizes.dedup();
        if !self.wants(&["curve"]) {
            sizes.drain(..sizes.len().saturating_sub(1));
        }
        sizes
    }
}

async fn measured(order: Order<'_>, tell: &dyn Fn(String)) -> Result<Table, BenchError> {
    let is_sandbox = matches!(order.server, Server::Sandbox);
    let mut table = Table::default();
    if order.wants(&["idle"]) {
        tell("one object of each kind is looked at again".to_owned());
        table.rows.push(rows::idle(order.server).await?);
    }
    if is_sandbox && order.wants(&["free-zones"]) {
        tell("50 zones of 200 records are created".to_owned());
        table.rows.push(rows::free_zones().await?);
    }
    if order.wants(&["memory-idle"]) {
        tell("the operator with one account".to_owned());
        table.rows.push(rows::memory_idle(order.server).await?);
    }
    if is_sandbox && order.wants(&["binary"]) {
        table.rows.push(rows::binary()?);
    }
    let place = Place::new(order.server).await?.enterprise();
    table.server = place.name().await;
    if order.wants(&["curve", "create", "drift", "edit", "restart", "memory"]) {
        work::with_zones(&place, work::the_zone()).await?;
        let sizes = order.sizes();
        for (index, records) in sizes.iter().enumerate() {
            let is_largest = index + 1 == sizes.len();
            table.take(one_size(&place, *records, is_largest, order, tell).await?);
        }
    }
    let place_of = |name: &str| ROWS.iter().position(|known| *known == name);
    table.rows.retain(|row| order.wants(&[row.name]));
    table.rows.sort_by_key(|row| place_of(row.name));
    table.curve.sort_by_key(|sample| Work::ALL.iter().position(|work| *work == sample.work));
    if !order.wants(&["curve"]) {
        table.curve.clear();
    }
    Ok(table)
}

impl Table {
    fn take(&mut self, other: Self) {
        self.rows.extend(other.rows);
        self.curve.extend(other.curve);
    }
}

/// Every kind of work on so many records; with the largest number, what has a target, too.
async fn one_size(
    place: &Place,
    records: usize,
    is_largest: bool,
    order: Order<'_>,
    tell: &dyn Fn(String),
) -> Result<Table, BenchError> {
    let mut table = Table::default();
    let is_timed = place.is_sandbox();
    tell(format!("{records} records are created"));
    let created = work::create(place, work::the_records(records)).await?;
    tell(format!("{records} records: a restart, a sweep"));
    let again = is_largest && order.wants(&["memory"]);
    let restarted = work::restart(place, records).await?;
    let (swept, most) = work::sweep(place, &restarted, again).await?;
    if is_largest {
        let memory = rows::memory_records(&created, most, [&restarted, &swept]);
        let (create, restart) = (rows::create(&created, is_timed), rows::restart(&restarted, is_timed));
        table.rows.extend([create, rows::drift(&swept), restart, memory]);
    }
    table.curve.extend([created, restarted, swept]);
    if !order.wants(&["curve", "edit"]) {
        return Ok(table);
    }
    let mut running = Running::start(place, None).await?;
    running.rest(place, running.since, Done::Records(records)).await?;
    if is_largest && order.wants(&["edit"]) {
        tell(format!("single edits of {records} records, one after the other"));
        table.rows.push(rows::edit(place, &mut running, records).await?);
    }
    if order.wants(&["curve"]) {
        tell(format!("{records} records are edited and deleted"));
        table.curve.extend(work::edit_and_delete(place, &mut running, records).await?);
    }
    running.stop().await?;
    Ok(table)
}
