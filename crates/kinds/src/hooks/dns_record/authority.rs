//! CAA records: which certificate authority may issue. Cloudflare answers them as `data` and as composed `content`;
//! both, and flags as text, are one record (case B052).

use serde_json::{Value, json};

use super::structured::Written;
use super::text;
use crate::hooks::member;
use crate::table::Invalid;

/// Flags are one octet (RFC 8659, 4.1).
const FLAGS_MAX: u64 = 255;

/// The record in the form that is compared, from `data`, or from `content` when there is none.
pub(super) fn canonical(wire: &Value) -> Value {
    let content = member::text(wire, "content");
    // Data of other types may stand there (case B053); only with a tag is it ours.
    let data = match wire.get("data").filter(|data| data.get("tag").is_some()) {
        Some(data) => data.clone(),
        None => parts(content).unwrap_or_else(|| json!({ "tag": "", "value": content })),
    };
    json!({
        "flags": member::number(&data, "flags", 0),
        "tag": member::text(&data, "tag").to_ascii_lowercase(),
        "value": text::canonical(member::text(&data, "value")),
    })
}

/// A user's record as `data` to send.
pub(super) fn outgoing(spec: &Value) -> Result<Value, Invalid> {
    let written = Written::read(spec, "an object with flags, tag and value", parts)?;
    let flags = written.number("flags", FLAGS_MAX)?;
    let tag = written.text("tag")?.to_ascii_lowercase();
    if !tag.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(
            written.invalid("tag", "takes letters and digits only, such as issue, issuewild or iodef")
        );
    }
    // Zone files put the value in quotes; they are not part of it, and neither an authority nor a URL has any.
    let value = text::canonical(written.text("value")?);
    if value.contains(|character: char| character.is_control() || matches!(character, '"' | '\\')) {
        return Err(
            written.invalid("value", "has a quote, a backslash or a control character in it; remove it")
        );
    }
    Ok(json!({ "flags": flags, "tag": tag, "value": value }))
}

/// A canonical record as it is told apart from others of its name.
pub(super) fn rendered(data: &Value) -> String {
    ["flags", "tag", "value"].map(|part| member::rendered(data.get(part))).join(" ")
}

// `128 issue "letsencrypt.example"`; the value may hold spaces, and its quotes are undone with it.
fn parts(content: &str) -> Option<Value> {
    let (flags, rest) = content.trim_ascii().split_once(char::is_whitespace)?;
    let (tag, value) = rest.trim_ascii_start().split_once(char::is_whitespace)?;
    Some(json!({ "flags": flags, "tag": tag, "value": value.trim_ascii() }))
}
