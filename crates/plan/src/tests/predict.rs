//! Predictions on their own; that they lead to the stages that are then sent is held by every plan table.

use cf_api::budget::Class;
use cf_api::request::{Method, Request as Call};
use jiff::Timestamp;
use kinds::{Key, Resource};
use serde_json::{Value, json};

use crate::act::{Act, CredId, FieldDiff, Outcome, Part, Patch, Proof, Reply, Request, Target, Write};
use crate::predict::{self, KNOWN_AFTER_APPLY, is_stand_in, predict, shown, shown_value, stand_in};
use crate::snapshot::{Lookup, Member, Observed, SecretFacts, Snapshot};
use crate::{MemberId, UnitKey};

const ID: &str = "0000000000000000000000000000000a";

fn id(kind: &str) -> MemberId {
    MemberId::new(kinds::kind(kind).unwrap(), Key::new("apps", "www"))
}

/// A snapshot of one member of `kind` whose object in Cloudflare is `live`.
fn snapshot(kind: &str, object: Value, live: Value) -> Snapshot {
    let object: Resource = serde_json::from_value(object).unwrap();
    let mut member = Member::new(kinds::kind(kind).unwrap(), object, Class::User);
    if !live.is_null() {
        member.live = Observed::Seen(live, Timestamp::UNIX_EPOCH);
    }
    Snapshot {
        unit: UnitKey::Object(id(kind)),
        members: [(id(kind), member)].into(),
        claims: Default::default(),
        listing: Observed::Unread,
        document: Observed::Unread,
        complete: true,
        usage_asked: false,
        refused: Default::default(),
        memory: Default::default(),
        deletion_default: Default::default(),
    }
}

fn part(kind: &str, write: Write, why: Vec<FieldDiff>) -> Part {
    Part { member: id(kind), write, why, proof: Proof::NothingTouched }
}

fn call(parts: Vec<Part>, body: Value) -> Act {
    let call = Call::new(Method::Post, "/zones", &[]).unwrap().body(body);
    Act {
        request: Request::Cloudflare { cred: CredId::new(&Key::new("a", "b"), "c"), call },
        parts,
        send_by: None,
    }
}

fn patch(target: Target, body: Value) -> Act {
    let patch = Patch { target, key: Key::new("apps", "www"), body };
    let parts = vec![part("DNSRecord", Write::Prepare, Vec::new())];
    Act { request: Request::Kubernetes(patch), parts, send_by: None }
}

#[track_caller]
fn one(outcome: Outcome) -> Value {
    match outcome {
        Outcome::Done(Reply::Cloudflare(value)) => value,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn object(outcome: Outcome) -> Resource {
    match outcome {
        Outcome::Done(Reply::Kubernetes(object)) => *object,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_create_answers_its_body_and_an_id_that_nobody_knows_yet() {
    let snapshot = snapshot("DNSRecord", json!({}), Value::Null);
    let body = json!({"type": "A", "name": "www.example.com", "content": "192.0.2.1"});
    let act = call(vec![part("DNSRecord", Write::Create(body.clone()), Vec::new())], body.clone());
    let mut made = one(predict(&act, &snapshot));
    let external = made["id"].as_str().unwrap().to_owned();
    assert!(is_stand_in(&external));
    assert_eq!(shown(&external), KNOWN_AFTER_APPLY);
    made.as_object_mut().unwrap().remove("id");
    assert_eq!(made, body);
}

#[test]
fn two_members_never_share_a_stand_in() {
    let other = MemberId::new(kinds::kind("Zone").unwrap(), Key::new("apps", "www"));
    let moved = MemberId::new(kinds::kind("DNSRecord").unwrap(), Key::new("app", "s-www"));
    let all = [stand_in(&id("DNSRecord")), stand_in(&other), stand_in(&moved)];
    let distinct: std::collections::BTreeSet<_> = all.iter().collect();
    assert_eq!(distinct.len(), all.len());
}

#[test]
fn an_update_replaces_the_members_it_names_and_keeps_the_others() {
    let live = json!({"id": ID, "ttl": 120, "content": "192.0.2.1", "settings": {"a": 1}});
    let snapshot = snapshot("DNSRecord", json!({}), live);
    let why = vec![FieldDiff { field: "ttl", from: json!(120), to: json!(300) }];
    let body = json!({"ttl": 300, "settings": {"b": 2}});
    let act = call(vec![part("DNSRecord", Write::Update(ID.to_owned(), body.clone()), why)], body);
    let expected = json!({"id": ID, "ttl": 300, "content": "192.0.2.1", "settings": {"b": 2}});
    assert_eq!(one(predict(&act, &snapshot)), expected);
}

#[test]
fn a_field_with_a_call_of_its_own_ends_up_in_its_object() {
    let live = json!({"id": ID, "name": "example.com", "plan": {"legacy_id": "free", "price": 0}});
    let snapshot = snapshot("Zone", json!({}), live);
    let why = vec![FieldDiff { field: "plan", from: json!("free"), to: json!("pro") }];
    let body = json!({"rate_plan": {"id": "pro"}});
    let act = call(vec![part("Zone", Write::Update(ID.to_owned(), body.clone()), why)], body);
    let expected = json!({"id": ID, "name": "example.com", "plan": {"legacy_id": "pro", "price": 0}});
    assert_eq!(one(predict(&act, &snapshot)), expected);
}

#[test]
fn a_batch_answers_each_part_in_order_and_a_delete_its_id() {
    let snapshot = snapshot("DNSRecord", json!({}), json!({"id": ID, "ttl": 1}));
    let parts = vec![
        part("DNSRecord", Write::Delete(ID.to_owned()), Vec::new()),
        part("DNSRecord", Write::Create(json!({"ttl": 1})), Vec::new()),
    ];
    match predict(&call(parts, json!({})), &snapshot) {
        Outcome::Done(Reply::Batch(results)) => {
            assert_eq!(results, [json!({"id": ID}), json!({"id": stand_in(&id("DNSRecord")), "ttl": 1})]);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_patch_leaves_a_newer_version_of_the_same_generation() {
    let base = json!({"metadata": {"name": "www", "namespace": "apps", "uid": "u", "resourceVersion": "7",
        "generation": 3, "labels": {"a": "b"}}, "spec": {"ttl": 1}});
    let snapshot = snapshot("DNSRecord", base, Value::Null);
    let body =
        json!({"metadata": {"resourceVersion": "7", "finalizers": ["x"], "labels": {"a": null, "c": "d"}}});
    let patched = object(predict(&patch(Target::Kind("DNSRecord"), body.clone()), &snapshot));
    assert_eq!(patched.metadata.generation, 3);
    assert_eq!(patched.metadata.finalizers, ["x"]);
    assert_eq!(patched.metadata.labels, [("c".to_owned(), "d".to_owned())].into());
    assert_eq!(patched.metadata.resource_version, "7+");
    let twice = predict::patched(&patched, &body).unwrap();
    assert_ne!(twice.metadata.resource_version, patched.metadata.resource_version);
}

#[test]
fn a_secret_is_known_by_its_metadata_alone() {
    let mut snapshot = snapshot("DNSRecord", json!({}), Value::Null);
    let act = patch(Target::Secret, json!({"metadata": {"finalizers": ["x"]}}));
    assert_eq!(predict(&act, &snapshot), Outcome::Gone);
    let facts = SecretFacts { secret: Lookup::Found(Resource::default()), shared: false };
    snapshot.members.get_mut(&id("DNSRecord")).unwrap().secrets.insert(Key::new("apps", "www"), facts);
    assert_eq!(object(predict(&act, &snapshot)).metadata.finalizers, ["x"]);
}

#[test]
fn stand_ins_are_found_in_any_text_and_value() {
    let (zone, record) = (stand_in(&id("Zone")), stand_in(&id("DNSRecord")));
    assert_eq!(
        shown(&format!("PATCH /zones/{zone}/dns_records/{record} it")),
        "PATCH /zones/(known after apply)/dns_records/(known after apply) it"
    );
    assert_eq!(shown("nothing unknown"), "nothing unknown");
    let patch =
        json!({"metadata": {"resourceVersion": "7++", "uid": zone, "generation": 1}, "a": [record, "7+"]});
    let expected = json!({
        "metadata": {"resourceVersion": KNOWN_AFTER_APPLY, "uid": KNOWN_AFTER_APPLY, "generation": 1},
        "a": [KNOWN_AFTER_APPLY, "7+"],
    });
    assert_eq!(shown_value(&patch), expected);
}
