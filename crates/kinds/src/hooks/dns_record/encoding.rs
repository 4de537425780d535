//! Bytes written as text, in hexadecimal digits or in Base64: zone files break them with white space, hexadecimal
//! digits have no case, and Base64 may lack its padding. All spellings of the same bytes are one value.

/// Base64 writes three bytes in four characters.
const BASE64_GROUP: usize = 4;

fn compact(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Hexadecimal digits in the form that is compared.
pub(super) fn canonical_hex(text: &str) -> String {
    compact(text).to_ascii_lowercase()
}

/// Base64 in the form that is compared: with its padding. What is no Base64 only loses its white space.
pub(super) fn canonical_base64(text: &str) -> String {
    let mut text = compact(text);
    if is_base64(&text) {
        let digits = text.trim_end_matches('=').len();
        text.truncate(digits);
        text.push_str(&"=".repeat(digits.next_multiple_of(BASE64_GROUP) - digits));
    }
    text
}

/// What keeps a text from being bytes in hexadecimal digits.
pub(super) fn hex_problem(text: &str) -> Option<&'static str> {
    let digits = compact(text);
    if digits.is_empty() {
        Some("is empty; write hexadecimal digits")
    } else if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        Some("takes hexadecimal digits (0-9, a-f) only; remove prefixes and colons")
    } else if !digits.len().is_multiple_of(2) {
        Some("has an odd number of hexadecimal digits; two make a byte, so one is missing")
    } else {
        None
    }
}

/// What keeps a text from being bytes in Base64.
pub(super) fn base64_problem(text: &str) -> Option<&'static str> {
    (!is_base64(&compact(text))).then_some(
        "is no Base64; write the bytes alone, in letters, digits, + and /, without BEGIN and END lines",
    )
}

/// Bytes that so many hexadecimal digits stand for.
pub(super) fn hex_bytes(digits: usize) -> usize {
    digits / 2
}

/// Bytes that a canonical Base64 stands for.
pub(super) fn base64_bytes(text: &str) -> usize {
    text.trim_end_matches('=').len() * 3 / BASE64_GROUP
}

// Digits, then no more padding than fills the last group; a single digit over makes no byte.
fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    let over = digits.len() % BASE64_GROUP;
    !digits.is_empty()
        && over != 1
        && padding <= (BASE64_GROUP - over) % BASE64_GROUP
        && digits.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_the_same_bytes_are_one() {
        for (written, expected) in [("AB cd\n EF", "abcdef"), ("00", "00"), ("xY", "xy"), ("", "")] {
            assert_eq!(canonical_hex(written), expected, "{written}");
        }
        for (written, expected) in [
            ("AQID", "AQID"),
            ("AQ ID\nBA==", "AQIDBA=="),
            ("AQIDBA", "AQIDBA=="),
            ("AQIDBA=", "AQIDBA=="),
            ("AQIDBAU", "AQIDBAU="),
            ("A", "A"),
            ("AQID=", "AQID="),
            ("===", "==="),
            ("a_b", "a_b"),
            ("", ""),
        ] {
            assert_eq!(canonical_base64(written), expected, "{written}");
            assert_eq!(canonical_base64(expected), expected, "{written}: idempotent");
        }
    }

    #[test]
    fn what_is_no_bytes_says_why() {
        for (written, ok) in
            [("ab", true), ("a b", true), ("abc", false), ("0x12", false), ("ab:cd", false), (" ", false)]
        {
            assert_eq!(hex_problem(written).is_none(), ok, "{written}");
        }
        for (written, ok) in
            [("AQID", true), ("AQ", true), ("A", false), ("A Q=", true), ("AQ===", false), ("A=Q", false)]
        {
            assert_eq!(base64_problem(written).is_none(), ok, "{written}");
        }
        assert_eq!((hex_bytes(6), base64_bytes("AQIDBA=="), base64_bytes("AQID")), (3, 4, 3));
    }
}
