//! What an Ingress is told, as a closed list: the reasons of the controller that kflare takes over from, and our own.
//! Values only, so that whoever writes Events can tell what is new from what was said before.

use kinds::Key;
use kinds::names::ingress as key;

use super::annotations::BadAnnotation;
use super::backend::Unavailable;
use super::path::{PathNote, PathRefusal};

/// Something to say of an Ingress.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Notice {
    /// It has a `tls` section.
    #[error(
        "TLS passthrough is not supported, spec.tls is ignored: visitors get the certificate of Cloudflare's edge"
    )]
    TlsIgnored,
    /// A rule has no paths.
    #[error("the rule for host {host:?} has no http section and is skipped")]
    RuleSkipped {
        /// Of the rule.
        host: String,
    },
    /// A host that no DNS name can be.
    #[error("the rule for host {host:?} is skipped: it is neither a DNS name nor one below \"*.\"")]
    HostRefused {
        /// As written.
        host: String,
    },
    /// An annotation is bad; the rules that stand stay.
    #[error("{0}; the rules that stand are kept as they are")]
    BadAnnotation(BadAnnotation),
    /// The object cannot be read; the rules that stand stay.
    #[error("{0}; the rules that stand are kept as they are")]
    Unreadable(String),
    /// Something that it names could not be read; the rules that stand stay.
    #[error("{0}; the rules that stand are kept as they are until it can be read")]
    LookupFailed(String),
    /// A path answers 503.
    #[error("path {path:?} of host {host:?} answers 503: {why}")]
    PathUnavailable {
        /// Of the rule.
        host: String,
        /// As written.
        path: String,
        /// What is missing.
        why: Unavailable,
    },
    /// The default backend answers 503.
    #[error("the default backend answers 503: {0}")]
    DefaultUnavailable(Unavailable),
    /// A path gets no rule.
    #[error("path {path:?} of host {host:?} is left out: {why}")]
    PathRefused {
        /// Of the rule.
        host: String,
        /// As written.
        path: String,
        /// What is wrong with it.
        why: PathRefusal,
    },
    /// A path is read otherwise than it is written, or may be meant otherwise.
    #[error("path {path:?} of host {host:?} {}", note_text(*note))]
    PathNote {
        /// Of the rule.
        host: String,
        /// As written.
        path: String,
        /// What of it.
        note: PathNote,
    },
    /// Another rule has the same host and path.
    #[error("path {path:?} of host {host:?} belongs to Ingress {winner}, which is older")]
    PathConflict {
        /// Of the rule.
        host: String,
        /// As the Ingress has it.
        path: String,
        /// Who keeps it.
        winner: Key,
    },
    /// The same Ingress has the same host and path in another rule, too.
    #[error("path {path:?} of host {host:?} stands in this Ingress more than once; one of them counts")]
    PathTwice {
        /// Of the rule.
        host: String,
        /// As the Ingress has it.
        path: String,
    },
    /// Another Ingress has the default backend.
    #[error("the default backend belongs to Ingress {winner}, which is older")]
    DefaultConflict {
        /// Who keeps it.
        winner: Key,
    },
    /// Plain HTTP to a port that mostly speaks TLS.
    #[error(
        "port {port} of Service {service:?} is reached by plain http; if it speaks TLS, set annotation {} to \"https\"",
        key::BACKEND_PROTOCOL
    )]
    PlainHttp {
        /// Name of the Service.
        service: String,
        /// Of the Service.
        port: i64,
    },
    /// A host that is in no zone.
    #[error("host {host:?} is in no zone that the token can see, so it gets no DNS record")]
    NoZone {
        /// Of the rule.
        host: String,
    },
    /// Something stands at the host that is not ours.
    #[error(
        "host {host:?} gets no DNS record: {why}; to let kflare have it, remove it or set annotation {} to \"adopt\"",
        kinds::names::ADOPTION_POLICY
    )]
    DnsConflict {
        /// Of the rule.
        host: String,
        /// What stands there.
        why: String,
    },
    /// The edge's certificate does not reach so deep.
    #[error(
        "host {host:?} lies more than one level below zone {zone:?}: the zone's universal certificate does not cover it, so visitors need another one"
    )]
    CertificateDepth {
        /// Of the rule.
        host: String,
        /// Its zone.
        zone: String,
    },
}

impl Notice {
    /// The Event's reason.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::TlsIgnored => "TLSIgnored",
            Self::RuleSkipped { .. } | Self::HostRefused { .. } => "RuleSkipped",
            Self::BadAnnotation(_) | Self::Unreadable(_) => "TransformFailed",
            Self::LookupFailed(_) => "LookupFailed",
            Self::PathUnavailable { .. } | Self::DefaultUnavailable(_) => "BackendUnavailable",
            Self::PathRefused { .. } => "PathRefused",
            Self::PathNote { .. } => "PathNoted",
            Self::PathConflict { .. } | Self::PathTwice { .. } => "PathConflict",
            Self::DefaultConflict { .. } => "DefaultBackendConflict",
            Self::PlainHttp { .. } => "PlainHTTP",
            Self::NoZone { .. } => "ZoneNotFound",
            Self::DnsConflict { .. } => "DNSRecordConflict",
            Self::CertificateDepth { .. } => "CertificateNotCovering",
        }
    }

    /// Whether it is only said, and nothing is wrong.
    #[must_use]
    pub const fn is_normal(&self) -> bool {
        matches!(self, Self::PathNote { note: PathNote::ReadAsRoot, .. })
    }
}

const fn note_text(note: PathNote) -> &'static str {
    match note {
        PathNote::ReadAsRoot => "is read as \"/\"",
        PathNote::StarIsLiteral => {
            "ends with a star, which is a character like any other here; for an expression use ImplementationSpecific"
        }
    }
}
