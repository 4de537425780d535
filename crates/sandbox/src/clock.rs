//! The one clock of both worlds: wall-clock timestamps that advance with tokio's time.
//! Under `tokio::time::pause` hours pass in milliseconds; it leaves sleeping and scheduling to the callers.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

/// Timestamps that start at a given epoch and advance with `tokio::time`.
#[derive(Clone, Debug)]
pub struct Clock {
    epoch: Timestamp,
    start: Instant,
    /// Milliseconds added by [`Clock::jump`]: what a clock that was set by hand looks like.
    jumped_millis: Arc<AtomicI64>,
}

impl Clock {
    /// A clock that reads `epoch` now. Must be called inside a tokio runtime whose time it follows.
    #[must_use]
    pub fn starting_at(epoch: Timestamp) -> Self {
        Self { epoch, start: Instant::now(), jumped_millis: Arc::default() }
    }

    /// The current time of the simulated worlds.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        let elapsed = SignedDuration::try_from(self.start.elapsed()).unwrap_or(SignedDuration::ZERO);
        let jumped = SignedDuration::from_millis(self.jumped_millis.load(Ordering::Relaxed));
        self.epoch + elapsed + jumped
    }

    /// Sets the clock forward or back, as an administrator or a bad time server would.
    pub fn jump(&self, by: SignedDuration) {
        let millis = i64::try_from(by.as_millis()).unwrap_or(0);
        self.jumped_millis.fetch_add(millis, Ordering::Relaxed);
    }
}
