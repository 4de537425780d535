// Generated from kinds/cloudflare_account.toml (sha256 815bf7a348525f8e1e03b97768a0934db9431bb0d6bdd7945e3113a9f6927e68) by kindgen, do not edit.
//! The row and the types of CloudflareAccount.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::condition::Condition;
use crate::table::{
    GrantedOn, Grouping, Identity, Lifecycle, Permission, Permissions, Routes, Scope, SecretReference, Shape,
    StatusField, Update,
};
use crate::{Kind, Reason, hooks};

/// A Cloudflare account and the API token that kflare uses for it.
pub(super) static KIND: Kind = Kind {
    name: "CloudflareAccount",
    plural: "cloudflareaccounts",
    singular: "cloudflareaccount",
    short_names: &["cfaccount"],
    scope: Scope::Cluster,
    lifecycle: Lifecycle::Observed,
    grouping: Grouping::Object,
    references: &[],
    secret: Some(SecretReference {
        field: "tokenSecretRef",
        default_key: "CF_API_TOKEN",
        verify: "/user/tokens/verify",
        protected_status: "/protectedTokenSecret",
    }),
    routes: Routes {
        collection: "/accounts",
        item: "/accounts/{id}",
        update: Update::Never,
        batch: None,
        page_size: 50,
        lookup: &[],
        parent_in_body: None,
        absent_is_forbidden: false,
        document: None,
    },
    identity: Identity {
        wire: "/id",
        created: "/created_on",
        status: "",
        spec: Some("/accountID"),
        label: None,
        claims: false,
        conflict: Reason::AlreadyExists,
        fixed_key: false,
    },
    permissions: Permissions {
        read: Permission { name: "Account Settings: Read", on: GrantedOn::Account },
        create: None,
        change: None,
    },
    fields: &[],
    status: &[StatusField { status: "/accountName", wire: "/name", shape: Shape::Text }],
    ready: Reason::Validated,
    hooks: hooks::cloudflare_account::HOOKS,
};

/// What a CloudflareAccount asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CloudflareAccountSpec {
    /// The account's ID: 32 hexadecimal digits in lower case, as the dashboard shows it.
    #[serde(rename = "accountID")]
    pub account_id: String,
    /// The Secret that holds the API token. kflare keeps it from being deleted while the account needs it.
    #[serde(rename = "tokenSecretRef")]
    pub token_secret_ref: CloudflareAccountTokenSecretRef,
    /// Namespaces whose resources may use this account: those that are named and those that the selector matches. Left out, every namespace may.
    #[serde(rename = "allowedNamespaces", skip_serializing_if = "Option::is_none")]
    pub allowed_namespaces: Option<CloudflareAccountAllowedNamespaces>,
}

/// The Secret that holds the API token. kflare keeps it from being deleted while the account needs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CloudflareAccountTokenSecretRef {
    /// Name of the Secret.
    pub name: String,
    /// Namespace of the Secret.
    pub namespace: String,
    /// Key of the Secret's data that holds the token.
    #[serde(default = "cloudflare_account_token_secret_ref_key")]
    pub key: String,
}

fn cloudflare_account_token_secret_ref_key() -> String {
    "CF_API_TOKEN".to_owned()
}

/// Namespaces whose resources may use this account: those that are named and those that the selector matches. Left out, every namespace may.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CloudflareAccountAllowedNamespaces {
    /// Names of namespaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<BTreeSet<String>>,
    /// Labels of namespaces; both parts must match. An empty selector matches every namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<CloudflareAccountAllowedNamespacesSelector>,
}

/// Labels of namespaces; both parts must match. An empty selector matches every namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CloudflareAccountAllowedNamespacesSelector {
    /// Labels that a namespace must have, with these values.
    #[serde(rename = "matchLabels", skip_serializing_if = "Option::is_none")]
    pub match_labels: Option<BTreeMap<String, String>>,
    /// Conditions on labels; all must hold.
    #[serde(rename = "matchExpressions", skip_serializing_if = "Option::is_none")]
    pub match_expressions: Option<Vec<CloudflareAccountAllowedNamespacesSelectorMatchExpressions>>,
}

/// An item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CloudflareAccountAllowedNamespacesSelectorMatchExpressions {
    /// The label.
    pub key: String,
    /// How the label is looked at.
    pub operator: CloudflareAccountAllowedNamespacesSelectorMatchExpressionsOperator,
    /// The label's values for `In` and `NotIn`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<String>>,
}

/// How the label is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum CloudflareAccountAllowedNamespacesSelectorMatchExpressionsOperator {
    /// `In`.
    In,
    /// `NotIn`.
    NotIn,
    /// `Exists`.
    Exists,
    /// `DoesNotExist`.
    DoesNotExist,
}

/// What kflare says of a CloudflareAccount.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CloudflareAccountStatus {
    /// The account's name in Cloudflare.
    #[serde(rename = "accountName", skip_serializing_if = "Option::is_none")]
    pub account_name: Option<String>,
    /// The Secret that kflare protects for this account, as `namespace/name`.
    #[serde(rename = "protectedTokenSecret", skip_serializing_if = "Option::is_none")]
    pub protected_token_secret: Option<String>,
    /// The generation that the status was written for.
    #[serde(rename = "observedGeneration", skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The `Ready` condition.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}
