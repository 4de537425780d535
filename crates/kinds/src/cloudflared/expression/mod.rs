//! Path expressions as cloudflared reads them: Go's regexp package, searched for anywhere in the decoded path. Says
//! whether Go takes an expression and whether it matches; which part of a path matches is not asked.

mod escape;
mod parser;
mod program;
mod ranges;
mod tree;
mod unicode;

#[cfg(test)]
pub(super) mod tests;

use program::Program;

/// Longest expression that is read. A path that a browser sends has some thousand characters at most; longer texts
/// only cost time.
pub const EXPRESSION_BYTES_MAX: usize = 16 << 10;
/// Most characters of an expression that a message repeats: enough to recognise the part.
const QUOTED_CHARACTERS_MAX: usize = 60;

/// Why an expression is refused. All but the last three are what Go says; those are ours, where we cannot be sure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpressionError {
    /// `\` at the end.
    #[error(r"it ends with a backslash; write `\\` for one")]
    TrailingBackslash,
    /// `\Z`, `\1`, `\u0041` and the like.
    #[error("{0:?} begins with an escape that Go's regular expressions do not have")]
    Escape(String),
    /// `[z-a]`, `[:name:]` or `\p{Name}` that mean nothing.
    #[error("{0:?} is no class or range of characters that Go's regular expressions have")]
    Range(String),
    /// `[` without `]`.
    #[error("a `[` is not closed; add the `]`, or write `\\[`")]
    ClassNotClosed,
    /// `(?=`, `(?x)` and the like.
    #[error(
        "{0:?} is no group that Go's regular expressions have: no look-around, and of the flags i, m, s and U"
    )]
    Group(String),
    /// `(?P<name` with a name that is none.
    #[error("{0:?} names a group wrongly; use letters, digits and `_`, as in `(?P<name>…)`")]
    GroupName(String),
    /// `(` without `)`.
    #[error("a `(` is not closed; add the `)`, or write `\\(`")]
    GroupNotClosed,
    /// `)` without `(`.
    #[error("a `)` closes no group; remove it, or write `\\)`")]
    GroupNotOpened,
    /// `*` at the start, after `(` or after `|`.
    #[error("{0:?} repeats nothing; write `\\{0}` for the character")]
    NothingToRepeat(String),
    /// `a**`, `a*+`.
    #[error("{0:?} repeats a repetition; put what it repeats in `(?:…)`")]
    RepeatOfRepeat(String),
    /// `a{1001}`, `(a{100}){100}`, `a{2,1}`.
    #[error(
        "{0:?} repeats more than 1,000 times, nested repetitions multiplied, or its numbers are the wrong way round"
    )]
    RepeatCount(String),
    /// Longer than is looked at.
    #[error("it has more than {EXPRESSION_BYTES_MAX} bytes; kflare does not check longer ones")]
    TooLong,
    /// Deeper than Go takes, or close to it.
    #[error("it nests too deep: Go takes 1,000 levels, and kflare cannot be sure that these are fewer")]
    TooDeep,
    /// Larger than Go takes, or than we run.
    #[error(
        "it is too large once its repetitions and classes are written out; kflare cannot be sure that Go takes it"
    )]
    TooLarge,
}

/// An expression that Go takes, ready to be tried on paths.
#[derive(Debug)]
pub struct PathExpression(Program);

impl PathExpression {
    /// Reads an expression.
    ///
    /// # Errors
    /// What Go would not take, or what we cannot be sure of.
    pub fn parse(expression: &str) -> Result<Self, ExpressionError> {
        if expression.len() > EXPRESSION_BYTES_MAX {
            return Err(ExpressionError::TooLong);
        }
        parser::parse(expression).and_then(|tree| Program::compile(&tree)).map(Self)
    }

    /// Whether the expression matches anywhere in a path: decoded, so that `%20` is a blank, and therefore any bytes.
    #[must_use]
    pub fn matches(&self, path: &[u8]) -> bool {
        self.0.matches(path)
    }

    /// The instructions that it was compiled to.
    pub(super) fn size(&self) -> usize {
        self.0.len()
    }
}

impl ExpressionError {
    fn escape(text: &str) -> Self {
        Self::Escape(Self::part(text, ""))
    }

    fn range(text: &str, rest: &str) -> Self {
        Self::Range(Self::part(text, rest))
    }

    fn group(text: &str, rest: &str) -> Self {
        Self::Group(Self::part(text, rest))
    }

    fn name(text: &str, rest: &str) -> Self {
        Self::GroupName(Self::part(text, rest))
    }

    /// The part of an expression that begins with `text` and ends before `rest`, which is the end of `text`.
    fn part(text: &str, rest: &str) -> String {
        let part = text.strip_suffix(rest).unwrap_or(text);
        part.chars().take(QUOTED_CHARACTERS_MAX).collect()
    }
}
