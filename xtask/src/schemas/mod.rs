//! Facts of Cloudflare's API for the tests: schemas of the operations that the sandbox serves, taken out of the API's own
//! document (given by the caller) and out of the types of the pinned TypeScript SDK. Names, types, what is required,
//! enumerations and bounds, no prose. What is done with them is the sandbox's (crates/sandbox/src/cloudflare/witness).

mod document;
mod facts;
mod operations;
mod sdk;

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use self::facts::Facts;

/// Where the facts are committed.
const HOME: &str = "crates/sandbox/schemas";

/// What is asked for on the command line.
#[derive(clap::Args, Debug)]
#[group(required = true, multiple = true)]
pub(crate) struct Options {
    /// Renew the facts of the API's document from this OpenAPI file (JSON)
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Renew the facts of the TypeScript SDK that testing/clients pins; needs node and npm
    #[arg(long)]
    sdk: bool,
}

/// Writes what was asked for.
pub(crate) fn run(root: &Path, options: &Options) -> anyhow::Result<()> {
    if let Some(file) = &options.from {
        write(root, "document.json", &document::facts(file)?)?;
    }
    if options.sdk {
        write(root, "sdk.json", &sdk::facts(root)?)?;
    }
    Ok(())
}

fn write(root: &Path, name: &str, facts: &Facts) -> anyhow::Result<()> {
    let path = root.join(HOME).join(name);
    std::fs::write(&path, facts.text()).with_context(|| format!("could not write {}", path.display()))?;
    println!("{HOME}/{name}: {}", facts.summary());
    Ok(())
}
