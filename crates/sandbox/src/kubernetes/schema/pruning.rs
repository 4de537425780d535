//! What a schema does not know about an object: which fields those are, and their removal. Metadata of the
//! root and of embedded resources is not its business.

use serde_json::Value;

use super::MAX_DEPTH;
use super::node::{Additional, Node};

/// The fields every resource has, whatever its schema says.
const META_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// One step of a path from the root of the object.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

/// The paths of the unknown fields, sorted.
pub(super) fn unknown_fields(root: &Node, object: &Value) -> Vec<String> {
    let mut fields: Vec<String> = find(root, object, Place::Root).iter().map(|steps| text(steps)).collect();
    fields.sort();
    fields
}

/// Whether a value somewhere in an object (a default, say) has fields its schema does not know.
pub(super) fn has_unknown_fields(node: &Node, value: &Value) -> bool {
    !find(node, value, Place::Below).is_empty()
}

/// Removes the unknown fields.
pub(super) fn prune(root: &Node, object: &mut Value) {
    // Only keys of objects are removed, so that no removal moves what a later path leads to.
    for steps in find(root, object, Place::Root) {
        remove(object, &steps);
    }
}

fn find(node: &Node, value: &Value, place: Place) -> Vec<Vec<Step>> {
    let mut search = Search { steps: Vec::new(), found: Vec::new() };
    search.visit(Some(node), value, place);
    search.found
}

/// Where a value stands, as far as that matters to what is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The root object keeps its metadata, like an embedded resource.
    Root,
    /// The items of a list that preserves unknown fields keep theirs.
    PreservedItem,
    Below,
}

struct Search {
    steps: Vec<Step>,
    found: Vec<Vec<Step>>,
}

impl Search {
    /// A schema of `None` means that nothing is known, so that every field is unknown.
    fn visit(&mut self, node: Option<&Node>, value: &Value, place: Place) {
        if self.steps.len() >= MAX_DEPTH {
            return;
        }
        match value {
            Value::Object(fields) => {
                let keeps_meta = place == Place::Root || node.is_some_and(|node| node.embedded_resource);
                for (name, value) in fields {
                    if keeps_meta && META_FIELDS.contains(&name.as_str()) {
                        continue;
                    }
                    self.steps.push(Step::Key(name.clone()));
                    self.visit_field(node, name, value, place);
                    self.steps.pop();
                }
            }
            Value::Array(items) => {
                for (index, value) in items.iter().enumerate() {
                    self.steps.push(Step::Index(index));
                    self.visit_item(node, value, place);
                    self.steps.pop();
                }
            }
            _ => {}
        }
    }

    fn visit_field(&mut self, node: Option<&Node>, name: &str, value: &Value, place: Place) {
        let Some(node) = node else {
            self.found.push(self.steps.clone());
            return;
        };
        if let Some(property) = node.properties.get(name) {
            return self.visit(Some(&property.node), value, Place::Below);
        }
        match &node.additional {
            Some(Additional::Schema(schema)) => self.visit(Some(schema), value, Place::Below),
            Some(Additional::Unknown | Additional::Denied) => self.visit(None, value, Place::Below),
            None if node.preserve_unknown || place == Place::PreservedItem => {}
            None => self.found.push(self.steps.clone()),
        }
    }

    fn visit_item(&mut self, node: Option<&Node>, value: &Value, place: Place) {
        let items = node.and_then(|node| node.items.as_deref());
        let preserved = place == Place::PreservedItem || node.is_some_and(|node| node.preserve_unknown);
        match (items, preserved) {
            (None, true) => {}
            (items, true) => self.visit(items, value, Place::PreservedItem),
            (items, false) => self.visit(items, value, Place::Below),
        }
    }
}

fn text(steps: &[Step]) -> String {
    let mut text = String::new();
    for step in steps {
        match step {
            Step::Key(name) => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(name);
            }
            Step::Index(index) => text.push_str(&format!("[{index}]")),
        }
    }
    text
}

fn remove(object: &mut Value, steps: &[Step]) {
    let Some((last, way)) = steps.split_last() else { return };
    let mut at = object;
    for step in way {
        let next = match step {
            Step::Key(name) => at.get_mut(name.as_str()),
            Step::Index(index) => at.get_mut(*index),
        };
        match next {
            Some(next) => at = next,
            None => return,
        }
    }
    if let (Step::Key(name), Value::Object(fields)) = (last, at) {
        fields.remove(name);
    }
}
