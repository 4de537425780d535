//! The commands of the one binary `kflare`: reads the command line and hands over. Each command is a module.

pub mod completions;
pub mod crds;
pub mod duration;
pub mod log;
mod outside;
pub mod plan;
pub mod run;
pub mod sandbox;
mod signals;

use std::io;
use std::process::ExitCode;

use clap::builder::Resettable;
use clap::{Arg, CommandFactory, FromArgMatches, Parser, Subcommand};

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

  # what would a manifest change?
  kflare plan -f record.yaml

  # install it
  kflare crds | kubectl apply -f -
  kflare run

`kflare COMMAND --help` explains a command with examples.";

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
    let outcome = match line.command {
        Command::Sandbox(arguments) => sandbox::execute(&arguments),
        Command::Run(arguments) => run::execute(&arguments),
        Command::Plan(arguments) => plan::execute(&arguments),
        Command::Crds(arguments) => crds::execute(&arguments).map(|()| ExitCode::SUCCESS),
        Command::Completions(arguments) => completions::execute(&arguments).map(|()| ExitCode::SUCCESS),
    };
    outcome.unwrap_or_else(|error| failed(&error))
}

/// What was asked for; of a command line that makes no sense, or asks for help, the exit code after a word about it.
/// Not clap's own code for mistakes: `kflare plan` exits with 2 when there is something to do.
fn command_line() -> Result<Cli, ExitCode> {
    let matches = without_empty_variables(Cli::command()).try_get_matches();
    matches.and_then(|matches| Cli::from_arg_matches(&matches)).map_err(|error| {
        // Nobody can be told when the terminal is gone.
        let _ = error.print();
        if error.use_stderr() { ExitCode::from(FAILED) } else { ExitCode::SUCCESS }
    })
}

/// A variable that is set to nothing counts as not set, as for the old programs: charts set them so.
fn without_empty_variables(command: clap::Command) -> clap::Command {
    let known = |argument: Arg| {
        let value = argument.get_env().and_then(std::env::var_os);
        if value.is_some_and(|value| value.is_empty()) { argument.env(Resettable::Reset) } else { argument }
    };
    command.mut_args(known).mut_subcommands(without_empty_variables)
}

/// Prints an error with what it comes from. A reader of our output who has left (`kflare crds | head`) is none.
fn failed(error: &anyhow::Error) -> ExitCode {
    let is_unread = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    if is_unread.into_iter().any(|cause| cause.kind() == io::ErrorKind::BrokenPipe) {
        return ExitCode::SUCCESS;
    }
    let text = sentence(error);
    let heading = terminal::Tone::Bad.paint("error:", terminal::wants_colour(&io::stderr()));
    let lines: Vec<_> = text.lines().map(terminal::harmless).collect();
    eprintln!("{heading} {}", lines.join("\n"));
    ExitCode::from(FAILED)
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
