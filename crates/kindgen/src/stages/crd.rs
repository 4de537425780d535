//! CustomResourceDefinitions: YAML for people and `kubectl apply`, the same as JSON for the binary to carry.

use serde_json::{Value, json};

use super::{File, origin, schema};
use crate::project::{Kind, Project};
use crate::table::Scope;
use crate::yaml;

pub(super) fn files(project: &Project) -> Vec<File> {
    project.kinds.iter().flat_map(|kind| both(project, kind)).collect()
}

fn both(project: &Project, kind: &Kind) -> [File; 2] {
    let crd = definition(project, kind);
    let plural = &kind.table.plural;
    let yaml = format!("# {}\n{}", origin(kind), yaml::document(&crd));
    let json = yaml::json(&crd);
    [
        File { path: format!("deploy/crds/{plural}.yaml"), text: yaml },
        File { path: format!("crates/kinds/src/generated/crds/{plural}.json"), text: json },
    ]
}

fn definition(project: &Project, kind: &Kind) -> Value {
    let table = &kind.table;
    let manager = &project.manager;
    let scope = match table.scope {
        Scope::Cluster => "Cluster",
        Scope::Namespaced => "Namespaced",
    };
    let mut columns: Vec<Value> = table
        .columns
        .iter()
        .map(|column| json!({ "name": column.name, "type": "string", "jsonPath": column.path }))
        .collect();
    columns.push(json!({
        "name": "Ready", "type": "string", "jsonPath": r#".status.conditions[?(@.type=="Ready")].status"#,
    }));
    // Only in `-o wide`, with the message below: why an object is not Ready, without a describe for each.
    columns.push(json!({
        "name": "Reason", "type": "string", "priority": 1,
        "jsonPath": r#".status.conditions[?(@.type=="Ready")].reason"#,
    }));
    columns.push(json!({ "name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp" }));
    // Last, as it is long.
    columns.push(json!({
        "name": "Message", "type": "string", "priority": 1,
        "jsonPath": r#".status.conditions[?(@.type=="Ready")].message"#,
    }));
    let mut version = json!({
        "name": manager.version,
        "served": true,
        "storage": true,
        "subresources": { "status": {} },
        "additionalPrinterColumns": columns,
        "schema": { "openAPIV3Schema": schema::of(project, kind) },
    });
    if !table.selectable.fields.is_empty() {
        let paths: Vec<Value> =
            table.selectable.fields.iter().map(|path| json!({ "jsonPath": path })).collect();
        version["selectableFields"] = Value::Array(paths);
    }
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": format!("{}.{}", table.plural, manager.group),
            // JSON has no comments, so the origin stands where both forms can carry it.
            "annotations": { format!("{}/generated-from", manager.group): origin(kind) },
        },
        "spec": {
            "group": manager.group,
            "scope": scope,
            "names": {
                "kind": table.kind,
                "listKind": format!("{}List", table.kind),
                "plural": table.plural,
                "singular": table.singular,
                "shortNames": table.short_names,
                "categories": [manager.category],
            },
            "versions": [version],
        },
    })
}
