//! `kflare sandbox`: both worlds and the operator in one process, for people and for tests of manifests.
//! The worlds are `crate::world`; scenarios are `crate::scenario`.

mod arguments;
mod inventory;
mod json;
mod kubeconfig;
mod load;
pub(super) mod manifest;
mod registration;
mod reporter;
mod row;
mod scenarios;
mod seeds;
mod session;
mod welcome;
mod yaml;

use std::cell::RefCell;
use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Context;
use serde_json::Value;

pub use arguments::{
    BenchArguments, LoadArguments, PlanName, SandboxArguments, SandboxCommand, ScenarioArguments,
    SeedArguments, ServeArguments,
};
pub use reporter::Output;

use super::{form, log};
use crate::bench;
use crate::progress::Progress;

/// The objects of a manifest's text, or what is wrong with it and where.
///
/// # Errors
/// What a user is told who applies it.
pub fn objects_of(file: &str, text: &str) -> Result<Vec<Value>, String> {
    let manifests = manifest::parse(file, text).map_err(|error| error.to_string())?;
    Ok(manifests.into_iter().map(|manifest| manifest.object).collect())
}

/// Serves, or does what the subcommand says.
///
/// # Errors
/// What keeps it from serving, with what to do about it.
pub fn execute(arguments: &SandboxArguments) -> anyhow::Result<ExitCode> {
    match &arguments.command {
        Some(SandboxCommand::Run(arguments)) => scenarios::execute(arguments),
        Some(SandboxCommand::Sim(arguments)) => seeds::execute(arguments),
        Some(SandboxCommand::Load(arguments)) => load::execute(arguments),
        Some(SandboxCommand::Bench(arguments)) => measure(arguments),
        None => serve(&arguments.serve),
    }
}

/// Fails when a target is missed, so that a release can depend on it.
fn measure(arguments: &BenchArguments) -> anyhow::Result<ExitCode> {
    let roles = arguments.roles.as_ref().map(std::fs::read_to_string).transpose();
    let roles = roles.context("cannot read the roles")?;
    let server = match (&arguments.cluster, &roles) {
        (Some(folder), Some(roles)) => bench::Server::Real { folder, roles },
        _ => bench::Server::Sandbox,
    };
    let sizes: Vec<usize> = arguments.sizes.iter().filter_map(|size| usize::try_from(*size).ok()).collect();
    let progress = Progress::begin("measuring, which takes minutes");
    let order = bench::Order { server, rows: &arguments.rows, sizes: &sizes };
    let at = RefCell::new(String::new());
    let table = bench::run(order, &|text| {
        progress.say(|| text.clone());
        at.replace(text);
    });
    drop(progress);
    let table = table.with_context(|| at.take())?;
    let text = match arguments.output {
        Output::Text => table.to_string(),
        Output::Json => form::json(&table.to_json()),
        Output::Yaml => form::yaml(&table.to_json())?,
    };
    write!(io::stdout().lock(), "{text}").context("cannot write to standard output")?;
    Ok(if table.all_met() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn serve(arguments: &ServeArguments) -> anyhow::Result<ExitCode> {
    log::begin(arguments.log_level, log::Format::Text);
    let runtime = tokio::runtime::Runtime::new().context("cannot start the runtime")?;
    let outcome = runtime.block_on(session::run(arguments));
    // Nothing that still runs matters to anyone: the worlds end with the process.
    runtime.shutdown_background();
    outcome
}
