//! TXT content: quoted strings of at most 255 bytes.
//! Limits on the whole record are left to `rules`.

/// RFC 1035: a character-string has at most 255 bytes.
const STRING_MAX: usize = 255;

/// The stored form: quoted input is kept, other input is quoted and split at bytes. None: cannot be stored.
pub(super) fn stored(content: &str) -> Option<String> {
    if content.is_empty() {
        return None;
    }
    match strings(content) {
        Some(strings) if strings.iter().all(|string| string.len() <= STRING_MAX) => {
            Some(quoted(strings.iter().map(Vec::as_slice)))
        }
        Some(strings) => Some(quoted(strings.iter().flat_map(|string| string.chunks(STRING_MAX)))),
        None => Some(quoted(content.as_bytes().chunks(STRING_MAX))),
    }
}

/// Bytes on the wire: each string has one byte of length before it.
pub(super) fn wire_len(content: &str) -> usize {
    let unquoted = || vec![content.as_bytes().to_vec()];
    let strings = strings(content).unwrap_or_else(unquoted);
    strings.iter().map(|string| string.len() + string.len().div_ceil(STRING_MAX).max(1)).sum()
}

/// The strings of quoted content; none when it is not a sequence of quoted strings.
fn strings(content: &str) -> Option<Vec<Vec<u8>>> {
    let mut out = Vec::new();
    let mut rest = content.trim();
    while !rest.is_empty() {
        let (string, after) = one_string(rest.strip_prefix('"')?)?;
        out.push(string);
        let next = after.trim_start();
        if next.len() == after.len() && !after.is_empty() {
            return None;
        }
        rest = next;
    }
    (!out.is_empty()).then_some(out)
}

/// The bytes up to the closing quote, and what follows it.
fn one_string(text: &str) -> Option<(Vec<u8>, &str)> {
    let mut out = Vec::new();
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return Some((out, text.get(at + 1..)?)),
            '\\' => {
                let (_, escaped) = chars.next()?;
                match escaped.to_digit(10) {
                    None => push(&mut out, escaped),
                    Some(hundreds) => {
                        let tens = chars.next()?.1.to_digit(10)?;
                        let ones = chars.next()?.1.to_digit(10)?;
                        out.push(u8::try_from(hundreds * 100 + tens * 10 + ones).ok()?);
                    }
                }
            }
            plain => push(&mut out, plain),
        }
    }
    None
}

fn push(out: &mut Vec<u8>, char: char) {
    out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
}

/// Quotes strings; bytes that are no character (a split may cut one in two) become `\DDD` (RFC 1035).
fn quoted<'a>(strings: impl Iterator<Item = &'a [u8]>) -> String {
    let mut out = String::new();
    for string in strings {
        out.push_str(if out.is_empty() { "\"" } else { " \"" });
        for chunk in string.utf8_chunks() {
            for char in chunk.valid().chars() {
                if matches!(char, '"' | '\\') {
                    out.push('\\');
                }
                out.push(char);
            }
            for byte in chunk.invalid() {
                out.push_str(&format!("\\{byte:03}"));
            }
        }
        out.push('"');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b037_txt_over_255_bytes_is_split() {
        for (len, parts) in [(254, 1), (255, 1), (256, 2), (510, 2), (511, 3)] {
            let content = stored(&"A".repeat(len)).unwrap();
            assert_eq!(content.matches('"').count(), parts * 2, "{len}");
            assert_eq!(content.matches('A').count(), len);
        }
    }

    #[test]
    fn b037_a_character_across_byte_255_is_cut_at_the_byte() {
        let content = stored(&format!("{}ü!", "A".repeat(254))).unwrap();
        assert_eq!(content, format!("\"{}\\195\" \"\\188!\"", "A".repeat(254)));
        assert_eq!(stored(&content).as_deref(), Some(content.as_str()), "its own form is kept");
    }

    #[test]
    fn quotes_are_added_once_and_kept() {
        for (given, wanted) in [
            ("v=spf1 -all", r#""v=spf1 -all""#),
            (r#""v=spf1 -all""#, r#""v=spf1 -all""#),
            (r#""a" "b""#, r#""a" "b""#),
            (r#"say "hi""#, r#""say \"hi\"""#),
            (r#""open"#, r#""\"open""#),
            (r#""a"b"#, r#""\"a\"b""#),
            (r"a\b", r#""a\\b""#),
            ("bücher", "\"bücher\""),
            (r#""""#, r#""""#),
        ] {
            assert_eq!(stored(given).as_deref(), Some(wanted), "{given}");
        }
        assert_eq!(stored(""), None);
    }
}
