//! Hostnames of rules: which ones cloudflared takes, and which hosts they are found for.

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};

use super::refusal::Cause;

/// Longest hostname that is looked at as an international one: a name of 253 characters of at most 4 bytes each, or
/// its punycode. A longer one is never asked for in that form.
const INTERNATIONAL_BYTES_MAX: usize = 1_012;

/// A rule's hostname, in the forms that requests are compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hostname {
    written: String,
    /// In punycode and lower case, if that is something else and IDNA allows the name at all; with a `*` or a `_` it
    /// does not, and then only the host as written is found.
    punycode: Option<String>,
}

impl Hostname {
    /// The hostname of a rule; none if it stands for every host.
    pub(super) fn of(written: &str) -> Option<Self> {
        if matches!(written, "" | "*") {
            return None;
        }
        let punycode = punycode(written).filter(|punycode| punycode != written);
        Some(Self { written: written.to_owned(), punycode })
    }

    pub(super) fn matches(&self, host: &str) -> bool {
        is_for(&self.written, host) || self.punycode.as_deref().is_some_and(|punycode| is_for(punycode, host))
    }
}

/// Whether a rule may have this hostname. `""` and `*` stand for every host, as only the last rule's may without a path.
///
/// # Errors
/// What cloudflared would not take.
pub fn check_hostname(hostname: &str) -> Result<(), Cause> {
    if split_port(hostname).is_some() {
        return Err(Cause::HostnameWithPort);
    }
    if hostname.rfind('*').is_some_and(|at| at > 0) { Err(Cause::HostnameWildcard) } else { Ok(()) }
}

/// The host of `host:port`, as Go's `net.SplitHostPort` finds it: any text after the last colon is a port, and a host
/// with colons needs brackets.
pub(super) fn split_port(text: &str) -> Option<&str> {
    let (before, port) = text.rsplit_once(':')?;
    let host = match before.strip_prefix('[') {
        Some(bracketed) => bracketed.strip_suffix(']').filter(|inner| !inner.contains(']'))?,
        None if before.contains(':') => return None,
        None => before,
    };
    if host.contains(['[', ']']) && !before.starts_with('[') {
        return None;
    }
    if host.contains('[') || port.contains(['[', ']']) { None } else { Some(host) }
}

// The last colon counts and not labels: `*.example.com` is for `a.b.example.com` too.
fn is_for(pattern: &str, host: &str) -> bool {
    pattern == host || (pattern.starts_with("*.") && host.ends_with(&pattern[1..]))
}

// Go's `idna.Lookup`.
fn punycode(hostname: &str) -> Option<String> {
    if hostname.len() > INTERNATIONAL_BYTES_MAX {
        return None;
    }
    // A capital sharp s is "ss" in Unicode 15, which Go has, and "ß" in later ones.
    let hostname = hostname.replace('\u{1E9E}', "ss");
    let ascii =
        Uts46::new().to_ascii(hostname.as_bytes(), AsciiDenyList::STD3, Hyphens::Check, DnsLength::Ignore);
    ascii.ok().map(std::borrow::Cow::into_owned)
}
