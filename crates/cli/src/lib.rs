//! What the `kflare` binary is made of: commands, both worlds and the operator in one process, scenarios, simulation.
//! Never decides what to write to Cloudflare: that is `plan`, carried out by `operator`.

pub mod bench;
pub mod commands;
mod nearest;
pub mod progress;
pub mod scenario;
pub mod simulation;
pub mod table;
pub mod terminal;
pub mod world;
