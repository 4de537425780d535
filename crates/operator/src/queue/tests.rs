//! The queue's guarantees, on instants that never pass by themselves.

use super::*;
use kinds::Key;

const ZONE: &str = "z1";

fn record(name: &str) -> MemberId {
    MemberId { kind: "DNSRecord", key: Key::new("default", name) }
}

fn alone(name: &str) -> UnitKey {
    UnitKey::Object(record(name))
}

fn zone() -> UnitKey {
    UnitKey::Children { kind: "DNSRecord", parent: ZONE.to_owned() }
}

fn queue() -> Queue {
    Queue::new(Timings::default(), 7, None)
}

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn names(slice: Option<Slice>) -> Vec<String> {
    slice.into_iter().flat_map(|slice| slice.members.into_keys()).map(|member| member.key.name).collect()
}

/// Takes a unit, which must be ready, and ends its run.
fn run(queue: &mut Queue, unit: &UnitKey, again: Again, now: Instant) -> Vec<String> {
    let slice = queue.take().unwrap();
    assert_eq!(slice.unit, *unit);
    let ended = slice.members.keys().map(|member| (member.clone(), again)).collect();
    queue.finish(unit, ended, now);
    names(Some(slice))
}

#[test]
fn what_becomes_due_during_a_run_leads_to_exactly_one_more() {
    let (mut queue, now) = (queue(), Instant::now());
    let unit = alone("a");
    assert!(queue.add(&unit, record("a"), Class::User, now));
    let slice = queue.take().unwrap();
    for _ in 0..50 {
        queue.add(&unit, record("a"), Class::User, now);
    }
    assert_eq!(queue.take(), None, "it runs");
    let ended = slice.members.into_keys().map(|member| (member, Again::Settled)).collect();
    queue.finish(&unit, ended, now);
    assert_eq!(run(&mut queue, &unit, Again::Settled, now), ["a"]);
    assert_eq!(queue.take(), None);
}

#[test]
fn units_run_in_the_order_of_their_class_then_of_their_coming() {
    let (mut queue, now) = (queue(), Instant::now());
    for (name, class) in [
        ("a", Class::Drift),
        ("b", Class::User),
        ("c", Class::Retry),
        ("d", Class::User),
        ("e", Class::Drift),
    ] {
        queue.add(&alone(name), record(name), class, now);
    }
    // An edit of what waits for a drift check.
    queue.add(&alone("e"), record("e"), Class::User, now);
    let order: Vec<String> = (0..5).flat_map(|_| names(queue.take())).collect();
    assert_eq!(order, ["b", "d", "e", "c", "a"]);
}

#[test]
fn back_off_doubles_to_five_minutes_and_is_reset_by_success() {
    let (mut queue, mut now) = (queue(), Instant::now());
    let unit = alone("a");
    queue.add(&unit, record("a"), Class::User, now);
    for wanted in [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300] {
        run(&mut queue, &unit, Again::Fault(None), now);
        let pause = queue.next_deadline().unwrap() - now;
        let (low, high) = (secs(wanted).mul_f64(0.89), secs(wanted).mul_f64(1.11).min(secs(300)));
        assert!(pause >= low && pause <= high, "{pause:?} instead of {wanted} s");
        now += pause;
        queue.advance(now);
    }
    run(&mut queue, &unit, Again::OnChange, now);
    assert_eq!(queue.failures(&record("a")), 0);
    assert_eq!(queue.next_deadline(), Some(now + secs(60)), "the safety poll");
}

#[test]
fn retry_after_is_honoured_and_an_event_does_not_wait_for_it() {
    let (mut queue, now) = (queue(), Instant::now());
    let unit = alone("a");
    queue.add(&unit, record("a"), Class::User, now);
    run(&mut queue, &unit, Again::Fault(Some(secs(90))), now);
    assert_eq!(queue.next_deadline(), Some(now + secs(90)));
    queue.add(&unit, record("a"), Class::User, now);
    assert_eq!(run(&mut queue, &unit, Again::Settled, now), ["a"]);
    assert!(!queue.depth().delayed.contains_key(&Why::Retry), "the pass took the place of the retry");
}

#[test]
fn a_batched_unit_starts_at_once_and_then_collects() {
    let (mut queue, mut now) = (queue(), Instant::now());
    queue.add(&zone(), record("a"), Class::User, now);
    assert_eq!(names(queue.take()), ["a"], "an idle unit starts at once");
    for wanted in [1, 2, 4, 8, 10, 10] {
        queue.add(&zone(), record("b"), Class::User, now);
        queue.finish(&zone(), vec![(record("a"), Again::Settled)], now);
        assert_eq!(queue.take(), None);
        assert_eq!(queue.depth().delayed[&Why::HoldOff], (1, now + secs(wanted)), "it grows under load");
        now += secs(wanted);
        queue.advance(now);
        assert_eq!(names(queue.take()), ["b"]);
    }
    queue.finish(&zone(), vec![(record("b"), Again::Settled)], now);
    queue.add(&zone(), record("c"), Class::User, now);
    assert_eq!(queue.depth().delayed[&Why::HoldOff], (1, now + secs(1)), "it starts anew after a quiet end");
    for n in 1..SLICE_FULL {
        queue.add(&zone(), record(&n.to_string()), Class::User, now);
    }
    assert_eq!(names(queue.take()).len(), SLICE_FULL, "a full slice does not wait");
}

#[test]
fn what_is_deferred_and_what_is_old_does_not_wait_for_the_hold_off() {
    let (mut queue, mut now) = (queue(), Instant::now());
    queue.add(&zone(), record("a"), Class::User, now);
    run(&mut queue, &zone(), Again::Now(Class::User), now);
    assert_eq!(run(&mut queue, &zone(), Again::Settled, now), ["a"]);
    now += secs(2);
    queue.add(&zone(), record("a"), Class::User, now);
    assert_eq!(names(queue.take()), ["a"], "the hold-off has passed unused");
}

#[test]
fn a_unit_is_checked_once_for_all_its_members_and_in_time() {
    let interval = secs(3_600);
    let (mut queue, now) = (Queue::new(Timings::default(), 7, Some(interval)), Instant::now());
    for second in 0..100 {
        let later = now + secs(second);
        queue.add(&zone(), record(&second.to_string()), Class::User, later);
        queue.advance(later);
        while let Some(slice) = queue.take() {
            let ended = slice.members.into_keys().map(|member| (member, Again::Settled)).collect();
            queue.finish(&zone(), ended, later);
        }
    }
    queue.advance(now + secs(120));
    while let Some(slice) = queue.take() {
        let ended = slice.members.into_keys().map(|member| (member, Again::Settled)).collect();
        queue.finish(&zone(), ended, now + secs(120));
    }
    let (count, soonest) = queue.depth().delayed[&Why::Drift];
    assert_eq!(count, 100);
    assert!(soonest <= now + interval.mul_f64(1.1), "within 1.1 intervals of the first check");
    queue.advance(soonest);
    let slice = queue.take().unwrap();
    assert_eq!(slice.members.len(), 100, "one run for all");
    assert!(slice.members.values().all(|due| due.class == Class::Drift));
}

#[test]
fn a_member_never_runs_in_two_units() {
    let (mut queue, now) = (queue(), Instant::now());
    queue.add(&alone("a"), record("a"), Class::User, now);
    let first = queue.take().unwrap();
    // Its zone got an ID meanwhile: from now on it belongs to another unit.
    queue.add(&zone(), record("a"), Class::User, now);
    assert_eq!(queue.take(), None);
    assert_eq!(queue.depth().held, 1);
    queue.finish(&first.unit, vec![(record("a"), Again::Settled)], now);
    assert_eq!(run(&mut queue, &zone(), Again::Settled, now), ["a"]);
}

#[test]
fn a_child_waits_for_the_run_of_its_parent_and_for_no_longer() {
    let (mut queue, now) = (queue(), Instant::now());
    queue.add(&alone("child"), record("child"), Class::User, now);
    queue.add(&alone("parent"), record("parent"), Class::User, now);
    let mut slice = queue.take().unwrap();
    assert!(queue.is_busy(&record("parent")));
    queue.hold(&mut slice, &record("child"), record("parent"));
    assert!(slice.members.is_empty());
    queue.finish(&slice.unit, Vec::new(), now);
    assert!(queue.is_busy(&record("child")), "its own children wait, too");
    assert_eq!(run(&mut queue, &alone("parent"), Again::Settled, now), ["parent"]);
    assert!(!queue.is_busy(&record("parent")));
    assert_eq!(run(&mut queue, &alone("child"), Again::Settled, now), ["child"]);
    assert!(!queue.is_busy(&record("child")));
}

#[test]
fn a_parent_that_vanishes_lets_its_children_go() {
    let (mut queue, now) = (queue(), Instant::now());
    queue.add(&alone("child"), record("child"), Class::User, now);
    let mut slice = queue.take().unwrap();
    queue.hold(&mut slice, &record("child"), record("parent"));
    queue.finish(&slice.unit, Vec::new(), now);
    queue.forget(&record("parent"), now);
    assert_eq!(run(&mut queue, &alone("child"), Again::Settled, now), ["child"]);
}

#[test]
fn a_member_that_moved_keeps_its_place_in_time() {
    let (mut queue, now) = (queue(), Instant::now());
    queue.add(&alone("a"), record("a"), Class::Retry, now);
    let mut slice = queue.take().unwrap();
    let due = slice.members.remove(&record("a")).unwrap();
    queue.moved(&slice.unit, &zone(), record("a"), due, now + secs(1));
    queue.finish(&slice.unit, Vec::new(), now + secs(1));
    assert_eq!(queue.take().unwrap().members[&record("a")], due);
}

#[test]
fn what_is_gone_leaves_nothing_behind() {
    let (mut queue, now) = (queue(), Instant::now());
    for n in 0..10 {
        let name = n.to_string();
        queue.add(&alone(&name), record(&name), Class::User, now);
        run(&mut queue, &alone(&name), Again::Settled, now);
        queue.forget(&record(&name), now);
    }
    assert_eq!(queue.depth(), Depth::default());
    assert!(queue.units.is_empty() && queue.members.is_empty() && queue.schedules.len() == 0);
}

#[test]
fn an_object_is_checked_at_most_one_and_a_tenth_intervals_after_its_last_check() {
    let interval = secs(600);
    let start = Instant::now();
    let mut queue = Queue::new(Timings::default(), 7, Some(interval));
    let mut checked: BTreeMap<String, Instant> = BTreeMap::new();
    let mut now = start;
    for name in ["a", "b"] {
        queue.add(&zone(), record(name), Class::User, now);
    }
    let mut intervals = BTreeSet::new();
    for round in 0..200_u32 {
        queue.advance(now);
        while let Some(slice) = queue.take() {
            queue.begins(&slice.unit, now);
            for member in slice.members.keys() {
                if let Some(last) = checked.insert(member.key.name.clone(), now) {
                    assert!(now - last <= interval.mul_f64(1.1), "{member}: {:?}", now - last);
                    intervals.insert(now - last);
                }
            }
            // A run takes a while: what it read is as old as its beginning.
            now += secs(u64::from(round % 5) * 20);
            let ended = slice.members.into_keys().map(|member| (member, Again::Settled)).collect();
            queue.finish(&slice.unit, ended, now);
            queue.advance(now);
        }
        if round % 7 == 3 {
            // An edit of one of them in between.
            now += secs(50);
            queue.add(&zone(), record("a"), Class::User, now);
        }
        now = queue.next_deadline().unwrap_or(now).max(now);
    }
    assert!(intervals.len() > 20, "they vary: {intervals:?}");
}
