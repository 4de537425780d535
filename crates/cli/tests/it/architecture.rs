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

#[test]
fn v8_names_on_the_wire_stand_in_one_module() {
    let elsewhere: Vec<String> = ["cf-api", "cli", "kinds", "operator", "plan"]
        .iter()
        .flat_map(|name| sources(&format!("crates/{name}/src")))
        .filter(|(path, _)| !path.ends_with("kinds/src/names.rs") && !path.contains("/generated/"))
        // The seed runner plays users, who spell names out.
        .filter(|(path, _)| !path.contains("/tests") && !path.contains("cli/src/simulation/"))
        .flat_map(|(path, text)| {
            // Unit tests stand at a file's end and may spell out what users write.
            let code = text.split("#[cfg(test)]").next().unwrap_or_default().to_owned();
            let hits = code.lines().filter(|line| {
                let code = line.split("//").next().unwrap_or_default();
                code.contains("kflare.dev")
            });
            hits.map(|line| format!("{path}: {}", line.trim())).collect::<Vec<_>>()
        })
        .collect();
    assert!(elsewhere.is_empty(), "move these into kinds::names: {elsewhere:#?}");
}
