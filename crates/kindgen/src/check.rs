//! What must hold in and across tables and no single struct can say: references, unique names, fields that exist.
//! The schema's own rules (bounds that fit a type) are in `check::field`.

mod field;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::TableError;
use crate::project::{Kind, MANAGER};
use crate::reasons::{self, Reason};
use crate::table::{Field, Grouping, Lifecycle, Manager, Purpose, Rule, Type};

/// Checks all kinds.
pub(crate) fn kinds(kinds: &[Kind], manager: &Manager, known: &[Reason]) -> Result<(), TableError> {
    unique(kinds)?;
    shared_reasons(manager, known)?;
    kinds.iter().try_for_each(|kind| {
        references(kind, kinds)?;
        reasons(kind, known)?;
        identity(kind, manager)?;
        places(kind)?;
        permissions(kind)?;
        rules(kind, "rules", &kind.table.rules)?;
        field::all(kind)
    })
}

fn unique(kinds: &[Kind]) -> Result<(), TableError> {
    let mut taken: BTreeMap<(&'static str, &str), &str> = BTreeMap::new();
    for kind in kinds {
        let table = &kind.table;
        let mut names = vec![("kind", table.kind.as_str()), ("resource name", &table.plural)];
        names.push(("resource name", &table.singular));
        names.extend(table.short_names.iter().map(|name| ("resource name", name.as_str())));
        names.extend(table.identity.label.iter().map(|label| ("label", label.as_str())));
        for (what, value) in names {
            if let Some(other) = taken.insert((what, value), &table.kind) {
                let (file, value, other) = (kind.path.clone(), value.to_owned(), other.to_owned());
                return Err(TableError::Duplicate { file, what, value, other });
            }
        }
    }
    Ok(())
}

fn references(kind: &Kind, kinds: &[Kind]) -> Result<(), TableError> {
    for reference in &kind.table.references {
        if !kinds.iter().any(|other| other.table.kind == reference.kind) {
            let known = kinds.iter().map(|other| other.table.kind.as_str()).collect::<Vec<_>>().join(", ");
            let (file, field) = (kind.path.clone(), reference.field.clone());
            return Err(TableError::UnknownKind { file, field, kind: reference.kind.clone(), known });
        }
        let place = format!("references.{}", reference.field);
        spec_path(kind, &place, &format!("/{}/name", reference.field))?;
    }
    Ok(())
}

fn reasons(kind: &Kind, known: &[Reason]) -> Result<(), TableError> {
    let table = &kind.table;
    let references = table.references.iter();
    let mut named = vec![("ready", &table.ready)];
    named.extend(references.flat_map(|it| [("references", &it.not_found), ("references", &it.not_ready)]));
    named.extend(table.identity.conflict.iter().map(|reason| ("identity.conflict", reason)));
    named.into_iter().try_for_each(|(place, reason)| reason_exists(&kind.path, place, reason, known))
}

fn shared_reasons(manager: &Manager, known: &[Reason]) -> Result<(), TableError> {
    let shared = &manager.reasons;
    let mut named =
        [&shared.every, &shared.credentials, &shared.managed, &shared.parents].into_iter().flatten();
    named.try_for_each(|reason| reason_exists(MANAGER, "reasons", reason, known))
}

fn reason_exists(file: &str, place: &str, reason: &str, known: &[Reason]) -> Result<(), TableError> {
    if known.iter().any(|other| other.name == reason) {
        return Ok(());
    }
    let (file, place, reason) = (file.to_owned(), place.to_owned(), reason.to_owned());
    Err(TableError::UnknownReason { file, place, reason, list: reasons::PATH })
}

fn identity(kind: &Kind, manager: &Manager) -> Result<(), TableError> {
    let identity = &kind.table.identity;
    let place = "identity".to_owned();
    match (&identity.spec, &identity.status) {
        (Some(pointer), None) => spec_path(kind, "identity.spec", pointer)?,
        (None, Some(pointer)) => status_path(kind, "identity.status", pointer)?,
        _ => {
            let fix = "say either where the status records the ID or where users write it (`spec`)";
            return Err(TableError::Missing { file: kind.path.clone(), place, missing: "status", fix });
        }
    }
    if identity.claims && (identity.label.is_none() || identity.conflict.is_none()) {
        let fix = "a claim needs a `label` that carries it and a `conflict` reason";
        return Err(TableError::Missing { file: kind.path.clone(), place, missing: "label", fix });
    }
    let prefix = format!("{}/", manager.group);
    if let Some(label) = identity.label.as_ref().filter(|label| !label.starts_with(&prefix)) {
        let problem = format!("the label {label} is not ours; begin it with {prefix}");
        return Err(TableError::BadValue { file: kind.path.clone(), place, problem });
    }
    if kind.table.lifecycle == Lifecycle::Managed && identity.key.is_empty() {
        let fix = "list the spec fields by which an existing object is found";
        return Err(TableError::Missing { file: kind.path.clone(), place, missing: "key", fix });
    }
    for name in identity.key.iter().chain(&identity.loose_key) {
        spec_path(kind, "identity.key", &format!("/{name}"))?;
    }
    Ok(())
}

fn places(kind: &Kind) -> Result<(), TableError> {
    let table = &kind.table;
    let (file, place) = (kind.path.clone(), "routes".to_owned());
    match (table.grouping, &table.routes.document) {
        (Grouping::ParentDocument, None) => {
            let fix = "say where the document lists its `entries` and which member is an entry's `mark`";
            return Err(TableError::Missing { file, place, missing: "document", fix });
        }
        (Grouping::Object | Grouping::ParentList, Some(_)) => {
            let fix = "it is for kinds with grouping = \"parent-document\"";
            return Err(TableError::Misplaced { file, place, extra: "document", fix });
        }
        _ => {}
    }
    if let Some(secret) = &table.secret {
        for part in ["name", "namespace", "key"] {
            spec_path(kind, "secret.field", &format!("/{}/{part}", secret.field))?;
        }
        status_path(kind, "secret.protected_status", &format!("/{}", secret.protected_status))?;
    }
    let columns = table.columns.iter().map(|column| ("columns", &column.path));
    let selectable = table.selectable.fields.iter().map(|path| ("selectable", path));
    for (place, path) in columns.chain(selectable) {
        let pointer = path.replace('.', "/");
        match pointer.strip_prefix("/status") {
            Some(rest) => status_path(kind, place, rest)?,
            None => spec_path(kind, place, pointer.strip_prefix("/spec").unwrap_or(&pointer))?,
        }
    }
    table
        .samples
        .iter()
        .try_for_each(|it| sample(kind, &format!("samples.{}", it.name), &table.spec, &it.spec))
}

/// One permission for each purpose that the kind has calls for; a refused call names it to the user.
fn permissions(kind: &Kind) -> Result<(), TableError> {
    let table = &kind.table;
    let (file, place) = (|| kind.path.clone(), || "permissions".to_owned());
    let managed = table.lifecycle == Lifecycle::Managed;
    let purposes = [
        ("read", Purpose::Read, true),
        ("create", Purpose::Create, managed),
        ("change", Purpose::Change, managed),
    ];
    for (missing, purpose, needed) in purposes {
        let mut of = table.permissions.iter().filter(|permission| permission.calls.contains(&purpose));
        match (of.next(), of.next()) {
            (None, _) if needed => {
                let fix = "say in its `for` which permission these calls need";
                return Err(TableError::Missing { file: file(), place: place(), missing, fix });
            }
            (Some(_), _) if !needed => {
                let fix = "the kind is only read";
                return Err(TableError::Misplaced { file: file(), place: place(), extra: missing, fix });
            }
            (Some(one), Some(other)) => {
                let (value, other) = (other.name.clone(), one.name.clone());
                return Err(TableError::Duplicate {
                    file: file(),
                    what: "the purpose of the permission",
                    value,
                    other,
                });
            }
            _ => {}
        }
    }
    let own = table.spec.iter().filter_map(|field| Some((field, field.own_call.as_ref()?)));
    for (field, call) in own {
        if !table.permissions.iter().any(|permission| permission.name == call.permission) {
            let place = format!("spec.{}.own_call", field.name);
            let problem = format!("{:?} is none of the table's permissions; add it there", call.permission);
            return Err(TableError::BadValue { file: file(), place, problem });
        }
        if !field.values.is_empty() && !field.values.iter().any(|value| call.initial == *value.as_str()) {
            let place = format!("spec.{}.own_call.initial", field.name);
            let problem = format!("{} is none of the field's values", call.initial);
            return Err(TableError::BadValue { file: file(), place, problem });
        }
    }
    Ok(())
}

// A sample that the API server refuses is worse than none; bounds and rules are seen when samples are applied.
fn sample(kind: &Kind, place: &str, fields: &[Field], given: &Map<String, Value>) -> Result<(), TableError> {
    if let Some(name) = given.keys().find(|name| !fields.iter().any(|field| field.name == **name)) {
        let (file, place, field) = (kind.path.clone(), place.to_owned(), name.clone());
        return Err(TableError::NoSuchField { file, place, field });
    }
    for field in fields {
        let place = format!("{place}.{}", field.name);
        match given.get(&field.name) {
            None if field.required => {
                let fix = "give every required field, so that the sample can be applied";
                return Err(TableError::Missing { file: kind.path.clone(), place, missing: "value", fix });
            }
            Some(Value::Object(inner)) if field.type_ == Type::Object => {
                sample(kind, &place, &field.fields, inner)?
            }
            _ => {}
        }
    }
    Ok(())
}

// A rule's message is all that a user sees of it: it has to name the field that is wrong.
fn rules(kind: &Kind, place: &str, rules: &[Rule]) -> Result<(), TableError> {
    for rule in rules {
        let named = rule.message.split_once([':', ' ']).map_or("", |(first, _)| first.trim_end_matches(','));
        let known = field::names(&kind.table.spec).into_iter().any(|name| name == named);
        if !known || !rule.message.contains(';') && !rule.message.contains(':') {
            let problem = format!(
                "the message of `{}` must begin with the field it is about and say the fix: \"ttl: set it to 1\"",
                rule.rule
            );
            return Err(TableError::BadValue { file: kind.path.clone(), place: place.to_owned(), problem });
        }
    }
    Ok(())
}

fn spec_path(kind: &Kind, place: &str, pointer: &str) -> Result<(), TableError> {
    path(kind, place, "spec", &kind.table.spec, pointer)
}

fn status_path(kind: &Kind, place: &str, pointer: &str) -> Result<(), TableError> {
    path(kind, place, "status", &kind.table.status, pointer)
}

fn path(kind: &Kind, place: &str, root: &str, fields: &[Field], pointer: &str) -> Result<(), TableError> {
    let mut fields = fields;
    for name in pointer.trim_start_matches('/').split('/') {
        let Some(field) = fields.iter().find(|field| field.name == name) else {
            let (file, place) = (kind.path.clone(), place.to_owned());
            let field = format!("{root}{}", pointer.replace('/', "."));
            return Err(TableError::NoSuchField { file, place, field });
        };
        fields = &field.fields;
    }
    Ok(())
}
