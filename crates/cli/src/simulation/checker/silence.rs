//! A world at rest writes nothing, but about what keeps failing: which writes those are, and whose.

use std::collections::BTreeSet;

use jiff::Timestamp;
use kinds::names;
use sandbox::cloudflare::{Change, OUT_OF_BAND};
use sandbox::kubernetes::{Author, Version};
use sandbox::request_log::Line;
use serde_json::Value;

use super::super::facts::named_ids;
use super::super::object::{is_going, ready, text};
use crate::world::World;

/// A time in which nothing may be written, from its beginning.
#[derive(Debug)]
pub(in super::super) struct Silence {
    since: Timestamp,
    excused: Excused,
}

/// Objects that fail for good or are refused: it is tried from time to time whether that is still so.
#[derive(Clone, Debug, Default)]
pub(super) struct Excused {
    /// Their uids.
    pub(super) uids: BTreeSet<String>,
    /// What those name at Cloudflare whose delete is refused.
    pub(super) refused: BTreeSet<String>,
    /// One of them cannot be made, or made again, before something else is there: Cloudflare takes a DS only beside its NS.
    pub(super) awaits: bool,
}

/// What was written in that time.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// Everything in Kubernetes, older versions included.
    pub(super) versions: Vec<Version>,
    pub(super) changes: Vec<Change>,
    /// The requests to Cloudflare.
    pub(super) requests: Vec<Line>,
}

impl Silence {
    /// Begins now.
    pub(in super::super) fn begin(world: &World) -> Self {
        let mut excused = Excused::default();
        excused.add(world);
        Self { since: world.clock.now(), excused }
    }

    /// True when something may be written at all.
    pub(in super::super) fn is_excused(&self) -> bool {
        !self.excused.uids.is_empty()
    }

    /// What was written and should not have been.
    pub(in super::super) fn broken(&self, world: &World) -> Vec<String> {
        let mut excused = self.excused.clone();
        excused.add(world);
        let written = Written {
            versions: world.kubernetes.history_of(|kind| kind != "Lease"),
            changes: world.cloudflare.history(),
            requests: world.cloudflare.log().lines(),
        };
        noise(&written, self.since, &excused)
    }
}

impl Excused {
    /// Adds those of now. What fails is tried again, and a note says so before and after (contract K16).
    fn add(&mut self, world: &World) {
        for (kind, object) in world.resources() {
            let reason = ready(&object).1;
            let is_refused = is_going(&object) && ["TerminalError", "APIError"].contains(&reason);
            if is_refused || reason == "APIError" {
                self.uids.insert(text(&object, "/metadata/uid").to_owned());
            }
            self.awaits |= reason == "APIError" && text(&object, "/spec/type") == "DS";
            if is_refused {
                self.refused.extend(named_ids(kind, &object).into_iter().map(str::to_owned));
            }
        }
    }

    /// True for what says that something failed, and nothing else.
    fn allows(&self, version: &Version, before: Option<&Version>) -> bool {
        let object = &version.object;
        if version.kind == "Event" {
            return self.uids.contains(text(object, "/regarding/uid"));
        }
        let is_note = before.is_some_and(|before| without_notes(object) == without_notes(&before.object));
        self.uids.contains(text(object, "/metadata/uid")) && is_note
    }

    /// Only asking is how to know whether a delete is still refused (contract K16), or a create that awaits another object,
    /// and it changes nothing.
    fn is_refused(&self, line: &Line) -> bool {
        let last = line.path.rsplit('/').next().unwrap_or_default();
        let is_expected = match line.method.as_str() {
            "DELETE" => self.refused.contains(last),
            "POST" => self.awaits && last == "dns_records",
            _ => false,
        };
        line.status >= 400 && is_expected
    }
}

/// What was written since then beyond what is excused.
pub(super) fn noise(written: &Written, since: Timestamp, excused: &Excused) -> Vec<String> {
    let mut broken = Vec::new();
    for (at, version) in written.versions.iter().enumerate() {
        if version.at <= since || version.author == Author::Scene {
            continue;
        }
        let uid = |version: &Version| text(&version.object, "/metadata/uid").to_owned();
        let before = written.versions[..at].iter().rev().find(|before| uid(before) == uid(version));
        if !excused.allows(version, before) {
            let name = text(&version.object, "/metadata/name");
            let about = text(&version.object, "/regarding/name");
            broken.push(format!("{} {name} {about} is written at {}", version.kind, version.at));
        }
    }
    let changes = written.changes.iter().filter(|change| change.at > since && change.who != OUT_OF_BAND);
    broken.extend(changes.map(|change| format!("{} changes at Cloudflare at {}", change.id, change.at)));
    let is_write = |line: &&Line| line.at > since && !["GET", "HEAD"].contains(&line.method.as_str());
    let sent = written.requests.iter().filter(is_write).filter(|line| !excused.is_refused(line));
    broken.extend(
        sent.map(|line| format!("{} {} is sent at {}: {}", line.method, line.path, line.at, line.status)),
    );
    broken
}

/// An object without its status, the marks of what is under way, and what every write changes.
fn without_notes(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(whole) = object.as_object_mut() {
        whole.remove("status");
    }
    if let Some(metadata) = object["metadata"].as_object_mut() {
        for field in ["resourceVersion", "managedFields"] {
            metadata.remove(field);
        }
        if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
            annotations.remove(names::DELETING);
            annotations.remove(names::CREATING);
        }
        metadata.retain(|name, value| {
            name != "annotations" || value.as_object().is_some_and(|all| !all.is_empty())
        });
    }
    object
}
