//! A structured record's text, as zone files and Cloudflare's `content` have it, taken apart into its `data`. The
//! parts stay as they are written, quotes included; what they mean is for `part`.

use serde_json::{Map, Value};

use super::layout::{Layout, Line};
use super::part::{Form, Part};
use crate::hooks::member;

/// What Cloudflare puts before a location's text.
const LOCATION_PREFIX: [&str; 2] = ["IN", "LOC"];
/// Unit of a location's distances.
const METRE: char = 'm';

impl Layout {
    /// The `data` that a text stands for; nothing when it cannot be read.
    pub(super) fn read(&self, line: &str) -> Option<Value> {
        let line = line.trim_ascii();
        let data = match self.line {
            Line::Words => words(self.parts, line),
            Line::WordsAfterFirst => {
                words(self.parts, line).or_else(|| words(self.parts.split_first()?.1, line))
            }
            Line::Location => location(line),
        };
        data.map(Value::Object)
    }
}

fn words(parts: &[Part], line: &str) -> Option<Map<String, Value>> {
    let mut rest = line;
    let mut data = Map::new();
    let (last, before) = parts.split_last()?;
    for part in before {
        let (word, after) = word(rest)?;
        data.insert(part.name.to_owned(), fitting(part, word)?);
        rest = after;
    }
    // A host is the last word; parameters may be none.
    if (last.form.is_word() && rest.contains(char::is_whitespace)) || (rest.is_empty() && last.is_required) {
        return None;
    }
    data.insert(last.name.to_owned(), fitting(last, rest)?);
    Some(data)
}

fn fitting(part: &Part, word: &str) -> Option<Value> {
    let value = Value::from(word);
    let fits = match part.form {
        Form::Number(_) => member::count(&value).is_some(),
        form => !form.is_word() || !word.starts_with('"'),
    };
    fits.then_some(value)
}

// The first word, or the first quoted string with its quotes, and what follows.
fn word(line: &str) -> Option<(&str, &str)> {
    let end = match line.strip_prefix('"') {
        Some(quoted) => 1 + quoted_end(quoted)?,
        None => line.find(char::is_whitespace).unwrap_or(line.len()),
    };
    let (word, rest) = line.split_at_checked(end)?;
    let separated = rest.is_empty() || rest.starts_with(char::is_whitespace);
    (!word.is_empty() && separated).then(|| (word, rest.trim_start()))
}

// The place after the closing quote.
fn quoted_end(quoted: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in quoted.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

// `51 30 12.3 N 0 7 39.5 W -2.5m 10m 10m 2m`: minutes, seconds, size and precisions may be left out (RFC 1876, 3).
fn location(line: &str) -> Option<Map<String, Value>> {
    let mut words = line.split_whitespace().peekable();
    for prefix in LOCATION_PREFIX {
        words.next_if(|word| *word == prefix);
    }
    let mut data = Map::new();
    let mut put = |name: String, word: &str| data.insert(name, word.into());
    for axis in ["lat", "long"] {
        for unit in ["degrees", "minutes", "seconds"] {
            let is_number = |word: &&str| word.starts_with(|first: char| first.is_ascii_digit());
            match words.next_if(is_number) {
                Some(number) => put(format!("{axis}_{unit}"), number),
                None if unit == "degrees" => return None,
                None => break,
            };
        }
        let direction = words.next().filter(|word| word.len() == 1)?;
        put(format!("{axis}_direction"), direction);
    }
    let metres = |word: &str| {
        let number = word.strip_suffix(METRE).unwrap_or(word);
        number.parse::<f64>().is_ok_and(f64::is_finite).then(|| number.to_owned())
    };
    put("altitude".to_owned(), &metres(words.next()?)?);
    for name in ["size", "precision_horz", "precision_vert"] {
        if let Some(word) = words.next() {
            put(name.to_owned(), &metres(word)?);
        }
    }
    words.next().is_none().then_some(data)
}
