//! What the API server refuses before kflare hears of it, and what kflare never asks for by itself.

use cli::scenario::simulate;
use cli::world::{Options, World};
use serde_json::{Value, json};

use super::{get, record, resource, with_zone};
use crate::citations::root;

/// What the API server answers to an object that it refuses.
fn refusal(world: &World, object: &Value) -> String {
    match world.kubernetes.apply(object.clone()) {
        Ok(_) => "it is taken".to_owned(),
        Err(status) => status.message,
    }
}

/// The answer to `changed`, applied over `first`, which works; nothing comes of it.
fn refused_change(first: &Value, changed: &Value) -> String {
    let changing = async {
        let (mut world, _) = with_zone(Options::default()).await;
        world.kubernetes.apply(record("a", first)).unwrap();
        world.settle().await;
        let (before, stands) = (get(&world, "a"), world.cloudflare.records_anywhere());
        let told = refusal(&world, &record("a", changed));
        assert_eq!(world.settle().await.writes.total(), 0);
        assert_eq!(get(&world, "a"), before, "the ID in status is that of the record that stands");
        assert_eq!(world.cloudflare.records_anywhere(), stands);
        told
    };
    simulate(changing).unwrap()
}

#[test]
fn b043_a_changed_type_is_refused_with_the_fix() {
    let told = refused_change(
        &json!({ "type": "CNAME", "name": "a", "content": "lb.example.net", "ttl": 60 }),
        &json!({ "type": "A", "name": "a", "content": "192.0.2.20", "ttl": 60 }),
    );
    assert!(
        told.contains("spec.type")
            && told.contains("type: is immutable; delete the object and create it anew"),
        "{told}"
    );
}

#[test]
fn b044_a_changed_name_is_refused_with_the_fix() {
    let told = refused_change(
        &json!({ "type": "CNAME", "name": "old", "content": "lb.example.net" }),
        &json!({ "type": "CNAME", "name": "new", "content": "lb.example.net" }),
    );
    assert!(
        told.contains("spec.name")
            && told.contains("name: is immutable; delete the object and create it anew"),
        "{told}"
    );
}

#[test]
fn b045_b046_times_that_no_record_can_have_are_refused() {
    let world = World::new(Options::default()).unwrap();
    let told = |proxied: bool, ttl: u32| {
        refusal(
            &world,
            &record(
                "app",
                &json!({ "type": "A", "name": "app", "content": "192.0.2.10", "proxied": proxied, "ttl": ttl }),
            ),
        )
    };
    assert!(
        told(true, 300).contains("ttl: a proxied record's TTL is automatic; set ttl to 1 or leave it out")
    );
    for ttl in [0, 2, 29, 86_401] {
        assert!(told(false, ttl).contains("ttl"), "{ttl}: {}", told(false, ttl));
    }
    for ttl in [1, 30, 60, 86_400] {
        assert_eq!(told(false, ttl), "it is taken", "{ttl}");
    }
}

#[test]
fn b063_a_wildcard_as_a_target_is_refused() {
    let world = World::new(Options::default()).unwrap();
    let told = refusal(
        &world,
        &record("app", &json!({ "type": "CNAME", "name": "app", "content": "*.example.net" })),
    );
    assert!(told.contains("content: a target cannot be a wildcard; name a host without *"), "{told}");
}

#[test]
fn b067_no_type_that_cannot_be_proxied_may_ask_for_it() {
    let world = World::new(Options::default()).unwrap();
    let mut refused = 0;
    for object in every_type() {
        let mut object = object;
        object["spec"]["proxied"] = json!(true);
        object["spec"]["ttl"] = json!(1);
        let told = refusal(&world, &object);
        if ["A", "AAAA", "CNAME"].map(Value::from).contains(&object["spec"]["type"]) {
            assert_eq!(told, "it is taken", "{object}");
        } else {
            assert!(
                told.contains("proxied: only A, AAAA and CNAME records can be proxied"),
                "{object}: {told}"
            );
            refused += 1;
        }
    }
    assert!(refused >= 18, "{refused}");
}

#[test]
fn b067_no_record_is_proxied_that_does_not_ask_for_it() {
    let proxied = simulate(async {
        let (mut world, _) = with_zone(Options::default()).await;
        for object in every_type() {
            world.kubernetes.apply(object).unwrap();
        }
        world.settle().await;
        let records: Vec<Value> =
            world.cloudflare.records_anywhere().into_iter().map(|(_, record)| record).collect();
        assert!(records.len() >= 21, "{}", records.len());
        records.into_iter().filter(|record| record["proxied"] != false).collect::<Vec<_>>()
    });
    assert_eq!(proxied.unwrap(), [Value::Null; 0]);
}

/// The fixture with a record of every type.
fn every_type() -> Vec<Value> {
    let text = std::fs::read_to_string(root().join("scenarios/dns_record/types_all.yaml")).unwrap();
    serde_saphyr::from_multiple(&text).unwrap()
}

#[test]
fn b146_an_account_without_its_id_is_refused_with_the_field() {
    let world = World::new(Options::default()).unwrap();
    let spec = json!({ "tokenSecretRef": { "name": "token", "namespace": "kflare-system" } });
    let mut account = resource("CloudflareAccount", "", "acct", &spec);
    account["metadata"]["namespace"] = Value::Null;
    let told = refusal(&world, &account);
    assert!(told.contains("spec.accountID") && told.contains("Required"), "{told}");
}
