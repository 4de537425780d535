//! The one list of what the sandbox does not model on purpose, `testing/differential/not-modelled.yaml`: which differences
//! each entry stands for, and why. An entry that stands for none is reported, so that the list stays true.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context as _;
use regex::Regex;
use serde::Deserialize;
use serde_json::Value;

use super::compare::Difference;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// Regular expression of the request as the sequence has it, with its sequence's name before it.
    #[serde(default)]
    request: String,
    /// Regular expression of the place in the answer.
    #[serde(default)]
    at: String,
    /// Regular expressions of the two values.
    #[serde(default)]
    real: String,
    #[serde(default)]
    ours: String,
    why: String,
}

/// One entry, and how often it was needed.
#[derive(Debug)]
pub(crate) struct Excuse {
    patterns: [Regex; 4],
    pub(crate) why: String,
    uses: AtomicUsize,
}

impl Excuse {
    pub(crate) fn uses(&self) -> usize {
        self.uses.load(Ordering::Relaxed)
    }

    fn fits(&self, sequence: &str, difference: &Difference) -> bool {
        let asked = format!("{sequence}: {}", difference.ask);
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let texts = [asked, difference.at.clone(), text(&difference.real), text(&difference.ours)];
        self.patterns.iter().zip(&texts).all(|(pattern, text)| pattern.is_match(text))
    }
}

/// Reads the list.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<Excuse>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("could not read {}", path.display()))?;
    let entries: Vec<Entry> =
        serde_saphyr::from_str(&text).with_context(|| format!("could not read {}", path.display()))?;
    entries
        .into_iter()
        .map(|entry| {
            let Entry { request, at, real, ours, why } = entry;
            let compile = |text: &str| Regex::new(text).with_context(|| format!("the entry {why:?}"));
            let patterns = [compile(&request)?, compile(&at)?, compile(&real)?, compile(&ours)?];
            Ok(Excuse { patterns, why, uses: AtomicUsize::new(0) })
        })
        .collect()
}

/// The differences that no entry stands for.
pub(crate) fn unexplained(excuses: &[Excuse], sequence: &str, found: Vec<Difference>) -> Vec<Difference> {
    let excused = |difference: &Difference| {
        let fitting = excuses.iter().find(|excuse| excuse.fits(sequence, difference));
        fitting.inspect(|excuse| {
            excuse.uses.fetch_add(1, Ordering::Relaxed);
        })
    };
    found.into_iter().filter(|difference| excused(difference).is_none()).collect()
}
