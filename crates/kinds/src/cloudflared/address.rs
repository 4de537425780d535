//! URLs as Go's net/url reads them (Go 1.26, with its strict colons): what a service's address is, and which host and
//! path a request has. Queries and fragments are only looked at as far as they make Go refuse.

use std::net::Ipv6Addr;

/// Characters of a host beyond letters, digits and those of other than ASCII (RFC 3986, 3.2.2, and `[]<>"` as browsers do).
const HOST: &[u8] = b"-_.~!$&'()*+,;=:[]<>\"";
/// Characters of a user and password, the percent sign with them.
const USER: &[u8] = b"-._:~!$&'()*+,;=%@";

/// Why a text is no URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// A control character.
    #[error("there is a control character in it; remove it")]
    Control,
    /// `:80`.
    #[error("it begins with a colon; write the scheme before it, as in `http://host:port`")]
    NoScheme,
    /// `10.0.0.1:80`.
    #[error("it has a colon and no scheme; write it as `http://host:port`")]
    ColonWithoutScheme,
    /// `%` without two hexadecimal digits, or one that a host cannot have.
    #[error(
        "a `%` in it is not followed by what may stand there; write `%25` for the character, and leave it out of a host"
    )]
    Escape,
    /// A blank or the like in a host.
    #[error("there is a character in the host that hosts do not have; remove it")]
    HostCharacter,
    /// `host:http`, `host:80:80`.
    #[error("what follows the colon after the host is no port; write a number there")]
    Port,
    /// `[…` or `[1.2.3.4]`.
    #[error("what stands in brackets is no IPv6 address; write it as in `http://[2001:db8::1]:80`")]
    Brackets,
    /// A character in a user name or password.
    #[error("there is a character before the `@` that must be written with a `%`")]
    User,
}

/// A URL, taken apart and decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// In lower case; empty if there is none.
    pub(super) scheme: String,
    /// With the port, as written.
    pub(super) host: Vec<u8>,
    /// Without query and fragment.
    pub(super) path: Vec<u8>,
}

impl Address {
    pub(super) fn parse(url: &str) -> Result<Self, AddressError> {
        let (url, fragment) = url.split_once('#').unwrap_or((url, ""));
        if url.bytes().any(|byte| byte.is_ascii_control()) {
            return Err(AddressError::Control);
        }
        let address = Self::whole(url)?;
        decode(fragment, |_| true)?;
        Ok(address)
    }

    fn whole(url: &str) -> Result<Self, AddressError> {
        let (scheme, rest) = scheme(url)?;
        let scheme = scheme.to_ascii_lowercase();
        let (rest, _) = rest.split_once('?').unwrap_or((rest, ""));
        if !rest.starts_with('/') {
            if !scheme.is_empty() {
                // `mailto:a` has neither host nor path.
                return Ok(Self { scheme, host: Vec::new(), path: Vec::new() });
            }
            if rest.split('/').next().is_some_and(|segment| segment.contains(':')) {
                return Err(AddressError::ColonWithoutScheme);
            }
        }
        let mut host = Vec::new();
        let mut path = rest;
        let authority = rest.strip_prefix("//").filter(|_| !scheme.is_empty() || !rest.starts_with("///"));
        if let Some(authority) = authority {
            let (before, after) = authority.split_at(authority.find('/').unwrap_or(authority.len()));
            host = host_of(&scheme, before)?;
            path = after;
        }
        Ok(Self { scheme, host, path: decode(path, |_| true)? })
    }

    /// The host without its port and brackets.
    pub(super) fn hostname(&self) -> &[u8] {
        let colon = self.host.iter().rposition(|byte| *byte == b':');
        let host = match colon {
            Some(colon) if self.host[colon + 1..].iter().all(u8::is_ascii_digit) => &self.host[..colon],
            _ => &self.host[..],
        };
        host.strip_prefix(b"[").and_then(|inner| inner.strip_suffix(b"]")).unwrap_or(host)
    }
}

/// What comes before the first colon, if that is a scheme, and what comes after.
fn scheme(url: &str) -> Result<(&str, &str), AddressError> {
    for (index, byte) in url.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if index > 0 => {}
            b':' if index == 0 => return Err(AddressError::NoScheme),
            b':' => return Ok((&url[..index], &url[index + 1..])),
            _ => break,
        }
    }
    Ok(("", url))
}

fn host_of(scheme: &str, authority: &str) -> Result<Vec<u8>, AddressError> {
    let Some((user, rest)) = authority.rsplit_once('@') else { return host(scheme, authority) };
    let host = host(scheme, rest)?;
    if !user.bytes().all(|byte| byte.is_ascii_alphanumeric() || USER.contains(&byte)) {
        return Err(AddressError::User);
    }
    decode(user, |_| true)?;
    Ok(host)
}

fn host(scheme: &str, host: &str) -> Result<Vec<u8>, AddressError> {
    match host.rfind('[') {
        Some(0) => return bracketed(host),
        Some(_) => return Err(AddressError::Brackets),
        None => {}
    }
    // Only for the web is a second colon an error by itself; elsewhere the last one counts.
    let colon = if matches!(scheme, "http" | "https") { host.find(':') } else { host.rfind(':') };
    if let Some(colon) = colon
        && !is_port(&host[colon..])
    {
        return Err(AddressError::Port);
    }
    decode_host(host)
}

fn bracketed(host: &str) -> Result<Vec<u8>, AddressError> {
    let (inner, port) = host[1..].rsplit_once(']').ok_or(AddressError::Brackets)?;
    if !is_port(port) {
        return Err(AddressError::Port);
    }
    let decoded = match inner.find("%25") {
        Some(zone) => {
            let mut decoded = decode_host(&inner[..zone])?;
            decoded.extend(decode_zone(&inner[zone..])?);
            decoded
        }
        None => decode_host(inner)?,
    };
    let text = String::from_utf8_lossy(&decoded);
    let (address, zone) =
        text.split_once('%').map_or((&*text, None), |(address, zone)| (address, Some(zone)));
    if zone == Some("") || address.parse::<Ipv6Addr>().is_err() {
        return Err(AddressError::Brackets);
    }
    Ok([b"[", &decoded[..], b"]", port.as_bytes()].concat())
}

/// Nothing, or a colon and any number of digits.
fn is_port(text: &str) -> bool {
    text.is_empty()
        || text.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

fn in_host(byte: u8) -> bool {
    !byte.is_ascii() || byte.is_ascii_alphanumeric() || HOST.contains(&byte)
}

// In a host only other than ASCII may be written with a percent sign, and the percent sign itself.
fn decode_host(text: &str) -> Result<Vec<u8>, AddressError> {
    plain_host(text)?;
    decode(text, |byte| byte >= 0x80 || byte == b'%')
}

fn decode_zone(text: &str) -> Result<Vec<u8>, AddressError> {
    plain_host(text)?;
    decode(text, |byte| (byte.is_ascii() && in_host(byte)) || matches!(byte, b'%' | b' '))
}

fn plain_host(text: &str) -> Result<(), AddressError> {
    let plain = text.bytes().all(|byte| in_host(byte) || byte == b'%');
    if plain { Ok(()) } else { Err(AddressError::HostCharacter) }
}

/// The text with its `%41` as bytes, each of which must be allowed.
fn decode(text: &str, allowed: impl Fn(u8) -> bool) -> Result<Vec<u8>, AddressError> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if *first != b'%' {
            decoded.push(*first);
            rest = after;
            continue;
        }
        let byte = after.first_chunk().and_then(hexadecimal).ok_or(AddressError::Escape)?;
        if !allowed(byte) {
            return Err(AddressError::Escape);
        }
        decoded.push(byte);
        rest = &after[2..];
    }
    Ok(decoded)
}

fn hexadecimal(digits: &[u8; 2]) -> Option<u8> {
    let [high, low] = digits.map(|digit| char::from(digit).to_digit(16));
    u8::try_from(high? * 16 + low?).ok()
}
