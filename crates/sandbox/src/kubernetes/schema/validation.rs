//! Everything a schema demands of a value but for its rules, in the order and the words of the validator
//! of kube-openapi (`pkg/validation/validate`), which the server runs on custom resources.

use serde_json::{Number, Value};

use super::cause::{Cause, NO_FIELD, quote, show_float};
use super::correlation::Twins;
use super::format;
use super::node::{Additional, JsonType, Node};
use super::path::Path;

/// Integers beyond this are not exact in a float, so that the server takes no such float for an integer.
pub(super) const EXACT_FLOAT_MAX: f64 = 9_007_199_254_740_991.0;

/// What is wrong with `value`. With the old value of an update, complaints about what did not change are
/// let pass. Paths start at the value; `base` goes in front of the field, not of the text.
pub(super) fn validate(node: &Node, value: &Value, old: Option<&Value>, base: &str) -> Vec<Cause> {
    let twins = old.map(|old| Twins::new(value, old));
    let outcome = check(node, value, twins, &Path::ROOT);
    outcome.complaints.into_iter().map(|complaint| complaint.at(base)).collect()
}

/// A complaint whose field is still relative; none for those the server attaches to no field.
struct Complaint {
    field: Option<String>,
    cause: Cause,
}

impl Complaint {
    fn at(self, base: &str) -> Cause {
        let name = self.field.unwrap_or_default();
        let field = match (base, name.as_str()) {
            ("", "") => NO_FIELD.to_owned(),
            ("", name) => name.to_owned(),
            (base, "") => base.to_owned(),
            (base, name) => format!("{base}.{name}"),
        };
        Cause { field, ..self.cause }
    }
}

/// The complaints, and how many checks passed: of alternatives that all fail, the one that passed most is
/// explained.
#[derive(Default)]
struct Outcome {
    complaints: Vec<Complaint>,
    passed: usize,
}

impl Outcome {
    fn is_valid(&self) -> bool {
        self.complaints.is_empty()
    }

    fn merge(&mut self, other: Self) {
        self.complaints.extend(other.complaints);
        self.passed += other.passed;
    }

    fn complain(&mut self, path: &Path<'_>, make: impl FnOnce(String) -> Cause) {
        let field = path.dotted();
        self.complaints.push(Complaint { cause: make(field.clone()), field: Some(field) });
    }

    /// `Invalid value: shown: path in body should ...`
    fn unbounded(&mut self, path: &Path<'_>, value: &Value, demand: &str) {
        self.complain(path, |field| {
            let detail = format!("{field} in body should {demand}");
            Cause::invalid(field, value, &detail)
        });
    }

    /// A complaint the server makes without naming a field.
    fn complain_nowhere(&mut self, detail: &str) {
        let cause = Cause::invalid_text(String::new(), "", detail);
        self.complaints.push(Complaint { field: None, cause });
    }
}

fn check(node: &Node, value: &Value, twins: Option<Twins<'_>>, path: &Path<'_>) -> Outcome {
    let mut outcome = Outcome::default();
    check_type(node, value, path, &mut outcome);
    if !value.is_null() {
        check_choices(node, value, twins, path, &mut outcome);
        match value {
            Value::String(text) => check_string(node, text, path, &mut outcome),
            Value::Number(number) => check_number(node, number, path, &mut outcome),
            Value::Array(items) => check_list(node, items, twins, path, &mut outcome),
            _ => {}
        }
    }
    check_enumeration(node, value, path, &mut outcome);
    if let Value::Object(_) = value {
        check_object(node, value, twins, path, &mut outcome);
    }
    if !outcome.is_valid() && twins.is_some_and(Twins::are_equal) {
        outcome.complaints.clear();
    }
    outcome.passed += 1;
    outcome
}

fn check_type(node: &Node, value: &Value, path: &Path<'_>, outcome: &mut Outcome) {
    let expected = match (node.int_or_string, node.json_type) {
        (true, _) => "integer,string",
        (false, Some(json_type)) => json_type.as_str(),
        (false, None) => return,
    };
    let actual = match value {
        Value::Null if node.nullable => return,
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        // What does not fit an int64 is a float to the server.
        Value::Number(number) if !number.is_i64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let takes = |name: &str| expected.split(',').any(|one| one == name);
    let integral = matches!(value, Value::Number(number) if is_integral(number));
    let fits = takes(actual) || (takes("integer") && integral) || (takes("number") && actual == "integer");
    let numeric = takes("number") || takes("integer");
    // The quirks of the Go code: with a format, a string or list passes for every type but the numeric, and
    // the complaint about anything else names the format and the format of the value, which JSON has none of.
    let (wanted, found) = match &node.format {
        _ if fits => return outcome.passed += 1,
        Some(_) if !numeric && matches!(value, Value::String(_) | Value::Array(_)) => {
            return outcome.passed += 1;
        }
        Some(format) if !matches!(value, Value::Null | Value::String(_) | Value::Array(_)) => {
            let width = match actual {
                "number" => "float64",
                "integer" => "int64",
                _ => "",
            };
            (format.as_str(), width)
        }
        _ => (expected, actual),
    };
    outcome.complain(path, |field| {
        let detail = format!("{field} in body must be of type {wanted}: {}", quote(found));
        Cause::type_invalid(field, found, &detail)
    });
}

fn is_integral(number: &Number) -> bool {
    number.as_f64().is_some_and(|float| float.fract() == 0.0 && float.abs() <= EXACT_FLOAT_MAX)
}

fn check_choices(
    node: &Node,
    value: &Value,
    twins: Option<Twins<'_>>,
    path: &Path<'_>,
    outcome: &mut Outcome,
) {
    let choices = &node.choices;
    outcome.passed += 1;
    if choices.is_empty() {
        return;
    }
    let name = || quote(&path.dotted());
    if !choices.any_of.is_empty() {
        let (valid, best) = try_all(&choices.any_of, value, twins, path);
        if valid == 0 {
            outcome.complain_nowhere(&format!("{} must validate at least one schema (anyOf)", name()));
            outcome.merge(best);
        }
    }
    if !choices.one_of.is_empty() {
        let (valid, best) = try_all(&choices.one_of, value, twins, path);
        if valid != 1 {
            let found = match valid {
                0 => "Found none valid".to_owned(),
                count => format!("Found {count} valid alternatives"),
            };
            outcome.complain_nowhere(&format!(
                "{} must validate one and only one schema (oneOf). {found}",
                name()
            ));
            outcome.merge(best);
        }
    }
    let mut failed = 0;
    for schema in &choices.all_of {
        let result = check(schema, value, twins, path);
        failed += usize::from(!result.is_valid());
        outcome.merge(result);
    }
    if failed > 0 {
        let none = if failed == choices.all_of.len() { ". None validated" } else { "" };
        outcome.complain_nowhere(&format!("{} must validate all the schemas (allOf){none}", name()));
    }
    if choices.not.as_deref().is_some_and(|schema| check(schema, value, twins, path).is_valid()) {
        outcome.complain_nowhere(&format!("{} must not validate the schema (not)", name()));
    }
}

/// How many of the alternatives hold and, when none does, the complaints of the one that came closest.
fn try_all(schemas: &[Node], value: &Value, twins: Option<Twins<'_>>, path: &Path<'_>) -> (usize, Outcome) {
    let mut valid = 0;
    let mut best: Option<Outcome> = None;
    for schema in schemas {
        let result = check(schema, value, twins, path);
        if result.is_valid() {
            valid += 1;
        } else if best.as_ref().is_none_or(|best| result.passed > best.passed) {
            best = Some(result);
        }
    }
    (valid, if valid == 0 { best.unwrap_or_default() } else { Outcome::default() })
}

fn check_string(node: &Node, text: &str, path: &Path<'_>, outcome: &mut Outcome) {
    let limits = &node.limits;
    let length = || u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
    let shown = || Value::String(text.to_owned());
    // The three stop at the first that fails.
    if let Some(limit) = limits.max_length.filter(|limit| length() > *limit) {
        outcome.complain(path, |field| Cause::too_long(field, limit));
    } else if let Some(limit) = limits.min_length.filter(|limit| length() < *limit) {
        outcome.unbounded(path, &shown(), &format!("be at least {limit} chars long"));
    } else if let Some(pattern) = limits.pattern.as_ref().filter(|pattern| !pattern.matches(text)) {
        outcome.unbounded(path, &shown(), &format!("match '{}'", pattern.source()));
    } else {
        outcome.passed += 1;
    }
    let Some(format) = &node.format else { return };
    if matches!(node.json_type, None | Some(JsonType::String)) && !format::accepts(format, text) {
        outcome.complain(path, |field| {
            let detail = format!("{field} in body must be of type {format}: {}", quote(text));
            Cause::type_invalid(field, text, &detail)
        });
    }
}

fn check_number(node: &Node, number: &Number, path: &Path<'_>, outcome: &mut Outcome) {
    let before = outcome.complaints.len();
    check_width(node, number, path, outcome);
    let limits = &node.limits;
    let shown = Value::Number(number.clone());
    let data = number.as_f64().unwrap_or(f64::NAN);
    if let Some(factor) = limits.multiple_of.filter(|factor| !is_multiple(number, *factor)) {
        outcome.unbounded(path, &shown, &format!("be a multiple of {}", bound(number, factor)));
    }
    if let Some(limit) = limits.minimum {
        let words = if limits.exclusive_minimum { "greater than" } else { "greater than or equal to" };
        if data < limit || (limits.exclusive_minimum && data <= limit) {
            outcome.unbounded(path, &shown, &format!("be {words} {}", bound(number, limit)));
        }
    }
    if let Some(limit) = limits.maximum {
        let words = if limits.exclusive_maximum { "less than" } else { "less than or equal to" };
        if data > limit || (limits.exclusive_maximum && data >= limit) {
            outcome.unbounded(path, &shown, &format!("be {words} {}", bound(number, limit)));
        }
    }
    if outcome.complaints.len() == before {
        outcome.passed += 1;
    }
}

/// A number outside of what its format can hold. The server attaches this to no field.
fn check_width(node: &Node, number: &Number, path: &Path<'_>, outcome: &mut Outcome) {
    let Some(json_type) = node.json_type else { return };
    let format = node.format.as_deref();
    let fits = match (json_type, format) {
        (JsonType::Integer, Some("int32")) => whole(number).is_some_and(|whole| i32::try_from(whole).is_ok()),
        (JsonType::Integer, Some("uint32")) => {
            whole(number).is_some_and(|whole| u32::try_from(whole).is_ok())
        }
        (JsonType::Integer, Some("uint64")) => {
            whole(number).is_some_and(|whole| u64::try_from(whole).is_ok())
        }
        (JsonType::Integer, _) => whole(number).is_some_and(|whole| i64::try_from(whole).is_ok()),
        (_, Some("float" | "float32")) => {
            number.as_f64().is_none_or(|float| float.abs() <= f64::from(f32::MAX))
        }
        _ => true,
    };
    if !fits {
        let (name, place) = (json_type.as_str(), path.dotted());
        let format =
            format.map_or_else(|| " (default format)".to_owned(), |format| format!(" with format {format}"));
        outcome.complain_nowhere(&format!("Checked value must be of type {name}{format} in {place}"));
    }
}

/// The integer that a number is, if it is one: 7.0, too.
fn whole(number: &Number) -> Option<i128> {
    if let Some(integer) = number.as_i64() {
        return Some(integer.into());
    }
    if let Some(integer) = number.as_u64() {
        return Some(integer.into());
    }
    // Exact, and far beyond what any format holds.
    const FLOAT_MAX: f64 = 1e30;
    let float = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < FLOAT_MAX)?;
    format!("{float:.0}").parse().ok()
}

/// The schema holds bounds as floats; against an integer the server compares and prints them as integers.
fn bound(number: &Number, limit: f64) -> String {
    if number.is_f64() { show_float(limit) } else { show_float(limit.trunc()) }
}

fn is_multiple(number: &Number, factor: f64) -> bool {
    let quotient = number.as_f64().map(|data| data / factor);
    quotient
        .is_some_and(|quotient| (quotient - quotient.round()).abs() <= f64::EPSILON * quotient.abs().max(1.0))
}

fn check_list(
    node: &Node,
    items: &[Value],
    twins: Option<Twins<'_>>,
    path: &Path<'_>,
    outcome: &mut Outcome,
) {
    if let Some(schema) = node.items.as_deref() {
        for (index, item) in items.iter().enumerate() {
            let twins = twins.and_then(|twins| twins.item(node, index));
            outcome.merge(check(schema, item, twins, &path.index(index)));
        }
    }
    let size = u64::try_from(items.len()).unwrap_or(u64::MAX);
    if let Some(limit) = node.limits.min_items.filter(|limit| size < *limit) {
        outcome.unbounded(path, &size.into(), &format!("have at least {limit} items"));
    }
    if let Some(limit) = node.limits.max_items.filter(|limit| size > *limit) {
        outcome.complain(path, |field| Cause::too_many(field, items.len(), limit));
    }
    outcome.passed += 1;
}

fn check_enumeration(node: &Node, value: &Value, path: &Path<'_>, outcome: &mut Outcome) {
    let allowed = &node.limits.enumeration;
    if allowed.is_empty() {
        return;
    }
    // Null is never found, not even when it is listed: Go has no type to compare it by.
    let found = !value.is_null() && allowed.iter().any(|one| one == value || same_number(one, value));
    if found {
        outcome.passed += 1;
    } else {
        outcome.complain(path, |field| Cause::not_supported(field, value, allowed));
    }
}

fn same_number(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        _ => false,
    }
}

fn check_object(
    node: &Node,
    value: &Value,
    twins: Option<Twins<'_>>,
    path: &Path<'_>,
    outcome: &mut Outcome,
) {
    let Value::Object(fields) = value else { return };
    let size = u64::try_from(fields.len()).unwrap_or(u64::MAX);
    if let Some(limit) = node.limits.min_properties.filter(|limit| size < *limit) {
        return outcome.unbounded(path, &size.into(), &format!("have at least {limit} properties"));
    }
    if let Some(limit) = node.limits.max_properties.filter(|limit| size > *limit) {
        return outcome.complain(path, |field| Cause::too_many(field, fields.len(), limit));
    }
    for (name, member) in fields {
        let schema = match (node.properties.get(name), &node.additional) {
            (Some(property), _) => &property.node,
            (None, Some(Additional::Schema(schema))) => schema,
            (None, Some(Additional::Denied)) => {
                outcome.complain(path, |field| {
                    let detail = format!("{field}.{name} in body is a forbidden property");
                    Cause::invalid_text(field, name, &detail)
                });
                continue;
            }
            (None, Some(Additional::Unknown) | None) => continue,
        };
        let twins = twins.and_then(|twins| twins.member(node, name));
        outcome.merge(check(schema, member, twins, &path.field(name)));
    }
    for name in &node.required {
        if !fields.contains_key(name) {
            outcome.complain(&path.field(name), |field| Cause::required(field, ""));
        }
    }
}
