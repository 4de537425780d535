//! Properties: what a URL reaches through our rules is what the Kubernetes documentation says of the Ingresses, order
//! is total, nothing that could not be read is removed, and nothing is deleted without proof.

use std::collections::BTreeSet;

use kinds::Key;
use kinds::cloudflared::Configuration;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};

use super::harness::compiles;
use super::zone::{apply, assert_proven, id_of, tunnel};
use crate::ingress::backend::Services;
use crate::ingress::dns::{ZoneScope, plan_zone};
use crate::ingress::record::{LiveRecord, RecordWrite, tunnel_target};
use crate::ingress::rules::{NOT_FOUND, Rule};
use crate::ingress::view::Service;
use crate::ingress::wish::wishes;
use crate::ingress::zone::Zone;
use crate::ingress::{Exposed, Surroundings, assemble, expose, mark};
use crate::snapshot::Lookup;

const HOSTS: &[&str] = &["", "a.example.com", "b.a.example.com", "*.example.com", "*.a.example.com"];
const PATHS: &[&str] = &["/", "/foo", "/foo/", "/foo/bar", "/Foo", "/foo.x", "/f+", "/*", "/foo/bar/"];
const URL_HOSTS: &[&str] =
    &["a.example.com", "b.a.example.com", "c.b.a.example.com", "x.example.com", "other.org"];
const URL_PATHS: &[&str] = &[
    "/",
    "/foo",
    "/foo/",
    "/foo/bar",
    "/foo/bar/",
    "/foo/bar/x",
    "/foobar",
    "/Foo",
    "/fooxx",
    "/foo.x",
    "/f+",
    "/ff",
    "/*",
    "/x/foo",
];
const RECORD_HOSTS: &[&str] = &["a.example.com", "b.a.example.com", "*.example.com", "idle.example.com"];
const SERVICES: &[&str] = &["web-a", "web-b", "web-c"];

#[derive(Clone, Debug)]
struct Made {
    name: usize,
    namespace: &'static str,
    age: u8,
    going: bool,
    default: Option<&'static str>,
    /// Host, kind, path and Service.
    paths: Vec<[&'static str; 4]>,
}

impl Made {
    fn key(&self) -> Key {
        Key::new(self.namespace, format!("i{}", self.name))
    }

    fn json(&self) -> Value {
        let backend = |service: &str| json!({"service": {"name": service, "port": {"number": 80}}});
        let rules: Vec<Value> = self
            .paths
            .iter()
            .map(|[host, kind, path, service]| {
                let paths = json!([{"path": path, "pathType": kind, "backend": backend(service)}]);
                if host.is_empty() {
                    json!({"http": {"paths": paths}})
                } else {
                    json!({"host": host, "http": {"paths": paths}})
                }
            })
            .collect();
        json!({
            "metadata": {
                "namespace": self.namespace,
                "name": self.key().name,
                "creationTimestamp": format!("2026-01-01T00:00:{:02}Z", self.age),
                "deletionTimestamp": self.going.then_some("2026-02-01T00:00:00Z"),
            },
            "spec": {"rules": rules, "defaultBackend": self.default.map(backend)},
        })
    }

    fn url(&self, service: &str) -> String {
        format!("http://{service}.{}.svc.cluster.local:80", self.namespace)
    }
}

fn made() -> impl Strategy<Value = Vec<Made>> {
    let path = (select(HOSTS), select(&["Prefix", "Exact"][..]), select(PATHS), select(SERVICES))
        .prop_map(|(host, kind, path, service)| [host, kind, path, service]);
    let one = (
        select(&["apps", "team"][..]),
        0..3_u8,
        prop::bool::weighted(0.1),
        prop::option::weighted(0.2, select(SERVICES)),
        prop::collection::vec(path, 0..5),
    );
    prop::collection::vec(one, 0..5).prop_map(|all| {
        let numbered = all.into_iter().enumerate();
        numbered
            .map(|(name, (namespace, age, going, default, paths))| Made {
                name,
                namespace,
                age,
                going,
                default,
                paths,
            })
            .collect()
    })
}

fn exposed(all: &[Made], unknown: &[(&str, &str)]) -> Vec<Exposed> {
    let mut services = Services::new();
    for namespace in ["apps", "team"] {
        for name in SERVICES {
            let service = Service::read(&json!({"spec": {"ports": [{"port": 80}]}})).unwrap();
            let found =
                if unknown.contains(&(namespace, name)) { Lookup::Unread } else { Lookup::Found(service) };
            services.insert(Key::new(namespace, *name), found);
        }
    }
    let around = Surroundings { services: &services, cluster_domain: "cluster.local", compiles: &compiles };
    all.iter().map(|one| expose(&one.json(), &around)).collect()
}

fn rules(all: &[Made]) -> Vec<Rule> {
    assemble(&exposed(all, &[]), &[], "cluster.local").rules
}

/// The connectors that answer by these rules, as far as we know them.
fn connectors(rules: &[Rule]) -> Configuration {
    let rules: Vec<Value> = rules.iter().map(Rule::to_json).collect();
    Configuration::read(&json!({ "ingress": rules })).unwrap()
}

/// How well a path fits, then how old its Ingress is.
type Rank = ((usize, u8), std::cmp::Reverse<(u8, Key)>);

/// What the documentation says, and what contract I1, I2, I14, I28 and I29 add: the precise host or the longest
/// wildcard is chosen first, then the longest path, Exact before Prefix, and then the oldest Ingress.
fn documented(all: &[Made], host: &str, path: &str) -> BTreeSet<String> {
    let here: Vec<&Made> = all.iter().filter(|one| !one.going).collect();
    let hosts: BTreeSet<&str> = here.iter().flat_map(|one| one.paths.iter().map(|path| path[0])).collect();
    let wild = hosts.iter().filter(|name| name.starts_with("*.") && host.ends_with(&name[1..]));
    let chosen = if hosts.contains(host) {
        Some(host)
    } else {
        wild.max_by_key(|name| name.len()).copied().or_else(|| hosts.get("").copied())
    };
    let elements = |path: &str| -> Vec<String> {
        path.split('/').filter(|element| !element.is_empty()).map(str::to_owned).collect()
    };
    let fits = |kind: &str, text: &str| match (kind, text) {
        ("Exact", text) => text == path,
        (_, "/*") => true,
        (_, text) => elements(path).starts_with(&elements(text)),
    };
    // How well a path fits: its length without the slash that does not count, then its kind.
    let quality = |kind: &str, text: &str| match kind {
        "Exact" => (text.len(), 1),
        _ if text == "/*" || text == "/" => (1, 0),
        _ => (text.trim_end_matches('/').len(), 0),
    };
    let mut best: Option<Rank> = None;
    let mut services = BTreeSet::new();
    for one in &here {
        for [_, kind, text, service] in
            one.paths.iter().filter(|[name, kind, text, _]| Some(*name) == chosen && fits(kind, text))
        {
            let rank = (quality(kind, text), std::cmp::Reverse((one.age, one.key())));
            if best.as_ref().is_none_or(|best| rank > *best) {
                best = Some(rank.clone());
                services.clear();
            }
            if best.as_ref() == Some(&rank) {
                services.insert(one.url(service));
            }
        }
    }
    if services.is_empty() {
        let defaults = here.iter().filter(|one| one.default.is_some());
        let oldest = defaults.min_by_key(|one| (one.age, one.key()));
        let url = oldest.and_then(|one| Some(one.url(one.default?)));
        services.insert(url.unwrap_or_else(|| NOT_FOUND.to_owned()));
    }
    services
}

/// Some Services of two namespaces.
fn some_services() -> impl Strategy<Value = Vec<(&'static str, &'static str)>> {
    let all: Vec<_> =
        ["apps", "team"].into_iter().flat_map(|ns| SERVICES.iter().map(move |s| (ns, *s))).collect();
    subsequence(all, 0..=6)
}

fn record() -> impl Strategy<Value = LiveRecord> {
    let of_tunnel = select(&["edge", "second", "gone", "foreign"][..]);
    let old = "managed by strrl.dev/cloudflare-tunnel-ingress-controller, tunnel [edge]";
    (select(RECORD_HOSTS), 0..5_u8, of_tunnel, prop::bool::weighted(0.1), any::<bool>(), 0..1_000_u32)
        .prop_map(move |(host, what, tunnel, is_claimed, flag, id)| {
            let (kind, name, content) = match what {
                0 => ("A", host.to_owned(), "192.0.2.1".to_owned()),
                1 => ("CNAME", host.to_owned(), "lb.example.org".to_owned()),
                2 => ("CNAME", host.to_owned(), tunnel_target(id_of(tunnel))),
                _ => {
                    let name = mark::name(host, "example.com", what == 4);
                    let content = mark::content(&name, host, tunnel);
                    ("TXT", name, content)
                }
            };
            let comment = if flag { old.to_owned() } else { String::new() };
            let id = format!("r{id:03}");
            LiveRecord {
                id,
                kind: kind.to_owned(),
                name,
                content,
                proxied: flag,
                ttl: 1,
                comment,
                is_claimed,
            }
        })
}

pub(super) fn plan(all: &[Exposed], live: &[LiveRecord]) -> Vec<crate::ingress::dns::HostPlan> {
    let (edge, second) = (tunnel("edge"), tunnel("second"));
    let through: Vec<_> = all
        .iter()
        .map(|one| (one, if one.owner.key.namespace == "team" { &second } else { &edge }))
        .collect();
    let zones = [Zone { id: "z".to_owned(), name: "example.com".to_owned() }];
    let scope = ZoneScope {
        zone: &zones[0],
        zones: &zones,
        wishes: &wishes(&through, &BTreeSet::new()),
        tunnels: &[edge.clone(), second.clone()],
        deleted_tunnels: &BTreeSet::from([id_of("gone").to_owned()]),
        comments: None,
        comment_characters_max: 100,
        hashes_wildcards: false,
    };
    plan_zone(&scope, live)
}

fn writes(plans: &[crate::ingress::dns::HostPlan]) -> Vec<&RecordWrite> {
    plans.iter().flat_map(|plan| &plan.writes).collect()
}

proptest! {
    #[test]
    fn a_url_reaches_what_the_documentation_says(all in made()) {
        let rules = rules(&all);
        let connectors = connectors(&rules);
        for host in URL_HOSTS {
            for path in URL_PATHS {
                let (reached, expected) = (connectors.rule_for(host, path.as_bytes()), documented(&all, host, path));
                let reached = &rules[reached].service;
                prop_assert!(expected.contains(reached), "{host}{path}: {reached}, not {expected:?}\n{rules:#?}");
            }
        }
    }

    #[test]
    fn order_does_not_depend_on_the_order_of_ingresses_and_rules((all, shuffled) in made().prop_flat_map(|all| {
        let shuffled = Just(all.clone()).prop_shuffle();
        (Just(all), shuffled)
    })) {
        let mut shuffled = shuffled;
        for one in &mut shuffled {
            one.paths.reverse();
        }
        prop_assert_eq!(rules(&all), rules(&shuffled));
    }

    #[test]
    fn a_service_that_cannot_be_read_removes_no_rule_and_no_record(all in made(), unknown in some_services()) {
        // What one that goes stands for is not kept for another (contract I15), so here nobody goes.
        let all: Vec<Made> = all.into_iter().map(|one| Made { going: false, ..one }).collect();
        let before = exposed(&all, &[]);
        let standing: Vec<Value> = assemble(&before, &[], "cluster.local").rules.iter().map(Rule::to_json).collect();
        let records = apply(&[], &plan(&before, &[]));
        let after = exposed(&all, &unknown);
        let now: Vec<Value> = assemble(&after, &standing, "cluster.local").rules.iter().map(Rule::to_json).collect();
        let lost: Vec<&Value> = standing.iter().filter(|rule| !now.contains(rule)).collect();
        prop_assert!(lost.is_empty(), "{lost:?} are lost in {now:?}");
        let plans = plan(&after, &records);
        let deletes = writes(&plans).iter().filter(|write| matches!(write, RecordWrite::Delete { .. })).count();
        prop_assert_eq!(deletes, 0);
    }

    #[test]
    fn whatever_stands_in_a_zone_deletions_are_proven_and_one_pass_is_enough(
        all in made(), adopts in any::<bool>(), live in prop::collection::vec(record(), 0..9),
    ) {
        let mut live = live;
        live.sort_by(|one, other| one.id.cmp(&other.id));
        live.dedup_by(|one, other| one.id == other.id);
        // Cloudflare has one CNAME of a name at most.
        let mut cnames = BTreeSet::new();
        live.retain(|record| record.kind != "CNAME" || cnames.insert(record.name.clone()));
        let mut all = exposed(&all, &[]);
        for one in &mut all {
            one.wishes.iter_mut().for_each(|wishes| wishes.adopts = adopts);
        }
        let first = plan(&all, &live);
        assert_proven(&live, &first);
        let second = plan(&all, &apply(&live, &first));
        prop_assert!(writes(&second).is_empty(), "{:?}", writes(&second));
    }
}
