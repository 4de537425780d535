//! What the DNS product refuses, with Cloudflare's codes and texts.
//! When each applies is left to the modules that use them.

use super::super::envelope::Coded;

/// Refusals of DNS records (cloudflare API docs and reports of users; see each code).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in crate::cloudflare) enum DnsRefusal {
    #[error("Record does not exist.")]
    NoRecord,
    #[error("Record quota exceeded.")]
    Quota,
    #[error("An A, AAAA, or CNAME record with that host already exists.")]
    HostTaken,
    #[error("A CNAME record with that host already exists.")]
    CnameTaken,
    #[error("An A record with that host already exists.")]
    AddressTaken,
    #[error("NS records with that host already exist.")]
    NsTaken,
    #[error("The record already exists.")]
    ExistsOld,
    #[error("An identical record already exists.")]
    Identical,
    #[error("The combined content length for this name exceeds {max} characters.")]
    CombinedLength { max: usize },
    #[error("DNS name is invalid.")]
    Name,
    #[error("Target {content} is not allowed for a proxied record.")]
    PrivateProxied { content: String },
    #[error("This record type cannot be proxied.")]
    CannotBeProxied,
    #[error("Content for A record must be a valid IPv4 address.")]
    Ipv4,
    #[error("Content for AAAA record must be a valid IPv6 address.")]
    Ipv6,
    #[error("Content for {kind} record is invalid.")]
    Content { kind: &'static str },
    #[error("Content for MX record must be a hostname.")]
    MxHost,
    #[error("The record's content exceeds {max} bytes in wire format.")]
    WireLength { max: usize },
    #[error("TTL must be between {min} and 86400 seconds, or 1 for Automatic.")]
    Ttl { min: u64 },
    #[error("CNAME content cannot reference itself.")]
    SelfReference,
    #[error("{setting} is not valid for this record.")]
    Settings { setting: &'static str },
    #[error("{field} is a required data field.")]
    DataMissing { field: &'static str },
    #[error("Request body is invalid: {why}.")]
    Body { why: String },
    #[error("Field {field} has the wrong type.")]
    FieldType { field: String },
    #[error("DNS record has {count} tags, exceeding the quota of {quota}.")]
    TagQuota { count: usize, quota: usize },
    #[error("DNS record tag {tag:?} is invalid.")]
    Tag { tag: String },
    #[error("DNS record comment exceeds the maximum length of {max} characters.")]
    CommentLength { max: usize },
    #[error("DNS record comment contains invalid characters.")]
    CommentText,
    #[error("The type of a DNS record cannot be changed.")]
    TypeChange,
    #[error("DS records need NS records with the same name.")]
    DsWithoutNs,
    #[error("A batch can hold at most {max} operations.")]
    BatchSize { max: usize },
    #[error("The zone file is larger than {max} bytes.")]
    FileSize { max: usize },
    #[error("The zone file cannot be read: {why}.")]
    File { why: String },
}

impl DnsRefusal {
    pub(super) fn body(why: impl Into<String>) -> Self {
        Self::Body { why: why.into() }
    }

    pub(super) fn field(field: impl Into<String>) -> Self {
        Self::FieldType { field: field.into() }
    }
}

impl Coded for DnsRefusal {
    fn code(&self) -> u32 {
        match self {
            Self::NoRecord => 81044,
            Self::Quota => 81045,
            Self::HostTaken => 81053,
            Self::CnameTaken => 81054,
            Self::AddressTaken => 81055,
            Self::NsTaken => 81056,
            Self::ExistsOld => 81057,
            Self::Identical => 81058,
            Self::CombinedLength { .. } => 83011,
            Self::Name => 9000,
            Self::PrivateProxied { .. } => 9003,
            Self::CannotBeProxied => 9004,
            Self::Ipv4 => 9005,
            Self::Ipv6 => 9006,
            Self::Content { .. } => 9007,
            Self::MxHost => 9009,
            Self::WireLength { .. } => 9015,
            Self::Ttl { .. } => 9021,
            Self::SelfReference => 9039,
            Self::Settings { .. } => 9041,
            // Reported for a DS without `key_tag` (salt-cloudflare issue 14).
            Self::DataMissing { .. } => 9101,
            Self::FieldType { .. } => 9208,
            Self::TagQuota { .. } | Self::Tag { .. } => 9300,
            // Reported by users of a tunnel controller (its issue 168), with this text.
            Self::CommentLength { .. } | Self::CommentText => 9313,
            // No source names codes for the rest: the product's "request body invalid".
            Self::Body { .. }
            | Self::TypeChange
            | Self::DsWithoutNs
            | Self::BatchSize { .. }
            | Self::FileSize { .. }
            | Self::File { .. } => 9207,
        }
    }

    fn status(&self) -> u16 {
        match self {
            Self::NoRecord => 404,
            _ => 400,
        }
    }
}
