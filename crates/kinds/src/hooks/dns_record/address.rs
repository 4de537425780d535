//! Addresses of A and AAAA records: one spelling to compare, and which of them Cloudflare's proxy cannot reach.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Networks of IPv4 that cannot be an origin: not routed on the Internet (RFC 6890), or Cloudflare's own resolver.
/// Documentation networks are left to Cloudflare: nobody needs them refused, and examples use them.
const UNREACHABLE_V4: &[(Ipv4Addr, u32)] = &[
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    // 224.0.0.0/4 is multicast, 240.0.0.0/4 reserved; together one /3.
    (Ipv4Addr::new(224, 0, 0, 0), 3),
    // Case B065: the resolver's addresses are refused as origins.
    (Ipv4Addr::new(1, 1, 1, 0), 24),
    (Ipv4Addr::new(1, 0, 0, 0), 24),
];

/// An IPv4 address as Cloudflare writes it, or the text as it is.
pub(super) fn canonical_v4(content: &str) -> String {
    content.parse().map_or_else(|_| content.to_owned(), |address: Ipv4Addr| address.to_string())
}

/// An IPv6 address in its short form (RFC 5952), or the text as it is.
pub(super) fn canonical_v6(content: &str) -> String {
    content.parse().map_or_else(|_| content.to_owned(), |address: Ipv6Addr| address.to_string())
}

/// What is wrong with the content of an A record.
pub(super) fn problem_v4(content: &str) -> Option<&'static str> {
    match content.parse() {
        Ok(IpAddr::V4(_)) => None,
        Ok(IpAddr::V6(_)) => Some("is an IPv6 address; use type AAAA for it"),
        Err(_) => {
            Some("is not an IPv4 address; write all four numbers, such as 192.0.2.10 (Cloudflare: 9005)")
        }
    }
}

/// What is wrong with the content of an AAAA record.
pub(super) fn problem_v6(content: &str) -> Option<&'static str> {
    match content.parse() {
        Ok(IpAddr::V6(_)) => None,
        Ok(IpAddr::V4(_)) => Some("is an IPv4 address; use type A for it"),
        Err(_) => Some(
            "is not an IPv6 address; write it without brackets, zone or prefix length, such as 2001:db8::10 \
             (Cloudflare: 9006)",
        ),
    }
}

/// True for addresses that the proxy can never reach as an origin (case B065).
pub(super) fn is_unreachable(content: &str) -> bool {
    match content.parse() {
        Ok(IpAddr::V4(address)) => is_unreachable_v4(address),
        Ok(IpAddr::V6(address)) => address.to_ipv4_mapped().map_or_else(
            || {
                address.is_unspecified()
                    || address.is_loopback()
                    || address.is_unique_local()
                    || address.is_unicast_link_local()
                    || address.is_multicast()
            },
            is_unreachable_v4,
        ),
        Err(_) => false,
    }
}

fn is_unreachable_v4(address: Ipv4Addr) -> bool {
    UNREACHABLE_V4.iter().any(|(network, prefix)| {
        let differ = address.to_bits() ^ network.to_bits();
        differ.leading_zeros() >= *prefix
    })
}
