//! Names: relative, absolute and `@`, Unicode and case, brought to the one stored form.
//! Which names may carry which records is left to `rules`.

use std::borrow::Cow;

use super::super::switches::InnerWildcard;
use super::refusal::DnsRefusal;

/// Cloudflare API docs: a name in a request has at most 255 characters.
const REQUEST_MAX: usize = 255;
/// RFC 1035: 255 bytes on the wire are 253 characters without the final dot.
const NAME_MAX: usize = 253;
/// RFC 1035.
const LABEL_MAX: usize = 63;

/// The stored form of a record's name in `zone`. A name that does not end in the zone's name is relative,
/// also when it ends in the name of another zone (cloudflare API docs: relative and absolute names).
pub(super) fn in_zone(name: &str, zone: &str, inner: InnerWildcard) -> Result<String, DnsRefusal> {
    if name.is_empty() || name.chars().count() > REQUEST_MAX {
        return Err(DnsRefusal::Name);
    }
    if name == "@" {
        return Ok(zone.to_owned());
    }
    let ascii = to_ascii(name.strip_suffix('.').unwrap_or(name)).ok_or(DnsRefusal::Name)?;
    let is_absolute = ascii == zone || ascii.strip_suffix(zone).is_some_and(|rest| rest.ends_with('.'));
    let full = if is_absolute { ascii } else { format!("{ascii}.{zone}") };
    let wild_inside = full.split('.').skip(1).any(|label| label.contains('*'));
    if full.len() > NAME_MAX || (wild_inside && inner == InnerWildcard::Refuse) {
        return Err(DnsRefusal::Name);
    }
    Ok(full)
}

/// The stored form of a target host: one final dot goes, `.` alone stays.
pub(super) fn target(host: &str, lower: bool) -> Option<String> {
    if host == "." {
        return Some(host.to_owned());
    }
    let bare = host.strip_suffix('.').unwrap_or(host);
    let ascii = to_ascii(bare)?;
    let kept = if lower || !bare.is_ascii() { ascii } else { bare.to_owned() };
    (kept.len() <= NAME_MAX && !kept.contains('*')).then_some(kept)
}

/// The stored form of a zone's name: at least two labels of letters, digits and hyphens.
pub(in crate::cloudflare) fn domain(name: &str) -> Option<String> {
    let ascii = to_ascii(name.strip_suffix('.').unwrap_or(name))?;
    let host = |label: &str| {
        label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let labels: Vec<&str> = ascii.split('.').collect();
    let numeric = labels.last().is_some_and(|last| last.bytes().all(|byte| byte.is_ascii_digit()));
    (ascii.len() <= NAME_MAX && labels.len() >= 2 && labels.iter().copied().all(host) && !numeric)
        .then_some(ascii)
}

/// Lower case and punycode, label by label; none when a label is empty, too long or holds what no name holds.
fn to_ascii(name: &str) -> Option<String> {
    let mut out = String::with_capacity(name.len());
    for label in name.split('.') {
        let ascii = if label.is_ascii() {
            Cow::Owned(label.to_ascii_lowercase())
        } else {
            idna::domain_to_ascii_cow(label.as_bytes(), idna::AsciiDenyList::EMPTY).ok()?
        };
        let valid = ascii.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_*/".contains(&byte));
        if ascii.is_empty() || ascii.len() > LABEL_MAX || !valid {
            return None;
        }
        if !out.is_empty() {
            out.push('.');
        }
        out.push_str(&ascii);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b060_b061_names_become_absolute_lower_case_and_punycode() {
        for (given, wanted) in [
            ("@", Some("example.com")),
            ("www", Some("www.example.com")),
            ("WWW.Example.com.", Some("www.example.com")),
            ("example.com", Some("example.com")),
            ("EXAMPLE.COM.", Some("example.com")),
            ("app.example.net", Some("app.example.net.example.com")),
            ("notexample.com", Some("notexample.com.example.com")),
            ("bücher", Some("xn--bcher-kva.example.com")),
            ("*", Some("*.example.com")),
            ("a.*.b", Some("a.*.b.example.com")),
            ("_dmarc", Some("_dmarc.example.com")),
            ("", None),
            (".", None),
            ("a..b", None),
            ("a b", None),
            ("a\u{0}b", None),
            (&"x".repeat(64), None),
            (&format!("{}.{}.{}.{}", "x".repeat(63), "x".repeat(63), "x".repeat(63), "x".repeat(50)), None),
        ] {
            let name = in_zone(given, "example.com", InnerWildcard::Literal).ok();
            assert_eq!(name.as_deref(), wanted, "{given:?}");
        }
    }

    #[test]
    fn b050_b063_targets() {
        for (given, wanted) in [
            (".", Some(".")),
            ("LB.Example.NET.", Some("lb.example.net")),
            ("*.example.net", None),
            ("", None),
            ("..", None),
        ] {
            assert_eq!(target(given, true).as_deref(), wanted, "{given:?}");
        }
        assert_eq!(target("LB.Example.NET.", false).as_deref(), Some("LB.Example.NET"));
    }

    #[test]
    fn b059_zone_names() {
        for (given, wanted) in [
            ("Example.COM.", Some("example.com")),
            ("müller.example", Some("xn--mller-kva.example")),
            ("com", None),
            ("-a.com", None),
            ("a_b.com", None),
            ("192.0.2.1", None),
            ("", None),
        ] {
            assert_eq!(domain(given).as_deref(), wanted, "{given:?}");
        }
    }
}
