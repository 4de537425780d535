//! Whom a change wakes, on a small tree: an account, a zone, two records.

use kinds::Resource;
use serde_json::{Value, json};

use super::*;
use crate::cache::Source;
use crate::object::{fingerprint, patched};
use crate::timings::Timings;

struct Tree {
    cache: Cache,
    queue: Queue,
    now: Instant,
}

fn member(kind: &'static str, namespace: &str, name: &str) -> MemberId {
    MemberId { kind, key: Key::new(namespace, name) }
}

fn object(namespace: &str, name: &str, spec: &Value) -> Resource {
    serde_json::from_value(json!({
        "metadata": {"name": name, "namespace": namespace, "uid": name, "resourceVersion": "1", "generation": 1},
        "spec": spec,
    }))
    .unwrap()
}

impl Tree {
    fn new() -> Self {
        let (cache, queue) = (Cache::new(kinds::KINDS), Queue::new(Timings::default(), 7, None));
        let mut tree = Self { cache, queue, now: Instant::now() };
        let secret = json!({"name": "t", "namespace": "kflare-system"});
        let account = json!({"accountID": "a1", "tokenSecretRef": secret});
        let zone = json!({"name": "example.com", "accountRef": {"name": "main"}});
        let record = json!({"name": "www", "zoneRef": {"name": "z"}, "type": "A", "content": "192.0.2.1"});
        tree.put("CloudflareAccount", &object("", "main", &account), Source::Watch);
        tree.put("Zone", &object("default", "z", &zone), Source::Watch);
        tree.put("DNSRecord", &object("default", "a", &record), Source::Watch);
        tree.put("DNSRecord", &object("default", "b", &record), Source::Watch);
        for kind in kinds::KINDS {
            let held = tree.cache.all(kind.name).map(|member| member.key).collect();
            tree.cache.listed(kind, &held);
        }
        tree.woken();
        tree
    }

    fn put(&mut self, kind: &str, resource: &Resource, source: Source) {
        if let Some(change) = self.cache.apply(kinds::kind(kind).unwrap(), resource, source) {
            route(&self.cache, &mut self.queue, &change, false, self.now);
        }
    }

    /// Changes an object by an edit of somebody, or as a write of our own.
    fn change(&mut self, member: &MemberId, patch: &Value, is_own: bool) {
        let plan::Lookup::Found(base) = self.cache.get(member.kind, &member.key) else { panic!("{member}") };
        let mut after = patched(&base, patch).unwrap();
        let version: u64 = after.metadata.resource_version.parse().unwrap();
        after.metadata.resource_version = (version + 1).to_string();
        let source = if is_own { Source::Own(Some(fingerprint(&after))) } else { Source::Watch };
        self.put(member.kind, &after, source);
    }

    fn delete(&mut self, member: &MemberId) {
        let change = self.cache.delete(kinds::kind(member.kind).unwrap(), &member.key, None).unwrap();
        route(&self.cache, &mut self.queue, &change, false, self.now);
    }

    /// Who is due, as `unit: members`; ends their runs.
    fn woken(&mut self) -> Vec<String> {
        let mut woken = Vec::new();
        while let Some(slice) = self.queue.take() {
            let names: Vec<_> = slice.members.keys().map(|member| member.key.name.as_str()).collect();
            woken.push(format!("{}: {}", slice.unit, names.join(" ")));
            let ended = slice.members.keys().map(|member| (member.clone(), crate::queue::Again::Settled));
            self.queue.finish(&slice.unit, ended.collect(), self.now);
        }
        self.now += std::time::Duration::from_secs(60);
        self.queue.advance(self.now);
        woken.sort();
        woken
    }
}

fn zone() -> MemberId {
    member("Zone", "default", "z")
}

fn ready() -> Value {
    json!({"status": {"zoneID": "0123", "cloudflareMetadata": {"zoneID": "0123"},
        "conditions": [{"type": "Ready", "status": "True"}]}})
}

#[test]
fn children_of_one_parent_become_one_unit_once_it_has_an_id() {
    let mut tree = Tree::new();
    let record = member("DNSRecord", "default", "a");
    assert_eq!(unit_of(&tree.cache, &record), UnitKey::Object(record));
    tree.change(&zone(), &ready(), true);
    assert_eq!(tree.woken(), ["DNSRecord of 0123: a b"], "our own write wakes those that see it");
}

#[test]
fn our_own_write_wakes_nobody_when_nobody_sees_it() {
    let mut tree = Tree::new();
    let mark = json!({"metadata": {"annotations": {"kflare.dev/creating": "x"}}});
    tree.change(&zone(), &mark, true);
    assert!(tree.woken().is_empty());
    tree.change(&zone(), &json!({"metadata": {"annotations": {"kflare.dev/reconcile-at": "now"}}}), false);
    assert_eq!(tree.woken(), ["Zone default/z: z"], "any metadata change of others does");
}

#[test]
fn a_child_that_goes_wakes_those_that_may_want_what_it_had() {
    let mut tree = Tree::new();
    tree.delete(&member("DNSRecord", "default", "a"));
    assert_eq!(tree.woken(), ["DNSRecord default/b: b"], "a parent that stays has nothing to look at");
}

#[test]
fn a_child_that_goes_wakes_nobody_who_is_in_order() {
    let mut tree = Tree::new();
    tree.change(&member("DNSRecord", "default", "b"), &ready(), true);
    tree.woken();
    tree.delete(&member("DNSRecord", "default", "a"));
    assert!(tree.woken().is_empty());
}

#[test]
fn a_child_that_goes_wakes_a_parent_whose_deletion_waited_for_it() {
    let mut tree = Tree::new();
    tree.change(&zone(), &json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}), false);
    tree.woken();
    tree.delete(&member("DNSRecord", "default", "a"));
    assert_eq!(tree.woken(), ["DNSRecord default/b: b", "Zone default/z: z"]);
}

#[test]
fn an_edit_that_was_carried_out_wakes_who_may_want_what_the_object_was() {
    let mut tree = Tree::new();
    tree.change(&zone(), &ready(), true);
    let (holder, other) = (member("DNSRecord", "default", "a"), member("DNSRecord", "default", "b"));
    let status = |status: &str, generation: i64, reason: &str| {
        let condition = json!({"type": "Ready", "status": status, "reason": reason});
        json!({"status": {"observedGeneration": generation, "conditions": [condition]}})
    };
    tree.change(&holder, &json!({"metadata": {"labels": {"kflare.dev/record-id": "r1"}}}), true);
    tree.change(&holder, &status("True", 1, "Synced"), true);
    tree.change(&other, &status("False", 1, "RecordConflict"), true);
    tree.woken();
    tree.change(&holder, &status("False", 2, "APIError"), true);
    tree.woken();
    tree.change(&holder, &status("True", 2, "Synced"), true);
    assert_eq!(tree.woken(), ["DNSRecord of 0123: b"], "the edit was first held, then carried out");
    tree.change(&other, &json!({"status": {"conditions": []}}), true);
    tree.change(&holder, &status("True", 3, "Synced"), true);
    assert!(tree.woken().is_empty(), "nobody waits for it");
}

#[test]
fn what_lies_below_another_zone_of_the_same_zone_may_want_it_too() {
    let mut tree = Tree::new();
    let spec = json!({"name": "example.com", "accountRef": {"name": "main"}});
    tree.put("Zone", &object("apps", "z", &spec), Source::Watch);
    let record = json!({"name": "www", "zoneRef": {"name": "z"}, "type": "A", "content": "192.0.2.1"});
    tree.put("DNSRecord", &object("apps", "c", &record), Source::Watch);
    tree.change(&zone(), &ready(), true);
    tree.change(&member("Zone", "apps", "z"), &ready(), true);
    tree.woken();
    tree.delete(&member("DNSRecord", "default", "a"));
    assert_eq!(tree.woken(), ["DNSRecord of 0123: c b"]);
}

#[test]
fn who_stands_for_the_same_zone_looks_at_what_another_one_made_of_it() {
    let mut tree = Tree::new();
    let spec = json!({"name": "example.com", "accountRef": {"name": "main"}});
    tree.put("Zone", &object("apps", "z", &spec), Source::Watch);
    tree.change(&zone(), &ready(), true);
    tree.change(&member("Zone", "apps", "z"), &ready(), true);
    tree.woken();
    tree.change(&zone(), &json!({"status": {"cloudflareMetadata": {"plan": "pro"}}}), true);
    assert_eq!(tree.woken(), ["DNSRecord of 0123: a b", "Zone apps/z: z"]);
}

#[test]
fn a_parent_that_goes_wakes_its_children() {
    let mut tree = Tree::new();
    tree.delete(&zone());
    assert_eq!(tree.woken(), ["DNSRecord default/a: a", "DNSRecord default/b: b"]);
}

#[test]
fn a_new_token_wakes_its_account_and_all_that_is_not_in_order_below() {
    let mut tree = Tree::new();
    tree.change(&zone(), &ready(), true);
    tree.change(&member("DNSRecord", "default", "a"), &ready(), true);
    tree.woken();
    secret_changed(&tree.cache, &mut tree.queue, &Key::new("kflare-system", "t"), tree.now);
    assert_eq!(tree.woken(), ["CloudflareAccount main: main", "DNSRecord of 0123: b"]);
    secret_changed(&tree.cache, &mut tree.queue, &Key::new("kflare-system", "other"), tree.now);
    assert!(tree.woken().is_empty());
}

#[test]
fn a_namespaces_labels_wake_what_is_in_it() {
    let mut tree = Tree::new();
    namespace_changed(&tree.cache, &mut tree.queue, "default", tree.now);
    let woken = ["DNSRecord default/a: a", "DNSRecord default/b: b", "Zone default/z: z"];
    assert_eq!(tree.woken(), woken);
}

#[test]
fn an_ancestor_that_is_about_to_be_looked_at_is_waited_for() {
    let mut tree = Tree::new();
    let (record, account) = (member("DNSRecord", "default", "a"), member("CloudflareAccount", "", "main"));
    assert_eq!(awaited_ancestor(&tree.cache, &tree.queue, &record), None);
    wake(&tree.cache, &mut tree.queue, BTreeSet::from([account.clone()]), tree.now);
    assert_eq!(awaited_ancestor(&tree.cache, &tree.queue, &record), Some(account.clone()));
    tree.change(&account, &ready(), true);
    assert_eq!(awaited_ancestor(&tree.cache, &tree.queue, &record), Some(zone()), "and so on down");
}
