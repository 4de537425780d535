//! Samples: manifests that can be applied together, in any order, once account ID and token are filled in.

use serde_json::{Map, Value, json};

use super::{File, origin};
use crate::project::{Kind, Project};
use crate::table::{Field, Scope, Secret};
use crate::yaml;

const ORDER: &[&str] = &["apiVersion", "kind", "metadata", "type", "stringData"];
/// Where the namespaced samples go: it is there in every cluster.
const NAMESPACE: &str = "default";

pub(super) fn files(project: &Project) -> Vec<File> {
    let file = |kind: &Kind| {
        let text = format!("# {}\n{}", origin(kind), documents(project, kind).join("---\n"));
        File { path: format!("deploy/samples/{}.yaml", kind.stem), text }
    };
    project.kinds.iter().map(file).collect()
}

fn documents(project: &Project, kind: &Kind) -> Vec<String> {
    let mut documents = Vec::new();
    for sample in &kind.table.samples {
        if let (true, Some(secret)) = (sample.secret, &kind.table.secret) {
            documents.extend(token(secret, &sample.spec));
        }
        let mut metadata = json!({ "name": sample.name });
        if kind.table.scope == Scope::Namespaced {
            metadata["namespace"] = json!(NAMESPACE);
        }
        let head = json!({
            "apiVersion": format!("{}/{}", project.manager.group, project.manager.version),
            "kind": kind.table.kind,
            "metadata": metadata,
        });
        documents.push(format!(
            "{}spec:\n{}",
            yaml::ordered(&head, ORDER),
            spec(&kind.table.spec, &sample.spec)
        ));
    }
    documents
}

// Fields in the order of the table, which is the order in which the reference page explains them.
fn spec(fields: &[Field], sample: &Map<String, Value>) -> String {
    let order: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    let text = yaml::ordered(&Value::Object(sample.clone()), &order);
    text.lines().map(|line| format!("  {line}\n")).collect()
}

fn token(secret: &Secret, spec: &Map<String, Value>) -> [String; 2] {
    let reference = spec.get(&secret.field).cloned().unwrap_or_default();
    let part = |name: &str| reference.get(name).cloned().unwrap_or_default();
    let key = reference.get("key").and_then(Value::as_str).unwrap_or(&secret.default_key).to_owned();
    let mut data = Map::new();
    data.insert(key, json!("replace-with-an-API-token-of-your-account"));
    let namespace =
        json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": part("namespace") } });
    let secret = json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": { "name": part("name"), "namespace": part("namespace") },
        "type": "Opaque",
        "stringData": data,
    });
    [yaml::ordered(&namespace, ORDER), yaml::ordered(&secret, ORDER)]
}

/// The last sample of a kind, for its reference page: those before it are what it needs, or variants of it.
pub(super) fn last(project: &Project, kind: &Kind) -> String {
    documents(project, kind).pop().unwrap_or_default()
}
