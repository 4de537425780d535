//! Tables for people: rows of cells to lines of one width. Pure; where the lines go is left to the callers.

use crate::terminal::{self, Tone};

/// Between two columns.
const GAP: &str = "  ";

/// How far the last column is cut before others give way, too: a message's first words must stay.
const LAST_LEAST: usize = 12;

/// One cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    text: String,
    tone: Tone,
}

impl Cell {
    /// A cell; control characters become visible.
    #[must_use]
    pub fn new(text: &str, tone: Tone) -> Self {
        Self { text: terminal::harmless(text).into_owned(), tone }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::new(text, Tone::Plain)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::new(&text, Tone::Plain)
    }
}

/// How lines are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Columns at most; none for as many as it takes.
    pub columns: Option<usize>,
    /// Tones are shown.
    pub colour: bool,
}

/// Columns that a table needs when only its last column is cut, as far as that goes.
#[must_use]
pub fn least<const N: usize>(heading: [&str; N], rows: &[[Cell; N]]) -> usize {
    let mut widths = widths(&heading.map(Cell::from), rows);
    if let Some(last) = widths.last_mut() {
        *last = (*last).min(LAST_LEAST);
    }
    widths.iter().sum::<usize>() + N.saturating_sub(1) * GAP.len()
}

fn widths<const N: usize>(heading: &[Cell; N], rows: &[[Cell; N]]) -> [usize; N] {
    let mut widths = heading.each_ref().map(|cell| terminal::width(&cell.text));
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(terminal::width(&cell.text));
        }
    }
    widths
}

/// The heading and the rows as lines: columns aligned, the last one cut to what is left.
#[must_use]
pub fn lines<const N: usize>(heading: [&str; N], rows: &[[Cell; N]], look: Look) -> Vec<String> {
    let heading = heading.map(|title| Cell::new(title, Tone::Strong));
    let mut widths = widths(&heading, rows);
    let titles = heading.each_ref().map(|cell| terminal::width(&cell.text));
    let shown = look.columns.map_or(N, |columns| fit(&mut widths, &titles, columns));
    std::iter::once(&heading).chain(rows).map(|row| line(row, &widths[..shown], look)).collect()
}

/// Takes what is too much from the last column, then from the widest ones, and from their titles last of all. Says how
/// many columns there is room for: a line that wraps is worse than one that ends.
fn fit(widths: &mut [usize], titles: &[usize], columns: usize) -> usize {
    let Some(last) = widths.len().checked_sub(1) else { return 0 };
    let gaps = last * GAP.len();
    let too_much = |widths: &[usize]| (widths.iter().sum::<usize>() + gaps).saturating_sub(columns);
    let spare = widths[last].saturating_sub(LAST_LEAST);
    widths[last] -= spare.min(too_much(widths));
    for keeps_titles in [true, false] {
        while too_much(widths) > 0 {
            let least = |title: usize| if keeps_titles { title.max(1) } else { 1 };
            let can_give = widths.iter_mut().zip(titles).filter(|(width, title)| **width > least(**title));
            let Some((widest, _)) = can_give.max_by_key(|(width, _)| **width) else { break };
            *widest -= 1;
        }
    }
    if too_much(widths) > 0 { (columns + GAP.len()) / (1 + GAP.len()) } else { widths.len() }
}

fn line(row: &[Cell], widths: &[usize], look: Look) -> String {
    let mut line = String::new();
    let row = &row[..widths.len().min(row.len())];
    let end = row.iter().rposition(|cell| !cell.text.is_empty()).map_or(0, |last| last + 1);
    for (index, (cell, width)) in row.iter().zip(widths).take(end).enumerate() {
        let text = terminal::shortened(&cell.text, *width);
        line.push_str(&cell.tone.paint(&text, look.colour));
        if index + 1 < end {
            line.extend(std::iter::repeat_n(' ', width.saturating_sub(terminal::width(&text))));
            line.push_str(GAP);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(columns: Option<usize>, expected: Expect) {
        let rows = [
            [
                "Zone".into(),
                "default/example-com".into(),
                Cell::new("True", Tone::Good),
                "Synced".into(),
                "".into(),
            ],
            [
                "DNSRecord".into(),
                "default/www".into(),
                Cell::new("False", Tone::Bad),
                "TerminalError".into(),
                "Cloudflare says \x1b[2Jno: Invalid DNS record type (9004)".into(),
            ],
        ];
        let look = Look { columns, colour: false };
        let lines = lines(["KIND", "NAME", "READY", "REASON", "MESSAGE"], &rows, look);
        if let Some(columns) = columns {
            assert!(lines.iter().all(|line| terminal::width(line) <= columns), "{lines:#?}");
        }
        expected.assert_eq(&lines.join("\n"));
    }

    #[test]
    fn columns_are_aligned_and_escapes_shown() {
        check(
            None,
            expect![[r#"
                KIND       NAME                 READY  REASON         MESSAGE
                Zone       default/example-com  True   Synced
                DNSRecord  default/www          False  TerminalError  Cloudflare says \u{1b}[2Jno: Invalid DNS record type (9004)"#]],
        );
    }

    #[test]
    fn the_message_gives_way_first() {
        check(
            Some(80),
            expect![[r#"
                KIND       NAME                 READY  REASON         MESSAGE
                Zone       default/example-com  True   Synced
                DNSRecord  default/www          False  TerminalError  Cloudflare says \u{1b}[2J…"#]],
        );
    }

    #[test]
    fn then_the_widest_columns() {
        check(
            Some(48),
            expect![[r#"
                KIND       NAME       READY  REASON     MESSAGE
                Zone       default/…  True   Synced
                DNSRecord  default/…  False  Terminal…  Cloudfl…"#]],
        );
    }

    #[test]
    fn no_width_is_too_small_to_answer() {
        for columns in 0..30 {
            let rows = [["Zone".into(), "default/example-com".into()]];
            let lines = lines(["KIND", "NAME"], &rows, Look { columns: Some(columns), colour: false });
            assert!(lines.iter().all(|line| terminal::width(line) <= columns), "{columns}: {lines:#?}");
            if columns >= "KIND  NAME".len() {
                assert!(lines[0].starts_with("KIND  NAME"), "titles give way last: {columns}: {lines:#?}");
            }
        }
        assert_eq!(lines([], &[], Look { columns: Some(3), colour: false }), [""]);
    }

    #[test]
    fn colours_do_not_move_columns() {
        let rows = [[Cell::new("True", Tone::Good), "x".into()]];
        let painted = lines(["READY", "Y"], &rows, Look { columns: None, colour: true });
        assert_eq!(painted[1], "\x1b[32mTrue\x1b[0m   x");
    }
}
