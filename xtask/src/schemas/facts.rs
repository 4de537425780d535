//! The facts as they are written: one operation or schema to a line, in order, so that a change of the API is a diff that
//! can be read. Schemas that no operation reaches are left out.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

/// How a schema names another: below `schemas` of the same file.
pub(super) const REFERENCE: &str = "#/schemas/";

/// What one source says.
pub(super) struct Facts {
    source: String,
    operations: BTreeMap<String, Value>,
    schemas: BTreeMap<String, Value>,
}

impl Facts {
    /// Keeps of the schemas what the operations reach.
    pub(super) fn new(
        source: String,
        operations: BTreeMap<String, Value>,
        mut schemas: BTreeMap<String, Value>,
    ) -> Self {
        let mut reached = BTreeSet::new();
        for operation in operations.values() {
            reach(operation, &schemas, &mut reached);
        }
        schemas.retain(|name, _| reached.contains(name));
        Self { source, operations, schemas }
    }

    pub(super) fn summary(&self) -> String {
        format!("{} operations, {} schemas of {}", self.operations.len(), self.schemas.len(), self.source)
    }

    pub(super) fn text(&self) -> String {
        let lines = |entries: &BTreeMap<String, Value>| {
            let line = |(name, value): (&String, &Value)| {
                format!("    {}: {}", Value::from(name.as_str()), sorted(value))
            };
            entries.iter().map(line).collect::<Vec<_>>().join(",\n")
        };
        format!(
            "{{\n  \"source\": {},\n  \"operations\": {{\n{}\n  }},\n  \"schemas\": {{\n{}\n  }}\n}}\n",
            Value::from(self.source.as_str()),
            lines(&self.operations),
            lines(&self.schemas)
        )
    }
}

/// With the names in order, whatever the order that they were read in.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members: BTreeMap<&String, &Value> = members.iter().collect();
            Value::Object(
                members.into_iter().map(|(name, value)| (name.clone(), sorted(value))).collect::<Map<_, _>>(),
            )
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

fn reach(value: &Value, schemas: &BTreeMap<String, Value>, reached: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            let named = members.get("$ref").and_then(Value::as_str);
            if let Some(name) = named.and_then(|path| path.strip_prefix(REFERENCE))
                && reached.insert(name.to_owned())
                && let Some(schema) = schemas.get(name)
            {
                reach(schema, schemas, reached);
            }
            members.values().for_each(|member| reach(member, schemas, reached));
        }
        Value::Array(items) => items.iter().for_each(|item| reach(item, schemas, reached)),
        _ => {}
    }
}
