//! What was asked of a world, in order: for assertions on calls, and for the replay test (V12).
//! Holds no headers and no secrets. Bounded: old lines go, the counters stay.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;

use crate::fault::Fault;

/// Lines kept; a run of 10,000 objects makes about 60,000 requests, and a test wants to see all of them.
const LINES_MAX: usize = 200_000;

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
    pub fn push(&self, line: Line) {
        let mut inner = self.lock();
        *inner.counts.entry((line.method.clone(), line.route.clone())).or_default() += 1;
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
