//! The string formats the server knows (`supportedVersionedFormats` of apiextensions-apiserver, checked by
//! kube-openapi's strfmt). Any other format is ignored. Not checked here, hence accepted: `isbn`, `isbn10`,
//! `isbn13`, `creditcard`, `rgbcolor`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::civil::Date;
use regex::Regex;

use super::node::JsonType;

/// Octets of a host name (RFC 1034 section 3.1).
const HOSTNAME_BYTES_MAX: usize = 255;
/// Octets of one label of a host name (RFC 1034 section 3.1).
const LABEL_BYTES_MAX: usize = 63;
/// Length of a `k8s-long-name`.
const LONG_NAME_BYTES_MAX: usize = 253;
/// Length of a `k8s-short-name`.
const SHORT_NAME_BYTES_MAX: usize = 63;

/// Whether values of that type are checked against that format; the others are treated as without one.
pub(super) fn is_checked(json_type: Option<JsonType>, format: &str) -> bool {
    match json_type {
        None | Some(JsonType::String) => checker(format).is_some(),
        Some(JsonType::Integer) => matches!(format, "int32" | "int64"),
        Some(JsonType::Number) => matches!(format, "float" | "double"),
        Some(JsonType::Object | JsonType::Array | JsonType::Boolean) => false,
    }
}

/// Whether `text` has the format. Formats that are not checked accept everything.
pub(super) fn accepts(format: &str, text: &str) -> bool {
    checker(format).is_none_or(|check| check(text))
}

fn checker(format: &str) -> Option<fn(&str) -> bool> {
    // The registry ignores hyphens in names.
    Some(match format.replace('-', "").as_str() {
        "bsonobjectid" => |text| text.len() == 24 && text.bytes().all(|b| b.is_ascii_hexdigit()),
        "uri" => is_uri,
        "email" => is_email,
        "hostname" => is_hostname,
        "ipv4" => |text| text.contains('.') && parse_ip(text).is_some(),
        "ipv6" => |text| text.contains(':') && parse_ip(text).is_some(),
        "cidr" => is_cidr,
        "mac" => is_mac,
        "uuid" => |text| is_uuid(text, None),
        "uuid3" => |text| is_uuid(text, Some('3')),
        "uuid4" => |text| is_uuid(text, Some('4')),
        "uuid5" => |text| is_uuid(text, Some('5')),
        "ssn" => |text| SSN.is_match(text),
        "hexcolor" => is_hexcolor,
        "byte" => |text| !text.is_empty() && STANDARD.decode(text).is_ok(),
        "password" => |_| true,
        "date" => is_date,
        "datetime" => is_date_time,
        "duration" => |text| DURATION.is_match(text),
        "k8sshortname" => |text| text.len() <= SHORT_NAME_BYTES_MAX && is_kubernetes_label(text),
        "k8slongname" => |text| text.len() <= LONG_NAME_BYTES_MAX && text.split('.').all(is_kubernetes_label),
        _ => return None,
    })
}

/// The patterns below are literals: that they compile is what the tests run first.
fn literal(pattern: &str) -> Regex {
    Regex::new(pattern).unwrap_or_else(|error| unreachable!("a literal pattern does not compile: {error}"))
}

static SSN: LazyLock<Regex> = LazyLock::new(|| literal(r"^[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}$"));

/// A single label as Go's pattern has it: a hyphen only behind the first character.
static HOSTNAME: LazyLock<Regex> = LazyLock::new(|| {
    let sign = r"0-9a-zA-Z\p{L}\p{S}";
    literal(&format!(
        r"^(?:[{sign}]-?[{sign}]{{0,62}}|(?:[{sign}](?:[-{sign}]{{0,61}}[{sign}])?\.)+[a-zA-Z\p{{L}}]{{2,63}})$"
    ))
});

/// An address with an optional display name in front (`mail.ParseAddress`).
static EMAIL: LazyLock<Regex> = LazyLock::new(|| {
    let atom = r"[^\s@<>(),:;\\\x22\[\]]+";
    literal(&format!(r"^(?:[^<>@]*<{atom}@{atom}>|{atom}@{atom})$"))
});

/// Go's durations, and the wordier ones of Scala.
static DURATION: LazyLock<Regex> = LazyLock::new(|| {
    literal(concat!(
        r"^(?:[-+]?(?:0|(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+)",
        r"|[0-9]+\s*(?:ns|nanos?|nanoseconds?|us|µs|micros?|microseconds?|ms|millis?|milliseconds?",
        r"|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|wks?|weeks?))$"
    ))
});

static TIME: LazyLock<Regex> = LazyLock::new(|| {
    literal(r"^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?([zZ]|[-+][0-9]{2}:[0-9]{2})$")
});

fn is_uri(text: &str) -> bool {
    if text.is_empty() || text.chars().any(|c| c.is_ascii_control()) || !has_sound_escapes(text) {
        return false;
    }
    if text.starts_with('/') {
        return true;
    }
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let sound_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    let authority =
        rest.strip_prefix("//").map_or("", |rest| rest.split(['/', '?', '#']).next().unwrap_or(""));
    sound_scheme && !authority.contains([' ', '<', '>', '"', '\\', '^', '`', '{', '|', '}'])
}

fn has_sound_escapes(text: &str) -> bool {
    text.split('%').skip(1).all(|rest| {
        let digits = rest.as_bytes();
        digits.len() >= 2 && digits.iter().take(2).all(u8::is_ascii_hexdigit)
    })
}

fn is_email(text: &str) -> bool {
    EMAIL.is_match(text)
}

fn is_hostname(text: &str) -> bool {
    text.len() <= HOSTNAME_BYTES_MAX
        && text.split('.').all(|label| label.len() <= LABEL_BYTES_MAX)
        && HOSTNAME.is_match(text)
}

/// Addresses as Go parses them for compatibility: leading zeros in IPv4 are decimal.
fn parse_ip(text: &str) -> Option<IpAddr> {
    if text.contains(':') {
        return text.parse::<Ipv6Addr>().ok().map(IpAddr::V6);
    }
    let mut octets = [0_u8; 4];
    let mut parts = text.split('.');
    for octet in &mut octets {
        let part =
            parts.next().filter(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))?;
        *octet = part.parse().ok()?;
    }
    parts.next().is_none().then_some(IpAddr::V4(Ipv4Addr::from(octets)))
}

fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let Some(address) = parse_ip(address) else { return false };
    let limit = if address.is_ipv4() { 32 } else { 128 };
    length.bytes().all(|b| b.is_ascii_digit()) && length.parse::<u8>().is_ok_and(|length| length <= limit)
}

fn is_mac(text: &str) -> bool {
    let (separator, width) = match text.as_bytes() {
        [_, _, b':', ..] => (':', 2),
        [_, _, b'-', ..] => ('-', 2),
        [_, _, _, _, b'.', ..] => ('.', 4),
        _ => return false,
    };
    let groups: Vec<&str> = text.split(separator).collect();
    // 48, 64 and 160 bits (Go's net.ParseMAC).
    matches!(groups.len() * width / 2, 6 | 8 | 20)
        && groups.iter().all(|group| group.len() == width && group.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// A UUID with optional hyphens; versions 4 and 5 also fix the variant.
fn is_uuid(text: &str, version: Option<char>) -> bool {
    let mut rest = text;
    let mut digits = String::new();
    for (index, width) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if index > 0 {
            rest = rest.strip_prefix('-').unwrap_or(rest);
        }
        let Some((group, tail)) = rest.split_at_checked(width) else { return false };
        digits.push_str(group);
        rest = tail;
    }
    let hexadecimal = rest.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
    let versioned = version.is_none_or(|version| {
        let variant =
            version == '3' || matches!(digits.chars().nth(16), Some('8' | '9' | 'a' | 'b' | 'A' | 'B'));
        digits.chars().nth(12) == Some(version) && variant
    });
    hexadecimal && versioned
}

fn is_hexcolor(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or(text);
    matches!(digits.len(), 3 | 6) && digits.bytes().all(|b| b.is_ascii_hexdigit())
}

fn is_date(text: &str) -> bool {
    text.len() == "2006-01-02".len() && Date::strptime("%Y-%m-%d", text).is_ok()
}

fn is_date_time(text: &str) -> bool {
    text.split_once(['T', 't']).is_some_and(|(date, time)| is_date(date) && TIME.is_match(time))
}

fn is_kubernetes_label(text: &str) -> bool {
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    match text.as_bytes() {
        [] => false,
        [only] => inner(*only),
        [first, middle @ .., last] => {
            inner(*first) && inner(*last) && middle.iter().all(|b| inner(*b) || *b == b'-')
        }
    }
}
