//! One YAML document to a value, within bounds, and its errors in words for those who wrote it.
//! What the value means, and in which file it stands, is left to `manifest`.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::{Error, Options, Spanned};

use crate::terminal;

/// Values and keys of one document: 20,000 objects as `kubectl get -o yaml` prints them, in one List, with 200 each.
/// All of them must fit in memory, at about 100 bytes each.
pub(super) const NODES_MAX: usize = 4_000_000;

/// What the parser counts: a list or a mapping is one node, and an event at its begin and at its end.
const EVENTS_MAX: usize = 2 * NODES_MAX + EVENTS_AROUND;

/// Stream and document begin and end once.
const EVENTS_AROUND: usize = 4;

/// Nothing in Kubernetes is half as deep, and each level takes from the stack.
pub(super) const DEPTH_MAX: usize = 64;

/// What all aliases of a document together may repeat, in events: people write a handful, and some lines of aliases of
/// aliases keep a machine busy for seconds.
const REPEATED_MAX: usize = 100_000;

/// Characters of a key that are quoted, and of what the library says: both may quote what somebody wrote.
const KEY_CHARACTERS: usize = 80;
const SAID_CHARACTERS: usize = 500;

/// Why a document cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// The line within the document, from 1, where it is known.
    pub(super) line: Option<usize>,
    /// What is wrong and how to mend it.
    pub(super) said: String,
}

/// Reads one document.
pub(super) fn parse(text: &str) -> Result<Value, Fault> {
    serde_saphyr::from_str_with_options(text, options()).map_err(|error| {
        let error = error.without_snippet();
        let line = error.location().and_then(|location| usize::try_from(location.line()).ok());
        Fault { line, said: said(error) }
    })
}

/// The list that a document may be.
#[derive(Deserialize)]
struct List {
    items: Vec<Spanned<IgnoredAny>>,
}

/// The line of each of the `items` of a document, from 1; JSON is read, too.
pub(super) fn lines_of_items(text: &str) -> Option<Vec<usize>> {
    let list: List = serde_saphyr::from_str_with_options(text, options()).ok()?;
    let line = |item: &Spanned<IgnoredAny>| usize::try_from(item.referenced.line()).ok();
    list.items.iter().map(line).collect::<Option<Vec<_>>>().filter(|lines| lines.iter().all(|line| *line > 0))
}

fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_nodes: NODES_MAX,
            max_events: EVENTS_MAX,
            max_depth: DEPTH_MAX,
        },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: REPEATED_MAX },
    }
}

/// The library speaks to those who program with it.
fn said(error: &Error) -> String {
    match error {
        Error::WithSnippet { error, .. } | Error::AliasError { error, .. } => said(error),
        Error::Budget { breach, .. } => breached(breach),
        Error::DuplicateMappingKey { key, .. } => twice(key.as_deref()),
        Error::RecursiveReferencesRequireWeakTypes { .. } => {
            "an alias (*) stands within the value that it repeats, which has no end: write out what is meant".to_owned()
        }
        Error::UnknownAnchor { .. } => {
            "an alias (*) names an anchor (&) that is not before it: define it, or put text with a * in quotes".to_owned()
        }
        Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => TOO_MANY_ALIASES.to_owned(),
        error => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            // The library names a line of the document, the caller one of the file.
            let said = first.split(" at line ").next().unwrap_or(first);
            terminal::cut(&format!("not YAML: {said}"), SAID_CHARACTERS).into_owned()
        }
    }
}

const TOO_MANY_ALIASES: &str = "its anchors and aliases (&, *, <<) amount to more than is read: write out the values that they stand for";

fn breached(breach: &BudgetBreach) -> String {
    match breach {
        BudgetBreach::Depth { .. } => too_deep(),
        BudgetBreach::Aliases { .. }
        | BudgetBreach::Anchors { .. }
        | BudgetBreach::MergeKeys { .. }
        | BudgetBreach::AliasAnchorRatio { .. }
        | BudgetBreach::RecordedAnchorEvents { .. }
        | BudgetBreach::RecordedAnchorBytes { .. } => TOO_MANY_ALIASES.to_owned(),
        _ => too_many(),
    }
}

/// A key that stands twice.
pub(super) fn twice(key: Option<&str>) -> String {
    let key = key
        .map_or_else(|| "same key".to_owned(), |key| format!("key {:?}", terminal::cut(key, KEY_CHARACTERS)));
    format!("the {key} stands twice in one mapping: remove one of them")
}

/// More than [`DEPTH_MAX`].
pub(super) fn too_deep() -> String {
    format!("nested more than {DEPTH_MAX} levels deep, as no object is: is a bracket or an indent too many?")
}

/// More than [`NODES_MAX`].
pub(super) fn too_many() -> String {
    format!(
        "one document with more than {NODES_MAX} values, or with 64 MiB of text: split it with --- or into files"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> String {
        parse(text).unwrap_err().said
    }

    #[test]
    fn twenty_thousand_records_in_one_list_are_read() {
        let item = "- apiVersion: kflare.dev/v1alpha1\n  kind: DNSRecord\n  metadata: {name: r, namespace: app}\n  \
                    spec: {zoneRef: {name: org}, name: r, type: A, content: 192.0.2.1}\n";
        let list = format!("apiVersion: v1\nkind: List\nitems:\n{}", item.repeat(20_000));
        assert_eq!(parse(&list).unwrap()["items"].as_array().map(Vec::len), Some(20_000));
    }

    #[test]
    fn faults_name_the_problem_and_the_fix_and_no_option_of_a_library() {
        assert_eq!(
            fault("kind: x\nkind: y\n"),
            r#"the key "kind" stands twice in one mapping: remove one of them"#
        );
        assert!(fault("a: &x [*x]\n").contains("has no end: write out"), "{}", fault("a: &x [*x]\n"));
        assert!(fault("a: *x\n").contains("define it, or put text"), "{}", fault("a: *x\n"));
        let deep = format!("a: {}{}\n", "[".repeat(DEPTH_MAX + 1), "]".repeat(DEPTH_MAX + 1));
        assert!(fault(&deep).starts_with("nested more than 64 levels deep"), "{}", fault(&deep));
        let laughs = (1..12).fold("a0: &a0 [x]\n".to_owned(), |text, n| {
            let aliases = vec![format!("*a{}", n - 1); 10].join(", ");
            format!("{text}a{n}: &a{n} [{aliases}]\n")
        });
        assert!(fault(&laughs).starts_with("its anchors and aliases"), "{}", fault(&laughs));
        assert!(fault("a: [b\n").starts_with("not YAML: "), "{}", fault("a: [b\n"));
    }
}
