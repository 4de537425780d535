//! Parameters of HTTPS and SVCB records (RFC 9460, 2.1): `alpn="h3,h2" ipv4hint=192.0.2.1`. Their order does not
//! count and neither do quotes (case B057). What a key's value means is left to Cloudflare, but for those with
//! several spellings.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::text;

/// Most characters of a text that a message repeats: enough to recognise it.
const SHOWN_CHARACTERS_MAX: usize = 40;

/// Keys in the order of their numbers, which is the order on the wire (RFC 9460, 14.3.2; RFC 9461; RFC 9540).
const KEYS: [&str; 9] =
    ["mandatory", "alpn", "no-default-alpn", "port", "ipv4hint", "ech", "ipv6hint", "dohpath", "ohttp"];

/// The parameters in the form that is compared: in the order of their keys, each value in quotes and none when it is
/// empty. A text that cannot be read stays as it is, without outer spaces.
pub(super) fn canonical(written: &str) -> String {
    match read(written) {
        Ok(parameters) => rendered(&parameters),
        Err(_) => written.trim_ascii().to_owned(),
    }
}

/// What is wrong with a user's parameters.
pub(super) fn problem(written: &str) -> Option<String> {
    read(written).err()
}

struct Parameter<'w> {
    key: &'w str,
    value: Vec<u8>,
}

fn rendered(parameters: &[Parameter<'_>]) -> String {
    let texts: Vec<String> = parameters
        .iter()
        .map(|Parameter { key, value }| {
            if value.is_empty() {
                (*key).to_owned()
            } else {
                format!("{key}={}", text::quoted(value, usize::MAX))
            }
        })
        .collect();
    texts.join(" ")
}

fn read(written: &str) -> Result<Vec<Parameter<'_>>, String> {
    let mut rest = written.trim_ascii();
    let mut parameters: Vec<Parameter<'_>> = Vec::new();
    while !rest.is_empty() {
        let key_end = rest.find(|c: char| c == '=' || c.is_ascii_whitespace()).unwrap_or(rest.len());
        let (key, after) = rest.split_at(key_end);
        if key.is_empty() || !key.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-') {
            return Err(format!(
                "has {:?} where a key such as alpn is due; write keys in lower case, as key=\"value\"",
                beginning(rest)
            ));
        }
        if parameters.iter().any(|parameter| parameter.key == key) {
            return Err(format!("has the key {key} twice; put all its values into one, with commas"));
        }
        let (raw, after) = match after.strip_prefix('=') {
            Some(value) => raw_value(value).ok_or_else(|| {
                format!("has a value of {key} whose quotes do not close before a space; correct them")
            })?,
            None => ("", after),
        };
        let value = text::unescaped(raw)
            .and_then(|value| canonical_value(key, value))
            .ok_or_else(|| format!("has {:?} for {key}, which cannot be; correct it", beginning(raw)))?;
        parameters.push(Parameter { key, value });
        rest = after.trim_ascii_start();
    }
    parameters.sort_by_key(|parameter| (rank(parameter.key), parameter.key));
    Ok(parameters)
}

// Known keys by their numbers, then `keyN` by theirs, then whatever came after this was written.
fn rank(key: &str) -> (u8, usize) {
    if let Some(number) = KEYS.iter().position(|known| *known == key) {
        return (0, number);
    }
    match key.strip_prefix("key").and_then(|number| number.parse().ok()) {
        Some(number) => (1, number),
        None => (2, 0),
    }
}

// The value without its quotes, escapes as they are, and what follows.
fn raw_value(text: &str) -> Option<(&str, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(|c: char| c.is_ascii_whitespace()).unwrap_or(text.len());
        let (value, rest) = text.split_at(end);
        return (!value.contains('"')).then_some((value, rest));
    };
    let mut escaped = false;
    for (at, byte) in quoted.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => {
                let rest = quoted.get(at + 1..)?;
                let separated = rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_whitespace());
                return quoted.get(..at).filter(|_| separated).map(|value| (value, rest));
            }
            _ => {}
        }
    }
    None
}

// One spelling of a value; nothing when it can be none of its key's. The order of protocols and addresses is kept on
// the wire, that of mandatory keys is not (RFC 9460, 7 and 8).
fn canonical_value(key: &str, value: Vec<u8>) -> Option<Vec<u8>> {
    let value = match String::from_utf8(value) {
        Ok(value) => value,
        Err(error) => return Some(error.into_bytes()),
    };
    let each = |one: fn(&str) -> Option<String>| {
        value.split(',').map(one).collect::<Option<Vec<_>>>().map(|list| list.join(","))
    };
    let canonical = match key {
        "mandatory" => {
            let mut keys: Vec<&str> = value.split(',').collect();
            keys.sort_by_key(|key| (rank(key), *key));
            Some(keys.join(","))
        }
        "port" => value.parse::<u16>().ok().map(|port| port.to_string()),
        "ipv4hint" => each(|address| address.parse::<Ipv4Addr>().ok().map(|address| address.to_string())),
        "ipv6hint" => each(|address| address.parse::<Ipv6Addr>().ok().map(|address| address.to_string())),
        _ => Some(value),
    };
    canonical.map(String::into_bytes)
}

fn beginning(text: &str) -> String {
    text.chars().take(SHOWN_CHARACTERS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b057_order_and_quotes_do_not_count() {
        for (written, expected) in [
            ("", ""),
            (r#"alpn="h3,h2""#, r#"alpn="h3,h2""#),
            ("alpn=h3,h2", r#"alpn="h3,h2""#),
            (
                "ipv6hint=2001:DB8:0::1  port=0443\talpn=h3 ipv4hint=192.0.2.1,192.0.2.2 ",
                r#"alpn="h3" port="443" ipv4hint="192.0.2.1,192.0.2.2" ipv6hint="2001:db8::1""#,
            ),
            ("no-default-alpn= alpn=h2", r#"alpn="h2" no-default-alpn"#),
            (r#"no-default-alpn="" mandatory=port,alpn"#, r#"mandatory="alpn,port" no-default-alpn"#),
            ("key700=b key65=a zzz=c", r#"key65="a" key700="b" zzz="c""#),
            (r#"dohpath=/q\{?dns\}"#, r#"dohpath="/q{?dns}""#),
            (r#"key9="a b\"c\\d""#, r#"key9="a b\"c\\d""#),
        ] {
            assert_eq!(canonical(written), expected, "{written}");
            assert_eq!(canonical(expected), expected, "{written}: idempotent");
            assert_eq!(problem(written), None, "{written}");
        }
        assert_ne!(canonical("alpn=h2,h3"), canonical("alpn=h3,h2"), "the first protocol is preferred");
    }

    #[test]
    fn what_can_be_no_parameters_says_why_and_stays_as_it_is() {
        for written in [
            r#"alpn="h3"#,
            r#"alpn="h3"port=1"#,
            r#"alpn=h"3"#,
            "alpn=h3 alpn=h2",
            "ALPN=h3",
            "=h3",
            "port=http",
            "port=65536",
            "ipv4hint=2001:db8::1",
            "ipv6hint=",
        ] {
            assert!(problem(written).is_some_and(|problem| problem.len() > 20), "{written}");
            assert_eq!(canonical(&format!(" {written} ")), written);
        }
    }
}
