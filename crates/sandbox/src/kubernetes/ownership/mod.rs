//! Ownership of fields: server-side apply and `managedFields`, written from `structured-merge-diff` and
//! `apimachinery/pkg/util/managedfields` (v1.37). Knows values and types, and nothing of requests: those are in
//! `applying`.
//!
//! Known differences: objects are compared in the version of the request alone, as nothing here converts between
//! versions; a schema that turns from granular to atomic leaves the sets that were written before as they are.

mod change;
mod compare;
mod element;
mod managers;
mod merge;
pub(crate) mod schema;
mod set;
mod walk;

pub(crate) use change::{Change, Conflict, Refusal};
pub(crate) use compare::compare;
pub(crate) use managers::{Manager, Managers, Operation};
pub(crate) use set::{Set, print};
pub(crate) use walk::{check, fields};
