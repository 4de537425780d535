//! The reference page of a kind, for users: fields, rules, status, reasons, permissions, how-to notes.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{File, origin};
use crate::names::paragraphs;
use crate::project::{Kind, Project};
use crate::table::{Field, GrantedOn, Lifecycle, ListType, Scope, Type, Unset};

pub(super) fn files(project: &Project) -> Vec<File> {
    let file = |kind: &Kind| File {
        path: format!("docs/reference/{}.md", kind.stem.replace('_', "-")),
        text: page(project, kind),
    };
    project.kinds.iter().map(file).collect()
}

fn page(project: &Project, kind: &Kind) -> String {
    let table = &kind.table;
    let mut text = format!("<!-- {} -->\n\n# {}\n\n", origin(kind), table.kind);
    let _ = writeln!(text, "{}\n", paragraphs(&table.purpose));
    names(&mut text, project, kind);
    text.push_str("\n## Example\n\n```yaml\n");
    text.push_str(&super::sample::last(project, kind));
    text.push_str("```\n");
    text.push_str("\n## Spec\n\n| Field | Type | Default | Meaning |\n| --- | --- | --- | --- |\n");
    table.spec.iter().for_each(|field| spec_row(&mut text, "", field));
    rules(&mut text, kind);
    text.push_str("\n## Status\n\n| Field | Type | Meaning |\n| --- | --- | --- |\n");
    table.status.iter().for_each(|field| status_row(&mut text, "", field));
    if table.lifecycle == Lifecycle::Managed {
        text.push_str("| `appliedFields` | set of strings | Optional spec fields that kflare has written, which it takes back when they leave the spec. |\n");
        text.push_str("| `adoptedID` | string | The ID of the object that kflare took over instead of making it. It is kept when this resource goes, unless `kflare.dev/deletion-policy: delete` says otherwise. |\n");
    }
    text.push_str("| `observedGeneration` | integer | The generation that the status was written for; -1 before the first status, 0 while paused from the start. |\n");
    text.push_str("| `conditions` | list | One condition, `Ready`. |\n");
    ownership(&mut text, project, kind);
    reasons(&mut text, project, kind);
    permissions(&mut text, project, kind);
    for note in &table.notes {
        let _ = write!(text, "\n## {}\n\n{}\n", note.title, paragraphs(&note.text));
    }
    text
}

/// The kind and its parents, the account first.
fn lineage<'p>(project: &'p Project, kind: &'p Kind) -> Vec<&'p Kind> {
    let mut lineage = vec![kind];
    while let Some(parent) = lineage.last().and_then(|kind| project.parent(kind)) {
        lineage.push(parent);
    }
    lineage.reverse();
    lineage
}

fn names(text: &mut String, project: &Project, kind: &Kind) {
    let table = &kind.table;
    let scope = match table.scope {
        Scope::Cluster => "cluster",
        Scope::Namespaced => "namespaced",
    };
    let columns: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    let short = table.short_names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let manager = &project.manager;
    let _ = write!(
        text,
        "| | |\n| --- | --- |\n| API | `{}/{}`, {scope} |\n| kubectl | `{}`, {short}; category `{}` |\n| Columns | {}, Ready, Age; Reason and Message with `-o wide` |\n",
        manager.group,
        manager.version,
        table.plural,
        manager.category,
        columns.join(", "),
    );
    if !table.selectable.fields.is_empty() {
        let fields: Vec<String> = table
            .selectable
            .fields
            .iter()
            .map(|path| format!("`{}`", path.trim_start_matches('.')))
            .collect();
        let _ = writeln!(text, "| Field selectors | {} |", fields.join(", "));
    }
}

fn spec_row(text: &mut String, above: &str, field: &Field) {
    let path = format!("{above}{}", field.name);
    let default = match (&field.default, field.required) {
        (Some(default), _) => format!("`{}`", default.as_str().map_or(default.to_string(), str::to_owned)),
        (None, true) => "required".to_owned(),
        (None, false) => String::new(),
    };
    let mut meaning = cell(&field.doc);
    if field.immutable {
        meaning.push_str(" Cannot be changed.");
    }
    if field.write_only {
        meaning.push_str(" Cloudflare never shows it again, so a change made there goes unnoticed.");
    }
    if field.unset == Some(Unset::Keep) {
        meaning.push_str(" Never taken back by kflare.");
    }
    let _ = writeln!(text, "| `{path}` | {} | {default} | {meaning} |", describe(field));
    inner(field).iter().for_each(|inner| spec_row(text, &below(&path, field), inner));
}

fn status_row(text: &mut String, above: &str, field: &Field) {
    let path = format!("{above}{}", field.name);
    let _ = writeln!(text, "| `{path}` | {} | {} |", describe(field), cell(&field.doc));
    inner(field).iter().for_each(|inner| status_row(text, &below(&path, field), inner));
}

fn inner(field: &Field) -> &[Field] {
    field.item.as_deref().map_or(&field.fields, |item| &item.fields)
}

fn below(path: &str, field: &Field) -> String {
    if field.type_ == Type::List { format!("{path}[].") } else { format!("{path}.") }
}

fn cell(text: &str) -> String {
    paragraphs(text).replace("\n\n", "<br>").replace('|', "\\|")
}

fn describe(field: &Field) -> String {
    let item = || field.item.as_deref().map_or_else(String::new, plural);
    let mut text = match field.type_ {
        Type::String if !field.values.is_empty() => {
            field.values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ")
        }
        Type::String => "string".to_owned(),
        Type::Integer => "integer".to_owned(),
        Type::Boolean => "boolean".to_owned(),
        Type::Object => "object".to_owned(),
        Type::Free => "free object".to_owned(),
        Type::Map => format!("map of {}", item()),
        Type::List if field.list == Some(ListType::Set) => format!("set of {}", item()),
        Type::List => format!("list of {}", item()),
    };
    match (field.min, field.max) {
        (Some(min), Some(max)) => _ = write!(text, " {min} to {max}"),
        (Some(min), None) => _ = write!(text, " from {min}"),
        (None, Some(max)) => _ = write!(text, " to {max}"),
        (None, None) => {}
    }
    if let Some(most) = field.max_items.or(field.max_properties) {
        let _ = write!(text, ", at most {most}");
    }
    if let Some(most) = field.max_length {
        let _ = write!(text, ", at most {most} characters");
    }
    text
}

fn plural(item: &Field) -> String {
    match item.type_ {
        Type::String => "strings".to_owned(),
        Type::Integer => "integers".to_owned(),
        Type::Boolean => "booleans".to_owned(),
        Type::Object | Type::Free => "objects".to_owned(),
        Type::List | Type::Map => "lists".to_owned(),
    }
}

fn rules(text: &mut String, kind: &Kind) {
    let mut messages: Vec<&str> = kind.table.rules.iter().map(|rule| rule.message.as_str()).collect();
    field_rules(&kind.table.spec, &mut messages);
    if messages.is_empty() {
        return;
    }
    text.push_str("\nThe API server refuses a spec with one of these messages:\n\n");
    for message in messages {
        let _ = writeln!(text, "- {message}");
    }
}

fn field_rules<'f>(fields: &'f [Field], messages: &mut Vec<&'f str>) {
    for field in fields {
        messages.extend(field.rules.iter().map(|rule| rule.message.as_str()));
        field_rules(&field.fields, messages);
        if let Some(item) = field.item.as_deref() {
            messages.extend(item.rules.iter().map(|rule| rule.message.as_str()));
            field_rules(&item.fields, messages);
        }
    }
}

fn ownership(text: &mut String, project: &Project, kind: &Kind) {
    let identity = &kind.table.identity;
    text.push_str("\n## Ownership and deletion\n\n");
    if kind.table.lifecycle == Lifecycle::Observed {
        text.push_str(
            "kflare only reads the object: nothing is created, changed or deleted in Cloudflare.\n",
        );
    }
    if !identity.key.is_empty() {
        let key = identity.key.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let _ = writeln!(text, "An object that exists in Cloudflare is the same when it has the same {key}.");
    }
    match (&identity.label, identity.claims) {
        (Some(label), true) => {
            let _ = writeln!(
                text,
                "The label `{label}` claims it: no other {} in any namespace may.",
                kind.table.kind
            );
        }
        (Some(label), false) => {
            let _ = writeln!(
                text,
                "The label `{label}` shows its ID and claims nothing: several {}s may stand for one object, which goes with \
                 the last of them (reason `InUse` until then).",
                kind.table.kind
            );
        }
        (None, _) => {}
    }
    let dependents: Vec<&str> =
        project.dependents(&kind.table.kind).map(|kind| kind.table.kind.as_str()).collect();
    if !dependents.is_empty() {
        let _ = writeln!(
            text,
            "Its deletion waits for every {} that refers to it (reason `InUse`).",
            dependents.join(" and ")
        );
    }
    if let Some(secret) = &kind.table.secret {
        let _ = writeln!(text, "The Secret of `{}` cannot be deleted while it is referred to.", secret.field);
    }
}

fn permissions(text: &mut String, project: &Project, kind: &Kind) {
    text.push_str("\n## Permissions of the API token\n\n");
    text.push_str("| Permission | Granted on | What for |\n| --- | --- | --- |\n");
    for permission in lineage(project, kind).iter().flat_map(|holder| &holder.table.permissions) {
        let on = match permission.on {
            GrantedOn::Account => "the account",
            GrantedOn::Zone => "the zone",
        };
        let _ = writeln!(text, "| {} | {on} | {} |", permission.name, permission.why);
    }
}

fn reasons(text: &mut String, project: &Project, kind: &Kind) {
    let mut names = vec![kind.table.ready.as_str()];
    for holder in lineage(project, kind).into_iter().rev() {
        let references = holder.table.references.iter();
        names.extend(
            references.flat_map(|reference| [reference.not_found.as_str(), reference.not_ready.as_str()]),
        );
    }
    let shared = &project.manager.reasons;
    names.extend(shared.credentials.iter().map(String::as_str));
    names.extend(kind.table.identity.conflict.as_deref());
    if kind.table.lifecycle == Lifecycle::Managed {
        names.extend(shared.managed.iter().map(String::as_str));
    }
    if project.dependents(&kind.table.kind).next().is_some() {
        names.extend(shared.parents.iter().map(String::as_str));
    }
    names.extend(shared.every.iter().map(String::as_str));
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(*name));
    text.push_str("\n## Reasons\n\n`Ready` shows one of: ");
    let link = |name: &&str| format!("[`{name}`](reasons.md#{})", name.to_lowercase());
    text.push_str(&names.iter().map(link).collect::<Vec<_>>().join(", "));
    text.push_str(".\n");
}
