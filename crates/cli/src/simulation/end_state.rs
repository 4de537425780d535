//! What a run leaves behind, in a form in which two runs can be compared: what users see of their objects and all
//! that stands in Cloudflare, without IDs, times and versions.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::world::World;

/// Lines shown of a difference.
const SHOWN_MAX: usize = 12;

/// Fields of Cloudflare's objects that differ from run to run.
const VOLATILE: [&str; 8] = [
    "id",
    "zone_id",
    "created_on",
    "modified_on",
    "activated_on",
    "comment_modified_on",
    "tags_modified_on",
    "name_servers",
];

/// Digits of an ID of Cloudflare.
const ID_DIGITS: usize = 32;

/// What a run leaves behind, one line per object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndState {
    /// How often each line stands there: Cloudflare may hold two equal objects, and that is what we look for.
    lines: BTreeMap<String, usize>,
}

impl EndState {
    /// Reads it from a world.
    #[must_use]
    pub fn of(world: &World) -> Self {
        let mut lines = BTreeMap::new();
        let mut add = |line: String| *lines.entry(line).or_default() += 1;
        for (kind, object) in world.resources() {
            add(format!("{kind} {}", resource(&object)));
        }
        for secret in world.kubernetes.list("Secret") {
            let metadata = &secret["metadata"];
            let finalizers = sorted(&metadata["finalizers"]);
            add(format!("Secret {} {} finalizers {finalizers}", metadata["namespace"], metadata["name"]));
        }
        for namespace in world.kubernetes.list("Namespace") {
            let terminating = namespace["metadata"]["deletionTimestamp"].is_string();
            add(format!("Namespace {} terminating={terminating}", namespace["metadata"]["name"]));
        }
        for zone in world.cloudflare.zones() {
            add(format!("cloudflare zone {}", steady(zone)));
        }
        for (zone, record) in world.cloudflare.records_anywhere() {
            add(format!("cloudflare record in {zone} {}", steady(record)));
        }
        Self { lines }
    }

    /// What differs, `-` only here and `+` only there; none when nothing does.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<String> {
        let lost = |mine: &Self, theirs: &Self, sign: char| -> Vec<String> {
            let lines = mine.lines.iter();
            lines
                .filter(|(line, count)| theirs.lines.get(*line).is_none_or(|other| other < count))
                .map(|(line, count)| format!("  {sign} {count}x {line}"))
                .collect()
        };
        let mut lines = lost(self, other, '-');
        lines.extend(lost(other, self, '+'));
        let more = lines.len().saturating_sub(SHOWN_MAX);
        lines.truncate(SHOWN_MAX);
        if more > 0 {
            lines.push(format!("  and {more} more"));
        }
        if lines.is_empty() { None } else { Some(lines.join("\n")) }
    }
}

fn resource(object: &Value) -> String {
    let metadata = &object["metadata"];
    let condition = |condition: &Value| {
        let text = |field: &str| condition[field].as_str().unwrap_or_default().to_owned();
        let message = without_ids(&text("message"));
        format!("{}={} {}: {message}", text("type"), text("status"), text("reason"))
    };
    let conditions: Vec<String> =
        object["status"]["conditions"].as_array().into_iter().flatten().map(condition).collect();
    let annotations = metadata["annotations"].as_object().into_iter().flatten();
    // The creating mark may outlive a refused create when another process wrote it: it cannot know what became of
    // its predecessor's attempts (design §3), and past its time the mark proves nothing.
    let ours: BTreeMap<&String, &Value> = annotations
        .filter(|(key, _)| key.starts_with(kinds::names::GROUP) && *key != kinds::names::CREATING)
        .collect();
    let shown = json!({
        "key": format!("{}/{}", metadata["namespace"].as_str().unwrap_or_default(), metadata["name"]),
        "spec": object["spec"],
        "annotations": ours,
        "labels": metadata["labels"].as_object().map(|labels| labels.keys().cloned().collect::<Vec<_>>()),
        "finalizers": sorted(&metadata["finalizers"]),
        "terminating": metadata["deletionTimestamp"].is_string(),
        "observed": object["status"]["observedGeneration"] == metadata["generation"],
        "conditions": conditions,
    });
    shown.to_string()
}

fn sorted(list: &Value) -> Value {
    let mut items = list.as_array().cloned().unwrap_or_default();
    items.sort_by_key(ToString::to_string);
    items.into()
}

fn steady(mut object: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.retain(|name, _| !VOLATILE.contains(&name.as_str()));
    }
    object
}

/// The text with every Cloudflare ID as `<id>`.
fn without_ids(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')).count();
        if digits == ID_DIGITS {
            shown.push_str("<id>");
        } else {
            shown.push_str(&rest[..digits]);
        }
        rest = &rest[digits..];
        if let Some(letter) = rest.chars().next() {
            shown.push(letter);
            rest = &rest[letter.len_utf8()..];
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_do_not_count() {
        let id = "0123456789abcdef0123456789abcdef";
        assert_eq!(without_ids(&format!("a {id}, bad dé {id}")), "a <id>, bad dé <id>");
    }
}
