//! The 21 record types and what holds for each as a whole: whether it can be proxied, has a priority beside its
//! value, has parts, and may exist twice. What the parts are is for their layouts.

use serde_json::Value;

use super::layout::{self, Layout};
use crate::hooks::member;

/// The record types that kflare manages: all that Cloudflare has (contract 3a).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordType {
    A,
    Aaaa,
    Caa,
    Cert,
    Cname,
    Dnskey,
    Ds,
    Https,
    Loc,
    Mx,
    Naptr,
    Ns,
    Openpgpkey,
    Ptr,
    Smimea,
    Srv,
    Sshfp,
    Svcb,
    Tlsa,
    Txt,
    Uri,
}

impl RecordType {
    pub(super) const NAMES: &[(&str, Self)] = &[
        ("A", Self::A),
        ("AAAA", Self::Aaaa),
        ("CAA", Self::Caa),
        ("CERT", Self::Cert),
        ("CNAME", Self::Cname),
        ("DNSKEY", Self::Dnskey),
        ("DS", Self::Ds),
        ("HTTPS", Self::Https),
        ("LOC", Self::Loc),
        ("MX", Self::Mx),
        ("NAPTR", Self::Naptr),
        ("NS", Self::Ns),
        ("OPENPGPKEY", Self::Openpgpkey),
        ("PTR", Self::Ptr),
        ("SMIMEA", Self::Smimea),
        ("SRV", Self::Srv),
        ("SSHFP", Self::Sshfp),
        ("SVCB", Self::Svcb),
        ("TLSA", Self::Tlsa),
        ("TXT", Self::Txt),
        ("URI", Self::Uri),
    ];

    /// The type of a spec, a body or an object of Cloudflare's.
    pub(super) fn of(record: &Value) -> Option<Self> {
        let written = member::text(record, "type");
        Self::NAMES.iter().find(|(name, _)| *name == written).map(|(_, found)| *found)
    }

    /// Whether Cloudflare can put its proxy before such a record.
    pub(super) fn can_be_proxied(self) -> bool {
        matches!(self, Self::A | Self::Aaaa | Self::Cname)
    }

    /// Whether the record has a priority at its top level that is part of what it says. SRV, HTTPS and SVCB carry
    /// theirs in `data`.
    pub(super) fn has_priority(self) -> bool {
        matches!(self, Self::Mx | Self::Uri)
    }

    /// The parts of the type's `data`; nothing for a type whose value is `content`.
    pub(super) fn layout(self) -> Option<&'static Layout> {
        match self {
            Self::Caa => Some(&layout::CAA),
            Self::Cert => Some(&layout::CERT),
            Self::Dnskey => Some(&layout::DNSKEY),
            Self::Ds => Some(&layout::DS),
            Self::Https | Self::Svcb => Some(&layout::SERVICE_BINDING),
            Self::Loc => Some(&layout::LOC),
            Self::Naptr => Some(&layout::NAPTR),
            Self::Smimea | Self::Tlsa => Some(&layout::ASSOCIATION),
            Self::Srv => Some(&layout::SRV),
            Self::Sshfp => Some(&layout::SSHFP),
            Self::Uri => Some(&layout::URI),
            Self::A
            | Self::Aaaa
            | Self::Cname
            | Self::Mx
            | Self::Ns
            | Self::Openpgpkey
            | Self::Ptr
            | Self::Txt => None,
        }
    }

    /// Whether Cloudflare was seen to refuse a second identical record. Each with its witness; an identical SRV is
    /// taken (case B051), and of the others nobody tells. What is not known of a type costs a look before its create.
    pub(super) fn refuses_twins(self) -> bool {
        match self {
            // 81057 and 81058: cloudflare/terraform-provider-cloudflare#750 (A, TXT),
            // joshuaavalon/docker-cloudflare#76 (A and AAAA).
            Self::A | Self::Aaaa | Self::Txt => true,
            // 81057: cloudflare/salt-cloudflare#17.
            Self::Caa => true,
            // 81053, whatever the target: hashicorp/terraform#10065.
            Self::Cname => true,
            // 81057: hashicorp/terraform#25728.
            Self::Mx => true,
            // Accepted twice: cloudflare/terraform-provider-cloudflare#750.
            Self::Srv => false,
            // A second identical TLSA got a 400 without a code that was told (ansible-collections/community.general
            // #7780). Of the rest there is no report at all.
            Self::Cert
            | Self::Dnskey
            | Self::Ds
            | Self::Https
            | Self::Loc
            | Self::Naptr
            | Self::Ns
            | Self::Openpgpkey
            | Self::Ptr
            | Self::Smimea
            | Self::Sshfp
            | Self::Svcb
            | Self::Tlsa
            | Self::Uri => false,
        }
    }
}
