//! The 21 record types and what holds for each as a whole.
//! The fields of `data` are left to `data`.

/// A record type. The order is the order of the default list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::cloudflare) enum RecordType {
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
    pub(in crate::cloudflare) const ALL: [Self; 21] = [
        Self::A,
        Self::Aaaa,
        Self::Caa,
        Self::Cert,
        Self::Cname,
        Self::Dnskey,
        Self::Ds,
        Self::Https,
        Self::Loc,
        Self::Mx,
        Self::Naptr,
        Self::Ns,
        Self::Openpgpkey,
        Self::Ptr,
        Self::Smimea,
        Self::Srv,
        Self::Sshfp,
        Self::Svcb,
        Self::Tlsa,
        Self::Txt,
        Self::Uri,
    ];

    pub(in crate::cloudflare) const fn name(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::Aaaa => "AAAA",
            Self::Caa => "CAA",
            Self::Cert => "CERT",
            Self::Cname => "CNAME",
            Self::Dnskey => "DNSKEY",
            Self::Ds => "DS",
            Self::Https => "HTTPS",
            Self::Loc => "LOC",
            Self::Mx => "MX",
            Self::Naptr => "NAPTR",
            Self::Ns => "NS",
            Self::Openpgpkey => "OPENPGPKEY",
            Self::Ptr => "PTR",
            Self::Smimea => "SMIMEA",
            Self::Srv => "SRV",
            Self::Sshfp => "SSHFP",
            Self::Svcb => "SVCB",
            Self::Tlsa => "TLSA",
            Self::Txt => "TXT",
            Self::Uri => "URI",
        }
    }

    pub(in crate::cloudflare) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Cloudflare API docs: only these can be proxied.
    pub(super) const fn can_be_proxied(self) -> bool {
        matches!(self, Self::A | Self::Aaaa | Self::Cname)
    }

    /// Cloudflare API docs: `priority` at top level is required for these.
    pub(super) const fn needs_priority(self) -> bool {
        matches!(self, Self::Mx | Self::Uri)
    }
}

/// Types of which an identical record is accepted twice. Users of the official Terraform provider found
/// (its issue 750) that identical SRV records are allowed while A and TXT are not.
pub(super) const ACCEPTED_TWICE: [RecordType; 1] = [RecordType::Srv];
