//! The tables and the generated files on disk: reads the one, finds where the other differ from what the stages say.

use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, io};

use crate::{File, MARK, Source, reasons};

/// Where generated files live, for finding those that no table makes any more.
const HOMES: &[&str] = &[
    "crates/kinds/src/generated",
    "crates/kinds/src/generated/crds",
    "deploy/crds",
    "deploy/rbac",
    "deploy/samples",
    "docs/reference",
];

/// The files of `kinds/` in the order of their names, and the list of reasons.
pub fn sources(root: &Path) -> io::Result<Vec<Source>> {
    let mut sources = Vec::new();
    for entry in fs::read_dir(root.join("kinds"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".toml") {
            let path = format!("kinds/{name}");
            sources.push(Source { text: fs::read_to_string(root.join(&path))?, path });
        }
    }
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    let path = reasons::PATH.to_owned();
    sources.push(Source { text: fs::read_to_string(root.join(&path))?, path });
    Ok(sources)
}

/// The paths that differ from `files` or that nothing generates any more.
pub fn stale(root: &Path, files: &[File]) -> io::Result<Vec<String>> {
    let mut stale = BTreeSet::new();
    for file in files {
        match fs::read_to_string(root.join(&file.path)) {
            Ok(text) if text == file.text => {}
            Ok(_) => _ = stale.insert(file.path.clone()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => _ = stale.insert(file.path.clone()),
            Err(error) => return Err(error),
        }
    }
    stale.extend(orphans(root, files)?);
    Ok(stale.into_iter().collect())
}

/// Files with our mark that nothing generates any more.
fn orphans(root: &Path, files: &[File]) -> io::Result<Vec<String>> {
    let known: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let mut orphans = Vec::new();
    for home in HOMES.iter().filter(|home| root.join(home).is_dir()) {
        for entry in fs::read_dir(root.join(home))? {
            let entry = entry?;
            let path = format!("{home}/{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_file() && !known.contains(path.as_str()) && is_generated(&entry.path())?
            {
                orphans.push(path);
            }
        }
    }
    orphans.sort();
    Ok(orphans)
}

/// Whether a file carries the mark near its top.
fn is_generated(path: &Path) -> io::Result<bool> {
    let text = fs::read_to_string(path)?;
    Ok(text.lines().take(8).any(|line| line.contains(MARK)))
}
