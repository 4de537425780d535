//! Chores that the product itself does: measuring, seed runs, scenarios beside real API servers. Builds and starts it; says nothing else.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

/// Which build of the product.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Build {
    /// What is shipped; what is measured must be it.
    Release,
    /// What is there sooner while something is changed.
    Debug,
}

/// Builds the product and runs `kflare sandbox VERB ARGUMENTS…`.
pub(crate) fn sandbox(root: &Path, build: Build, verb: &str, arguments: &[String]) -> anyhow::Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .current_dir(root)
        .args(["run", "--quiet", "--package", "cli"])
        .args((build == Build::Release).then_some("--release"))
        .args(["--", "sandbox", verb])
        .args(arguments)
        .status()
        .context("cannot start cargo")?;
    if !status.success() {
        bail!("`kflare sandbox {verb}` failed");
    }
    Ok(())
}

/// The kflare that a chore was given, or a debug build of this tree.
pub(crate) fn given_or_built(root: &Path, kflare: Option<&Path>) -> anyhow::Result<PathBuf> {
    if let Some(path) = kflare {
        return Ok(std::path::absolute(path)?);
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo).current_dir(root).args(["build", "--quiet", "--package", "cli"]).status();
    if !built.context("cannot start cargo")?.success() {
        bail!("kflare does not build");
    }
    Ok(target(root).join("debug/kflare"))
}

/// Where cargo puts what it builds.
pub(crate) fn target(root: &Path) -> PathBuf {
    // Cargo, which runs here, reads a relative one in the same way.
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |folder| root.join(folder))
}
