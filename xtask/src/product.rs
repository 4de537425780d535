//! Chores that the product itself does on its sandbox: measuring and seed runs. Builds and starts it; says nothing else.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};

/// Runs `kflare sandbox VERB ARGUMENTS…` from a release build, since a debug build measures the build.
pub(crate) fn sandbox(root: &Path, verb: &str, arguments: &[String]) -> anyhow::Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .current_dir(root)
        .args(["run", "--release", "--quiet", "--package", "cli", "--", "sandbox", verb])
        .args(arguments)
        .status()
        .context("cannot start cargo")?;
    if !status.success() {
        bail!("`kflare sandbox {verb}` failed");
    }
    Ok(())
}
