//! Domain names as Cloudflare stores them: ASCII (punycode), lower case, no final dot. Knows the DNS's own limits
//! and how a record's name lies in its zone; which names a record type takes is for the record's hooks.

/// Most octets of a label (RFC 1035, 2.3.4).
pub const LABEL_OCTETS_MAX: usize = 63;
/// Most characters of a name without its final dot: 255 octets on the wire (RFC 1035, 2.3.4) less the first
/// label's length and the root.
pub const NAME_CHARACTERS_MAX: usize = 253;
/// Longest label that is looked at as an international one: 63 characters of at most 4 bytes of UTF-8 each. What is
/// longer can never fit and is only lower-cased, so that hostile input costs nothing.
const LABEL_INPUT_BYTES_MAX: usize = 4 * LABEL_OCTETS_MAX;
/// Most characters of a text that a message repeats: enough to recognise it.
const QUOTED_CHARACTERS_MAX: usize = 80;
/// The characters that IDNA reads as dots between labels (UTS #46, 2.3).
const DOTS: [char; 4] = ['.', '\u{3002}', '\u{FF0E}', '\u{FF61}'];
/// A record at the zone's own name, as in zone files.
const APEX: &str = "@";

/// Why a text is no domain name, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Two dots in a row, a dot at the front, or nothing at all.
    #[error("{0:?} has an empty label; remove the superfluous dot")]
    EmptyLabel(String),
    /// A label that does not fit.
    #[error(
        "the label {0:?} has more than {LABEL_OCTETS_MAX} characters (in punycode, if it is international); shorten it"
    )]
    LabelTooLong(String),
    /// A name that does not fit.
    #[error("{0:?} has more than {NAME_CHARACTERS_MAX} characters together with its zone; shorten it")]
    TooLong(String),
    /// Not an international name, or punycode that stands for none.
    #[error(
        "the label {0:?} is not a valid international domain name (IDNA); check its spelling or its punycode"
    )]
    NotIdna(String),
    /// White space or a control character.
    #[error("{0:?} has white space or a control character in it; remove it")]
    Space(String),
    /// An absolute name that does not lie in the zone.
    #[error(
        "{name:?} lies outside the zone {zone:?}; name the Zone it belongs to, or drop the final dot to put it below {zone:?}"
    )]
    OutsideZone {
        /// As the user wrote it.
        name: String,
        /// The zone's name.
        zone: String,
    },
}

/// A name in the form that is compared. A label that is no valid IDNA is only lower-cased, so that every text has
/// such a form. Idempotent.
#[must_use]
pub fn canonical(name: &str) -> String {
    let labels: Vec<String> =
        labels(name).map(|label| ascii_label(label).unwrap_or_else(|_| label.to_ascii_lowercase())).collect();
    labels.join(".").trim_end_matches('.').to_owned()
}

/// A valid name in the form that is compared.
///
/// # Errors
/// The first thing that keeps the text from being a domain name.
pub fn parse(name: &str) -> Result<String, NameError> {
    let labels: Vec<String> = labels(name).map(ascii_label).collect::<Result<_, _>>()?;
    let joined = labels.join(".");
    let ascii = joined.strip_suffix('.').unwrap_or(&joined);
    for label in ascii.split('.') {
        if label.is_empty() {
            return Err(NameError::EmptyLabel(quoted(name)));
        }
        if label.len() > LABEL_OCTETS_MAX {
            return Err(NameError::LabelTooLong(quoted(label)));
        }
        if label.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(NameError::Space(quoted(name)));
        }
    }
    if ascii.len() > NAME_CHARACTERS_MAX {
        return Err(NameError::TooLong(quoted(ascii)));
    }
    Ok(ascii.to_owned())
}

/// The full name of a record that a user calls `name` in `zone` (canonical): `@` is the zone, a name that is or
/// ends in the zone stays, a final dot makes it absolute, and anything else lies below the zone. So Cloudflare reads
/// it too: `app.example.net` without a final dot becomes `app.example.net.example.com`.
///
/// # Errors
/// What keeps the full name from being one, or that it lies outside the zone.
pub fn in_zone(name: &str, zone: &str) -> Result<String, NameError> {
    if name == APEX {
        return Ok(zone.to_owned());
    }
    let inside = |full: &str| full == zone || full.strip_suffix(zone).is_some_and(|rest| rest.ends_with('.'));
    if name.is_empty() {
        return Err(NameError::EmptyLabel(quoted(name)));
    }
    if name.ends_with(DOTS) {
        let absolute = canonical(name);
        return if inside(&absolute) {
            parse(name)
        } else {
            Err(NameError::OutsideZone { name: quoted(name), zone: zone.to_owned() })
        };
    }
    if inside(&canonical(name)) { parse(name) } else { parse(&format!("{name}.{zone}")) }
}

// By label and not as a whole: IDNA checks writing directions across a whole name, so that `_dmarc` or `*` below a
// Hebrew zone would be refused although Cloudflare serves them.
fn labels(name: &str) -> impl Iterator<Item = &str> {
    name.split(DOTS)
}

fn ascii_label(label: &str) -> Result<String, NameError> {
    if label.len() > LABEL_INPUT_BYTES_MAX {
        return Err(NameError::LabelTooLong(quoted(label)));
    }
    idna::domain_to_ascii(label).map_err(|_| NameError::NotIdna(quoted(label)))
}

fn quoted(text: &str) -> String {
    text.chars().take(QUOTED_CHARACTERS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ZONE: &str = "example.com";

    #[test]
    fn b060_case_and_final_dots_do_not_count() {
        for (written, expected) in [
            ("WWW.Example.COM.", "www.example.com"),
            ("www.example.com", "www.example.com"),
            ("*.Example.com", "*.example.com"),
            ("_DMARC.example.com", "_dmarc.example.com"),
            (".", ""),
            ("a..", "a"),
        ] {
            assert_eq!(canonical(written), expected, "{written}");
        }
    }

    #[test]
    fn b059_unicode_and_punycode_are_one_name() {
        for written in
            ["bücher.müller.example", "BÜCHER.Müller.example.", "xn--bcher-kva.XN--mller-kva.example"]
        {
            assert_eq!(canonical(written), "xn--bcher-kva.xn--mller-kva.example", "{written}");
            assert_eq!(parse(written).as_deref(), Ok("xn--bcher-kva.xn--mller-kva.example"), "{written}");
        }
        assert_eq!(canonical("例え。テスト"), "xn--r8jz45g.xn--zckzah", "the ideographic full stop is a dot");
    }

    #[test]
    fn b059_service_labels_and_wildcards_live_below_a_right_to_left_zone() {
        for name in ["_dmarc.xn--5dbqzzl.example", "*.עברית.example", "1.עברית.example"] {
            assert!(parse(name).is_ok(), "{name}: {:?}", parse(name));
        }
    }

    #[test]
    fn b061_names_lie_in_their_zone() {
        for (written, expected) in [
            ("@", ZONE),
            ("www", "www.example.com"),
            ("WWW.Example.COM.", "www.example.com"),
            ("www.example.com", "www.example.com"),
            ("example.com", ZONE),
            ("EXAMPLE.com.", ZONE),
            ("*", "*.example.com"),
            ("_imap._tcp", "_imap._tcp.example.com"),
            ("notexample.com", "notexample.com.example.com"),
            ("app.example.net", "app.example.net.example.com"),
            ("bücher", "xn--bcher-kva.example.com"),
        ] {
            assert_eq!(in_zone(written, ZONE).as_deref(), Ok(expected), "{written}");
        }
        for written in ["app.example.net.", "com.", ".", "@.", "notexample.com."] {
            assert!(matches!(in_zone(written, ZONE), Err(NameError::OutsideZone { .. })), "{written}");
        }
        assert_eq!(
            in_zone("bücher.Müller.example", "xn--mller-kva.example").as_deref(),
            Ok("xn--bcher-kva.xn--mller-kva.example")
        );
    }

    #[test]
    fn what_can_never_be_a_name_says_why() {
        let label = "a".repeat(LABEL_OCTETS_MAX);
        assert!(in_zone(&label, ZONE).is_ok());
        assert!(matches!(in_zone(&format!("{label}a"), ZONE), Err(NameError::LabelTooLong(_))));
        assert!(matches!(in_zone(&"ü".repeat(LABEL_OCTETS_MAX), ZONE), Err(NameError::LabelTooLong(_))));
        assert!(matches!(in_zone(&"ü".repeat(1_000_000), ZONE), Err(NameError::LabelTooLong(_))));
        for name in ["", "a..b", ".a", "..", "a..example.com"] {
            let error = in_zone(name, ZONE);
            assert!(
                matches!(error, Err(NameError::EmptyLabel(_) | NameError::OutsideZone { .. })),
                "{name}: {error:?}"
            );
        }
        for name in ["xn--a", "xn--zzzzzz99", "\u{200B}\u{FFFD}"] {
            assert!(
                matches!(in_zone(name, ZONE), Err(NameError::NotIdna(_))),
                "{name}: {:?}",
                in_zone(name, ZONE)
            );
        }
        for name in ["a b", "a\tb", "a\n"] {
            assert!(matches!(in_zone(name, ZONE), Err(NameError::Space(_))), "{name}");
        }
    }

    #[test]
    fn a_full_name_has_at_most_253_characters() {
        let longest = format!("{0}.{0}.{0}.{1}", "a".repeat(LABEL_OCTETS_MAX), "b".repeat(49));
        assert_eq!(in_zone(&longest, ZONE).map(|name| name.len()), Ok(NAME_CHARACTERS_MAX));
        assert!(matches!(in_zone(&format!("{longest}b"), ZONE), Err(NameError::TooLong(_))));
    }
}
