//! Which Ingresses are served, and through which tunnel.

use kinds::{Key, names};
use serde_json::{Value, json};

use crate::ingress::class::{ClassNames, Classes};
use crate::ingress::view::{Ingress, IngressClass};
use crate::ingress::{Selection, select};
use crate::snapshot::Lookup;

const FLAGS: ClassNames<'_> =
    ClassNames { ingress_class: "cloudflare-tunnel", controller_class: names::ingress::CONTROLLER };

fn class(controller: &str, parameters: &Value) -> Lookup<IngressClass> {
    let spec = json!({"controller": controller, "parameters": parameters});
    Lookup::Found(IngressClass::read(&json!({ "spec": spec })).unwrap())
}

fn classes() -> Classes {
    let ours = names::ingress::CONTROLLER;
    let tunnel = |group: &str, name: &str| json!({"apiGroup": group, "kind": "Tunnel", "scope": "Namespace", "namespace": "apps", "name": name});
    Classes::from(
        [
            ("tunnel-too", class(ours, &Value::Null)),
            ("edge", class(ours, &tunnel(names::GROUP, "edge"))),
            ("nameless", class(ours, &tunnel(names::GROUP, ""))),
            ("others-parameters", class(ours, &tunnel("example.com", "x"))),
            ("other", class("example.com/other", &Value::Null)),
            ("gone", Lookup::Missing),
            ("slow", Lookup::Unknown("timed out".to_owned())),
        ]
        .map(|(name, class)| (name.to_owned(), class)),
    )
}

fn selected(annotation: Option<&str>, class: Option<&str>) -> Selection {
    let annotations = annotation.map(|value| json!({(names::ingress::LEGACY_CLASS): value}));
    let object = json!({"metadata": {"annotations": annotations}, "spec": {"ingressClassName": class}});
    select(&Ingress::read(&object).unwrap(), &classes(), FLAGS)
}

#[test]
fn an_ingress_is_ours_by_its_annotation_or_by_the_controller_of_its_class() {
    assert_eq!(selected(Some("cloudflare-tunnel"), None), Selection::Flags);
    assert_eq!(selected(Some("tunnel-too"), None), Selection::Foreign);
    assert_eq!(selected(None, None), Selection::Foreign);
    assert_eq!(selected(None, Some("tunnel-too")), Selection::Flags);
    assert_eq!(selected(None, Some("others-parameters")), Selection::Flags);
    assert_eq!(selected(None, Some("edge")), Selection::Tunnel(Key::new("apps", "edge")));
    assert!(matches!(selected(None, Some("nameless")), Selection::NoTunnel(_)));
}

#[test]
fn r03_of_two_ingresses_of_one_host_only_the_one_of_our_class_is_handled() {
    assert_eq!(selected(None, Some("other")), Selection::Foreign);
    assert_eq!(selected(None, Some("tunnel-too")), Selection::Flags);
}

#[test]
fn b164_another_class_or_one_that_is_gone_releases_it() {
    assert_eq!(selected(None, Some("other")), Selection::Foreign);
    assert_eq!(selected(None, Some("gone")), Selection::Foreign);
}

#[test]
fn b163_a_class_that_cannot_be_read_releases_nothing() {
    assert!(matches!(selected(None, Some("slow")), Selection::Unknown(_)));
    assert!(matches!(selected(None, Some("never-asked")), Selection::Unknown(_)));
}
