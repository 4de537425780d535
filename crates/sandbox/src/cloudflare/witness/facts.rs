//! The committed facts: what the API's document and the SDK's types say of each operation. `cargo xtask schemas` writes
//! them; a value must fit both sources, and a field is known when one of them knows it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;

use super::schema::{Id, Kind, Schemas, Written};

/// Who says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Source {
    /// The API's OpenAPI document of August 2024.
    Document,
    /// The types of the TypeScript SDK, of 2026.
    Sdk,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Document => "document",
            Self::Sdk => "sdk",
        })
    }
}

const FILES: [(Source, &str); 2] = [
    (Source::Document, include_str!("../../../schemas/document.json")),
    (Source::Sdk, include_str!("../../../schemas/sdk.json")),
];
/// The schema of what any operation may answer that refuses.
const REFUSAL: &str = "refusal";

/// Why the committed facts cannot be used: a fault of this program.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unusable {
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Pattern(#[from] Box<regex::Error>),
    #[error("{0} leads nowhere")]
    Reference(String),
}

/// The facts of all operations, compiled once for the process.
pub(super) static FACTS: LazyLock<Facts> = LazyLock::new(|| {
    Facts::read(&FILES).unwrap_or_else(|error| panic!("crates/sandbox/schemas cannot be used: {error}"))
});

/// What one source says of one operation.
#[derive(Debug)]
pub(super) struct Operation {
    /// By status or class of statuses.
    pub(super) answers: BTreeMap<String, Id>,
    pub(super) request: Option<Request>,
}

/// What a request may say.
#[derive(Debug)]
pub(super) struct Request {
    /// Each identifier in the path.
    pub(super) path: Option<Id>,
    pub(super) query: Option<Id>,
    pub(super) body: Option<Id>,
    pub(super) needs_body: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenFacts {
    #[serde(rename = "source")]
    _source: String,
    operations: BTreeMap<String, WrittenOperation>,
    schemas: BTreeMap<String, Written>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenOperation {
    answers: BTreeMap<String, Written>,
    request: Option<WrittenRequest>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRequest {
    path: Option<Written>,
    query: Option<Written>,
    body: Option<Written>,
    #[serde(default)]
    needs_body: bool,
}

/// See [`FACTS`].
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) schemas: Schemas,
    operations: BTreeMap<String, Vec<Operation>>,
    refusal: Vec<Id>,
}

impl Facts {
    pub(super) fn read(files: &[(Source, &str)]) -> Result<Self, Unusable> {
        let mut facts = Self::default();
        for (source, text) in files {
            let written: WrittenFacts = serde_json::from_str(text)?;
            for (name, schema) in written.schemas {
                let id = facts.schemas.add(*source, schema)?;
                if name == REFUSAL {
                    facts.refusal.push(id);
                }
                facts.schemas.name(*source, name, id);
            }
            for (name, operation) in written.operations {
                let operation = facts.add(*source, operation)?;
                facts.operations.entry(name).or_default().push(operation);
            }
        }
        facts.schemas.link()?;
        Ok(facts)
    }

    fn add(&mut self, source: Source, written: WrittenOperation) -> Result<Operation, Unusable> {
        let schemas = &mut self.schemas;
        let mut answers = BTreeMap::new();
        for (status, schema) in written.answers {
            answers.insert(status, schemas.add(source, schema)?);
        }
        let mut add = |part: Option<Written>| part.map(|part| schemas.add(source, part)).transpose();
        let request = match written.request {
            None => None,
            Some(request) => Some(Request {
                path: add(request.path)?,
                query: add(request.query)?,
                body: add(request.body)?,
                needs_body: request.needs_body,
            }),
        };
        Ok(Operation { answers, request })
    }

    /// What the sources say of an operation; empty when none knows it.
    pub(super) fn operation(&self, name: &str) -> Vec<&Operation> {
        self.operations.get(name).into_iter().flatten().collect()
    }

    #[cfg(test)]
    pub(super) fn operations(&self) -> BTreeMap<String, bool> {
        let is_asked = |sources: &Vec<Operation>| sources.iter().any(|source| source.request.is_some());
        self.operations.iter().map(|(name, sources)| (name.clone(), is_asked(sources))).collect()
    }

    /// What a refusal must be when nothing else is known of it.
    pub(super) fn refusal(&self) -> Vec<Id> {
        self.refusal.clone()
    }

    /// A query parameter as a value of the type that it has in these schemas.
    pub(super) fn parsed(&self, name: &str, text: &str, schemas: &[Id]) -> Value {
        let properties = self.schemas.parts(schemas).into_iter();
        let property: Vec<Id> =
            properties.filter_map(|id| self.schemas.get(id).properties.get(name).copied()).collect();
        let kinds: Vec<Kind> = self
            .schemas
            .parts(&property)
            .into_iter()
            .flat_map(|id| self.schemas.get(id).types.iter().copied())
            .collect();
        let is_text = kinds.is_empty() || kinds.contains(&Kind::String);
        let parsed = serde_json::from_str(text).ok().filter(|_| !is_text);
        parsed.unwrap_or_else(|| Value::from(text))
    }
}
