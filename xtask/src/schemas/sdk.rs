//! The facts of the TypeScript SDK: its own compiler is asked for the types that testing/clients/typescript/src/operations.ts
//! names. They are newer than the API's document, and know neither bounds nor formats.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::facts::{Facts, REFERENCE};
use super::operations::OPERATIONS;
use crate::clients::program::Program;

/// What every operation answers that refuses.
const REFUSAL: &str = "refusal";

/// What the program prints.
#[derive(Deserialize)]
struct Printed {
    source: String,
    operations: BTreeMap<String, Parts>,
    schemas: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parts {
    query: Option<Value>,
    body: Option<Value>,
    answer: Value,
}

pub(super) fn facts(root: &Path) -> anyhow::Result<Facts> {
    Program::Typescript.find_tools()?;
    Program::Typescript.install(root)?;
    let home = root.join("target/clients/typescript");
    let output = Command::new("node").arg("build/facts.js").current_dir(home).output()?;
    if !output.status.success() {
        bail!("the types could not be read: {}", String::from_utf8_lossy(&output.stderr));
    }
    let mut printed: Printed = serde_json::from_slice(&output.stdout).context("the facts are no JSON")?;
    let refusal = printed.operations.remove(REFUSAL).context("there is no type of a refusal")?;
    printed.schemas.insert(REFUSAL.to_owned(), refusal.answer);
    let mut operations = BTreeMap::new();
    for operation in OPERATIONS {
        let Some(parts) = printed.operations.remove(operation.name) else {
            println!("{}: not among the SDK's types", operation.name);
            continue;
        };
        let refusal = json!({ "$ref": format!("{REFERENCE}{REFUSAL}") });
        let mut facts = json!({ "answers": { "200": parts.answer, "4xx": refusal } });
        if operation.is_asked {
            let mut request = Map::new();
            if let Some(query) = parts.query {
                request.insert("query".to_owned(), flat(&query, &printed.schemas)?);
            }
            request.extend(parts.body.map(|body| ("body".to_owned(), body)));
            facts["request"] = Value::Object(request);
        }
        operations.insert(operation.name.to_owned(), facts);
    }
    if let Some(name) = printed.operations.keys().next() {
        bail!("operations.ts has {name}, which is no operation of xtask/src/schemas/operations.rs");
    }
    Ok(Facts::new(printed.source, operations, printed.schemas))
}

/// A query as it is sent: the SDK writes the fields of an object in it as `name.exact`.
fn flat(query: &Value, schemas: &BTreeMap<String, Value>) -> anyhow::Result<Value> {
    let mut parameters = Map::new();
    for (name, schema) in properties(query, schemas)?.context("a query is no object")? {
        match properties(schema, schemas)? {
            None => {
                parameters.insert(name.clone(), schema.clone());
            }
            Some(inner) => {
                let named = inner.iter().map(|(field, schema)| (format!("{name}.{field}"), schema.clone()));
                parameters.extend(named);
            }
        }
    }
    Ok(json!({ "type": "object", "properties": parameters }))
}

/// The fields of an object's schema, which may stand elsewhere; none of another value.
fn properties<'a>(
    schema: &'a Value,
    schemas: &'a BTreeMap<String, Value>,
) -> anyhow::Result<Option<&'a Map<String, Value>>> {
    match schema["$ref"].as_str() {
        None => Ok(schema["properties"].as_object()),
        Some(path) => {
            let named = path.strip_prefix(REFERENCE).and_then(|name| schemas.get(name));
            properties(named.with_context(|| format!("{path} leads nowhere"))?, schemas)
        }
    }
}
