//! The pace of one address: all calls of this process together, whatever tokens they carry.
//!
//! Only arithmetic, as in [`crate::budget`]. In no second more than a burst and the rate go, both from
//! [`crate::limits`].

use crate::limits::{ADDRESS_BURST, ADDRESS_CALLS_PER_SECOND};
use std::time::Duration;

/// The time that one call takes up.
const STEP: Duration = Duration::from_nanos(1_000_000_000 / ADDRESS_CALLS_PER_SECOND);

/// How far ahead of the rate a burst may run.
const AHEAD: Duration = Duration::from_nanos(STEP.as_nanos() as u64 * (ADDRESS_BURST - 1));

/// The state of one address.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    /// When all calls so far would be over, had they gone at the rate.
    taken_until: Duration,
}

impl Pace {
    /// When a call may go, if not now.
    pub fn wait_until(&self, now: Duration) -> Option<Duration> {
        let from = self.taken_until.saturating_sub(AHEAD);
        (from > now).then_some(from)
    }

    /// A call goes now.
    pub fn went(&mut self, now: Duration) {
        self.taken_until = self.taken_until.max(now) + STEP;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::ADDRESS_LIMIT;

    /// The times at which `calls` eager calls go.
    fn eager(pace: &mut Pace, mut now: Duration, calls: u64) -> Vec<Duration> {
        let mut times = Vec::new();
        for _ in 0..calls {
            now = pace.wait_until(now).unwrap_or(now);
            pace.went(now);
            times.push(now);
        }
        times
    }

    #[test]
    fn no_second_holds_more_calls_than_an_address_may_make() {
        let mut pace = Pace::default();
        let mut times = eager(&mut pace, Duration::ZERO, 1_000);
        times.extend(eager(&mut pace, Duration::from_secs(3_600), 1_000));
        for (at, first) in times.iter().enumerate() {
            let within =
                times[at..].iter().take_while(|time| **time < *first + Duration::from_secs(1)).count();
            assert!(within as u64 <= ADDRESS_LIMIT * 9 / 10, "{within} calls in the second from {first:?}");
        }
    }

    #[test]
    fn after_a_quiet_time_a_burst_goes_at_once() {
        let mut pace = Pace::default();
        let times = eager(&mut pace, Duration::from_secs(5), ADDRESS_BURST + 1);
        assert_eq!(times[ADDRESS_BURST as usize - 1], Duration::from_secs(5));
        assert_eq!(times[ADDRESS_BURST as usize], Duration::from_secs(5) + STEP);
    }
}
