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
    /// A pass has it until it gives it back: thousands of names are not copied for each look at one of them.
    memory: Option<Memory>,
    /// How many objects the last list held, as long as a pass has the rest.
    listed: Option<usize>,
    at: Instant,
    clock: Timestamp,
    /// The deletions of objects by then, if it was looked for those that are gone.
    deletions: Option<u64>,
    /// When it was found that a pass had ended without giving it back.
    lost: Option<Instant>,
}

impl Kept {
    fn new(memory: Memory, now: Timestamp) -> Self {
        let listed = memory.listed;
        Self { memory: Some(memory), listed, at: Instant::now(), clock: now, deletions: None, lost: None }
    }
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
    /// Lends what a unit remembers to its pass, with times by the clock as it is now. A unit never runs twice at a time, so
    /// that nobody else needs it meanwhile. The pass before may have panicked and taken it along: then what it wrote is
    /// not remembered, as if this process had begun to lead only now.
    #[must_use]
    pub fn lend(&mut self, unit: &UnitKey, since: Option<Instant>, now: Timestamp) -> Memory {
        let kept = self.units.entry(unit.clone()).or_insert_with(|| Kept::new(Memory::default(), now));
        let mut memory = kept.memory.take().unwrap_or_else(|| {
            kept.lost = Some(Instant::now());
            Memory { listed: kept.listed, ..Memory::default() }
        });
        kept.listed = memory.listed;
        let set_by = now.duration_since(kept.clock).saturating_sub(passed_since(kept.at));
        for written in memory.written.values_mut() {
            *written = written.checked_add(set_by).unwrap_or(now);
        }
        forget_old(&mut memory, now);
        let since = since.max(kept.lost);
        Memory { since: since.map(|since| now.checked_sub(passed_since(since)).unwrap_or(now)), ..memory }
    }

    /// How many objects the last list of a unit held.
    #[must_use]
    pub fn listed(&self, unit: &UnitKey) -> Option<usize> {
        let kept = self.units.get(unit)?;
        kept.memory.as_ref().map_or(kept.listed, |memory| memory.listed)
    }

    /// Takes back what a pass leaves to the next, as long as it means anything. Only when there were more `deletions` it is
    /// asked of each name whether it still exists.
    pub fn keep(
        &mut self,
        unit: &UnitKey,
        mut memory: Memory,
        now: Timestamp,
        deletions: u64,
        exists: impl Fn(&MemberId) -> bool,
    ) {
        for at in memory.written.values_mut() {
            // What lies in the future was told before the clock was set back during the pass.
            *at = (*at).min(now);
        }
        let (lost, seen) = self.units.get(unit).map_or((None, None), |kept| (kept.lost, kept.deletions));
        if seen != Some(deletions) {
            memory.written.retain(|member, _| exists(member));
            memory.made.retain(|_, maker| exists(maker));
            memory.quarantine.retain(|member, _| exists(member));
        }
        forget_old(&mut memory, now);
        // The size of a list is only of use to a unit that has one.
        let is_empty = memory.written.is_empty() && memory.quarantine.is_empty() && memory.listed.is_none();
        if is_empty && lost.is_none_or(|lost| lost.elapsed() >= plan::limits::READS_MAY_LAG) {
            self.units.remove(unit);
        } else {
            let kept = Kept { deletions: Some(deletions), lost, ..Kept::new(memory, now) };
            self.units.insert(unit.clone(), kept);
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
    let is_old = |at: &Timestamp| now.duration_since(*at) >= lag;
    if memory.written.values().any(is_old) {
        memory.written.retain(|_, at| !is_old(at));
        memory.made.retain(|_, maker| memory.written.contains_key(maker));
    }
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

    /// Keeps a memory of units none of whose members was ever deleted.
    fn keep(memories: &mut Memories, unit: &UnitKey, memory: Memory, now: Timestamp) {
        memories.keep(unit, memory, now, 0, |_| true);
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_is_set_does_not_change_how_long_ago_a_write_was() {
        let noon: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
        for set_by in [0, -36_000, 36_000] {
            let mut memories = Memories::default();
            keep(&mut memories, &unit("z"), written(noon), noon);
            tokio::time::advance(Duration::from_secs(20)).await;
            let now = noon + SignedDuration::from_secs(20 + set_by);
            let lent = memories.lend(&unit("z"), None, now);
            assert_eq!(now.duration_since(lent.written[&record()]), SignedDuration::from_secs(20));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_write_before_the_clock_was_set_back_is_forgotten_when_its_time_has_passed() {
        let noon: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
        let hours_ago = noon - SignedDuration::from_hours(10);
        let mut memories = Memories::default();
        // The clock was set during the pass: the write lies hours ahead.
        keep(&mut memories, &unit("z"), written(noon), hours_ago);
        let later = hours_ago + SignedDuration::from_secs(61);
        tokio::time::advance(Duration::from_secs(61)).await;
        let lent = memories.lend(&unit("z"), None, later);
        keep(&mut memories, &unit("z"), lent, later);
        assert!(memories.units.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_is_taken_as_long_as_reads_may_not_show_what_took_it() {
        let noon: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
        let mut memories = Memories::default();
        let made = BTreeMap::from([("name=www".to_owned(), record())]);
        keep(&mut memories, &unit("z"), Memory { made: made.clone(), ..written(noon) }, noon);
        tokio::time::advance(Duration::from_secs(59)).await;
        let lent = memories.lend(&unit("z"), None, noon + SignedDuration::from_secs(59));
        assert_eq!(lent.made, made);
        keep(&mut memories, &unit("z"), lent, noon + SignedDuration::from_secs(59));
        tokio::time::advance(Duration::from_secs(2)).await;
        let lent = memories.lend(&unit("z"), None, noon + SignedDuration::from_secs(61));
        assert!(lent.made.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_pass_wrote_that_never_gave_its_memory_back_may_have_been_written_until_now() {
        let noon: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
        let after = |seconds| noon + SignedDuration::from_secs(seconds);
        let mut memories = Memories::default();
        let began = Some(Instant::now());
        let lent = memories.lend(&unit("z"), began, noon);
        assert_eq!(lent.since, Some(noon));
        drop(lent);
        tokio::time::advance(Duration::from_secs(40)).await;
        let lent = memories.lend(&unit("z"), began, after(40));
        assert_eq!(lent.since, Some(after(40)));
        keep(&mut memories, &unit("z"), lent, after(40));
        tokio::time::advance(Duration::from_secs(40)).await;
        let lent = memories.lend(&unit("z"), began, after(80));
        assert_eq!(lent.since, Some(after(40)), "not the beginning of the process");
        tokio::time::advance(Duration::from_secs(40)).await;
        keep(&mut memories, &unit("z"), lent, after(120));
        assert!(memories.units.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_gone_is_forgotten_with_the_next_look() {
        let noon: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
        let mut memories = Memories::default();
        let made = BTreeMap::from([("name=www".to_owned(), record())]);
        let quarantine = BTreeMap::from([(record(), 1)]);
        let memory = Memory { made, quarantine, listed: Some(1), ..written(noon) };
        keep(&mut memories, &unit("z"), memory, noon);
        let lent = memories.lend(&unit("z"), None, noon);
        assert_eq!((lent.written.len(), lent.made.len(), lent.quarantine.len()), (1, 1, 1));
        memories.keep(&unit("z"), lent, noon, 1, |_| false);
        let lent = memories.lend(&unit("z"), None, noon);
        assert_eq!(lent, Memory { listed: Some(1), ..Memory::default() });
    }

    #[tokio::test(start_paused = true)]
    async fn units_that_are_gone_are_swept() {
        let mut memories = Memories::default();
        let listed = || Memory { listed: Some(3), ..Memory::default() };
        for number in 0..10 * MEMORIES_SLACK {
            keep(&mut memories, &unit(&number.to_string()), listed(), Timestamp::UNIX_EPOCH);
            if memories.are_many() {
                memories.sweep(|key| *key == unit("7"));
            }
        }
        assert!(memories.units.len() <= 2 * MEMORIES_SLACK, "{}", memories.units.len());
        assert_eq!(memories.listed(&unit("7")), Some(3));
        assert_eq!(memories.lend(&unit("7"), None, Timestamp::UNIX_EPOCH).listed, Some(3));
        assert_eq!(memories.listed(&unit("7")), Some(3), "while a pass has it, too");
    }
}
