//! When the members of a unit are looked at again though nothing happened: common times of a unit, so that it is
//! checked once and not once per member.

use std::collections::BTreeMap;
use std::time::Duration;

use plan::UnitKey;
use tokio::time::Instant;

use crate::jitter;

/// Share by which drift checks and resyncs of a unit vary (design §4: ±10 % per parent).
const SPREAD: f64 = 0.1;

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

    /// The unit's next times after now. A member that was looked at in between is looked at again with the others, so
    /// never later than one and a tenth of the interval after its own last look (contract K17).
    pub(super) fn of(&mut self, unit: &UnitKey, now: Instant) -> Schedule {
        let (seed, resync, drift) = (self.seed, self.resync, self.drift);
        let next = |interval, round| now + jitter::spread(interval, SPREAD, seed, &unit.to_string(), round);
        let schedule = self.units.entry(unit.clone()).or_insert_with(|| Schedule {
            drift: drift.map(|interval| next(interval, 0)),
            resync: next(resync, 0),
            round: 0,
        });
        let drift_is_over = schedule.drift.is_some_and(|drift| drift <= now);
        if schedule.resync <= now || drift_is_over {
            schedule.round += 1;
        }
        if schedule.resync <= now {
            schedule.resync = next(resync, schedule.round);
        }
        if drift_is_over {
            schedule.drift = drift.map(|interval| next(interval, schedule.round));
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
