//! What a backslash stands for: one character, or a class of them. Anchors and quotations are the parser's.

use super::ExpressionError;
use super::ranges::{LAST, Ranges};
use super::unicode;

/// Digits, blanks and word characters are those of ASCII, whatever the flags.
const DIGITS: &[(u32, u32)] = &[(0x30, 0x39)];
const BLANKS: &[(u32, u32)] = &[(0x09, 0x0A), (0x0C, 0x0D), (0x20, 0x20)];
const WORD: &[(u32, u32)] = &[(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)];

/// The classes that are written `[:name:]`.
const NAMED: &[(&str, &[(u32, u32)])] = &[
    ("alnum", &[(0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)]),
    ("alpha", &[(0x41, 0x5A), (0x61, 0x7A)]),
    ("ascii", &[(0, 0x7F)]),
    ("blank", &[(0x09, 0x09), (0x20, 0x20)]),
    ("cntrl", &[(0, 0x1F), (0x7F, 0x7F)]),
    ("digit", DIGITS),
    ("graph", &[(0x21, 0x7E)]),
    ("lower", &[(0x61, 0x7A)]),
    ("print", &[(0x20, 0x7E)]),
    ("punct", &[(0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)]),
    ("space", &[(0x09, 0x0D), (0x20, 0x20)]),
    ("upper", &[(0x41, 0x5A)]),
    ("word", WORD),
    ("xdigit", &[(0x30, 0x39), (0x41, 0x46), (0x61, 0x66)]),
];

/// What was read, and the text after it.
pub(super) type Read<'a, T> = Result<(T, &'a str), ExpressionError>;

/// The character that an escape stands for: `\.`, `\x{41}`, `\101`. The text begins with the backslash.
pub(super) fn character(text: &str) -> Read<'_, u32> {
    let error = || ExpressionError::escape(text);
    let mut rest = text.chars();
    rest.next();
    let letter = rest.next().ok_or(ExpressionError::TrailingBackslash)?;
    let after = rest.as_str();
    let rune = match letter {
        'a' => 0x07,
        'f' => 0x0C,
        'n' => 0x0A,
        'r' => 0x0D,
        't' => 0x09,
        'v' => 0x0B,
        'x' => return hexadecimal(after).ok_or_else(error),
        '0'..='7' => return octal(letter, after).ok_or_else(error),
        c if c.is_ascii() && !c.is_ascii_alphanumeric() => u32::from(c),
        _ => return Err(error()),
    };
    Ok((rune, after))
}

/// The class that a letter stands for (`\d`, `\pL`, `\P{Greek}`); none if the text begins with no such escape.
pub(super) fn class(text: &str, folding: bool) -> Result<Option<(Ranges, &str)>, ExpressionError> {
    let Some(letter) = text.strip_prefix('\\').and_then(|rest| rest.chars().next()) else { return Ok(None) };
    let ranges = match letter.to_ascii_lowercase() {
        'd' => DIGITS,
        's' => BLANKS,
        'w' => WORD,
        'p' => return unicode_class(text, letter == 'P', folding).map(Some),
        _ => return Ok(None),
    };
    let ranges = group(ranges, letter.is_ascii_uppercase(), folding);
    Ok(Some((ranges, &text[2..])))
}

/// The class that `[:name:]` stands for within brackets; none if the text begins with no such thing.
pub(super) fn named(text: &str, folding: bool) -> Result<Option<(Ranges, &str)>, ExpressionError> {
    let Some((name, rest)) = text.strip_prefix("[:").and_then(|inner| inner.split_once(":]")) else {
        return Ok(None);
    };
    let (plain, negative) = name.strip_prefix('^').map_or((name, false), |plain| (plain, true));
    let known = NAMED.iter().find(|(known, _)| *known == plain);
    let (_, ranges) = known.ok_or_else(|| ExpressionError::range(text, rest))?;
    Ok(Some((group(ranges, negative, folding), rest)))
}

fn group(ranges: &[(u32, u32)], negative: bool, folding: bool) -> Ranges {
    let ranges = Ranges::new(ranges.iter().copied());
    signed(if folding { unicode::folded(&ranges) } else { ranges }, negative)
}

fn signed(ranges: Ranges, negative: bool) -> Ranges {
    if negative { ranges.negated() } else { ranges }
}

fn unicode_class(text: &str, negative: bool, folding: bool) -> Read<'_, Ranges> {
    let inner = &text[2..];
    let (name, rest) = if let Some(braced) = inner.strip_prefix('{') {
        braced.split_once('}').ok_or_else(|| ExpressionError::range(text, ""))?
    } else {
        inner.split_at(inner.chars().next().map_or(0, char::len_utf8))
    };
    let (plain, inverted) = name.strip_prefix('^').map_or((name, false), |plain| (plain, true));
    let ranges = unicode::class(plain, folding).ok_or_else(|| ExpressionError::range(text, rest))?;
    Ok((signed(ranges, negative != inverted), rest))
}

fn hexadecimal(text: &str) -> Option<(u32, &str)> {
    if let Some(braced) = text.strip_prefix('{') {
        let (digits, rest) = braced.split_once('}')?;
        if digits.is_empty() {
            return None;
        }
        let mut rune = 0;
        for digit in digits.chars() {
            rune = rune * 16 + digit.to_digit(16)?;
            if rune > LAST {
                return None;
            }
        }
        return Some((rune, rest));
    }
    let mut rest = text.chars();
    let high = rest.next()?.to_digit(16)?;
    let low = rest.next()?.to_digit(16)?;
    Some((high * 16 + low, rest.as_str()))
}

// Without a second digit only `\0` is one: `\1` would be a reference to a group, which Go does not have.
fn octal(first: char, after: &str) -> Option<(u32, &str)> {
    let digits = after.bytes().take(2).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
    if digits == 0 && first != '0' {
        return None;
    }
    let (more, rest) = after.split_at(digits);
    let rune = more
        .chars()
        .filter_map(|digit| digit.to_digit(8))
        .fold(first.to_digit(8)?, |rune, digit| rune * 8 + digit);
    Some((rune, rest))
}
