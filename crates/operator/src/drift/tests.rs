//! What the checks cost, and who hears of it.

use serde_json::{Value, json};

use super::*;
use crate::cache::Source;
use crate::queue::Queue;
use crate::timings::Timings;

fn ready(namespace: &str, name: &str, labels: &Value, spec: &Value) -> Resource {
    let metadata = json!({"name": name, "namespace": namespace, "uid": name, "resourceVersion": "1",
        "labels": labels});
    let status = json!({"conditions": [{"type": "Ready", "status": "True"}]});
    serde_json::from_value(json!({ "metadata": metadata, "spec": spec, "status": status })).unwrap()
}

/// Two accounts with one token between them, zones of the first, and records of the first zone.
fn shared(zones: usize, records: usize) -> Shared {
    let mut cache = Cache::new(kinds::KINDS);
    let mut put = |kind: &str, object: &Resource| {
        cache.apply(kinds::kind(kind).unwrap(), object, Source::Watch);
    };
    let secret = json!({"name": "t", "namespace": "kflare-system"});
    for (name, id) in [("main", "a1"), ("other", "a2")] {
        let spec = json!({"accountID": id, "tokenSecretRef": secret});
        put("CloudflareAccount", &ready("", name, &json!({}), &spec));
    }
    for number in 0..zones {
        let labels = json!({"kflare.dev/zone-id": format!("id{number}")});
        let spec = json!({"name": format!("z{number}.example"), "accountRef": {"name": "main"}});
        let mut zone = ready("default", &format!("z{number}"), &labels, &spec);
        zone.status["zoneID"] = json!(format!("id{number}"));
        put("Zone", &zone);
    }
    let record = json!({"zoneRef": {"name": "z0"}, "name": "www", "type": "A", "content": "192.0.2.1"});
    for number in 0..records {
        put("DNSRecord", &ready("default", &format!("r{number}"), &json!({}), &record));
    }
    for kind in kinds::KINDS {
        let held = cache.all(kind.name).map(|member| member.key).collect();
        cache.listed(kind, &held);
    }
    Shared::new(cache, Queue::new(Timings::default(), 0, None), Arc::default())
}

#[tokio::test(start_paused = true)]
async fn one_token_pays_for_all_that_its_accounts_lead_to() {
    let shared = shared(3, 12);
    let costs = costs(&shared.lock());
    let cost = costs.values().next().unwrap();
    assert_eq!(costs.len(), 1);
    assert_eq!(cost.accounts.len(), 2);
    assert_eq!(cost.objects, 2 + 3 + 12);
    // Two calls for each account, one for each zone, one list for the records.
    assert_eq!(cost.calls, 2 * 2 + 3 + 1);
}

#[tokio::test(start_paused = true)]
async fn an_account_whose_checks_cannot_be_paid_for_hears_of_it_once() {
    let minute = Duration::from_secs(60);
    let (many, few) = (shared(100, 0), shared(3, 0));
    let (many, few) = (costs(&many.lock()), costs(&few.lock()));
    let mut told = BTreeSet::new();
    assert!(news(&few, minute, &mut told).is_empty());
    let first = news(&many, minute, &mut told);
    assert_eq!(first.len(), 2);
    assert_eq!(
        note(first[0].1, minute),
        "a drift check every 60s cannot be paid for: the 102 objects of this token cost 104 calls, for which the call \
         budget holds one every 75s"
    );
    assert!(news(&many, minute, &mut told).is_empty(), "it was said");
    assert!(news(&few, minute, &mut told).is_empty());
    assert_eq!(news(&many, minute, &mut told).len(), 2, "it is so again");
}

#[test]
fn a_long_list_costs_its_pages_unless_few_of_it_are_ours() {
    let unit = UnitKey::Children { kind: "DNSRecord", parent: "z".to_owned() };
    let page = kinds::kind("DNSRecord").unwrap().routes.page_size as usize;
    assert_eq!(calls_of(&unit, 100, Some(3 * page)), 3);
    assert_eq!(calls_of(&unit, 2, Some(3 * page)), 2);
    assert_eq!(calls_of(&unit, 2 * page, None), 2);
}
