//! The part of CEL's type checker that finds the mistakes rule authors make: fields the schema does not
//! have, unknown names and functions, operands that cannot be compared. What it cannot tell it takes for
//! dynamic, so that it refuses nothing the API server accepts, but for functions `cel` 0.13 lacks.
//! It also rewrites field selection on optional values, which `cel` 0.13 gets wrong, to optional indexing.

use kube_cel::cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, LiteralValue, SelectExpr, operators,
};
use kube_cel::cel::parser::Expression;

use super::super::node::{JsonType, Node};
use super::binding::Place;
use super::function;

/// What is known about the value of an expression.
#[derive(Clone, Copy, Debug)]
enum Kind<'n> {
    Dynamic,
    Boolean,
    Integer,
    Double,
    Text,
    Bytes,
    Timestamp,
    Duration,
    Null,
    List,
    /// An object, list or map with its schema.
    Schema(&'n Node, Place),
    /// The metadata of a resource.
    Metadata,
}

/// A kind, and whether it is wrapped as an optional.
#[derive(Clone, Copy, Debug)]
struct Type<'n> {
    kind: Kind<'n>,
    optional: bool,
}

impl<'n> From<Kind<'n>> for Type<'n> {
    fn from(kind: Kind<'n>) -> Self {
        Self { kind, optional: false }
    }
}

/// What an expression must yield.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// A rule.
    Boolean,
    /// A message expression.
    Text,
}

/// What the check found out about a sound expression.
pub(super) struct Finding {
    /// Whether it reads `oldSelf`.
    pub(super) uses_old: bool,
}

/// Checks an expression for the rules of `node` and puts it into the form it is evaluated in. The error is
/// what the server would say behind `compilation failed: `.
pub(super) fn check(
    expression: &mut Expression,
    node: &Node,
    place: Place,
    optional_old: bool,
    wanted: Wanted,
) -> Result<Finding, String> {
    let mut checker = Checker { node, place, optional_old, scope: Vec::new(), uses_old: false };
    let found = checker.visit(expression)?;
    let fits = matches!(
        (wanted, found.kind, found.optional),
        (_, Kind::Dynamic, _) | (Wanted::Boolean, Kind::Boolean, false) | (Wanted::Text, Kind::Text, false)
    );
    match (fits, wanted) {
        (true, _) => Ok(Finding { uses_old: checker.uses_old }),
        (false, Wanted::Boolean) => Err("cel expression must evaluate to a bool".to_owned()),
        (false, Wanted::Text) => Err("messageExpression must evaluate to a string".to_owned()),
    }
}

struct Checker<'n> {
    node: &'n Node,
    place: Place,
    optional_old: bool,
    /// The variables of the enclosing comprehensions, innermost last.
    scope: Vec<(String, Type<'n>)>,
    uses_old: bool,
}

/// The names of types, which rules may mention as values.
const TYPE_NAMES: [&str; 10] =
    ["bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint"];

impl<'n> Checker<'n> {
    fn visit(&mut self, expression: &mut Expression) -> Result<Type<'n>, String> {
        let rewritten = match &mut expression.expr {
            Expr::Unspecified | Expr::Struct(_) => return Err(error("message literals are not supported")),
            Expr::Literal(literal) => return Ok(literal_kind(literal).into()),
            Expr::Ident(name) => return self.identifier(name),
            Expr::List(list) => {
                for element in &mut list.elements {
                    self.visit(element)?;
                }
                return Ok(Kind::List.into());
            }
            Expr::Map(map) => {
                for entry in &mut map.entries {
                    match &mut entry.expr {
                        EntryExpr::MapEntry(entry) => {
                            self.visit(&mut entry.key)?;
                            self.visit(&mut entry.value)?;
                        }
                        EntryExpr::StructField(_) => return Err(error("message literals are not supported")),
                    }
                }
                return Ok(Kind::Dynamic.into());
            }
            Expr::Comprehension(comprehension) => return self.comprehension(comprehension),
            Expr::Call(call) => return self.call(call),
            Expr::Select(select) => {
                let operand = self.visit(&mut select.operand)?;
                let member = member(operand.kind, &select.field)?;
                match (select.test, operand.optional) {
                    (true, _) => return Ok(Kind::Boolean.into()),
                    (false, false) => return Ok(member.into()),
                    (false, true) => (optional_index(select), Type { kind: member, optional: true }),
                }
            }
        };
        expression.expr = rewritten.0;
        Ok(rewritten.1)
    }

    fn identifier(&mut self, name: &str) -> Result<Type<'n>, String> {
        if let Some((_, found)) = self.scope.iter().rev().find(|(variable, _)| variable == name) {
            return Ok(*found);
        }
        match name {
            "self" => Ok(kind_of(self.node, self.place).into()),
            "oldSelf" => {
                self.uses_old = true;
                Ok(Type { kind: kind_of(self.node, self.place), optional: self.optional_old })
            }
            name if name.starts_with('@') || TYPE_NAMES.contains(&name) => Ok(Kind::Dynamic.into()),
            name => Err(undeclared(name)),
        }
    }

    fn comprehension(&mut self, comprehension: &mut ComprehensionExpr) -> Result<Type<'n>, String> {
        let range = self.visit(&mut comprehension.iter_range)?;
        let element = match range.kind {
            Kind::Schema(node, _) if node.json_type == Some(JsonType::Array) => {
                node.items.as_deref().map_or(Kind::Dynamic, |items| kind_of(items, Place::of(items)))
            }
            Kind::Schema(..) => Kind::Text,
            Kind::List | Kind::Dynamic => Kind::Dynamic,
            other => {
                return Err(error(&format!(
                    "expression of type '{}' cannot be range of a comprehension",
                    name(other)
                )));
            }
        };
        let initial = self.visit(&mut comprehension.accu_init)?;
        let depth = self.scope.len();
        self.scope.push((comprehension.accu_var.clone(), accumulated(initial)));
        let loop_depth = self.scope.len();
        self.scope.push((comprehension.iter_var.clone(), element.into()));
        if let Some(second) = &comprehension.iter_var2 {
            self.scope.push((second.clone(), Kind::Dynamic.into()));
        }
        self.visit(&mut comprehension.loop_cond)?;
        self.visit(&mut comprehension.loop_step)?;
        self.scope.truncate(loop_depth);
        let result = self.visit(&mut comprehension.result)?;
        self.scope.truncate(depth);
        Ok(result)
    }

    fn call(&mut self, call: &mut CallExpr) -> Result<Type<'n>, String> {
        let qualified = call.target.as_deref().and_then(|target| match &target.expr {
            Expr::Ident(namespace) => Some(format!("{namespace}.{}", call.func_name)),
            _ => None,
        });
        let is_qualified = qualified.is_some_and(|name| function::is_known(&name));
        let target = match call.target.as_deref_mut() {
            Some(target) if !is_qualified => Some(self.visit(target)?),
            _ => None,
        };
        if call.func_name == operators::OPT_SELECT {
            return self.optional_select(call);
        }
        let mut arguments = Vec::with_capacity(call.args.len());
        for argument in &mut call.args {
            arguments.push(self.visit(argument)?);
        }
        let is_operator = !call.func_name.starts_with(|c: char| c.is_ascii_alphabetic());
        if is_operator {
            return operator(&call.func_name, &arguments);
        }
        if !is_qualified && !function::is_known(&call.func_name) {
            return Err(undeclared(&call.func_name));
        }
        Ok(result_of(&call.func_name, is_qualified, target.or(arguments.first().copied())))
    }

    /// `operand.?field`: `cel` 0.13 fails here when the field is absent, and does not when it is indexed.
    fn optional_select(&mut self, call: &mut CallExpr) -> Result<Type<'n>, String> {
        let [operand, field] = call.args.as_mut_slice() else {
            return Err(error("malformed optional selection"));
        };
        let operand = self.visit(operand)?;
        let kind = match &field.expr {
            Expr::Literal(LiteralValue::String(field)) => member(operand.kind, field.inner())?,
            _ => return Err(error("unsupported optional field selection")),
        };
        operators::OPT_INDEX.clone_into(&mut call.func_name);
        Ok(Type { kind, optional: true })
    }
}

/// An accumulator keeps its kind only where a macro cannot change it: all of them start from a constant.
fn accumulated(initial: Type<'_>) -> Type<'_> {
    match initial.kind {
        Kind::Boolean => Kind::Boolean.into(),
        _ => Kind::Dynamic.into(),
    }
}

fn optional_index(select: &mut SelectExpr) -> Expr {
    let operand = std::mem::take(select.operand.as_mut());
    let field = Expr::Literal(LiteralValue::String(select.field.as_str().into()));
    Expr::Call(CallExpr {
        func_name: operators::OPT_INDEX.to_owned(),
        target: None,
        args: vec![operand, Expression { id: 0, expr: field }],
    })
}

/// What the schema says about values of a node; nothing when rules cannot see them.
fn visible_kind(node: &Node, place: Place) -> Option<Kind<'_>> {
    if node.int_or_string {
        return Some(Kind::Dynamic);
    }
    Some(match node.json_type? {
        JsonType::Object | JsonType::Array => Kind::Schema(node, place),
        JsonType::Integer => Kind::Integer,
        JsonType::Number => Kind::Double,
        JsonType::Boolean => Kind::Boolean,
        JsonType::String => match node.format.as_deref() {
            Some("date-time" | "date") => Kind::Timestamp,
            Some("duration") => Kind::Duration,
            Some("byte") => Kind::Bytes,
            _ => Kind::Text,
        },
    })
}

fn kind_of(node: &Node, place: Place) -> Kind<'_> {
    visible_kind(node, place).unwrap_or(Kind::Dynamic)
}

/// The kind of a field of a value.
fn member<'n>(operand: Kind<'n>, field: &str) -> Result<Kind<'n>, String> {
    let undefined = || error(&format!("undefined field '{field}'"));
    match operand {
        Kind::Dynamic => Ok(Kind::Dynamic),
        Kind::Metadata => match field {
            "name" | "generateName" => Ok(Kind::Text),
            _ => Err(undefined()),
        },
        Kind::Schema(node, place) if node.json_type == Some(JsonType::Object) => {
            match (place, field) {
                (Place::Resource, "apiVersion" | "kind") => return Ok(Kind::Text),
                (Place::Resource, "metadata") => return Ok(Kind::Metadata),
                _ => {}
            }
            let named = |name: &Option<std::sync::Arc<String>>| {
                name.as_ref().is_some_and(|name| name.as_str() == field)
            };
            let property =
                node.properties.values().find(|property| named(&property.cel_name)).map(|one| &one.node);
            let schema = property.or(node.value_schema()).ok_or_else(undefined)?;
            visible_kind(schema, Place::of(schema)).ok_or_else(undefined)
        }
        other => Err(error(&format!("type '{}' does not support field selection", name(other)))),
    }
}

fn operator<'n>(operator: &str, arguments: &[Type<'n>]) -> Result<Type<'n>, String> {
    let mismatch = || Err(no_overload(operator, arguments));
    match (operator, arguments) {
        (operators::LOGICAL_AND | operators::LOGICAL_OR | operators::LOGICAL_NOT, operands) => {
            let boolean = |one: &Type<'_>| matches!(one.kind, Kind::Dynamic | Kind::Boolean);
            if operands.iter().all(boolean) { Ok(Kind::Boolean.into()) } else { mismatch() }
        }
        (operators::EQUALS | operators::NOT_EQUALS, [left, right]) => {
            if left.optional != right.optional || comparable(left.kind, right.kind) {
                Ok(Kind::Boolean.into())
            } else {
                mismatch()
            }
        }
        (
            operators::LESS | operators::LESS_EQUALS | operators::GREATER | operators::GREATER_EQUALS,
            [left, right],
        ) => {
            let ordered = |kind| !matches!(kind, Kind::Schema(..) | Kind::Metadata | Kind::List | Kind::Null);
            let sound = ordered(left.kind) && ordered(right.kind) && comparable(left.kind, right.kind);
            if sound { Ok(Kind::Boolean.into()) } else { mismatch() }
        }
        (operators::IN, [_, container]) => match container.kind {
            Kind::Dynamic | Kind::List | Kind::Schema(..) => Ok(Kind::Boolean.into()),
            _ => mismatch(),
        },
        (operators::NOT_STRICTLY_FALSE, _) => Ok(Kind::Boolean.into()),
        (operators::CONDITIONAL, [_, yes, no]) if class(yes.kind) == class(no.kind) && !yes.optional => {
            Ok(*yes)
        }
        (operators::ADD, [left, right]) => match (left.kind, right.kind) {
            (Kind::Text, Kind::Text) => Ok(Kind::Text.into()),
            (Kind::Text, Kind::Integer | Kind::Double | Kind::Boolean)
            | (Kind::Integer | Kind::Double | Kind::Boolean, Kind::Text) => mismatch(),
            _ => Ok(Kind::Dynamic.into()),
        },
        (operators::INDEX, [collection, _]) => Ok(element(collection.kind).into()),
        (operators::OPT_INDEX, [collection, _]) => {
            Ok(Type { kind: element(collection.kind), optional: true })
        }
        _ => Ok(Kind::Dynamic.into()),
    }
}

fn element(collection: Kind<'_>) -> Kind<'_> {
    let Kind::Schema(node, _) = collection else { return Kind::Dynamic };
    match node.items.as_deref().or(node.value_schema()) {
        Some(schema) => kind_of(schema, Place::of(schema)),
        None => Kind::Dynamic,
    }
}

/// The kind of what a function returns.
fn result_of<'n>(function: &str, is_qualified: bool, receiver: Option<Type<'n>>) -> Type<'n> {
    let unwrapped = receiver.filter(|receiver| receiver.optional).map(|receiver| receiver.kind);
    match (function, unwrapped) {
        ("value" | "orValue", Some(kind)) => kind.into(),
        ("or", Some(kind)) => Type { kind, optional: true },
        ("of" | "none" | "ofNonZeroValue", _) if is_qualified => Type { kind: Kind::Dynamic, optional: true },
        (
            "hasValue" | "startsWith" | "endsWith" | "matches" | "isSorted" | "isURL" | "isIP" | "isCIDR",
            _,
        ) => Kind::Boolean.into(),
        ("size", _) => Kind::Integer.into(),
        ("string" | "lowerAscii" | "upperAscii" | "trim" | "join", _) => Kind::Text.into(),
        ("timestamp", _) => Kind::Timestamp.into(),
        ("duration", _) => Kind::Duration.into(),
        _ => Kind::Dynamic.into(),
    }
}

/// The kinds that can never be compared with each other have different classes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Any,
    Boolean,
    Number,
    Text,
    Bytes,
    Timestamp,
    Duration,
    List,
    Object,
}

fn class(kind: Kind<'_>) -> Class {
    match kind {
        Kind::Dynamic | Kind::Null => Class::Any,
        Kind::Boolean => Class::Boolean,
        Kind::Integer | Kind::Double => Class::Number,
        Kind::Text => Class::Text,
        Kind::Bytes => Class::Bytes,
        Kind::Timestamp => Class::Timestamp,
        Kind::Duration => Class::Duration,
        Kind::List => Class::List,
        Kind::Schema(node, _) if node.json_type == Some(JsonType::Array) => Class::List,
        Kind::Schema(..) | Kind::Metadata => Class::Object,
    }
}

fn comparable(left: Kind<'_>, right: Kind<'_>) -> bool {
    let (left, right) = (class(left), class(right));
    left == right || left == Class::Any || right == Class::Any
}

fn literal_kind(literal: &LiteralValue) -> Kind<'static> {
    match literal {
        LiteralValue::Boolean(_) => Kind::Boolean,
        LiteralValue::Bytes(_) => Kind::Bytes,
        LiteralValue::Double(_) => Kind::Double,
        LiteralValue::Int(_) | LiteralValue::UInt(_) => Kind::Integer,
        LiteralValue::Null => Kind::Null,
        LiteralValue::String(_) => Kind::Text,
    }
}

fn name(kind: Kind<'_>) -> &'static str {
    match kind {
        Kind::Dynamic => "dyn",
        Kind::Boolean => "bool",
        Kind::Integer => "int",
        Kind::Double => "double",
        Kind::Text => "string",
        Kind::Bytes => "bytes",
        Kind::Timestamp => "google.protobuf.Timestamp",
        Kind::Duration => "google.protobuf.Duration",
        Kind::Null => "null",
        Kind::List => "list",
        Kind::Schema(node, _) => match node.json_type {
            Some(JsonType::Array) => "list",
            _ if node.value_schema().is_some() => "map",
            _ => "object",
        },
        Kind::Metadata => "object",
    }
}

fn no_overload(operator: &str, arguments: &[Type<'_>]) -> String {
    let names: Vec<&str> = arguments.iter().map(|one| name(one.kind)).collect();
    error(&format!("found no matching overload for '{operator}' applied to '({})'", names.join(", ")))
}

fn undeclared(name: &str) -> String {
    error(&format!("undeclared reference to '{name}' (in container '')"))
}

/// The server adds line and column, which `cel` keeps to itself.
fn error(text: &str) -> String {
    format!("compilation failed: ERROR: <input>: {text}")
}
