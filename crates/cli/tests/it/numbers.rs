//! Numbers and titles that comments and tests cite, against the pages where they are explained; and that a test holds
//! each case, or its row says why not.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::citations::{Known, Row, cited, root, rows};

const PAGE: &str = "docs/reference/decisions.md";
const CASES: &str = "docs/reference/cases.md";

/// Where something may be cited.
const HOMES: &[&str] = &["crates", "deploy", "docs", "kinds", "scenarios", "xtask", ".ci"];

/// Every text of the repository that people write, with its path. The page itself and this file cite nothing.
fn texts() -> Vec<(PathBuf, String)> {
    let mut texts = Vec::new();
    let mut open: Vec<PathBuf> = HOMES.iter().map(|home| root().join(home)).collect();
    open.extend(
        ["ARCHITECTURE.md", "CONTRIBUTING.md", "clippy.toml", "deny.toml"].map(|name| root().join(name)),
    );
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).expect("a folder can be listed");
            open.extend(entries.map(|entry| entry.expect("an entry of a folder").path()));
        } else if !path.ends_with(PAGE)
            && !path.ends_with(file!())
            && path.extension().is_none_or(|end| end != "json")
        {
            // A file that is no text cites nothing.
            let text = fs::read_to_string(&path).unwrap_or_default();
            texts.push((path, text));
        }
    }
    texts
}

/// A word that is a number of ours: K13, I4, V3, B074 or b074, R11 or r11.
fn number(word: &str) -> Option<String> {
    let (letter, digits) = word.split_at_checked(1)?;
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    let is_ours = match letter {
        "K" | "I" | "V" => digits.len() <= 2,
        "B" | "b" => digits.len() == 3,
        "R" | "r" => digits.len() == 2,
        _ => false,
    };
    (is_number && is_ours).then(|| word.to_uppercase())
}

/// The first cells of a document's tables.
fn explained(document: &str) -> BTreeSet<String> {
    rows(document).iter().map(|row| row.number().to_owned()).collect()
}

#[test]
fn every_number_that_is_cited_is_explained() {
    let (page, cases, invariants) = (explained(PAGE), explained(CASES), explained("ARCHITECTURE.md"));
    let mut cited = BTreeSet::new();
    for (path, text) in texts() {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let words = |text: &str| -> Vec<String> {
            text.split(|letter: char| !letter.is_ascii_alphanumeric()).filter_map(number).collect()
        };
        cited.extend(words(&text));
        cited.extend(words(&name));
    }
    assert!(["B074", "K13", "R11", "V12"].iter().all(|number| cited.contains(*number)), "{cited:?}");
    let is_told = |number: &&String| {
        page.contains(*number)
            || cases.contains(*number)
            || number.starts_with('V') && invariants.contains(*number)
    };
    let untold: Vec<_> = cited.iter().filter(|number| !is_told(number)).collect();
    assert_eq!(untold, [""; 0], "give each a row in {PAGE} or {CASES}");
}

#[test]
fn every_title_that_is_cited_is_explained() {
    let page = explained(PAGE);
    let mut untold = Vec::new();
    for (path, text) in
        texts().into_iter().filter(|(path, _)| path.extension().is_some_and(|end| end == "rs"))
    {
        for comment in text.lines().filter_map(|line| Some(line.split_once("//")?.1)) {
            untold.extend(
                titles(comment).into_iter().filter(|title| !page.contains(title)).map(|title| {
                    format!("{}: {title}", path.strip_prefix(root()).unwrap_or(&path).display())
                }),
            );
        }
    }
    assert_eq!(untold, [""; 0], "give each a row in {PAGE}");
}

#[test]
fn every_case_is_held_by_tests_of_its_number_or_says_why_not() {
    let (known, rows) = (Known::of_the_workspace(), rows(CASES));
    let numbers: Vec<&str> = rows.iter().map(Row::number).collect();
    let distinct: BTreeSet<&str> = numbers.iter().copied().collect();
    assert_eq!(numbers.len(), distinct.len(), "a number has one row: {numbers:?}");
    assert!(numbers.len() > 50 && numbers.iter().all(|name| number(name).is_some()), "{numbers:?}");
    let complaints: Vec<String> = rows.iter().flat_map(|row| known.complaints(row, true)).collect();
    assert_eq!(complaints, [""; 0]);
}

#[test]
fn every_test_of_a_case_stands_in_its_row() {
    let rows = rows(CASES);
    let mut unnamed = Vec::new();
    for test in Known::of_the_workspace().all_tests() {
        let name = test.rsplit('/').next().unwrap_or_default();
        let Some(number) = name.split('_').next().and_then(number) else { continue };
        let row = rows.iter().find(|row| row.number() == number);
        if row.is_some_and(|row| !cited(row.held_by()).contains(&test.as_str())) {
            unnamed.push(format!("{number}: {test}"));
        }
    }
    assert_eq!(unnamed, [""; 0], "name each in its row of {CASES}");
}

/// What a comment cites: `design §3`, `design, "Absence"`, `seed: Deletion`.
fn titles(comment: &str) -> Vec<String> {
    let digits = |rest: &str| rest.chars().take_while(char::is_ascii_digit).collect::<String>();
    let sections = comment.split("design §").skip(1).map(|rest| format!("design §{}", digits(rest)));
    let quoted = comment.split("design, \"").skip(1).filter_map(|rest| rest.split('"').next());
    let seed = comment.split("seed: ").skip(1).filter(|rest| rest.starts_with(char::is_uppercase));
    let seed = seed.filter_map(|rest| rest.split([')', '.', ';', ',']).next());
    let quoted = quoted.map(|title| format!("design, \"{title}\""));
    sections.chain(quoted).chain(seed.map(|title| format!("seed: {title}"))).collect()
}

#[test]
fn numbers_and_titles_are_found_where_they_are_cited() {
    let found: Vec<_> =
        ["K13", "b074", "r11", "V3", "K8S", "R2", "B12", "i64", "K100", "B074x"].map(number).into();
    let expected = ["K13", "B074", "R11", "V3"].map(|number| Some(number.to_owned()));
    assert_eq!(found, [expected.to_vec(), vec![None; 6]].concat());
    assert_eq!(
        titles("(design §3: 1 s; design, \"Absence\") and seed: Deletion."),
        ["design §3", "design, \"Absence\"", "seed: Deletion"]
    );
}
