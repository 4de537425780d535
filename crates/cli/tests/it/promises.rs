//! The page of promises against the tests that it cites: each exists, each promise has one, and no section is missing.
//! Whether a test holds what its row says is for reviewers.

use std::collections::BTreeSet;
use std::fs;

use crate::citations::{Known, NOT_HELD, Row, cited, root, rows};

const PAGE: &str = "docs/reference/promises.md";

/// The sections that promises are grouped by.
const SECTIONS: &[&str] = &[
    "Resource model",
    "The reconcile loop",
    "When drift is detected",
    "Pausing a resource",
    "Adoption and ownership",
    "Error handling",
    "Deletion",
    "Known limitations",
    "Decisions",
];

/// Scenarios that were written for promises.
const SCENARIOS: &str = "scenarios/lifecycle";

fn is_decision(row: &Row) -> bool {
    row.number().strip_prefix('K').is_some_and(|digits| digits.parse::<u8>().is_ok())
}

#[test]
fn every_promise_names_tests_that_exist_and_every_decision_has_its_row() {
    let known = Known::of_the_workspace();
    let promises = rows(PAGE);
    let complaints: Vec<String> = promises.iter().flat_map(|row| known.complaints(row, false)).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    let decisions: Vec<&str> = promises.iter().filter(|row| is_decision(row)).map(Row::number).collect();
    let expected: Vec<String> = (1..=22).map(|number| format!("K{number}")).collect();
    assert_eq!(decisions, expected);
}

#[test]
fn only_decisions_about_other_kinds_are_not_held() {
    let text = fs::read_to_string(root().join(PAGE)).expect(PAGE);
    let (promises, _) = text.split_once("## Decisions").expect("the table of decisions");
    assert!(!promises.contains(NOT_HELD), "what concerns other kinds stands at the end of its section");
    let sections: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert_eq!(sections, SECTIONS);
}

#[test]
fn every_scenario_that_was_written_for_a_promise_is_cited() {
    let promises = rows(PAGE);
    let named: BTreeSet<&str> = promises.iter().flat_map(|row| cited(row.held_by())).collect();
    for entry in fs::read_dir(root().join(SCENARIOS)).expect(SCENARIOS) {
        let name = entry.expect("an entry of a folder").file_name().to_string_lossy().into_owned();
        let scenario = format!("lifecycle/{name}");
        assert!(!name.ends_with(".txt") || named.contains(scenario.as_str()), "no promise cites {scenario}");
    }
}
