//! `cargo xtask bench`: has the product measure itself beside the sandbox and beside a real API server. What is measured,
//! and against which targets, is the product's to say.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{Args, ValueEnum};

use crate::product::{self, Build};
use crate::servers::{self, Version};

/// A real server takes some 7 ms for the requests of one new record: with more than these, most of what a gate waits for
/// would be the server.
const SIZES_REAL: &str = "10,100,1000";

/// What can be asked for.
#[derive(Args)]
pub(crate) struct Options {
    /// Beside which API server
    #[arg(long, value_name = "WHICH", default_value = "both")]
    server: Server,
    /// The real API server's program; without it, it is built with Go
    #[arg(long, env = "KUBE_APISERVER", value_name = "FILE")]
    kube_apiserver: Option<PathBuf>,
    /// Numbers of records; by default 10,100,1000,10000 on the sandbox and 10,100,1000 on a real server
    #[arg(long, value_name = "NUMBERS")]
    sizes: Option<String>,
    /// How results are printed: text, json, yaml
    #[arg(long, short, value_name = "FORMAT")]
    output: Option<String>,
    /// Rows to measure (`kflare sandbox bench --help` names them); all when none is named
    #[arg(value_name = "ROW")]
    rows: Vec<String>,
}

/// API servers.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Server {
    /// The sandbox's, for which the times have targets
    Sandbox,
    /// A real one
    Real,
    /// First the one, then the other
    Both,
}

/// Measures, and fails when a target is missed on either.
pub(crate) fn run(root: &Path, options: &Options) -> anyhow::Result<()> {
    let mut missed = Vec::new();
    if options.server != Server::Real {
        let done = product::sandbox(root, Build::Release, "bench", &options.words(None));
        missed.extend(done.err().map(|error| error.context("beside the sandbox")));
    }
    if options.server != Server::Sandbox {
        let done = beside_real(root, options);
        missed.extend(done.err().map(|error| error.context("beside a real API server")));
    }
    match missed.is_empty() {
        true => Ok(()),
        false => {
            let all: Vec<String> = missed.iter().map(|error| format!("{error:#}")).collect();
            bail!("{}", all.join("; "))
        }
    }
}

fn beside_real(root: &Path, options: &Options) -> anyhow::Result<()> {
    let program = match &options.kube_apiserver {
        Some(program) => std::path::absolute(program)?,
        None => servers::build(root, Version::Newest)?,
    };
    let home = root.join("target/bench");
    servers::fresh(&home)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let server = runtime.block_on(async { servers::start(&program, &home)?.ready().await })?;
    let mut words = options.words(Some(SIZES_REAL));
    let folder = server.files.directory.display().to_string();
    words.extend([
        "--cluster".to_owned(),
        folder,
        "--roles".to_owned(),
        "deploy/rbac/manager.yaml".to_owned(),
    ]);
    product::sandbox(root, Build::Release, "bench", &words)
}

impl Options {
    /// The words for the product.
    fn words(&self, sizes: Option<&str>) -> Vec<String> {
        let mut words = self.rows.clone();
        let sizes = self.sizes.as_deref().or(sizes);
        for (flag, value) in [("--sizes", sizes), ("--output", self.output.as_deref())] {
            words.extend(value.into_iter().flat_map(|value| [flag.to_owned(), value.to_owned()]));
        }
        words
    }
}
