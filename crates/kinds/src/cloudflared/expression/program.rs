//! Compiles a tree to instructions and runs them over a path: all ways at once, so that time grows with path times
//! program and never with the number of ways.

use std::sync::Arc;

use super::ExpressionError;
use super::ranges::Ranges;
use super::tree::{Look, Node, Tree};

/// Most instructions of one expression: repetitions are written out. A thousand times a class needs a thousand; what
/// Go takes beyond this limit costs each connector many megabytes.
pub(super) const PROGRAM_MAX: usize = 1 << 17;

/// What a byte that is no UTF-8 is read as.
const REPLACEMENT: u32 = 0xFFFD;

#[derive(Debug)]
enum Step {
    Rune(u32),
    Class(Arc<Ranges>),
    Look(Look),
    /// To both.
    Split(usize, usize),
    Jump(usize),
    Match,
}

/// An expression that is ready to be run.
#[derive(Debug)]
pub(super) struct Program(Vec<Step>);

impl Program {
    pub(super) fn compile(tree: &Tree) -> Result<Self, ExpressionError> {
        let mut program = Self(Vec::new());
        program.node(tree)?;
        program.push(Step::Match)?;
        Ok(program)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    fn push(&mut self, step: Step) -> Result<usize, ExpressionError> {
        if self.0.len() >= PROGRAM_MAX {
            return Err(ExpressionError::TooLarge);
        }
        self.0.push(step);
        Ok(self.0.len() - 1)
    }

    // Recurses as deep as the tree, whose height is bounded.
    fn node(&mut self, tree: &Tree) -> Result<(), ExpressionError> {
        match &tree.node {
            Node::Empty => {}
            Node::Rune(rune) => drop(self.push(Step::Rune(*rune))?),
            Node::Class(class) => drop(self.push(Step::Class(class.clone()))?),
            Node::Look(look) => drop(self.push(Step::Look(*look))?),
            Node::Group(inner) => self.node(inner)?,
            Node::Concat(items) => items.iter().try_for_each(|item| self.node(item))?,
            Node::Alternate(items) => self.alternate(items)?,
            Node::Repeat(inner, min, max) => self.repeat(inner, *min, *max)?,
        }
        Ok(())
    }

    fn alternate(&mut self, items: &[Tree]) -> Result<(), ExpressionError> {
        let mut ends = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            if index + 1 == items.len() {
                self.node(item)?;
                break;
            }
            let split = self.push(Step::Jump(0))?;
            self.node(item)?;
            ends.push(self.push(Step::Jump(0))?);
            self.0[split] = Step::Split(split + 1, self.0.len());
        }
        let end = self.0.len();
        for jump in ends {
            self.0[jump] = Step::Jump(end);
        }
        Ok(())
    }

    fn repeat(&mut self, inner: &Tree, min: u32, max: Option<u32>) -> Result<(), ExpressionError> {
        for _ in 0..min {
            self.node(inner)?;
        }
        let Some(max) = max else {
            let split = self.push(Step::Jump(0))?;
            self.node(inner)?;
            self.push(Step::Jump(split))?;
            self.0[split] = Step::Split(split + 1, self.0.len());
            return Ok(());
        };
        let mut splits = Vec::new();
        for _ in min..max {
            splits.push(self.push(Step::Jump(0))?);
            self.node(inner)?;
        }
        let end = self.0.len();
        for split in splits {
            self.0[split] = Step::Split(split + 1, end);
        }
        Ok(())
    }

    /// Whether the expression matches anywhere in the text.
    pub(super) fn matches(&self, text: &[u8]) -> bool {
        let mut now = Threads::new(self.0.len());
        let mut next = Threads::new(self.0.len());
        let (mut before, mut rest) = (None, text);
        loop {
            let (rune, after) = decode(rest);
            // The expression may begin at every place.
            if self.follow(&mut now, 0, before, rune) {
                return true;
            }
            let Some(current) = rune else { return false };
            let (following, _) = decode(after);
            for index in 0..now.waiting.len() {
                let step = now.waiting[index];
                let taken = match &self.0[step] {
                    Step::Rune(rune) => *rune == current,
                    Step::Class(class) => class.contains(current),
                    _ => false,
                };
                if taken && self.follow(&mut next, step + 1, rune, following) {
                    return true;
                }
            }
            std::mem::swap(&mut now, &mut next);
            next.clear();
            (before, rest) = (rune, after);
        }
    }

    /// Goes on from a step to all that wait for a character; whether the end was among them.
    fn follow(&self, threads: &mut Threads, from: usize, before: Option<u32>, after: Option<u32>) -> bool {
        threads.open.push(from);
        while let Some(at) = threads.open.pop() {
            if std::mem::replace(&mut threads.seen[at], true) {
                continue;
            }
            threads.visited.push(at);
            match &self.0[at] {
                Step::Rune(_) | Step::Class(_) => threads.waiting.push(at),
                Step::Look(look) if look.holds(before, after) => threads.open.push(at + 1),
                Step::Look(_) => {}
                Step::Split(one, other) => threads.open.extend([*one, *other]),
                Step::Jump(to) => threads.open.push(*to),
                Step::Match => {
                    threads.open.clear();
                    return true;
                }
            }
        }
        false
    }
}

/// Where the ways through a program stand at one place of the text.
struct Threads {
    seen: Vec<bool>,
    visited: Vec<usize>,
    waiting: Vec<usize>,
    open: Vec<usize>,
}

impl Threads {
    fn new(steps: usize) -> Self {
        Self { seen: vec![false; steps], visited: Vec::new(), waiting: Vec::new(), open: Vec::new() }
    }

    fn clear(&mut self) {
        for at in self.visited.drain(..) {
            self.seen[at] = false;
        }
        self.waiting.clear();
    }
}

impl Look {
    fn holds(self, before: Option<u32>, after: Option<u32>) -> bool {
        const NEWLINE: u32 = 0x0A;
        let boundary = is_word(before) != is_word(after);
        match self {
            Self::LineStart => before.is_none_or(|rune| rune == NEWLINE),
            Self::LineEnd => after.is_none_or(|rune| rune == NEWLINE),
            Self::TextStart => before.is_none(),
            Self::TextEnd => after.is_none(),
            Self::WordBoundary => boundary,
            Self::NoWordBoundary => !boundary,
        }
    }
}

// Of ASCII only, whatever the flags.
fn is_word(rune: Option<u32>) -> bool {
    rune.and_then(char::from_u32).is_some_and(|c| c == '_' || c.is_ascii_alphanumeric())
}

/// The first character and what follows it. As Go reads text: a byte that begins no UTF-8 is a character by itself.
fn decode(text: &[u8]) -> (Option<u32>, &[u8]) {
    let Some(first) = text.first() else { return (None, text) };
    let length = match first {
        0x00..0x80 => 1,
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        _ => 4,
    };
    let valid = text.get(..length).and_then(|bytes| std::str::from_utf8(bytes).ok());
    match valid.and_then(|text| text.chars().next()) {
        Some(c) => (Some(u32::from(c)), &text[length..]),
        None => (Some(REPLACEMENT), &text[1..]),
    }
}
