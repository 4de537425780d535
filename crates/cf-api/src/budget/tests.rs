use super::{Budget, Class, Decision, sustainable_drift};
use crate::envelope::RateLimit;
use crate::limits::{
    BUDGET_CAPACITY, BUDGET_START, DRIFT_LEAVES, OWN_LIMIT, RATE_LIMIT, RATE_WINDOW, RATELIMIT_RESET_MAX,
    REMOTE_DRIFT_LEAVES, REMOTE_RETRY_LEAVES, REMOTE_USER_LEAVES, RETRY_AFTER_MAX, RETRY_LEAVES,
};
use std::collections::VecDeque;
use std::time::Duration;

const CLASSES: [Class; 3] = [Class::User, Class::Retry, Class::Drift];

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn said(remaining: u64, reset: u64) -> Option<RateLimit> {
    Some(RateLimit { remaining, reset: secs(reset) })
}

/// A budget that a fresh server has answered, full and at rest.
fn full() -> Budget {
    let mut budget = Budget::new(Duration::ZERO);
    budget.answered(said(RATE_LIMIT, 0), Duration::ZERO);
    assert_eq!(budget.left(Duration::ZERO), BUDGET_CAPACITY);
    budget
}

/// How many calls of a class go at once.
fn burst(budget: &mut Budget, class: Class, now: Duration) -> u64 {
    (0..).take_while(|_| budget.ask(class, now) == Decision::Go).count() as u64
}

/// A small generator, the same in every run.
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// The calls of the last window, as Cloudflare might count them.
#[derive(Default)]
struct Window(VecDeque<Duration>);

impl Window {
    /// Adds a call; how many there are now.
    fn add(&mut self, now: Duration) -> u64 {
        self.0.push_back(now);
        self.count(now)
    }

    fn count(&mut self, now: Duration) -> u64 {
        while self.0.front().is_some_and(|first| *first + RATE_WINDOW < now) {
            self.0.pop_front();
        }
        self.0.len() as u64
    }

    fn header(&mut self, now: Duration) -> Option<RateLimit> {
        let used = self.count(now);
        let reset = self.0.front().map_or(Duration::ZERO, |first| *first + RATE_WINDOW - now);
        Some(RateLimit { remaining: RATE_LIMIT.saturating_sub(used), reset })
    }
}

#[test]
fn random_asks_never_exceed_our_own_limit_in_any_window() {
    for seed in 0..20 {
        let mut random = Lcg(seed);
        let mut budget = Budget::new(Duration::ZERO);
        let mut window = Window::default();
        let mut now = Duration::ZERO;
        for _ in 0..20_000 {
            // Bursts, a steady stream, and now and then a rest in which the budget fills up.
            now += match random.below(1_000) {
                0 => secs(random.below(400)),
                1..200 => Duration::from_millis(random.below(1_500)),
                _ => Duration::ZERO,
            };
            let class = CLASSES[random.below(3) as usize];
            if budget.ask(class, now) == Decision::Go {
                assert!(window.add(now) <= OWN_LIMIT, "seed {seed} at {now:?}");
            }
            match random.below(50) {
                0 => budget.answered(window.header(now), now),
                1 => budget.answered(said(RATE_LIMIT, random.below(300)), now),
                _ => {}
            }
        }
        assert!(budget.spent() > OWN_LIMIT, "seed {seed} tried too little");
    }
}

/// Takes every call that may go, ten times a second for two windows; the most that fell into one window.
fn greedy(budget: &mut Budget, window: &mut Window, from: Duration) -> u64 {
    let ticks = (0..6_000).map(|tick| from + Duration::from_millis(tick * 100));
    let mut most = 0;
    for now in ticks {
        while budget.ask(Class::User, now) == Decision::Go {
            most = most.max(window.add(now));
        }
    }
    most
}

#[test]
fn the_greediest_user_reaches_our_own_limit_and_no_more() {
    let rested = secs(10_000);
    assert_eq!(greedy(&mut full(), &mut Window::default(), rested), OWN_LIMIT);

    // The first header is older than the calls that went meanwhile.
    let mut starting = Budget::new(Duration::ZERO);
    let mut window = Window::default();
    for _ in 0..BUDGET_START {
        assert_eq!(starting.ask(Class::User, Duration::ZERO), Decision::Go);
        window.add(Duration::ZERO);
    }
    starting.answered(said(RATE_LIMIT, 0), Duration::ZERO);
    assert_eq!(greedy(&mut starting, &mut window, Duration::ZERO), OWN_LIMIT);
}

#[test]
fn restarts_and_other_programs_keep_within_cloudflares_limit() {
    for seed in 0..20 {
        let mut random = Lcg(seed);
        let mut budget = Budget::new(Duration::ZERO);
        let mut window = Window::default();
        let mut now = Duration::ZERO;
        let mut restarted = false;
        for _ in 0..20_000 {
            now += Duration::from_millis(random.below(200));
            if budget.ask(Class::User, now) == Decision::Go {
                assert!(window.add(now) <= RATE_LIMIT, "seed {seed} at {now:?}");
                budget.answered(window.header(now), now);
            }
            // One restart, when the first process has spent all it may.
            if !restarted && now > secs(290) && window.count(now) > OWN_LIMIT - 100 {
                restarted = true;
                budget = Budget::new(now);
            }
            // Someone at the dashboard, who stops when Cloudflare's limit is near.
            if random.below(40) == 0 && window.count(now) < RATE_LIMIT - REMOTE_USER_LEAVES {
                window.add(now);
            }
        }
        assert!(restarted, "seed {seed} tried too little");
    }
}

#[test]
fn a_restart_without_any_header_keeps_within_cloudflares_limit() {
    let mut window = Window::default();
    let mut budget = full();
    for tenth in 0..7_000 {
        let now = Duration::from_millis(tenth * 100);
        if tenth == 3_000 {
            budget = Budget::new(now);
        }
        while budget.ask(Class::User, now) == Decision::Go {
            assert!(window.add(now) <= RATE_LIMIT, "at {now:?}");
        }
    }
}

#[test]
fn users_go_first() {
    let mut budget = full();
    assert_eq!(burst(&mut budget, Class::Drift, Duration::ZERO), BUDGET_CAPACITY - DRIFT_LEAVES);
    assert_eq!(burst(&mut budget, Class::Retry, Duration::ZERO), DRIFT_LEAVES - RETRY_LEAVES);
    assert_eq!(burst(&mut budget, Class::User, Duration::ZERO), RETRY_LEAVES);
    assert_eq!(burst(&mut budget, Class::User, Duration::ZERO), 0);
    // While users take all that is gained, a sweep gets nothing.
    for second in 1..600 {
        burst(&mut budget, Class::User, secs(second));
        assert_ne!(budget.ask(Class::Drift, secs(second)), Decision::Go);
    }
    assert!(CLASSES.is_sorted());
}

#[test]
fn who_waits_is_told_when_it_is_enough() {
    for class in CLASSES {
        let mut budget = full();
        burst(&mut budget, Class::User, Duration::ZERO);
        let Decision::WaitUntil(when) = budget.ask(class, Duration::ZERO) else { panic!("went") };
        assert!(when > Duration::ZERO);
        let early = when - Duration::from_nanos(2);
        assert_ne!(budget.clone().ask(class, early), Decision::Go, "{class:?}");
        assert_eq!(budget.ask(class, when), Decision::Go, "{class:?}");
    }
}

#[test]
fn the_first_header_grants_what_an_earlier_process_left() {
    let start = |header| {
        let mut budget = Budget::new(Duration::ZERO);
        assert_eq!(budget.ask(Class::Drift, Duration::ZERO), Decision::Go);
        budget.answered(header, Duration::ZERO);
        budget.left(Duration::ZERO)
    };
    let table = [
        ("nobody called", said(RATE_LIMIT - 1, 300), BUDGET_CAPACITY - 1),
        ("some called", said(RATE_LIMIT - 101, 300), BUDGET_CAPACITY - 101),
        ("many called", said(500, 300), BUDGET_START - 1),
        ("nearly all called", said(20, 300), 20 - REMOTE_USER_LEAVES),
        ("no header", None, BUDGET_START - 1),
    ];
    for (situation, header, left) in table {
        assert_eq!(start(header), left, "{situation}");
    }
    let mut later = full();
    burst(&mut later, Class::User, Duration::ZERO);
    later.answered(said(RATE_LIMIT, 300), Duration::ZERO);
    assert_eq!(later.left(Duration::ZERO), 0, "only the first header grants anything");
}

#[test]
fn what_cloudflare_says_remains_counts_until_its_reset() {
    let leaves = [
        (Class::User, REMOTE_USER_LEAVES),
        (Class::Retry, REMOTE_RETRY_LEAVES),
        (Class::Drift, REMOTE_DRIFT_LEAVES),
    ];
    for (class, leaves) in leaves {
        let mut budget = full();
        budget.answered(said(50, 30), secs(1));
        assert_eq!(burst(&mut budget, class, secs(1)), 50 - leaves, "{class:?}");
        assert_eq!(budget.ask(class, secs(2)), Decision::WaitUntil(secs(31)), "{class:?}");
        // An answer that was overtaken tells more than is left.
        budget.answered(said(49, 250), secs(2));
        assert_eq!(budget.ask(class, secs(2)), Decision::WaitUntil(secs(31)), "{class:?}");
        assert_eq!(budget.ask(class, secs(31)), Decision::Go, "{class:?}");
    }
}

#[test]
fn the_lower_of_two_numbers_brings_its_own_reset() {
    let mut budget = full();
    budget.answered(said(6, 5), secs(1));
    budget.answered(said(0, 200), secs(2));
    assert_eq!(budget.ask(Class::User, secs(10)), Decision::WaitUntil(secs(202)));
}

#[test]
fn a_reset_beyond_all_bounds_is_not_believed() {
    let mut budget = full();
    budget.answered(Some(RateLimit { remaining: 0, reset: Duration::MAX }), secs(2));
    assert_eq!(budget.ask(Class::User, secs(10)), Decision::WaitUntil(secs(2) + RATELIMIT_RESET_MAX));
}

#[test]
fn a_429_closes_the_gate_for_everybody_and_opens_without_a_storm() {
    let table = [
        ("with Retry-After", Some(secs(90)), secs(100)),
        ("without", None, secs(310)),
        ("for ever", Some(Duration::MAX), secs(10) + RETRY_AFTER_MAX),
    ];
    for (situation, retry_after, opens) in table {
        let mut budget = full();
        budget.too_many(retry_after, secs(10));
        budget.answered(said(RATE_LIMIT, 1), secs(11));
        for class in CLASSES {
            assert_eq!(budget.ask(class, secs(10)), Decision::WaitUntil(opens), "{situation}");
            let before = opens - Duration::from_nanos(1);
            assert_eq!(budget.ask(class, before), Decision::WaitUntil(opens), "{situation}");
        }
        assert_eq!(budget.left(secs(12)), 0, "{situation}");
        assert_ne!(budget.ask(Class::Drift, opens), Decision::Go, "{situation}");
        assert_eq!(burst(&mut budget, Class::User, opens), BUDGET_START, "{situation}");
    }
}

#[test]
fn a_later_429_never_opens_the_gate_earlier() {
    let mut budget = full();
    budget.too_many(Some(secs(300)), secs(0));
    budget.too_many(Some(secs(5)), secs(1));
    assert_eq!(budget.ask(Class::User, secs(10)), Decision::WaitUntil(secs(300)));
}

#[test]
fn time_that_runs_backwards_gains_nothing() {
    let mut budget = full();
    burst(&mut budget, Class::User, secs(100));
    assert_ne!(budget.ask(Class::User, secs(50)), Decision::Go);
    assert_ne!(budget.ask(Class::User, secs(100)), Decision::Go);
    assert_eq!(budget.ask(Class::User, secs(101)), Decision::Go);
}

#[test]
fn k17_the_interval_that_can_be_held_is_told() {
    let table = [
        ("nothing to check", 0, Duration::ZERO),
        ("one list", 1, Duration::from_millis(715)),
        ("a thousand zones", 1_000, Duration::from_millis(714_286)),
        ("84 calls a minute", 84, secs(60)),
    ];
    for (situation, calls, interval) in table {
        assert_eq!(sustainable_drift(calls), interval, "{situation}");
    }
    assert!(sustainable_drift(u64::MAX) > secs(1_000_000));
}
