//! Durations as people write them for Go programs, which is how the old kflare's flags took them: `5m`, `1h30m`.
//! Only what a flag needs: nothing negative.

use std::time::Duration;

/// Units and their nanoseconds, those first that another begins with.
const UNITS: &[(&str, u128)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Go's longest duration, 2^63 - 1 ns (some 292 years).
const NANOSECONDS_MAX: u128 = i64::MAX as u128;

/// Digits after a point that count; more are finer than a nanosecond of an hour.
const FRACTION_DIGITS: usize = 13;

/// Why a text is no duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// Nothing there.
    #[error("a duration is missing: write for example 5m, 1h30m or 30s")]
    Empty,
    /// A number alone.
    #[error("{0:?} has no unit: write for example {0}s or {0}m")]
    NoUnit(String),
    /// A unit that does not exist.
    #[error("{0:?} is no unit of time: write h, m, s, ms, us or ns, as in 1h30m")]
    Unit(String),
    /// No digits where some must be.
    #[error("{0:?} does not begin with a number: write for example 5m, 1h30m or 30s")]
    Number(String),
    /// Below zero.
    #[error("a duration here cannot be negative")]
    Negative,
    /// Above [`NANOSECONDS_MAX`].
    #[error("the duration is too long: 2562047h is the most")]
    TooLong,
}

/// Reads a duration; `0` needs no unit.
///
/// # Errors
/// [`DurationError`].
pub fn parse(text: &str) -> Result<Duration, DurationError> {
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(DurationError::Empty);
    }
    if rest.starts_with('-') {
        return Err(DurationError::Negative);
    }
    rest = rest.strip_prefix('+').unwrap_or(rest);
    if rest == "0" {
        return Ok(Duration::ZERO);
    }
    let mut nanoseconds: u128 = 0;
    while !rest.is_empty() {
        let (part, after) = part(rest)?;
        nanoseconds = nanoseconds.saturating_add(part);
        rest = after;
    }
    let within = u64::try_from(nanoseconds).ok().filter(|_| nanoseconds <= NANOSECONDS_MAX);
    within.map(Duration::from_nanos).ok_or(DurationError::TooLong)
}

/// One number with its unit, in nanoseconds, and what follows.
fn part(text: &str) -> Result<(u128, &str), DurationError> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return Err(DurationError::Number(text.to_owned()));
    }
    let end = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
    let (unit, rest) = rest.split_at(end);
    if unit.is_empty() {
        return Err(DurationError::NoUnit(number.to_owned()));
    }
    let known = UNITS.iter().find(|(name, _)| *name == unit);
    let (_, scale) = known.ok_or_else(|| DurationError::Unit(unit.to_owned()))?;
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| DurationError::TooLong)? };
    let digits: String = fraction.chars().take(FRACTION_DIGITS).collect();
    let exponent = u32::try_from(digits.len()).unwrap_or(0);
    let fraction: u128 = digits.parse().unwrap_or(0);
    let nanoseconds = whole.saturating_mul(*scale).saturating_add(fraction * scale / 10_u128.pow(exponent));
    Ok((nanoseconds, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_go_reads() {
        let cases = [
            ("0", 0),
            ("0s", 0),
            ("5m", 300_000),
            ("1h30m", 5_400_000),
            ("30s", 30_000),
            ("10h", 36_000_000),
            ("1.5h", 5_400_000),
            (".5s", 500),
            ("1.s", 1_000),
            ("250ms", 250),
            ("+2s", 2_000),
            (" 2s ", 2_000),
            ("1h1m1s1ms", 3_661_001),
            ("1000000us", 1_000),
            ("1000000000ns", 1_000),
            ("1000µs", 1),
        ];
        for (text, milliseconds) in cases {
            assert_eq!(parse(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
    }

    #[test]
    fn says_what_is_wrong() {
        let number = |text: &str| DurationError::Number(text.to_owned());
        let cases = [
            ("", DurationError::Empty),
            ("  ", DurationError::Empty),
            ("5", DurationError::NoUnit("5".to_owned())),
            ("1h30", DurationError::NoUnit("30".to_owned())),
            ("5d", DurationError::Unit("d".to_owned())),
            ("5 m", DurationError::Unit(" m".to_owned())),
            ("5M", DurationError::Unit("M".to_owned())),
            ("m", number("m")),
            (".s", number(".s")),
            ("1.2.3s", number("1.2.3s")),
            ("-5m", DurationError::Negative),
            ("2562048h", DurationError::TooLong),
            ("99999999999999999999999999999999999999999h", DurationError::TooLong),
        ];
        for (text, error) in cases {
            assert_eq!(parse(text), Err(error), "{text}");
        }
    }
}
