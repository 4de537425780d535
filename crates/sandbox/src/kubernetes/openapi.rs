//! `/openapi/v3`: what `kubectl explain` shows, and what tells kubectl how the server merges and that it validates
//! fields by itself. Leaves the types of built-in kinds to `openapi_types`.

use bytes::Bytes;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::answer::Answer;
use super::openapi_types;
use super::resource::{Endpoint, Registry, api_version};
use super::status::Status;
use super::types;

const OBJECT_META: &str = "meta.ObjectMeta";

/// The patches that every kind takes, and the one that built-in kinds take beside them.
const PATCHES: [&str; 3] =
    ["application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json"];
const STRATEGIC: &str = "application/strategic-merge-patch+json";

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
        let kind = &endpoint.resource.kind;
        let of = endpoint.resource.built_in.and_then(|_| types::of_kind(group, kind));
        let name = if let Some(of) = of {
            openapi_types::add(&mut schemas, of);
            schemas[&of.full_name]["x-kubernetes-group-version-kind"] = json!([kind_of(endpoint)]);
            of.full_name.clone()
        } else {
            let name = schema_name(group, version, kind);
            schemas.insert(name.clone(), schema(endpoint));
            name
        };
        paths.extend(resource_paths(endpoint, &name));
    }
    if let Some(of) = types::named(OBJECT_META) {
        openapi_types::add(&mut schemas, of);
    }
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
    // The type of an object that all kinds have in common.
    if let Some(of) = types::named("core.ConfigMap") {
        for field in of.fields.iter().filter(|field| ["apiVersion", "kind", "metadata"].contains(&field.name))
        {
            schema["properties"][field.name] = openapi_types::field(field);
        }
    }
    schema["x-kubernetes-group-version-kind"] = json!([kind_of(endpoint)]);
    schema
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
    let writes = ["dryRun", "fieldManager", "fieldValidation", "force"];
    let mut patch = operation("patch", &writes);
    let mut content = Map::new();
    for media_type in PATCHES.iter().copied().chain(resource.built_in.map(|_| STRATEGIC)) {
        content.insert(media_type.to_owned(), json!({ "schema": { "type": "object" } }));
    }
    patch["requestBody"] = json!({ "content": content });
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
