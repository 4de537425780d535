//! A plan for people: a line for each object with a sign, below it what changes, field by field; then a summary.
//! Shows what it is given; secrets are not among it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use plan::predict::{shown, shown_value};
use plan::{Act, FieldDiff, MemberId, Request};
use serde_json::Value;

use super::finding::{Deed, Finding, Findings, Marks};
use crate::terminal::{Tone, harmless};

/// Before each line below an object's.
const INDENT: &str = "      ";

/// How much is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Style {
    pub(super) colour: bool,
    /// Requests, and objects at rest.
    pub(super) verbose: bool,
}

/// The plan as text, with what it costs.
pub(super) fn render(findings: &Findings, style: Style) -> String {
    let counts = findings.counts();
    format!(
        "{}{} would be sent to Cloudflare, and {} to Kubernetes. Finding out took {}.\n",
        changes(findings, style),
        number(counts.calls, "write"),
        number(counts.patches, "patch"),
        number(findings.reads, "read")
    )
}

/// What would be done and what is in the way.
pub(super) fn changes(findings: &Findings, style: Style) -> String {
    let mut out = String::new();
    let requests = if style.verbose { requests(&findings.acts) } else { BTreeMap::new() };
    for object in findings.objects.iter().filter(|object| style.verbose || !object.is_at_rest()) {
        object_lines(&mut out, object, style);
        for act in requests.get(&object.member).into_iter().flatten() {
            let _ = writeln!(out, "{INDENT}{}", paint(Tone::Faint, &request(act), style));
        }
    }
    if !out.is_empty() {
        out.push('\n');
    }
    for note in &findings.notes {
        let _ = writeln!(out, "Note: {}.", harmless(note));
    }
    summary(&mut out, findings, style);
    out
}

fn paint(tone: Tone, text: &str, style: Style) -> String {
    tone.paint(text, style.colour)
}

/// The sign and tone of what is done for an object; what is in its way comes first.
fn sign(object: &Finding) -> (char, Tone) {
    match object {
        _ if object.obstacle.is_some() => ('!', Tone::Unsure),
        _ if object.paused.is_some() => ('|', Tone::Faint),
        _ if object.has(|deed| matches!(deed, Deed::Delete(_))) => ('-', Tone::Bad),
        _ if object.has(|deed| matches!(deed, Deed::Create(_))) => ('+', Tone::Good),
        _ if object.has(|deed| matches!(deed, Deed::Adopt(_) | Deed::Claim(_))) => ('=', Tone::Good),
        _ if object.has(|deed| matches!(deed, Deed::Change(_) | Deed::Entry)) => ('~', Tone::Unsure),
        _ => (' ', Tone::Faint),
    }
}

fn object_lines(out: &mut String, object: &Finding, style: Style) {
    let (sign, tone) = sign(object);
    let title = harmless(&object.member.to_string()).into_owned();
    let _ = write!(out, "{} {}", paint(tone, &sign.to_string(), style), paint(Tone::Strong, &title, style));
    if let Some(place) = &object.place {
        let _ = write!(
            out,
            "  {}",
            paint(Tone::Faint, &harmless(&format!("{}:{}", place.file, place.line)), style)
        );
    }
    out.push('\n');
    for deed in &object.deeds {
        for line in lines(deed) {
            let _ = writeln!(out, "{INDENT}{line}");
        }
    }
    if let Some(obstacle) = &object.obstacle {
        let text = format!("{}: {}", harmless(&obstacle.reason), harmless(&shown(&obstacle.message)));
        let _ = writeln!(out, "{INDENT}{}", paint(tone, &text, style));
    }
    if let Some(message) = &object.paused {
        let _ = writeln!(out, "{INDENT}{}", harmless(&shown(message)));
    }
}

fn lines(deed: &Deed) -> Vec<String> {
    match deed {
        Deed::Create(body) => {
            let mut lines = vec!["create it in Cloudflare".to_owned()];
            fields(&mut lines, "", body);
            lines
        }
        Deed::Change(diffs) => diffs.iter().map(difference).collect(),
        Deed::Delete(id) => vec![format!("delete {} in Cloudflare", id_of(id))],
        Deed::Adopt(id) => vec![format!("adopt {}, which exists", id_of(id))],
        Deed::Claim(id) => vec![format!("claim {}, which is its own", id_of(id))],
        Deed::Assume(id) => {
            vec![format!("{} exists; whether it is its own, only the cluster knows", id_of(id))]
        }
        Deed::Release => vec!["let it go; what it stands for stays in Cloudflare".to_owned()],
        Deed::Entry => vec!["set its part of the shared document".to_owned()],
        Deed::Protect(secret) => vec![format!("protect Secret {} from deletion", harmless(secret))],
        Deed::Unprotect(secret) => vec![format!("let Secret {} be deleted again", harmless(secret))],
        Deed::Mark(marks) => vec![format!("{}; nothing changes in Cloudflare", harmless(&noted(marks)))],
    }
}

/// `set finalizer kflare.dev/finalizer`.
fn noted(marks: &Marks) -> String {
    let words = [("set", &marks.set), ("remove", &marks.removed)];
    let known: Vec<String> = words
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(verb, names)| format!("{verb} {}", names.join(", ")))
        .collect();
    if known.is_empty() { "mark the resource".to_owned() } else { known.join("; ") }
}

fn id_of(id: &str) -> String {
    harmless(&shown(id)).into_owned()
}

/// `ttl: 120 -> 300`.
fn difference(diff: &FieldDiff) -> String {
    format!("{}: {} -> {}", diff.field, value(&diff.from), value(&diff.to))
}

fn value(value: &Value) -> String {
    harmless(&match shown_value(value) {
        Value::Null => "(not set)".to_owned(),
        Value::String(text) if text == plan::predict::KNOWN_AFTER_APPLY => text,
        other => other.to_string(),
    })
    .into_owned()
}

/// The fields of a body, each on a line: `data.port: 5060`.
fn fields(lines: &mut Vec<String>, path: &str, body: &Value) {
    match body {
        Value::Object(members) if !members.is_empty() => {
            for (name, member) in members {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                fields(lines, &path, member);
            }
        }
        other => lines.push(format!("  {}: {}", harmless(path), value(other))),
    }
}

/// The acts that each object has a part in.
fn requests(acts: &[Act]) -> BTreeMap<&MemberId, Vec<&Act>> {
    let mut requests: BTreeMap<&MemberId, Vec<&Act>> = BTreeMap::new();
    for act in acts {
        for part in &act.parts {
            requests.entry(&part.member).or_default().push(act);
        }
    }
    requests
}

/// Method and path of what would be sent.
fn request(act: &Act) -> String {
    match &act.request {
        Request::Cloudflare { call, .. } => {
            let others = act.parts.len() - 1;
            let shared = match others {
                0 => String::new(),
                1 => " (with 1 other)".to_owned(),
                others => format!(" (with {others} others)"),
            };
            harmless(&shown(&format!("{} {}{shared}", call.method, call.uri()))).into_owned()
        }
        Request::Kubernetes(patch) => {
            let target = match patch.target {
                plan::act::Target::Kind(kind) => kind,
                plan::act::Target::Secret => "Secret",
            };
            let verbs: Vec<&str> = act.parts.iter().map(|part| part.write.verb()).collect();
            harmless(&format!("PATCH {target} {} ({})", patch.key, verbs.join(", "))).into_owned()
        }
    }
}

fn summary(out: &mut String, findings: &Findings, style: Style) {
    let counts = findings.counts();
    let mut text = if findings.acts.is_empty() && counts.held == 0 {
        "Nothing to do".to_owned()
    } else {
        let mut text = format!("Plan: {} to create, {} to change", counts.create, counts.change);
        let rest = [
            (counts.delete, "to delete", true),
            (Some(counts.adopt), "to adopt", false),
            (counts.release, "to let go", false),
            (Some(counts.mark), "to mark in Kubernetes", false),
            (Some(counts.held), "held", false),
        ];
        for (count, words, is_always_told) in rest {
            if let Some(count) = count.filter(|count| *count > 0 || is_always_told) {
                let _ = write!(text, ", {count} {words}");
            }
        }
        text
    };
    if counts.paused > 0 {
        let _ = write!(text, ", {} paused", counts.paused);
    }
    if !findings.has_cluster {
        text.push_str("; what would be removed is unknown without the cluster");
    }
    let _ = writeln!(out, "{}.", paint(Tone::Strong, &text, style));
}

fn number(count: usize, word: &str) -> String {
    let end = match (count, word.ends_with("ch")) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{count} {word}{end}")
}
