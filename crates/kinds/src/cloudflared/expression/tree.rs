//! The parsed expression, with the sizes that Go's limits are about: what it takes to know that Go takes it, and what
//! to compile. Which alternative or repetition is preferred is not kept: a path only asks whether there is a match.

use std::sync::Arc;

use super::ExpressionError;
use super::ranges::Ranges;

/// Most levels of a parsed expression in Go (`maxHeight` of regexp/syntax).
const HEIGHT_MAX: usize = 1_000;
/// Most instructions that Go foresees for an expression (`maxSize` of regexp/syntax: 128 MiB of 40 bytes each).
const SIZE_MAX: u64 = (128 << 20) / 40;
/// Most repetitions of an expression, nested ones multiplied (RE2's and Go's own).
pub(super) const REPEAT_MAX: u32 = 1_000;

/// What holds at a place between two characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    LineStart,
    LineEnd,
    TextStart,
    TextEnd,
    WordBoundary,
    NoWordBoundary,
}

#[derive(Debug)]
pub(super) enum Node {
    Empty,
    /// One code point.
    Rune(u32),
    /// One of the code points of a class.
    Class(Arc<Ranges>),
    Look(Look),
    Group(Box<Tree>),
    Concat(Vec<Tree>),
    Alternate(Vec<Tree>),
    /// So many times; without the second number without end.
    Repeat(Box<Tree>, u32, Option<u32>),
}

/// A node and what Go's limits ask of it.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) node: Node,
    /// Levels of Go's tree: exact or more.
    height: usize,
    /// Instructions that Go foresees: exact or more.
    size: u64,
    /// The product of the counted repetitions on the worst way down, as far as one that is never run.
    repeats: u32,
    /// It is text, and read with or without regard to case: neighbours become one node in Go.
    text: Option<bool>,
    /// How many times alternatives could be told apart after what they begin with alike.
    length: usize,
}

impl Tree {
    fn leaf(node: Node, text: Option<bool>) -> Self {
        Self { node, height: 1, size: 1, repeats: 1, text, length: 1 }
    }

    pub(super) fn empty() -> Self {
        Self::leaf(Node::Empty, None)
    }

    /// A character as written, or the class of those that fold to it.
    pub(super) fn character(matched: Ranges, folding: bool) -> Self {
        let node = matched.single().map_or_else(|| Node::Class(Arc::new(matched)), Node::Rune);
        Self::leaf(node, Some(folding))
    }

    pub(super) fn class(class: Ranges) -> Self {
        Self::leaf(Node::Class(Arc::new(class)), None)
    }

    pub(super) fn look(look: Look) -> Self {
        Self::leaf(Node::Look(look), None)
    }

    pub(super) fn group(inner: Self) -> Result<Self, ExpressionError> {
        let (height, size, repeats) = (inner.height + 1, inner.size + 2, inner.repeats);
        Self { node: Node::Group(Box::new(inner)), height, size, repeats, text: None, length: 1 }.checked()
    }

    pub(super) fn concat(items: Vec<Self>) -> Result<Self, ExpressionError> {
        let mut flat = Vec::with_capacity(items.len());
        for item in items {
            match item.node {
                Node::Concat(inner) => flat.extend(inner),
                _ => flat.push(item),
            }
        }
        if flat.len() < 2 {
            return Ok(flat.pop().unwrap_or_else(Self::empty));
        }
        let text = flat[0].text.filter(|text| flat.iter().all(|item| item.text == Some(*text)));
        let height = if text.is_some() { 1 } else { 1 + Self::highest(&flat) };
        let length = flat.len();
        let (size, repeats) = Self::sums(&flat);
        Self { node: Node::Concat(flat), height, size, repeats, text, length }.checked()
    }

    pub(super) fn alternate(items: Vec<Self>) -> Result<Self, ExpressionError> {
        let mut flat = Vec::with_capacity(items.len());
        for item in items {
            match item.node {
                Node::Alternate(inner) => flat.extend(inner),
                _ => flat.push(item),
            }
        }
        if flat.len() < 2 {
            return Ok(flat.pop().unwrap_or_else(Self::empty));
        }
        // Go takes what neighbours begin with out of them, again and again, with two levels more each time.
        let longest = flat.iter().map(|item| item.length).max().unwrap_or(0);
        let height = 1 + Self::highest(&flat) + 2 * longest.min(flat.len() - 1);
        let (size, repeats) = Self::sums(&flat);
        let size = size + flat.len() as u64 - 1;
        Self { node: Node::Alternate(flat), height, size, repeats, text: None, length: longest }.checked()
    }

    /// `*`, `+` or `?`.
    pub(super) fn starred(inner: Self, min: u32, max: Option<u32>) -> Result<Self, ExpressionError> {
        let size = inner.size + 2;
        let (height, repeats) = (inner.height + 1, inner.repeats);
        Self { node: Node::Repeat(Box::new(inner), min, max), height, size, repeats, text: None, length: 1 }
            .checked()
    }

    /// `{min,max}`; none if that are too many repetitions.
    pub(super) fn counted(inner: Self, min: u32, max: Option<u32>) -> Result<Option<Self>, ExpressionError> {
        let times = max.unwrap_or(min);
        let repeats = if max == Some(0) { 1 } else { times.max(1).saturating_mul(inner.repeats) };
        if times > 1 && repeats > REPEAT_MAX {
            return Ok(None);
        }
        let times = u64::from(times);
        let size = match max {
            None => 2 + times.max(1) * inner.size,
            Some(_) => times * inner.size + (times - u64::from(min).min(times)),
        };
        let height = inner.height + 1;
        let node = Node::Repeat(Box::new(inner), min, max);
        Self { node, height, size: size.max(1), repeats, text: None, length: 1 }.checked().map(Some)
    }

    fn highest(items: &[Self]) -> usize {
        items.iter().map(|item| item.height).max().unwrap_or(0)
    }

    fn sums(items: &[Self]) -> (u64, u32) {
        (items.iter().map(|item| item.size).sum(), items.iter().map(|item| item.repeats).max().unwrap_or(1))
    }

    fn checked(self) -> Result<Self, ExpressionError> {
        if self.height > HEIGHT_MAX {
            return Err(ExpressionError::TooDeep);
        }
        if self.size > SIZE_MAX { Err(ExpressionError::TooLarge) } else { Ok(self) }
    }
}
