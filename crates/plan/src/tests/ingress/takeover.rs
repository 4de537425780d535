//! Taking over from the old controller: what it left in real situations, and what we would write over it. The data was
//! recorded from it; each difference rests on a decision that is named here.

use std::collections::{BTreeMap, BTreeSet};

use expect_test::expect_file;
use kinds::{Key, names};
use serde::Deserialize;
use serde_json::{Value, json};

use super::harness::compiles;
use super::zone::{apply, assert_proven};
use crate::ingress::class::{ClassNames, Classes};
use crate::ingress::comment::Template;
use crate::ingress::dns::{HostPlan, ZoneScope, plan_zone};
use crate::ingress::record::LiveRecord;
use crate::ingress::rules::{Change, Rule, live_rules};
use crate::ingress::view::{Ingress, IngressClass, Metadata, Service};
use crate::ingress::wish::{TunnelName, wishes};
use crate::ingress::zone::Zone;
use crate::ingress::{Exposed, Selection, Surroundings, assemble, change, expose, select};
use crate::snapshot::Lookup;

/// What stood in the cluster and in Cloudflare when the old controller had come to rest.
#[derive(Deserialize)]
struct Situation {
    name: String,
    zones: Vec<String>,
    tunnel: String,
    template: String,
    classes: BTreeMap<String, String>,
    services: Vec<Value>,
    ingresses: Vec<Value>,
    configuration: Option<Value>,
    dns: BTreeMap<String, Vec<Value>>,
}

/// Situations in which something is written, and the decisions that want it so. Everywhere else nothing is.
const WHY: &[(&str, &str)] = &[
    ("annotations-all", "I3, I4, B034"),
    ("class-selection+1", "I9"),
    ("delete-eight-namespaces+1", "I8"),
    ("disable-dns-two-paths", "I1"),
    ("disable-dns-two-paths+1", "I1"),
    ("exact-refused", "I1"),
    ("foreign-a-record-blocks-deletion+2", "I6, I8"),
    ("headless", "I3, I20"),
    ("host-moves+3", "I8"),
    ("implementation-specific", "I1"),
    ("named-port", "I3, I20"),
    ("nested-zones-example-first", "I7"),
    ("odd-ingresses", "I14"),
    ("ordering", "I1, I2"),
    ("service-deleted-later", "I3"),
    ("service-deleted-later+1", "I3"),
    ("service-deleted-later+2", "I3, I20"),
    ("service-missing-one-path", "I3"),
    ("service-missing-then-created", "I3, I20"),
    ("service-missing-then-created+1", "I9"),
    ("tunnel-config-404", "I16"),
    ("two-ingresses-one-host+1", "I1"),
    ("two-ingresses-one-host+2", "I1"),
    ("txt-orphan-without-cname", "I27"),
    ("txt-quoted-by-api+1", "I5"),
];

impl Situation {
    fn exposed(&self) -> Vec<Exposed> {
        let class = |(name, controller): (&String, &String)| {
            let class = IngressClass::read(&json!({"spec": {"controller": controller}})).unwrap();
            (name.clone(), Lookup::Found(class))
        };
        let mut classes: Classes = self.classes.iter().map(class).collect();
        let services = self
            .services
            .iter()
            .map(|object| (Metadata::salvage(object).key(), Lookup::Found(Service::read(object).unwrap())));
        let mut services: BTreeMap<Key, Lookup<Service>> = services.collect();
        // What an Ingress names and nobody made is known not to be there.
        for object in &self.ingresses {
            let namespace = object["metadata"]["namespace"].as_str().unwrap();
            for name in named(object, "/service/name") {
                services.entry(Key::new(namespace, name)).or_insert(Lookup::Missing);
            }
            let class = object["spec"]["ingressClassName"].as_str().unwrap_or_default();
            classes.entry(class.to_owned()).or_insert(Lookup::Missing);
        }
        let flags =
            ClassNames { ingress_class: "cloudflare-tunnel", controller_class: names::ingress::CONTROLLER };
        let around =
            Surroundings { services: &services, cluster_domain: "cluster.local", compiles: &compiles };
        let ours = self
            .ingresses
            .iter()
            .filter(|object| select(&Ingress::read(object).unwrap(), &classes, flags) == Selection::Flags);
        ours.map(|object| expose(object, &around)).collect()
    }

    fn records(&self, zone: &str) -> Vec<LiveRecord> {
        let items = self.dns.get(zone).into_iter().flatten().enumerate();
        items
            .map(|(index, item)| {
                let mut item = item.clone();
                item["id"] = json!(format!("rec{index:02}"));
                LiveRecord::read(&item, false).unwrap()
            })
            .collect()
    }

    /// What is written to the configuration and to each zone, one line each.
    fn writes(&self) -> Vec<String> {
        let exposed = self.exposed();
        let live = self.configuration.clone().map_or(Lookup::Missing, Lookup::Found);
        let standing = live.found().map(live_rules).unwrap_or_default().to_vec();
        let assembled = assemble(&exposed, &standing, "cluster.local");
        let mut lines = Vec::new();
        if let Change::Put { config, .. } = change(&live, &assembled.rules) {
            let wanted: Vec<Value> = assembled.rules.iter().map(Rule::to_json).collect();
            assert_eq!(live_rules(&config), wanted);
            let gone = standing.iter().filter(|rule| !wanted.contains(rule));
            lines.extend(gone.map(|rule| format!("- {rule}")));
            lines.extend(
                wanted.iter().filter(|rule| !standing.contains(rule)).map(|rule| format!("+ {rule}")),
            );
            if lines.is_empty() {
                lines.push("the same rules in another order".to_owned());
            }
        }
        let tunnel = TunnelName { id: self.tunnel.clone(), name: "edge".to_owned() };
        let through: Vec<_> = exposed.iter().map(|one| (one, &tunnel)).collect();
        let wishes = wishes(&through, &assembled.kept_hosts);
        let zones: Vec<Zone> =
            self.zones.iter().map(|name| Zone { id: name.clone(), name: name.clone() }).collect();
        let comments = Template::read(&self.template).unwrap_or_default();
        for zone in &zones {
            let scope = ZoneScope {
                zone,
                zones: &zones,
                wishes: &wishes,
                tunnels: std::slice::from_ref(&tunnel),
                deleted_tunnels: &BTreeSet::new(),
                comments: comments.as_ref(),
                comment_characters_max: 100,
                hashes_wildcards: false,
            };
            lines.extend(zone_writes(&scope, &self.records(&zone.name)));
        }
        lines
    }
}

fn zone_writes(scope: &ZoneScope<'_>, live: &[LiveRecord]) -> Vec<String> {
    let plans = plan_zone(scope, live);
    assert_proven_here(live, &plans);
    let again = plan_zone(scope, &apply(live, &plans));
    assert!(again.iter().all(|plan| plan.writes.is_empty()), "{again:?}");
    plans.iter().flat_map(|plan| plan.writes.iter().map(ToString::to_string)).collect()
}

/// The tunnel of the recording is none of those that the other tests know.
fn assert_proven_here(live: &[LiveRecord], plans: &[HostPlan]) {
    let known = super::zone::id_of("edge");
    let renamed: Vec<LiveRecord> = live
        .iter()
        .map(|record| LiveRecord { content: record.content.replace(TUNNEL, known), ..record.clone() })
        .collect();
    assert_proven(&renamed, plans);
}

/// The ID that the recorded tunnel had.
const TUNNEL: &str = "88e4dc9f-0e88-5041-8c2a-27aa63981cc2";

/// Every text below this pointer, wherever it stands.
fn named(object: &Value, pointer: &str) -> Vec<String> {
    let own = object.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let below: Vec<&Value> = match object {
        Value::Array(items) => items.iter().collect(),
        Value::Object(members) => members.values().collect(),
        _ => Vec::new(),
    };
    own.into_iter().chain(below.into_iter().flat_map(|value| named(value, pointer))).collect()
}

#[test]
fn what_the_old_controller_left_is_written_over_only_where_a_decision_says_so() {
    let data = include_str!("../../../testdata/old_controller.json");
    let situations: Vec<Situation> = serde_json::from_str(data).unwrap();
    assert!(situations.len() > 70, "{}", situations.len());
    let mut text = String::new();
    let mut written = BTreeSet::new();
    for situation in &situations {
        let lines = situation.writes();
        if !lines.is_empty() {
            written.insert(situation.name.as_str());
            let why = WHY.iter().find(|(name, _)| *name == situation.name).map_or("?", |(_, why)| why);
            text += &format!("{} ({why})\n", situation.name);
            text.extend(lines.iter().map(|line| format!("  {line}\n")));
        }
    }
    expect_file!["../../../testdata/old_controller.writes.txt"].assert_eq(&text.replace(TUNNEL, "<edge>"));
    let explained: BTreeSet<&str> = WHY.iter().map(|(name, _)| *name).collect();
    assert_eq!(written, explained);
}
