//! The targets of the design that the sandbox can measure, on a real clock, as a table: calls and writes first, since
//! they are what users pay; then time and memory. Never part of the tests: a busy machine is no bug.
//! Most rows run the operator in this process; those about its memory start it as one of its own.

mod measure;
mod memory;
mod process;
mod rows;
mod table;

pub use rows::ROWS;
pub use table::{Row, Table};

use sandbox::kubernetes::Status;
use sandbox::serve::ServeError;

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
    /// No process to measure.
    #[error("cannot start `kflare run`")]
    Process(#[source] std::io::Error),
    /// No folder for its kubeconfig.
    #[error("cannot write a kubeconfig for `kflare run`")]
    Scratch(#[source] std::io::Error),
    /// Something never came to rest.
    #[error("{what} did not come to rest within {seconds} s: {state}")]
    Restless {
        /// The row.
        what: &'static str,
        /// How long we waited.
        seconds: u64,
        /// What is not in order.
        state: String,
    },
}

/// Worker threads of the operator and the worlds: what the targets are stated for.
const THREADS: usize = 2;

/// Measures these rows, or all when none is named. Takes minutes.
pub fn run(selection: &[String]) -> Result<Table, BenchError> {
    for name in selection {
        if !ROWS.iter().any(|(known, _)| known == name) {
            let known = ROWS.iter().map(|(known, _)| *known).collect::<Vec<_>>().join(", ");
            return Err(BenchError::UnknownRow { name: name.clone(), known });
        }
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .enable_all()
        .build()
        .map_err(BenchError::Runtime)?;
    runtime.block_on(rows::measured(selection))
}
