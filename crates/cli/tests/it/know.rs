//! The page of witnesses against what it names: each test, scenario, chore and script exists. Whether a witness shows what
//! the page says is for reviewers.

use std::fs;

use crate::citations::{Known, cited, root};

const PAGE: &str = "docs/how-we-know.md";

/// The first words behind a phrase, wherever it stands between backticks.
fn words_behind<'t>(text: &'t str, phrase: &str) -> Vec<&'t str> {
    let spans = text.split('`').skip(1).step_by(2);
    spans.filter_map(|span| span.strip_prefix(phrase)?.split(' ').next()).collect()
}

#[test]
fn every_witness_that_the_page_names_exists() {
    let text = fs::read_to_string(root().join(PAGE)).expect(PAGE);
    let known = Known::of_the_workspace();
    let missing: Vec<&str> = cited(&text).into_iter().filter(|name| !known.has(name)).collect();
    assert!(missing.is_empty(), "{PAGE} names what is not there: {missing:?}");
    let chores = fs::read_to_string(root().join("xtask/src/main.rs")).expect("the chores");
    let (_, chores) = chores.split_once("enum Chore {").expect("the list of chores");
    for name in words_behind(&text, "cargo xtask ") {
        let variant = name[..1].to_uppercase() + &name[1..];
        let is_there = chores.lines().any(|line| line.trim().starts_with(&variant));
        assert!(is_there, "{PAGE} names a chore that is not there: {name}");
    }
    for name in words_behind(&text, ".ci/") {
        assert!(root().join(".ci").join(name).exists(), "{PAGE} names a script that is not there: {name}");
    }
}
