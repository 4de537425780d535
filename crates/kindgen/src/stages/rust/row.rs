//! The row of a kind: the table's run-time part as a constant of `kinds::table::Kind`.

use super::code::{Code, import};
use crate::project::Kind;
use crate::table::{
    Field, GrantedOn, Grouping, Identity, Lifecycle, Permission, Purpose, Reference, Routes, Scope, Secret,
    Table, Type, Unset, Update, Usage,
};

/// What a row uses of the crate's row types.
pub(super) fn imports(kind: &Kind) -> String {
    let table = &kind.table;
    let wired = || table.spec.iter().filter(|field| field.wire.is_some());
    let used = [
        ("GrantedOn", true),
        ("Grouping", true),
        ("Identity", true),
        ("Lifecycle", true),
        ("Permission", true),
        ("Permissions", true),
        ("Routes", true),
        ("Scope", true),
        ("Update", true),
        ("Batch", table.routes.batch.is_some()),
        ("Document", table.routes.document.is_some()),
        ("Field", wired().next().is_some()),
        ("OwnCall", wired().any(|field| field.own_call.is_some())),
        ("Reference", !table.references.is_empty()),
        ("SecretReference", table.secret.is_some()),
        ("Shape", table.status.iter().any(|field| !copied("", field).is_empty())),
        ("StatusField", table.status.iter().any(|field| !copied("", field).is_empty())),
        ("Usage", table.routes.batch.as_ref().is_some_and(|batch| batch.usage.is_some())),
        ("WhenUnset", wired().next().is_some()),
    ];
    let names: Vec<String> =
        used.into_iter().filter(|(_, used)| *used).map(|(name, _)| name.to_owned()).collect();
    let limits = if table.routes.batch.is_some() { ", limits" } else { "" };
    let own = format!("use crate::{{Kind, Reason, hooks{limits}}};\n");
    format!("{}{own}", import("use crate::table::", &names))
}

pub(super) fn of(kind: &Kind) -> String {
    let table = &kind.table;
    let texts = |texts: &[String]| Code::Slice(texts.iter().map(|text| Code::text(text)).collect());
    let row = Code::Struct(
        "Kind",
        vec![
            ("name", Code::text(&table.kind)),
            ("plural", Code::text(&table.plural)),
            ("singular", Code::text(&table.singular)),
            ("short_names", texts(&table.short_names)),
            ("scope", scope(table.scope)),
            ("lifecycle", lifecycle(table.lifecycle)),
            ("grouping", grouping(table.grouping)),
            ("references", Code::Slice(table.references.iter().map(reference).collect())),
            ("secret", Code::option(table.secret.as_ref().map(secret))),
            ("routes", routes(&table.routes)),
            ("identity", identity(&table.identity)),
            ("permissions", permissions(table)),
            ("fields", Code::Slice(table.spec.iter().filter_map(|it| field(table, it)).collect())),
            ("status", Code::Slice(table.status.iter().flat_map(|field| copied("", field)).collect())),
            ("ready", reason(&table.ready)),
            ("hooks", Code::atom(format!("hooks::{}::HOOKS", kind.stem))),
        ],
    );
    let summary = table.summary.trim();
    format!("/// {summary}\n{};\n", row.after("pub(super) static KIND: Kind = ", 0))
}

fn reason(name: &str) -> Code {
    Code::atom(format!("Reason::{name}"))
}

fn boolean(value: bool) -> Code {
    Code::atom(value.to_string())
}

fn scope(scope: Scope) -> Code {
    Code::atom(match scope {
        Scope::Cluster => "Scope::Cluster",
        Scope::Namespaced => "Scope::Namespaced",
    })
}

fn lifecycle(lifecycle: Lifecycle) -> Code {
    Code::atom(match lifecycle {
        Lifecycle::Observed => "Lifecycle::Observed",
        Lifecycle::Managed => "Lifecycle::Managed",
    })
}

fn grouping(grouping: Grouping) -> Code {
    Code::atom(match grouping {
        Grouping::Object => "Grouping::Object",
        Grouping::ParentList => "Grouping::ParentList",
        Grouping::ParentDocument => "Grouping::ParentDocument",
    })
}

fn reference(reference: &Reference) -> Code {
    Code::Struct(
        "Reference",
        vec![
            ("field", Code::text(&reference.field)),
            ("kind", Code::text(&reference.kind)),
            ("parent", boolean(reference.parent)),
            ("not_found", reason(&reference.not_found)),
            ("not_ready", reason(&reference.not_ready)),
        ],
    )
}

fn secret(secret: &Secret) -> Code {
    Code::Struct(
        "SecretReference",
        vec![
            ("field", Code::text(&secret.field)),
            ("default_key", Code::text(&secret.default_key)),
            ("verify", Code::text(&secret.verify)),
            ("protected_status", Code::text(&format!("/{}", secret.protected_status))),
        ],
    )
}

fn usage(usage: &Usage) -> Code {
    let (path, most, held) = (Code::text(&usage.path), Code::text(&usage.most), Code::text(&usage.held));
    Code::Struct("Usage", vec![("path", path), ("most", most), ("held", held)])
}

fn routes(routes: &Routes) -> Code {
    let update = match routes.update {
        Update::Never => "Update::Never",
        Update::Patch => "Update::Patch",
        Update::PatchEach => "Update::PatchEach",
        Update::Put => "Update::Put",
    };
    let batch = routes.batch.as_ref().map(|batch| {
        let limit = Code::atom(format!("limits::{}", batch.limit));
        Code::Struct(
            "Batch",
            vec![
                ("path", Code::text(&batch.path)),
                ("plan", Code::text(&batch.plan)),
                ("limit", limit),
                ("usage", Code::option(batch.usage.as_ref().map(usage))),
            ],
        )
    });
    let document = routes.document.as_ref().map(|document| {
        let entries = Code::text(&document.entries);
        Code::Struct("Document", vec![("entries", entries), ("mark", Code::text(&document.mark))])
    });
    let lookup = routes.lookup.iter().map(|(query, pointer)| Code::atom(format!("({query:?}, {pointer:?})")));
    Code::Struct(
        "Routes",
        vec![
            ("collection", Code::text(&routes.collection)),
            ("item", Code::text(&routes.item)),
            ("update", Code::atom(update)),
            ("batch", Code::option(batch)),
            ("page_size", Code::atom(routes.page_size.to_string())),
            ("lookup", Code::Slice(lookup.collect())),
            ("parent_in_body", Code::option(routes.parent_in_body.as_deref().map(Code::text))),
            ("absent_is_forbidden", boolean(routes.absent_is_forbidden)),
            ("document", Code::option(document)),
        ],
    )
}

fn identity(identity: &Identity) -> Code {
    let text = |text: &Option<String>| Code::option(text.as_deref().map(Code::text));
    // A kind that claims nothing meets no conflict over a claim; its key can still be taken.
    let conflict = identity.conflict.as_deref().unwrap_or("AlreadyExists");
    Code::Struct(
        "Identity",
        vec![
            ("wire", Code::text(&identity.wire)),
            ("created", Code::text(&identity.created)),
            ("status", Code::text(identity.status.as_deref().unwrap_or_default())),
            ("spec", text(&identity.spec)),
            ("label", text(&identity.label)),
            ("claims", boolean(identity.claims)),
            ("conflict", reason(conflict)),
            ("fixed_key", boolean(identity.fixed_key)),
        ],
    )
}

fn permission(permission: &Permission) -> Code {
    let on = match permission.on {
        GrantedOn::Account => "GrantedOn::Account",
        GrantedOn::Zone => "GrantedOn::Zone",
    };
    Code::Struct("Permission", vec![("name", Code::text(&permission.name)), ("on", Code::atom(on))])
}

fn permissions(table: &Table) -> Code {
    let of = |purpose| table.permissions.iter().find(|it| it.calls.contains(&purpose)).map(permission);
    // The check saw that there is one for reads.
    let read = of(Purpose::Read).unwrap_or_else(|| Code::atom("None"));
    let (create, change) = (Code::option(of(Purpose::Create)), Code::option(of(Purpose::Change)));
    Code::Struct("Permissions", vec![("read", read), ("create", create), ("change", change)])
}

fn field(table: &Table, field: &Field) -> Option<Code> {
    let wire = field.wire.as_deref()?;
    let unset = match (&field.default, field.unset) {
        (Some(default), _) => format!("WhenUnset::Default({:?})", default.to_string()),
        (None, Some(Unset::Clear)) => {
            format!("WhenUnset::Unmanaged {{ clear: {:?} }}", field.clear.as_deref().unwrap_or("null"))
        }
        (None, Some(Unset::Keep)) => "WhenUnset::Kept".to_owned(),
        (None, Some(Unset::Required) | None) => "WhenUnset::Required".to_owned(),
    };
    let own_call = field.own_call.as_ref().map(|call| {
        // The check saw that it is there.
        let named = table.permissions.iter().find(|it| it.name == call.permission).map(permission);
        let (path, body, initial) =
            (Code::text(&call.path), Code::text(&call.body), Code::text(&call.initial.to_string()));
        let named = named.unwrap_or_else(|| Code::atom("None"));
        Code::Struct(
            "OwnCall",
            vec![("path", path), ("body", body), ("permission", named), ("initial", initial)],
        )
    });
    Some(Code::Struct(
        "Field",
        vec![
            ("name", Code::text(&field.name)),
            ("wire", Code::text(wire)),
            ("unset", Code::atom(unset)),
            ("immutable", boolean(field.immutable)),
            ("own_call", Code::option(own_call)),
        ],
    ))
}

/// What is copied is a value or a list of texts; the check saw that no other field has a wire place.
const fn shape(type_: Type) -> Option<&'static str> {
    match type_ {
        Type::Boolean => Some("Shape::Flag"),
        Type::Integer => Some("Shape::Number"),
        Type::List => Some("Shape::Texts"),
        Type::String => Some("Shape::Text"),
        Type::Object | Type::Map | Type::Free => None,
    }
}

fn copied(above: &str, field: &Field) -> Vec<Code> {
    let status = format!("{above}/{}", field.name);
    let own = field.wire.as_deref().zip(shape(field.type_)).map(|(wire, shape)| {
        let (status, wire, shape) = (Code::text(&status), Code::text(wire), Code::atom(shape));
        Code::Struct("StatusField", vec![("status", status), ("wire", wire), ("shape", shape)])
    });
    own.into_iter().chain(field.fields.iter().flat_map(|inner| copied(&status, inner))).collect()
}
