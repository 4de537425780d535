//! What stands between our output and a terminal: harmless text, widths, colours, a region that is redrawn in place.
//! Knows nothing of what is shown; tables are `crate::table`.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Shown where a text goes on.
const ELLIPSIS: char = '…';

/// Begins and ends an update that the terminal shows as a whole; those that do not know it ignore it.
const HOLD: &str = "\x1b[?2026h";
const SHOW: &str = "\x1b[?2026l";
/// Erases to the end of the line, and below the cursor.
const ERASE_LINE: &str = "\x1b[K";
const ERASE_BELOW: &str = "\x1b[J";

/// What a text means, for those who see colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Nothing in particular.
    #[default]
    Plain,
    /// A heading.
    Strong,
    /// In order.
    Good,
    /// Not in order.
    Bad,
    /// Not known yet.
    Unsure,
    /// Beside the point.
    Faint,
}

impl Tone {
    const fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Strong => "\x1b[1m",
            Self::Good => "\x1b[32m",
            Self::Bad => "\x1b[31m",
            Self::Unsure => "\x1b[33m",
            Self::Faint => "\x1b[2m",
        }
    }

    /// The text in this tone, or as it is.
    #[must_use]
    pub fn paint(self, text: &str, colour: bool) -> String {
        if colour && self != Self::Plain { format!("{}{text}\x1b[0m", self.code()) } else { text.to_owned() }
    }
}

/// A text of others on one line without anything that a terminal would obey: control characters and those that
/// reverse the direction of writing are written as escapes.
#[must_use]
pub fn harmless(text: &str) -> Cow<'_, str> {
    if !text.chars().any(steers) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => shown.push(' '),
            c if steers(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// A name of others as it is, but for what [`harmless`] escapes and the ends of lines: where a message has lines of its
/// own, a name must not look like one of them.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if steers(c) { shown.extend(c.escape_unicode()) } else { shown.push(c) }
    }
    shown
}

/// What a terminal obeys instead of showing it: control characters, what turns the direction of text, and the separators of
/// lines and paragraphs, which end a line for some.
#[must_use]
pub fn steers(c: char) -> bool {
    let turns =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns || matches!(c, '\u{2028}' | '\u{2029}')
}

/// Columns that a text takes.
#[must_use]
pub fn width(text: &str) -> usize {
    text.width()
}

/// The text, or its beginning and an ellipsis, in at most so many columns.
#[must_use]
pub fn shortened(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let mut left = columns.saturating_sub(1);
    let mut cut = String::new();
    for c in text.chars() {
        let takes = c.width().unwrap_or(0);
        if takes > left {
            break;
        }
        left -= takes;
        cut.push(c);
    }
    if columns > 0 {
        cut.push(ELLIPSIS);
    }
    Cow::Owned(cut)
}

/// The text, or its beginning and an ellipsis, in at most so many characters: what quotes others may be as long as they like.
#[must_use]
pub fn cut(text: &str, characters: usize) -> Cow<'_, str> {
    match text.char_indices().nth(characters) {
        None => Cow::Borrowed(text),
        Some(_) => Cow::Owned(text.chars().take(characters.saturating_sub(1)).chain([ELLIPSIS]).collect()),
    }
}

/// Columns and lines of the terminal behind standard output.
#[must_use]
pub fn size() -> Option<(usize, usize)> {
    let (columns, lines) = terminal_size::terminal_size()?;
    Some((usize::from(columns.0), usize::from(lines.0)))
}

/// True when a stream is a terminal that can move its cursor.
#[must_use]
pub fn can_redraw(stream: &impl IsTerminal) -> bool {
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    stream.is_terminal() && !is_dumb
}

/// True when a stream wants colours: it is a terminal, and nobody set NO_COLOR (no-color.org: to anything).
#[must_use]
pub fn wants_colour(stream: &impl IsTerminal) -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    stream.is_terminal() && !refused && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Lines at the end of the output that are redrawn in place.
#[derive(Debug, Default)]
pub struct Region {
    drawn: Vec<String>,
}

impl Region {
    /// Draws these lines in place of the last ones. Each must be narrower than the terminal, and all of them
    /// together less high: what has scrolled away cannot be redrawn.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn draw(&mut self, out: &mut impl Write, lines: Vec<String>, columns: usize) -> io::Result<()> {
        if lines == self.drawn {
            return Ok(());
        }
        let mut update = String::from(HOLD);
        // After a terminal was made narrower the old lines wrap, and the cursor is further down.
        let rows: usize =
            self.drawn.iter().map(|line| printed_width(line).div_ceil(columns.max(1)).max(1)).sum();
        if rows > 0 {
            update.push_str(&format!("\x1b[{rows}F"));
        }
        for line in &lines {
            update.push_str(&format!("{line}{ERASE_LINE}\n"));
        }
        update.push_str(ERASE_BELOW);
        update.push_str(SHOW);
        out.write_all(update.as_bytes())?;
        self.drawn = lines;
        out.flush()
    }

    /// Leaves what is drawn where it is; the next lines go below it.
    pub fn leave(&mut self) {
        self.drawn.clear();
    }
}

/// The width of a line that may hold colours.
fn printed_width(line: &str) -> usize {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("\x1b[") {
        plain.push_str(before);
        rest = after.split_once('m').map_or("", |(_, rest)| rest);
    }
    plain.push_str(rest);
    width(&plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_at_a_character() {
        assert_eq!(cut("äöü", 3), "äöü");
        assert_eq!(cut("äöüß", 3), "äö…");
        assert_eq!(cut("", 0), "");
    }

    #[test]
    fn nothing_that_a_terminal_obeys_gets_through() {
        assert_eq!(harmless("plain ü 漢"), "plain ü 漢");
        assert_eq!(harmless("a\x1b[2Jb"), "a\\u{1b}[2Jb");
        assert_eq!(harmless("a\r\nb\tc\u{9b}d"), "a  b c\\u{9b}d");
        assert_eq!(harmless("evil\u{202e}txt"), "evil\\u{202e}txt");
        assert_eq!(harmless("a\u{61c}b\u{2028}c"), "a\\u{61c}b\\u{2028}c");
        assert_eq!(escaped("a\nb\x1b[2J ü"), "a\\u{a}b\\u{1b}[2J ü");
    }

    #[test]
    fn a_text_is_cut_by_columns_not_by_bytes() {
        assert_eq!(shortened("abcdef", 6), "abcdef");
        assert_eq!(shortened("abcdef", 5), "abcd…");
        assert_eq!(shortened("漢字漢字", 5), "漢字…");
        assert_eq!(shortened("漢字漢字", 4), "漢…");
        assert_eq!(shortened("abc", 0), "");
    }

    #[test]
    fn a_region_goes_back_to_where_it_began() {
        let (mut region, mut out) = (Region::default(), Vec::new());
        let lines = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        region.draw(&mut out, lines(&["one", "two"]), 80).unwrap();
        assert!(!String::from_utf8_lossy(&out).contains("\x1b[2F"));
        out.clear();
        region.draw(&mut out, lines(&["one", "two"]), 80).unwrap();
        assert!(out.is_empty(), "what stands is not drawn again");
        region.draw(&mut out, lines(&["three"]), 80).unwrap();
        let update = String::from_utf8_lossy(&out).into_owned();
        assert_eq!(update, format!("{HOLD}\x1b[2Fthree{ERASE_LINE}\n{ERASE_BELOW}{SHOW}"));
    }

    #[test]
    fn a_narrower_terminal_wraps_what_was_drawn() {
        let (mut region, mut out) = (Region::default(), Vec::new());
        region.draw(&mut out, vec![Tone::Good.paint(&"x".repeat(70), true)], 80).unwrap();
        out.clear();
        region.draw(&mut out, vec!["short".to_owned()], 40).unwrap();
        assert!(String::from_utf8_lossy(&out).contains("\x1b[2F"));
    }
}
