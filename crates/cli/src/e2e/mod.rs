//! Scenarios against real API servers: `kflare run` as a process with its own account, the sandbox's Cloudflare over HTTP.
//! The servers are started by whoever calls this (`cargo xtask e2e`); what a scenario means is `crate::scenario`.

mod audit;
mod clean;
mod cluster;
mod privilege;
mod process;
mod real;
mod replica;
mod rest;
mod run;

pub(crate) use audit::Audit;
pub(crate) use cluster::Cluster;
pub(crate) use process::{Orders, Process};
pub(crate) use run::{Order, run};
