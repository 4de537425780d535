//! Hosts of Ingresses: which texts are one, and which of them a wildcard answers for.

use std::net::Ipv4Addr;

/// Most characters of a DNS name.
pub(super) const NAME_MAX: usize = 253;
/// Most characters of one label.
const LABEL_MAX: usize = 63;

/// Whether a text is a DNS name in lower case, without a final dot and without a wildcard.
pub(super) fn is_dns_name(text: &str) -> bool {
    let is_label = |label: &str| {
        (1..=LABEL_MAX).contains(&label.len())
            && label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    text.len() <= NAME_MAX && text.split('.').all(is_label)
}

/// A host as rules carry it, in lower case; nothing if it is none. An address is none, nor is a star elsewhere than
/// in front.
pub(super) fn read(text: &str) -> Option<String> {
    let host = text.to_ascii_lowercase();
    let name = host.strip_prefix("*.").unwrap_or(&host);
    let is_host = host.len() <= NAME_MAX && is_dns_name(name) && name.parse::<Ipv4Addr>().is_err();
    is_host.then_some(host)
}

/// Whether a host answers for many.
pub(super) fn is_wildcard(host: &str) -> bool {
    host.starts_with("*.")
}

/// Whether a wildcard also answers for this other host, at any depth, as connectors and DNS have it (contract I29).
pub(super) fn covers(wildcard: &str, host: &str) -> bool {
    wildcard.strip_prefix('*').is_some_and(|suffix| host != wildcard && host.ends_with(suffix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_names_and_names_below_a_star() {
        for (text, expected) in [
            ("app.example.com", Some("app.example.com")),
            ("App.Example.com", Some("app.example.com")),
            ("*.example.com", Some("*.example.com")),
            ("example", Some("example")),
            ("*", None),
            ("*.", None),
            ("a.*.example.com", None),
            ("192.0.2.1", None),
            ("app.example.com.", None),
            ("app.example.com:80", None),
            ("https://app.example.com", None),
            ("-a.example.com", None),
            ("a..example.com", None),
            ("bücher.example.com", None),
            ("", None),
        ] {
            assert_eq!(read(text).as_deref(), expected, "{text:?}");
        }
        assert_eq!(read(&"a.".repeat(500_000)), None);
    }

    #[test]
    fn b012_a_wildcard_covers_every_depth_but_not_its_own_name() {
        let covered = ["a.example.com", "a.b.example.com", "*.b.example.com"];
        assert!(covered.iter().all(|host| covers("*.example.com", host)));
        let others = ["example.com", "*.example.com", "a.myexample.com", "a.example.org"];
        assert!(!others.iter().any(|host| covers("*.example.com", host)));
    }
}
