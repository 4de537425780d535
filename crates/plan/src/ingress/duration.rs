//! Go's way of writing durations (`1m30s`), as annotations use it. Reading only; which durations are allowed is for
//! the annotations.

/// Nanoseconds of each unit that Go knows.
const UNITS: &[(&str, i128)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];
const SECOND: i128 = 1_000_000_000;
/// Digits of one number that still count: Go's durations end at 292 years, which has 19 digits of nanoseconds.
const DIGITS_MAX: usize = 19;

/// The duration in nanoseconds, or nothing when Go would not read it.
pub(super) fn nanoseconds(text: &str) -> Option<i128> {
    let (negative, mut rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total = 0_i128;
    while !rest.is_empty() {
        let (amount, after) = element(rest)?;
        total = total.checked_add(amount)?;
        rest = after;
    }
    let signed = if negative { -total } else { total };
    i64::try_from(signed).is_ok().then_some(signed)
}

/// The whole seconds of a duration that has no fraction of one and is more than nothing.
pub(super) fn positive_seconds(nanoseconds: i128) -> Option<u64> {
    (nanoseconds > 0 && nanoseconds % SECOND == 0).then(|| u64::try_from(nanoseconds / SECOND).ok()).flatten()
}

/// One number with its unit, and what follows it.
fn element(text: &str) -> Option<(i128, &str)> {
    let (whole, after) = digits(text);
    let (fraction, after) = match after.strip_prefix('.') {
        Some(after) => digits(after),
        None => ("", after),
    };
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let end = after.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(after.len());
    let (unit, rest) = after.split_at(end);
    let (_, size) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let whole = whole.trim_start_matches('0');
    if whole.len() > DIGITS_MAX {
        return None;
    }
    let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    Some((whole.checked_mul(*size)?.checked_add(part(fraction, *size))?, rest))
}

/// The fraction of a unit, cut to whole nanoseconds as Go cuts it.
fn part(fraction: &str, size: i128) -> i128 {
    let mut left = size;
    let mut sum = 0;
    for digit in fraction.bytes().take(DIGITS_MAX) {
        sum = sum * 10 + i128::from(digit - b'0');
        left *= 10;
    }
    // `left` is size times the power of ten that `sum` was scaled by.
    sum * size * size / left
}

fn digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_go_reads_them() {
        let seconds = |text| nanoseconds(text).map(|n| (n / SECOND, n % SECOND));
        for (text, expected) in [
            ("30s", Some((30, 0))),
            ("1m30s", Some((90, 0))),
            ("2h", Some((7200, 0))),
            ("3000ms", Some((3, 0))),
            ("1.5s", Some((1, 500_000_000))),
            (".5m", Some((30, 0))),
            ("1.s", Some((1, 0))),
            ("0.000000001s", Some((0, 1))),
            ("1µs", Some((0, 1_000))),
            ("0", Some((0, 0))),
            ("-0", Some((0, 0))),
            ("+5s", Some((5, 0))),
            ("-5s", Some((-5, 0))),
            ("2562047h", Some((9_223_369_200, 0))),
            ("2562048h", None),
            ("99999999999999999999h", None),
            ("", None),
            ("-", None),
            ("5", None),
            ("s", None),
            (".s", None),
            ("5 s", None),
            ("5S", None),
            ("1d", None),
            ("5s ", None),
        ] {
            assert_eq!(seconds(text), expected, "{text:?}");
        }
    }

    #[test]
    fn only_whole_positive_seconds_count() {
        assert_eq!(
            [0, -SECOND, 1, SECOND, SECOND * 3 / 2, 90 * SECOND].map(positive_seconds),
            [None, None, None, Some(1), None, Some(90)]
        );
    }
}
