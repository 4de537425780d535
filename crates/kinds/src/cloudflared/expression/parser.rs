//! Reads an expression as Go's regexp/syntax does with its Perl flags, and refuses what that refuses. Groups lie on a
//! stack of our own, so that no text makes it recurse.

use super::ExpressionError;
use super::escape::{self, Read};
use super::ranges::{LAST, Ranges};
use super::tree::{Look, REPEAT_MAX, Tree};
use super::unicode;

/// Most ranges that the classes of one expression may have together: 1 MB of them, two hundred times all letters. Go's
/// own limit is 16 million, more than a path of ours can ask for.
const CLASS_RANGES_MAX: usize = 1 << 17;
/// Numbers beyond this are none in Go; they end as "too many repetitions".
const NUMBER_MAX: u64 = 100_000_000;

#[derive(Clone, Copy, Debug, Default)]
struct Flags {
    folding: bool,
    many_lines: bool,
    dot_is_any: bool,
}

/// A group that is being read: what came before its last `|`, and what came after.
struct Level {
    captures: bool,
    /// The flags outside, which hold again after it.
    outside: Flags,
    alternatives: Vec<Tree>,
    sequence: Vec<Tree>,
}

impl Level {
    fn new(captures: bool, outside: Flags) -> Self {
        Self { captures, outside, alternatives: Vec::new(), sequence: Vec::new() }
    }

    fn end_alternative(&mut self) -> Result<(), ExpressionError> {
        let alternative = Tree::concat(std::mem::take(&mut self.sequence))?;
        self.alternatives.push(alternative);
        Ok(())
    }

    fn end(mut self) -> Result<Tree, ExpressionError> {
        self.end_alternative()?;
        let inner = Tree::alternate(self.alternatives)?;
        if self.captures { Tree::group(inner) } else { Ok(inner) }
    }
}

struct Parser {
    flags: Flags,
    outer: Vec<Level>,
    level: Level,
    /// A repetition ended just before what is read now.
    repeated: bool,
    class_ranges: usize,
}

/// The tree of an expression.
///
/// # Errors
/// The first thing that Go would not take, or that we cannot be sure of.
pub(super) fn parse(expression: &str) -> Result<Tree, ExpressionError> {
    let flags = Flags::default();
    let level = Level::new(false, flags);
    let mut parser = Parser { flags, outer: Vec::new(), level, repeated: false, class_ranges: 0 };
    let mut rest = expression;
    while let Some(first) = rest.chars().next() {
        rest = parser.item(first, rest)?;
    }
    if parser.outer.is_empty() { parser.level.end() } else { Err(ExpressionError::GroupNotClosed) }
}

impl Parser {
    /// Reads one item; the text after it.
    fn item<'a>(&mut self, first: char, text: &'a str) -> Result<&'a str, ExpressionError> {
        let after = &text[first.len_utf8()..];
        let repeated = std::mem::take(&mut self.repeated);
        match first {
            '(' => return self.open(text),
            ')' => self.close()?,
            '|' => self.level.end_alternative()?,
            '^' if self.flags.many_lines => self.push(Tree::look(Look::LineStart)),
            '^' => self.push(Tree::look(Look::TextStart)),
            '$' if self.flags.many_lines => self.push(Tree::look(Look::LineEnd)),
            '$' => self.push(Tree::look(Look::TextEnd)),
            '.' if self.flags.dot_is_any => self.push(Tree::class(Ranges::all())),
            '.' => self.push(Tree::class(Ranges::new([(0x0A, 0x0A)]).negated())),
            '[' => return self.brackets(text),
            '*' => return self.repeat(text, after, repeated, |inner| Tree::starred(inner, 0, None)),
            '+' => return self.repeat(text, after, repeated, |inner| Tree::starred(inner, 1, None)),
            '?' => return self.repeat(text, after, repeated, |inner| Tree::starred(inner, 0, Some(1))),
            '{' => {
                if let Some((counts, after)) = counts(text) {
                    return self.counted(text, after, repeated, counts);
                }
                self.literal(u32::from('{'))?;
            }
            '\\' => return self.backslash(text),
            _ => self.literal(u32::from(first))?,
        }
        Ok(after)
    }

    fn push(&mut self, tree: Tree) {
        self.level.sequence.push(tree);
    }

    fn literal(&mut self, rune: u32) -> Result<(), ExpressionError> {
        let mut class = Ranges::new([(rune, rune)]);
        if self.flags.folding {
            class = unicode::folded(&class);
            self.count(&class)?;
        }
        self.push(Tree::character(class, self.flags.folding));
        Ok(())
    }

    fn class(&mut self, class: Ranges) -> Result<(), ExpressionError> {
        self.count(&class)?;
        self.push(Tree::class(class));
        Ok(())
    }

    fn count(&mut self, class: &Ranges) -> Result<(), ExpressionError> {
        self.class_ranges += class.len();
        if self.class_ranges > CLASS_RANGES_MAX { Err(ExpressionError::TooLarge) } else { Ok(()) }
    }

    fn counted<'a>(
        &mut self,
        text: &'a str,
        after: &'a str,
        repeated: bool,
        (min, max): (u32, Option<u32>),
    ) -> Result<&'a str, ExpressionError> {
        let too_many = || ExpressionError::RepeatCount(ExpressionError::part(text, after));
        if min > REPEAT_MAX || max.is_some_and(|max| max > REPEAT_MAX || max < min) {
            return Err(too_many());
        }
        self.repeat(text, after, repeated, |inner| Tree::counted(inner, min, max)?.ok_or_else(too_many))
    }

    fn repeat<'a>(
        &mut self,
        text: &'a str,
        after: &'a str,
        repeated: bool,
        build: impl FnOnce(Tree) -> Result<Tree, ExpressionError>,
    ) -> Result<&'a str, ExpressionError> {
        let after = after.strip_prefix('?').unwrap_or(after);
        if repeated {
            return Err(ExpressionError::RepeatOfRepeat(ExpressionError::part(text, after)));
        }
        let Some(inner) = self.level.sequence.pop() else {
            return Err(ExpressionError::NothingToRepeat(ExpressionError::part(text, after)));
        };
        let tree = build(inner)?;
        self.push(tree);
        self.repeated = true;
        Ok(after)
    }

    fn open<'a>(&mut self, text: &'a str) -> Result<&'a str, ExpressionError> {
        let Some(special) = text.strip_prefix("(?") else {
            self.enter(true);
            return Ok(&text[1..]);
        };
        let named = special.strip_prefix("P<").or_else(|| special.strip_prefix('<'));
        if let Some(named) = named {
            let (name, rest) = named.split_once('>').ok_or_else(|| ExpressionError::name(text, ""))?;
            if name.is_empty() || !name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric()) {
                return Err(ExpressionError::name(text, rest));
            }
            self.enter(true);
            return Ok(rest);
        }
        let (flags, opens, rest) = flags(self.flags, text, special)?;
        if opens {
            self.enter(false);
        }
        self.flags = flags;
        Ok(rest)
    }

    fn enter(&mut self, captures: bool) {
        let inner = Level::new(captures, self.flags);
        self.outer.push(std::mem::replace(&mut self.level, inner));
    }

    fn close(&mut self) -> Result<(), ExpressionError> {
        let outer = self.outer.pop().ok_or(ExpressionError::GroupNotOpened)?;
        let inner = std::mem::replace(&mut self.level, outer);
        self.flags = inner.outside;
        let tree = inner.end()?;
        self.push(tree);
        Ok(())
    }

    fn backslash<'a>(&mut self, text: &'a str) -> Result<&'a str, ExpressionError> {
        let look = match text[1..].chars().next() {
            Some('A') => Some(Look::TextStart),
            Some('b') => Some(Look::WordBoundary),
            Some('B') => Some(Look::NoWordBoundary),
            Some('z') => Some(Look::TextEnd),
            _ => None,
        };
        if let Some(look) = look {
            self.push(Tree::look(look));
            return Ok(&text[2..]);
        }
        if let Some(quoted) = text.strip_prefix(r"\Q") {
            let (literal, rest) = quoted.split_once(r"\E").unwrap_or((quoted, ""));
            for c in literal.chars() {
                self.literal(u32::from(c))?;
            }
            return Ok(rest);
        }
        if let Some((class, rest)) = escape::class(text, self.flags.folding)? {
            self.class(class)?;
            return Ok(rest);
        }
        let (rune, rest) = escape::character(text)?;
        self.literal(rune)?;
        Ok(rest)
    }

    /// A class in brackets. A `]` that comes first stands for itself.
    fn brackets<'a>(&mut self, text: &'a str) -> Result<&'a str, ExpressionError> {
        let inner = &text[1..];
        let (mut rest, negative) = inner.strip_prefix('^').map_or((inner, false), |rest| (rest, true));
        let folding = self.flags.folding;
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        let mut first = true;
        while first || !rest.starts_with(']') {
            first = false;
            let class = match escape::named(rest, folding)? {
                Some(class) => Some(class),
                None => escape::class(rest, folding)?,
            };
            if let Some((class, after)) = class {
                ranges.extend(class.iter());
                rest = after;
            } else {
                let (range, after) = range(rest)?;
                let single = Ranges::new([range]);
                ranges.extend(if folding { unicode::folded(&single) } else { single }.iter());
                rest = after;
            }
            if ranges.len() > CLASS_RANGES_MAX {
                return Err(ExpressionError::TooLarge);
            }
        }
        let class = Ranges::new(ranges);
        self.class(if negative { class.negated() } else { class })?;
        Ok(&rest[1..])
    }
}

/// `a` or `a-z` within brackets. A `-` before the closing bracket stands for itself.
fn range(text: &str) -> Read<'_, (u32, u32)> {
    let (low, rest) = class_character(text)?;
    let Some(upper) = rest.strip_prefix('-').filter(|upper| !upper.is_empty() && !upper.starts_with(']'))
    else {
        return Ok(((low, low), rest));
    };
    let (high, rest) = class_character(upper)?;
    if high < low { Err(ExpressionError::range(text, rest)) } else { Ok(((low, high), rest)) }
}

fn class_character(text: &str) -> Read<'_, u32> {
    match text.chars().next() {
        None => Err(ExpressionError::ClassNotClosed),
        Some('\\') => escape::character(text),
        Some(c) => Ok((u32::from(c).min(LAST), &text[c.len_utf8()..])),
    }
}

/// The flags of `(?i)`, `(?i:` and the like, and whether a group begins with them.
fn flags<'a>(
    before: Flags,
    text: &'a str,
    special: &'a str,
) -> Result<(Flags, bool, &'a str), ExpressionError> {
    let (mut flags, mut on, mut any) = (before, true, true);
    let mut rest = special.chars();
    while let Some(c) = rest.next() {
        match c {
            'i' => flags.folding = on,
            'm' => flags.many_lines = on,
            's' => flags.dot_is_any = on,
            // Which match is preferred: nothing to us.
            'U' => {}
            '-' if on => (on, any) = (false, false),
            ':' | ')' if any => return Ok((flags, c == ':', rest.as_str())),
            _ => break,
        }
        if c != '-' {
            any = true;
        }
    }
    Err(ExpressionError::group(text, rest.as_str()))
}

/// `{3}`, `{3,}` or `{3,5}`; anything else in braces is text.
fn counts(text: &str) -> Option<((u32, Option<u32>), &str)> {
    let (min, rest) = number(text.strip_prefix('{')?)?;
    let (max, rest) = match rest.strip_prefix(',') {
        None => (Some(min), rest),
        Some(open) if open.starts_with('}') => (None, open),
        Some(upper) => number(upper).map(|(max, rest)| (Some(max), rest))?,
    };
    Some(((min, max), rest.strip_prefix('}')?))
}

/// Digits without a zero before them.
fn number(text: &str) -> Option<(u32, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(digits);
    if number.is_empty() || (digits > 1 && number.starts_with('0')) {
        return None;
    }
    let value = number.parse::<u64>().unwrap_or(NUMBER_MAX).min(NUMBER_MAX);
    Some((u32::try_from(value).ok()?, rest))
}
