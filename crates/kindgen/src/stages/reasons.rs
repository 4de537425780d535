//! The reference page of reasons, grouped by how they are looked at again.

use std::fmt::Write as _;

use super::File;
use crate::MARK;
use crate::project::Project;
use crate::reasons;

const GROUPS: &[(&str, &str, &str)] = &[
    ("None", "In order", "Looked at again by drift checks and the resync only."),
    ("Wait", "Waiting", "Woken when what it waits for changes, and once a minute to be safe."),
    (
        "Look",
        "Waiting for Cloudflare",
        "Woken when another resource changes what it waits for. What somebody changes in Cloudflare is seen at the next look: \
         after a minute at first, then less and less often, every ten minutes at last.",
    ),
    (
        "Rejected",
        "Rejected",
        "Tried again when the spec, the credentials or the world change, and at the resync.",
    ),
    ("Fault", "Failing", "Tried again by itself, with growing pauses."),
];

pub(super) fn files(project: &Project) -> Vec<File> {
    let mut text = format!("<!-- Generated from {} {MARK}. -->\n\n", reasons::PATH);
    text.push_str("# Reasons\n\nEvery reason that a `Ready` condition, an Event or a metric can show.\n");
    for (retry, title, doc) in GROUPS {
        if !project.reasons.iter().any(|reason| reason.retry == *retry) {
            continue;
        }
        let _ = write!(text, "\n## {title}\n\n{doc}\n\n| Reason | Meaning |\n| --- | --- |\n");
        for reason in project.reasons.iter().filter(|reason| reason.retry == *retry) {
            let anchor = reason.name.to_lowercase();
            let _ = writeln!(text, "| <a id=\"{anchor}\"></a>`{}` | {} |", reason.name, reason.doc);
        }
    }
    vec![File { path: "docs/reference/reasons.md".to_owned(), text }]
}
