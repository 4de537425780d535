//! TXT values: one text in several spellings. Cloudflare answers `"first 255 bytes" "rest"` for what was sent
//! whole, users write either, and all of them are one value (case B037). Other quoted values (CAA, NAPTR, URI and the
//! parameters of HTTPS) use it too.

/// Most bytes of one string of a TXT record: its length is one octet (RFC 1035, 3.3).
const STRING_BYTES_MAX: usize = 255;
/// Most bytes of a record in wire format, the strings' length octets included (Cloudflare's error 9015).
pub(super) const WIRE_BYTES_MAX: usize = 4096;

/// Why a text cannot be a TXT value, and what to do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum TextError {
    /// Nothing was written.
    #[error("is empty; write the record's text")]
    Empty,
    /// It starts like a quoted form and is none.
    #[error(
        "starts with a quote but is not a row of quoted strings; put every string in quotes and a backslash before \
         each quote or backslash inside them"
    )]
    Quotes,
    /// A line break or another control character outside quotes: most often the end of a YAML block text.
    #[error(
        "has a line break or another control character in it; write the text on one line (YAML: `>-`), or in quotes \
         with the character as \\010"
    )]
    Control,
    /// More than a record can hold.
    #[error(
        "takes {0} bytes on the wire, more than the {WIRE_BYTES_MAX} of a record (Cloudflare: 9015); shorten it"
    )]
    TooLong(usize),
}

/// A value in the form that is compared: the plain text, without splits, quotes or escapes. A text that would read
/// as a quoted form, or that is no UTF-8, keeps one pair of quotes and its escapes; that makes it idempotent.
pub(super) fn canonical(content: &str) -> String {
    let Some(strings) = strings(content) else { return content.to_owned() };
    let bytes = strings.concat();
    match String::from_utf8(bytes) {
        Ok(plain) if self::strings(&plain).is_none() => plain,
        Ok(ambiguous) => quoted(ambiguous.as_bytes(), usize::MAX),
        Err(error) => quoted(error.as_bytes(), usize::MAX),
    }
}

/// A user's value as it is sent: as written where only one reading is possible, else quoted. How Cloudflare wraps
/// quotes, backslashes and outer spaces in quotes of its own, and where it splits a character of several bytes, is
/// not documented; quoted input is kept. The strings of a quoted form stay apart: to some readers they are a list.
pub(super) fn outgoing(written: &str) -> Result<String, TextError> {
    if written.is_empty() {
        return Err(TextError::Empty);
    }
    let strings = match strings(written) {
        Some(strings) => strings,
        None if written.trim_ascii_start().starts_with('"') => return Err(TextError::Quotes),
        None if written.contains(char::is_control) => return Err(TextError::Control),
        None if one_reading(written) => {
            return within_wire_limit(&[written.as_bytes()]).map(|()| written.to_owned());
        }
        None => vec![written.as_bytes().to_vec()],
    };
    within_wire_limit(&strings)?;
    let quoted: Vec<String> = strings.iter().map(|string| quoted(string, STRING_BYTES_MAX)).collect();
    Ok(quoted.join(" "))
}

fn one_reading(plain: &str) -> bool {
    let whole_characters = plain.is_ascii() || plain.len() <= STRING_BYTES_MAX;
    whole_characters && !plain.contains(['"', '\\']) && plain.trim() == plain
}

fn within_wire_limit(strings: &[impl AsRef<[u8]>]) -> Result<(), TextError> {
    let wire = |bytes: usize| bytes + bytes.div_ceil(STRING_BYTES_MAX).max(1);
    let total = strings.iter().map(|string| wire(string.as_ref().len())).sum();
    if total > WIRE_BYTES_MAX { Err(TextError::TooLong(total)) } else { Ok(()) }
}

/// The strings of a quoted form, unescaped as zone files are (RFC 1035, 5.1: `\X` is X, `\DDD` the byte of that
/// number); nothing when the text is not one.
fn strings(text: &str) -> Option<Vec<Vec<u8>>> {
    let mut rest = text.trim_ascii().as_bytes();
    let mut strings = Vec::new();
    while !rest.is_empty() {
        let (string, after) = string(rest)?;
        strings.push(string);
        rest = after.trim_ascii_start();
    }
    (!strings.is_empty()).then_some(strings)
}

/// The bytes of what stands between two quotes; nothing when an escape in it is none.
pub(super) fn unescaped(inside: &str) -> Option<Vec<u8>> {
    match string(format!("\"{inside}\"").as_bytes())? {
        (bytes, []) => Some(bytes),
        _ => None,
    }
}

// One quoted string at the front, and what comes after it.
fn string(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut rest = text.strip_prefix(b"\"")?;
    let mut bytes = Vec::new();
    loop {
        rest = match rest {
            [b'"', after @ ..] => return Some((bytes, after)),
            [b'\\', digit, ..] if digit.is_ascii_digit() => {
                let (digits, after) = rest[1..].split_first_chunk::<3>()?;
                bytes.push(str::from_utf8(digits).ok()?.parse().ok()?);
                after
            }
            [b'\\', byte, after @ ..] => {
                bytes.push(*byte);
                after
            }
            [] | [b'\\'] => return None,
            [byte, after @ ..] => {
                bytes.push(*byte);
                after
            }
        };
    }
}

/// The quoted form, in strings of at most `most` bytes that never split a character.
pub(super) fn quoted(bytes: &[u8], most: usize) -> String {
    let mut strings = String::from('"');
    let mut held = 0;
    let mut put = |size: usize, write: &dyn Fn(&mut String)| {
        if held + size > most {
            strings.push_str("\" \"");
            held = 0;
        }
        held += size;
        write(&mut strings);
    };
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            put(character.len_utf8(), &|strings| match character {
                '"' | '\\' => strings.extend(['\\', character]),
                _ if character.is_ascii_control() => push_number(strings, character as u32),
                _ => strings.push(character),
            });
        }
        for byte in chunk.invalid() {
            put(1, &|strings| push_number(strings, u32::from(*byte)));
        }
    }
    strings.push('"');
    strings
}

fn push_number(strings: &mut String, byte: u32) {
    strings.push_str(&format!("\\{byte:03}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Cloudflare stores a text that came without quotes.
    fn stored(plain: &str) -> String {
        quoted(plain.as_bytes(), STRING_BYTES_MAX)
    }

    #[test]
    fn b037_a_value_is_the_same_however_it_is_split() {
        for bytes in [1, 254, 255, 256, 510, 511, 2048] {
            let plain = "A".repeat(bytes);
            assert_eq!(outgoing(&plain).as_deref(), Ok(plain.as_str()), "one spelling only: sent as written");
            assert_eq!(canonical(&stored(&plain)), plain, "{bytes}");
            let (front, back) = plain.split_at(bytes / 3);
            assert_eq!(canonical(&format!("\"{front}\" \"{back}\"")), plain, "{bytes}, the user's own split");
            assert_eq!(canonical(&format!(" \"{front}\"\n\"{back}\"\n")), plain, "{bytes}, on two lines");
        }
        assert_eq!(stored(&"A".repeat(256)), format!("\"{}\" \"A\"", "A".repeat(255)));
    }

    #[test]
    fn b037_a_character_across_byte_255_is_neither_torn_nor_lost() {
        for before in [253, 254, 255] {
            let plain = format!("{}é{}", "A".repeat(before), "B".repeat(10));
            let sent = outgoing(&plain);
            assert!(
                sent.as_deref().is_ok_and(|sent| sent.starts_with('"')),
                "we split it ourselves: {sent:?}"
            );
            assert_eq!(sent.map(|sent| canonical(&sent)), Ok(plain.clone()));
            let torn = format!("\"{}\\195\" \"\\169{}\"", "A".repeat(before), "B".repeat(10));
            assert_eq!(canonical(&torn), plain, "split between the two bytes of the character");
        }
    }

    #[test]
    fn escapes_are_undone_once() {
        for (content, expected) in [
            (r#""say \"hi\"""#, r#"say "hi""#),
            (r#""a\\b""#, r"a\b"),
            (r#""\065\066""#, "AB"),
            (r#""\;""#, ";"),
            (r#""""#, ""),
            (r#""a""b""#, "ab"),
            (r"a\b", r"a\b"),
            (r#"say "hi""#, r#"say "hi""#),
            (r#""open"#, r#""open"#),
            (r#""a" b"#, r#""a" b"#),
            (r#""\999""#, r#""\999""#),
            (r#""a\"#, r#""a\"#),
            (r#""\"quoted\"""#, r#""\"quoted\"""#),
            (r#""\255""#, r#""\255""#),
            (r#""\128\"\010é""#, r#""\128\"\010é""#),
        ] {
            assert_eq!(canonical(content), expected, "{content}");
            assert_eq!(canonical(expected), expected, "{content}: idempotent");
        }
    }

    #[test]
    fn what_has_two_readings_is_sent_in_quotes() {
        for (written, expected) in [
            ("v=spf1 -all", "v=spf1 -all"),
            ("grüße", "grüße"),
            (r#"say "hi""#, r#""say \"hi\"""#),
            (r"a\b", r#""a\\b""#),
            (" outer ", r#"" outer ""#),
            (r#""one"  "two""#, r#""one" "two""#),
            ("\"one\"\n\"two\"\n", r#""one" "two""#),
            (r#""a\010b""#, r#""a\010b""#),
            (r#""""#, r#""""#),
        ] {
            assert_eq!(outgoing(written).as_deref(), Ok(expected), "{written:?}");
            assert_eq!(canonical(expected), canonical(written), "{written:?}");
        }
        let long = format!("\"{}\"", "A".repeat(256));
        assert_eq!(
            outgoing(&long),
            Ok(stored(&"A".repeat(256))),
            "an over-long string is split, not refused"
        );
    }

    #[test]
    fn what_can_never_be_a_value_says_why() {
        assert_eq!(outgoing(""), Err(TextError::Empty));
        for written in [r#""open"#, r#""a" b"#, r#"  "a" b"#] {
            assert_eq!(outgoing(written), Err(TextError::Quotes), "{written}");
        }
        for written in ["a\n", "a\tb", "a\u{7f}"] {
            assert_eq!(outgoing(written), Err(TextError::Control), "{written:?}");
        }
        // 4,080 bytes are 16 full strings, each with its length octet.
        assert!(outgoing(&"A".repeat(4080)).is_ok());
        assert_eq!(outgoing(&"A".repeat(4081)), Err(TextError::TooLong(4098)));
    }
}
