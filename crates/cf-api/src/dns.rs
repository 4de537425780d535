//! The check of a token, and the reading of batch answers.
//!
//! All other requests follow from the routes in the tables of kinds.

mod account;
mod batch;

pub use account::{TokenKind, verify};
pub use batch::{BatchAnswer, BatchBody, BatchError};

#[cfg(test)]
mod tests;
