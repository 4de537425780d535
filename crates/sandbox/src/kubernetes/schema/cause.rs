//! One entry of `Status.details.causes[]`: the field, the machine-readable reason and the text, in the
//! words of `field.Error` in k8s.io/apimachinery (v1.37). Leaves to its callers what is wrong with which
//! field.

use std::fmt;

use serde_json::{Number, Value};

/// How `field.Path` prints a path without a single step (`(*Path)(nil).String()`).
pub(super) const NO_FIELD: &str = "<nil>";

/// From this exponent on Go prints a float in exponent form (`strconv.FormatFloat` with `'g'`, -1).
const GO_FLOAT_LARGE: f64 = 1e21;
/// Below this magnitude Go prints a float in exponent form.
const GO_FLOAT_SMALL: f64 = 1e-4;

/// One complaint about one field, as `Status.details.causes[]` carries it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The machine-readable class of the complaint.
    pub reason: CauseReason,
    /// The path of the field, such as `spec.ttl` or `spec.tags[0]`; `<nil>` when none is named.
    pub field: String,
    /// The text after `field: `, such as `Invalid value: 30: must be even`.
    pub message: String,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}

/// The classes of complaint (`field.ErrorType` of apimachinery).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::enum_variant_names, reason = "these are the names on the wire")]
pub enum CauseReason {
    /// A required value is absent.
    FieldValueRequired,
    /// The value is malformed or out of bounds.
    FieldValueInvalid,
    /// The value is not one of an enumeration.
    FieldValueNotSupported,
    /// The value occurs twice where it must be unique.
    FieldValueDuplicate,
    /// The field may not be set here.
    FieldValueForbidden,
    /// The string is too long.
    FieldValueTooLong,
    /// The list or object has too many entries.
    FieldValueTooMany,
    /// The value has the wrong type.
    FieldValueTypeInvalid,
}

impl CauseReason {
    /// The string Kubernetes writes in `causes[].reason`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FieldValueRequired => "FieldValueRequired",
            Self::FieldValueInvalid => "FieldValueInvalid",
            Self::FieldValueNotSupported => "FieldValueNotSupported",
            Self::FieldValueDuplicate => "FieldValueDuplicate",
            Self::FieldValueForbidden => "FieldValueForbidden",
            Self::FieldValueTooLong => "FieldValueTooLong",
            Self::FieldValueTooMany => "FieldValueTooMany",
            Self::FieldValueTypeInvalid => "FieldValueTypeInvalid",
        }
    }

    /// The words the message starts with.
    fn heading(self) -> &'static str {
        match self {
            Self::FieldValueRequired => "Required value",
            Self::FieldValueInvalid | Self::FieldValueTypeInvalid => "Invalid value",
            Self::FieldValueNotSupported => "Unsupported value",
            Self::FieldValueDuplicate => "Duplicate value",
            Self::FieldValueForbidden => "Forbidden",
            Self::FieldValueTooLong => "Too long",
            Self::FieldValueTooMany => "Too many",
        }
    }

    /// Whether the CEL rules are left out when such a complaint stands (`hasBlockingErr` of the custom
    /// resource strategy): they could not be evaluated on such a value.
    pub(super) fn blocks_rules(self) -> bool {
        match self {
            Self::FieldValueRequired
            | Self::FieldValueNotSupported
            | Self::FieldValueTooLong
            | Self::FieldValueTooMany
            | Self::FieldValueTypeInvalid => true,
            Self::FieldValueInvalid | Self::FieldValueDuplicate | Self::FieldValueForbidden => false,
        }
    }
}

impl Cause {
    /// Puts `heading: shown: detail` together, leaving out what is absent.
    pub(super) fn new(reason: CauseReason, field: String, shown: Option<String>, detail: &str) -> Self {
        let mut message = reason.heading().to_owned();
        if let Some(shown) = shown {
            message.push_str(": ");
            message.push_str(&shown);
        }
        if !detail.is_empty() {
            message.push_str(": ");
            message.push_str(detail);
        }
        Self { reason, field, message }
    }

    /// A malformed value.
    pub(super) fn invalid(field: String, value: &Value, detail: &str) -> Self {
        Self::new(CauseReason::FieldValueInvalid, field, Some(show(value)), detail)
    }

    /// A malformed value, shown as the given text in quotes.
    pub(super) fn invalid_text(field: String, text: &str, detail: &str) -> Self {
        Self::new(CauseReason::FieldValueInvalid, field, Some(quote(text)), detail)
    }

    /// A value of the wrong type, shown as the given text in quotes.
    pub(super) fn type_invalid(field: String, text: &str, detail: &str) -> Self {
        Self::new(CauseReason::FieldValueTypeInvalid, field, Some(quote(text)), detail)
    }

    /// An absent value.
    pub(super) fn required(field: String, detail: &str) -> Self {
        Self::new(CauseReason::FieldValueRequired, field, None, detail)
    }

    /// A field that may not be set.
    pub(super) fn forbidden(field: String, detail: &str) -> Self {
        Self::new(CauseReason::FieldValueForbidden, field, None, detail)
    }

    /// A value that occurs twice.
    pub(super) fn duplicate(field: String, value: &Value) -> Self {
        Self::new(CauseReason::FieldValueDuplicate, field, Some(show(value)), "")
    }

    /// A value outside of an enumeration; what is not a string is listed as its JSON text.
    pub(super) fn not_supported(field: String, value: &Value, supported: &[Value]) -> Self {
        let listed: Vec<String> = supported
            .iter()
            .map(|one| match one {
                Value::String(text) => quote(text),
                other => quote(&other.to_string()),
            })
            .collect();
        let detail = if listed.is_empty() {
            String::new()
        } else {
            format!("supported values: {}", listed.join(", "))
        };
        Self::new(CauseReason::FieldValueNotSupported, field, Some(show(value)), &detail)
    }

    /// A string beyond its limit. The server says bytes and counts code points.
    pub(super) fn too_long(field: String, limit: u64) -> Self {
        let unit = if limit == 1 { "byte" } else { "bytes" };
        Self::new(
            CauseReason::FieldValueTooLong,
            field,
            None,
            &format!("may not be more than {limit} {unit}"),
        )
    }

    /// A list or object beyond its limit.
    pub(super) fn too_many(field: String, actual: usize, limit: u64) -> Self {
        let unit = if limit == 1 { "item" } else { "items" };
        let detail = format!("must have at most {limit} {unit}");
        Self::new(CauseReason::FieldValueTooMany, field, Some(actual.to_string()), &detail)
    }
}

/// A value as `field.Error` shows it: scalars as Go's `%v`, strings in quotes, the rest as Go's JSON.
pub(super) fn show(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => show_number(number),
        Value::String(text) => quote(text),
        Value::Array(_) | Value::Object(_) => go_json(value),
    }
}

/// JSON as Go's `json.Marshal` writes it: with the characters escaped that matter to HTML.
pub(crate) fn go_json(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

fn show_number(number: &Number) -> String {
    if number.is_i64() || number.is_u64() {
        return number.to_string();
    }
    number.as_f64().map_or_else(|| number.to_string(), show_float)
}

/// A float as Go's `%v` prints it.
pub(super) fn show_float(float: f64) -> String {
    let magnitude = float.abs();
    if magnitude == 0.0 || (GO_FLOAT_SMALL..GO_FLOAT_LARGE).contains(&magnitude) {
        return float.to_string();
    }
    let scientific = format!("{float:e}");
    match scientific.split_once('e') {
        Some((digits, exponent)) => {
            let (sign, exponent) = match exponent.strip_prefix('-') {
                Some(rest) => ('-', rest),
                None => ('+', exponent),
            };
            format!("{digits}e{sign}{exponent:0>2}")
        }
        None => scientific,
    }
}

/// A string as Go's `%q` prints it.
pub(super) fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{b}' => quoted.push_str("\\v"),
            c if c < ' ' || c == '\u{7f}' => quoted.push_str(&format!("\\x{:02x}", u32::from(c))),
            '\'' => quoted.push('\''),
            // Rust and Go agree closely enough on what can be printed: both go by the Unicode classes.
            c if c.escape_debug().count() == 1 => quoted.push(c),
            c if u32::from(c) < 0x10000 => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => quoted.push_str(&format!("\\U{:08x}", u32::from(c))),
        }
    }
    quoted.push('"');
    quoted
}
