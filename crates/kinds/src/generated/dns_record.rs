// Generated from kinds/dns_record.toml (sha256 f7e61d14a1e97f50f367af98ca7f972b9b6caa55789f986245ff28799e7dfd86) by kindgen, do not edit.
//! The row and the types of DNSRecord.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::condition::Condition;
use crate::table::{
    Batch, Field, GrantedOn, Grouping, Identity, Lifecycle, Permission, Permissions, Reference, Routes,
    Scope, Shape, StatusField, Update, Usage, WhenUnset,
};
use crate::{Kind, Reason, hooks, limits};

/// A DNS record of a Zone.
pub(super) static KIND: Kind = Kind {
    name: "DNSRecord",
    plural: "dnsrecords",
    singular: "dnsrecord",
    short_names: &["cfrecord"],
    scope: Scope::Namespaced,
    lifecycle: Lifecycle::Managed,
    grouping: Grouping::ParentList,
    references: &[Reference {
        field: "zoneRef",
        kind: "Zone",
        parent: true,
        not_found: Reason::ZoneNotFound,
        not_ready: Reason::ZoneNotReady,
    }],
    secret: None,
    routes: Routes {
        collection: "/zones/{parent}/dns_records",
        item: "/zones/{parent}/dns_records/{id}",
        update: Update::Patch,
        batch: Some(Batch {
            path: "/zones/{parent}/dns_records/batch",
            plan: "/cloudflareMetadata/plan",
            limit: limits::dns_batch,
            usage: Some(Usage {
                path: "/zones/{parent}/dns_records/usage",
                most: "/record_quota",
                held: "/record_usage",
            }),
        }),
        page_size: 5000,
        lookup: &[("name.exact", "/name"), ("type", "/type")],
        parent_in_body: None,
        absent_is_forbidden: false,
        document: None,
    },
    identity: Identity {
        wire: "/id",
        created: "/created_on",
        status: "/recordID",
        spec: None,
        label: Some("kflare.dev/record-id"),
        claims: true,
        conflict: Reason::RecordConflict,
        fixed_key: false,
    },
    permissions: Permissions {
        read: Permission { name: "DNS: Read", on: GrantedOn::Zone },
        create: Some(Permission { name: "DNS: Edit", on: GrantedOn::Zone }),
        change: Some(Permission { name: "DNS: Edit", on: GrantedOn::Zone }),
    },
    fields: &[
        Field { name: "name", wire: "/name", unset: WhenUnset::Required, immutable: true, own_call: None },
        Field { name: "type", wire: "/type", unset: WhenUnset::Required, immutable: true, own_call: None },
        Field {
            name: "content",
            wire: "/content",
            unset: WhenUnset::Required,
            immutable: false,
            own_call: None,
        },
        Field { name: "data", wire: "/data", unset: WhenUnset::Required, immutable: false, own_call: None },
        Field { name: "ttl", wire: "/ttl", unset: WhenUnset::Default("1"), immutable: false, own_call: None },
        Field {
            name: "proxied",
            wire: "/proxied",
            unset: WhenUnset::Default("false"),
            immutable: false,
            own_call: None,
        },
        Field {
            name: "priority",
            wire: "/priority",
            unset: WhenUnset::Required,
            immutable: false,
            own_call: None,
        },
        Field {
            name: "comment",
            wire: "/comment",
            unset: WhenUnset::Unmanaged { clear: "\"\"" },
            immutable: false,
            own_call: None,
        },
        Field {
            name: "tags",
            wire: "/tags",
            unset: WhenUnset::Unmanaged { clear: "[]" },
            immutable: false,
            own_call: None,
        },
        Field {
            name: "settings",
            wire: "/settings",
            unset: WhenUnset::Unmanaged { clear: "{}" },
            immutable: false,
            own_call: None,
        },
    ],
    status: &[
        StatusField { status: "/recordID", wire: "/id", shape: Shape::Text },
        StatusField { status: "/zoneID", wire: "{parent}", shape: Shape::Text },
        StatusField { status: "/name", wire: "/name", shape: Shape::Text },
        StatusField { status: "/proxiable", wire: "/proxiable", shape: Shape::Flag },
    ],
    ready: Reason::Synced,
    hooks: hooks::dns_record::HOOKS,
};

/// What a DNSRecord asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DnsRecordSpec {
    /// The Zone that the record is in, in the same namespace.
    #[serde(rename = "zoneRef")]
    pub zone_ref: DnsRecordZoneRef,
    /// The record's name: relative to the zone (`www`), full (`www.example.com`), or `@` for the zone itself. Any other name is put below the zone, `app.example.net` too; with a final dot it is taken as it stands and must lie in the zone. `status.name` shows the result.
    pub name: String,
    /// The record's type.
    #[serde(rename = "type")]
    pub type_: DnsRecordType,
    /// The record's value: an address, a host or a text. Records that have `data` can be written here as a zone file has them instead, such as `10 5 5060 sip.example.com` for SRV.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The parts of a record that has several, named as Cloudflare's API names them; see below for what each type has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Map<String, Value>>,
    /// Seconds that resolvers may keep the record; 1 lets Cloudflare choose. Below 60 only Enterprise zones can go.
    #[serde(default = "dns_record_ttl")]
    pub ttl: u32,
    /// Whether visitors go through Cloudflare's network instead of straight to the address.
    #[serde(default = "dns_record_proxied")]
    pub proxied: bool,
    /// Preference of an MX or URI record; the lowest is tried first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<u16>,
    /// A note shown beside the record. Cloudflare takes 100 characters on Free zones and 500 on others. Dropped from the spec, a comment that kflare wrote is removed; one that it never wrote stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Tags of the record, each `name` or `name:value`. Free zones have none. Dropped from the spec, tags that kflare wrote are removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<BTreeSet<String>>,
    /// How Cloudflare serves the record. Dropped from the spec, settings that kflare wrote are turned off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<DnsRecordSettings>,
}

fn dns_record_ttl() -> u32 {
    1
}

fn dns_record_proxied() -> bool {
    false
}

/// The Zone that the record is in, in the same namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DnsRecordZoneRef {
    /// Name of the Zone.
    pub name: String,
}

/// The record's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum DnsRecordType {
    /// `A`.
    A,
    /// `AAAA`.
    #[serde(rename = "AAAA")]
    Aaaa,
    /// `CAA`.
    #[serde(rename = "CAA")]
    Caa,
    /// `CERT`.
    #[serde(rename = "CERT")]
    Cert,
    /// `CNAME`.
    #[serde(rename = "CNAME")]
    Cname,
    /// `DNSKEY`.
    #[serde(rename = "DNSKEY")]
    Dnskey,
    /// `DS`.
    #[serde(rename = "DS")]
    Ds,
    /// `HTTPS`.
    #[serde(rename = "HTTPS")]
    Https,
    /// `LOC`.
    #[serde(rename = "LOC")]
    Loc,
    /// `MX`.
    #[serde(rename = "MX")]
    Mx,
    /// `NAPTR`.
    #[serde(rename = "NAPTR")]
    Naptr,
    /// `NS`.
    #[serde(rename = "NS")]
    Ns,
    /// `OPENPGPKEY`.
    #[serde(rename = "OPENPGPKEY")]
    Openpgpkey,
    /// `PTR`.
    #[serde(rename = "PTR")]
    Ptr,
    /// `SMIMEA`.
    #[serde(rename = "SMIMEA")]
    Smimea,
    /// `SRV`.
    #[serde(rename = "SRV")]
    Srv,
    /// `SSHFP`.
    #[serde(rename = "SSHFP")]
    Sshfp,
    /// `SVCB`.
    #[serde(rename = "SVCB")]
    Svcb,
    /// `TLSA`.
    #[serde(rename = "TLSA")]
    Tlsa,
    /// `TXT`.
    #[serde(rename = "TXT")]
    Txt,
    /// `URI`.
    #[serde(rename = "URI")]
    Uri,
}

/// How Cloudflare serves the record. Dropped from the spec, settings that kflare wrote are turned off.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DnsRecordSettings {
    /// Answer with IPv4 addresses alone; for proxied records.
    #[serde(rename = "ipv4Only", skip_serializing_if = "Option::is_none")]
    pub ipv4_only: Option<bool>,
    /// Answer with IPv6 addresses alone; for proxied records.
    #[serde(rename = "ipv6Only", skip_serializing_if = "Option::is_none")]
    pub ipv6_only: Option<bool>,
    /// Answer with the addresses that a CNAME leads to; for CNAME records that are not proxied.
    #[serde(rename = "flattenCname", skip_serializing_if = "Option::is_none")]
    pub flatten_cname: Option<bool>,
}

/// What kflare says of a DNSRecord.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DnsRecordStatus {
    /// The record's ID.
    #[serde(rename = "recordID", skip_serializing_if = "Option::is_none")]
    pub record_id: Option<String>,
    /// ID of the zone that the record is in.
    #[serde(rename = "zoneID", skip_serializing_if = "Option::is_none")]
    pub zone_id: Option<String>,
    /// The record's full name as Cloudflare has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether Cloudflare could proxy the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxiable: Option<bool>,
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
