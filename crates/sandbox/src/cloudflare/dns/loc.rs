//! The text form of LOC (RFC 1876), from and to `data`.
//! Bounds are left to `data`.

use serde_json::{Map, Value};

/// `51 30 12.300 N 0 7 39.500 W -2.50m 10.00m 10.00m 2.00m`.
pub(super) fn text(data: &Map<String, Value>) -> String {
    let number = |field: &str| data.get(field).and_then(Value::as_f64).unwrap_or(0.0);
    let word = |field: &str| data.get(field).and_then(Value::as_str).unwrap_or("").to_owned();
    let side = |name: &str| {
        format!(
            "{} {} {:.3} {}",
            number(&format!("{name}_degrees")),
            number(&format!("{name}_minutes")),
            number(&format!("{name}_seconds")),
            word(&format!("{name}_direction")),
        )
    };
    format!(
        "{} {} {:.2}m {:.2}m {:.2}m {:.2}m",
        side("lat"),
        side("long"),
        number("altitude"),
        number("size"),
        number("precision_horz"),
        number("precision_vert"),
    )
}

/// Reads the text form; minutes, seconds, size and precisions may be left out.
pub(super) fn data(text: &str) -> Option<Map<String, Value>> {
    let mut words = text.split_whitespace().peekable();
    let mut data = Map::new();
    for (name, directions) in [("lat", ["N", "S"]), ("long", ["E", "W"])] {
        for part in ["degrees", "minutes", "seconds"] {
            if part != "degrees" && words.peek().is_some_and(|word| directions.contains(word)) {
                break;
            }
            data.insert(format!("{name}_{part}"), number(words.next()?)?);
        }
        data.insert(format!("{name}_direction"), Value::from(words.next()?));
    }
    for (place, field) in ["altitude", "size", "precision_horz", "precision_vert"].into_iter().enumerate() {
        match words.next() {
            Some(word) => {
                data.insert(field.to_owned(), number(word.strip_suffix('m').unwrap_or(word))?);
            }
            None if place == 0 => return None,
            None => break,
        }
    }
    words.next().is_none().then_some(data)
}

/// A whole number where the text is one, so that `degrees` stays an integer.
fn number(text: &str) -> Option<Value> {
    match text.parse::<u64>() {
        Ok(whole) => Some(Value::from(whole)),
        Err(_) => text.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from),
    }
}
