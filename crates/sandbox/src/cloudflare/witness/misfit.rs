//! Something on the wire that is not as the facts say: where, and what was expected.

use std::fmt;

use serde_json::{Map, Value};

use super::facts::Source;

/// Bytes of a value that are quoted.
const QUOTED_MAX: usize = 120;

/// Which half of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// What was sent: pointers begin with `/path`, `/query` or `/body`.
    Request,
    /// What was answered, with this status.
    Answer(u16),
}

/// What is wrong with a value. The names are those in the list of exceptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Flaw {
    /// Null where a value is needed.
    Null,
    /// Of another type.
    Type,
    /// Not among the values that there are.
    Enum,
    /// Too small, too large, too short, too long.
    Bound,
    /// Does not match the pattern or the format.
    Form,
    /// A field that must be there is not.
    Missing,
    /// A field that neither source knows.
    Unknown,
    /// A field in a request that only answers have.
    ReadOnly,
    /// There are no facts of this operation, status or part.
    Unheard,
}

/// One misfit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// Method and template.
    pub operation: String,
    /// Request or answer.
    pub side: Side,
    /// JSON pointer to the value.
    pub pointer: String,
    /// What is wrong.
    pub flaw: Flaw,
    /// What the facts say; the source of the facts in brackets.
    pub expected: String,
    /// The value, cut.
    pub got: String,
    /// The `type` of the object that has the field, of one that should not be there.
    pub of: Option<String>,
}

impl Misfit {
    pub(super) fn new(
        at: Place<'_>,
        flaw: Flaw,
        expected: impl fmt::Display,
        got: impl fmt::Display,
    ) -> Self {
        let mut got = got.to_string();
        if got.len() > QUOTED_MAX {
            got.truncate(got.floor_char_boundary(QUOTED_MAX));
            got.push('…');
        }
        Self {
            operation: at.operation.to_owned(),
            side: at.side,
            pointer: at.pointer.to_owned(),
            flaw,
            expected: expected.to_string(),
            got,
            of: None,
        }
    }

    pub(super) fn of(mut self, object: &Map<String, Value>) -> Self {
        self.of = object.get("type").and_then(Value::as_str).map(str::to_owned);
        self
    }
}

/// Where a value stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) operation: &'a str,
    pub(super) side: Side,
    pub(super) pointer: &'a str,
}

/// What is expected, and who says so.
pub(super) fn says(source: Source, what: impl fmt::Display) -> String {
    format!("{what} [{source}]")
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request => write!(f, "request"),
            Self::Answer(status) => write!(f, "answer {status}"),
        }
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operation, side, pointer, expected, got, .. } = self;
        let pointer = if pointer.is_empty() { "/" } else { pointer };
        write!(f, "{operation}, {side}, {pointer}: expected {expected}, got {got}")
    }
}
