//! The time of one pass: what waiting for the call budget takes does not count (contract K19, design §3).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// How many passes wait for the budget; they leave their places to others.
#[derive(Clone, Debug, Default)]
pub struct Parked {
    count: Arc<AtomicUsize>,
    changed: Arc<Notify>,
}

impl Parked {
    /// How many wait now.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// Ends when another pass begins to wait.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }
}

/// A stopwatch that stands still while calls of its pass wait for the budget.
#[derive(Debug)]
pub struct PassTime {
    began: Instant,
    allowed: Duration,
    parked: Parked,
    waits: Mutex<Waits>,
}

#[derive(Debug, Default)]
struct Waits {
    open: usize,
    since: Option<Instant>,
    total: Duration,
}

impl PassTime {
    /// Starts now.
    #[must_use]
    pub fn start(allowed: Duration, parked: Parked) -> Self {
        Self { began: Instant::now(), allowed, parked, waits: Mutex::default() }
    }

    /// Time that may still be spent.
    #[must_use]
    pub fn left(&self) -> Duration {
        let now = Instant::now();
        let waits = self.waits.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = waits.since.map_or(Duration::ZERO, |since| now - since);
        let spent = (now - self.began).saturating_sub(waits.total + waiting);
        self.allowed.saturating_sub(spent)
    }

    /// True when nothing may be begun any more.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.left().is_zero()
    }

    /// Ends when the time is over.
    pub async fn over(&self) {
        loop {
            let left = self.left();
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left).await;
        }
    }

    /// The stopwatch stands still until the value is dropped.
    #[must_use]
    pub fn waiting(&self) -> Waiting<'_> {
        let mut waits = self.waits.lock().unwrap_or_else(PoisonError::into_inner);
        waits.open += 1;
        if waits.open == 1 {
            waits.since = Some(Instant::now());
            self.parked.count.fetch_add(1, Ordering::Relaxed);
            self.parked.changed.notify_one();
        }
        Waiting(self)
    }
}

/// See [`PassTime::waiting`].
#[derive(Debug)]
pub struct Waiting<'p>(&'p PassTime);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut waits = self.0.waits.lock().unwrap_or_else(PoisonError::into_inner);
        waits.open -= 1;
        if waits.open == 0
            && let Some(since) = waits.since.take()
        {
            waits.total += Instant::now() - since;
            self.0.parked.count.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn waiting_for_the_budget_does_not_count() {
        let parked = Parked::default();
        let time = PassTime::start(Duration::from_secs(10), parked.clone());
        tokio::time::advance(Duration::from_secs(4)).await;
        {
            let _one = time.waiting();
            let _two = time.waiting();
            assert_eq!(parked.count(), 1);
            tokio::time::advance(Duration::from_secs(100)).await;
            assert_eq!(time.left(), Duration::from_secs(6));
        }
        assert_eq!(parked.count(), 0);
        let before = Instant::now();
        time.over().await;
        assert!(Instant::now() - before >= Duration::from_secs(6));
        assert!(time.is_over());
    }
}
