//! Runs that nobody wrote down line by line: every scenario with a crash at each write, worlds drawn from seeds,
//! and thousands of records in bad weather.
//! The checkers here know what users were promised and nothing of how `plan` keeps it.

mod crash_sweep;
mod crowd;
mod draw;
mod end_state;
mod facts;
mod fault_sweep;
mod load;
mod log_watch;
mod object;
mod random;
mod seed;
mod shrink;

pub mod checker;

pub use crash_sweep::{Sweep, sweep};
pub use crowd::{in_order, run_seeds};
pub use draw::{Drawn, draw};
pub use end_state::EndState;
pub use fault_sweep::{FaultSweep, Forecast, Gust, Met, WATCHES, faults, forecast};
pub use load::{Calm, LoadError, LoadOrder, LoadRun, RECORDS_MAX, RECORDS_MIN, Told, run_load};
pub use seed::{SeedFailure, SeedRun, request_log, run_seed};
