//! The work queue: units that are due, with the members that made them so, and what is due later.
//! Arithmetic on instants that it is given; it neither waits nor runs anything.
//!
//! # Guarantees
//! - A unit never runs twice at a time, and a member never in two units at a time.
//! - What becomes due while its unit runs leads to exactly one more run.
//! - Ready units run in class order, within a class first come first served. A delay never delays what is due.

mod due;
mod schedule;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use cf_api::budget::Class;
use plan::{MemberId, UnitKey};
use tokio::time::Instant;

pub use self::due::{Again, Depth, Due, Slice, Why};
use self::schedule::{Schedule, Schedules};
use crate::jitter;
use crate::limits::{SCHEDULES_SLACK, SLICE_FULL, SLICE_MAX};
use crate::timings::{Timings, doubled};

/// Share by which back-offs vary, so that members that failed together do not come back together.
const BACKOFF_SPREAD: f64 = 0.1;

#[derive(Debug, Default)]
struct Unit {
    due: BTreeMap<MemberId, Due>,
    /// Due, but only once another member's run has ended.
    held: BTreeMap<MemberId, Due>,
    ready: Option<(Class, u64)>,
    running: BTreeSet<MemberId>,
    is_running: bool,
    /// When its last run began.
    began: Option<Instant>,
    /// No run before this unless a slice is full.
    hold_until: Option<Instant>,
    hold_off: Option<Duration>,
    hold_timer: Option<(Instant, u64)>,
}

#[derive(Clone, Debug)]
enum Timer {
    Unit(UnitKey),
    Member(MemberId, UnitKey, Class, Why),
}

#[derive(Debug, Default)]
struct MemberState {
    failures: u32,
    /// In how many units it is due; more than one while it moves.
    due: u32,
    timer: Option<(Instant, u64)>,
}

/// The queue.
#[derive(Debug)]
pub struct Queue {
    timings: Timings,
    seed: u64,
    units: BTreeMap<UnitKey, Unit>,
    ready: BTreeMap<(Class, u64), UnitKey>,
    timers: BTreeMap<(Instant, u64), Timer>,
    members: BTreeMap<MemberId, MemberState>,
    running: BTreeMap<MemberId, UnitKey>,
    /// Who is held until this member's run has ended.
    blocked: BTreeMap<MemberId, BTreeSet<(UnitKey, MemberId)>>,
    schedules: Schedules,
    counter: u64,
}

impl Queue {
    /// An empty queue.
    #[must_use]
    pub fn new(timings: Timings, seed: u64, drift_interval: Option<Duration>) -> Self {
        Self {
            units: BTreeMap::new(),
            ready: BTreeMap::new(),
            timers: BTreeMap::new(),
            members: BTreeMap::new(),
            running: BTreeMap::new(),
            blocked: BTreeMap::new(),
            schedules: Schedules::new(timings.resync, drift_interval, seed),
            counter: 0,
            timings,
            seed,
        }
    }

    /// Its durations.
    #[must_use]
    pub const fn timings(&self) -> &Timings {
        &self.timings
    }

    /// A member of a unit is due now. True when it was not before.
    pub fn add(&mut self, unit: &UnitKey, member: MemberId, class: Class, now: Instant) -> bool {
        let entry = self.units.entry(unit.clone()).or_default();
        let known = match entry.due.get_mut(&member) {
            Some(due) => Some(due),
            None => entry.held.get_mut(&member),
        };
        if let Some(due) = known {
            due.class = due.class.min(class);
            self.queue_unit(unit, now, false);
            return false;
        }
        entry.due.insert(member.clone(), Due { class, asked: now });
        self.members.entry(member).or_default().due += 1;
        self.queue_unit(unit, now, false);
        true
    }

    /// Makes due what has become so by now.
    pub fn advance(&mut self, now: Instant) {
        while let Some(entry) = self.timers.first_entry() {
            if entry.key().0 > now {
                return;
            }
            match entry.remove() {
                Timer::Unit(unit) => {
                    if let Some(state) = self.units.get_mut(&unit) {
                        state.hold_timer = None;
                        state.hold_until = None;
                    }
                    self.queue_unit(&unit, now, true);
                }
                Timer::Member(member, unit, class, _) => {
                    if let Some(state) = self.members.get_mut(&member) {
                        state.timer = None;
                    }
                    self.add(&unit, member, class, now);
                }
            }
        }
    }

    /// When [`Queue::advance`] has something to do next.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        self.timers.first_key_value().map(|((at, _), _)| *at)
    }

    /// The first unit that may run, now marked as running, with at most [`SLICE_MAX`] of its members, those of the
    /// first class first.
    pub fn take(&mut self) -> Option<Slice> {
        while let Some((_, key)) = self.ready.pop_first() {
            let Some(unit) = self.units.get_mut(&key) else { continue };
            unit.ready = None;
            let mut order: Vec<(Class, Instant, MemberId)> =
                unit.due.iter().map(|(member, due)| (due.class, due.asked, member.clone())).collect();
            order.sort();
            let mut members = BTreeMap::new();
            for (_, _, member) in order {
                if self.running.contains_key(&member) {
                    let held = unit.due.remove(&member).map(|due| unit.held.insert(member.clone(), due));
                    debug_assert!(held.is_some());
                    self.blocked.entry(member.clone()).or_default().insert((key.clone(), member));
                } else if members.len() < SLICE_MAX
                    && let Some(due) = unit.due.remove(&member)
                {
                    members.insert(member, due);
                }
            }
            if members.is_empty() {
                continue;
            }
            unit.is_running = true;
            unit.running = members.keys().cloned().collect();
            unit.hold_until = None;
            let hold_timer = unit.hold_timer.take();
            if let Some(timer) = hold_timer {
                self.timers.remove(&timer);
            }
            for member in members.keys() {
                self.running.insert(member.clone(), key.clone());
                self.cancel(member);
                self.undue(member);
            }
            return Some(Slice { unit: key, members, complete: false });
        }
        None
    }

    /// A unit's run begins: what its members are checked against is as old as this.
    pub fn begins(&mut self, unit: &UnitKey, now: Instant) {
        if let Some(unit) = self.units.get_mut(unit) {
            unit.began = Some(now);
        }
    }

    /// A unit's run has ended; when its members are looked at again.
    pub fn finish(&mut self, unit: &UnitKey, again: Vec<(MemberId, Again)>, now: Instant) {
        let Some(state) = self.units.get_mut(unit) else { return };
        state.is_running = false;
        let ran = std::mem::take(&mut state.running);
        for member in &ran {
            self.running.remove(member);
        }
        let mut at_once = false;
        for (member, again) in again {
            at_once |= matches!(again, Again::Now(_));
            self.schedule(unit, member, again, now);
        }
        if is_batched(unit) {
            self.hold_off(unit, at_once, now);
        }
        self.queue_unit(unit, now, at_once);
        for member in &ran {
            self.free(member, now);
        }
        self.drop_idle(unit);
    }

    /// Takes a member that is not due into a unit's running slice, because its document is written as a whole. False
    /// when the member runs elsewhere.
    pub fn join(&mut self, slice: &mut Slice, member: &MemberId, now: Instant) -> bool {
        if self.running.contains_key(member) {
            return false;
        }
        let Some(unit) = self.units.get_mut(&slice.unit) else { return false };
        let was_due = unit.due.remove(member);
        unit.running.insert(member.clone());
        self.running.insert(member.clone(), slice.unit.clone());
        self.cancel(member);
        if was_due.is_some() {
            self.undue(member);
        }
        let due = was_due.unwrap_or(Due { class: Class::Drift, asked: now });
        slice.members.insert(member.clone(), due);
        true
    }

    /// A member of a slice belongs to another unit by now.
    pub fn moved(&mut self, from: &UnitKey, to: &UnitKey, member: MemberId, due: Due, now: Instant) {
        if let Some(unit) = self.units.get_mut(from) {
            unit.running.remove(&member);
        }
        self.running.remove(&member);
        self.add(to, member.clone(), due.class, due.asked);
        self.free(&member, now);
    }

    /// True while a member is due or runs.
    #[must_use]
    pub fn is_busy(&self, member: &MemberId) -> bool {
        self.running.contains_key(member) || self.members.get(member).is_some_and(|state| state.due > 0)
    }

    /// Takes a member out of a slice until the run of another has ended, which is due or runs.
    pub fn hold(&mut self, slice: &mut Slice, member: &MemberId, until: MemberId) {
        let (Some(due), Some(unit)) = (slice.members.remove(member), self.units.get_mut(&slice.unit)) else {
            return;
        };
        unit.running.remove(member);
        unit.held.insert(member.clone(), due);
        self.running.remove(member);
        self.members.entry(member.clone()).or_default().due += 1;
        self.blocked.entry(until).or_default().insert((slice.unit.clone(), member.clone()));
    }

    /// A member that does not run is looked at after this time, and not sooner by itself.
    pub fn later(&mut self, unit: &UnitKey, member: MemberId, after: Duration, class: Class, now: Instant) {
        self.schedule(unit, member, Again::After(after, class), now);
    }

    /// A member no longer exists.
    pub fn forget(&mut self, member: &MemberId, now: Instant) {
        self.cancel(member);
        self.members.remove(member);
        self.free(member, now);
        let object = UnitKey::Object(member.clone());
        if self.units.get(&object).is_none_or(|unit| !unit.is_running && unit.due.is_empty()) {
            self.schedules.remove(&object);
        }
    }

    /// How often a member has failed in a row.
    #[must_use]
    pub fn failures(&self, member: &MemberId) -> u32 {
        self.members.get(member).map_or(0, |state| state.failures)
    }

    /// A pause that differs from member to member and from try to try, by a tenth at most.
    #[must_use]
    pub fn spread(&self, pause: Duration, member: &MemberId, attempt: u64) -> Duration {
        jitter::spread(pause, BACKOFF_SPREAD, self.seed, &(member.kind, &member.key), attempt)
    }

    /// Units that could run now.
    #[must_use]
    pub fn ready(&self) -> usize {
        self.ready.len()
    }

    /// What it holds; counted anew, so for people and tests rather than for every event.
    #[must_use]
    pub fn depth(&self) -> Depth {
        let mut delayed = BTreeMap::new();
        for ((at, _), timer) in &self.timers {
            let why = match timer {
                Timer::Unit(_) => Why::HoldOff,
                Timer::Member(.., why) => *why,
            };
            // Timers are sorted: the first of each reason is the soonest.
            delayed.entry(why).or_insert((0, *at)).0 += 1;
        }
        let running = self.units.values().filter(|unit| unit.is_running).count();
        let held = self.units.values().map(|unit| unit.held.len()).sum();
        Depth { ready: self.ready.len(), running, held, delayed }
    }

    fn queue_unit(&mut self, key: &UnitKey, now: Instant, at_once: bool) {
        let Some(unit) = self.units.get_mut(key) else { return };
        let Some(class) = unit.due.values().map(|due| due.class).min() else { return };
        if unit.is_running {
            return;
        }
        if let Some(until) = unit.hold_until.filter(|until| *until > now)
            && !at_once
            && unit.due.len() < SLICE_FULL
        {
            if unit.hold_timer.is_none() {
                self.counter += 1;
                unit.hold_timer = Some((until, self.counter));
                self.timers.insert((until, self.counter), Timer::Unit(key.clone()));
            }
            return;
        }
        match unit.ready {
            Some((ready, _)) if ready <= class => {}
            place => {
                if let Some(place) = place {
                    self.ready.remove(&place);
                }
                self.counter += 1;
                unit.ready = Some((class, self.counter));
                self.ready.insert((class, self.counter), key.clone());
            }
        }
    }

    /// An idle unit starts at once; under load the next slice is collected for 1 s doubling to 10 s (design §3).
    fn hold_off(&mut self, unit: &UnitKey, at_once: bool, now: Instant) {
        let Some(state) = self.units.get_mut(unit) else { return };
        let under_load = !state.due.is_empty() && !at_once;
        let next = match state.hold_off {
            Some(last) if under_load => (last * 2).min(self.timings.hold_off_max),
            _ => self.timings.hold_off_first,
        };
        state.hold_off = Some(next);
        state.hold_until = Some(now + next);
    }

    fn schedule(&mut self, unit: &UnitKey, member: MemberId, again: Again, now: Instant) {
        let failures = match again {
            Again::Fault(_) => self.failures(&member).saturating_add(1),
            Again::Now(_) => self.failures(&member),
            _ => 0,
        };
        let (at, class, why) = match again {
            Again::Forget => return self.forget(&member, now),
            Again::Now(class) => {
                self.members.entry(member.clone()).or_default().failures = failures;
                self.add(unit, member, class, now);
                return;
            }
            Again::Unsettled(delay) => {
                let drift = self.schedule_of(unit, now).drift;
                (drift.unwrap_or(now + delay).min(now + delay), Class::Drift, Why::Drift)
            }
            Again::Settled => {
                let schedule = self.schedule_of(unit, now);
                match schedule.drift {
                    Some(drift) if drift <= schedule.resync => (drift, Class::Drift, Why::Drift),
                    _ => (schedule.resync, Class::Drift, Why::Resync),
                }
            }
            Again::Resync => (self.schedule_of(unit, now).resync, Class::Drift, Why::Resync),
            Again::OnChange => (now + self.timings.wait_poll, Class::Retry, Why::Wait),
            Again::After(delay, class) => (now + delay, class, Why::Wait),
            Again::Fault(not_before) => {
                (now + self.backoff(&member, failures, not_before), Class::Retry, Why::Retry)
            }
        };
        self.members.entry(member.clone()).or_default().failures = failures;
        let is_due = self.units.get(unit).is_some_and(|unit| unit.due.contains_key(&member));
        if !is_due {
            self.cancel(&member);
            self.counter += 1;
            self.timers.insert((at, self.counter), Timer::Member(member.clone(), unit.clone(), class, why));
            self.members.entry(member).or_default().timer = Some((at, self.counter));
        }
    }

    fn schedule_of(&mut self, unit: &UnitKey, now: Instant) -> Schedule {
        if self.schedules.len() > 2 * self.units.len() + self.members.len() + SCHEDULES_SLACK {
            self.schedules.sweep(now);
            let idle = |unit: &Unit| unit.due.is_empty() && unit.held.is_empty() && !unit.is_running;
            self.units.retain(|_, unit| !idle(unit) || unit.hold_until.is_some_and(|until| until > now));
        }
        let began = self.units.get(unit).and_then(|unit| unit.began).unwrap_or(now);
        self.schedules.of(unit, began, now)
    }

    fn backoff(&self, member: &MemberId, failures: u32, not_before: Option<Duration>) -> Duration {
        let Timings { backoff_first, backoff_max, .. } = self.timings;
        let pause = doubled(backoff_first, backoff_max, failures);
        let pause = self.spread(pause, member, failures.into());
        pause.min(backoff_max).max(not_before.unwrap_or_default())
    }

    /// Whoever waited for this member's run is due.
    fn free(&mut self, member: &MemberId, now: Instant) {
        for (key, held) in self.blocked.remove(member).into_iter().flatten() {
            let Some(unit) = self.units.get_mut(&key) else { continue };
            if let Some(due) = unit.held.remove(&held) {
                unit.due.insert(held, due);
                self.queue_unit(&key, now, true);
            }
        }
    }

    fn undue(&mut self, member: &MemberId) {
        if let Some(state) = self.members.get_mut(member) {
            state.due = state.due.saturating_sub(1);
        }
    }

    fn cancel(&mut self, member: &MemberId) {
        if let Some(timer) = self.members.get_mut(member).and_then(|state| state.timer.take()) {
            self.timers.remove(&timer);
        }
    }

    fn drop_idle(&mut self, key: &UnitKey) {
        // A batched unit is kept while its hold-off counts; it goes when that has passed unused.
        let Some(unit) = self.units.get(key) else { return };
        if unit.due.is_empty() && unit.held.is_empty() && !unit.is_running && !is_batched(key) {
            self.units.remove(key);
        }
    }
}

fn is_batched(unit: &UnitKey) -> bool {
    matches!(unit, UnitKey::Children { .. })
}

#[cfg(test)]
mod tests;
