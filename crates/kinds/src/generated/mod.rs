// Generated from kinds/*.toml (sha256 760c34b0884ea6b6b0a8eacfea23317f9aee35d5e96c7f561984ef4d9093ad39) by kindgen, do not edit.
//! Every kind: its row, its types and its CustomResourceDefinition.

mod cloudflare_account;
mod dns_record;
mod zone;

use crate::Kind;

/// The rows, parents before children.
pub static KINDS: &[&Kind] = &[&cloudflare_account::KIND, &zone::KIND, &dns_record::KIND];

/// The CustomResourceDefinitions as JSON, in the order of the rows.
pub static CRDS: &[&str] = &[
    include_str!("crds/cloudflareaccounts.json"),
    include_str!("crds/zones.json"),
    include_str!("crds/dnsrecords.json"),
];

/// Spec and status of every kind as types.
pub mod types {
    pub use crate::condition::Condition;

    pub use super::cloudflare_account::{
        CloudflareAccountAllowedNamespaces, CloudflareAccountAllowedNamespacesSelector,
        CloudflareAccountAllowedNamespacesSelectorMatchExpressions,
        CloudflareAccountAllowedNamespacesSelectorMatchExpressionsOperator, CloudflareAccountSpec,
        CloudflareAccountStatus, CloudflareAccountTokenSecretRef,
    };
    pub use super::dns_record::{
        DnsRecordSettings, DnsRecordSpec, DnsRecordStatus, DnsRecordType, DnsRecordZoneRef,
    };
    pub use super::zone::{ZoneAccountRef, ZoneCloudflareMetadata, ZonePlan, ZoneSpec, ZoneStatus, ZoneType};
}
