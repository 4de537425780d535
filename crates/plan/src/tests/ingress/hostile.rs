//! Objects that no API server would hand out. They hold what stands, and nothing panics.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::harness::{compiles, told};
use crate::ingress::backend::Services;
use crate::ingress::exposure::{Held, PathOutcome, Standing};
use crate::ingress::view::{Service, Unreadable};
use crate::ingress::{Exposed, Surroundings, assemble, expose};

fn exposed(object: &Value) -> Exposed {
    let services = Services::new();
    expose(
        object,
        &Surroundings { services: &services, cluster_domain: "cluster.local", compiles: &compiles },
    )
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        "(Prefix|Exact|ImplementationSpecific|/[a-z*(\\[]{0,4}|[*]\\.a\\.b)".prop_map(Value::from),
    ];
    let name = "(metadata|spec|rules|host|http|paths|path|pathType|backend|service|name|port|number|tls|resource|\
                defaultBackend|annotations|namespace|creationTimestamp|deletionTimestamp)";
    leaf.prop_recursive(7, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(name, inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_an_object_holds_nothing_panics(object in json_value(), live in prop::collection::vec(json_value(), 0..4)) {
        let all = [exposed(&object)];
        let assembled = assemble(&all, &live, "cluster.local");
        prop_assert!(!told(&all, &assembled).is_empty());
        let last = assembled.rules.last().unwrap();
        prop_assert!(last.host.is_none() && last.path.is_none());
        let _: Result<Service, Unreadable> = Service::read(&object);
    }
}

#[test]
fn an_object_of_wrong_types_is_held_with_its_name() {
    let object = json!({
        "metadata": {"namespace": "apps", "name": "web", "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"rules": "all"},
    });
    let exposed = exposed(&object);
    assert_eq!(exposed.standing, Standing::Held(Held::Unreadable));
    assert_eq!(exposed.owner.key, super::harness::key("apps/web"));
    let live = [
        json!({"hostname": "a.example.com", "service": "http://web.apps.svc.cluster.local:80"}),
        json!({"hostname": "b.example.com", "service": "http://db.example.net:80"}),
        json!({"hostname": "c.example.com", "service": "http://web.other.svc.cluster.local:80"}),
        json!({"service": "http_status:404"}),
    ];
    let rules = assemble(&[exposed], &live, "cluster.local").rules;
    let hosts: Vec<_> = rules.iter().map(|rule| rule.host.as_deref()).collect();
    assert_eq!(hosts, [Some("a.example.com"), Some("b.example.com"), None]);
}

#[test]
fn a_megabyte_is_no_trouble() {
    let long = "/a(".repeat(350_000);
    let path = |kind: &str| json!({"path": long, "pathType": kind, "backend": {"service": {"name": long, "port": {}}}});
    let paths = [path("Prefix"), path("Exact"), path("ImplementationSpecific"), path(&long)];
    let object = json!({"metadata": {"namespace": "apps", "name": "web", "annotations": {"x": long}},
        "spec": {"rules": [{"host": long, "http": {"paths": paths}}, {"host": "a.b", "http": {"paths": paths}}]}});
    let exposed = exposed(&object);
    let refused = exposed.paths.iter().filter(|path| matches!(path.outcome, PathOutcome::Refused(_)));
    assert_eq!(refused.count(), 4);
}
