//! `metadata.managedFields`: who owns which fields of an object, how it is read and how it is written. Leaves what a
//! write changes about it to `change`.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::set::Set;

/// Managers of updates that are kept one by one; the oldest of more are put together (`DefaultMaxUpdateManagers`).
const UPDATERS_MAX: usize = 10;
/// The name that those are put together under.
const ANCIENT: &str = "ancient-changes";
const FIELDS_TYPE: &str = "FieldsV1";

/// How a manager came to its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Operation {
    Apply,
    Update,
}

/// Who writes: one entry of `managedFields`. The order is the one in which conflicts are told.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Manager {
    pub(crate) name: String,
    pub(crate) operation: Operation,
    /// Empty for whoever applies: the entry is the same in every version.
    pub(crate) version: String,
    pub(crate) subresource: String,
}

impl Manager {
    pub(crate) fn new(operation: Operation, name: &str, api_version: &str, subresource: &str) -> Self {
        let version = if operation == Operation::Apply { "" } else { api_version };
        Self {
            operation,
            name: name.to_owned(),
            version: version.to_owned(),
            subresource: subresource.to_owned(),
        }
    }

    /// As a conflict names it.
    pub(crate) fn spoken(&self) -> String {
        let mut text = format!("{:?}", self.name);
        if !self.subresource.is_empty() {
            text = format!("{text} with subresource {:?}", self.subresource);
        }
        if self.operation == Operation::Update {
            text = format!("{text} using {}", self.version);
        }
        text
    }
}

/// What one manager owns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Holding {
    pub(crate) fields: Set,
    pub(crate) api_version: String,
    /// `metav1.Time`, as it is written.
    pub(crate) time: Value,
}

/// Who owns what.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Managers(pub(crate) BTreeMap<Manager, Holding>);

impl Managers {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads `managedFields`; `None` when an entry is not in order, as the server then takes none of them.
    pub(crate) fn read(entries: &Value) -> Option<Self> {
        let mut managers = BTreeMap::new();
        for entry in entries.as_array().into_iter().flatten() {
            let text = |field: &str| entry[field].as_str().unwrap_or_default();
            let operation = match text("operation") {
                "Apply" => Operation::Apply,
                "Update" => Operation::Update,
                _ => return None,
            };
            let api_version = text("apiVersion");
            if api_version.is_empty() || text("fieldsType") != FIELDS_TYPE {
                return None;
            }
            let fields = match &entry["fieldsV1"] {
                Value::Null => Set::default(),
                fields => Set::from_value(fields)?,
            };
            let manager = Manager::new(operation, text("manager"), api_version, text("subresource"));
            let holding =
                Holding { fields, api_version: api_version.to_owned(), time: entry["time"].clone() };
            managers.insert(manager, holding);
        }
        Some(Self(managers))
    }

    /// As `managedFields`, in the server's order: by operation, time and name.
    pub(crate) fn to_value(&self) -> Value {
        let mut entries: Vec<(&Manager, &Holding)> = self.0.iter().collect();
        entries.sort_by_key(|(manager, holding)| {
            let time = holding.time.as_str().unwrap_or_default();
            (manager.operation, time, &manager.name, &holding.api_version, &manager.subresource)
        });
        let entry = |(manager, holding): (&Manager, &Holding)| {
            let operation = if manager.operation == Operation::Apply { "Apply" } else { "Update" };
            let mut entry = Map::new();
            let mut set = |field: &str, value: Value| {
                if !value.is_null() && value != "" {
                    entry.insert(field.to_owned(), value);
                }
            };
            set("manager", json!(manager.name));
            set("operation", json!(operation));
            set("apiVersion", json!(holding.api_version));
            set("time", holding.time.clone());
            set("fieldsType", json!(FIELDS_TYPE));
            set("fieldsV1", holding.fields.to_value());
            set("subresource", json!(manager.subresource));
            Value::Object(entry)
        };
        Value::Array(entries.into_iter().map(entry).collect())
    }

    /// Everything that anybody owns.
    pub(crate) fn all_fields(&self) -> Set {
        self.0.values().fold(Set::default(), |all, holding| all.union(&holding.fields))
    }

    pub(crate) fn forget_the_empty(&mut self) {
        self.0.retain(|_, holding| !holding.fields.is_empty());
    }

    /// Puts the oldest updates of a version together while there are too many.
    pub(crate) fn cap(&mut self) {
        let mut updaters: Vec<Manager> =
            self.0.keys().filter(|manager| manager.operation == Operation::Update).cloned().collect();
        let mut count = updaters.len();
        if count <= UPDATERS_MAX {
            return;
        }
        updaters.sort_by_key(|manager| {
            let time =
                self.0.get(manager).and_then(|holding| holding.time.as_str()).unwrap_or_default().to_owned();
            (time, manager.clone())
        });
        let mut first_of: BTreeMap<String, Manager> = BTreeMap::new();
        for manager in updaters {
            if count <= UPDATERS_MAX {
                break;
            }
            let Some(first) = first_of.get(&manager.version) else {
                first_of.insert(manager.version.clone(), manager);
                continue;
            };
            let bucket = Manager::new(Operation::Update, ANCIENT, &manager.version, "");
            let known = self.0.remove(&bucket).or_else(|| self.0.remove(first));
            let Some(taken) = self.0.remove(&manager) else { continue };
            let fields = known.map_or_else(Set::default, |known| known.fields).union(&taken.fields);
            self.0.insert(bucket, Holding { fields, ..taken });
            count -= 1;
        }
    }
}
