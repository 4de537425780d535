//! The JSONPath subset of `additionalPrinterColumns`: fields by dot or in brackets, list items by position,
//! `[*]`, and filters that compare one field with a literal. The table printer shows the first value a path
//! selects, so that is what is looked for.

use std::cmp::Ordering;

use serde_json::Value;

/// The value a printer column shows for `object`; `Null` when the path leads nowhere or is malformed.
pub fn cell(json_path: &str, object: &Value) -> Value {
    match parse(json_path) {
        Some(steps) => first(object, &steps).cloned().unwrap_or(Value::Null),
        None => Value::Null,
    }
}

/// One step of a path.
enum Step {
    Field(String),
    Index(i64),
    Every,
    Where(Filter),
}

/// A condition on list items.
struct Filter {
    steps: Vec<Step>,
    comparison: Option<(Operator, Value)>,
}

#[derive(Clone, Copy)]
enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// The operators as written, the longer ones before those they start with.
const OPERATORS: [(&str, Operator); 6] = [
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("<", Operator::Less),
    (">", Operator::Greater),
];

fn first<'v>(value: &'v Value, steps: &[Step]) -> Option<&'v Value> {
    let Some((step, rest)) = steps.split_first() else { return Some(value) };
    match step {
        Step::Field(name) => first(value.get(name.as_str())?, rest),
        Step::Index(index) => {
            let items = value.as_array()?;
            let length = i64::try_from(items.len()).ok()?;
            let index = if *index < 0 { index.checked_add(length)? } else { *index };
            first(items.get(usize::try_from(index).ok()?)?, rest)
        }
        Step::Every => match value {
            Value::Array(items) => items.iter().find_map(|item| first(item, rest)),
            Value::Object(fields) => fields.values().find_map(|field| first(field, rest)),
            _ => None,
        },
        Step::Where(filter) => {
            value.as_array()?.iter().filter(|item| filter.holds(item)).find_map(|item| first(item, rest))
        }
    }
}

impl Filter {
    fn holds(&self, item: &Value) -> bool {
        let Some(found) = first(item, &self.steps) else { return false };
        let Some((operator, wanted)) = &self.comparison else { return true };
        let order = match (found, wanted) {
            (Value::Number(found), Value::Number(wanted)) => {
                found.as_f64().zip(wanted.as_f64()).and_then(|(found, wanted)| found.partial_cmp(&wanted))
            }
            (Value::String(found), Value::String(wanted)) => Some(found.cmp(wanted)),
            (found, wanted) => (found == wanted).then_some(Ordering::Equal),
        };
        match operator {
            Operator::Equal => order == Some(Ordering::Equal),
            Operator::NotEqual => order != Some(Ordering::Equal),
            Operator::Less => order == Some(Ordering::Less),
            Operator::LessOrEqual => order.is_some_and(Ordering::is_le),
            Operator::Greater => order == Some(Ordering::Greater),
            Operator::GreaterOrEqual => order.is_some_and(Ordering::is_ge),
        }
    }
}

/// The steps of a path, or none when it is malformed.
fn parse(path: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let end = closing_bracket(inner)?;
            steps.push(bracketed(&inner[..end])?);
            rest = &inner[end + 1..];
            continue;
        }
        let (name, tail) = field(rest.strip_prefix('.')?);
        if !name.is_empty() {
            steps.push(Step::Field(name));
        }
        rest = tail;
    }
    Some(steps)
}

/// A field name up to the next dot or bracket that is not escaped.
fn field(text: &str) -> (String, &str) {
    let mut name = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '.' | '[' => return (name, &text[at..]),
            '\\' => name.extend(chars.next().map(|(_, escaped)| escaped)),
            c => name.push(c),
        }
    }
    (name, "")
}

/// Where the bracket opened before `text` closes, quotes and nested brackets set aside.
fn closing_bracket(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            (_, Some(_)) => {}
            ('"' | '\'', None) => quote = Some(c),
            ('[', None) => depth += 1,
            (']', None) if depth == 0 => return Some(at),
            (']', None) => depth -= 1,
            _ => {}
        }
    }
    None
}

fn bracketed(text: &str) -> Option<Step> {
    let text = text.trim();
    if text == "*" {
        return Some(Step::Every);
    }
    if let Some(condition) = text.strip_prefix("?(") {
        return filter(condition.strip_suffix(')')?).map(Step::Where);
    }
    match unquoted(text) {
        Some(name) => Some(Step::Field(name.to_owned())),
        None => text.parse().ok().map(Step::Index),
    }
}

fn filter(condition: &str) -> Option<Filter> {
    let operand = |text: &str| parse(text.trim().strip_prefix('@')?);
    let operator = OPERATORS
        .iter()
        .filter_map(|(sign, operator)| Some((condition.find(sign)?, *sign, *operator)))
        .min_by_key(|(at, sign, _)| (*at, std::cmp::Reverse(sign.len())));
    let Some((at, sign, operator)) = operator else {
        return Some(Filter { steps: operand(condition)?, comparison: None });
    };
    let literal = condition[at + sign.len()..].trim();
    let wanted = match unquoted(literal) {
        Some(text) => Value::from(text),
        None => serde_json::from_str(literal).ok()?,
    };
    Some(Filter { steps: operand(&condition[..at])?, comparison: Some((operator, wanted)) })
}

fn unquoted(text: &str) -> Option<&str> {
    ['"', '\''].into_iter().find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote))
}
