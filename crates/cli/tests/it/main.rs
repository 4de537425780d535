//! The one integration-test binary of the workspace.

mod architecture;
mod edges;
mod flags;
mod records;
mod scenarios;
mod simulation;
