//! Checks of single fields: what a type needs, what it cannot have, and what a spec field owes its wire place.

use crate::TableError;
use crate::project::Kind;
use crate::table::{Field, Type, Unset};

/// Checks every field of spec and status.
pub(crate) fn all(kind: &Kind) -> Result<(), TableError> {
    let place = |root: &str, name: &str| format!("{root}.{name}");
    for field in &kind.table.spec {
        named(kind, &place("spec", &field.name), field)?;
        wire(kind, &place("spec", &field.name), field)?;
    }
    kind.table.status.iter().try_for_each(|field| {
        let place = place("status", &field.name);
        named(kind, &place, field)?;
        shown(kind, &place, field)
    })
}

/// Cloudflare's objects are not shown whole: what a status copies is a value or a list of texts.
fn shown(kind: &Kind, place: &str, field: &Field) -> Result<(), TableError> {
    let is_of_texts = || field.item.as_deref().is_some_and(|item| item.type_ == Type::String);
    let fits = match field.type_ {
        Type::String | Type::Integer | Type::Boolean => true,
        Type::List => is_of_texts(),
        Type::Object | Type::Map | Type::Free => false,
    };
    if field.wire.is_some() && !fits {
        return Err(misplaced(
            kind,
            place,
            "wire",
            "a status copies strings, integers, booleans and lists of strings; name a field for each part that is of use",
        ));
    }
    field.fields.iter().try_for_each(|inner| shown(kind, &format!("{place}.{}", inner.name), inner))
}

/// The names of fields at any depth.
pub(crate) fn names(fields: &[Field]) -> Vec<&str> {
    let inner = |field| -> Vec<&str> {
        let field: &Field = field;
        let items = field.item.as_deref().map(|item| names(&item.fields)).unwrap_or_default();
        [vec![field.name.as_str()], names(&field.fields), items].concat()
    };
    fields.iter().flat_map(inner).collect()
}

fn named(kind: &Kind, place: &str, field: &Field) -> Result<(), TableError> {
    if field.name.is_empty() {
        return Err(missing(kind, place, "name", "write the field's name as manifests spell it"));
    }
    if field.doc.trim().is_empty() {
        return Err(missing(kind, place, "doc", "write a sentence that a user of the field needs"));
    }
    if field.required && field.default.is_some() {
        return Err(misplaced(
            kind,
            place,
            "default",
            "a required field is never left out; drop one of the two",
        ));
    }
    shape(kind, place, field)
}

fn shape(kind: &Kind, place: &str, field: &Field) -> Result<(), TableError> {
    use Type::{Free, Integer, List, Map, Object, String};
    let is = |types: &[Type]| types.contains(&field.type_);
    let given = [
        ("min", field.min.is_some(), is(&[Integer]), "only integers have it"),
        ("max", field.max.is_some(), is(&[Integer]), "only integers have it"),
        ("min_length", field.min_length.is_some(), is(&[String]), "only strings have it"),
        ("max_length", field.max_length.is_some(), is(&[String]), "only strings have it"),
        ("pattern", field.pattern.is_some(), is(&[String]), "only strings have it"),
        ("format", field.format.is_some(), is(&[String]), "only strings have it"),
        ("enum", !field.values.is_empty(), is(&[String]), "only strings have it"),
        ("fields", !field.fields.is_empty(), is(&[Object]), "only objects have it"),
        ("item", field.item.is_some(), is(&[List, Map]), "only lists and maps have it"),
        ("list", field.list.is_some(), is(&[List]), "only lists have it"),
        ("min_items", field.min_items.is_some(), is(&[List]), "only lists have it"),
        ("max_items", field.max_items.is_some(), is(&[List]), "only lists have it"),
        ("max_properties", field.max_properties.is_some(), is(&[Map, Free]), "only maps have it"),
    ];
    if let Some((extra, _, _, fix)) = given.into_iter().find(|(_, given, fits, _)| *given && !fits) {
        return Err(misplaced(kind, place, extra, fix));
    }
    let needed = [
        (
            "fields",
            is(&[Object]) && field.fields.is_empty(),
            "an object needs its fields; a `free` one has none",
        ),
        ("item", is(&[List, Map]) && field.item.is_none(), "say what it holds: item = { type = \"string\" }"),
        ("list", is(&[List]) && field.list.is_none(), "say whether order counts: \"ordered\" or \"set\""),
    ];
    if let Some((name, _, fix)) = needed.into_iter().find(|(_, lacks, _)| *lacks) {
        return Err(missing(kind, place, name, fix));
    }
    default(kind, place, field)?;
    super::rules(kind, place, &field.rules)?;
    for inner in &field.fields {
        named(kind, &format!("{place}.{}", inner.name), inner)?;
    }
    field.item.as_deref().map_or(Ok(()), |item| shape(kind, &format!("{place}[]"), item))
}

fn default(kind: &Kind, place: &str, field: &Field) -> Result<(), TableError> {
    let Some(default) = &field.default else { return Ok(()) };
    let fits = match field.type_ {
        Type::String => default
            .as_str()
            .is_some_and(|text| field.values.is_empty() || field.values.iter().any(|v| v == text)),
        Type::Integer => default.as_i64().is_some_and(|number| {
            field.min.is_none_or(|min| min <= number) && field.max.is_none_or(|max| number <= max)
        }),
        Type::Boolean => default.is_boolean(),
        Type::Object | Type::List | Type::Map | Type::Free => false,
    };
    if fits {
        return Ok(());
    }
    let problem = format!("the default {default} is not a value of the field; correct it or drop it");
    Err(TableError::BadValue { file: kind.path.clone(), place: place.to_owned(), problem })
}

// The engine has to know what silence means for every field that reaches Cloudflare.
fn wire(kind: &Kind, place: &str, field: &Field) -> Result<(), TableError> {
    let silent = !field.required && field.default.is_none();
    if field.wire.is_some() && silent && field.unset.is_none() {
        let fix = "say what leaving the field out means: \"clear\", \"keep\" or \"required\"";
        return Err(missing(kind, place, "unset", fix));
    }
    if field.unset.is_some() && (field.wire.is_none() || !silent) {
        return Err(misplaced(
            kind,
            place,
            "unset",
            "it is for fields with a wire place that may be left out",
        ));
    }
    match (field.unset, &field.clear) {
        (Some(Unset::Clear), None) => {
            Err(missing(kind, place, "clear", "write the JSON that takes the value back: clear = '\"\"'"))
        }
        (Some(Unset::Clear), Some(json)) if serde_json::from_str::<serde_json::Value>(json).is_err() => {
            let problem = format!("clear = '{json}' is not JSON; quote strings twice: clear = '\"\"'");
            Err(TableError::BadValue { file: kind.path.clone(), place: place.to_owned(), problem })
        }
        (Some(Unset::Clear), _) | (_, None) => Ok(()),
        (_, Some(_)) => Err(misplaced(kind, place, "clear", "it goes with unset = \"clear\"")),
    }
}

fn missing(kind: &Kind, place: &str, missing: &'static str, fix: &'static str) -> TableError {
    TableError::Missing { file: kind.path.clone(), place: place.to_owned(), missing, fix }
}

fn misplaced(kind: &Kind, place: &str, extra: &'static str, fix: &'static str) -> TableError {
    TableError::Misplaced { file: kind.path.clone(), place: place.to_owned(), extra, fix }
}
