//! One part of a structured record: the form in which it is compared, what of it is sent, what in it can never work,
//! and its bytes on the wire. Which parts a type has is for its layout.

use serde_json::Value;

use super::target::{self, Naming};
use super::{encoding, parameters, text};
use crate::hooks::member;

/// Largest number of fractions that is rounded; beyond 2^53 floats have gaps, and no bound is near it.
const FRACTIONS_MAX: f64 = 9_007_199_254_740_992.0;
/// Most bytes of a character-string (RFC 1035, 3.3).
const CHARACTER_STRING_BYTES_MAX: usize = 255;
/// Most of a one-octet number.
const OCTET_MAX: u64 = 255;

/// What a part holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Form {
    /// A whole number from 0 to this.
    Number(u64),
    /// A number that the wire keeps in so many fractions of one.
    Decimal { least: f64, most: f64, fractions: f64 },
    /// One of two letters.
    Direction([&'static str; 2]),
    /// Letters and digits whose case does not count (CAA: RFC 8659, 4.1).
    Tag,
    /// Letters and digits whose case does not count, in a string that may be empty (NAPTR: RFC 3403, 4.1).
    Flags,
    /// A string with its length in one octet; it may be empty.
    CharacterString,
    /// The rest of the record as text, without a length.
    Text,
    /// A host's name or the root.
    Host,
    /// Bytes as hexadecimal digits.
    Hex,
    /// Bytes in Base64.
    Base64,
    /// Parameters of a service binding.
    Parameters,
}

/// A part of a type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Part {
    /// As Cloudflare's `data` has it.
    pub(super) name: &'static str,
    pub(super) form: Form,
    /// What is not required counts as 0 or as empty when it is left out.
    pub(super) is_required: bool,
}

impl Part {
    pub(super) const fn required(name: &'static str, form: Form) -> Self {
        Self { name, form, is_required: true }
    }

    pub(super) const fn optional(name: &'static str, form: Form) -> Self {
        Self { name, form, is_required: false }
    }

    /// The part of a `data` in the form that is compared. What is no number stays as it is, so that it never looks
    /// equal to one.
    pub(super) fn canonical(&self, data: &Value) -> Value {
        let text = || member::text(data, self.name);
        match self.form {
            Form::Number(_) => member::number(data, self.name, 0),
            Form::Decimal { fractions, .. } => {
                let written = member::present(data, self.name);
                written.map_or_else(|| 0.into(), |value| rounded(value, fractions).unwrap_or(value.clone()))
            }
            Form::Direction(_) | Form::Flags => text::canonical(text()).to_ascii_uppercase().into(),
            Form::Tag => text().to_ascii_lowercase().into(),
            Form::CharacterString | Form::Text => text::canonical(text()).into(),
            Form::Host => target::canonical(text()).into(),
            Form::Hex => encoding::canonical_hex(text()).into(),
            Form::Base64 => encoding::canonical_base64(text()).into(),
            Form::Parameters => parameters::canonical(text()).into(),
        }
    }

    /// A user's part as it is sent, or what is wrong with it.
    pub(super) fn outgoing(&self, data: &Value, zone: &str) -> Result<Value, String> {
        let Some(written) = member::present(data, self.name) else {
            return if self.is_required { Err(self.missing()) } else { Ok(self.canonical(data)) };
        };
        match self.form {
            Form::Number(most) => member::count(written)
                .filter(|number| *number <= most)
                .map(Value::from)
                .ok_or_else(|| format!("is no number from 0 to {most}")),
            Form::Decimal { least, most, fractions } => decimal(written)
                .filter(|number| (least..=most).contains(number))
                .and_then(|_| rounded(written, fractions))
                .ok_or_else(|| format!("is no number from {least} to {most}")),
            _ => {
                let text = written.as_str().ok_or("must be text; put quotes around it")?;
                if text.is_empty() && self.is_required {
                    return Err(self.missing());
                }
                if self.form == Form::Host {
                    return target::outgoing(text, zone, Naming::HostOrRoot).map(Value::from);
                }
                self.problem(text).map_or_else(|| Ok(self.canonical(data)), Err)
            }
        }
    }

    fn missing(&self) -> String {
        match self.form {
            Form::Number(most) => format!("is missing; write a number from 0 to {most}"),
            Form::Direction([one, other]) => format!("is missing; write {one} or {other}"),
            Form::Host => "is missing; write the name of a host, or \".\" for none".to_owned(),
            _ => "is missing; write it as text".to_owned(),
        }
    }

    // What is wrong with a text that is there.
    fn problem(&self, written: &str) -> Option<String> {
        let is_alphanumeric = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let plain = text::canonical(written);
        match self.form {
            Form::Direction([one, other]) => (!plain.eq_ignore_ascii_case(one)
                && !plain.eq_ignore_ascii_case(other))
            .then(|| format!("is neither {one} nor {other}; write one of these letters")),
            Form::Tag => (!is_alphanumeric(written))
                .then(|| "takes letters and digits only, such as issue, issuewild or iodef".to_owned()),
            Form::Flags => (!is_alphanumeric(&plain))
                .then(|| "takes letters and digits only, such as S, A, U or P".to_owned()),
            Form::CharacterString if plain.len() > CHARACTER_STRING_BYTES_MAX => Some(format!(
                "has {} bytes, more than the {CHARACTER_STRING_BYTES_MAX} of a string (RFC 1035); shorten it",
                plain.len()
            )),
            // Backslashes refer to groups of an expression (RFC 3402, 3.2); nothing needs a quote.
            Form::CharacterString => plain
                .contains(|character: char| character.is_control() || character == '"')
                .then(|| "has a quote or a control character in it; remove it".to_owned()),
            // Zone files put the value in quotes; they are no part of it, and neither an authority nor a URI has any.
            Form::Text => plain
                .contains(|character: char| character.is_control() || matches!(character, '"' | '\\'))
                .then(|| "has a quote, a backslash or a control character in it; remove it".to_owned()),
            Form::Hex => encoding::hex_problem(written).map(str::to_owned),
            Form::Base64 => encoding::base64_problem(written).map(str::to_owned),
            Form::Parameters => parameters::problem(written),
            Form::Number(_) | Form::Decimal { .. } | Form::Host => None,
        }
    }

    /// The part of a canonical `data` as it stands in a key. A string that others follow keeps quotes, so that its
    /// spaces are not taken for the ends of parts.
    pub(super) fn rendered(&self, data: &Value) -> String {
        let value = member::rendered(data.get(self.name));
        match self.form {
            Form::Flags | Form::CharacterString => Value::from(value).to_string(),
            _ => value,
        }
    }

    /// Least bytes of a canonical part in wire format. Parameters count for nothing: their bytes depend on their
    /// keys, and Cloudflare says itself when they are too many (9015).
    pub(super) fn wire_bytes(&self, data: &Value) -> usize {
        let length = member::text(data, self.name).len();
        match self.form {
            Form::Number(most) => {
                if most > OCTET_MAX {
                    2
                } else {
                    1
                }
            }
            Form::Tag | Form::Flags | Form::CharacterString => length + 1,
            Form::Text => length,
            Form::Host => length + 1,
            Form::Hex => encoding::hex_bytes(length),
            Form::Base64 => encoding::base64_bytes(member::text(data, self.name)),
            Form::Decimal { .. } | Form::Direction(_) | Form::Parameters => 0,
        }
    }
}

impl Form {
    pub(super) fn is_number(self) -> bool {
        matches!(self, Self::Number(_) | Self::Decimal { .. })
    }

    /// Whether the part takes one word of a line; others take a quoted string or the rest.
    pub(super) fn is_word(self) -> bool {
        self.is_number() || matches!(self, Self::Direction(_) | Self::Tag | Self::Host)
    }
}

// A finite number, however it is written.
fn decimal(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(digits) => digits.parse().ok(),
        _ => None,
    };
    number.filter(|number| number.is_finite())
}

// The number that the wire keeps of what was written: 12.3 for 12.300 and for "12.3".
fn rounded(value: &Value, fractions: f64) -> Option<Value> {
    let kept = (decimal(value)? * fractions).round();
    if kept.abs() > FRACTIONS_MAX {
        return None;
    }
    let number = kept / fractions;
    Some(if number.fract() == 0.0 { Value::from(number as i64) } else { Value::from(number) })
}
