//! Who owns the fields of an object that is written: from a request and the stored object to `managedFields`. Leaves
//! what ownership is to `ownership`, and server-side apply to `applying`.

use std::borrow::Cow;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::admit::{self, Part};
use super::builtins::BuiltIn;
use super::form;
use super::ownership::schema::Schema;
use super::ownership::{Change, Manager, Managers, Operation, Set};
use super::resource::Endpoint;
use super::types;

const FIELD: &str = "managedFields";
/// The manager of what the server writes by itself.
pub(crate) const SERVER: &str = "kube-apiserver";
/// Longest name of a manager (`FieldManagerMaxLength`).
pub(crate) const MANAGER_BYTES_MAX: usize = 128;

/// What a request says of the owners.
#[derive(Clone, Debug)]
pub(crate) enum Given {
    Nothing,
    /// `[]` or `[{}]`: forget them all.
    Reset,
    Entries(Managers),
}

/// Takes `managedFields` out of an object.
pub(crate) fn take(value: &mut Value) -> Given {
    let found = value["metadata"].as_object_mut().and_then(|metadata| metadata.remove(FIELD));
    let entries = found.unwrap_or_default();
    match entries.as_array().map(Vec::as_slice) {
        None => Given::Nothing,
        Some([]) => Given::Reset,
        Some([one]) if one.as_object().is_some_and(serde_json::Map::is_empty) => Given::Reset,
        // Entries that cannot be read are as good as none.
        Some(_) => match Managers::read(&entries) {
            Some(managers) if !managers.is_empty() => Given::Entries(managers),
            _ => Given::Nothing,
        },
    }
}

/// Puts the owners into an object. Where nothing changed but times, the old ones stay, so that a write that changes
/// nothing is none.
pub(crate) fn put(value: &mut Value, managers: &Managers, old: Option<&Value>) {
    let Some(metadata) = value["metadata"].as_object_mut() else { return };
    if managers.is_empty() {
        metadata.remove(FIELD);
        return;
    }
    let entries = managers.to_value();
    let before = old.map(|old| &old["metadata"][FIELD]).filter(|before| before.is_array());
    metadata.insert(FIELD.to_owned(), entries);
    let (Some(before), Some(old)) = (before, old) else { return };
    if timeless(&value["metadata"][FIELD]) == timeless(before) {
        let entries = std::mem::replace(&mut value["metadata"][FIELD], before.clone());
        if value != old {
            value["metadata"][FIELD] = entries;
        }
    }
}

fn timeless(entries: &Value) -> Vec<Value> {
    let mut entries = entries.as_array().cloned().unwrap_or_default();
    for entry in entries.iter_mut().filter_map(Value::as_object_mut) {
        entry.remove("time");
    }
    entries
}

/// An object as people want to see it: without its owners.
pub(crate) fn without_owners(value: &Value) -> Value {
    let Some(fields) = value.as_object() else { return value.clone() };
    // They are not copied first: they may be half of the object.
    let bare = |(name, field): (&String, &Value)| match field.as_object().filter(|_| name == "metadata") {
        Some(metadata) => {
            let kept = metadata.iter().filter(|(name, _)| *name != FIELD);
            (name.clone(), kept.map(|(name, field)| (name.clone(), field.clone())).collect())
        }
        None => (name.clone(), field.clone()),
    };
    Value::Object(fields.iter().map(bare).collect())
}

/// The stored owners.
pub(crate) fn stored(value: &Value) -> Managers {
    Managers::read(&value["metadata"][FIELD]).unwrap_or_default()
}

/// The owners' view on an endpoint.
pub(crate) struct Tracker<'t> {
    endpoint: &'t Endpoint,
    part: Part,
    ignored: Set,
    time: Value,
    api_version: String,
    empty: Value,
}

impl<'t> Tracker<'t> {
    pub(crate) fn new(endpoint: &'t Endpoint, part: Part, now: Timestamp) -> Self {
        Self {
            endpoint,
            part,
            ignored: ignored(endpoint, part),
            time: admit::seconds(now),
            api_version: endpoint.api_version(),
            empty: empty(endpoint),
        }
    }

    pub(crate) fn schema(&self) -> Schema<'_> {
        match self.endpoint.served().and_then(|version| version.schema.as_ref()) {
            Some(schema) => schema.owned(),
            None => Schema::built_in(&self.endpoint.group, &self.endpoint.resource.kind),
        }
    }

    pub(crate) fn manager(&self, operation: Operation, name: &str) -> Manager {
        let subresource = match self.part {
            Part::Main => "",
            Part::Status => "status",
            Part::Scale => "scale",
        };
        Manager::new(operation, name, &self.api_version, subresource)
    }

    pub(crate) fn change<'c>(&'c self, manager: &'c Manager) -> Change<'c> {
        Change {
            schema: self.schema(),
            manager,
            api_version: &self.api_version,
            ignored: &self.ignored,
            time: &self.time,
            empty: &self.empty,
        }
    }

    /// The owners after an update or, without an old object, a create.
    pub(crate) fn after_update(&self, old: Option<&Value>, new: &Value, given: Given, who: &str) -> Managers {
        let managers = match (given, old) {
            // A subresource cannot change them.
            (_, Some(old)) if self.part != Part::Main => stored(old),
            (Given::Reset, _) => Managers::default(),
            (Given::Entries(managers), _) => managers,
            (Given::Nothing, old) => old.map(stored).unwrap_or_default(),
        };
        let manager = self.manager(Operation::Update, who);
        // Owners have no owner: those in the old object do not count.
        let before = old.map_or(Cow::Borrowed(&self.empty), |old| form::from_store(self.endpoint, old));
        self.change(&manager).update(&before, &form::from_store(self.endpoint, new), managers)
    }

    /// An object as this endpoint shows it.
    pub(crate) fn shown(&self, value: &Value) -> Value {
        form::from_store(self.endpoint, value).into_owned()
    }

    /// An object that nobody has set anything in.
    pub(crate) fn empty(&self) -> &Value {
        &self.empty
    }
}

fn empty(endpoint: &Endpoint) -> Value {
    let kind = &endpoint.resource.kind;
    let of = endpoint.resource.built_in.and_then(|_| types::of_kind(&endpoint.group, kind));
    let mut empty = of.map_or_else(|| json!({}), types::Type::empty);
    empty["apiVersion"] = json!(endpoint.api_version());
    empty["kind"] = json!(kind);
    empty
}

/// The owners after the server wrote the status of a definition, which it does by itself. Other kinds pass.
pub(crate) fn with_definition_status(
    endpoint: &Endpoint,
    old: Option<&Value>,
    new: &Value,
    owners: Managers,
    now: Timestamp,
) -> Managers {
    if endpoint.resource.built_in != Some(BuiltIn::CustomResourceDefinition) {
        return owners;
    }
    let mut before = without_owners(new);
    before["status"] = old.map_or_else(
        || {
            // Go writes these although they are empty, and the versions are there from the start.
            json!({
                "conditions": null, "acceptedNames": { "plural": "", "kind": "" },
                "storedVersions": new["status"]["storedVersions"],
            })
        },
        |old| old["status"].clone(),
    );
    let tracker = Tracker::new(endpoint, Part::Status, now);
    let manager = tracker.manager(Operation::Update, SERVER);
    tracker.change(&manager).update(&before, &without_owners(new), owners)
}

/// What a request to this endpoint does not write (`GetResetFields` of the strategies).
fn ignored(endpoint: &Endpoint, part: Part) -> Set {
    match part {
        Part::Main | Part::Scale if endpoint.has_status() => Set::of(&[&["status"]]),
        Part::Main | Part::Scale => Set::default(),
        Part::Status => match endpoint.resource.built_in {
            None => Set::of(&[&["metadata"], &["spec"]]),
            Some(BuiltIn::Deployment | BuiltIn::ReplicaSet) => Set::of(&[&["spec"], &["metadata", "labels"]]),
            Some(_) => Set::of(&[&["spec"]]),
        },
    }
}

/// The name of whoever writes: what the request says, or else what stands before the version in its user agent.
pub(crate) fn manager_name(asked: &str, user_agent: &str) -> String {
    if !asked.is_empty() {
        return asked.to_owned();
    }
    let mut name = String::new();
    let agent = user_agent.split('/').next().unwrap_or_default();
    for letter in agent.chars().filter(|letter| !letter.is_control()) {
        if name.len() + letter.len_utf8() > MANAGER_BYTES_MAX {
            break;
        }
        name.push(letter);
    }
    name
}
