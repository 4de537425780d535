//! A zone of records in YAML, what its Ingresses make of it, and the same zone afterwards, in which nothing is left to
//! do. `@edge` and `@second` are tunnels of ours, `@gone` a deleted one, `@foreign` someone else's.

use std::collections::{BTreeMap, BTreeSet};

use expect_test::Expect;
use kinds::names::ingress as names;
use serde::Deserialize;

use super::harness::World;
use crate::ingress::comment::Template;
use crate::ingress::dns::{HostPlan, ZoneScope, host_notices, plan_zone};
use crate::ingress::record::{LiveRecord, Proof, RecordWrite, tunnel_target};
use crate::ingress::wish::{TunnelName, Wishes, wishes};
use crate::ingress::zone::Zone;
use crate::ingress::{assemble, mark};

const TUNNELS: [(&str, &str); 4] = [
    ("edge", "11111111-1111-4111-8111-111111111111"),
    ("second", "22222222-2222-4222-8222-222222222222"),
    ("gone", "dddddddd-dddd-4ddd-8ddd-dddddddddddd"),
    ("foreign", "ffffffff-ffff-4fff-8fff-ffffffffffff"),
];

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Setting {
    zones: Vec<String>,
    records: Vec<ShortRecord>,
    comment: String,
    hashes_wildcards: bool,
    /// Ingresses that go through the tunnel `second`.
    second: Vec<String>,
}

impl Default for Setting {
    fn default() -> Self {
        let zones = vec!["example.com".to_owned()];
        Self {
            zones,
            records: Vec::new(),
            comment: String::new(),
            hashes_wildcards: false,
            second: Vec::new(),
        }
    }
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct ShortRecord {
    r#type: String,
    name: String,
    /// `@tunnel` in a CNAME, `@tunnel` for its mark in a TXT.
    content: String,
    off: bool,
    comment: String,
    claimed: bool,
}

pub(super) fn id_of(tunnel: &str) -> &'static str {
    TUNNELS.iter().find(|(name, _)| *name == tunnel).unwrap().1
}

pub(super) fn tunnel(name: &str) -> TunnelName {
    TunnelName { id: id_of(name).to_owned(), name: name.to_owned() }
}

impl ShortRecord {
    fn live(&self, index: usize) -> LiveRecord {
        let content = match (self.r#type.as_str(), self.content.strip_prefix('@')) {
            ("TXT", Some(tunnel)) => {
                let host = self.name.strip_prefix(names::MARK_PREFIX).unwrap();
                mark::content(&self.name, host, tunnel)
            }
            (_, Some(tunnel)) => tunnel_target(id_of(tunnel)),
            (_, None) => self.content.clone(),
        };
        LiveRecord {
            id: format!("r{index}"),
            kind: self.r#type.clone(),
            name: self.name.clone(),
            content,
            proxied: self.r#type != "TXT" && !self.off,
            ttl: 1,
            comment: self.comment.clone(),
            is_claimed: self.claimed,
        }
    }
}

/// The records after these writes.
pub(super) fn apply(live: &[LiveRecord], plans: &[HostPlan]) -> Vec<LiveRecord> {
    let mut records: BTreeMap<String, LiveRecord> =
        live.iter().map(|record| (record.id.clone(), record.clone())).collect();
    for write in plans.iter().flat_map(|plan| &plan.writes) {
        match write {
            RecordWrite::Create(wanted) => {
                let mut item = wanted.to_json();
                item["id"] = format!("new-{}-{}", wanted.kind, wanted.name).into();
                let record = LiveRecord::read(&item, false).unwrap();
                records.insert(record.id.clone(), record);
            }
            RecordWrite::Update { id, fields, .. } => {
                let record = records.get_mut(id).unwrap();
                let mut item = serde_json::json!({
                    "id": record.id, "type": record.kind, "name": record.name, "content": record.content,
                    "proxied": record.proxied, "ttl": record.ttl, "comment": record.comment,
                });
                item.as_object_mut().unwrap().extend(fields.clone());
                *record = LiveRecord::read(&item, record.is_claimed).unwrap();
            }
            RecordWrite::Delete { id, .. } => drop(records.remove(id).unwrap()),
        }
    }
    records.into_values().collect()
}

/// Every deletion of a CNAME has the proof of contract I27, or was asked for by name.
pub(super) fn assert_proven(live: &[LiveRecord], plans: &[HostPlan]) {
    for write in plans.iter().flat_map(|plan| &plan.writes) {
        let RecordWrite::Delete { id, kind, proof, .. } = write else { continue };
        let record = live.iter().find(|record| record.id == *id).unwrap();
        assert!(!record.is_claimed, "{write}");
        match proof {
            Proof::Unneeded(..) => {
                let ours = ["edge", "second", "gone"].map(|name| tunnel_target(id_of(name)));
                assert!(kind == "CNAME" && ours.contains(&record.content), "{write}");
            }
            Proof::OwnMark => assert!(kind == "TXT" && record.content.contains(names::CONTROLLER), "{write}"),
            Proof::Adoption(_) => {}
            Proof::Owned(_) | Proof::PointsAtUs => panic!("{write}"),
        }
    }
}

/// Compares what comes of every zone, applies it, and expects that nothing is left to do.
pub(super) fn check_dns(ingresses: &str, setting: &str, expected: &Expect) {
    let world = World::read(ingresses);
    let setting: Setting = serde_saphyr::from_str(setting).unwrap();
    let zones: Vec<Zone> =
        setting.zones.iter().map(|name| Zone { id: format!("zone-{name}"), name: name.clone() }).collect();
    let exposed = world.exposed();
    let (edge, second) = (tunnel("edge"), tunnel("second"));
    let through: Vec<_> = exposed
        .iter()
        .map(|one| (one, if setting.second.contains(&one.owner.key.to_string()) { &second } else { &edge }))
        .collect();
    let kept = assemble(&exposed, &world.live, "cluster.local").kept_hosts;
    let wishes = wishes(&through, &kept);
    let deleted = BTreeSet::from([id_of("gone").to_owned()]);
    let comments = Template::read(&setting.comment).unwrap();
    let mut text = String::new();
    let all: Vec<LiveRecord> = setting.records.iter().enumerate().map(|(i, record)| record.live(i)).collect();
    let mut plans = Vec::new();
    for zone in &zones {
        let scope = ZoneScope {
            zone,
            zones: &zones,
            wishes: &wishes,
            tunnels: &[edge.clone(), second.clone()],
            deleted_tunnels: &deleted,
            comments: comments.as_ref(),
            comment_characters_max: 100,
            hashes_wildcards: setting.hashes_wildcards,
        };
        let plan = check_zone(&scope, &all);
        text.extend(plan.iter().map(|host| format!("{host}\n")));
        plans.extend(plan);
    }
    text.extend(said(&wishes, &zones, &plans));
    let shown = TUNNELS.iter().fold(text, |text, (name, id)| text.replace(id, &format!("<{name}>")));
    expected.assert_eq(&shown);
}

fn check_zone(scope: &ZoneScope<'_>, all: &[LiveRecord]) -> Vec<HostPlan> {
    // What lies in several zones at once is taken to stand in each of them.
    let in_zone = |record: &&LiveRecord| {
        record.name == scope.zone.name || record.name.ends_with(&format!(".{}", scope.zone.name))
    };
    let live: Vec<LiveRecord> = all.iter().filter(in_zone).cloned().collect();
    let plan = plan_zone(scope, &live);
    assert_proven(&live, &plan);
    let reversed: Vec<LiveRecord> = live.iter().rev().cloned().collect();
    assert_eq!(plan_zone(scope, &reversed), plan, "the list's order counts");
    let again = plan_zone(scope, &apply(&live, &plan));
    let left: Vec<&RecordWrite> = again.iter().flat_map(|host| &host.writes).collect();
    assert!(left.is_empty(), "a second look writes {left:?}");
    plan
}

fn said(wishes: &Wishes, zones: &[Zone], plans: &[HostPlan]) -> Vec<String> {
    let notices = host_notices(wishes, zones, plans);
    notices.iter().map(|(key, notice)| format!("{key} {}: {notice}\n", notice.reason())).collect()
}
