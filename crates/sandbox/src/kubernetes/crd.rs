//! CustomResourceDefinitions: what makes one acceptable, the status the server gives it, and serving what
//! it defines. Leaves schemas to `schema` and the deletion of objects to `settle`.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::admit;
use super::builtins::BuiltIn;
use super::complaint::{invalid, required};
use super::names::NameRule;
use super::resource::{Column, Endpoint, Resource, ResourceId, Version};
use super::schema::{Cause, CauseReason, CompiledSchema};
use super::status::Status;
use super::store::{Key, State};

pub(crate) const API_VERSION: &str = "apiextensions.k8s.io/v1";
pub(crate) const KIND: &str = "CustomResourceDefinition";

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(|one| one.as_str().map(str::to_owned)).collect()
}

/// Fills in the names that follow from others, as the API server does.
pub(crate) fn default(value: &mut Value) {
    let kind = text(&value["spec"]["names"], "kind").to_owned();
    let Some(spec) = value["spec"].as_object_mut() else { return };
    spec.entry("conversion").or_insert_with(|| json!({ "strategy": "None" }));
    if let Some(names) = spec.get_mut("names").and_then(Value::as_object_mut) {
        names.entry("singular").or_insert_with(|| json!(kind.to_lowercase()));
        names.entry("listKind").or_insert_with(|| json!(format!("{kind}List")));
    }
}

/// Complaints about a definition, without its schemas.
pub(crate) fn validate(value: &Value) -> Vec<Cause> {
    let spec = &value["spec"];
    let mut causes = Vec::new();
    for (field, at) in
        [("group", spec), ("scope", spec), ("plural", &spec["names"]), ("kind", &spec["names"])]
    {
        if text(at, field).is_empty() {
            let path = if matches!(field, "plural" | "kind") {
                format!("spec.names.{field}")
            } else {
                format!("spec.{field}")
            };
            causes.push(required(path, ""));
        }
    }
    let name = text(&value["metadata"], "name");
    let wanted = format!("{}.{}", text(&spec["names"], "plural"), text(spec, "group"));
    if name != wanted {
        causes.push(invalid("metadata.name", name, "must be spec.names.plural+\".\"+spec.group"));
    }
    if !matches!(text(spec, "scope"), "Namespaced" | "Cluster" | "") {
        let message = format!(
            "Unsupported value: {:?}: supported values: \"Cluster\", \"Namespaced\"",
            text(spec, "scope")
        );
        causes.push(Cause {
            reason: CauseReason::FieldValueNotSupported,
            field: "spec.scope".into(),
            message,
        });
    }
    let versions = spec["versions"].as_array().map(Vec::as_slice).unwrap_or_default();
    if versions.iter().filter(|version| version["storage"] == true).count() != 1 {
        causes.push(invalid("spec.versions", "", "must have exactly one version marked as storage version"));
    }
    for (index, version) in versions.iter().enumerate() {
        if !version["schema"]["openAPIV3Schema"].is_object() {
            causes.push(required(format!("spec.versions[{index}].schema.openAPIV3Schema"), ""));
        }
    }
    causes
}

/// What may not change about a definition: where its objects are stored, and, once it is served, what they are.
pub(crate) fn validate_update(new: &Value, old: &Value) -> Vec<Cause> {
    let is_established = old["status"]["conditions"]
        .as_array()
        .into_iter()
        .flatten()
        .any(|condition| condition["type"] == "Established" && condition["status"] == "True");
    let mut fixed = Vec::new();
    if is_established {
        fixed.extend(["/scope", "/names/kind"]);
    }
    fixed.extend(["/group", "/names/plural"]);
    let at = |of: &Value, pointer: &str| of["spec"].pointer(pointer).cloned().unwrap_or_default();
    let changed = fixed.into_iter().filter(|pointer| at(new, pointer) != at(old, pointer));
    changed
        .map(|pointer| {
            let field = format!("spec{}", pointer.replace('/', "."));
            invalid(field, at(new, pointer).as_str().unwrap_or_default(), "field is immutable")
        })
        .collect()
}

/// Refuses new objects of a definition that is going.
pub(crate) fn check_accepts_new(state: &State, endpoint: &Endpoint) -> Result<(), Status> {
    if endpoint.resource.built_in.is_some() {
        return Ok(());
    }
    let Some(crds) = state.registry.for_object(API_VERSION, KIND) else { return Ok(()) };
    let key = Key::new(None, &endpoint.resource.qualified_plural());
    match state.find(crds.resource.id, &key) {
        Some(definition) if definition.is_terminating() => {
            let message = "create not allowed while custom resource definition is terminating".to_owned();
            Err(Status { message, ..Status::not_supported(endpoint.subject(), "create") })
        }
        _ => Ok(()),
    }
}

/// Compiles the schemas of a definition that is about to be stored and writes its status. Other kinds pass.
pub(crate) fn check(
    state: &State,
    endpoint: &Endpoint,
    value: &mut Value,
    now: Timestamp,
) -> Result<(), Status> {
    if endpoint.resource.built_in != Some(BuiltIn::CustomResourceDefinition) {
        return Ok(());
    }
    let name = text(&value["metadata"], "name").to_owned();
    let mut causes = Vec::new();
    for (index, version) in value["spec"]["versions"].as_array().into_iter().flatten().enumerate() {
        if let Err(wrong) = CompiledSchema::shared(&version["schema"]["openAPIV3Schema"]) {
            causes.extend(wrong.into_iter().map(|cause| Cause {
                field: format!("spec.versions[{index}].schema.{}", cause.field),
                ..cause
            }));
        }
    }
    if !causes.is_empty() {
        return Err(Status::invalid(endpoint.subject(), &name, causes));
    }
    let taken = taken_name(state, value);
    let storage = storage_version(&value["spec"]);
    let now = admit::seconds(now);
    let accepted = taken.is_none();
    let status = |good: bool| if good { "True" } else { "False" };
    let (reason, message) = match &taken {
        None => ("NoConflicts", "no conflicts found".to_owned()),
        Some(noun) => ("NamesConflict", format!("{noun:?} is already in use")),
    };
    let old = value["status"]["conditions"].clone();
    let mut conditions = json!([
        { "type": "NamesAccepted", "status": status(accepted), "reason": reason, "message": message, "lastTransitionTime": now },
        {
            "type": "Established", "status": status(accepted), "lastTransitionTime": now,
            "reason": if accepted { "InitialNamesAccepted" } else { "NotAccepted" },
            "message": if accepted { "the initial names have been accepted" } else { "not all names are accepted" },
        },
    ]);
    for condition in conditions.as_array_mut().into_iter().flatten() {
        let same =
            |other: &&Value| other["type"] == condition["type"] && other["status"] == condition["status"];
        if let Some(known) = old.as_array().into_iter().flatten().find(same) {
            *condition = known.clone();
        }
    }
    let mut stored = texts(&value["status"]["storedVersions"]);
    if !stored.contains(&storage) {
        stored.push(storage);
    }
    let names = if accepted { value["spec"]["names"].clone() } else { json!({ "plural": "", "kind": "" }) };
    value["status"] = json!({ "acceptedNames": names, "conditions": conditions, "storedVersions": stored });
    Ok(())
}

/// The kind or plural that another definition of the group already has.
fn taken_name(state: &State, value: &Value) -> Option<String> {
    let spec = &value["spec"];
    let (group, plural) = (text(spec, "group"), text(&spec["names"], "plural"));
    let kind = text(&spec["names"], "kind");
    let clash = state
        .registry
        .all()
        .find(|resource| resource.group == group && resource.plural != plural && resource.kind == kind)?;
    Some(clash.kind.clone())
}

fn storage_version(spec: &Value) -> String {
    let storage =
        spec["versions"].as_array().into_iter().flatten().find(|version| version["storage"] == true);
    storage.map(|version| text(version, "name").to_owned()).unwrap_or_default()
}

/// Serves what a stored definition defines; its schemas compiled before.
pub(crate) fn serve(state: &mut State, value: &Value) {
    let spec = &value["spec"];
    let names = &spec["names"];
    if value["status"]["acceptedNames"]["kind"] != names["kind"] {
        return;
    }
    let known = resource_of(state, value);
    let id = known.unwrap_or_else(|| state.registry.next_id());
    let versions =
        spec["versions"].as_array().into_iter().flatten().filter(|version| version["served"] == true);
    let mut versions: Vec<Version> = versions.filter_map(version).collect();
    versions.sort_by_key(|version| std::cmp::Reverse(priority(&version.name)));
    state.registry.insert(Resource {
        id,
        group: text(spec, "group").to_owned(),
        other_group: None,
        kind: text(names, "kind").to_owned(),
        list_kind: text(names, "listKind").to_owned(),
        plural: text(names, "plural").to_owned(),
        singular: text(names, "singular").to_owned(),
        short_names: texts(&names["shortNames"]),
        categories: texts(&names["categories"]),
        namespaced: text(spec, "scope") == "Namespaced",
        versions,
        storage: storage_version(spec),
        name_rule: NameRule::Subdomain,
        has_generation: true,
        built_in: None,
    });
    state.add_collection(id);
}

fn version(version: &Value) -> Option<Version> {
    let open_api = &version["schema"]["openAPIV3Schema"];
    let columns = version["additionalPrinterColumns"].as_array().into_iter().flatten().map(|column| Column {
        name: text(column, "name").to_owned(),
        kind: text(column, "type").to_owned(),
        format: text(column, "format").to_owned(),
        description: text(column, "description").to_owned(),
        priority: column["priority"].as_i64().unwrap_or_default(),
        json_path: text(column, "jsonPath").to_owned(),
    });
    let selectable = version["selectableFields"].as_array().into_iter().flatten();
    Some(Version {
        name: text(version, "name").to_owned(),
        has_status: version["subresources"]["status"].is_object(),
        schema: Some(CompiledSchema::shared(open_api).ok()?),
        open_api: open_api.clone(),
        columns: columns.collect(),
        selectable: selectable
            .map(|field| text(field, "jsonPath").trim_start_matches('.').to_owned())
            .collect(),
    })
}

/// Kubernetes' order of versions: stable before beta before alpha, higher numbers first.
fn priority(version: &str) -> (u8, u32, u32) {
    let digits = version.trim_start_matches('v');
    let split = |at: &str| {
        let (major, minor) = digits.split_once(at)?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    };
    match (split("alpha"), split("beta"), digits.parse()) {
        (Some((major, minor)), _, _) => (0, major, minor),
        (_, Some((major, minor)), _) => (1, major, minor),
        (_, _, Ok(major)) => (2, major, 0),
        _ => (0, 0, 0),
    }
}

/// The resource that a definition defines, if it is served.
pub(crate) fn resource_of(state: &State, value: &Value) -> Option<ResourceId> {
    let spec = &value["spec"];
    let (group, plural) = (text(spec, "group"), text(&spec["names"], "plural"));
    let found = state.registry.all().find(|resource| resource.group == group && resource.plural == plural);
    found.filter(|resource| resource.built_in.is_none()).map(|resource| resource.id)
}

/// Stops serving resources whose definition is gone.
pub(crate) fn withdraw_orphans(state: &mut State) {
    let Some(crds) = state.registry.for_object(API_VERSION, KIND) else { return };
    let gone: Vec<ResourceId> = state
        .registry
        .all()
        .filter(|resource| resource.built_in.is_none())
        .filter(|resource| {
            state.find(crds.resource.id, &Key::new(None, &resource.qualified_plural())).is_none()
        })
        .map(|resource| resource.id)
        .collect();
    for id in gone {
        state.registry.remove(id);
        state.remove_collection(id);
    }
}
