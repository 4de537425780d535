//! ARCHITECTURE.md against the code: what it names exists, and names on the wire stand in one place.
//! Whether its sentences are true is for reviewers.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every Rust file below `folder`, with its path from the root.
fn sources(folder: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![root().join(folder)];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).unwrap_or_else(|error| panic!("{}: {error}", next.display())) {
            let path = entry.expect("an entry of a folder").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let text = fs::read_to_string(&path).unwrap_or_default();
                let name = path.strip_prefix(root()).unwrap_or(&path).to_string_lossy().into_owned();
                found.push((name, text));
            }
        }
    }
    found.sort();
    found
}

/// The words in backticks of a line.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

#[test]
fn every_invariant_stands_in_the_architecture_and_the_tests_that_hold_it_exist() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let code: Vec<String> =
        sources("crates").into_iter().chain(sources("xtask")).map(|(_, text)| text).collect();
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| V")).collect();
    let numbers: Vec<&str> = rows.iter().filter_map(|row| row.split([' ', '|']).nth(2)).collect();
    let expected: Vec<String> = (1..=12).map(|number| format!("V{number}")).collect();
    assert_eq!(numbers, expected);
    for row in rows {
        let tests =
            quoted(row).filter(|word| word.contains('_') && !word.contains([':', '.', '/', '(', ' ']));
        for scenario in quoted(row).filter(|word| word.ends_with(".txt")) {
            assert!(root().join("scenarios").join(scenario).exists(), "no scenario {scenario}: {row}");
        }
        for test in tests {
            let definition = format!("fn {test}(");
            assert!(
                code.iter().any(|text| text.contains(&definition)),
                "no test or function `{test}`: {row}"
            );
        }
    }
}

#[test]
fn every_file_that_the_documents_link_to_exists() {
    for document in ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "docs/SUMMARY.md"] {
        let path = root().join(document);
        let home = path.parent().expect("a folder").to_owned();
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{document}: {error}"));
        for target in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
            let local = !target.is_empty() && !target.contains(':');
            assert!(
                !local || home.join(target).exists(),
                "{document} links to {target}, which does not exist"
            );
        }
    }
}

/// Where a file's own unit tests begin; they stand at its end. Tests in a file of their own cut nothing.
const TESTS_BEGIN: &str = "#[cfg(test)]\nmod tests {";

/// The code of a crate without comments and tests.
fn code_of(name: &str) -> Vec<(String, String)> {
    let uncommented = |line: &str| line.split("//").next().unwrap_or_default().to_owned();
    sources(&format!("crates/{name}/src"))
        .into_iter()
        .filter(|(path, _)| !path.contains("/tests"))
        .map(|(path, text)| {
            let code = text.split(TESTS_BEGIN).next().unwrap_or_default();
            (path, code.lines().map(uncommented).collect::<Vec<_>>().join("\n"))
        })
        .collect()
}

/// The lines of `code` that hold one of `words`.
fn lines_with(code: &[(String, String)], words: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in code {
        let lines = text.lines().filter(|line| words.iter().any(|word| line.contains(word.as_str())));
        found.extend(lines.map(|line| format!("{path}: {}", line.trim())));
    }
    found
}

#[test]
fn v2_send_knows_neither_reasons_nor_proofs_nor_decisions() {
    let words = ["Reason::", "Hold", "Proof", "policy", "lifecycle", "decide(", "report("].map(str::to_owned);
    let send: Vec<_> =
        code_of("operator").into_iter().filter(|(path, _)| path.ends_with("/send.rs")).collect();
    assert_eq!(send.len(), 1);
    assert_eq!(lines_with(&send, &words), [""; 0]);
}

#[test]
fn the_engine_branches_on_no_kind() {
    let tables = fs::read_dir(root().join("kinds")).expect("kinds/ can be listed");
    let names: Vec<String> = tables
        .map(|entry| fs::read_to_string(entry.expect("an entry of kinds/").path()).unwrap_or_default())
        .filter_map(|table| Some(table.lines().find_map(|line| line.strip_prefix("kind = "))?.to_owned()))
        .collect();
    assert!(names.contains(&"\"Zone\"".to_owned()), "{names:?}");
    let engine: Vec<_> = ["plan", "operator"].iter().flat_map(|name| code_of(name)).collect();
    assert_eq!(lines_with(&engine, &names), [""; 0]);
}

#[test]
fn v8_names_on_the_wire_stand_in_one_module() {
    let elsewhere: Vec<_> = ["cf-api", "cli", "kinds", "operator", "plan"]
        .iter()
        .flat_map(|name| code_of(name))
        .filter(|(path, _)| !path.ends_with("kinds/src/names.rs") && !path.contains("/generated/"))
        // The seed runner plays users, who spell names out.
        .filter(|(path, _)| !path.contains("cli/src/simulation/"))
        .collect();
    assert_eq!(lines_with(&elsewhere, &["kflare.dev".to_owned()]), [""; 0], "move these into kinds::names");
}
