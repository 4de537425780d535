//! What units remember between passes, with its ages on the monotonic clock: a clock that is set makes nothing younger
//! or older than it is. Losing any of it costs calls, never correctness.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use plan::{MemberId, Memory, UnitKey};
use tokio::time::Instant;

use crate::limits::MEMORIES_SLACK;

/// A memory, and when it was kept by both clocks.
#[derive(Debug)]
struct Kept {
    memory: Memory,
    at: Instant,
    clock: Timestamp,
}

/// What all units remember.
#[derive(Debug)]
pub struct Memories {
    units: BTreeMap<UnitKey, Kept>,
    /// So many are swept.
    sweep_at: usize,
}

impl Default for Memories {
    fn default() -> Self {
        Self { units: BTreeMap::new(), sweep_at: MEMORIES_SLACK }
    }
}

impl Memories {
    /// What a unit remembers, with times by the clock as it is now.
    #[must_use]
    pub fn recall(&self, unit: &UnitKey, now: Timestamp) -> Memory {
        let Some(kept) = self.units.get(unit) else { return Memory::default() };
        let mut memory = kept.memory.clone();
        let set_by = now.duration_since(kept.clock).saturating_sub(passed_since(kept.at));
        for written in memory.written.values_mut() {
            *written = written.checked_add(set_by).unwrap_or(now);
        }
        forget_old(&mut memory, now);
        memory
    }

    /// How many objects the last list of a unit held.
    #[must_use]
    pub fn listed(&self, unit: &UnitKey) -> Option<usize> {
        self.units.get(unit)?.memory.listed
    }

    /// Keeps what a pass leaves to the next, as long as it means anything.
    pub fn keep(
        &mut self,
        unit: &UnitKey,
        mut memory: Memory,
        now: Timestamp,
        exists: impl Fn(&MemberId) -> bool,
    ) {
        memory.written.retain(|member, at| {
            // What lies in the future was told before the clock was set back during the pass.
            *at = (*at).min(now);
            exists(member)
        });
        forget_old(&mut memory, now);
        memory.quarantine.retain(|member, _| exists(member));
        // The size of a list is only of use to a unit that has one.
        if memory.written.is_empty() && memory.quarantine.is_empty() && memory.listed.is_none() {
            self.units.remove(unit);
        } else {
            self.units.insert(unit.clone(), Kept { memory, at: Instant::now(), clock: now });
        }
    }

    /// Forgets a unit.
    pub fn forget(&mut self, unit: &UnitKey) {
        self.units.remove(unit);
    }

    /// True when so many are kept that those of units that are gone should be swept.
    #[must_use]
    pub fn are_many(&self) -> bool {
        self.units.len() >= self.sweep_at
    }

    /// Forgets the units that are gone.
    pub fn sweep(&mut self, exists: impl Fn(&UnitKey) -> bool) {
        self.units.retain(|unit, _| exists(unit));
        self.sweep_at = 2 * self.units.len() + MEMORIES_SLACK;
    }
}

/// What was written long enough ago is shown by every read.
fn forget_old(memory: &mut Memory, now: Timestamp) {
    let lag = SignedDuration::try_from(plan::limits::READS_MAY_LAG).unwrap_or(SignedDuration::ZERO);
    memory.written.retain(|_, at| now.duration_since(*at) < lag);
    memory.made.retain(|_, maker| memory.written.contains_key(maker));
}

/// How long ago that was.
#[must_use]
pub fn passed_since(at: Instant) -> SignedDuration {
    SignedDuration::try_from(at.elapsed()).unwrap_or(SignedDuration::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use kinds::Key;

    use super::*;

    fn record() -> MemberId {
        MemberId { kind: "DNSRecord", key: Key::new("default", "www") }
    }

    fn unit(parent: &str) -> UnitKey {
        UnitKey::Children { kind: "DNSRecord", parent: parent.to_owned() }
    }

    fn written(at: Timestamp) -> Memory {
        Memory { written: BTreeMap::from([(record(), at)]), ..Memory::default() }
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_is_set_does_not_change_how_long_ago_a_write_was() {
        let noon: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
        for set_by in [0, -36_000, 36_000] {
            let mut memories = Memories::default();
            memories.keep(&unit("z"), written(noon), noon, |_| true);
            tokio::time::advance(Duration::from_secs(20)).await;
            let now = noon + SignedDuration::from_secs(20 + set_by);
            let recalled = memories.recall(&unit("z"), now);
            assert_eq!(now.duration_since(recalled.written[&record()]), SignedDuration::from_secs(20));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_write_before_the_clock_was_set_back_is_forgotten_when_its_time_has_passed() {
        let noon: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
        let hours_ago = noon - SignedDuration::from_hours(10);
        let mut memories = Memories::default();
        // The clock was set during the pass: the write lies hours ahead.
        memories.keep(&unit("z"), written(noon), hours_ago, |_| true);
        let later = hours_ago + SignedDuration::from_secs(61);
        tokio::time::advance(Duration::from_secs(61)).await;
        let recalled = memories.recall(&unit("z"), later);
        memories.keep(&unit("z"), recalled, later, |_| true);
        assert!(memories.units.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_is_taken_as_long_as_reads_may_not_show_what_took_it() {
        let noon: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
        let mut memories = Memories::default();
        let made = BTreeMap::from([("name=www".to_owned(), record())]);
        memories.keep(&unit("z"), Memory { made: made.clone(), ..written(noon) }, noon, |_| true);
        tokio::time::advance(Duration::from_secs(59)).await;
        assert_eq!(memories.recall(&unit("z"), noon + SignedDuration::from_secs(59)).made, made);
        tokio::time::advance(Duration::from_secs(2)).await;
        assert!(memories.recall(&unit("z"), noon + SignedDuration::from_secs(61)).made.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn units_that_are_gone_are_swept() {
        let mut memories = Memories::default();
        let listed = || Memory { listed: Some(3), ..Memory::default() };
        for number in 0..10 * MEMORIES_SLACK {
            memories.keep(&unit(&number.to_string()), listed(), Timestamp::UNIX_EPOCH, |_| true);
            if memories.are_many() {
                memories.sweep(|key| *key == unit("7"));
            }
        }
        assert!(memories.units.len() <= 2 * MEMORIES_SLACK, "{}", memories.units.len());
        assert_eq!(memories.recall(&unit("7"), Timestamp::UNIX_EPOCH).listed, Some(3));
    }
}
