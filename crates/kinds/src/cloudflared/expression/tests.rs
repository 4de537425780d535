use serde::Deserialize;

use super::ranges::{Ranges, SURROGATES};
use super::*;

/// What Go's regexp says of expressions: taken or not, and which of the paths below match (`testing/cloudflared`).
const EXPRESSIONS: &str = include_str!("../../../testdata/cloudflared/expressions.json");
/// What Go's `\p{…}` are, as sums over their ranges, and which characters are one without regard to case.
const CLASSES: &str = include_str!("../../../testdata/cloudflared/classes.json");
const FOLDS: &str = include_str!("../../../testdata/cloudflared/folds.json");

#[derive(Deserialize)]
struct Row {
    expression: String,
    taken: bool,
    matches: Vec<String>,
}

#[derive(Deserialize)]
struct ClassRow {
    name: String,
    taken: bool,
    plain: String,
    folded: String,
}

#[test]
fn go_takes_and_matches_the_same() {
    let rows: Vec<Row> = serde_json::from_str(EXPRESSIONS).unwrap();
    let paths: std::collections::BTreeSet<&String> = rows.iter().flat_map(|row| &row.matches).collect();
    assert!(rows.len() > 1_500 && paths.len() > 30);
    let mut wrong = Vec::new();
    for row in &rows {
        let expression = &row.expression;
        match PathExpression::parse(expression) {
            Ok(_) if !row.taken => wrong.push(format!("{expression:?}: taken")),
            Err(error) if row.taken => wrong.push(format!("{expression:?}: {error}")),
            Err(_) => {}
            Ok(parsed) => {
                for path in &paths {
                    if parsed.matches(&bytes(path)) != row.matches.contains(path) {
                        wrong.push(format!("{expression:?} on {path:?}: {}", !row.matches.contains(path)));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn unicode_classes_have_the_characters_that_they_have_in_go() {
    let rows: Vec<ClassRow> = serde_json::from_str(CLASSES).unwrap();
    assert!(rows.len() > 200);
    let mut wrong = Vec::new();
    for ClassRow { name, taken, plain, folded } in rows {
        for (folding, expected) in [(false, plain), (true, folded)] {
            let found = unicode::class(&name, folding).map(|class| sum(&class));
            if found != taken.then_some(expected) {
                wrong.push(format!("{name}, without regard to case {folding}: {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn characters_fold_to_those_that_they_fold_to_in_go() {
    /// Beyond every character that folds, in Go and in what is newer than Go.
    const LAST_CASED: u32 = 0x1_F000;
    let groups: Vec<Vec<u32>> = serde_json::from_str(FOLDS).unwrap();
    assert!(groups.len() > 1_000);
    let mut alone = vec![true; LAST_CASED as usize];
    for group in &groups {
        let expected = Ranges::new(group.iter().map(|rune| (*rune, *rune)));
        for rune in group {
            assert_eq!(unicode::folded(&Ranges::new([(*rune, *rune)])), expected, "{rune:X}");
            alone[*rune as usize] = false;
        }
    }
    // Whoever is alone folds to nobody. Two that fold to each other differ in some bit: of the characters with that bit
    // alone, none may bring in the other.
    for bit in 0..17 {
        for set in [0, 1] {
            let half = (0..LAST_CASED).filter(|rune| alone[*rune as usize] && rune >> bit & 1 == set);
            let half = Ranges::new(half.map(|rune| (rune, rune)));
            assert_eq!(unicode::folded(&half), half, "bit {bit}");
        }
    }
}

#[test]
fn nesting_length_and_size_end_where_they_are_said_to() {
    let nested = |levels: usize| format!("{}a{}", "(".repeat(levels), ")".repeat(levels));
    let error = |expression: &str| PathExpression::parse(expression).err();
    // As Go does.
    assert_eq!(error(&nested(999)), None);
    assert_eq!(error(&nested(1_000)), Some(ExpressionError::TooDeep));
    assert_eq!(error(&format!("{}a{}", "(?:".repeat(1_500), ")".repeat(1_500))), None);
    // Sooner than Go.
    assert_eq!(error(&"a".repeat(EXPRESSION_BYTES_MAX)), None);
    assert_eq!(error(&"a".repeat(EXPRESSION_BYTES_MAX + 1)), Some(ExpressionError::TooLong));
    assert_eq!(error(&"a{1000}".repeat(program::PROGRAM_MAX / 1_000)), None);
    assert_eq!(error(&"a{1000}".repeat(program::PROGRAM_MAX / 1_000 + 1)), Some(ExpressionError::TooLarge));
    assert_eq!(error(&r"\pL".repeat(1_000)), Some(ExpressionError::TooLarge));
}

#[test]
fn a_path_is_tried_in_time_that_grows_with_it_alone() {
    // With all ways one after the other this would not end.
    let expression = PathExpression::parse("^(a*)*(a|aa)*(a?){50}b$").unwrap();
    assert!(!expression.matches("a".repeat(5_000).as_bytes()));
}

/// FNV-1a over the ends of the ranges, as the generator has it.
fn sum(class: &Ranges) -> String {
    let ends = class.without(&Ranges::new([SURROGATES]));
    let hash = ends
        .iter()
        .flat_map(|(low, high)| [low, high])
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, end| (hash ^ u64::from(end)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}

pub(in crate::cloudflared) fn bytes(escaped: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = escaped;
    while let Some((plain, encoded)) = rest.split_once('%') {
        bytes.extend(plain.as_bytes());
        bytes.push(u8::from_str_radix(&encoded[..2], 16).unwrap());
        rest = &encoded[2..];
    }
    bytes.extend(rest.as_bytes());
    bytes
}
