//! What the caches promise: nothing old wins, our own writes are no news, and what is not known is not absent.

use serde_json::{Value, json};

use super::*;
use crate::object::{fingerprint, patched};

fn row(name: &str) -> &'static Kind {
    kinds::kind(name).unwrap()
}

fn resource(value: Value) -> Resource {
    serde_json::from_value(value).unwrap()
}

fn zone(version: u64) -> Resource {
    resource(json!({
        "metadata": {"name": "z", "namespace": "default", "uid": "u1", "resourceVersion": version.to_string(),
            "generation": 1},
        "spec": {"name": "example.com", "accountRef": {"name": "main"}},
    }))
}

fn record(name: &str, id: Option<&str>) -> Resource {
    let labels = id.map_or(json!({}), |id| json!({"kflare.dev/record-id": id}));
    resource(json!({
        "metadata": {"name": name, "namespace": "default", "uid": name, "resourceVersion": "1", "labels": labels},
        "spec": {"zoneRef": {"name": "z"}, "name": name, "type": "A", "content": "192.0.2.1"},
    }))
}

fn key(name: &str) -> Key {
    Key::new("default", name)
}

fn cache() -> Cache {
    let mut cache = Cache::new(kinds::KINDS);
    for kind in kinds::KINDS {
        cache.listed(kind, &BTreeSet::new());
    }
    cache
}

#[test]
fn what_was_never_listed_is_unknown_and_not_missing() {
    let mut cache = Cache::new(kinds::KINDS);
    assert!(matches!(cache.get("Zone", &key("z")), Lookup::Unknown(_)));
    assert!(!cache.is_ready_for("Zone"));
    cache.listed(row("Zone"), &BTreeSet::new());
    assert_eq!(cache.get("Zone", &key("z")), Lookup::Missing);
}

#[test]
fn a_list_tells_what_was_deleted_while_the_watch_was_down() {
    let mut cache = cache();
    for name in ["a", "b"] {
        cache.apply(row("DNSRecord"), &record(name, None), Source::Watch).unwrap();
    }
    let gone = cache.listed(row("DNSRecord"), &BTreeSet::from([key("b")]));
    assert_eq!(gone.len(), 1);
    assert_eq!(gone[0].member.key, key("a"));
    assert_eq!(gone[0].after, None);
    assert_eq!(cache.children("Zone", &key("z")).count(), 1);
}

#[test]
fn an_old_event_never_wins_but_a_list_is_believed() {
    let mut cache = cache();
    cache.apply(row("Zone"), &zone(20), Source::Watch).unwrap();
    assert_eq!(cache.apply(row("Zone"), &zone(19), Source::Watch), None);
    assert_eq!(cache.apply(row("Zone"), &zone(20), Source::List), None);
    // An etcd restored from a backup counts from an earlier version.
    cache.list_begins(row("Zone"));
    assert!(cache.apply(row("Zone"), &zone(10), Source::List).is_some());
}

#[test]
fn a_deletion_of_an_earlier_object_of_the_name_is_old_news() {
    let mut cache = cache();
    cache.apply(row("Zone"), &zone(20), Source::Watch).unwrap();
    assert_eq!(cache.delete(row("Zone"), &key("z"), Some("u0")), None);
    assert!(cache.delete(row("Zone"), &key("z"), Some("u1")).is_some());
}

/// Writes `patch` as the operator does, with an answer that holds it and what `others` wrote meanwhile.
fn own_write(cache: &mut Cache, patch: &Value, others: &Value) -> Change {
    let base = zone(20);
    let expected = patched(&base, patch).as_ref().map(fingerprint);
    let mut answer = patched(&patched(&base, patch).unwrap(), others).unwrap();
    answer.metadata.resource_version = "22".to_owned();
    let change = cache.apply(row("Zone"), &answer, Source::Own(expected)).unwrap();
    assert_eq!(cache.apply(row("Zone"), &answer, Source::Watch), None, "the echo is no news");
    change
}

#[test]
fn our_own_write_is_no_news_to_the_object_but_to_its_children() {
    let label = json!({"metadata": {"labels": {"kflare.dev/zone-id": "0123"}}});
    let ready = json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}});
    let mark = json!({"metadata": {"finalizers": ["kflare.dev/finalizer"]}});
    let plan = json!({"status": {"cloudflareMetadata": {"plan": "pro"}}});
    let activated = json!({"status": {"cloudflareMetadata": {"status": "active"}}});
    for (patch, seen) in [(label, true), (ready, true), (plan, true), (mark, false), (activated, false)] {
        let mut cache = cache();
        cache.apply(row("Zone"), &zone(20), Source::Watch).unwrap();
        let change = own_write(&mut cache, &patch, &json!({}));
        assert!(!change.foreign, "{patch}");
        let visible = |seen: Option<Seen>| seen.map(|seen| seen.visible);
        assert_eq!(visible(change.before) != visible(change.after), seen, "{patch}");
    }
}

#[test]
fn an_edit_that_slipped_in_before_our_write_is_noticed() {
    let patch = json!({"metadata": {"finalizers": ["kflare.dev/finalizer"]}});
    for others in [
        json!({"metadata": {"generation": 2}, "spec": {"name": "example.org"}}),
        json!({"metadata": {"annotations": {"kflare.dev/paused": "true"}}}),
        json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}),
    ] {
        let mut cache = cache();
        cache.apply(row("Zone"), &zone(20), Source::Watch).unwrap();
        assert!(own_write(&mut cache, &patch, &others).foreign, "{others}");
    }
}

#[test]
fn an_answer_to_a_write_does_not_bring_back_what_is_gone() {
    let mut cache = cache();
    cache.apply(row("Zone"), &zone(20), Source::Watch).unwrap();
    cache.delete(row("Zone"), &key("z"), Some("u1")).unwrap();
    assert_eq!(cache.apply(row("Zone"), &zone(21), Source::Own(None)), None);
    assert_eq!(cache.get("Zone", &key("z")), Lookup::Missing);
}

#[test]
fn a_claim_whose_parent_is_gone_does_not_count() {
    let mut cache = cache();
    cache.apply(row("DNSRecord"), &record("a", Some("r1")), Source::Watch).unwrap();
    assert!(cache.claims("DNSRecord", ["r1"]).is_empty());
    cache.apply(row("Zone"), &zone(20), Source::Watch).unwrap();
    assert_eq!(cache.claims("DNSRecord", ["r1", "r2"])["r1"].len(), 1);
    cache.apply(row("DNSRecord"), &record("b", Some("r1")), Source::Watch).unwrap();
    assert_eq!(cache.claims("DNSRecord", ["r1", "r2"])["r1"].len(), 2);
}

#[test]
fn an_object_comes_out_as_it_went_in() {
    let mut cache = cache();
    let record = record("a", Some("r1"));
    cache.apply(row("DNSRecord"), &record, Source::Watch).unwrap();
    assert_eq!(cache.get("DNSRecord", &key("a")), Lookup::Found(record));
}

#[test]
fn the_event_of_our_write_is_no_news_though_it_comes_before_the_answer() {
    let mut cache = cache();
    let member = MemberId::new(row("Zone"), key("z"));
    cache.apply(row("Zone"), &zone(20), Source::Watch).unwrap();
    let mark = json!({"metadata": {"annotations": {"kflare.dev/creating": "x"}, "resourceVersion": "21"}});
    let written = patched(&zone(20), &mark).unwrap();
    let expected = Some(fingerprint(&written));
    cache.expect(&member, expected);
    assert!(!cache.apply(row("Zone"), &written, Source::Watch).unwrap().foreign);
    assert_eq!(cache.apply(row("Zone"), &written, Source::Own(expected)), None);
    // It serves once: whoever takes the mark away and puts it back is somebody else.
    assert!(cache.apply(row("Zone"), &zone(22), Source::Watch).unwrap().foreign);
    let again = patched(&written, &json!({"metadata": {"resourceVersion": "23"}})).unwrap();
    assert!(cache.apply(row("Zone"), &again, Source::Watch).unwrap().foreign);
}

#[test]
fn the_first_event_that_differs_ends_the_wait_for_our_own() {
    let mut cache = cache();
    let member = MemberId::new(row("Zone"), key("z"));
    cache.apply(row("Zone"), &zone(20), Source::Watch).unwrap();
    let mark = json!({"metadata": {"annotations": {"kflare.dev/creating": "x"}, "resourceVersion": "23"}});
    let written = patched(&zone(20), &mark).unwrap();
    cache.expect(&member, Some(fingerprint(&written)));
    // Nothing that counts differs: the wait goes on.
    assert!(!cache.apply(row("Zone"), &zone(21), Source::Watch).unwrap().foreign);
    let edit = json!({"metadata": {"labels": {"a": "b"}, "resourceVersion": "22"}});
    assert!(cache.apply(row("Zone"), &patched(&zone(20), &edit).unwrap(), Source::Watch).unwrap().foreign);
    assert!(cache.apply(row("Zone"), &written, Source::Watch).unwrap().foreign);
}

#[test]
fn a_list_that_was_read_before_our_write_takes_no_claim_back() {
    let mut cache = cache();
    let version = |resource: &Resource, version: &str| {
        patched(resource, &json!({"metadata": {"resourceVersion": version}})).unwrap()
    };
    cache.apply(row("Zone"), &zone(20), Source::Watch).unwrap();
    let (plain, claimed) = (version(&record("a", None), "10"), version(&record("a", Some("r1")), "12"));
    cache.apply(row("DNSRecord"), &plain, Source::Watch).unwrap();
    cache.list_begins(row("DNSRecord"));
    cache.apply(row("DNSRecord"), &claimed, Source::Own(Some(fingerprint(&claimed)))).unwrap();
    assert_eq!(cache.apply(row("DNSRecord"), &plain, Source::List), None);
    cache.listed(row("DNSRecord"), &BTreeSet::from([key("a")]));
    assert_eq!(cache.claims("DNSRecord", ["r1"])["r1"].len(), 1);
    // The next list began after the write: what it shows is so, however low its versions.
    cache.list_begins(row("DNSRecord"));
    assert!(cache.apply(row("DNSRecord"), &plain, Source::List).is_some());
    assert!(cache.claims("DNSRecord", ["r1"]).is_empty());
}

fn account(secret: &str) -> Resource {
    resource(json!({
        "metadata": {"name": "main", "uid": "u2", "resourceVersion": "1"},
        "spec": {"accountID": "a1", "tokenSecretRef": {"name": secret, "namespace": "default"}},
    }))
}

#[test]
fn a_secret_that_was_seen_before_its_account_and_went_unwatched_is_missed() {
    let mut cache = cache();
    cache.secrets_listed(&BTreeSet::from([key("token")]));
    assert!(!cache.secret(&key("token"), Some("1")), "nobody uses it");
    cache.apply(row("CloudflareAccount"), &account("token"), Source::Watch).unwrap();
    assert_eq!(cache.secrets_listed(&BTreeSet::from([key("token")])), []);
    assert_eq!(cache.secrets_listed(&BTreeSet::new()), [key("token")]);
    assert_eq!(cache.secrets_listed(&BTreeSet::new()), [], "they know");
    assert!(cache.secret(&key("token"), Some("2")), "it is back");
}

#[test]
fn a_new_version_of_an_account_forgets_nothing_of_its_secret() {
    let mut cache = cache();
    cache.apply(row("CloudflareAccount"), &account("token"), Source::Watch).unwrap();
    assert!(cache.secret(&key("token"), Some("7")));
    let edit = json!({"metadata": {"resourceVersion": "2", "labels": {"a": "b"}}});
    let edited = patched(&account("token"), &edit).unwrap();
    cache.apply(row("CloudflareAccount"), &edited, Source::Watch).unwrap();
    assert!(!cache.secret(&key("token"), Some("7")), "the event of a version that was seen");
    let moved = patched(&account("other"), &json!({"metadata": {"resourceVersion": "3"}})).unwrap();
    cache.apply(row("CloudflareAccount"), &moved, Source::Watch).unwrap();
    assert_eq!(cache.users_of_secret(&key("token")).count(), 0);
    assert!(!cache.secret(&key("token"), Some("8")), "nobody uses it any more");
}
