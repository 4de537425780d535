//! The facts of the API's own document (OpenAPI 3.0): what its schemas say in keywords, as JSON schemas, and nothing of what
//! they say in words. A keyword that is neither kept nor known to be prose ends the run, so that no fact is lost unseen.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, bail};
use serde_json::{Map, Value, json};

use super::facts::{Facts, REFERENCE};
use super::operations::{OPERATIONS, Operation};

/// Keywords that say something about a value.
const KEPT: [&str; 12] = [
    "enum",
    "format",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "pattern",
    "readOnly",
    "required",
    "writeOnly",
];
/// Keywords that hold a schema, or a list of them.
const NESTED: [&str; 5] = ["additionalProperties", "allOf", "anyOf", "items", "oneOf"];
/// What people read, and what says nothing about a value that is there.
const PROSE: [&str; 8] =
    ["default", "deprecated", "description", "discriminator", "example", "examples", "externalDocs", "title"];
/// Where the document keeps its schemas.
const COMPONENTS: &str = "#/components/schemas/";

pub(super) fn facts(file: &Path) -> anyhow::Result<Facts> {
    let text = std::fs::read(file).with_context(|| format!("could not read {}", file.display()))?;
    let document: Value = serde_json::from_slice(&text).context("the document is no JSON")?;
    if !document["openapi"].as_str().is_some_and(|version| version.starts_with("3.0")) {
        bail!("the document is no OpenAPI 3.0");
    }
    let mut schemas = BTreeMap::new();
    for (name, schema) in members(&document["components"]["schemas"])? {
        schemas.insert(name.clone(), schema);
    }
    let mut operations = BTreeMap::new();
    let mut met = BTreeMap::new();
    for operation in OPERATIONS {
        match find(&document, operation)? {
            Some(found) => {
                let facts = operation_facts(found, operation).with_context(|| operation.name.to_owned())?;
                collect(&facts, &schemas, &mut met)?;
                operations.insert(operation.name.to_owned(), facts);
            }
            None => println!("{}: not in the document", operation.name),
        }
    }
    let name = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(Facts::new(format!("OpenAPI document {name}"), operations, met))
}

/// The operation and what all operations of its path have.
struct Found<'a> {
    operation: &'a Value,
    shared: &'a Value,
}

fn find<'a>(document: &'a Value, wanted: &Operation) -> anyhow::Result<Option<Found<'a>>> {
    let (method, path) = wanted.name.split_once(' ').context("an operation is a method and a path")?;
    let fits = |template: &str| {
        let mut segments = template.split('/').zip(path.split('/'));
        template.split('/').count() == path.split('/').count()
            && segments.all(|(there, here)| there == here || (there.starts_with('{') && here == "{}"))
    };
    for (template, item) in members(&document["paths"])? {
        if fits(template) && !item[method.to_lowercase()].is_null() {
            return Ok(Some(Found { operation: &item[method.to_lowercase()], shared: &item["parameters"] }));
        }
    }
    Ok(None)
}

fn operation_facts(found: Found<'_>, operation: &Operation) -> anyhow::Result<Value> {
    let mut answers = Map::new();
    for (status, answer) in members(&found.operation["responses"])? {
        let content = &answer["content"];
        let schema = [&content["application/json"]["schema"], &content["text/plain"]["schema"]];
        if let Some(schema) = schema.into_iter().find(|schema| !schema.is_null()) {
            let status = status.to_lowercase();
            let schema = if status.starts_with('4') { refusal(schema) } else { schema };
            answers.insert(status, clean(schema)?);
        }
    }
    let mut facts = json!({ "answers": answers });
    if operation.is_asked {
        facts["request"] = request_facts(&found)?;
    }
    Ok(facts)
}

fn request_facts(found: &Found<'_>) -> anyhow::Result<Value> {
    let mut request = Map::new();
    let (mut path, mut query, mut required) = (Vec::new(), Map::new(), Vec::new());
    let parameters = [&found.operation["parameters"], found.shared];
    for parameter in parameters.into_iter().filter_map(Value::as_array).flatten() {
        let name = parameter["name"].as_str().context("a parameter without a name")?;
        let schema = clean(&parameter["schema"])?;
        match parameter["in"].as_str() {
            Some("path") => path.push(schema),
            Some("query") => {
                query.insert(name.to_owned(), schema);
                required.extend((parameter["required"] == true).then(|| name.to_owned()));
            }
            other => bail!("the parameter {name} is in {other:?}"),
        }
    }
    // Their order says nothing: documents mix it up.
    path.sort_by_key(Value::to_string);
    path.dedup();
    match path.as_slice() {
        [] => {}
        [one] => drop(request.insert("path".to_owned(), one.clone())),
        several => drop(request.insert("path".to_owned(), json!({ "anyOf": several }))),
    }
    if !query.is_empty() {
        let schema = json!({ "type": "object", "properties": query, "required": required });
        request.insert("query".to_owned(), schema);
    }
    let body = &found.operation["requestBody"];
    let schema = &body["content"]["application/json"]["schema"];
    if !schema.is_null() {
        request.insert("body".to_owned(), clean(schema)?);
        request.insert("needs_body".to_owned(), json!(body["required"] == true));
    }
    Ok(Value::Object(request))
}

/// What a refusal must be. Many are written as the answer of success and the one of failure at once, which nothing can be:
/// `success` would be true and false. The failure is meant.
fn refusal(schema: &Value) -> &Value {
    let parts = schema["allOf"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_failure =
        |part: &&Value| part["$ref"].as_str().is_some_and(|name| name.ends_with("common-failure"));
    parts.iter().find(is_failure).unwrap_or(schema)
}

/// Cleans what is referred to, and what that refers to.
fn collect(
    value: &Value,
    schemas: &BTreeMap<String, &Value>,
    met: &mut BTreeMap<String, Value>,
) -> anyhow::Result<()> {
    match value {
        Value::Object(members) => {
            let named = members.get("$ref").and_then(Value::as_str);
            if let Some(name) = named.and_then(|path| path.strip_prefix(REFERENCE))
                && !met.contains_key(name)
            {
                let schema = schemas.get(name).with_context(|| format!("there is no schema {name}"))?;
                let schema = clean(schema).with_context(|| format!("the schema {name}"))?;
                met.insert(name.to_owned(), schema.clone());
                collect(&schema, schemas, met)?;
            }
            members.values().try_for_each(|member| collect(member, schemas, met))
        }
        Value::Array(items) => items.iter().try_for_each(|item| collect(item, schemas, met)),
        _ => Ok(()),
    }
}

/// A schema without its prose, and with `null` as a type instead of OpenAPI's `nullable`.
fn clean(schema: &Value) -> anyhow::Result<Value> {
    let mut facts = Map::new();
    for (keyword, value) in members(schema)? {
        let keyword = keyword.as_str();
        if KEPT.contains(&keyword) || keyword == "type" {
            facts.insert(keyword.to_owned(), value.clone());
        } else if NESTED.contains(&keyword) {
            facts.insert(keyword.to_owned(), clean_nested(value)?);
        } else if keyword == "properties" {
            let properties = members(value)?.map(|(name, schema)| Ok((name.clone(), clean(schema)?)));
            facts.insert(
                keyword.to_owned(),
                Value::Object(properties.collect::<anyhow::Result<Map<_, _>>>()?),
            );
        } else if keyword == "$ref" {
            let name = value.as_str().and_then(|path| path.strip_prefix(COMPONENTS));
            let name = name.with_context(|| format!("{value} is no schema of the document"))?;
            facts.insert(keyword.to_owned(), json!(format!("{REFERENCE}{name}")));
        } else if keyword == "uniqueItems" {
            // Said of objects alone, where it means nothing.
            if schema["type"] != "object" {
                bail!("uniqueItems of a {}", schema["type"]);
            }
        } else if keyword != "nullable" && !keyword.starts_with("x-") && !PROSE.contains(&keyword) {
            bail!("the keyword {keyword} is new");
        }
    }
    if schema["nullable"] == true && facts.contains_key("type") {
        facts.insert("type".to_owned(), json!([facts["type"], "null"]));
        if let Some(values) = facts.get_mut("enum").and_then(Value::as_array_mut)
            && !values.contains(&Value::Null)
        {
            values.push(Value::Null);
        }
    }
    Ok(Value::Object(facts))
}

fn clean_nested(value: &Value) -> anyhow::Result<Value> {
    match value {
        Value::Array(schemas) => Ok(Value::Array(schemas.iter().map(clean).collect::<Result<_, _>>()?)),
        Value::Bool(_) => Ok(value.clone()),
        _ => clean(value),
    }
}

fn members(value: &Value) -> anyhow::Result<impl Iterator<Item = (&String, &Value)>> {
    Ok(value.as_object().with_context(|| format!("{value} is no object"))?.iter())
}
