//! ARCHITECTURE.md against the code: what it names exists, and names on the wire stand in one place.
//! Whether its sentences are true is for reviewers.

use std::fs;

use crate::citations::{Known, Row, cited, root, rows, sources};

#[test]
fn every_invariant_stands_in_the_architecture_and_the_tests_that_hold_it_exist() {
    let known = Known::of_the_workspace();
    let is_invariant =
        |row: &Row| row.number().strip_prefix('V').is_some_and(|digits| digits.parse::<u8>().is_ok());
    let invariants: Vec<Row> = rows("ARCHITECTURE.md").into_iter().filter(is_invariant).collect();
    let expected: Vec<String> = (1..=12).map(|number| format!("V{number}")).collect();
    assert_eq!(invariants.iter().map(Row::number).collect::<Vec<_>>(), expected);
    for row in &invariants {
        for name in cited(row.held_by()) {
            assert!(known.has(name), "no scenario, test or function `{name}`: {}", row.number());
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
