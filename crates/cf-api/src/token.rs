//! An API token from the moment it is read: refused with a reason when it can't be one, never printed.
//!
//! Where it comes from (a Secret, the environment) and whom it belongs to is known elsewhere.

use crate::dns::TokenKind;
use crate::limits::{ERASED_MIN, TOKEN_MAX};
use http::HeaderValue;
use std::fmt;

/// Stands in an answer where a token was. It breaks no JSON.
const ERASED: &[u8] = b"[token]";

/// A token that is fit for a header. It has no `Display` and no `Serialize`, and `Debug` hides it (V9).
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    header: HeaderValue,
    kind: TokenKind,
    fingerprint: Fingerprint,
}

/// A stable key for maps of what belongs to one token, such as budgets. It is a plain hash: not printed,
/// because a guess could be confirmed with it, and never taken for the identity of the token where
/// permissions are concerned.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(u64);

/// Why a text is no token (B147). No variant holds any of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum TokenError {
    /// Nothing but white space.
    #[error("the token is empty")]
    Empty,
    /// The word `Bearer` in front, which we add ourselves.
    #[error("the token starts with \"Bearer\": store the token alone")]
    Bearer,
    /// Quotes around it or within.
    #[error("the token holds quotes: store it without them")]
    Quoted,
    /// A space, tab or line break within.
    #[error("the token holds white space")]
    InnerWhitespace,
    /// A control character within.
    #[error("the token holds a control character")]
    Control,
    /// A character that stands in no token, or none of those that every token has: `<token>`, `...`.
    #[error(
        "the token holds characters that no token has, or only such: store the token itself, not its placeholder"
    )]
    Foreign,
    /// Bytes beyond ASCII.
    #[error("the token holds characters that are not ASCII")]
    NotAscii,
    /// More than [`TOKEN_MAX`] bytes.
    #[error("the token is too long")]
    TooLong,
}

impl Secret {
    /// Reads a token as users store it: surrounding white space is dropped, everything else that can't be
    /// part of a token is refused before any call is made.
    ///
    /// # Errors
    /// [`TokenError`], which never contains the text.
    pub fn parse(raw: &[u8]) -> Result<Secret, TokenError> {
        let text = std::str::from_utf8(raw).map_err(|_| TokenError::NotAscii)?.trim();
        check(text)?;
        let mut header = HeaderValue::from_str(&format!("Bearer {text}")).map_err(|_| TokenError::Control)?;
        header.set_sensitive(true);
        Ok(Secret { header, kind: TokenKind::of(text), fingerprint: Fingerprint(fnv1a(text.as_bytes())) })
    }

    /// Whether the token is this text, which is no secret.
    pub fn is(&self, text: &str) -> bool {
        self.header.as_bytes().strip_prefix(b"Bearer ") == Some(text.as_bytes())
    }

    /// The value of `Authorization`, marked sensitive, so that HTTP libraries neither print nor index it.
    pub fn header_value(&self) -> HeaderValue {
        self.header.clone()
    }

    /// A body without the token, if it is in there: proxies and servers under repair echo the headers of a request, and what
    /// is said of a refusal is shown to people.
    pub fn erased_from(&self, body: &[u8]) -> Option<Vec<u8>> {
        let token =
            self.header.as_bytes().strip_prefix(b"Bearer ").filter(|text| text.len() >= ERASED_MIN)?;
        let mut rest = body;
        let mut erased = Vec::new();
        while let Some(at) = rest.windows(token.len()).position(|window| window == token) {
            erased.extend_from_slice(&rest[..at]);
            erased.extend_from_slice(ERASED);
            rest = &rest[at + token.len()..];
        }
        (rest.len() < body.len()).then(|| [&erased, rest].concat())
    }

    /// Whether a user or an account owns the token, by its prefix.
    pub fn kind(&self) -> TokenKind {
        self.kind
    }

    /// The key for maps of what belongs to this token.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fingerprint(…)")
    }
}

fn check(text: &str) -> Result<(), TokenError> {
    let first = text.split_whitespace().next().unwrap_or_default();
    if text.is_empty() {
        return Err(TokenError::Empty);
    }
    if text.chars().any(|c| matches!(c, '"' | '\'' | '`')) {
        return Err(TokenError::Quoted);
    }
    if first.trim_end_matches(':').eq_ignore_ascii_case("bearer") {
        return Err(TokenError::Bearer);
    }
    if text.chars().any(char::is_whitespace) {
        return Err(TokenError::InnerWhitespace);
    }
    if text.chars().any(char::is_control) {
        return Err(TokenError::Control);
    }
    if !text.is_ascii() {
        return Err(TokenError::NotAscii);
    }
    // RFC 6750, section 2.1: what may follow `Bearer`. Cloudflare's own tokens take fewer of these.
    let is_fit = |c: u8| c.is_ascii_alphanumeric() || b"-._~+/=".contains(&c);
    if !text.bytes().all(is_fit) || !text.bytes().any(|c| c.is_ascii_alphanumeric()) {
        return Err(TokenError::Foreign);
    }
    if text.len() > TOKEN_MAX {
        return Err(TokenError::TooLong);
    }
    Ok(())
}

/// FNV-1a, 64 bits: the same in every process and version, which the standard hasher doesn't promise.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::{Secret, TokenError, fnv1a};
    use crate::dns::TokenKind;
    use crate::limits::TOKEN_MAX;

    const TOKEN: &str = "abcDEF-123_token";

    #[test]
    fn b147_white_space_around_a_token_is_dropped() {
        let plain = Secret::parse(TOKEN.as_bytes()).unwrap();
        for raw in ["abcDEF-123_token\n", " abcDEF-123_token", "\r\nabcDEF-123_token\t\r\n"] {
            let secret = Secret::parse(raw.as_bytes()).unwrap();
            assert_eq!(secret, plain);
            assert_eq!(secret.header_value().to_str().unwrap(), "Bearer abcDEF-123_token");
        }
    }

    #[test]
    fn b147_what_is_no_token_has_its_reason() {
        let long = "a".repeat(TOKEN_MAX + 1);
        let table: [(&[u8], TokenError); 22] = [
            (b"", TokenError::Empty),
            (b" \n", TokenError::Empty),
            (b"Bearer abc", TokenError::Bearer),
            (b"bearer\tabc", TokenError::Bearer),
            (b"Bearer: abc", TokenError::Bearer),
            (b"Bearer ", TokenError::Bearer),
            (b"\"abc\"", TokenError::Quoted),
            (b"'abc'", TokenError::Quoted),
            (b"\"Bearer abc\"", TokenError::Quoted),
            (b"abc\"", TokenError::Quoted),
            (b"abc def", TokenError::InnerWhitespace),
            (b"abc\ndef", TokenError::InnerWhitespace),
            (b"abc\0def", TokenError::Control),
            (b"abc\x7f", TokenError::Control),
            (b"...", TokenError::Foreign),
            (b"<token>", TokenError::Foreign),
            (b"$CF_API_TOKEN", TokenError::Foreign),
            (b"{{token}}", TokenError::Foreign),
            (b"----", TokenError::Foreign),
            ("\u{feff}abc".as_bytes(), TokenError::NotAscii),
            (b"\xff\xfe", TokenError::NotAscii),
            (long.as_bytes(), TokenError::TooLong),
        ];
        for (raw, wanted) in table {
            assert_eq!(Secret::parse(raw).unwrap_err(), wanted, "{raw:?}");
        }
    }

    #[test]
    fn b147_what_may_be_a_token_is_one() {
        for raw in ["cfat_abc-DEF_0", "a.b.c", "YWJj+/==", "a~b", "0123456789abcdef0123456789abcdef01234567"]
        {
            assert!(Secret::parse(raw.as_bytes()).is_ok(), "{raw}");
        }
    }

    #[test]
    fn v9_a_token_that_is_echoed_is_erased() {
        let secret = Secret::parse(b"abcdefghijklmnopqrstuvwxyz0123456789ABCD").expect("a token");
        let echo = b"{\"Authorization\":\"Bearer abcdefghijklmnopqrstuvwxyz0123456789ABCD\"} \
            abcdefghijklmnopqrstuvwxyz0123456789ABCD";
        let erased = secret.erased_from(echo).expect("it was in there");
        assert_eq!(erased, b"{\"Authorization\":\"Bearer [token]\"} [token]");
        assert_eq!(secret.erased_from(b"{}"), None);
        assert_eq!(secret.erased_from(b""), None);
        // A word that stands for a token in somebody's test may be in any answer.
        let short = Secret::parse(b"result").expect("no token of Cloudflare's, but one to us");
        assert_eq!(short.erased_from(b"{\"result\":null}"), None);
    }

    #[test]
    fn v9_a_token_cannot_be_printed() {
        let secret = Secret::parse(TOKEN.as_bytes()).unwrap();
        assert_eq!(format!("{secret:?}"), "Secret(…)");
        assert_eq!(format!("{:?}", secret.fingerprint()), "Fingerprint(…)");
        assert!(secret.header_value().is_sensitive());
        assert_eq!(format!("{:?}", secret.header_value()), "Sensitive");
        let error = Secret::parse(b"Bearer abcDEF").unwrap_err();
        assert!(!format!("{error} {error:?}").contains("abcDEF"));
    }

    #[test]
    fn a_token_is_known_by_a_text_that_is_no_secret() {
        let secret = Secret::parse(TOKEN.as_bytes()).unwrap();
        assert!(secret.is(TOKEN));
        assert!(!secret.is("") && !secret.is(&TOKEN[1..]) && !secret.is(&format!("Bearer {TOKEN}")));
    }

    #[test]
    fn the_prefix_tells_who_owns_a_token() {
        assert_eq!(Secret::parse(b" cfat_x").unwrap().kind(), TokenKind::Account);
        assert_eq!(Secret::parse(b"cfut_x").unwrap().kind(), TokenKind::User);
    }

    #[test]
    fn fingerprints_are_stable_and_differ() {
        // The test vectors of the FNV authors.
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
        let of = |raw: &[u8]| Secret::parse(raw).unwrap().fingerprint();
        assert_eq!(of(b"abc\n"), of(b"abc"));
        assert_ne!(of(b"abc"), of(b"abd"));
    }
}
