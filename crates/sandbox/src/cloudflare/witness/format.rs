//! The formats that the document names.

use std::net::{Ipv4Addr, Ipv6Addr};

use jiff::Timestamp;

use super::super::route;

/// RFC 1035: characters of a name and of a label.
const NAME_MAX: usize = 253;
const LABEL_MAX: usize = 63;

/// A named form of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Format {
    DateTime,
    Hostname,
    Ipv4,
    Ipv6,
    Uuid,
}

impl Format {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::DateTime => "date-time",
            Self::Hostname => "hostname",
            Self::Ipv4 => "ipv4",
            Self::Ipv6 => "ipv6",
            Self::Uuid => "uuid",
        }
    }

    pub(super) fn fits(self, text: &str) -> bool {
        match self {
            Self::DateTime => text.contains('T') && text.parse::<Timestamp>().is_ok(),
            Self::Hostname => is_hostname(text),
            Self::Ipv4 => text.parse::<Ipv4Addr>().is_ok(),
            Self::Ipv6 => text.parse::<Ipv6Addr>().is_ok(),
            Self::Uuid => route::is_uuid(text),
        }
    }
}

/// RFC 1123, section 2.1, and underscores, which targets have in practice: Cloudflare itself makes `_dc-mx` ones.
fn is_hostname(text: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty()
            && label.len() <= LABEL_MAX
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    text.len() <= NAME_MAX && text.split('.').all(is_label)
}
