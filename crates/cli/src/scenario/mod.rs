//! Scenarios: text files that say what happens to the two worlds and what must come of it.
//! Parses and runs them; the worlds themselves are `crate::world`. The language is docs/reference/scenarios.md.

mod error;
mod expect;
mod pace;
mod parse;
mod perform;
mod run;
mod script;
mod setting;
mod transcript;

pub use error::{Failure, Problem, ScriptError};
pub(crate) use run::options;
pub use run::{Finished, Mode, RunError, Runner, run_file, simulate};
pub use script::{
    CloudflareEdit, Command, Expectation, FaultOrder, ObjectName, RecordName, Script, Setup, Step,
};
pub use setting::{Setting, Unreal};
