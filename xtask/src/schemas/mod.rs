//! Facts of Cloudflare's API for the tests: schemas of the operations that the sandbox serves, taken out of the API's own
//! document (given by the caller) and out of the types of the pinned TypeScript SDK. Names, types, what is required,
//! enumerations and bounds, no prose. What is done with them is the sandbox's (crates/sandbox/src/cloudflare/witness).

mod document;
mod facts;
mod operations;
mod sdk;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use self::facts::Facts;

/// Where the facts are committed.
const HOME: &str = "crates/sandbox/schemas";

/// What is asked for on the command line.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    /// Renew the facts of the API's document from this OpenAPI file (JSON)
    #[arg(long, value_name = "FILE", required_unless_present = "sdk")]
    from: Option<PathBuf>,
    /// Renew the facts of the TypeScript SDK that testing/clients pins; needs node and npm
    #[arg(long)]
    sdk: bool,
    /// Write nothing; fail when what is committed is stale
    #[arg(long)]
    check: bool,
}

/// Writes what was asked for, or compares it with what is there.
pub(crate) fn run(root: &Path, options: &Options) -> anyhow::Result<()> {
    if let Some(file) = &options.from {
        put(root, "document.json", &document::facts(file)?, options.check)?;
    }
    if options.sdk {
        put(root, "sdk.json", &sdk::facts(root)?, options.check)?;
    }
    Ok(())
}

fn put(root: &Path, name: &str, facts: &Facts, check: bool) -> anyhow::Result<()> {
    let path = root.join(HOME).join(name);
    if check {
        let there = std::fs::read_to_string(&path);
        if there.with_context(|| format!("could not read {}", path.display()))? != facts.text() {
            bail!(
                "{HOME}/{name} is not what its source says: renew it with cargo xtask schemas, and read the diff"
            );
        }
        println!("{HOME}/{name} is fresh: {}", facts.summary());
        return Ok(());
    }
    std::fs::write(&path, facts.text()).with_context(|| format!("could not write {}", path.display()))?;
    println!("{HOME}/{name}: {}", facts.summary());
    Ok(())
}
