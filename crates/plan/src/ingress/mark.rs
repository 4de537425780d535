//! The TXT record that says whose a host's CNAME is. Names and contents are the old controller's, byte for byte, so
//! that it would know them again (contract I30); they are compared as JSON, since Cloudflare may answer with quotes.

use kinds::names::ingress::{CONTROLLER, MARK_PREFIX};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::host::NAME_MAX;

/// Bytes of the host's hash that stand in the name of its mark when the host is too long to stand there itself.
const HASH_BYTES: usize = 16;

/// What a mark says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Name of the tunnel.
    pub tunnel: String,
    /// The host, where the record's name does not hold it.
    pub host: Option<String>,
}

/// The name of a host's mark; `hashed` where Cloudflare refuses the star inside it.
#[must_use]
pub fn name(host: &str, zone: &str, hashed: bool) -> String {
    let plain = format!("{MARK_PREFIX}{host}");
    if hashed || plain.len() > NAME_MAX { hashed_name(host, zone) } else { plain }
}

fn hashed_name(host: &str, zone: &str) -> String {
    let hash = Sha256::digest(host.as_bytes());
    let hex: String = hash.iter().take(HASH_BYTES).map(|byte| format!("{byte:02x}")).collect();
    format!("{MARK_PREFIX}{hex}.{zone}")
}

/// The content of a mark of this name.
#[must_use]
pub fn content(mark_name: &str, host: &str, tunnel: &str) -> String {
    let controller = go_json(CONTROLLER);
    let start = format!("{{\"controller\":{controller},\"tunnel\":{}", go_json(tunnel));
    if mark_name.strip_prefix(MARK_PREFIX) == Some(host) {
        format!("{start}}}")
    } else {
        format!("{start},\"host\":{}}}", go_json(host))
    }
}

/// What a TXT record of this name and content says, and of which host, if it is a mark at all.
#[must_use]
pub fn read(record_name: &str, content: &str, zone: &str) -> Option<(String, Mark)> {
    let rest = record_name.strip_prefix(MARK_PREFIX)?;
    let object = |text: String| serde_json::from_str::<Map<String, Value>>(&text).ok();
    let members = spellings(content).find_map(object)?;
    let text = |name| members.get(name).and_then(Value::as_str);
    if text("controller") != Some(CONTROLLER) {
        return None;
    }
    let tunnel = text("tunnel")?.to_owned();
    match (text("host"), members.len()) {
        (None, 2) => Some((rest.to_owned(), Mark { tunnel, host: None })),
        (Some(host), 3) if record_name == hashed_name(host, zone) => {
            Some((host.to_owned(), Mark { tunnel, host: Some(host.to_owned()) }))
        }
        _ => None,
    }
}

/// A content as it may have been meant: as it stands, without the quotes around it, without the escapes of quoted
/// strings, of which there may be several in a row.
fn spellings(content: &str) -> impl Iterator<Item = String> {
    let inner = content.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).map(str::to_owned);
    let joined = inner.as_ref().map(|inner| unescaped(&inner.replace("\" \"", "")));
    [Some(content.to_owned()), inner, joined].into_iter().flatten()
}

fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        plain.push(if c == '\\' { characters.next().unwrap_or(c) } else { c });
    }
    plain
}

/// A JSON string as Go writes it, which escapes what could end a script in a page.
fn go_json(text: &str) -> String {
    let json = Value::from(text).to_string();
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '&' | '<' | '>' | '\u{2028}' | '\u{2029}' => {
                escaped.push_str(&format!("\\u{:04x}", u32::from(c)))
            }
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    const EDGE: &str = r#"{"controller":"strrl.dev/cloudflare-tunnel-ingress-controller","tunnel":"edge"}"#;

    #[test]
    fn b062_every_host_has_a_mark_inside_its_zone() {
        for (host, expected) in [
            ("app.example.com", "_ctic_managed.app.example.com"),
            ("*.example.com", "_ctic_managed.*.example.com"),
            ("example.com", "_ctic_managed.example.com"),
        ] {
            let name = name(host, "example.com", false);
            assert_eq!(name, expected);
            assert_eq!(content(&name, host, "edge"), EDGE);
            let mark = Mark { tunnel: "edge".to_owned(), host: None };
            assert_eq!(read(&name, EDGE, "example.com"), Some((host.to_owned(), mark)));
        }
        let long = format!("{}example.com", "a123456789.".repeat(21));
        for (host, hashed) in [(long.as_str(), false), ("*.example.com", true)] {
            let name = name(host, "example.com", hashed);
            let content = content(&name, host, "edge");
            assert_eq!(name.len(), MARK_PREFIX.len() + 32 + ".example.com".len());
            assert!(content.ends_with(&format!(",\"host\":\"{host}\"}}")), "{content}");
            let mark = Mark { tunnel: "edge".to_owned(), host: Some(host.to_owned()) };
            assert_eq!(read(&name, &content, "example.com"), Some((host.to_owned(), mark)));
        }
    }

    #[test]
    fn contents_are_written_as_go_writes_them() {
        let written = content("_ctic_managed.a.b", "a.b", "R&D <\"x\"> ü\u{2028}\u{8}");
        let tunnel = r#""R\u0026D \u003c\"x\"\u003e ü\u2028\b""#;
        assert_eq!(written, EDGE.replace("\"edge\"", tunnel));
    }

    #[test]
    fn b037_a_mark_is_known_in_every_spelling_and_nothing_else_is_one() {
        let escaped = format!("\"{}\"", EDGE.replace('"', "\\\""));
        let (one, two) = escaped.split_at(30);
        for content in [EDGE.to_owned(), format!("\"{EDGE}\""), escaped.clone(), format!("{one}\" \"{two}")] {
            let read = read("_ctic_managed.app.example.com", &content, "example.com");
            assert_eq!(
                read.map(|(host, mark)| (host, mark.tunnel)),
                Some(("app.example.com".to_owned(), "edge".to_owned())),
                "{content}"
            );
        }
        for (name, content) in [
            ("app.example.com", EDGE.to_owned()),
            ("_ctic_managed.app.example.com", "v=spf1 -all".to_owned()),
            ("_ctic_managed.app.example.com", EDGE.replace("strrl.dev", "example.com")),
            ("_ctic_managed.app.example.com", EDGE.replace('}', ",\"more\":1}")),
            ("_ctic_managed.app.example.com", EDGE.replace('}', ",\"host\":\"other.example.com\"}")),
            ("_ctic_managed.app.example.com", String::new()),
            ("_ctic_managed.app.example.com", "\"".to_owned()),
        ] {
            assert_eq!(read(name, &content, "example.com"), None, "{name} {content}");
        }
    }
}
