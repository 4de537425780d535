//! Where rules apply: at every node that has them, with the old value that belongs to it. The items of a
//! list have one only when the list is keyed; null has no rules.

use kube_cel::cel::Value as Bound;
use kube_cel::cel::objects::OptionalValue;
use serde_json::Value;
use std::sync::Arc;

use super::super::cause::Cause;
use super::super::correlation::{Nearest, Twins, item_with_keys_of};
use super::super::node::{Additional, Node};
use super::super::path::Path;
use super::binding::{Place, bind};
use super::function::FUNCTIONS;

/// Runs the rules of an object, with complaints about what an update left as it was let pass.
pub(in super::super) fn check_object(root: &Node, object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut walk = Walk { causes: Vec::new() };
    let nearest = old.map(|old| Nearest::Own(Twins::new(object, old)));
    walk.visit(root, &Visit { value: object, old, nearest, place: Place::Resource }, &Path::ROOT);
    walk.causes
}

/// Runs the rules of a value somewhere in an object, letting nothing pass.
pub(in super::super) fn check(
    node: &Node,
    value: &Value,
    old: Option<&Value>,
    path: &Path<'_>,
    causes: &mut Vec<Cause>,
) {
    let mut walk = Walk { causes: Vec::new() };
    walk.visit(node, &Visit { value, old, nearest: None, place: Place::of(node) }, path);
    causes.append(&mut walk.causes);
}

/// A value on the way, with what is known of its past.
struct Visit<'v> {
    value: &'v Value,
    old: Option<&'v Value>,
    /// What decides whether a complaint may pass.
    nearest: Option<Nearest<'v>>,
    place: Place,
}

struct Walk {
    causes: Vec<Cause>,
}

impl Walk {
    fn visit(&mut self, node: &Node, visit: &Visit<'_>, path: &Path<'_>) {
        if !node.has_rules || visit.value.is_null() {
            return;
        }
        self.run(node, visit, path);
        match visit.value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    let (schema, path) = match (node.properties.get(name), &node.additional) {
                        (Some(property), _) => (&property.node, path.field(name)),
                        (None, Some(Additional::Schema(schema))) => (schema.as_ref(), path.key(name)),
                        _ => continue,
                    };
                    let old = visit.old.and_then(|old| old.get(name)).filter(|old| !old.is_null());
                    let nearest =
                        visit.nearest.map(|nearest| nearest.below(|twins| twins.member(node, name)));
                    self.visit(schema, &Visit { value, old, nearest, place: Place::of(schema) }, &path);
                }
            }
            Value::Array(items) => {
                let Some(schema) = node.items.as_deref() else { return };
                for (index, value) in items.iter().enumerate() {
                    let old = visit.old.and_then(|old| item_with_keys_of(node, value, old));
                    let nearest = visit.nearest.map(|nearest| nearest.below(|twins| twins.item(node, index)));
                    let place = Place::of(schema);
                    self.visit(schema, &Visit { value, old, nearest, place }, &path.index(index));
                }
            }
            _ => {}
        }
    }

    fn run(&mut self, node: &Node, visit: &Visit<'_>, path: &Path<'_>) {
        if !node.rules.iter().any(|rule| rule.applies(visit.old.is_some())) {
            return;
        }
        let mut plain = FUNCTIONS.new_inner_scope();
        plain.add_variable_from_value("self", bind(node, visit.value, None, visit.place));
        let compares = node.rules.iter().any(|rule| rule.uses_old);
        let old = visit.old.filter(|_| compares).map(|old| bind(node, old, Some(visit.value), visit.place));
        if let Some(old) = &old {
            plain.add_variable_from_value("oldSelf", old.clone());
        }
        let mut optional = plain.new_inner_scope();
        if node.rules.iter().any(|rule| rule.optional_old) {
            let old = old.map_or_else(OptionalValue::none, OptionalValue::of);
            optional.add_variable_from_value("oldSelf", Bound::Opaque(Arc::new(old)));
        }
        for rule in node.rules.iter().filter(|rule| rule.applies(visit.old.is_some())) {
            let context = if rule.optional_old { &optional } else { &plain };
            let Some(cause) = rule.run(context, &plain, node, visit.value, path) else { continue };
            let unchanged = !rule.uses_old && visit.nearest.is_some_and(Nearest::are_equal);
            if !unchanged {
                self.causes.push(cause);
            }
        }
    }
}
