//! Every decision of kflare as pure functions: from a snapshot to what to read, what to write and what to report.
//! Never awaits, never sends, never reads a clock or a random number: time and outcomes are arguments (V1).
//!
//! A pass over one unit is a loop that the caller drives:
//!
//! ```text
//! while let reads = reads(&snapshot), not empty { for each: fold(&mut snapshot, read, answer) }
//! while let Decision::Stage(acts) = decide(&snapshot, now) { for each act: absorb(&mut snapshot, act, outcome) }
//! report(&snapshot, now)
//! ```
//!
//! A snapshot need not hold all members at once: a [`List`] is shown to one portion after the other, and whoever is
//! [`at_rest`] then may leave.
//!
//! Where a pass is only looked at, [`predict`] stands in for whoever sends the acts.
//!
//! An outcome may leave something unread (a record that turned out to be gone): then `reads` asks again, so the
//! caller starts over at the first line until there is neither a read nor an act left, or [`limits::ROUNDS_MAX`].

pub mod absorb;
pub mod act;
pub mod adoption;
pub mod context;
pub mod creating;
pub mod deletion;
pub mod difference;
pub mod document;
pub mod hold;
mod image;
pub mod ingress;
mod labelled;
mod lag;
pub mod lifecycle;
pub mod limits;
pub mod listing;
pub mod patches;
pub mod policy;
pub mod predict;
pub mod protection;
pub mod quota;
pub mod read;
mod refusal;
pub mod report;
mod sharing;
pub mod snapshot;
pub mod stage;
pub mod unit;

#[cfg(test)]
mod tests;

pub use absorb::absorb;
pub use act::{Act, CredId, Decision, FieldDiff, Outcome, Patch, Proof, Reply, Request, Write};
pub use hold::Hold;
pub use listing::List;
pub use predict::predict;
pub use read::{Read, ReadAnswer, can_be_id, fold, reads};
pub use report::{Event, Next, Report, at_rest, report};
pub use snapshot::{Listing, Lookup, Member, Memory, Observed, Snapshot};
pub use stage::decide;
pub use unit::{MemberId, UnitKey};
