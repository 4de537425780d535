//! The generated rows, types and CustomResourceDefinitions against each other.

use serde_json::{Value, json};

use crate::types::{DnsRecordSpec, DnsRecordStatus, DnsRecordType, ZoneSpec, ZoneType};
use crate::{CRDS, KINDS, Kind, names};

fn schema(kind: &Kind) -> Value {
    let crds = CRDS.iter().map(|text| serde_json::from_str::<Value>(text).expect("a CRD is JSON"));
    let mut of_kind = crds.filter(|crd| crd["spec"]["names"]["kind"] == kind.name);
    let crd = of_kind.next().unwrap_or_else(|| panic!("{} has no CRD", kind.name));
    assert_eq!(
        (&crd["spec"]["group"], &crd["spec"]["versions"][0]["name"]),
        (&json!(names::GROUP), &json!(names::VERSION))
    );
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"].clone()
}

/// The schema of what a JSON pointer below `spec` or `status` leads to.
fn property<'s>(schema: &'s Value, root: &str, pointer: &str) -> Option<&'s Value> {
    schema.pointer(&format!("/{root}{}", pointer.replace('/', "/properties/")))
}

#[test]
fn every_field_of_a_row_is_in_its_schema() {
    for kind in KINDS {
        let schema = schema(kind);
        for field in kind.fields {
            assert!(
                property(&schema, "spec", &format!("/{}", field.name)).is_some(),
                "{}: {}",
                kind.name,
                field.name
            );
            assert!(field.wire.starts_with('/'), "{}: {}", kind.name, field.wire);
        }
        for field in kind.status {
            assert!(property(&schema, "status", field.status).is_some(), "{}: {}", kind.name, field.status);
        }
        for reference in kind.references {
            let name = format!("/{}/name", reference.field);
            assert!(property(&schema, "spec", &name).is_some(), "{}: {name}", kind.name);
        }
        for written in ["/observedGeneration", "/conditions"] {
            assert!(property(&schema, "status", written).is_some(), "{}: {written}", kind.name);
        }
    }
}

#[test]
fn the_id_is_among_what_the_status_shows() {
    for kind in KINDS.iter().filter(|kind| kind.identity.spec.is_none()) {
        let shown = kind.status.iter().find(|field| field.status == kind.identity.status);
        assert_eq!(shown.map(|field| field.wire), Some(kind.identity.wire), "{}", kind.name);
    }
}

#[test]
fn all_labels_are_ours_and_differ() {
    let mut labels: Vec<_> = KINDS.iter().filter_map(|kind| kind.identity.label).collect();
    assert!(labels.iter().all(|label| label.starts_with("kflare.dev/")));
    labels.sort_unstable();
    assert!(labels.windows(2).all(|pair| pair[0] != pair[1]), "{labels:?}");
}

#[test]
fn a_spec_reads_with_its_defaults_and_writes_without_what_is_unset() {
    let written =
        json!({ "zoneRef": { "name": "z" }, "name": "www", "type": "CNAME", "content": "a.example" });
    let spec: DnsRecordSpec = serde_json::from_value(written).expect("a spec");
    assert_eq!((spec.type_, spec.ttl, spec.proxied), (DnsRecordType::Cname, 1, false));
    let back = serde_json::to_value(&spec).expect("JSON");
    let full = json!({
        "zoneRef": { "name": "z" }, "name": "www", "type": "CNAME", "content": "a.example",
        "ttl": 1, "proxied": false,
    });
    assert_eq!(back, full);
    let zone: ZoneSpec =
        serde_json::from_value(json!({ "name": "a.example", "accountRef": { "name": "m" } }))
            .expect("a spec");
    assert_eq!((zone.type_, zone.plan), (ZoneType::Full, None));
}

#[test]
fn a_status_reads_from_what_the_server_fills_in() {
    let status: DnsRecordStatus =
        serde_json::from_value(json!({ "observedGeneration": -1 })).expect("a status");
    assert_eq!(status.observed_generation, Some(-1));
    assert!(status.conditions.is_empty());
}
