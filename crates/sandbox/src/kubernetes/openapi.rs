//! `/openapi/v3`: what `kubectl explain` shows of custom resources, and what tells kubectl that the server
//! validates fields by itself. Built-in kinds have paths and no fields: their schemas are not ours to write.

use bytes::Bytes;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::answer::Answer;
use super::resource::{Endpoint, Registry, api_version};
use super::status::Status;

const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const API_VERSION_TEXT: &str = "APIVersion defines the versioned schema of this representation of an object.";
const KIND_TEXT: &str = "Kind is a string value representing the REST resource this object represents.";

/// The media type of `/openapi/v2`. Clients ask for it with `@v1.0`, which Go's own parser of media types
/// refuses in an answer, so the server writes a dot.
const V2_PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
/// A document of version 2 without paths: fields 1 (swagger), 2 (info: title, version) and 8 (paths).
const V2_EMPTY: &[u8] = b"\x0a\x032.0\x12\x13\x0a\x0aKubernetes\x12\x05v1.33\x42\x00";

/// `/openapi/v2`. It is empty: kubectl reads version 3 first, and asks here about kinds that it found nowhere
/// else, where an answer that knows nothing makes it say that the kind is missing, and a 404 does not.
pub(crate) fn version_2(accept: &str) -> Answer {
    if accept.contains("protobuf") {
        return Answer { media_type: Some(V2_PROTOBUF), ..Answer::ok(Bytes::from_static(V2_EMPTY)) };
    }
    Answer::json(
        &json!({ "swagger": "2.0", "info": { "title": "Kubernetes", "version": "v1.33" }, "paths": {} }),
    )
}

/// The index of `/openapi/v3`, or the document of one group and version.
pub(crate) fn answer(registry: &Registry, words: &[&str]) -> Result<Answer, Status> {
    match words {
        [] => Ok(Answer::json(&index(registry))),
        ["api", version] => document(registry, "", version).map(|value| Answer::json(&value)),
        ["apis", group, version] => document(registry, group, version).map(|value| Answer::json(&value)),
        _ => Err(Status::no_such_resource()),
    }
}

fn root(group: &str, version: &str) -> String {
    let prefix = if group.is_empty() { "api" } else { "apis" };
    format!("{prefix}/{}", api_version(group, version))
}

fn index(registry: &Registry) -> Value {
    let mut paths = Map::new();
    for (group, versions) in registry.groups() {
        for version in versions {
            let root = root(&group, &version);
            let Ok(document) = document(registry, &group, &version) else { continue };
            // Clients keep a document for as long as its hash stays the same.
            let digest = Sha256::digest(document.to_string());
            let hash: String = digest.iter().map(|byte| format!("{byte:02X}")).collect();
            let url = format!("/openapi/v3/{root}?hash={hash}");
            paths.insert(root, json!({ "serverRelativeURL": url }));
        }
    }
    json!({ "paths": paths })
}

fn document(registry: &Registry, group: &str, version: &str) -> Result<Value, Status> {
    let endpoints = registry.in_group_version(group, version);
    if endpoints.is_empty() {
        return Err(Status::no_such_resource());
    }
    let (mut paths, mut schemas) = (Map::new(), Map::new());
    for endpoint in &endpoints {
        let name = schema_name(group, version, &endpoint.resource.kind);
        paths.extend(resource_paths(endpoint, &name));
        schemas.insert(name, schema(endpoint));
    }
    schemas.insert(OBJECT_META.to_owned(), object_meta());
    Ok(json!({
        "openapi": "3.0.0", "info": { "title": "Kubernetes", "version": "v1.33.0" },
        "paths": paths, "components": { "schemas": schemas },
    }))
}

/// `dev.kflare.v1alpha1.DNSRecord`.
fn schema_name(group: &str, version: &str, kind: &str) -> String {
    let reversed: Vec<&str> = group.split('.').rev().filter(|part| !part.is_empty()).collect();
    let prefix = if reversed.is_empty() { "core".to_owned() } else { reversed.join(".") };
    format!("{prefix}.{version}.{kind}")
}

fn kind_of(endpoint: &Endpoint) -> Value {
    json!({ "group": endpoint.group, "version": endpoint.version, "kind": endpoint.resource.kind })
}

fn schema(endpoint: &Endpoint) -> Value {
    let mut schema = endpoint.served().map(|version| version.open_api.clone()).unwrap_or_default();
    if !schema["properties"].is_object() {
        schema["properties"] = json!({});
    }
    schema["properties"]["apiVersion"] = json!({ "type": "string", "description": API_VERSION_TEXT });
    schema["properties"]["kind"] = json!({ "type": "string", "description": KIND_TEXT });
    schema["properties"]["metadata"] = json!({
        "description": "Standard object's metadata.",
        "allOf": [{ "$ref": format!("#/components/schemas/{OBJECT_META}") }],
    });
    schema["x-kubernetes-group-version-kind"] = json!([kind_of(endpoint)]);
    schema
}

fn object_meta() -> Value {
    let string = |text: &str| json!({ "type": "string", "description": text });
    let map = |text: &str| json!({ "type": "object", "description": text, "additionalProperties": { "type": "string", "default": "" } });
    json!({
        "type": "object",
        "description": "ObjectMeta is metadata that all persisted resources must have.",
        "properties": {
            "name": string("The name, unique within a namespace."),
            "generateName": string("A prefix for a name that the server completes."),
            "namespace": string("The namespace of the object."),
            "labels": map("Keys and values to select objects by."),
            "annotations": map("Keys and values that tools keep with an object."),
            "finalizers": { "type": "array", "items": { "type": "string", "default": "" },
                "description": "What has to happen before the object is removed." },
            "creationTimestamp": string("When the object was created. Set by the server."),
            "deletionTimestamp": string("When the deletion of the object was asked for. Set by the server."),
            "generation": { "type": "integer", "format": "int64",
                "description": "Counts the changes of the desired state. Set by the server." },
            "resourceVersion": string("Changes with every write. Set by the server."),
            "uid": string("Unique in time and space. Set by the server."),
        },
    })
}

/// The two paths of a resource with their operations.
fn resource_paths(endpoint: &Endpoint, schema: &str) -> Map<String, Value> {
    let resource = &endpoint.resource;
    let root = root(&endpoint.group, &endpoint.version);
    let scope = if resource.namespaced { "/namespaces/{namespace}" } else { "" };
    let collection = format!("/{root}{scope}/{}", resource.plural);
    let object = format!("{collection}/{{name}}");
    let operation = |action: &str, parameters: &[&str]| {
        let parameters: Vec<Value> = parameters
            .iter()
            .map(|name| json!({ "name": name, "in": "query", "schema": { "type": "string", "uniqueItems": true } }))
            .collect();
        let reference = json!({ "$ref": format!("#/components/schemas/{schema}") });
        json!({
            "x-kubernetes-action": action, "x-kubernetes-group-version-kind": kind_of(endpoint),
            "parameters": parameters,
            "responses": { "200": { "description": "OK", "content": { "application/json": { "schema": reference } } } },
        })
    };
    let writes = ["dryRun", "fieldManager", "fieldValidation"];
    let mut patch = operation("patch", &writes);
    // Without the strategic type kubectl merges with the schemas it has built in, which are complete.
    patch["requestBody"] = json!({ "content": {
        "application/json-patch+json": { "schema": { "type": "object" } },
        "application/merge-patch+json": { "schema": { "type": "object" } },
    }});
    let mut paths = Map::new();
    paths.insert(
        collection,
        json!({ "get": operation("list", &["limit", "watch"]), "post": operation("post", &writes) }),
    );
    paths.insert(
        object,
        json!({
            "get": operation("get", &[]), "put": operation("put", &writes), "patch": patch,
            "delete": operation("delete", &["dryRun", "propagationPolicy"]),
        }),
    );
    paths
}
