//! What may be shown to people of a text that others wrote: its length, and no character that a terminal obeys.

use cli::terminal::steers;

/// Panics when the text is not fit to be shown.
pub(crate) fn is_fit(text: &str, characters_max: usize) {
    if let Some(problem) = problem(text, characters_max) {
        panic!("{problem}");
    }
}

/// Why the text is not fit: it steers a terminal, or is longer than so many characters.
fn problem(text: &str, characters_max: usize) -> Option<String> {
    if text.chars().any(steers) {
        return Some(format!("{text:?} steers a terminal"));
    }
    let length = text.chars().count();
    (length > characters_max).then(|| format!("{length} characters, where {characters_max} may be: {text:?}"))
}

#[cfg(test)]
mod tests {
    use super::problem;

    #[test]
    fn escapes_and_long_texts_are_not_fit() {
        for (text, is_fit) in [("four", true), ("\u{1b}[m", false), ("a\u{202e}b", false), ("fives", false)] {
            assert_eq!(problem(text, 4).is_none(), is_fit, "{text:?}");
        }
    }
}
