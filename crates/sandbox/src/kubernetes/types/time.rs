//! Times in the layouts of `metav1.Time` and `metav1.MicroTime`, refused in the words of Go's `time.Parse`.

/// The layout of `metav1.Time`. Go reads fractions where the layout has none.
pub(super) const SECONDS: &str = "2006-01-02T15:04:05Z07:00";
/// The layout of `metav1.MicroTime`, which wants all six digits.
pub(super) const MICROSECONDS: &str = "2006-01-02T15:04:05.000000Z07:00";

/// The pieces of the layouts; numbers have their largest value, and what Go calls them.
const PIECES: &[(&str, usize, u32, &str)] = &[
    ("2006", 4, 9999, "year"),
    ("-", 0, 0, ""),
    ("01", 2, 12, "month"),
    ("-", 0, 0, ""),
    ("02", 2, 31, "day"),
    ("T", 0, 0, ""),
    ("15", 2, 23, "hour"),
    (":", 0, 0, ""),
    ("04", 2, 59, "minute"),
    (":", 0, 0, ""),
    ("05", 2, 59, "second"),
];

/// Digits of a fraction of a second in the longer layout.
const FRACTION: usize = 6;

/// Whether `text` is a time in the layout.
pub(super) fn check(text: &str, layout: &str) -> Result<(), String> {
    let no = |rest: &str, piece: &str| {
        Err(format!("parsing time {text:?} as {layout:?}: cannot parse {rest:?} as {piece:?}"))
    };
    let mut rest = text;
    let mut out_of_range = None;
    for (piece, digits, max, name) in PIECES {
        if *digits == 0 {
            let Some(tail) = rest.strip_prefix(piece) else { return no(rest, piece) };
            rest = tail;
            continue;
        }
        let number = rest.get(..*digits).filter(|head| head.bytes().all(|byte| byte.is_ascii_digit()));
        let Some(number) = number.and_then(|head| head.parse::<u32>().ok()) else { return no(rest, piece) };
        let is_in_range = number <= *max && !(matches!(*name, "month" | "day") && number == 0);
        if !is_in_range && out_of_range.is_none() {
            out_of_range = Some(name);
        }
        rest = &rest[*digits..];
    }
    let fraction =
        rest.strip_prefix('.').map_or(0, |tail| tail.bytes().take_while(u8::is_ascii_digit).count());
    if layout == MICROSECONDS {
        if fraction != FRACTION {
            return no(rest, ".000000");
        }
        rest = &rest[fraction + 1..];
    } else if fraction > 0 {
        rest = &rest[fraction + 1..];
    }
    if let Some(name) = out_of_range {
        return Err(format!("parsing time {text:?}: {name} out of range"));
    }
    let zone = rest.as_bytes();
    let is_zone = match zone {
        [b'Z'] => true,
        [b'+' | b'-', h1, h2, b':', m1, m2] => [h1, h2, m1, m2].iter().all(|digit| digit.is_ascii_digit()),
        _ => false,
    };
    if is_zone { Ok(()) } else { no(rest, "Z07:00") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_go_reads_them() {
        assert_eq!(check("2026-01-02T03:04:05Z", SECONDS), Ok(()));
        assert_eq!(check("2026-01-02T03:04:05.25+01:00", SECONDS), Ok(()));
        assert_eq!(check("2026-01-02T03:04:05.000001Z", MICROSECONDS), Ok(()));
        for (text, layout, why) in [
            ("yesterday", SECONDS, "cannot parse \"yesterday\" as \"2006\""),
            ("2026-01-02", SECONDS, "cannot parse \"\" as \"T\""),
            ("2026-01-02T03:04:05.5Z", MICROSECONDS, "cannot parse \".5Z\" as \".000000\""),
        ] {
            assert_eq!(check(text, layout), Err(format!("parsing time {text:?} as {layout:?}: {why}")));
        }
        assert_eq!(
            check("2026-13-02T03:04:05Z", SECONDS),
            Err("parsing time \"2026-13-02T03:04:05Z\": month out of range".to_owned())
        );
    }
}
