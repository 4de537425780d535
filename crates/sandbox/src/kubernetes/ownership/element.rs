//! One step of the path to a field: a name, an item's keys, or an item's value. Leaves paths to `set`.

use std::cmp::Ordering;
use std::fmt;

use serde_json::{Map, Number, Value};

/// A step of a path. The order is the one in which the server writes its sets.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Element {
    Field(String),
    /// The keys of an item of a list that is a map, by name.
    Key(Vec<(String, Scalar)>),
    /// An item of a list that is a set.
    Value(Scalar),
    Index(i64),
}

impl Element {
    pub(crate) fn field(name: &str) -> Self {
        Self::Field(name.to_owned())
    }

    /// The form in `fieldsV1`: `f:spec`, `k:{"name":"a"}`.
    pub(crate) fn to_text(&self) -> String {
        match self {
            Self::Field(name) => format!("f:{name}"),
            Self::Key(keys) => {
                let keys: Map<String, Value> =
                    keys.iter().map(|(name, value)| (name.clone(), value.0.clone())).collect();
                format!("k:{}", Value::Object(keys))
            }
            Self::Value(value) => format!("v:{}", value.0),
            Self::Index(index) => format!("i:{index}"),
        }
    }

    /// Reads that form; `None` for what is none.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (kind, rest) = text.split_once(':')?;
        match kind {
            "f" => Some(Self::field(rest)),
            "k" => {
                let Ok(Value::Object(keys)) = serde_json::from_str(rest) else { return None };
                let mut keys: Vec<_> = keys.into_iter().map(|(name, value)| (name, Scalar(value))).collect();
                keys.sort();
                Some(Self::Key(keys))
            }
            "v" => serde_json::from_str(rest).ok().map(Scalar).map(Self::Value),
            "i" => rest.parse().ok().map(Self::Index),
            _ => None,
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Key(keys) => {
                let keys: Vec<String> =
                    keys.iter().map(|(name, value)| format!("{name}={}", value.0)).collect();
                write!(f, "[{}]", keys.join(","))
            }
            Self::Value(value) => write!(f, "[={}]", value.0),
            Self::Index(index) => write!(f, "[{index}]"),
        }
    }
}

/// A value that can be compared: numbers, then texts, then the rest.
#[derive(Clone, Debug)]
pub(crate) struct Scalar(pub(crate) Value);

impl Scalar {
    fn rank(&self) -> u8 {
        match self.0 {
            Value::Number(_) => 0,
            Value::String(_) => 1,
            Value::Bool(_) => 2,
            Value::Null => 3,
            Value::Array(_) => 4,
            Value::Object(_) => 5,
        }
    }
}

impl Ord for Scalar {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Value::Number(one), Value::Number(two)) => number_order(one, two),
            (Value::String(one), Value::String(two)) => one.cmp(two),
            (Value::Bool(one), Value::Bool(two)) => one.cmp(two),
            (Value::Array(_), Value::Array(_)) | (Value::Object(_), Value::Object(_)) => {
                self.0.to_string().cmp(&other.0.to_string())
            }
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

fn number_order(one: &Number, two: &Number) -> Ordering {
    if let (Some(one), Some(two)) = (one.as_i64(), two.as_i64()) {
        return one.cmp(&two);
    }
    one.as_f64().unwrap_or_default().total_cmp(&two.as_f64().unwrap_or_default())
}

impl PartialOrd for Scalar {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Scalar {}
