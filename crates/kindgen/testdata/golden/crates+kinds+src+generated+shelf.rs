// Generated from kinds/shelf.toml (sha256 1771076fa4c369ca5d15542b67124fd72e8bc9ab2f4051f5516803f9e7e4caee) by kindgen, do not edit.
//! The row and the types of Shelf.

use serde::{Deserialize, Serialize};

use crate::condition::Condition;
use crate::table::{
    GrantedOn, Grouping, Identity, Lifecycle, Permission, Permissions, Routes, Scope, SecretReference,
    Update,
};
use crate::{Kind, Reason, hooks};

/// A shelf.
pub(super) static KIND: Kind = Kind {
    name: "Shelf",
    plural: "shelves",
    singular: "shelf",
    short_names: &[],
    scope: Scope::Cluster,
    lifecycle: Lifecycle::Observed,
    grouping: Grouping::Object,
    references: &[],
    secret: Some(SecretReference {
        field: "keyRef",
        default_key: "KEY",
        verify: "/keys/verify",
        protected_status: "/lockedBy",
    }),
    routes: Routes {
        collection: "/shelves",
        item: "/shelves/{id}",
        update: Update::Never,
        batch: None,
        page_size: 10,
        lookup: &[],
        parent_in_body: None,
        absent_is_forbidden: false,
        document: None,
    },
    identity: Identity {
        wire: "/id",
        created: "/created_on",
        status: "",
        spec: Some("/shelfID"),
        label: None,
        claims: false,
        conflict: Reason::AlreadyExists,
        fixed_key: false,
    },
    permissions: Permissions {
        read: Permission { name: "Shelves: Read", on: GrantedOn::Account },
        create: None,
        change: None,
    },
    fields: &[],
    status: &[],
    ready: Reason::Fine,
    hooks: hooks::shelf::HOOKS,
};

/// What a Shelf asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShelfSpec {
    /// Which shelf.
    #[serde(rename = "shelfID")]
    pub shelf_id: String,
    /// The Secret with the key.
    #[serde(rename = "keyRef")]
    pub key_ref: ShelfKeyRef,
}

/// The Secret with the key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShelfKeyRef {
    /// Its name.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Its key.
    #[serde(default = "shelf_key_ref_key")]
    pub key: String,
}

fn shelf_key_ref_key() -> String {
    "KEY".to_owned()
}

/// What kflare says of a Shelf.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShelfStatus {
    /// The Secret that is kept.
    #[serde(rename = "lockedBy", skip_serializing_if = "Option::is_none")]
    pub locked_by: Option<String>,
    /// The generation that the status was written for.
    #[serde(rename = "observedGeneration", skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The `Ready` condition.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}
