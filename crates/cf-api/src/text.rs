//! Foreign text made fit for a terminal, a condition and a log line: one line, bounded, without escapes.
//!
//! It changes what is shown, never what is compared.

/// One line of at most `max` characters: terminal escape sequences, control and direction-changing characters
/// are removed, runs of white space become one space, and what is cut off is marked with `…`.
pub fn one_line(text: &str, max: usize) -> String {
    let mut line = String::new();
    let mut count = 0;
    let mut gap = false;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' || c == '\u{9b}' {
            skip_escape(c, &mut chars);
        } else if c.is_whitespace() {
            gap = !line.is_empty();
        } else if !is_hidden(c) {
            if count + usize::from(gap) + 1 > max {
                return cut(line, max);
            }
            if gap {
                line.push(' ');
                count += 1;
                gap = false;
            }
            line.push(c);
            count += 1;
        }
    }
    line
}

/// Characters that steer a terminal or the direction of text instead of being read.
pub(crate) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{fffd}' | '\u{e0000}'..='\u{e007f}')
}

/// The text between the tags of an HTML page, scripts and style sheets left out.
pub(crate) fn of_html(page: &str) -> String {
    let mut text = String::new();
    let mut rest = page;
    while let Some(open) = rest.find('<') {
        text.push_str(&rest[..open]);
        text.push(' ');
        let tag = &rest[open..];
        let end = match block_end(tag) {
            Some(end) => Some(end),
            None => tag.find('>').map(|at| at + 1),
        };
        match end {
            Some(end) => rest = &tag[end..],
            None => return text,
        }
    }
    text.push_str(rest);
    text
}

/// Where a block that holds no text to read ends, if `tag` starts one; the end of the page when it isn't
/// closed.
fn block_end(tag: &str) -> Option<usize> {
    const BLOCKS: [(&str, &str); 3] = [("<script", "</script>"), ("<style", "</style>"), ("<!--", "-->")];
    let (_, close) = BLOCKS.iter().find(|(open, _)| starts_with_ignoring_case(tag, open))?;
    let at = tag.to_ascii_lowercase().find(close);
    Some(at.map_or(tag.len(), |at| at + close.len()))
}

fn starts_with_ignoring_case(text: &str, prefix: &str) -> bool {
    text.as_bytes().get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix.as_bytes()))
}

/// Longest text that a terminal would take for its title or the like, in characters: real ones are shorter.
const STRING_MAX: usize = 256;

/// Leaves out an escape sequence: `ESC [ … letter` (or its one-character form), `ESC ] … BEL or ESC \`, or
/// two characters. Source: ECMA-48. What begins like one and is none, or never ends, is left to be read.
fn skip_escape(first: char, chars: &mut std::str::Chars<'_>) {
    let kind = if first == '\u{9b}' { Some('[') } else { chars.next() };
    match kind {
        Some('[') => {
            let mut rest = chars.clone();
            let last = rest.find(|c| !('\u{20}'..='\u{3f}').contains(c));
            if last.is_some_and(|c| ('\u{40}'..='\u{7e}').contains(&c)) {
                *chars = rest;
            }
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            let mut rest = chars.clone();
            let mut last = ' ';
            for c in rest.by_ref().take(STRING_MAX) {
                if c == '\u{7}' || c == '\u{9c}' || (last == '\u{1b}' && c == '\\') {
                    *chars = rest;
                    return;
                }
                last = c;
            }
        }
        _ => {}
    }
}

/// `line` with its end replaced by `…`, so that it has at most `max` characters.
fn cut(line: String, max: usize) -> String {
    let mut short: String = line.chars().take(max.saturating_sub(1)).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::{of_html, one_line};

    #[test]
    fn a_line_is_fit_for_a_terminal() {
        let table = [
            ("plain", "two words", "two words"),
            ("lines and tabs", " a\r\n\tb ", "a b"),
            ("colour", "\u{1b}[31mred\u{1b}[0m", "red"),
            ("one-byte colour", "\u{9b}31mred", "red"),
            ("window title", "\u{1b}]0;pwned\u{7}ok", "ok"),
            ("title ended by ST", "\u{1b}]0;pwned\u{1b}\\ok", "ok"),
            ("an escape that never ends", "ok\u{1b}[", "ok"),
            ("numbers that no letter ends", "\u{1b}[1;2", "1;2"),
            ("no letter of ASCII", "\u{1b}[1\u{e9}t\u{e9}", "1\u{e9}t\u{e9}"),
            ("a title that never ends", "\u{1b}]0;example", "0;example"),
            ("a title in a title", "\u{1b}]0;a\u{1b}]0;b\u{7}ok", "ok"),
            ("bell, nul and DEL", "a\u{7}\0b\u{7f}", "ab"),
            ("right-to-left override", "a\u{202e}b", "ab"),
            ("cut", "0123456789abc", "012345678…"),
            ("cut at a space", "012345678 9", "012345678…"),
            ("exactly full", "0123456789", "0123456789"),
        ];
        for (situation, given, wanted) in table {
            assert_eq!(one_line(given, 10), wanted, "{situation}");
        }
    }

    #[test]
    fn an_escape_swallows_no_more_than_a_title_may_have() {
        let name = "n".repeat(super::STRING_MAX);
        assert_eq!(
            one_line(&format!("\u{1b}]0;{name}\u{7} is refused"), 1_000),
            format!("0;{name} is refused")
        );
    }

    #[test]
    fn a_page_is_reduced_to_its_text() {
        let page = "<html><HEAD><style>p{a:1}</style><SCRIPT>if(a<b){}</script></head>\
            <!-- <b>no</b> --><body><h1>502</h1>Bad Gateway</body>";
        assert_eq!(one_line(&of_html(page), 100), "502 Bad Gateway");
        assert_eq!(one_line(&of_html("a<b"), 100), "a");
        assert_eq!(one_line(&of_html("<script>x"), 100), "");
    }
}
