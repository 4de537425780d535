//! Reading a JSON value as one of the types of the built-in kinds: which fields it has too many, and where a value is of
//! another type, in the words of Go's decoder (sigs.k8s.io/json). Leaves what the values mean to `kinds`.

use base64::engine::general_purpose::STANDARD;
use base64::{DecodeError, Engine};
use serde_json::{Map, Number, Value};

use super::super::document::json_type;
use super::time;
use super::{Plain, Shape, Type, named};

/// The type of conditions.
const CONDITION: &str = "meta.Condition";

/// Where a value is: the struct of Go that it is a field of, and the names on the way.
#[derive(Clone, Copy)]
struct Place<'p> {
    owner: &'p str,
    field: &'p str,
    /// The way with the indices of lists, as complaints about unknown fields have it.
    path: &'p str,
}

/// What a decoder finds on its way.
#[derive(Debug, Default)]
pub(crate) struct Decoded {
    /// Paths of fields that the type does not have; they are dropped.
    pub(crate) unknown: Vec<String>,
}

/// Reads `value` as `of`. The error is Go's.
pub(crate) fn decode(of: &Type, value: &mut Value, at: &str) -> Result<Decoded, String> {
    let mut decoded = Decoded::default();
    let place = Place { owner: of.name, field: at, path: at };
    decoded.named(of, value, place)?;
    Ok(decoded)
}

impl Decoded {
    /// The same, found inside of a field.
    pub(crate) fn below(mut self, field: &str) -> Self {
        for path in &mut self.unknown {
            *path = format!("{field}.{path}");
        }
        self
    }

    fn value(&mut self, shape: &Shape, value: &mut Value, place: Place<'_>) -> Result<(), String> {
        match (shape, &mut *value) {
            (Shape::Any, _) | (_, Value::Null) => Ok(()),
            (Shape::Plain(plain), value) => check_plain(*plain, value, place),
            (Shape::Named(name), value) => match named(name) {
                Some(of) => self.named(of, value, place),
                None => Ok(()),
            },
            (Shape::List(item), Value::Array(items)) => {
                for (index, value) in items.iter_mut().enumerate() {
                    let path = format!("{}[{index}]", place.path);
                    self.value(item, value, Place { path: &path, ..place })?;
                    zero(item, value);
                }
                Ok(())
            }
            (Shape::Map(item), Value::Object(entries)) => {
                for (key, value) in entries.iter_mut() {
                    let path = format!("{}.{key}", place.path);
                    self.value(item, value, Place { path: &path, ..place })?;
                    zero(item, value);
                }
                Ok(())
            }
            (shape, value) => Err(mistyped(json_type(value), shape, place)),
        }
    }

    fn named(&mut self, of: &Type, value: &mut Value, place: Place<'_>) -> Result<(), String> {
        let Value::Object(fields) = value else {
            return Err(mistyped(json_type(value), &of.shape, place));
        };
        let mut kept = Map::new();
        for (name, mut value) in std::mem::take(fields) {
            let join = |at: &str| if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
            let (field, path) = (join(place.field), join(place.path));
            let Some(known) = of.field(&name) else {
                self.unknown.push(path);
                continue;
            };
            self.value(&known.value, &mut value, Place { owner: of.name, field: &field, path: &path })?;
            // Go leaves out what has no entries, and null is no value.
            let is_empty = match &value {
                Value::Array(items) => items.is_empty(),
                Value::Object(_) => {
                    matches!(known.value, Shape::Map(_)) && value == Value::Object(Map::new())
                }
                other => other.is_null(),
            };
            let stays = known.is_required && !value.is_null();
            let stays = stays || (known.is_always && !matches!(known.value, Shape::Named(_)));
            if !is_empty || stays {
                kept.insert(name, value);
            }
        }
        if of.name == CONDITION {
            // Its fields have no `omitempty`.
            for field in of.fields.iter().filter(|field| field.is_required) {
                let zero = if matches!(field.value, Shape::Plain(Plain::Text)) {
                    Value::from("")
                } else {
                    Value::Null
                };
                kept.entry(field.name).or_insert(zero);
            }
        }
        for field in of.fields.iter().filter(|field| field.is_always) {
            let empty = || match field.value {
                Shape::Named(name) => named(name).map_or(Value::Null, Type::empty),
                _ => Value::Null,
            };
            kept.entry(field.name).or_insert_with(empty);
        }
        *fields = kept;
        Ok(())
    }
}

/// A null among the items of a list or a map is the zero of their type.
fn zero(shape: &Shape, value: &mut Value) {
    if !value.is_null() {
        return;
    }
    match shape {
        Shape::Plain(Plain::Text) => *value = Value::String(String::new()),
        Shape::Plain(Plain::Quantity) => *value = Value::String("0".to_owned()),
        Shape::Named(name) => *value = named(name).map_or(Value::Null, Type::empty),
        _ => {}
    }
}

fn check_plain(plain: Plain, value: &mut Value, place: Place<'_>) -> Result<(), String> {
    let shape = Shape::Plain(plain);
    let fits = match (plain, &*value) {
        (Plain::Text | Plain::Bytes | Plain::Quantity | Plain::NumberOrText, Value::String(_))
        | (Plain::Bool, Value::Bool(_))
        | (Plain::Fields, _)
        | (Plain::Quantity, Value::Number(_)) => true,
        (Plain::Time, Value::String(text)) => return time::check(text, time::SECONDS),
        (Plain::MicroTime, Value::String(text)) => return time::check(text, time::MICROSECONDS),
        (Plain::Time | Plain::MicroTime, other) => {
            return Err(format!("json: cannot unmarshal {} into Go value of type string", json_type(other)));
        }
        (Plain::NumberOrText, Value::Number(number)) => {
            return check_number(number, "int32", &shape, place);
        }
        (Plain::Number(format), Value::Number(number)) => return check_number(number, format, &shape, place),
        _ => false,
    };
    if !fits {
        return Err(mistyped(json_type(value), &shape, place));
    }
    match (plain, &*value) {
        (Plain::Bytes, Value::String(text)) => check_base64(text),
        _ => Ok(()),
    }
}

fn check_base64(text: &str) -> Result<(), String> {
    let Err(error) = STANDARD.decode(text.replace(['\n', '\r'], "")) else { return Ok(()) };
    let at = match error {
        DecodeError::InvalidByte(at, _) | DecodeError::InvalidLastSymbol(at, _) => at,
        DecodeError::InvalidLength(_) | DecodeError::InvalidPadding => text.len() / 4 * 4,
    };
    Err(format!("illegal base64 data at input byte {at}"))
}

fn check_number(number: &Number, format: &str, shape: &Shape, place: Place<'_>) -> Result<(), String> {
    let fits = match format {
        "int32" => number.as_i64().is_some_and(|integer| i32::try_from(integer).is_ok()),
        "int64" => number.as_i64().is_some(),
        _ => true,
    };
    if fits { Ok(()) } else { Err(mistyped(&format!("number {number}"), shape, place)) }
}

fn mistyped(found: &str, wanted: &Shape, place: Place<'_>) -> String {
    let owner = place.owner.rsplit('.').next().unwrap_or_default();
    let wanted = go_type(wanted);
    if place.field.is_empty() {
        return format!("json: cannot unmarshal {found} into Go value of type {wanted}");
    }
    format!("json: cannot unmarshal {found} into Go struct field {owner}.{} of type {wanted}", place.field)
}

/// The type as Go calls it.
fn go_type(shape: &Shape) -> String {
    match shape {
        Shape::Plain(plain) => match plain {
            Plain::Text | Plain::Time | Plain::MicroTime => "string",
            Plain::Bytes => "[]uint8",
            Plain::Bool => "bool",
            Plain::Number("double") => "float64",
            Plain::Number(format) => format,
            Plain::Quantity => "resource.Quantity",
            Plain::NumberOrText => "intstr.IntOrString",
            Plain::Fields => "v1.FieldsV1",
        }
        .to_owned(),
        Shape::Any => "interface {}".to_owned(),
        Shape::List(item) => format!("[]{}", go_type(item)),
        Shape::Map(item) => format!("map[string]{}", go_type(item)),
        Shape::Named(name) => format!("v1.{}", name.rsplit('.').next().unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(kind: &str, mut value: Value) -> Result<(Value, Vec<String>), String> {
        let decoded = decode(named(kind).unwrap(), &mut value, "")?;
        Ok((value, decoded.unknown))
    }

    #[test]
    fn fields_that_a_type_does_not_have_are_dropped_and_named() {
        let service = json!({ "spec": { "ports": [{ "port": 80, "colour": 1 }], "selector": {} }, "status": null, "x": 1 });
        let (value, unknown) = of("core.Service", service).unwrap();
        let empty = json!({ "loadBalancer": {} });
        assert_eq!(value, json!({ "metadata": {}, "spec": { "ports": [{ "port": 80 }] }, "status": empty }));
        assert_eq!(unknown, ["spec.ports[0].colour", "x"]);
    }

    #[test]
    fn values_of_another_type_are_refused_in_the_words_of_go() {
        let lease = json!({ "spec": { "leaseDurationSeconds": "x" } });
        assert_eq!(
            of("coordination.Lease", lease).unwrap_err(),
            "json: cannot unmarshal string into Go struct field LeaseSpec.spec.leaseDurationSeconds of type int32"
        );
        assert_eq!(
            of("core.ConfigMap", json!({ "data": ["a"] })).unwrap_err(),
            "json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string"
        );
        assert_eq!(
            of("core.ConfigMap", json!({ "data": { "a": 1 } })).unwrap_err(),
            "json: cannot unmarshal number into Go struct field ConfigMap.data of type string"
        );
    }
}
