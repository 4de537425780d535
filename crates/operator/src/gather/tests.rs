//! What a pass hears of the claims of others: those of the objects that it meets, and no others.

use std::time::Duration;

use cf_api::budget::Class;
use plan::UnitKey;
use serde_json::json;
use tokio::time::Instant;

use super::*;
use crate::cache::Source;
use crate::queue::{Due, Queue};
use crate::state::Shared;
use crate::timings::Timings;

fn object(namespace: &str, name: &str, labels: &Value, spec: &Value) -> Resource {
    let metadata = json!({"name": name, "namespace": namespace, "uid": format!("{namespace}/{name}"),
        "resourceVersion": "1", "generation": 1, "labels": labels});
    serde_json::from_value(json!({ "metadata": metadata, "spec": spec })).unwrap()
}

/// Two namespaces with a Zone each for the same zone, and a record in each.
fn shared() -> Shared {
    let mut cache = Cache::new(kinds::KINDS);
    let zone = json!({"name": "example.com", "accountRef": {"name": "main"}});
    let record = json!({"zoneRef": {"name": "z"}, "name": "www", "type": "A", "content": "192.0.2.1"});
    let objects = [
        ("Zone", object("mine", "z", &json!({}), &zone)),
        ("Zone", object("theirs", "z", &json!({}), &zone)),
        ("DNSRecord", object("mine", "a", &json!({}), &record)),
        ("DNSRecord", object("theirs", "b", &json!({"kflare.dev/record-id": "r1"}), &record)),
        ("DNSRecord", object("theirs", "c", &json!({"kflare.dev/record-id": "r2"}), &record)),
    ];
    for (kind, object) in objects {
        cache.apply(kinds::kind(kind).unwrap(), &object, Source::Watch);
    }
    for kind in kinds::KINDS {
        let held = cache.all(kind.name).map(|member| member.key).collect();
        cache.listed(kind, &held);
    }
    let queue = Queue::new(Timings::default(), 0, None::<Duration>);
    Shared::new(cache, queue, Arc::default())
}

#[tokio::test(start_paused = true)]
async fn an_object_that_another_namespace_claims_is_known_as_claimed_once_it_is_met() {
    let shared = shared();
    let mut state = shared.lock();
    let member = MemberId { kind: "DNSRecord", key: Key::new("mine", "a") };
    let due = Due { class: Class::User, asked: Instant::now() };
    let slice = Slice {
        unit: UnitKey::Children { kind: "DNSRecord", parent: "zone".to_owned() },
        members: BTreeMap::from([(member, due)]),
        complete: false,
    };
    let mut snapshot = begin(&mut state, &slice, policy::Deletion::default(), Timestamp::UNIX_EPOCH);
    assert_eq!(from_caches(&state.cache, &mut snapshot, &slice.members), BTreeMap::new());
    assert!(snapshot.claims.is_empty(), "it names none");
    let answer = ReadAnswer::Many {
        items: [json!({"id": "r1"}), json!({"id": "r9"})].into_iter().collect(),
        one_page: true,
    };
    claims_of_answer(&state.cache, &mut snapshot, &answer);
    assert_eq!(snapshot.claims.keys().collect::<Vec<_>>(), ["r1"]);
    assert_eq!(snapshot.claims["r1"][0].member.key, Key::new("theirs", "b"));
}
