//! What people should know of their manifests besides the plan: what was passed over, what stands twice.

use crate::commands::sandbox::manifest::{Manifest, Place};
use crate::terminal;

/// Objects of other kinds that are named; more would hide the plan.
const OTHERS_SHOWN: usize = 5;

/// How an object of another kind is named: as it is written, for whether it has a namespace is not known.
pub(super) fn other(manifest: &Manifest) -> String {
    let word = |field: &str| manifest.object[field].as_str().unwrap_or_default();
    match kinds::kind(word("kind")) {
        // What looks like one of ours must not be taken for one.
        Some(_) => format!("{} of {}", manifest.title(), terminal::escaped(word("apiVersion"))),
        None => manifest.title(),
    }
}

/// What is said of objects of other kinds.
pub(super) fn passed_over(others: &[String]) -> Option<String> {
    let shown = others.iter().take(OTHERS_SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = others.len().saturating_sub(OTHERS_SHOWN);
    match others.len() {
        0 => None,
        1 => Some(format!("1 object of another kind is passed over: {shown}")),
        count if more == 0 => Some(format!("{count} objects of other kinds are passed over: {shown}")),
        count => Some(format!("{count} objects of other kinds are passed over: {shown} and {more} more")),
    }
}

/// What is said of an object that several manifests describe.
pub(super) fn repeated(title: &str, places: &[Place]) -> Option<String> {
    let (last, others) = places.split_last().filter(|(_, others)| !others.is_empty())?;
    let others: Vec<String> = others.iter().map(Place::short).collect();
    Some(format!("{title} stands in {} and {}; the last counts", others.join(", "), last.short()))
}
