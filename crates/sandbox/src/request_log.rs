//! What was asked of a world, in order: for assertions on calls, and for the replay test (V12).
//! Holds no headers and no secrets. Bounded: old lines go, the counters stay.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;

use crate::fault::Fault;

/// Lines kept; a run of 10,000 objects makes about 60,000 requests, and a test wants to see all of them.
const LINES_MAX: usize = 200_000;

/// Routes that are counted apart; a world has some hundred. What is beyond is counted together.
const ROUTES_MAX: usize = 2_000;

/// Method and route of what is counted together; it counts as a write.
const OTHER: &str = "OTHER";
const OTHERS: &str = "/{other}";

/// Characters of a path that are kept: the longest that a client of ours sends, and lines without end are no use.
const PATH_MAX: usize = 16 * 1_024;

/// One answered (or unanswered) request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// When it arrived.
    pub at: Timestamp,
    /// `GET`, `POST`, …; `WATCH` for a Kubernetes watch.
    pub method: String,
    /// The route with placeholders, for counting: `/zones/{zone_id}/dns_records`.
    pub route: String,
    /// The path and query as they came.
    pub path: String,
    /// The status that was answered; 0 when the request was never answered.
    pub status: u16,
    /// SHA-256 prefix (16 hex digits) of the request body, empty without one: enough to compare two runs
    /// byte for byte and never a secret.
    pub body: String,
    /// Who asked, where the world can tell (a token's id, a user agent); empty otherwise.
    pub who: String,
    /// Whose rate limit it counts against: a user's tokens share one; empty where nobody is counted.
    pub subject: String,
    /// What was armed for it, whether or not that means anything to such a request.
    pub fault: Option<Fault>,
}

#[derive(Debug, Default)]
struct Inner {
    lines: VecDeque<Line>,
    counts: BTreeMap<(String, String), u64>,
}

/// The log of one world. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct RequestLog(Arc<Mutex<Inner>>);

impl RequestLog {
    /// Adds a line and counts it under (method, route).
    pub fn push(&self, mut line: Line) {
        if let Some((end, _)) = line.path.char_indices().nth(PATH_MAX) {
            line.path.truncate(end);
        }
        let mut inner = self.lock();
        let mut counted = (line.method.clone(), line.route.clone());
        if inner.counts.len() >= ROUTES_MAX && !inner.counts.contains_key(&counted) {
            counted = (OTHER.to_owned(), OTHERS.to_owned());
        }
        *inner.counts.entry(counted).or_default() += 1;
        if inner.lines.len() == LINES_MAX {
            inner.lines.pop_front();
        }
        inner.lines.push_back(line);
    }

    /// All lines that are still held, oldest first.
    #[must_use]
    pub fn lines(&self) -> Vec<Line> {
        self.lock().lines.iter().cloned().collect()
    }

    /// Requests so far by (method, route), since the start or the last [`RequestLog::reset`].
    #[must_use]
    pub fn counts(&self) -> BTreeMap<(String, String), u64> {
        self.lock().counts.clone()
    }

    /// Requests so far whose method is a write.
    #[must_use]
    pub fn writes(&self) -> u64 {
        let inner = self.lock();
        inner
            .counts
            .iter()
            .filter(|((method, _), _)| !matches!(method.as_str(), "GET" | "HEAD" | "WATCH"))
            .map(|(_, n)| n)
            .sum()
    }

    /// Requests so far, reads and writes.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.lock().counts.values().sum()
    }

    /// Forgets lines and counts.
    pub fn reset(&self) {
        *self.lock() = Inner::default();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(method: &str, path: &str) -> Line {
        let text = str::to_owned;
        let at = Timestamp::UNIX_EPOCH;
        let (body, who, subject) = Default::default();
        let (method, path, route) = (text(method), text(path), text(path));
        Line { at, method, route, path, status: 404, body, who, subject, fault: None }
    }

    #[test]
    fn routes_that_clients_make_up_are_counted_together_and_long_paths_cut() {
        let log = RequestLog::default();
        for n in 0..2 * ROUTES_MAX {
            log.push(line(&format!("M{n}"), &format!("/x{n}")));
        }
        log.push(line("GET", &"y".repeat(2 * PATH_MAX)));
        assert_eq!(log.counts().len(), ROUTES_MAX + 1);
        assert_eq!(log.total(), 2 * ROUTES_MAX as u64 + 1);
        assert_eq!(log.lines().last().map(|line| line.path.len()), Some(PATH_MAX));
    }
}
