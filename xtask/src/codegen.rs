//! Writes the generated files, or names those that are stale. What is in them is kindgen's business.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use kindgen::{File, Project, tree};

use crate::reasons;

/// Everything that is generated, the page of reasons included.
pub(crate) fn files(root: &Path) -> Result<Vec<File>> {
    let sources = tree::sources(root).context("could not read kinds/*.toml")?;
    let project = Project::load(&sources)?;
    let mut files = kindgen::generate(&project);
    files.push(reasons::page());
    Ok(files)
}

/// Writes what differs and removes what no table makes any more.
pub(crate) fn write(root: &Path) -> Result<()> {
    let files = files(root)?;
    for path in tree::stale(root, &files)? {
        let target = root.join(&path);
        let Some(file) = files.iter().find(|file| file.path == path) else {
            fs::remove_file(&target).with_context(|| format!("could not remove {path}"))?;
            println!("removed {path}");
            continue;
        };
        if let Some(home) = target.parent() {
            fs::create_dir_all(home).with_context(|| format!("could not make the directory of {path}"))?;
        }
        fs::write(&target, &file.text).with_context(|| format!("could not write {path}"))?;
        println!("wrote {path}");
    }
    Ok(())
}

/// Fails with the names of stale files.
pub(crate) fn check(root: &Path) -> Result<()> {
    let stale = tree::stale(root, &files(root)?)?;
    if !stale.is_empty() {
        bail!("stale; run `cargo xtask codegen` and commit:\n  {}", stale.join("\n  "));
    }
    Ok(())
}
