//! When the members of a unit are looked at again though nothing happened: common times of a unit, so that it is
//! checked once and not once per member.

use std::collections::BTreeMap;
use std::time::Duration;

use plan::UnitKey;
use tokio::time::Instant;

use crate::jitter;

/// Share by which resyncs of a unit vary (design §4: ±10 % per parent).
const RESYNC_SPREAD: f64 = 0.1;

/// Share by which drift checks of a unit vary. The rest of the tenth that contract K17 allows is for the time from due to
/// running.
const DRIFT_SPREAD: f64 = 0.09;

/// The next times of a unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    /// The next drift check, if there are any.
    pub(super) drift: Option<Instant>,
    /// The next resync.
    pub(super) resync: Instant,
    round: u64,
}

/// The next times of all units.
#[derive(Debug)]
pub(super) struct Schedules {
    resync: Duration,
    drift: Option<Duration>,
    seed: u64,
    units: BTreeMap<UnitKey, Schedule>,
}

impl Schedules {
    pub(super) fn new(resync: Duration, drift: Option<Duration>, seed: u64) -> Self {
        Self { resync, drift, seed, units: BTreeMap::new() }
    }

    /// The unit's next times after now, for a run that began a while ago: what it read is as old as that. A member that
    /// was looked at in between is looked at again with the others, so never later than one and a tenth of the interval
    /// after its own last look (contract K17).
    pub(super) fn of(&mut self, unit: &UnitKey, began: Instant, now: Instant) -> Schedule {
        let (seed, resync, drift) = (self.seed, self.resync, self.drift);
        let name = unit.to_string();
        let next =
            |interval, share, round| (began + jitter::spread(interval, share, seed, &name, round)).max(now);
        let schedule = self.units.entry(unit.clone()).or_insert_with(|| Schedule {
            drift: drift.map(|interval| next(interval, DRIFT_SPREAD, 0)),
            resync: next(resync, RESYNC_SPREAD, 0),
            round: 0,
        });
        let drift_is_over = schedule.drift.is_some_and(|drift| drift <= now);
        if schedule.resync <= now || drift_is_over {
            schedule.round += 1;
        }
        if schedule.resync <= now {
            schedule.resync = next(resync, RESYNC_SPREAD, schedule.round);
        }
        if drift_is_over {
            schedule.drift = drift.map(|interval| next(interval, DRIFT_SPREAD, schedule.round));
        }
        *schedule
    }

    pub(super) fn len(&self) -> usize {
        self.units.len()
    }

    pub(super) fn remove(&mut self, unit: &UnitKey) {
        self.units.remove(unit);
    }

    /// Drops what is over; whoever still needs it gets new times.
    pub(super) fn sweep(&mut self, now: Instant) {
        self.units.retain(|_, schedule| schedule.resync > now);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const INTERVAL: Duration = Duration::from_secs(600);

    #[test]
    fn units_that_were_synced_together_spread_and_each_draws_once_for_all_its_members() {
        let now = Instant::now();
        let mut schedules = Schedules::new(Duration::from_secs(36_000), Some(INTERVAL), 7);
        let mut checks = BTreeSet::new();
        for parent in 0..100 {
            let unit = UnitKey::Children { kind: "DNSRecord", parent: format!("z{parent}") };
            let check = schedules.of(&unit, now, now).drift.unwrap();
            let pause = check - now;
            assert!(pause >= INTERVAL.mul_f64(0.9) && pause <= INTERVAL.mul_f64(1.1), "{pause:?}");
            let later = now + Duration::from_secs(60);
            assert_eq!(schedules.of(&unit, later, later).drift, Some(check), "another member asks later");
            checks.insert(check);
        }
        assert!(checks.len() > 90, "they spread: {checks:?}");
    }
}
