//! The one integration-test binary of the workspace.

mod architecture;
mod book;
mod edges;
mod flags;
mod numbers;
mod records;
mod scenarios;
mod simulation;
