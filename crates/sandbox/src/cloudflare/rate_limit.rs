//! The rate limits: requests of one subject in a sliding window, and the block after an excess.
//! Decides and counts; the headers are written here, the answer is left to the service.

use std::collections::{BTreeMap, VecDeque};

use jiff::{SignedDuration, Timestamp};

/// Cloudflare API docs: 1,200 requests per five minutes and user, and per account-owned token.
pub(super) const GLOBAL: Limit = Limit { quota: 1200, window_s: 300, block_s: 300 };
/// Cloudflare API docs: 200 requests per second and address.
pub(super) const ADDRESS: Limit = Limit { quota: 200, window_s: 1, block_s: 1 };
/// Cloudflare API docs: zone-file imports and exports, three per minute and user.
pub(super) const ZONE_FILE: Limit = Limit { quota: 3, window_s: 60, block_s: 0 };

/// A quota in a window, and how long an excess blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    pub(super) quota: usize,
    pub(super) window_s: i64,
    pub(super) block_s: i64,
}

/// What is left, for the `Ratelimit` header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Left {
    pub(super) remaining: usize,
    pub(super) reset_s: u64,
}

/// The subject asked too often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Excess {
    pub(super) retry_after_s: u64,
}

#[derive(Debug, Default)]
struct Window {
    asked: VecDeque<Timestamp>,
    blocked_until: Option<Timestamp>,
}

/// One limit for many subjects.
#[derive(Debug)]
pub(super) struct Limiter {
    limit: Limit,
    windows: BTreeMap<String, Window>,
}

impl Limiter {
    pub(super) fn new(limit: Limit) -> Self {
        Self { limit, windows: BTreeMap::new() }
    }

    /// Counts one request. A refused one does not count and does not prolong the block.
    pub(super) fn ask(&mut self, subject: &str, now: Timestamp) -> Result<Left, Excess> {
        let limit = self.limit;
        let window = self.windows.entry(subject.to_owned()).or_default();
        if let Some(until) = window.blocked_until {
            if now < until {
                return Err(Excess { retry_after_s: seconds_up(until.duration_since(now)) });
            }
            window.blocked_until = None;
        }
        let span = SignedDuration::from_secs(limit.window_s);
        while window.asked.front().is_some_and(|first| now.duration_since(*first) >= span) {
            window.asked.pop_front();
        }
        let reset = window.asked.front().map_or(span, |first| span - now.duration_since(*first));
        if window.asked.len() >= limit.quota {
            let block = SignedDuration::from_secs(limit.block_s).max(reset);
            window.blocked_until = Some(now + block);
            return Err(Excess { retry_after_s: seconds_up(block) });
        }
        window.asked.push_back(now);
        Ok(Left { remaining: limit.quota - window.asked.len(), reset_s: seconds_up(reset) })
    }
}

/// Cloudflare API docs: whole seconds, rounded up.
fn seconds_up(duration: SignedDuration) -> u64 {
    let seconds = duration.as_secs() + i64::from(duration.subsec_nanos() > 0);
    u64::try_from(seconds).unwrap_or(0)
}

/// `Ratelimit` (cloudflare API docs: always sent since 2025-09-03).
pub(super) fn header(left: Left) -> String {
    format!(r#""default";r={};t={}"#, left.remaining, left.reset_s)
}

/// `Ratelimit-Policy`.
pub(super) fn policy_header() -> String {
    format!(r#""default";q={};w={}"#, GLOBAL.quota, GLOBAL.window_s)
}

/// What the header says while nothing is counted.
pub(super) const UNCOUNTED: Left = Left { remaining: GLOBAL.quota, reset_s: 300 };

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
    }

    #[test]
    fn an_excess_blocks_for_five_minutes_and_then_all_is_well() {
        let mut limiter = Limiter::new(GLOBAL);
        for n in 0..1200 {
            let left = limiter.ask("user-1", at(0)).unwrap();
            assert_eq!(left.remaining, 1199 - n);
        }
        assert_eq!(limiter.ask("user-1", at(10)), Err(Excess { retry_after_s: 300 }));
        assert_eq!(limiter.ask("user-1", at(309)), Err(Excess { retry_after_s: 1 }));
        assert!(limiter.ask("user-2", at(10)).is_ok());
        assert!(limiter.ask("user-1", at(310)).is_ok());
    }

    #[test]
    fn the_window_slides() {
        let mut limiter = Limiter::new(GLOBAL);
        for n in 0..1200 {
            limiter.ask("u", at(n / 4)).unwrap();
        }
        // 300 s after the first request four places are free again.
        assert_eq!(limiter.ask("u", at(300)).unwrap(), Left { remaining: 3, reset_s: 1 });
    }
}
