//! How Cloudflare speaks: request values, the envelope, error classes, paging and the arithmetic of the call
//! budget.
//!
//! It never opens a socket, never reads a clock, never waits and knows nothing of Kubernetes: time is an
//! argument (`jiff::Timestamp` for what headers say, a `Duration` since process start for the budget).
//! Whoever sends the requests decides about retries; a call that is not idempotent is never repeated blindly
//! (B154).

pub mod budget;
pub mod dns;
pub mod envelope;
pub mod error;
pub mod items;
pub mod limits;
pub mod pace;
pub mod page;
pub mod request;
pub mod text;
pub mod token;
