//! The commands of the one binary `kflare`: reads the command line and hands over. Each command is a module.

mod cloudflare_url;
pub(crate) mod cluster;
pub mod completions;
pub mod crds;
pub mod duration;
mod field;
mod form;
mod help;
pub mod log;
pub(crate) mod outside;
pub mod plan;
mod refusal;
pub mod run;
pub mod sandbox;
mod signals;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::builder::{Resettable, StyledStr};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, CommandFactory, FromArgMatches, Parser, Subcommand};

use self::cluster::ClusterError;
use self::plan::CloudflareUnreachable;
use crate::terminal;

/// The exit code of a command that failed.
const FAILED: u8 = 1;

/// Keeps Cloudflare as your Kubernetes objects say.
#[derive(Parser, Debug)]
#[command(name = "kflare", version, arg_required_else_help = true, args_override_self = true, after_help = EXAMPLES)]
#[command(about = "Keeps Cloudflare as your Kubernetes objects say")]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  # see all of it work, with no cluster and no account
  kflare sandbox

  # what would a manifest change? what has drifted?
  kflare plan -f record.yaml
  kflare plan --all

  # install it: its kinds, its roles and namespace, then the operator
  kflare crds | kubectl apply -f -
  kubectl apply -f deploy/rbac
  kflare run --namespace kflare-system

`kflare COMMAND --help` explains a command with examples. The pages in docs/ begin with guide/getting-started.md.";

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Runs kflare with a simulated Kubernetes and a simulated Cloudflare in one process
    Sandbox(Box<sandbox::SandboxArguments>),
    /// Runs the operator for a cluster
    Run(Box<run::RunArguments>),
    /// Shows what manifests would change, and changes nothing
    Plan(Box<plan::PlanArguments>),
    /// Prints the CustomResourceDefinitions
    Crds(crds::CrdsArguments),
    /// Prints a script that completes the command line of kflare in a shell
    Completions(completions::CompletionsArguments),
}

impl Command {
    /// True when the exit code is an answer, which "nobody reads what I print" must not stand for; and for the operator,
    /// whose pipes are connections.
    fn answers(&self) -> bool {
        match self {
            Self::Sandbox(arguments) => arguments.command.is_some() || arguments.serve.once,
            Self::Run(_) | Self::Plan(_) => true,
            Self::Crds(_) | Self::Completions(_) => false,
        }
    }
}

/// Reads the command line and does what it says.
#[must_use]
pub fn main() -> ExitCode {
    // Both HTTP clients take the process's default provider; without one the first TLS connection panics.
    if rustls::crypto::ring::default_provider().install_default().is_err() {
        return failed(&anyhow::anyhow!(
            "another TLS provider was installed before ours: please report this"
        ));
    }
    let line = match command_line() {
        Ok(line) => line,
        Err(code) => return code,
    };
    let answers = line.command.answers();
    let outcome = match line.command {
        Command::Sandbox(arguments) => sandbox::execute(&arguments),
        Command::Run(arguments) => run::execute(&arguments),
        Command::Plan(arguments) => {
            let checked = cloudflare_url::check(&arguments.cloudflare_api_url);
            checked.map_err(Into::into).and_then(|()| plan::execute(&arguments))
        }
        Command::Crds(arguments) => crds::execute(&arguments).map(|()| ExitCode::SUCCESS),
        Command::Completions(arguments) => completions::execute(&arguments).map(|()| ExitCode::SUCCESS),
    };
    outcome.unwrap_or_else(
        |error| if !answers && is_unread(&error) { ExitCode::SUCCESS } else { failed(&error) },
    )
}

/// What was asked for; of a command line that makes no sense, or asks for help, the exit code after a word about it.
/// Not clap's own code for mistakes: `kflare plan` exits with 2 when there is something to do.
fn command_line() -> Result<Cli, ExitCode> {
    let command = help::fitted(without_empty_variables(Cli::command()), help::columns());
    let matches = command.try_get_matches();
    matches.and_then(|matches| Cli::from_arg_matches(&matches)).map_err(|error| {
        let error = with_tip(error);
        let printed = error.print().and_then(|()| io::stdout().flush());
        let is_missing = printed.is_err_and(|error| error.kind() != io::ErrorKind::BrokenPipe);
        if error.use_stderr() || is_missing { ExitCode::from(FAILED) } else { ExitCode::SUCCESS }
    })
}

/// What a shell makes of `-f *.yaml` is one file for the flag, and others for nobody.
fn with_tip(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg) else { return error };
    let is_file = [".yaml", ".yml", ".json"].iter().any(|end| argument.ends_with(end));
    if error.kind() == ErrorKind::UnknownArgument && is_file {
        let tip = StyledStr::from("repeat -f for each file, or name the directory");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
    error
}

/// A variable that is set to nothing counts as not set, as for the old programs: charts set them so. Help tells the
/// names of variables and not their values, which may hold a password.
fn without_empty_variables(command: clap::Command) -> clap::Command {
    let known = |argument: Arg| {
        let argument = argument.hide_env_values(true);
        let value = argument.get_env().and_then(std::env::var_os);
        if value.is_some_and(|value| value.is_empty()) { argument.env(Resettable::Reset) } else { argument }
    };
    command.mut_args(known).mut_subcommands(without_empty_variables)
}

/// A reader of our output has left, as in `kflare crds | head`.
fn is_unread(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    causes.any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// Prints an error with what it comes from, and below it what to do next.
fn failed(error: &anyhow::Error) -> ExitCode {
    let text = sentence(error);
    let colour = terminal::wants_colour(&io::stderr());
    let heading = terminal::Tone::Bad.paint("error:", colour);
    let lines: Vec<_> = text.lines().map(terminal::harmless).collect();
    eprintln!("{heading} {}", lines.join("\n"));
    if let Some(next) = next(error) {
        eprintln!("  {} {}", terminal::Tone::Strong.paint("next:", colour), terminal::harmless(&next));
    }
    ExitCode::from(FAILED)
}

/// What to do about an error, where that is known and not in its own words.
fn next(error: &anyhow::Error) -> Option<String> {
    error.chain().find_map(|cause| {
        let cluster = cause.downcast_ref::<ClusterError>().and_then(ClusterError::next);
        cluster.or_else(|| Some(cause.downcast_ref::<CloudflareUnreachable>()?.next()))
    })
}

/// An error and what it comes from, without the causes that libraries have already put into their own words.
fn sentence(error: &anyhow::Error) -> String {
    let mut sentence = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !sentence.contains(&cause) {
            sentence.push_str(": ");
            sentence.push_str(&cause);
        }
    }
    sentence
}

#[cfg(test)]
mod tests;
