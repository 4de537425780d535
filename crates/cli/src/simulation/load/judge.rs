//! What stands when a weather is over: at Cloudflare, in the operator, in memory. What it took is counted here, too.

use std::collections::{BTreeSet, VecDeque};

use cf_api::limits::RATE_WINDOW;
use jiff::{SignedDuration, Timestamp};
use sandbox::cloudflare::{ChangeKind, ObjectKind};

use super::{Calm, DOMAIN, EDITED, KIND, Load, content};

/// Units beside the records that may wait with a timer: the account, the zone, and what reads them.
const OTHER_UNITS: usize = 8;

/// What may stand in memory after a weather beyond what stood after the first, in percent. All objects are there by then, and
/// what comes to them is written in their place: a run of ten thousand ends with less than it had. An allocator that keeps
/// what was freed may have some tens of MiB more; what grows by record and weather would have far more.
const GROWTH_MAX: u64 = 25;

impl Load<'_> {
    /// What Cloudflare has that no spec says, and the other way round.
    pub(super) fn lost(&self, version: usize) -> Vec<String> {
        let text = |field: &serde_json::Value| field.as_str().unwrap_or_default().to_owned();
        let records = self.world.cloudflare.records(&self.zone);
        let stand = records.iter().map(|record| (text(&record["name"]), text(&record["content"])));
        let wanted = (0..self.count).map(|n| {
            let version = if n.is_multiple_of(EDITED) { version } else { 0 };
            (format!("h{n}.{DOMAIN}"), content(n, version))
        });
        let mut lost = differences(stand.collect(), wanted.collect());
        if records.len() != self.count {
            lost.push(format!("{} records stand for {}", records.len(), self.count));
        }
        lost
    }

    /// What the operator holds is counted by objects and units, not by what happened to them.
    pub(super) fn unbounded(&self) -> Option<String> {
        let Some(operator) = self.world.operator() else { return Some("the operator has ended".to_owned()) };
        let held = operator.shared().lock().cache.all(KIND).count();
        let activity = operator.activity();
        // At most one timer for each object and each unit.
        let timers: usize = activity.delayed.values().map(|(timers, _)| timers).sum();
        let is_idle = (activity.ready, activity.running, activity.held) == (0, 0, 0);
        let is_bounded = held == self.count && is_idle && timers <= self.count + OTHER_UNITS;
        (!is_bounded).then(|| format!("{held} records in the cache, {activity:?}"))
    }

    /// How often this happened to records at Cloudflare.
    pub(super) fn changes(&self, kind: ChangeKind) -> usize {
        let history = self.world.cloudflare.history();
        history.iter().filter(|change| change.object == ObjectKind::DnsRecord && change.kind == kind).count()
    }

    /// Counts what was asked since the last time, and forgets it: else the memory of the worlds would grow with it. Before
    /// it nothing was asked for longer than a window of Cloudflare's limit.
    pub(super) fn count_requests(&mut self) {
        let (cloudflare, kubernetes) = (self.world.cloudflare.log(), self.world.kubernetes.log());
        let asked = cloudflare.lines().into_iter().map(|line| line.at);
        self.run.most_calls = self.run.most_calls.max(most_in_a_window(asked));
        self.run.calls += cloudflare.total();
        self.run.requests += kubernetes.total();
        cloudflare.reset();
        kubernetes.reset();
    }
}

/// How many of each differ, with the first of them.
fn differences(stand: BTreeSet<(String, String)>, wanted: BTreeSet<(String, String)>) -> Vec<String> {
    let sides =
        [(&stand, &wanted, "stand and are not wanted"), (&wanted, &stand, "are wanted and do not stand")];
    let told = sides.into_iter().filter_map(|(these, others, words)| {
        let mut differing = these.difference(others);
        let (name, content) = differing.next()?;
        Some(format!("{} {words}, first {name} {content}", differing.count() + 1))
    });
    told.collect()
}

/// The most of these, which come in order, in any window of Cloudflare's limit.
fn most_in_a_window(asked: impl Iterator<Item = Timestamp>) -> usize {
    let span = SignedDuration::try_from(RATE_WINDOW).unwrap_or(SignedDuration::MAX);
    let (mut window, mut most) = (VecDeque::new(), 0);
    for at in asked {
        window.push_back(at);
        while window.front().is_some_and(|first| at.duration_since(*first) >= span) {
            window.pop_front();
        }
        most = most.max(window.len());
    }
    most
}

/// What stands in memory after a weather and did not after the first.
pub(super) fn grown(calms: &[Calm]) -> Vec<String> {
    let at_rest = |calm: &Calm| calm.memory.map(|memory| (calm.weather, memory.now));
    let mut all = calms.iter().filter_map(at_rest);
    let Some((_, first)) = all.next() else { return Vec::new() };
    let too_much = all.filter(|(_, now)| *now * 100 > first * (100 + GROWTH_MAX));
    too_much
        .map(|(weather, now)| {
            format!(
                "{weather}: {now} KiB stand in memory, more than {GROWTH_MAX} % beyond the first {first} KiB"
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::usage::Usage;

    fn calm(weather: &'static str, now: Option<u64>) -> Calm {
        let memory = now.map(|now| Usage { now, ..Usage::default() });
        Calm { weather, waiting: 0, after: None, memory }
    }

    #[test]
    fn memory_that_grows_from_weather_to_weather_is_told() {
        let calms = |rests: [u64; 3]| {
            ["drizzle", "block", "outage"]
                .into_iter()
                .zip(rests)
                .map(|(weather, now)| calm(weather, Some(now)))
                .collect::<Vec<_>>()
        };
        assert_eq!(grown(&calms([100_000, 100_000 + GROWTH_MAX * 1_000, 90_000])), [""; 0]);
        let told = grown(&calms([100_000, 100_000, 100_001 + GROWTH_MAX * 1_000]));
        assert_eq!(told.len(), 1);
        assert!(told[0].starts_with("outage: "), "{told:?}");
        // Where the system does not tell.
        assert_eq!(grown(&[calm("drizzle", None), calm("block", None)]), [""; 0]);
    }

    #[test]
    fn calls_are_counted_in_any_window_whatever_it_begins_with() {
        let window = RATE_WINDOW.as_secs();
        let at = |seconds: u64| Timestamp::UNIX_EPOCH + Duration::from_secs(seconds);
        let most = |times: &[u64]| most_in_a_window(times.iter().map(|seconds| at(*seconds)));
        assert_eq!(most(&[]), 0);
        assert_eq!(most(&[0, window]), 1);
        assert_eq!(most(&[0, 10, window - 1, window + 5, window + 9, window + 10]), 4);
    }

    #[test]
    fn what_stands_and_what_is_wanted_are_told_apart() {
        let of = |all: &[(&str, &str)]| {
            all.iter().map(|(name, content)| ((*name).to_owned(), (*content).to_owned())).collect()
        };
        let told = differences(of(&[("a", "1"), ("b", "1"), ("c", "1")]), of(&[("a", "1"), ("b", "2")]));
        assert_eq!(
            told,
            ["2 stand and are not wanted, first b 1", "1 are wanted and do not stand, first b 2"]
        );
    }
}
