//! The call budget of one credential: who may call Cloudflare now, and when the others may (design 4).
//!
//! Only arithmetic: time is an argument (since process start, monotonic), waiting and waking are the
//! caller's. Per window of 300 s at most 1,140 calls go by our own count; what Cloudflare says remains can
//! only lower that.

use crate::envelope::RateLimit;
use crate::limits::{
    BUDGET_CALLS_PER_10S, BUDGET_CAPACITY, BUDGET_START, DRIFT_CALLS_PER_10S, DRIFT_LEAVES, RATE_LIMIT,
    RATELIMIT_RESET_MAX, REMOTE_DRIFT_LEAVES, REMOTE_RETRY_LEAVES, REMOTE_USER_LEAVES, RETRY_AFTER_DEFAULT,
    RETRY_AFTER_MAX, RETRY_LEAVES,
};
use std::time::Duration;

/// What a call is for, first things first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Changes and deletions that a user made.
    User,
    /// Another try after a failure.
    Retry,
    /// Looking whether something changed at Cloudflare.
    Drift,
}

/// The answer to [`Budget::ask`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The call is paid for: send it.
    Go,
    /// Ask again at this time, which isn't a promise: others may have come first.
    WaitUntil(Duration),
}

/// The state of one credential's budget.
#[derive(Clone, Debug)]
pub struct Budget {
    /// What is left, in [`UNITS`] per call.
    level: u64,
    /// When `level` was right; later than now while the gate is closed.
    at: Duration,
    /// No call before this time: a 429.
    closed_until: Duration,
    remote: Option<Remote>,
    /// Whether a header has told how much an earlier process left of the window.
    started: bool,
    spent: u64,
}

/// What Cloudflare said remains, less what we sent since.
#[derive(Clone, Copy, Debug)]
struct Remote {
    remaining: u64,
    until: Duration,
}

/// Units of one call. A nanosecond gains [`BUDGET_CALLS_PER_10S`] of them, so that all sums are exact
/// integers.
const UNITS: u64 = 10 * 1_000_000_000;

/// The level of a full budget.
const FULL: u64 = BUDGET_CAPACITY * UNITS;

/// What a window of [`crate::limits::RATE_WINDOW`] gains, plus what people keep: the part of Cloudflare's
/// remaining calls that isn't ours to spend at once.
const NOT_AT_ONCE: u64 = RATE_LIMIT - BUDGET_CAPACITY;

impl Class {
    /// Calls that must be left of our own count after a call of this class.
    fn leaves(self) -> u64 {
        match self {
            Class::User => 0,
            Class::Retry => RETRY_LEAVES,
            Class::Drift => DRIFT_LEAVES,
        }
    }

    /// Calls that must be left of Cloudflare's count.
    fn leaves_remote(self) -> u64 {
        match self {
            Class::User => REMOTE_USER_LEAVES,
            Class::Retry => REMOTE_RETRY_LEAVES,
            Class::Drift => REMOTE_DRIFT_LEAVES,
        }
    }
}

impl Budget {
    /// A budget at the start of a process. It holds little until the first header tells what an earlier
    /// process left.
    pub fn new(now: Duration) -> Self {
        let level = BUDGET_START * UNITS;
        Budget { level, at: now, closed_until: Duration::ZERO, remote: None, started: false, spent: 0 }
    }

    /// Whether a call may go. [`Decision::Go`] pays for it, so it is asked once per call, right before
    /// sending.
    pub fn ask(&mut self, class: Class, now: Duration) -> Decision {
        self.refill(now);
        if now < self.closed_until {
            return Decision::WaitUntil(self.closed_until);
        }
        // Before the first header every class may use the half of what there is: a restart whose first reads
        // are drift checks would otherwise wait for a level that only an answer can grant.
        let leaves = if self.started { class.leaves() } else { class.leaves().min(BUDGET_START / 2) };
        let needed = (leaves + 1) * UNITS;
        let mut wait = Duration::ZERO;
        if self.level < needed {
            wait = self.at.max(now) + gain_time(needed - self.level);
        }
        if let Some(said) = self.remote
            && said.remaining <= class.leaves_remote()
        {
            wait = wait.max(said.until);
        }
        if wait > now {
            return Decision::WaitUntil(wait);
        }
        self.level -= UNITS;
        self.spent += 1;
        if let Some(said) = &mut self.remote {
            said.remaining = said.remaining.saturating_sub(1);
        }
        Decision::Go
    }

    /// Calls that went so far, for a metric.
    pub fn spent(&self) -> u64 {
        self.spent
    }

    /// Calls that would go now for user changes, for a metric; 0 while the gate is closed.
    pub fn left(&self, now: Duration) -> u64 {
        let mut later = self.clone();
        later.refill(now);
        let own = later.level / UNITS;
        match later.remote {
            _ if now < later.closed_until => 0,
            Some(said) => own.min(said.remaining.saturating_sub(REMOTE_USER_LEAVES)),
            None => own,
        }
    }

    /// An answer arrived, refusals included. `None` when it had no `Ratelimit` header.
    pub fn answered(&mut self, ratelimit: Option<RateLimit>, now: Duration) {
        let Some(said) = ratelimit else { return };
        self.refill(now);
        let new = Remote { remaining: said.remaining, until: now + said.reset.min(RATELIMIT_RESET_MAX) };
        // Answers overtake each other, so until the reset only the lowest number is safe.
        self.remote = Some(self.remote.filter(|old| old.remaining <= new.remaining).unwrap_or(new));
        if !self.started {
            self.started = true;
            // What went already is ours to count: Cloudflare's number may be older.
            let own = BUDGET_CAPACITY.saturating_sub(self.spent);
            self.level = self.level.max(said.remaining.saturating_sub(NOT_AT_ONCE).min(own) * UNITS);
        }
    }

    /// Cloudflare answered 429: nobody calls until `retry_after` (five minutes when absent) has passed. Then
    /// the budget starts low, so that those who waited are no new storm.
    pub fn too_many(&mut self, retry_after: Option<Duration>, now: Duration) {
        self.refill(now);
        let wait = retry_after.unwrap_or(RETRY_AFTER_DEFAULT).min(RETRY_AFTER_MAX);
        self.closed_until = self.closed_until.max(now + wait);
        self.level = self.level.min(BUDGET_START * UNITS);
        self.at = self.closed_until;
        self.started = true;
    }

    /// Adds what the time since the last look has gained.
    fn refill(&mut self, now: Duration) {
        if let Some(passed) = now.checked_sub(self.at) {
            let nanos = u64::try_from(passed.as_nanos()).unwrap_or(u64::MAX);
            self.level = self.level.saturating_add(nanos.saturating_mul(BUDGET_CALLS_PER_10S)).min(FULL);
            self.at = now;
        }
        self.remote = self.remote.filter(|said| now < said.until);
    }
}

/// How long it takes to gain so many units, rounded up.
fn gain_time(units: u64) -> Duration {
    Duration::from_nanos(units.div_ceil(BUDGET_CALLS_PER_10S))
}

/// The shortest drift interval that the budget can pay for when one round of checks costs this many calls
/// (K17): half of what the budget gains is counted on, the other half is for changes.
pub fn sustainable_drift(calls_per_interval: u64) -> Duration {
    let millis = (u128::from(calls_per_interval) * 10_000).div_ceil(u128::from(DRIFT_CALLS_PER_10S));
    Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests;
