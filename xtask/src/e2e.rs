//! Scenarios beside real Kubernetes API servers: starts some, and has the product run its scenarios there. What is checked
//! is the product's to say.

use std::fs;
use std::path::Path;

use anyhow::Context;
use clap::Args;

use crate::product::{self, Build};
use crate::servers::{self, Version};

/// What can be asked for.
#[derive(Args)]
pub(crate) struct Options {
    /// Only scenarios with this in their path
    #[arg(long, value_name = "PART-OF-A-NAME")]
    only: Option<String>,
    /// The version of Kubernetes
    #[arg(long, value_name = "VERSION", default_value = "1.37")]
    server: Version,
    /// Servers beside each other, of some 400 MB each; scenarios mostly wait
    #[arg(long, value_name = "NUMBER", default_value_t = 4)]
    servers: usize,
    /// With a debug build of kflare, which is there sooner
    #[arg(long)]
    debug: bool,
}

/// Runs the scenarios.
pub(crate) fn run(root: &Path, options: &Options) -> anyhow::Result<()> {
    let program = servers::build(root, options.server)?;
    let home = root.join("target/e2e");
    servers::fresh(&home)?;
    let count = if options.only.is_some() { 1 } else { options.servers.max(1) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let running = runtime.block_on(async {
        let starting = (1..=count).map(|number| servers::start(&program, &home.join(number.to_string())));
        let mut running = Vec::new();
        for server in starting.collect::<anyhow::Result<Vec<_>>>()? {
            running.push(server.ready().await?);
        }
        anyhow::Ok(running)
    })?;
    let mut words = vec!["--roles".to_owned(), "deploy/rbac/manager.yaml".to_owned()];
    for server in &running {
        words.extend(["--cluster".to_owned(), server.files.directory.display().to_string()]);
    }
    if let Some(only) = &options.only {
        words.extend(["--only".to_owned(), only.clone()]);
    }
    for entry in fs::read_dir(root.join("scenarios")).context("cannot read scenarios")? {
        let path = entry?.path();
        if path.is_dir() {
            words.push(path.display().to_string());
        }
    }
    let build = if options.debug { Build::Debug } else { Build::Release };
    product::sandbox(root, build, "run", &words)
}
