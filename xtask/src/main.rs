//! The chores of the repository: writes generated files, and checks what the house rules can be checked for.
//! Knows no kind and decides nothing about the product.

mod bench;
mod clients;
mod codegen;
mod differential;
mod e2e;
mod fuzz;
mod kubectl;
mod product;
mod schemas;
mod servers;
mod tidy;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use self::product::Build;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Chores of the kflare repository")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Write the files that are generated from kinds/*.toml
    Codegen {
        /// Write nothing; fail and name every file that is stale
        #[arg(long)]
        check: bool,
    },
    /// Check the house rules: module docs, file lengths, words, generated headers
    Tidy,
    /// Measure the product and compare with the targets, beside the sandbox and beside a real API server; needs Go
    Bench(bench::Options),
    /// Send Cloudflare's own clients to the sandbox's Cloudflare, or to a real account
    Clients(clients::Options),
    /// Ask a real API server and the sandbox the same questions and compare the answers
    Differential(differential::Options),
    /// Run the scenarios with `kflare run` beside real API servers, and hold its roles to what it used; needs Go
    E2e(e2e::Options),
    /// Try inputs that nobody thought of on everything that reads what others write; needs a C++ compiler
    Fuzz(fuzz::Options),
    /// Run ten thousand records through bad weather (`kflare sandbox load`)
    Load {
        /// Arguments of `kflare sandbox load`, such as --records 1000
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Type the same commands into kubectl on a real API server and on the sandbox and compare what it prints
    Kubectl(kubectl::Options),
    /// Renew the facts of Cloudflare's API that the sandbox's answers and kflare's requests are checked against
    Schemas(schemas::Options),
    /// Run worlds drawn from seeds, and print what fails, made small (`kflare sandbox sim`)
    Sim {
        /// Arguments of `kflare sandbox sim`, such as --seeds 200
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let root = root();
    let done = match arguments.chore {
        Chore::Codegen { check: false } => codegen::write(&root),
        Chore::Codegen { check: true } => codegen::check(&root),
        Chore::Tidy => tidy::check(&root),
        Chore::Bench(options) => bench::run(&root, &options),
        Chore::Clients(options) => clients::run(&root, &options),
        Chore::Differential(options) => differential::run(&root, &options),
        Chore::E2e(options) => e2e::run(&root, &options),
        Chore::Fuzz(options) => fuzz::run(&root, &options),
        Chore::Kubectl(options) => kubectl::run(&root, &options),
        Chore::Load { arguments } => product::sandbox(&root, Build::Release, "load", &arguments),
        Chore::Schemas(options) => schemas::run(&root, &options),
        Chore::Sim { arguments } => product::sandbox(&root, Build::Release, "sim", &arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The repository's root: the parent of this crate.
fn root() -> PathBuf {
    let crate_home = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    crate_home.parent().map_or(crate_home.clone(), PathBuf::from)
}
