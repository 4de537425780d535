//! The schema pipeline of a CustomResourceDefinition, as the API server runs it on every write: report and
//! prune unknown fields, fill in defaults, validate, run the CEL rules. Written from apiextensions-apiserver,
//! whose words it uses (v1.37). Leaves to its callers: names, metadata, subresources, `status` of requests.
//!
//! Known differences: rules have no cost budget; compile errors of rules name no line and column; what `cel`
//! 0.13 lacks (`type`, `optMap`, `sortBy`, two-variable macros) is refused at compile time, never ignored;
//! sets and keyed lists compare in any order between `self` and `oldSelf` at the same place, not elsewhere,
//! and `+` appends to them; the metadata of embedded resources is not validated.

mod cause;
pub mod columns;
mod correlation;
mod defaulting;
mod field_path;
mod format;
mod keyword;
mod node;
mod owned;
mod path;
mod pattern;
mod pruning;
mod rule;
mod structure;
#[cfg(test)]
mod tests;
mod uniqueness;
mod validation;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

pub(crate) use cause::go_json;
pub use cause::{Cause, CauseReason};
use node::Node;
pub(crate) use owned::{ListOf, Owned};
use path::Path;

/// The deepest nesting of JSON in schemas and of unknown fields. `serde_json` refuses deeper texts, so that
/// nothing deeper comes in over HTTP, and no walk here can exhaust the stack.
const MAX_DEPTH: usize = 128;

/// The first step of the paths of complaints about a schema; callers put the version in front of it.
const SCHEMA_FIELD: &str = "openAPIV3Schema";

/// The field that a subresource of its own writes.
const STATUS: &str = "status";

/// Schemas that are kept compiled: more than one product defines. Then all are forgotten, and compiled anew when asked for.
const SHARED_MAX: usize = 64;

/// Compiled schemas by their text. Patterns and rules take as long to compile as a whole small simulation takes to run,
/// and thousands of servers of one process are given the same definitions.
static SHARED: Mutex<BTreeMap<String, Arc<CompiledSchema>>> = Mutex::new(BTreeMap::new());

/// The `openAPIV3Schema` of one CRD version, checked and compiled.
#[derive(Debug)]
pub struct CompiledSchema {
    root: Node,
}

impl CompiledSchema {
    /// Checks the schema as the server does when a CRD is written, and compiles patterns and rules. Fields
    /// of the complaints start at `openAPIV3Schema`.
    pub fn compile(open_api_v3_schema: &Value) -> Result<Self, Vec<Cause>> {
        let path = Path::start(SCHEMA_FIELD);
        if is_too_deep(open_api_v3_schema) {
            let detail = format!("must not be nested deeper than {MAX_DEPTH} levels");
            return Err(vec![Cause::forbidden(path.bracketed(), &detail)]);
        }
        let mut causes = structure::check(open_api_v3_schema, &path);
        causes.extend(keyword::check(open_api_v3_schema, &path));
        refuse(&mut causes)?;
        let mut root = Node::read(open_api_v3_schema, &path, &mut causes);
        refuse(&mut causes)?;
        rule::compile(&mut root, &path, &mut causes);
        refuse(&mut causes)?;
        defaulting::check(&root, &path, &mut causes);
        refuse(&mut causes)?;
        Ok(Self { root })
    }

    /// The same, compiled once for all servers of the process.
    pub(crate) fn shared(open_api_v3_schema: &Value) -> Result<Arc<Self>, Vec<Cause>> {
        let text = open_api_v3_schema.to_string();
        let known = || SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(schema) = known().get(&text) {
            return Ok(Arc::clone(schema));
        }
        let schema = Arc::new(Self::compile(open_api_v3_schema)?);
        let mut known = known();
        if known.len() >= SHARED_MAX {
            known.clear();
        }
        known.insert(text, Arc::clone(&schema));
        Ok(schema)
    }

    /// The paths of the fields the schema does not know, sorted, such as `spec.list[0].bar`: what
    /// `fieldValidation=Strict` refuses and `Warn` warns about.
    pub fn unknown_fields(&self, object: &Value) -> Vec<String> {
        pruning::unknown_fields(&self.root, object)
    }

    /// Removes the fields the schema does not know; `apiVersion`, `kind` and `metadata` stay untouched.
    pub fn prune(&self, object: &mut Value) {
        pruning::prune(&self.root, object);
    }

    /// Removes nulls where the schema allows none, and fills in the defaults.
    pub fn default(&self, object: &mut Value) {
        defaulting::apply(&self.root, object);
    }

    /// Fills in the defaults alone.
    pub fn fill(&self, object: &mut Value) {
        defaulting::fill(&self.root, object);
    }

    /// What is wrong with a new object but for its rules.
    pub fn validate(&self, object: &Value) -> Vec<Cause> {
        let mut causes = validation::validate(&self.root, object, None, "");
        uniqueness::check(&self.root, object, &Path::ROOT, &mut causes);
        causes
    }

    /// What is wrong with an updated object but for its rules. What was wrong before and did not change is
    /// let pass, so that an object survives a stricter schema.
    pub fn validate_update(&self, object: &Value, old: &Value) -> Vec<Cause> {
        let mut causes = validation::validate(&self.root, object, Some(old), "");
        self.check_uniqueness(object, old, &mut causes);
        causes
    }

    fn check_uniqueness(&self, object: &Value, old: &Value, causes: &mut Vec<Cause>) {
        let mut before = Vec::new();
        uniqueness::check(&self.root, old, &Path::ROOT, &mut before);
        if before.is_empty() {
            uniqueness::check(&self.root, object, &Path::ROOT, causes);
        }
    }

    /// What is wrong with an updated object but for its rules, when only its status was written: nothing else is looked at,
    /// and the texts of the complaints, unlike their fields, begin at the status.
    fn validate_status(&self, object: &Value, old: &Value) -> Vec<Cause> {
        let status = self.root.properties.get(STATUS);
        let Some((property, value)) = status.zip(object.get(STATUS)) else { return Vec::new() };
        validation::validate(&property.node, value, Some(&old[STATUS]), STATUS)
    }

    /// What the rules say about an object; `old` is the stored object of an update. As on the server, rules
    /// that hold no comparison let pass what an update did not change.
    pub fn validate_cel(&self, object: &Value, old: Option<&Value>) -> Vec<Cause> {
        rule::walk::check_object(&self.root, object, old)
    }

    /// The whole verdict on a write, in the order of the server: the rules are left out, with a complaint
    /// that says so, while the object has faults that would make them fail.
    pub fn admit(&self, object: &Value, old: Option<&Value>) -> Vec<Cause> {
        self.admit_after(Vec::new(), object, old)
    }

    /// The same, when something is wrong with the object already.
    pub(crate) fn admit_after(
        &self,
        mut causes: Vec<Cause>,
        object: &Value,
        old: Option<&Value>,
    ) -> Vec<Cause> {
        causes.extend(match old {
            Some(old) => self.validate_update(object, old),
            None => self.validate(object),
        });
        self.with_rules(causes, object, old)
    }

    /// The whole verdict on a write of a status.
    pub(crate) fn admit_status(&self, mut causes: Vec<Cause>, object: &Value, old: &Value) -> Vec<Cause> {
        causes.extend(self.validate_status(object, old));
        self.check_uniqueness(object, old, &mut causes);
        self.with_rules(causes, object, Some(old))
    }

    fn with_rules(&self, mut causes: Vec<Cause>, object: &Value, old: Option<&Value>) -> Vec<Cause> {
        if !self.root.has_rules {
            return causes;
        }
        if causes.iter().any(|cause| cause.reason.blocks_rules()) {
            let detail = "some validation rules were not checked because the object was invalid; \
                          correct the existing errors to complete validation";
            causes.push(Cause::invalid(cause::NO_FIELD.to_owned(), &Value::Null, detail));
        } else {
            causes.extend(self.validate_cel(object, old));
        }
        causes
    }
}

fn refuse(causes: &mut Vec<Cause>) -> Result<(), Vec<Cause>> {
    if causes.is_empty() { Ok(()) } else { Err(std::mem::take(causes)) }
}

/// Whether a value is nested too deep, found level by level and not by recursion.
fn is_too_deep(value: &Value) -> bool {
    let mut level = vec![value];
    for _ in 0..=MAX_DEPTH {
        level = level.into_iter().flat_map(children).collect();
        if level.is_empty() {
            return false;
        }
    }
    true
}

fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(fields) => fields.values().collect(),
        _ => Vec::new(),
    }
}
