//! The rules of a schema (`x-kubernetes-validations`): compiled once with the schema, run on every write.
//! What they see is made in [`binding`], where they apply in [`walk`], what they may call in [`function`].

mod binding;
pub(super) mod escaping;
mod function;
mod typing;
pub(super) mod walk;

use kube_cel::cel::parser::{Expression, Parser};
use kube_cel::cel::{Context, ExecutionError, Value};
use serde::Deserialize;
use serde_json::Value as Json;

use super::cause::{Cause, CauseReason, show};
use super::field_path;
use super::node::{Additional, JsonType, ListType, Node};
use super::path::Path;
use binding::Place;
use typing::Wanted;

/// The longest message an expression may make (`MaxEvaluatedMessageExpressionSizeBytes`).
const MESSAGE_BYTES_MAX: usize = 5 * 1024;

/// A rule as the schema has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RuleSource {
    #[serde(default)]
    pub(super) rule: String,
    #[serde(default)]
    pub(super) message: String,
    #[serde(default)]
    pub(super) message_expression: String,
    pub(super) reason: Option<String>,
    #[serde(default)]
    pub(super) field_path: String,
    pub(super) optional_old_self: Option<bool>,
}

impl RuleSource {
    /// The rule as the server shows it in complaints: the JSON of its internal type.
    fn shown(&self) -> String {
        let text = |text: &str| Json::from(text).to_string();
        format!(
            r#"{{"Rule":{},"Message":{},"MessageExpression":{},"Reason":{},"FieldPath":{},"OptionalOldSelf":{}}}"#,
            text(&self.rule),
            text(&self.message),
            text(&self.message_expression),
            self.reason.as_deref().map_or("null".to_owned(), text),
            text(&self.field_path),
            self.optional_old_self.map_or("null".to_owned(), |flag| flag.to_string()),
        )
    }
}

/// A rule ready to run.
#[derive(Debug)]
pub(super) struct Rule {
    expression: Expression,
    message_expression: Option<Expression>,
    /// What to say when there is no message expression, or it fails.
    message: String,
    /// How complaints about the rule itself name it.
    label: String,
    reason: CauseReason,
    /// The field the complaint is about, relative to the node.
    field_path: Option<String>,
    uses_old: bool,
    optional_old: bool,
}

/// Compiles the rules of the schema of a whole resource.
pub(super) fn compile(root: &mut Node, path: &Path<'_>, causes: &mut Vec<Cause>) {
    compile_node(root, Place::Resource, path, None, causes);
}

/// Compiles the rules of a schema and of all below it. `uncorrelated` is the path of the nearest list whose
/// items have no counterpart in the old object, so that rules below it cannot compare.
fn compile_node(
    node: &mut Node,
    place: Place,
    path: &Path<'_>,
    uncorrelated: Option<&str>,
    causes: &mut Vec<Cause>,
) {
    if !node.has_rules {
        return;
    }
    let sources = std::mem::take(&mut node.rule_sources);
    let list = path.field("x-kubernetes-validations");
    let mut rules = Vec::with_capacity(sources.len());
    for (index, source) in sources.iter().enumerate() {
        match Rule::compile(source, node, place, &list.index(index), uncorrelated) {
            Ok(rule) => rules.push(rule),
            Err(cause) => causes.push(cause),
        }
    }
    node.rules = rules;
    let properties = path.field("properties");
    for (name, property) in &mut node.properties {
        let place = Place::of(&property.node);
        compile_node(&mut property.node, place, &properties.key(name), uncorrelated, causes);
    }
    if let Some(Additional::Schema(schema)) = &mut node.additional {
        let place = Place::of(schema);
        compile_node(schema, place, &path.field("additionalProperties"), uncorrelated, causes);
    }
    if let Some(items) = node.items.as_deref_mut() {
        let here = path.bracketed();
        let correlated = node.list_type == Some(ListType::Map);
        let uncorrelated = uncorrelated.or((!correlated).then_some(here.as_str()));
        let place = Place::of(items);
        compile_node(items, place, &path.field("items"), uncorrelated, causes);
    }
}

impl Rule {
    fn compile(
        source: &RuleSource,
        node: &Node,
        place: Place,
        path: &Path<'_>,
        uncorrelated: Option<&str>,
    ) -> Result<Self, Cause> {
        let refuse = |keyword: &str, detail: &str| {
            let field = path.field(keyword).bracketed();
            Cause::new(CauseReason::FieldValueInvalid, field, Some(source.shown()), detail)
        };
        let optional_old = source.optional_old_self.unwrap_or(false);
        let mut expression = parse(&source.rule).map_err(|detail| refuse("rule", &detail))?;
        let finding = typing::check(&mut expression, node, place, optional_old, Wanted::Boolean)
            .map_err(|detail| refuse("rule", &detail))?;
        let message_expression = match source.message_expression.as_str() {
            "" => None,
            text => {
                let compiled = parse(text).and_then(|mut expression| {
                    typing::check(&mut expression, node, place, optional_old, Wanted::Text)?;
                    Ok(expression)
                });
                let refuse =
                    |detail: String| refuse("messageExpression", &format!("messageExpression {detail}"));
                Some(compiled.map_err(refuse)?)
            }
        };
        match (finding.uses_old, uncorrelated, source.optional_old_self) {
            (true, Some(place), _) => {
                let detail = format!(
                    "oldSelf cannot be used on the uncorrelatable portion of the schema within {place}"
                );
                return Err(Cause::invalid_text(path.field("rule").bracketed(), &source.rule, &detail));
            }
            (false, _, Some(flag)) => {
                let field = path.field("optionalOldSelf").bracketed();
                return Err(Cause::invalid(
                    field,
                    &flag.into(),
                    "may not be set if oldSelf is not used in rule",
                ));
            }
            _ => {}
        }
        let (message, label) = match source.message.trim() {
            "" => (format!("failed rule: {}", source.rule.trim()), source.rule.trim().to_owned()),
            message => (message.to_owned(), message.to_owned()),
        };
        Ok(Self {
            expression,
            message_expression,
            message,
            label,
            reason: reason(source.reason.as_deref()),
            field_path: field_path::normalize(&source.field_path, node),
            uses_old: finding.uses_old,
            optional_old,
        })
    }

    /// Whether the rule is about this pair of values at all: without an old one there is nothing to compare.
    fn applies(&self, has_old: bool) -> bool {
        !self.uses_old || has_old || self.optional_old
    }

    /// Runs the rule. Messages are made in `plain`, where `oldSelf` is no optional.
    fn run(
        &self,
        context: &Context<'_>,
        plain: &Context<'_>,
        node: &Node,
        value: &Json,
        path: &Path<'_>,
    ) -> Option<Cause> {
        let result = match Value::resolve(&self.expression, context) {
            Ok(Value::Bool(true)) => return None,
            Ok(Value::Bool(false)) => Ok(()),
            Ok(_) => Err("no such overload".to_owned()),
            Err(error) => Err(explain(&error)),
        };
        if let Err(error) = result {
            let detail = if error.starts_with("no such overload") {
                let unsupported =
                    "call arguments did not match a supported operator, function or macro signature";
                format!("'{error}': {unsupported} for rule: {}", self.label)
            } else {
                format!("{error} evaluating rule: {}", self.label)
            };
            return Some(Cause::invalid_text(path.bracketed(), node.type_name(), &detail));
        }
        let field = match &self.field_path {
            Some(relative) => path.field(relative).bracketed(),
            None => path.bracketed(),
        };
        let made =
            self.message_expression.as_ref().and_then(|expression| evaluated_message(expression, plain));
        // Kubernetes shows scalars alone (since 1.37; before, it showed the type of anything else).
        let is_compound = matches!(node.json_type, Some(JsonType::Object | JsonType::Array));
        let shown = (!is_compound).then(|| show(value));
        let detail = made.as_deref().unwrap_or(&self.message);
        Some(match self.reason {
            CauseReason::FieldValueForbidden => Cause::forbidden(field, detail),
            CauseReason::FieldValueRequired => Cause::required(field, detail),
            CauseReason::FieldValueDuplicate => Cause::new(self.reason, field, shown, ""),
            _ => Cause::new(CauseReason::FieldValueInvalid, field, shown, detail),
        })
    }
}

fn parse(text: &str) -> Result<Expression, String> {
    Parser::new()
        .enable_optional_syntax(true)
        .parse(text)
        .map_err(|error| format!("compilation failed: {error}"))
}

fn reason(name: Option<&str>) -> CauseReason {
    match name {
        Some("FieldValueRequired") => CauseReason::FieldValueRequired,
        Some("FieldValueForbidden") => CauseReason::FieldValueForbidden,
        Some("FieldValueDuplicate") => CauseReason::FieldValueDuplicate,
        _ => CauseReason::FieldValueInvalid,
    }
}

/// What a message expression says; nothing when it fails or says what no message may be.
fn evaluated_message(expression: &Expression, context: &Context<'_>) -> Option<String> {
    let Ok(Value::String(text)) = Value::resolve(expression, context) else { return None };
    let text = text.trim();
    let usable = !text.is_empty() && text.len() <= MESSAGE_BYTES_MAX && !text.contains('\n');
    usable.then(|| text.to_owned())
}

/// A failure in the words of cel-go.
fn explain(error: &ExecutionError) -> String {
    match error {
        ExecutionError::NoSuchKey(name) => format!("no such key: {name}"),
        ExecutionError::IndexOutOfBounds(Value::Int(index)) => format!("index out of bounds: {index}"),
        ExecutionError::DivisionByZero(_) => "division by zero".to_owned(),
        ExecutionError::RemainderByZero(_) => "modulus by zero".to_owned(),
        ExecutionError::Overflow(..) => "integer overflow".to_owned(),
        ExecutionError::FunctionError { message, .. } => message.clone(),
        ExecutionError::NoSuchOverload
        | ExecutionError::UnsupportedBinaryOperator(..)
        | ExecutionError::UnsupportedUnaryOperator(..)
        | ExecutionError::UnsupportedTargetType { .. }
        | ExecutionError::ValuesNotComparable(..)
        | ExecutionError::UnexpectedType { .. } => "no such overload".to_owned(),
        other => other.to_string(),
    }
}
