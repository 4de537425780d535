//! What the `kflare` binary is made of: commands, both worlds and the operator in one process, scenarios, simulation,
//! and scenarios again beside a real API server (`e2e`).
//! Never decides what to write to Cloudflare: that is `plan`, carried out by `operator`.

pub mod bench;
pub mod commands;
mod e2e;
mod file_text;
mod nearest;
pub mod progress;
pub mod scenario;
pub mod simulation;
pub mod table;
pub mod terminal;
pub mod usage;
pub mod world;
