//! multipart/form-data bodies: the parts by name.
//! What a part means is left to the call that asked for it.

use std::collections::BTreeMap;

/// The parts of a body by their names; none when it is not what `content_type` says.
pub(super) fn parts(content_type: &str, body: &[u8]) -> Option<BTreeMap<String, Vec<u8>>> {
    let boundary = content_type
        .split(';')
        .filter_map(|parameter| parameter.trim().split_once('='))
        .find(|(name, _)| name.eq_ignore_ascii_case("boundary"))
        .map(|(_, value)| value.trim_matches('"'))?;
    if boundary.is_empty() {
        return None;
    }
    let delimiter = format!("--{boundary}");
    let mut rest = after(body, delimiter.as_bytes())?;
    // RFC 2046 asks for CRLF; Cloudflare's Go client of before 2025 ends its lines with LF alone.
    let newline = if rest.starts_with(b"\n") { "\n" } else { "\r\n" };
    let inner = format!("{newline}{delimiter}");
    let mut parts = BTreeMap::new();
    while !rest.starts_with(b"--") {
        let part = rest.strip_prefix(newline.as_bytes())?;
        let end = find(part, inner.as_bytes())?;
        let (head, content) = split_head(part.get(..end)?, newline)?;
        parts.insert(name_of(head)?, content.to_vec());
        rest = part.get(end + inner.len()..)?;
    }
    Some(parts)
}

fn split_head<'a>(part: &'a [u8], newline: &str) -> Option<(&'a str, &'a [u8])> {
    let end = newline.repeat(2);
    let at = find(part, end.as_bytes())?;
    Some((std::str::from_utf8(part.get(..at)?).ok()?, part.get(at + end.len()..)?))
}

/// `Content-Disposition: form-data; name="file"; filename="zone.txt"`.
fn name_of(head: &str) -> Option<String> {
    let is_disposition = |line: &&str| line.to_ascii_lowercase().starts_with("content-disposition:");
    head.lines()
        .find(is_disposition)?
        .split(';')
        .filter_map(|parameter| parameter.trim().split_once('='))
        .find(|(name, _)| *name == "name")
        .map(|(_, value)| value.trim_matches('"').to_owned())
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

fn after<'a>(bytes: &'a [u8], wanted: &[u8]) -> Option<&'a [u8]> {
    bytes.get(find(bytes, wanted)? + wanted.len()..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_and_broken_bodies_are_none() {
        let body = b"--x\r\nContent-Disposition: form-data; name=\"proxied\"\r\n\r\ntrue\r\n--x\r\n\
            content-disposition: form-data; name=\"file\"; filename=\"a\"\r\nContent-Type: text/plain\r\n\r\n\
            a\r\nb\r\n--x--\r\n";
        let found = parts("multipart/form-data; boundary=x", body).unwrap();
        assert_eq!(found["proxied"], b"true");
        assert_eq!(found["file"], b"a\r\nb");
        let bare = b"--x\nContent-Disposition: form-data; name=\"file\"\n\na\r\nb\n--x--";
        assert_eq!(parts("multipart/form-data; boundary=x", bare).unwrap()["file"], b"a\r\nb");
        for (content_type, body) in [
            ("multipart/form-data", body.as_slice()),
            ("multipart/form-data; boundary=", body),
            ("multipart/form-data; boundary=y", body),
            ("multipart/form-data; boundary=x", b"--x"),
            ("multipart/form-data; boundary=x", b"--x\r\n\r\n--x--"),
            ("multipart/form-data; boundary=x", b""),
        ] {
            assert_eq!(parts(content_type, body), None, "{content_type}");
        }
    }
}
