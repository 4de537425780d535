// Generated from kinds/zone.toml (sha256 496b8a22af7913b74a336a52c69ea93f106b60d4ae48eeeb12b5648a82e06220) by kindgen, do not edit.
//! The row and the types of Zone.

use serde::{Deserialize, Serialize};

use crate::condition::Condition;
use crate::table::{
    Field, GrantedOn, Grouping, Identity, Lifecycle, OwnCall, Permission, Permissions, Reference, Routes,
    Scope, Shape, StatusField, Update, WhenUnset,
};
use crate::{Kind, Reason, hooks};

/// A domain in Cloudflare.
pub(super) static KIND: Kind = Kind {
    name: "Zone",
    plural: "zones",
    singular: "zone",
    short_names: &["cfzone"],
    scope: Scope::Namespaced,
    lifecycle: Lifecycle::Managed,
    grouping: Grouping::Object,
    references: &[Reference {
        field: "accountRef",
        kind: "CloudflareAccount",
        parent: true,
        not_found: Reason::AccountNotFound,
        not_ready: Reason::AccountNotReady,
    }],
    secret: None,
    routes: Routes {
        collection: "/zones",
        item: "/zones/{id}",
        update: Update::PatchEach,
        batch: None,
        page_size: 50,
        lookup: &[("name", "/name"), ("account.id", "{parent}")],
        parent_in_body: Some("/account/id"),
        absent_is_forbidden: true,
        document: None,
    },
    identity: Identity {
        wire: "/id",
        created: "/created_on",
        status: "/cloudflareMetadata/zoneID",
        spec: None,
        label: Some("kflare.dev/zone-id"),
        claims: false,
        conflict: Reason::AlreadyExists,
        fixed_key: true,
    },
    permissions: Permissions {
        read: Permission { name: "Zone: Read", on: GrantedOn::Zone },
        create: Some(Permission { name: "Zone: Edit", on: GrantedOn::Account }),
        change: Some(Permission { name: "Zone: Edit", on: GrantedOn::Zone }),
    },
    fields: &[
        Field { name: "name", wire: "/name", unset: WhenUnset::Required, immutable: true, own_call: None },
        Field {
            name: "plan",
            wire: "/plan/legacy_id",
            unset: WhenUnset::Kept,
            immutable: false,
            own_call: Some(OwnCall {
                path: "/zones/{id}/subscription",
                body: "/rate_plan/id",
                permission: Permission { name: "Billing: Edit", on: GrantedOn::Account },
                initial: "\"free\"",
            }),
        },
        Field {
            name: "type",
            wire: "/type",
            unset: WhenUnset::Default("\"full\""),
            immutable: false,
            own_call: None,
        },
    ],
    status: &[
        StatusField { status: "/cloudflareMetadata/zoneID", wire: "/id", shape: Shape::Text },
        StatusField { status: "/cloudflareMetadata/nameServers", wire: "/name_servers", shape: Shape::Texts },
        StatusField { status: "/cloudflareMetadata/plan", wire: "/plan/legacy_id", shape: Shape::Text },
        StatusField {
            status: "/cloudflareMetadata/pendingPlan",
            wire: "/plan_pending/legacy_id",
            shape: Shape::Text,
        },
        StatusField { status: "/cloudflareMetadata/status", wire: "/status", shape: Shape::Text },
    ],
    ready: Reason::Synced,
    hooks: hooks::zone::HOOKS,
};

/// What a Zone asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZoneSpec {
    /// The domain, in Unicode or in its `xn--` form.
    pub name: String,
    /// The CloudflareAccount that the zone belongs to.
    #[serde(rename = "accountRef")]
    pub account_ref: ZoneAccountRef,
    /// The zone's plan. Setting or changing it changes what Cloudflare bills. Left out, the plan is not looked at, also when it was set before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<ZonePlan>,
    /// `full`: Cloudflare serves the domain's DNS. `partial`: another provider does, and points hosts here by CNAME.
    #[serde(rename = "type", default = "zone_type")]
    pub type_: ZoneType,
}

fn zone_type() -> ZoneType {
    ZoneType::Full
}

/// The CloudflareAccount that the zone belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZoneAccountRef {
    /// Name of the CloudflareAccount.
    pub name: String,
}

/// The zone's plan. Setting or changing it changes what Cloudflare bills. Left out, the plan is not looked at, also when it was set before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ZonePlan {
    /// `free`.
    #[serde(rename = "free")]
    Free,
    /// `pro`.
    #[serde(rename = "pro")]
    Pro,
    /// `business`.
    #[serde(rename = "business")]
    Business,
    /// `enterprise`.
    #[serde(rename = "enterprise")]
    Enterprise,
}

/// `full`: Cloudflare serves the domain's DNS. `partial`: another provider does, and points hosts here by CNAME.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ZoneType {
    /// `full`.
    #[serde(rename = "full")]
    Full,
    /// `partial`.
    #[serde(rename = "partial")]
    Partial,
}

/// What kflare says of a Zone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZoneStatus {
    /// What Cloudflare says of the zone.
    #[serde(rename = "cloudflareMetadata", skip_serializing_if = "Option::is_none")]
    pub cloudflare_metadata: Option<ZoneCloudflareMetadata>,
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

/// What Cloudflare says of the zone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZoneCloudflareMetadata {
    /// The zone's ID.
    #[serde(rename = "zoneID", skip_serializing_if = "Option::is_none")]
    pub zone_id: Option<String>,
    /// The name servers that the registrar has to point at.
    #[serde(rename = "nameServers", skip_serializing_if = "Option::is_none")]
    pub name_servers: Option<Vec<String>>,
    /// The plan that the zone is on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// The plan that the zone changes to, while it does.
    #[serde(rename = "pendingPlan", skip_serializing_if = "Option::is_none")]
    pub pending_plan: Option<String>,
    /// `initializing`, `pending`, `active` or `moved`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
}
