//! Spec and status of a kind as Rust types with serde: structs, and enums where the table lists the values.

use std::fmt::Write as _;

use crate::names::{camel, paragraphs, snake};
use crate::project::Kind;
use crate::table::{Field, Lifecycle, ListType, Type};

/// The types of a kind.
#[derive(Default)]
pub(super) struct Types {
    /// `use` lines for other crates.
    pub(super) imports: String,
    /// The items.
    pub(super) items: String,
    /// Their names.
    pub(super) names: Vec<String>,
}

pub(super) fn of(kind: &Kind) -> Types {
    let mut types = Types::default();
    let prefix = kind.rust_name();
    let table = &kind.table;
    let spec = format!("What a {} asks for.", table.kind);
    types.structure(&format!("{prefix}Spec"), &prefix, &spec, &table.spec, "");
    let status = format!("What kflare says of a {}.", table.kind);
    types.structure(&format!("{prefix}Status"), &prefix, &status, &table.status, common(kind));
    let collections = match (types.items.contains("BTreeMap<"), types.items.contains("BTreeSet<")) {
        (true, true) => "use std::collections::{BTreeMap, BTreeSet};\n\n",
        (true, false) => "use std::collections::BTreeMap;\n\n",
        (false, true) => "use std::collections::BTreeSet;\n\n",
        (false, false) => "",
    };
    let json =
        if types.items.contains("Map<String, Value>") { "use serde_json::{Map, Value};\n" } else { "" };
    let condition = "\nuse crate::condition::Condition;";
    types.imports = format!("{collections}use serde::{{Deserialize, Serialize}};\n{json}{condition}");
    types
}

/// The status fields that every kind has.
fn common(kind: &Kind) -> &'static str {
    match kind.table.lifecycle {
        Lifecycle::Observed => OBSERVED_STATUS,
        Lifecycle::Managed => MANAGED_STATUS,
    }
}

const OBSERVED_STATUS: &str = r#"    /// The generation that the status was written for.
    #[serde(rename = "observedGeneration", skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The `Ready` condition.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
"#;

const MANAGED_STATUS: &str = r#"    /// The generation that the status was written for.
    #[serde(rename = "observedGeneration", skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The spec fields that kflare has written to Cloudflare, which it takes back when they leave the spec.
    #[serde(rename = "appliedFields", default, skip_serializing_if = "Vec::is_empty")]
    pub applied_fields: Vec<String>,
    /// The ID of the object that kflare took over instead of making it.
    #[serde(rename = "adoptedID", default, skip_serializing_if = "Option::is_none")]
    pub adopted_id: Option<String>,
    /// The `Ready` condition.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
"#;

impl Types {
    // Types that fields need are written after the struct that has them; names join the path of field names.
    fn structure(&mut self, name: &str, prefix: &str, doc: &str, fields: &[Field], common: &str) {
        let optional = fields.iter().all(|field| !field.required && field.default.is_none());
        let derives = if optional { ", Default" } else { "" };
        let mut item =
            format!("\n/// {doc}\n#[derive(Clone, Debug{derives}, PartialEq, Eq, Serialize, Deserialize)]\n");
        let _ = writeln!(item, "pub struct {name} {{");
        let mut defaults = String::new();
        let mut inner = Self::default();
        for field in fields {
            let type_ = inner.type_of(&format!("{prefix}{}", camel(&field.name)), field);
            member(&mut item, &mut defaults, prefix, field, &type_);
        }
        item.push_str(common);
        item.push_str("}\n");
        self.items.push_str(&item);
        self.items.push_str(&defaults);
        self.names.push(name.to_owned());
        self.items.push_str(&inner.items);
        self.names.append(&mut inner.names);
    }

    fn type_of(&mut self, name: &str, field: &Field) -> String {
        let item = |types: &mut Self| {
            field.item.as_deref().map(|item| types.type_of(name, item)).unwrap_or_default()
        };
        match field.type_ {
            Type::String if !field.values.is_empty() => {
                self.enumeration(name, field);
                name.to_owned()
            }
            Type::String => "String".to_owned(),
            Type::Boolean => "bool".to_owned(),
            Type::Integer => match (field.min, field.max) {
                (Some(0..), Some(..=0xFFFF)) => "u16".to_owned(),
                (Some(0..), Some(..=0xFFFF_FFFF)) => "u32".to_owned(),
                _ => "i64".to_owned(),
            },
            Type::Object => {
                self.structure(name, name, &doc(field, "An item.", ""), &field.fields, "");
                name.to_owned()
            }
            Type::List if field.list == Some(ListType::Set) => format!("BTreeSet<{}>", item(self)),
            Type::List => format!("Vec<{}>", item(self)),
            Type::Map => format!("BTreeMap<String, {}>", item(self)),
            Type::Free => "Map<String, Value>".to_owned(),
        }
    }

    fn enumeration(&mut self, name: &str, field: &Field) {
        let _ = write!(self.items, "\n/// {}\n", doc(field, "One of a few values.", ""));
        self.items.push_str(
            "#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]\n",
        );
        let _ = writeln!(self.items, "pub enum {name} {{");
        for value in &field.values {
            let variant = variant(value);
            let _ = writeln!(self.items, "    /// `{value}`.");
            if variant != *value {
                let _ = writeln!(self.items, "    #[serde(rename = \"{value}\")]");
            }
            let _ = writeln!(self.items, "    {variant},");
        }
        self.items.push_str("}\n");
        self.names.push(name.to_owned());
    }
}

/// A value as a Rust variant: `full` is `Full`, `CNAME` is `Cname`.
fn variant(value: &str) -> String {
    let shouted = value.chars().all(|letter| letter.is_ascii_uppercase());
    if shouted { camel(&value.to_ascii_lowercase()) } else { camel(value) }
}

fn doc(field: &Field, otherwise: &str, indent: &str) -> String {
    let text = if field.doc.trim().is_empty() { otherwise.to_owned() } else { paragraphs(&field.doc) };
    text.replace("\n\n", &format!("\n{indent}///\n{indent}/// "))
}

fn member(item: &mut String, defaults: &mut String, prefix: &str, field: &Field, type_: &str) {
    let name = snake(&field.name);
    let mut serde = Vec::new();
    if name != field.name {
        serde.push(format!("rename = \"{}\"", field.name));
    }
    let _ = writeln!(item, "    /// {}", doc(field, "", "    "));
    let optional = !field.required && field.default.is_none();
    if optional {
        serde.push("skip_serializing_if = \"Option::is_none\"".to_owned());
    }
    if let Some(default) = &field.default {
        let function = format!("{}_{}", snake(prefix), name.trim_end_matches('_'));
        serde.push(format!("default = \"{function}\""));
        let value = match default {
            serde_json::Value::String(text) if field.values.is_empty() => format!("{text:?}.to_owned()"),
            serde_json::Value::String(text) => format!("{type_}::{}", variant(text)),
            other => other.to_string(),
        };
        let _ = write!(defaults, "\nfn {function}() -> {type_} {{\n    {value}\n}}\n");
    }
    if !serde.is_empty() {
        let _ = writeln!(item, "    #[serde({})]", serde.join(", "));
    }
    let type_ = if optional { format!("Option<{type_}>") } else { type_.to_owned() };
    let _ = writeln!(item, "    pub {name}: {type_},");
}
