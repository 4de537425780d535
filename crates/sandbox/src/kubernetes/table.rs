//! The tables that `kubectl get` shows: for custom resources the columns of their definition, for built-in
//! kinds those of `pkg/printers/internalversion`. Leaves the cells of built-in kinds to `cells`.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::age;
use super::builtins::BuiltIn;
use super::cells;
use super::resource::{Column, Endpoint};
use super::schema;
use super::status::Status;

/// How much of each object comes with its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IncludeObject {
    None,
    Metadata,
    Object,
}

impl IncludeObject {
    /// Reads the query parameter `includeObject`.
    pub(crate) fn parse(text: &str) -> Result<Self, Status> {
        match text {
            "None" => Ok(Self::None),
            "" | "Metadata" => Ok(Self::Metadata),
            "Object" => Ok(Self::Object),
            other => Err(Status::bad_request(format!(
                "Unable to convert to Table as requested: includeObject: Invalid value: {other:?}: must be 'Metadata', \
                 'Object', 'None', or empty"
            ))),
        }
    }
}

/// A column of a built-in kind: its name, whether only `-o wide` shows it, and its cell.
pub(crate) struct BuiltInColumn {
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) wide: bool,
    pub(crate) cell: fn(&Value, Timestamp) -> Value,
}

const fn text(name: &'static str, cell: fn(&Value, Timestamp) -> Value) -> BuiltInColumn {
    BuiltInColumn { name, kind: "string", wide: false, cell }
}

const fn number(name: &'static str, cell: fn(&Value, Timestamp) -> Value) -> BuiltInColumn {
    BuiltInColumn { name, kind: "integer", wide: false, cell }
}

const fn wide(name: &'static str, cell: fn(&Value, Timestamp) -> Value) -> BuiltInColumn {
    BuiltInColumn { name, kind: "string", wide: true, cell }
}

const NAME: BuiltInColumn = text("Name", cells::name);
const AGE: BuiltInColumn = text("Age", cells::age);
const CREATED_AT: BuiltInColumn = text("Created At", cells::created_at);

const NAMESPACE: &[BuiltInColumn] = &[NAME, text("Status", cells::phase), AGE];
const SECRET: &[BuiltInColumn] = &[NAME, text("Type", cells::kind_of), text("Data", cells::data_count), AGE];
const CONFIG_MAP: &[BuiltInColumn] = &[NAME, text("Data", cells::data_count), AGE];
const SERVICE: &[BuiltInColumn] = &[
    NAME,
    text("Type", cells::service_type),
    text("Cluster-IP", cells::cluster_ip),
    text("External-IP", cells::external_ip),
    text("Port(s)", cells::service_ports),
    AGE,
    wide("Selector", cells::service_selector),
];
const SERVICE_ACCOUNT: &[BuiltInColumn] = &[NAME, AGE];
const EVENT: &[BuiltInColumn] = &[
    text("Last Seen", cells::last_seen),
    text("Type", cells::kind_of),
    text("Reason", cells::reason),
    text("Object", cells::event_object),
    wide("Subobject", cells::event_field),
    wide("Source", cells::event_source),
    text("Message", cells::message),
    wide("First Seen", cells::first_seen),
    wide("Count", cells::event_count),
    wide("Name", cells::name),
];
const LEASE: &[BuiltInColumn] = &[NAME, text("Holder", cells::holder), AGE];
const DEPLOYMENT: &[BuiltInColumn] = &[
    NAME,
    text("Ready", cells::ready),
    number("Up-to-date", cells::updated),
    number("Available", cells::available),
    AGE,
    wide("Containers", cells::containers),
    wide("Images", cells::images),
    wide("Selector", cells::deployment_selector),
];
const REPLICA_SET: &[BuiltInColumn] = &[
    NAME,
    number("Desired", cells::desired),
    number("Current", cells::current),
    number("Ready", cells::ready_count),
    AGE,
    wide("Containers", cells::containers),
    wide("Images", cells::images),
    wide("Selector", cells::deployment_selector),
];
const POD: &[BuiltInColumn] = &[
    NAME,
    text("Ready", cells::pod_ready),
    text("Status", cells::pod_status),
    text("Restarts", cells::restarts),
    AGE,
    wide("IP", cells::none),
    wide("Node", cells::none),
    wide("Nominated Node", cells::none),
    wide("Readiness Gates", cells::none),
];
const ENDPOINT_SLICE: &[BuiltInColumn] = &[
    NAME,
    text("AddressType", cells::address_type),
    text("Ports", cells::slice_ports),
    text("Endpoints", cells::slice_addresses),
    AGE,
];
const INGRESS: &[BuiltInColumn] = &[
    NAME,
    text("Class", cells::ingress_class),
    text("Hosts", cells::hosts),
    text("Address", cells::ingress_address),
    text("Ports", cells::ingress_ports),
    AGE,
];
const INGRESS_CLASS: &[BuiltInColumn] =
    &[NAME, text("Controller", cells::controller), text("Parameters", cells::parameters), AGE];
const ROLE: &[BuiltInColumn] = &[NAME, CREATED_AT];
const DEFINITION: &[BuiltInColumn] = &[
    NAME,
    text("Scope", cells::scope),
    text("Versions", cells::served_versions),
    BuiltInColumn { name: "Created At", kind: "date", wide: false, cell: cells::created_at },
    wide("Group", cells::defined_group),
    wide("Kind", cells::defined_kind),
    wide("ShortNames", cells::defined_short_names),
    BuiltInColumn { name: "Established", kind: "boolean", wide: true, cell: cells::established },
];
const BINDING: &[BuiltInColumn] = &[
    NAME,
    text("Role", cells::role),
    AGE,
    wide("Users", cells::users),
    wide("Groups", cells::groups),
    wide("ServiceAccounts", cells::service_accounts),
];

fn built_in_columns(built_in: BuiltIn) -> &'static [BuiltInColumn] {
    match built_in {
        BuiltIn::Namespace => NAMESPACE,
        BuiltIn::Secret => SECRET,
        BuiltIn::ConfigMap => CONFIG_MAP,
        BuiltIn::Service => SERVICE,
        BuiltIn::ServiceAccount => SERVICE_ACCOUNT,
        BuiltIn::Event => EVENT,
        BuiltIn::Lease => LEASE,
        BuiltIn::Deployment => DEPLOYMENT,
        BuiltIn::ReplicaSet => REPLICA_SET,
        BuiltIn::Pod => POD,
        BuiltIn::EndpointSlice => ENDPOINT_SLICE,
        BuiltIn::Ingress => INGRESS,
        BuiltIn::IngressClass => INGRESS_CLASS,
        BuiltIn::Role | BuiltIn::ClusterRole => ROLE,
        BuiltIn::CustomResourceDefinition => DEFINITION,
        BuiltIn::RoleBinding | BuiltIn::ClusterRoleBinding => BINDING,
    }
}

/// The column definitions of a kind.
pub(crate) fn columns(endpoint: &Endpoint) -> Vec<Value> {
    let define = |name: &str, kind: &str, format: &str, description: &str, priority: i64| json!({ "name": name, "type": kind, "format": format, "description": description, "priority": priority });
    if let Some(built_in) = endpoint.resource.built_in {
        let columns = built_in_columns(built_in).iter();
        return columns
            .map(|column| {
                let format = if column.name == "Name" { "name" } else { "" };
                define(column.name, column.kind, format, "", i64::from(column.wide))
            })
            .collect();
    }
    let mut columns = vec![define("Name", "string", "name", "Name must be unique within a namespace.", 0)];
    for column in custom_columns(endpoint) {
        let description = if column.description.is_empty() {
            format!("Custom resource definition column (in JSONPath format): {}", column.json_path)
        } else {
            column.description.clone()
        };
        columns.push(define(&column.name, &column.kind, &column.format, &description, column.priority));
    }
    columns
}

/// The columns of a definition; one that asks for none gets the age.
fn custom_columns(endpoint: &Endpoint) -> Vec<Column> {
    let asked = endpoint.served().map(|version| version.columns.clone()).unwrap_or_default();
    if !asked.is_empty() {
        return asked;
    }
    vec![Column {
        name: "Age".to_owned(),
        kind: "date".to_owned(),
        format: String::new(),
        description: String::new(),
        priority: 0,
        json_path: ".metadata.creationTimestamp".to_owned(),
    }]
}

/// The cells of an object in storage form.
pub(crate) fn cells(endpoint: &Endpoint, object: &Value, now: Timestamp) -> Vec<Value> {
    if let Some(built_in) = endpoint.resource.built_in {
        return built_in_columns(built_in).iter().map(|column| (column.cell)(object, now)).collect();
    }
    let mut cells = vec![cells::name(object, now)];
    for column in custom_columns(endpoint) {
        cells.push(custom_cell(&column, object, now));
    }
    cells
}

/// A value that does not fit the type of its column is left out, as the server leaves it out.
fn custom_cell(column: &Column, object: &Value, now: Timestamp) -> Value {
    let value = schema::columns::cell(&column.json_path, object);
    match (column.kind.as_str(), value) {
        (_, Value::Null) => Value::Null,
        ("string", Value::String(text)) => Value::String(text),
        ("string", other) => Value::String(other.to_string()),
        ("date", Value::String(text)) => Value::String(age::since(&text, now)),
        ("integer", Value::Number(number)) => number
            .as_i64()
            .or_else(|| number.as_f64().map(|float| float as i64))
            .map_or(Value::Null, Value::from),
        ("number", value @ Value::Number(_)) | ("boolean", value @ Value::Bool(_)) => value,
        _ => Value::Null,
    }
}
