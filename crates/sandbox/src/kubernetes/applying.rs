//! Server-side apply: PATCH with `application/apply-patch+yaml`. Leaves ownership to `ownership`, and what follows from
//! a write to `write`.

use std::sync::Arc;

use serde_json::{Value, json};

use super::admit::Part;
use super::document::{Document, json_type};
use super::ownership::{Conflict, Managers, Operation, Refusal, Set, check, compare, fields, print};
use super::precondition::is_made_by_put;
use super::resource::Endpoint;
use super::status::{Reason, Status, StatusCause};
use super::store::{Key, Stored};
use super::tracking::{self, Tracker};
use super::write::Writer;

/// The manager of kubectl, whose applies take over what it applied on the client's side.
const KUBECTL: &str = "kubectl";
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// An apply: the configuration, and whether it takes what others own.
#[derive(Clone, Debug)]
pub(crate) struct Applied {
    pub(crate) config: Value,
    pub(crate) force: bool,
}

impl Writer<'_> {
    /// Applies a configuration; the second value is true when that made the object.
    pub(crate) fn apply(
        &mut self,
        endpoint: &Endpoint,
        key: &Key,
        part: Part,
        applied: &Applied,
    ) -> Result<(Arc<Stored>, bool), Status> {
        let config = &applied.config;
        let old = self.state.find(endpoint.resource.id, key).cloned();
        if old.is_none() && part != Part::Main && !is_made_by_put(endpoint) {
            return Err(Status::not_found(endpoint.subject(), &key.name));
        }
        check_config(endpoint, config)?;
        let tracker = Tracker::new(endpoint, part, self.now);
        let errors = check(tracker.schema(), config);
        if !errors.is_empty() {
            return Err(untyped(endpoint, config, &errors));
        }
        let Some(old) = old else {
            check_new(endpoint, key, config)?;
            let (value, managers) =
                self.merged(endpoint, &tracker, tracker.empty(), &Managers::default(), applied)?;
            let namespace = (!key.namespace.is_empty()).then_some(key.namespace.as_str());
            let stored = self.create_owned(endpoint, namespace, typed(value), Some(managers));
            return Ok((stored.map_err(|status| unconverted(endpoint, key, status))?, true));
        };
        let live = tracker.shown(&tracking::without_owners(&old.value));
        let (mut value, managers) =
            self.merged(endpoint, &tracker, &live, &tracking::stored(&old.value), applied)?;
        if value["metadata"]["resourceVersion"].is_null() {
            value["metadata"]["resourceVersion"] = old.value["metadata"]["resourceVersion"].clone();
        }
        let stored = self.update_from(endpoint, key, part, typed(value), &old, Some(managers));
        Ok((stored.map_err(|status| unconverted(endpoint, key, status))?, false))
    }

    fn merged(
        &self,
        endpoint: &Endpoint,
        tracker: &Tracker<'_>,
        live: &Value,
        managers: &Managers,
        applied: &Applied,
    ) -> Result<(Value, Managers), Status> {
        let who = self.options.manager.as_str();
        let manager = tracker.manager(Operation::Apply, who);
        let change = tracker.change(&manager);
        let mut outcome = change.apply(live, &applied.config, managers, applied.force);
        if who == KUBECTL
            && let Err(Refusal::Conflicts(conflicts)) = &outcome
        {
            let own = last_applied_fields(tracker, live);
            let others: Vec<Conflict> =
                conflicts.iter().filter(|conflict| !covers(&own, conflict)).cloned().collect();
            outcome = if others.is_empty() {
                change.apply(live, &applied.config, managers, true)
            } else {
                Err(Refusal::Conflicts(others))
            };
        }
        let (mut value, managers) = outcome.map_err(|refusal| refused(endpoint, &applied.config, refusal))?;
        // What kubectl applied on the client's side is kept up to date, so that it may do so again.
        if who == KUBECTL
            && value["metadata"]["annotations"][LAST_APPLIED].as_str().is_some_and(|text| !text.is_empty())
        {
            let mut config = applied.config.clone();
            if let Some(annotations) =
                config.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut)
            {
                annotations.remove(LAST_APPLIED);
            }
            value["metadata"]["annotations"][LAST_APPLIED] = json!(format!("{config}\n"));
        }
        Ok((value, managers))
    }
}

/// What Go says when the outcome is not of the kind's type after all.
fn unconverted(endpoint: &Endpoint, key: &Key, status: Status) -> Status {
    let Some((_, why)) = status.message.split_once(" cannot be handled as a ") else { return status };
    let why = why.split_once(": ").map_or(why, |(_, why)| why);
    let version = endpoint.api_version();
    let version = if endpoint.group.is_empty() { format!("/{version}") } else { version };
    let what = format!("{version}, Kind={}", endpoint.resource.kind);
    Status::unknown(format!(
        "failed to convert new object (/{}; {what}) to proper version: unable to convert unstructured object to {what}: \
         error decoding from json: {why}",
        key.name
    ))
}

/// A result of a merge: it was never a body.
fn typed(value: Value) -> Document {
    Document { is_typed: true, ..Document::from(value) }
}

/// What the annotation of a client-side apply says, as far as the object is still like that.
fn last_applied_fields(tracker: &Tracker<'_>, live: &Value) -> Set {
    let text = live["metadata"]["annotations"][LAST_APPLIED].as_str().unwrap_or_default();
    let Ok(last) = serde_json::from_str::<Value>(text) else { return Set::default() };
    if last["apiVersion"] != live["apiVersion"] || !check(tracker.schema(), &last).is_empty() {
        return Set::default();
    }
    let found = compare(tracker.schema(), &last, live);
    let other = found.set().union(&found.removed);
    fields(tracker.schema(), &last).difference(&other)
}

fn covers(set: &Set, conflict: &Conflict) -> bool {
    let mut wanted = Set::default();
    wanted.insert(&conflict.path);
    wanted.difference(set).is_empty()
}

fn check_config(endpoint: &Endpoint, config: &Value) -> Result<(), Status> {
    if !config.is_object() && !config.is_null() {
        return Err(Status::bad_request(format!(
            "error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {} into Go \
             value of type map[string]interface {{}}",
            json_type(config)
        )));
    }
    let text = |field: &str| config[field].as_str().unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if api_version != endpoint.api_version() || kind != endpoint.resource.kind {
        let given =
            if api_version.contains('/') { api_version.to_owned() } else { format!("/{api_version}") };
        return Err(Status::bad_request(format!("invalid object type: {given}, Kind={kind}")));
    }
    if !config["metadata"]["managedFields"].is_null() {
        return Err(Status::bad_request("metadata.managedFields must be nil"));
    }
    Ok(())
}

/// The server makes no object that the configuration knows by a uid.
fn check_new(endpoint: &Endpoint, key: &Key, config: &Value) -> Result<(), Status> {
    if let Some(uid) = config["metadata"]["uid"].as_str() {
        let why = format!(
            "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        );
        return Err(Status::conflict(endpoint.subject(), &key.name, &why));
    }
    let given = config["metadata"]["name"].as_str().unwrap_or_default();
    if given != key.name {
        return Err(Status::bad_request(format!(
            "the name of the object ({given}) does not match the name on the URL ({})",
            key.name
        )));
    }
    Ok(())
}

/// `default/web; apps/v1, Kind=Deployment`.
fn spoken(endpoint: &Endpoint, config: &Value) -> String {
    let text = |field: &str| config["metadata"][field].as_str().unwrap_or_default();
    let group_version = format!("{}/{}", endpoint.group, endpoint.version);
    format!("{}/{}; {group_version}, Kind={}", text("namespace"), text("name"), endpoint.resource.kind)
}

fn untyped(endpoint: &Endpoint, config: &Value, errors: &[String]) -> Status {
    let why = match errors {
        [one] => one.clone(),
        many => format!("errors:\n  {}", many.join("\n  ")),
    };
    let message = format!("failed to create typed patch object ({}): {why}", spoken(endpoint, config));
    Status::new(Reason::Unknown, message)
}

fn refused(endpoint: &Endpoint, config: &Value, refusal: Refusal) -> Status {
    let conflicts = match refusal {
        Refusal::Unmergeable(why) => {
            let message = format!("failed to merge config ({}): {why}", spoken(endpoint, config));
            return Status::new(Reason::Unknown, message);
        }
        Refusal::Conflicts(conflicts) => conflicts,
    };
    let mut lines: Vec<String> = Vec::new();
    if let [one] = conflicts.as_slice() {
        lines.push(format!("conflict with {}: {}", one.manager.spoken(), print(&one.path)));
    } else {
        let mut last = None;
        for conflict in &conflicts {
            if last != Some(&conflict.manager) {
                lines.push(format!("conflicts with {}:", conflict.manager.spoken()));
                last = Some(&conflict.manager);
            }
            lines.push(format!("- {}", print(&conflict.path)));
        }
    }
    let plural = if conflicts.len() == 1 { "" } else { "s" };
    let message = format!("Apply failed with {} conflict{plural}: {}", conflicts.len(), lines.join("\n"));
    let mut status = Status::new(Reason::Conflict, message);
    status.details.causes = conflicts
        .iter()
        .map(|conflict| StatusCause {
            reason: "FieldManagerConflict".to_owned(),
            message: format!("conflict with {}", conflict.manager.spoken()),
            field: print(&conflict.path),
        })
        .collect();
    status
}
