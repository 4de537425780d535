//! What events, answers and refusals lead to, caches and queue together.

use std::time::Duration;

use serde_json::json;

use super::*;
use crate::object::{fingerprint, patched};
use crate::timings::Timings;

fn row() -> &'static Kind {
    kinds::kind("DNSRecord").unwrap()
}

fn record(name: &str, version: u64) -> Resource {
    serde_json::from_value(json!({
        "metadata": {"name": name, "namespace": "default", "uid": name, "resourceVersion": version.to_string()},
        "spec": {"zoneRef": {"name": "z"}, "name": name, "type": "A", "content": "192.0.2.1"},
    }))
    .unwrap()
}

fn member(name: &str) -> MemberId {
    MemberId::new(row(), Key::new("default", name))
}

/// Records that were looked at once.
fn shared(names: &[&str]) -> Shared {
    let mut cache = Cache::new(kinds::KINDS);
    for kind in kinds::KINDS {
        cache.listed(kind, &BTreeSet::new());
    }
    let shared = Shared::new(cache, Queue::new(Timings::default(), 0, None), Arc::default());
    for name in names {
        shared.lock().take(row(), &record(name, 1), Source::Watch);
    }
    run(&shared, Again::Resync);
    shared
}

/// Runs what is ready, whose passes all end so; who it was.
fn run(shared: &Shared, again: Again) -> Vec<String> {
    let mut state = shared.lock();
    let mut names = Vec::new();
    while let Some(slice) = state.queue.take() {
        names.extend(slice.members.keys().map(|member| member.key.name.clone()));
        let ended = slice.members.into_keys().map(|member| (member, again)).collect();
        state.queue.finish(&slice.unit, ended, Instant::now());
    }
    names
}

#[tokio::test(start_paused = true)]
async fn the_mark_of_a_failing_create_wakes_nobody_past_the_back_off() {
    let shared = shared(&["a"]);
    let now = Instant::now();
    shared.lock().queue.add(&UnitKey::Object(member("a")), member("a"), Class::User, now);
    let slice = shared.lock().queue.take().unwrap();
    let mark = json!({"metadata": {"annotations": {"kflare.dev/creating": "x"}, "resourceVersion": "2"}});
    let written = patched(&record("a", 1), &mark).unwrap();
    let expected = Some(fingerprint(&written));
    shared.writes(&member("a"), expected);
    shared.lock().take(row(), &written, Source::Watch);
    shared.wrote(row(), &written, expected);
    let ended = vec![(member("a"), Again::Fault(None))];
    shared.lock().queue.finish(&slice.unit, ended, now);
    assert!(run(&shared, Again::Resync).is_empty(), "only its back-off wakes it");
}

fn cred() -> CredId {
    CredId::new(&Key::new("default", "token"), "token")
}

const RECHECK: Again = Again::After(Duration::from_secs(600), Class::Drift);

fn refuse(shared: &Shared, names: &[&str]) {
    for name in names {
        shared.lock().token_heard(&member(name), Some(&cred()), Heard::Refused, RECHECK);
    }
}

#[tokio::test(start_paused = true)]
async fn those_who_wait_for_a_token_follow_whatever_the_one_that_tries_finds() {
    let shared = shared(&["a", "b", "c"]);
    refuse(&shared, &["a", "b", "c"]);
    assert!(run(&shared, Again::Resync).is_empty());
    // Its record exists already, and kflare may not adopt it: the token works all the same.
    shared.lock().token_heard(&member("a"), Some(&cred()), Heard::Accepted, Again::Resync);
    assert_eq!(run(&shared, Again::Resync), ["b", "c"]);
}

#[tokio::test(start_paused = true)]
async fn another_tries_when_the_one_that_tried_is_paused_or_deleted() {
    let shared = shared(&["a", "b", "c"]);
    refuse(&shared, &["a", "b", "c"]);
    shared.lock().token_heard(&member("a"), None, Heard::Nothing, Again::Settled);
    assert_eq!(run(&shared, Again::Resync), ["b"]);
    shared.lock().take_deletion(row(), &Key::new("default", "b"), None);
    let tried = shared.lock().token_heard(&member("c"), Some(&cred()), Heard::Refused, RECHECK);
    assert!(matches!(tried, Again::After(..)), "{tried:?}");
}

#[tokio::test(start_paused = true)]
async fn a_refused_token_is_tried_every_ten_minutes_more_or_less() {
    let shared = shared(&["a", "b"]);
    let mut pauses = BTreeSet::new();
    for _ in 0..20 {
        let again = shared.lock().token_heard(&member("a"), Some(&cred()), Heard::Refused, RECHECK);
        let Again::After(pause, Class::Drift) = again else { panic!("{again:?}") };
        assert!((540..=660).contains(&pause.as_secs()), "{pause:?}");
        pauses.insert(pause);
    }
    assert!(pauses.len() > 10, "they vary: {pauses:?}");
    let follows = shared.lock().token_heard(&member("b"), Some(&cred()), Heard::Refused, RECHECK);
    assert_eq!(follows, Again::Resync);
}

#[tokio::test(start_paused = true)]
async fn no_answer_at_all_changes_nothing_for_those_who_wait() {
    let shared = shared(&["a", "b"]);
    refuse(&shared, &["a", "b"]);
    let fault = Again::Fault(None);
    assert_eq!(shared.lock().token_heard(&member("a"), Some(&cred()), Heard::Open, fault), fault);
    assert!(run(&shared, Again::Resync).is_empty());
}
