//! The one list of what the sandbox does not model on purpose, `testing/differential/not-modelled.yaml`: which differences
//! each entry stands for, and why. An entry that stands for none is reported, so that the list stays true.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, bail};
use regex::Regex;
use serde::Deserialize;
use serde_json::Value;

use super::compare::Difference;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// Regular expression of the request as the sequence has it, with its sequence's name before it.
    request: String,
    /// Regular expression of the place in the answer.
    at: String,
    /// Regular expressions of the two values there: of an absent one `null`, of an empty text `""`. Where the statuses
    /// differ, a value is the status, and of a Status its reason and message, too.
    real: String,
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
        // A text is fitted without its quotes, but for an empty one, which no pattern may fit.
        let text = |value: &Value| match value.as_str() {
            Some(text) if !text.is_empty() => text.to_owned(),
            _ => value.to_string(),
        };
        let texts = [asked, difference.at.clone(), text(&difference.real), text(&difference.ours)];
        self.patterns.iter().zip(&texts).all(|(pattern, text)| pattern.is_match(text))
    }
}

/// Reads the list.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<Excuse>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("could not read {}", path.display()))?;
    let entries: Vec<Entry> =
        serde_saphyr::from_str(&text).with_context(|| format!("could not read {}", path.display()))?;
    entries.into_iter().map(excuse).collect()
}

/// An entry with its patterns. One that fits an empty text says nothing of what it excuses.
fn excuse(entry: Entry) -> anyhow::Result<Excuse> {
    let Entry { request, at, real, ours, why } = entry;
    let compile = |(name, text): (&str, &str)| {
        let pattern = Regex::new(text).with_context(|| format!("`{name}` of the entry {why:?}"))?;
        if pattern.is_match("") {
            bail!("`{name}` of the entry {why:?} fits everything: {text:?}");
        }
        anyhow::Ok(pattern)
    };
    let [request, at, real, ours] =
        [("request", &*request), ("at", &*at), ("real", &*real), ("ours", &*ours)].map(compile);
    let patterns = [request?, at?, real?, ours?];
    Ok(Excuse { patterns, why, uses: AtomicUsize::new(0) })
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(ours: &str) -> anyhow::Result<Excuse> {
        let [request, at, real, why] = ["GET zones", "^/warnings$", "unknown", "x"].map(str::to_owned);
        excuse(Entry { request, at, real, ours: ours.to_owned(), why })
    }

    #[test]
    fn an_entry_excuses_one_answer_of_ours_and_no_other() {
        let excuses = [entry(r"^\[\]$").unwrap()];
        let differs = |ours: Value| Difference {
            step: 1,
            ask: "GET zones/a".to_owned(),
            at: "/warnings".to_owned(),
            real: json!(["unknown field"]),
            ours,
        };
        let left = unexplained(&excuses, "s", vec![differs(json!([])), differs(json!(["other"]))]);
        assert_eq!(left, [differs(json!(["other"]))]);
        assert_eq!(excuses[0].uses(), 1);
    }

    #[test]
    fn a_pattern_that_fits_everything_is_refused() {
        for ours in ["", ".*", "x|", "("] {
            assert!(entry(ours).is_err(), "{ours:?}");
        }
    }

    #[test]
    fn every_entry_of_the_list_says_what_ours_is() {
        let list = crate::root().join("testing/differential/not-modelled.yaml");
        assert!(!read(&list).unwrap().is_empty());
        let without = "- {request: a, at: a, real: a, why: a}";
        assert!(serde_saphyr::from_str::<Vec<Entry>>(without).is_err());
    }
}
