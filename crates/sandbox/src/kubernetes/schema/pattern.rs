//! Regular expressions with the meaning Go's RE2 gives them, on the `regex` crate: the two engines share
//! their syntax but for the points listed at [`translate`]. Matching is an unanchored search in both.

use regex::{Regex, RegexBuilder};

/// A compiled pattern may take this much memory. Go bounds repetitions to 1000 instead; this admits those.
const COMPILED_BYTES_MAX: usize = 16 << 20;

/// A pattern with the text it was written as.
#[derive(Debug)]
pub(super) struct Pattern {
    source: String,
    regex: Regex,
}

impl Pattern {
    /// Compiles an RE2 pattern; the error is the engine's explanation.
    pub(super) fn compile(source: &str) -> Result<Self, regex::Error> {
        let regex = RegexBuilder::new(&translate(source)).size_limit(COMPILED_BYTES_MAX).build()?;
        Ok(Self { source: source.to_owned(), regex })
    }

    /// The pattern as it was written.
    pub(super) fn source(&self) -> &str {
        &self.source
    }

    /// Whether the pattern occurs anywhere in `text`.
    pub(super) fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

/// Rewrites what the two engines read differently: the Perl classes and word boundaries are ASCII in RE2,
/// `\<` and `\>` are plain characters there, `\Q..\E` quotes, and inside a class `[`, `&&` and `~~`
/// have no meaning (<https://github.com/google/re2/wiki/Syntax>).
fn translate(source: &str) -> String {
    let mut out = String::with_capacity(source.len() + 8);
    let mut chars = source.chars().peekable();
    let mut class = Class::Outside;
    while let Some(c) = chars.next() {
        match (c, class) {
            ('\\', _) => {
                match chars.next() {
                    Some('Q') => quote_until_end(&mut chars, &mut out),
                    Some(escaped) => out.push_str(&escape(escaped, class != Class::Outside)),
                    None => out.push('\\'),
                }
                class = class.after_item();
            }
            ('[', Class::Outside) => {
                out.push('[');
                if chars.next_if_eq(&'^').is_some() {
                    out.push('^');
                }
                class = Class::Start;
            }
            ('[', _) if chars.peek() == Some(&':') => {
                out.push('[');
                copy_posix_class(&mut chars, &mut out);
                class = Class::Inside;
            }
            (']', Class::Start) => {
                out.push_str("\\]");
                class = Class::Inside;
            }
            (']', Class::Inside) => {
                out.push(']');
                class = Class::Outside;
            }
            ('[' | '&' | '~', Class::Start | Class::Inside) => {
                out.push('\\');
                out.push(c);
                class = Class::Inside;
            }
            (c, Class::Start | Class::Inside) => {
                out.push(c);
                class = Class::Inside;
            }
            (c, Class::Outside) => out.push(c),
        }
    }
    out
}

/// Where in a pattern a character stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Outside,
    /// Right behind the opening bracket, where `]` is a plain character.
    Start,
    Inside,
}

impl Class {
    fn after_item(self) -> Self {
        if self == Self::Start { Self::Inside } else { self }
    }
}

fn escape(escaped: char, in_class: bool) -> String {
    match (escaped, in_class) {
        ('d', true) => "0-9".to_owned(),
        ('w', true) => "0-9A-Za-z_".to_owned(),
        ('s', true) => "\\t\\n\\f\\r ".to_owned(),
        ('d', false) => "[0-9]".to_owned(),
        ('w', false) => "[0-9A-Za-z_]".to_owned(),
        ('s', false) => "[\\t\\n\\f\\r ]".to_owned(),
        ('D', _) => "[^0-9]".to_owned(),
        ('W', _) => "[^0-9A-Za-z_]".to_owned(),
        ('S', _) => "[^\\t\\n\\f\\r ]".to_owned(),
        ('b', false) => "(?-u:\\b)".to_owned(),
        ('<' | '>', _) => escaped.to_string(),
        _ => format!("\\{escaped}"),
    }
}

fn quote_until_end(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, out: &mut String) {
    while let Some(c) = chars.next() {
        if c == '\\' && chars.next_if_eq(&'E').is_some() {
            return;
        }
        out.push_str(&regex::escape(&c.to_string()));
    }
}

fn copy_posix_class(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, out: &mut String) {
    for c in chars.by_ref() {
        out.push(c);
        if c == ']' {
            return;
        }
    }
}
