//! Where the real API is known to differ from its document or its SDK: one list, each with its why and its source.

use std::sync::LazyLock;

use serde::Deserialize;

use super::facts::Source;
use super::misfit::{Flaw, Misfit, Side};

/// One difference between the facts and what the API really does.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Exception {
    /// Operations; `*` stands for anything.
    operation: String,
    /// Which half.
    side: Half,
    /// Pointers; `*` stands for one step.
    at: Vec<String>,
    /// The type of the object that has the field, where others must not have it.
    #[serde(default)]
    of: Option<String>,
    /// What is found.
    flaw: Flaw,
    /// The value alone that is right, where others would be wrong.
    #[serde(default)]
    got: Option<String>,
    /// Whose facts are wrong, where it matters.
    #[serde(default)]
    facts: Option<Source>,
    /// Why it is right.
    #[serde(rename = "why")]
    _why: String,
    /// Who says so.
    #[serde(rename = "source")]
    _source: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Half {
    Request,
    Answer,
}

/// The committed list.
pub(super) static EXCEPTIONS: LazyLock<Vec<Exception>> = LazyLock::new(|| {
    serde_saphyr::from_str(include_str!("../../../schemas/exceptions.yaml"))
        .unwrap_or_else(|error| panic!("crates/sandbox/schemas/exceptions.yaml cannot be used: {error}"))
});

impl Exception {
    pub(super) fn excuses(&self, misfit: &Misfit) -> bool {
        let side = match misfit.side {
            Side::Request => Half::Request,
            Side::Answer(_) => Half::Answer,
        };
        let is_source = |source: Source| misfit.expected.ends_with(&format!("[{source}]"));
        self.side == side
            && self.flaw == misfit.flaw
            && self.of.as_ref().is_none_or(|of| misfit.of.as_ref() == Some(of))
            && self.got.as_ref().is_none_or(|got| *got == misfit.got)
            && self.facts.is_none_or(is_source)
            && is_like(&self.operation, &misfit.operation)
            && self.at.iter().any(|at| is_at(at, &misfit.pointer))
    }
}

fn is_at(pattern: &str, pointer: &str) -> bool {
    let (mut wanted, mut steps) = (pattern.split('/'), pointer.split('/'));
    loop {
        match (wanted.next(), steps.next()) {
            (None, None) => return true,
            (Some(wanted), Some(step)) if wanted == "*" || wanted == step => {}
            _ => return false,
        }
    }
}

/// `*` stands for any text.
fn is_like(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((before, after)) => text.strip_prefix(before).is_some_and(|rest| {
            (0..=rest.len()).any(|at| rest.get(at..).is_some_and(|rest| is_like(after, rest)))
        }),
    }
}
