//! What the annotations of an Ingress ask for: the origin's scheme and settings, and who manages its records.
//! All of them are read before any is used, so that a bad one is told whatever the rules look like.

use kinds::names::{self, ingress as key};
use serde::Serialize;
use serde_json::Value;

use super::duration;
use super::view::Metadata;

/// Cloudflare's settings of an origin; what is not set is not sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OriginSettings {
    /// Seconds until a connection must stand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect_timeout: Option<u64>,
    /// Seconds until TLS must be agreed on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_timeout: Option<u64>,
    /// Seconds between probes of an idle connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp_keep_alive: Option<u64>,
    /// Do not try IPv4 and IPv6 at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_happy_eyeballs: Option<bool>,
    /// Idle connections that are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_alive_connections: Option<u64>,
    /// Seconds for which they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_alive_timeout: Option<u64>,
    /// `Host` that the origin sees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_host_header: Option<String>,
    /// Name that the origin's certificate must have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin_server_name: Option<String>,
    /// Take any certificate.
    #[serde(rename = "noTLSVerify", skip_serializing_if = "Option::is_none")]
    pub no_tls_verify: Option<bool>,
    /// Never send chunks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disable_chunked_encoding: Option<bool>,
    /// Speak HTTP/2 to the origin.
    #[serde(rename = "http2Origin", skip_serializing_if = "Option::is_none")]
    pub http2_origin: Option<bool>,
}

impl OriginSettings {
    /// As a rule carries them; a rule without settings has no such member at all.
    #[must_use]
    pub fn to_json(&self) -> Option<Value> {
        (*self != Self::default()).then(|| serde_json::to_value(self).unwrap_or_default())
    }
}

/// What an Ingress asks for beside its rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wishes {
    /// Scheme of every origin, in lower case.
    pub scheme: String,
    /// Settings of every origin.
    pub origin: OriginSettings,
    /// Whether the hosts' records are ours to keep.
    pub manages_dns: bool,
    /// Whether records that we did not make may be taken over.
    pub adopts: bool,
}

/// An annotation that cannot be understood. Values are compared as they are written, neither trimmed nor in any case.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadAnnotation {
    /// Neither of the two values that it can have.
    #[error("invalid value {value:?} for annotation {key}, available values: \"{}\" or \"{}\"", values[0], values[1])]
    Choice {
        /// Of the annotation.
        key: &'static str,
        /// As written.
        value: String,
        /// What it may be.
        values: [&'static str; 2],
    },
    /// No duration.
    #[error("invalid value {value:?} for annotation {key}, expect a Go duration string, such as \"30s\"")]
    Duration {
        /// Of the annotation.
        key: &'static str,
        /// As written.
        value: String,
    },
    /// A duration that Cloudflare has no number for.
    #[error("invalid value {value:?} for annotation {key}, expect a positive duration in whole seconds")]
    Seconds {
        /// Of the annotation.
        key: &'static str,
        /// As written.
        value: String,
    },
    /// No number of connections.
    #[error("invalid value {value:?} for annotation {key}, expect a non negative integer")]
    Count {
        /// Of the annotation.
        key: &'static str,
        /// As written.
        value: String,
    },
    /// Two annotations for one setting.
    #[error(
        "annotations {} and {} are mutually exclusive, remove one",
        key::PROXY_SSL_VERIFY,
        key::NO_TLS_VERIFY
    )]
    Exclusive,
    /// HTTP/2 without TLS.
    #[error(
        "annotation {} \"true\" requires annotation {} \"https\"",
        key::HTTP2_ORIGIN,
        key::BACKEND_PROTOCOL
    )]
    NeedsHttps,
    /// A scheme that no URL can have: one such rule and the connectors would refuse all.
    #[error(
        "invalid value {value:?} for annotation {}, expect the scheme of a URL, such as \"https\"",
        key::BACKEND_PROTOCOL
    )]
    Scheme {
        /// As written.
        value: String,
    },
}

impl Wishes {
    /// Those of an Ingress without annotations.
    pub(super) fn plain() -> Self {
        let origin = OriginSettings::default();
        Self { scheme: "http".to_owned(), origin, manages_dns: true, adopts: false }
    }

    /// What these annotations ask for.
    pub fn of(metadata: &Metadata) -> Result<Self, BadAnnotation> {
        let scheme = scheme(metadata)?;
        let is_https = scheme == "https";
        let both = [key::PROXY_SSL_VERIFY, key::NO_TLS_VERIFY];
        if both.iter().all(|key| metadata.annotation(key).is_some()) {
            return Err(BadAnnotation::Exclusive);
        }
        let verify = choice(metadata, key::PROXY_SSL_VERIFY, ["on", "off"])?;
        let no_tls_verify = match (flag(metadata, key::NO_TLS_VERIFY)?, verify) {
            (Some(off), _) => Some(off),
            (None, Some(on)) => is_https.then_some(!on),
            (None, None) => is_https.then_some(true),
        };
        let http2_origin = flag(metadata, key::HTTP2_ORIGIN)?;
        if http2_origin == Some(true) && !is_https {
            return Err(BadAnnotation::NeedsHttps);
        }
        let text = |key| metadata.annotation(key).map(str::to_owned);
        let origin = OriginSettings {
            connect_timeout: seconds(metadata, key::CONNECT_TIMEOUT)?,
            tls_timeout: seconds(metadata, key::TLS_TIMEOUT)?,
            tcp_keep_alive: seconds(metadata, key::TCP_KEEPALIVE)?,
            no_happy_eyeballs: flag(metadata, key::NO_HAPPY_EYEBALLS)?,
            keep_alive_connections: count(metadata, key::KEEPALIVE_CONNECTIONS)?,
            keep_alive_timeout: seconds(metadata, key::KEEPALIVE_TIMEOUT)?,
            http_host_header: text(key::HTTP_HOST_HEADER),
            origin_server_name: text(key::ORIGIN_SERVER_NAME).filter(|_| is_https),
            no_tls_verify,
            disable_chunked_encoding: flag(metadata, key::DISABLE_CHUNKED_ENCODING)?,
            http2_origin,
        };
        let manages_dns = flag(metadata, key::DISABLE_DNS_MANAGEMENT)? != Some(true);
        let adopts = policy(metadata, names::ADOPTION_POLICY, ["adopt", "adopt-or-create"])?.is_some();
        retains(metadata)?;
        Ok(Self { scheme, origin, manages_dns, adopts })
    }
}

/// Whether the CNAMEs stay when the Ingress goes. Whoever asks in a way that nobody understands loses none.
pub(super) fn retains(metadata: &Metadata) -> Result<bool, BadAnnotation> {
    Ok(policy(metadata, names::DELETION_POLICY, ["retain", "delete"])? == Some(true))
}

/// In lower case, as every reader of URLs takes it (case B034): what is https in capitals gets https's settings.
fn scheme(metadata: &Metadata) -> Result<String, BadAnnotation> {
    let Some(value) = metadata.annotation(key::BACKEND_PROTOCOL) else { return Ok("http".to_owned()) };
    let is_scheme = value.starts_with(|c: char| c.is_ascii_alphabetic())
        && value.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    if !is_scheme {
        return Err(BadAnnotation::Scheme { value: value.to_owned() });
    }
    Ok(value.to_ascii_lowercase())
}

/// True for the first of two values, false for the second.
fn choice(
    metadata: &Metadata,
    key: &'static str,
    values: [&'static str; 2],
) -> Result<Option<bool>, BadAnnotation> {
    match metadata.annotation(key) {
        None => Ok(None),
        Some(value) if value == values[0] => Ok(Some(true)),
        Some(value) if value == values[1] => Ok(Some(false)),
        Some(value) => Err(BadAnnotation::Choice { key, value: value.to_owned(), values }),
    }
}

fn flag(metadata: &Metadata, key: &'static str) -> Result<Option<bool>, BadAnnotation> {
    choice(metadata, key, ["true", "false"])
}

/// A policy of kflare's own, of which empty is as good as absent (contract K12).
fn policy(
    metadata: &Metadata,
    key: &'static str,
    values: [&'static str; 2],
) -> Result<Option<bool>, BadAnnotation> {
    if metadata.annotation(key) == Some("") { Ok(None) } else { choice(metadata, key, values) }
}

fn seconds(metadata: &Metadata, key: &'static str) -> Result<Option<u64>, BadAnnotation> {
    let Some(value) = metadata.annotation(key) else { return Ok(None) };
    let nanoseconds = duration::nanoseconds(value)
        .ok_or_else(|| BadAnnotation::Duration { key, value: value.to_owned() })?;
    let seconds = duration::positive_seconds(nanoseconds);
    seconds.map(Some).ok_or_else(|| BadAnnotation::Seconds { key, value: value.to_owned() })
}

/// As Go reads a decimal integer; Cloudflare's field is a signed one of 32 bits or more, and nobody keeps more.
fn count(metadata: &Metadata, key: &'static str) -> Result<Option<u64>, BadAnnotation> {
    let Some(value) = metadata.annotation(key) else { return Ok(None) };
    let number = value.parse::<i32>().ok().and_then(|number| u64::try_from(number).ok());
    number.map(Some).ok_or_else(|| BadAnnotation::Count { key, value: value.to_owned() })
}
