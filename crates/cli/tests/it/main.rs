//! The one integration-test binary of the workspace.

#![expect(clippy::unwrap_used, reason = "what fails in a test's own scaffolding fails the test")]

mod architecture;
mod book;
mod cases;
mod citations;
mod edges;
mod election;
mod flags;
mod hostile;
mod know;
mod numbers;
mod portions;
mod promises;
mod records;
mod scenarios;
mod secrets;
mod simulation;
mod told;
mod typed;
mod weather;
