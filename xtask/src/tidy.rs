//! House rules that a program can check: module docs, file lengths, words, module names, the crates that the
//! architecture names, and generated files that nobody touched. Style that needs judgement is for reviewers.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::codegen;

/// Longest hand-written file: what a reader keeps in mind at once.
const LINES_MAX: usize = 500;
/// A crate exists to forbid a dependency; a ninth needs a decision record.
const CRATES_MAX: usize = 8;
/// Names that say nothing of what is inside.
const VAGUE_MODULES: &[&str] = &["util", "utils", "common", "helper", "helpers", "misc"];
/// Unfinished work, and paths of the machine it was written on. In two parts, so that this file does not hold them.
const WORDS: &[(&str, &str)] = &[
    ("TO", "DO"),
    ("FIX", "ME"),
    ("XX", "X:"),
    ("HA", "CK:"),
    ("/wo", "rk/"),
    ("/ro", "ot/"),
    ("/ho", "me/"),
];
/// Directories that are not ours to judge.
const FOREIGN: &[&str] = &["target", "testdata", "node_modules"];

/// Fails with every complaint.
pub(crate) fn check(root: &Path) -> Result<()> {
    let complaints = complaints(root)?;
    if !complaints.is_empty() {
        bail!("not tidy:\n  {}", complaints.join("\n  "));
    }
    codegen::check(root)
}

fn complaints(root: &Path) -> Result<Vec<String>> {
    let mut files = Vec::new();
    collect(root, &mut files)?;
    files.sort();
    let mut complaints = Vec::new();
    for file in &files {
        let path = file.strip_prefix(root).unwrap_or(file).to_string_lossy().into_owned();
        let text = fs::read_to_string(file).with_context(|| format!("could not read {path}"))?;
        words(&path, &text, &mut complaints);
        if path.ends_with(".rs") {
            source(&path, &text, &mut complaints);
        }
    }
    crates(root, &mut complaints)?;
    Ok(complaints)
}

fn collect(home: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(home).with_context(|| format!("could not list {}", home.display()))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_text = [".rs", ".toml", ".md", ".yaml", ".json", ".txt"].iter().any(|end| name.ends_with(end));
        if entry.file_type()?.is_dir() {
            if !name.starts_with('.') && !FOREIGN.contains(&name.as_str()) {
                collect(&entry.path(), files)?;
            }
        } else if is_text {
            files.push(entry.path());
        }
    }
    Ok(())
}

fn words(path: &str, text: &str, complaints: &mut Vec<String>) {
    for (number, line) in text.lines().enumerate() {
        for word in WORDS.iter().map(|(head, tail)| format!("{head}{tail}")) {
            if line.contains(&word) {
                complaints.push(format!("{path}:{}: `{word}` has no place in the repository", number + 1));
            }
        }
    }
}

fn source(path: &str, text: &str, complaints: &mut Vec<String>) {
    let generated = text.lines().next().is_some_and(|line| line.contains(kindgen::MARK));
    let mut code = text.lines().skip_while(|line| line.starts_with("// ") || line.is_empty());
    // What `tests.rs` is about says its parent.
    if !path.ends_with("/tests.rs") && !code.next().is_some_and(|line| line.starts_with("//!")) {
        complaints
            .push(format!("{path}: begin with `//!`: what the module does, and what it leaves to others"));
    }
    let lines = text.lines().count();
    if !generated && lines > LINES_MAX {
        complaints.push(format!("{path}: {lines} lines; split it by what it is about (at most {LINES_MAX})"));
    }
    let module = path.trim_end_matches(".rs").trim_end_matches("/mod").rsplit('/').next().unwrap_or_default();
    if VAGUE_MODULES.contains(&module) {
        complaints.push(format!("{path}: name the module after what it holds"));
    }
}

fn crates(root: &Path, complaints: &mut Vec<String>) -> Result<()> {
    let home = root.join("crates");
    let mut names = Vec::new();
    for entry in fs::read_dir(&home).context("could not list crates/")? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    if names.len() > CRATES_MAX {
        complaints
            .push(format!("crates/: {} crates; more than {CRATES_MAX} need a decision record", names.len()));
    }
    let Ok(architecture) = fs::read_to_string(root.join("ARCHITECTURE.md")) else { return Ok(()) };
    for (number, line) in architecture.lines().enumerate() {
        for named in line.split("`crates/").skip(1).filter_map(|rest| rest.split(['`', '/']).next()) {
            if !names.iter().any(|name| name == named) {
                complaints.push(format!("ARCHITECTURE.md:{}: there is no crate {named}", number + 1));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_source(path: &str, text: &str) -> Vec<String> {
        let mut complaints = Vec::new();
        source(path, text, &mut complaints);
        complaints
    }

    #[test]
    fn the_repository_is_tidy() {
        let complaints = complaints(&crate::root()).expect("the repository can be read");
        assert!(complaints.is_empty(), "{complaints:#?}");
    }

    #[test]
    fn a_module_needs_docs() {
        assert_eq!(of_source("a/b.rs", "//! Docs.\n"), [""; 0]);
        assert_eq!(of_source("a/b.rs", "fn f() {}\n").len(), 1);
    }

    #[test]
    fn hand_written_files_are_short_and_generated_ones_need_not_be() {
        let long = format!("//! Docs.\n{}", "\n".repeat(LINES_MAX));
        assert_eq!(of_source("a/b.rs", &long).len(), 1);
        assert_eq!(of_source("a/b.rs", &format!("// From x {}.\n{long}", kindgen::MARK)), [""; 0]);
    }

    #[test]
    fn vague_names() {
        assert_eq!(of_source("a/util.rs", "//! Docs.\n").len(), 1);
        assert_eq!(of_source("a/util/mod.rs", "//! Docs.\n").len(), 1);
        assert_eq!(of_source("a/utility.rs", "//! Docs.\n"), [""; 0]);
    }

    #[test]
    fn forbidden_words_are_named_with_their_line() {
        let (head, tail) = WORDS[0];
        let mut complaints = Vec::new();
        words("a.md", &format!("fine\n{head}{tail}\n"), &mut complaints);
        assert_eq!(complaints.len(), 1);
        assert!(complaints[0].starts_with("a.md:2:"), "{complaints:?}");
    }
}
