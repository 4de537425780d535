// Generated from kinds/red_widget.toml (sha256 22d7266782f2e0b68dedcdc45cb101c418a56ebe29a988d838ff62b2887db3b5) by kindgen, do not edit.
//! The row and the types of RedWidget.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::condition::Condition;
use crate::table::{
    Batch, Field, GrantedOn, Grouping, Identity, Lifecycle, OwnCall, Permission, Permissions, Reference,
    Routes, Scope, Shape, StatusField, Update, Usage, WhenUnset,
};
use crate::{Kind, Reason, hooks, limits};

/// A red widget.
pub(super) static KIND: Kind = Kind {
    name: "RedWidget",
    plural: "redwidgets",
    singular: "redwidget",
    short_names: &["rw"],
    scope: Scope::Namespaced,
    lifecycle: Lifecycle::Managed,
    grouping: Grouping::ParentList,
    references: &[Reference {
        field: "shelfRef",
        kind: "Shelf",
        parent: true,
        not_found: Reason::ShelfMissing,
        not_ready: Reason::ShelfMissing,
    }],
    secret: None,
    routes: Routes {
        collection: "/shelves/{parent}/widgets",
        item: "/shelves/{parent}/widgets/{id}",
        update: Update::Patch,
        batch: Some(Batch {
            path: "/shelves/{parent}/batch",
            plan: "/plan",
            limit: limits::widget_batch,
            usage: Some(Usage { path: "/shelves/{parent}/usage", most: "/most", held: "/held" }),
        }),
        page_size: 100,
        lookup: &[("name", "/name")],
        parent_in_body: None,
        absent_is_forbidden: false,
        document: None,
    },
    identity: Identity {
        wire: "/id",
        created: "/created_on",
        status: "/widgetID",
        spec: None,
        label: Some("toys.example/widget-id"),
        claims: true,
        conflict: Reason::Taken,
        fixed_key: false,
    },
    permissions: Permissions {
        read: Permission { name: "Widgets: Read", on: GrantedOn::Zone },
        create: Some(Permission { name: "Widgets: Edit", on: GrantedOn::Zone }),
        change: Some(Permission { name: "Widgets: Edit", on: GrantedOn::Zone }),
    },
    fields: &[
        Field {
            name: "size",
            wire: "/size",
            unset: WhenUnset::Default("3"),
            immutable: false,
            own_call: None,
        },
        Field {
            name: "shape",
            wire: "/shape",
            unset: WhenUnset::Default("\"round\""),
            immutable: false,
            own_call: None,
        },
        Field {
            name: "note",
            wire: "/note",
            unset: WhenUnset::Unmanaged { clear: "null" },
            immutable: false,
            own_call: None,
        },
        Field {
            name: "grade",
            wire: "/grade",
            unset: WhenUnset::Kept,
            immutable: false,
            own_call: Some(OwnCall {
                path: "/widgets/{id}/grade",
                body: "/value",
                permission: Permission { name: "Grades: Edit", on: GrantedOn::Account },
                initial: "1",
            }),
        },
        Field {
            name: "tags",
            wire: "/tags",
            unset: WhenUnset::Unmanaged { clear: "[]" },
            immutable: false,
            own_call: None,
        },
        Field { name: "extra", wire: "/extra", unset: WhenUnset::Required, immutable: false, own_call: None },
    ],
    status: &[StatusField { status: "/widgetID", wire: "/id", shape: Shape::Text }],
    ready: Reason::Fine,
    hooks: hooks::red_widget::HOOKS,
};

/// What a RedWidget asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RedWidgetSpec {
    /// The Shelf.
    #[serde(rename = "shelfRef")]
    pub shelf_ref: RedWidgetShelfRef,
    /// How big.
    #[serde(default = "red_widget_size")]
    pub size: u16,
    /// How it looks. Really.
    #[serde(default = "red_widget_shape")]
    pub shape: RedWidgetShape,
    /// What is written on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// How good.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grade: Option<i64>,
    /// Tags.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<BTreeSet<String>>,
    /// Anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra: Option<Map<String, Value>>,
}

fn red_widget_size() -> u16 {
    3
}

fn red_widget_shape() -> RedWidgetShape {
    RedWidgetShape::Round
}

/// The Shelf.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RedWidgetShelfRef {
    /// Its name.
    pub name: String,
}

/// How it looks. Really.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum RedWidgetShape {
    /// `round`.
    #[serde(rename = "round")]
    Round,
    /// `SQUARE`.
    #[serde(rename = "SQUARE")]
    Square,
}

/// What kflare says of a RedWidget.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RedWidgetStatus {
    /// Its ID.
    #[serde(rename = "widgetID", skip_serializing_if = "Option::is_none")]
    pub widget_id: Option<String>,
    /// The generation that the status was written for.
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
}
