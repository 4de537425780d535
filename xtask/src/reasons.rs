//! The reference page of reasons, from the closed list in `kinds::Reason`.

use std::fmt::Write as _;

use kindgen::File;
use kinds::Reason;
use kinds::reason::Retry;

/// `docs/reference/reasons.md`.
pub(crate) fn page() -> File {
    let mut text = format!("<!-- Generated from crates/kinds/src/reason.rs {}. -->\n\n", kindgen::MARK);
    text.push_str("# Reasons\n\nEvery reason that a `Ready` condition, an Event or a metric can show.\n");
    for (retry, title, doc) in GROUPS {
        let _ = write!(text, "\n## {title}\n\n{doc}\n\n| Reason | Meaning |\n| --- | --- |\n");
        for reason in Reason::ALL.iter().filter(|reason| reason.retry() == *retry) {
            let name = reason.name();
            let _ = writeln!(
                text,
                "| <a id=\"{}\"></a>`{name}` | {} |",
                name.to_lowercase(),
                reason.doc().trim()
            );
        }
    }
    File { path: "docs/reference/reasons.md".to_owned(), text }
}

const GROUPS: &[(Retry, &str, &str)] = &[
    (Retry::None, "In order", "Looked at again by drift checks and the resync only."),
    (Retry::Wait, "Waiting", "Woken when what it waits for changes, and once a minute to be safe."),
    (
        Retry::Rejected,
        "Rejected",
        "Tried again when the spec, the credentials or the world change, and at the resync.",
    ),
    (Retry::Fault, "Failing", "Tried again by itself, with growing pauses."),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_reason() {
        let page = page().text;
        for reason in Reason::ALL {
            assert!(page.contains(&format!("`{}`", reason.name())), "{reason:?}");
        }
    }
}
