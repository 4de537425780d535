//! What a write does to the owners of an object's fields, as `structured-merge-diff` has it: an update takes what it
//! changes, an apply takes what it sets, unless somebody else owns it. Leaves the form of the entries to `managers`.

use serde_json::Value;

use super::compare::{Comparison, compare};
use super::managers::{Holding, Manager, Managers, Operation};
use super::merge::merge;
use super::schema::Schema;
use super::set::{Path, Set};
use super::walk::{fields, without};

/// The manager of what was there before an object was applied for the first time.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// What a write is about, beside the objects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change<'c> {
    pub(crate) schema: Schema<'c>,
    pub(crate) manager: &'c Manager,
    pub(crate) api_version: &'c str,
    /// What this endpoint does not write, whatever the request holds.
    pub(crate) ignored: &'c Set,
    pub(crate) time: &'c Value,
    /// An object that nobody has set anything in.
    pub(crate) empty: &'c Value,
}

/// A field that somebody else owns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Conflict {
    pub(crate) manager: Manager,
    pub(crate) path: Path,
}

/// Why a configuration is not applied.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Refusal {
    Conflicts(Vec<Conflict>),
    /// The two do not fit into one object.
    Unmergeable(String),
}

/// Fields that have no owner: `stripMetaManager`.
fn unowned() -> Set {
    let metadata = |name| ["metadata", name];
    let names = ["name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation"];
    let mut paths: Vec<Vec<&str>> = vec![vec!["apiVersion"], vec!["kind"], vec!["metadata"]];
    paths.extend(
        names.iter().chain(&["managedFields", "resourceVersion"]).map(|name| metadata(name).to_vec()),
    );
    let paths: Vec<&[&str]> = paths.iter().map(Vec::as_slice).collect();
    Set::of(&paths)
}

impl Change<'_> {
    /// The owners after an object was written as a whole, or patched, from `old` to `new`.
    pub(crate) fn update(&self, old: &Value, new: &Value, mut managers: Managers) -> Managers {
        let is_new = !old["metadata"]["uid"].is_string();
        if managers.is_empty() && !is_new {
            // Somebody has reset them: nothing is tracked until the next apply.
            return managers;
        }
        self.take(old, new, &mut managers);
        managers.cap();
        managers
    }

    fn take(&self, old: &Value, new: &Value, managers: &mut Managers) {
        let found = compare(self.schema, old, new).without(self.ignored);
        // Its own entry is one of those that lose what changed: what it changed comes back with the new time.
        lose(&found, managers, None);
        let taken = found.set().without(self.ignored).difference(&unowned());
        if taken.is_empty() {
            return;
        }
        let known = managers.0.remove(self.manager);
        let fields = known.map_or_else(|| taken.clone(), |known| known.fields.union(&taken));
        managers.0.insert(self.manager.clone(), self.holding(fields));
    }

    fn holding(&self, fields: Set) -> Holding {
        Holding { fields, api_version: self.api_version.to_owned(), time: self.time.clone() }
    }

    /// The object with a configuration applied, and its owners then.
    pub(crate) fn apply(
        &self,
        live: &Value,
        applied: &Value,
        managers: &Managers,
        force: bool,
    ) -> Result<(Value, Managers), Refusal> {
        let mut managers = managers.clone();
        if managers.is_empty() {
            let first = Manager {
                name: BEFORE_FIRST_APPLY.to_owned(),
                operation: Operation::Update,
                version: self.api_version.to_owned(),
                subresource: self.manager.subresource.clone(),
            };
            Change { manager: &first, ..*self }.take(self.empty, live, &mut managers);
        }
        let merged = merge(self.schema, live, applied).map_err(Refusal::Unmergeable)?;
        let last = managers.0.get(self.manager).cloned();
        let set = fields(self.schema, applied).without(self.ignored);
        let time = last.as_ref().map_or(Value::Null, |last| last.time.clone());
        managers.0.insert(self.manager.clone(), Holding { time, ..self.holding(set) });
        let new = match &last {
            Some(last) if !last.fields.is_empty() => self.prune(&merged, &managers, &last.fields),
            _ => merged,
        };
        let found = compare(self.schema, live, &new).without(self.ignored);
        if !force {
            let conflicts = self.conflicts(&found, &managers);
            if !conflicts.is_empty() {
                return Err(Refusal::Conflicts(conflicts));
            }
        }
        lose(&found, &mut managers, Some(self.manager));
        if let Some(own) = managers.0.get_mut(self.manager) {
            own.fields = own.fields.difference(&unowned());
            if new != *live {
                own.time = self.time.clone();
            }
        }
        managers.forget_the_empty();
        Ok((new, managers))
    }

    fn conflicts(&self, found: &Comparison, managers: &Managers) -> Vec<Conflict> {
        let set = found.set();
        let others = managers.0.iter().filter(|(manager, _)| *manager != self.manager);
        let conflicts = others.flat_map(|(manager, holding)| {
            let paths = holding.fields.intersection(&set).paths().into_iter();
            paths.map(|path| Conflict { manager: manager.clone(), path }).collect::<Vec<_>>()
        });
        conflicts.collect()
    }

    /// Removes what this manager applied last time, does not apply any more, and nobody else owns.
    fn prune(&self, merged: &Value, managers: &Managers, last: &Set) -> Value {
        let schema = self.schema;
        let named = |set: &Set| set.with_named_fields(schema);
        let remove = |set: &Set| without(schema, merged, set).unwrap_or(Value::Null);
        let all = named(&fields(schema, merged));
        let pruned = remove(&named(last));
        // What anybody owns comes back, ...
        let left = named(&fields(schema, &pruned));
        let pruned = remove(&all.difference(&left.union(&named(&managers.all_fields()))));
        // ... and what was not applied last time, but went with its parent.
        let left = named(&fields(schema, &pruned));
        remove(&all.difference(&left).intersection(&named(last)))
    }
}

/// What changed is no longer owned by those who owned it, but for `but`.
fn lose(found: &Comparison, managers: &mut Managers, but: Option<&Manager>) {
    let gone = found.set().union(&found.removed);
    for (_, holding) in managers.0.iter_mut().filter(|(manager, _)| Some(*manager) != but) {
        if holding.fields.meets(&gone) {
            holding.fields = holding.fields.difference(&gone);
        }
    }
    managers.forget_the_empty();
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn apply(
        live: &Value,
        config: &Value,
        managers: &Managers,
        who: &str,
        force: bool,
    ) -> Result<(Value, Managers), Refusal> {
        let manager = Manager::new(Operation::Apply, who, "apps/v1", "");
        let change = Change {
            schema: Schema::built_in("apps", "Deployment"),
            manager: &manager,
            api_version: "apps/v1",
            ignored: &Set::of(&[&["status"]]),
            time: &json!("2026-01-01T00:00:00Z"),
            empty: &empty(),
        };
        change.apply(live, config, managers, force)
    }

    fn config(replicas: Value, containers: Value) -> Value {
        json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "web" },
            "spec": { "paused": false, "replicas": replicas, "template": { "spec": { "containers": containers } } } })
    }

    fn empty() -> Value {
        json!({ "apiVersion": "apps/v1", "kind": "Deployment" })
    }

    #[test]
    fn an_item_goes_with_the_one_who_applied_it_and_stays_where_another_has_a_field_of_it() {
        let both =
            config(json!(1), json!([{ "name": "a", "image": "a:1" }, { "name": "b", "image": "b:1" }]));
        let (live, managers) = apply(&empty(), &both, &Managers::default(), "one", false).unwrap();
        let other = config(Value::Null, json!([{ "name": "b", "stdin": true }]));
        let mut other = other;
        other["spec"].as_object_mut().unwrap().remove("replicas");
        let (live, managers) = apply(&live, &other, &managers, "two", false).unwrap();
        let less = config(json!(1), json!([{ "name": "a", "image": "a:1" }]));
        let (live, _) = apply(&live, &less, &managers, "one", false).unwrap();
        assert_eq!(
            live["spec"]["template"]["spec"]["containers"],
            json!([{ "name": "a", "image": "a:1" }, { "name": "b", "stdin": true }])
        );
    }

    #[test]
    fn what_another_owns_is_a_conflict_until_it_is_forced() {
        let one = config(json!(1), json!([]));
        let (live, managers) = apply(&empty(), &one, &Managers::default(), "one", false).unwrap();
        let two = config(json!(2), json!([]));
        let refused = apply(&live, &two, &managers, "two", false).unwrap_err();
        let Refusal::Conflicts(conflicts) = refused else { panic!("{refused:?}") };
        assert_eq!(super::super::set::print(&conflicts[0].path), ".spec.replicas");
        let (live, managers) = apply(&live, &two, &managers, "two", true).unwrap();
        assert_eq!(live["spec"]["replicas"], 2);
        let owners: Vec<&str> = managers.0.keys().map(|manager| manager.name.as_str()).collect();
        assert_eq!(owners, ["one", "two"]);
        // One applies the same as two now: both own it.
        let (_, managers) = apply(&live, &two, &managers, "one", false).unwrap();
        let replicas = Set::of(&[&["spec", "replicas"]]);
        assert!(managers.0.values().all(|holding| holding.fields.intersection(&replicas) == replicas));
    }
}
