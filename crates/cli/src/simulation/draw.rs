//! From a seed to a world and what happens in it: manifests, edits, deletions, strangers, faults and crashes, written
//! as a scenario. What must come of it is the checkers' business.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::checker::HANDS_OFF;
use super::random::Random;

/// Records of a world. Few, so that things meet; many enough for batches.
const RECORDS_MAX: usize = 10;
/// Things that happen after the first manifests.
const EVENTS_MAX: usize = 24;

/// Faults of the Cloudflare side, in groups that a world has or has not (swarm testing: a world with every fault at
/// once only ever finds the loudest bug).
const CLOUDFLARE_FAULTS: &[&[&str]] = &[
    &["429", "429 2"],
    &["500", "502", "503", "500 3"],
    &["timeout-before-commit", "timeout-after-commit"],
    &["reset-before-commit", "reset-after-commit", "slow-body"],
    &["late-commit POST"],
];

/// Faults of the Kubernetes side.
const KUBERNETES_FAULTS: &[&[&str]] = &[
    &["write-conflict PATCH", "write-conflict 3 PATCH"],
    &["500", "503", "429"],
    &["timeout-before-commit", "timeout-after-commit", "reset-after-commit"],
    &["watch-cut WATCH", "watch-gap WATCH", "watch-stale WATCH at dnsrecords"],
];

/// A world and what happens in it.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The seed.
    pub seed: u64,
    /// The `world` line.
    pub world: String,
    /// The commands, each a line of the scenario language.
    pub lines: Vec<String>,
    /// Names in Cloudflare at which more than one record of ours may stand, because their resources may differ.
    pub loose: BTreeSet<String>,
    /// Objects that may stay in Cloudflare when everything is gone.
    pub may_stay: MayStay,
    /// Commits may be late, so an extra object may stand for a while.
    pub late_commits: bool,
    /// Somebody edits behind kflare's back, which nothing but a look at Cloudflare shows.
    pub dashboard: bool,
}

/// Which objects of ours may outlive their resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MayStay {
    /// All: the default is to retain.
    All,
    /// Records of these full names, which were told to stay at some time.
    Named(BTreeSet<String>),
}

#[derive(Clone, Debug)]
struct Record {
    object: String,
    zone: usize,
    host: String,
    kind: &'static str,
    version: usize,
    policy: Option<&'static str>,
    is_twin: bool,
}

struct Zone {
    object: &'static str,
    domain: &'static str,
    namespace: &'static str,
}

const ZONES: &[Zone] = &[
    Zone { object: "example-com", domain: "example.com", namespace: "default" },
    Zone { object: "example-org", domain: "example.org", namespace: "apps" },
];

/// Draws a world.
#[must_use]
pub fn draw(seed: u64) -> Drawn {
    let mut random = Random::new(seed);
    let retain = random.chance(10);
    let mut drawing = Drawing { zones: 1 + random.below(ZONES.len()), random, ..Drawing::default() };
    let world = drawing.world(retain);
    drawing.groups();
    drawing.records();
    drawing.begin();
    for _ in 0..4 + drawing.random.below(EVENTS_MAX) {
        drawing.event();
    }
    let late_commits = drawing.cloudflare.contains(&"late-commit POST");
    let may_stay = if retain { MayStay::All } else { MayStay::Named(drawing.retained) };
    let dashboard = drawing.dashboard;
    Drawn { seed, world, lines: drawing.lines, loose: drawing.loose, may_stay, late_commits, dashboard }
}

#[derive(Default)]
struct Drawing {
    random: Random,
    zones: usize,
    records: Vec<Record>,
    cloudflare: Vec<&'static str>,
    kubernetes: Vec<&'static str>,
    crashes: bool,
    jumps: bool,
    strangers: bool,
    deletions: bool,
    dashboard: bool,
    lines: Vec<String>,
    loose: BTreeSet<String>,
    retained: BTreeSet<String>,
}

impl Drawing {
    fn world(&mut self, retain: bool) -> String {
        // A zone that only initializes would change its status once more while nothing is to be written.
        let mut words = vec!["world", "cf.initializing=off"];
        let mut add = |percent, word| {
            if self.random.chance(percent) {
                words.push(word);
            }
        };
        add(40, "drift=10m");
        add(20, "election=on");
        add(30, "cf.culprit=pointer");
        add(30, "cf.identical=81057");
        add(30, "cf.txt-quoted=off");
        add(20, "cf.lag=2s");
        add(20, "cf.rate-limit-code=971");
        if retain {
            words.push("deletion=retain");
        }
        words.join(" ")
    }

    fn groups(&mut self) {
        for group in CLOUDFLARE_FAULTS {
            if self.random.chance(35) {
                self.cloudflare.extend(*group);
            }
        }
        for group in KUBERNETES_FAULTS {
            if self.random.chance(35) {
                self.kubernetes.extend(*group);
            }
        }
        self.crashes = self.random.chance(50);
        self.jumps = self.random.chance(15);
        self.strangers = self.random.chance(50);
        self.deletions = self.random.chance(60);
    }

    fn records(&mut self) {
        const KINDS: &[&str] = &["A", "AAAA", "CNAME", "TXT", "MX", "SRV", "CAA"];
        for index in 0..2 + self.random.below(RECORDS_MAX) {
            let zone = self.random.below(self.zones);
            let kind = self.random.pick(KINDS).copied().unwrap_or("A");
            let host = if kind == "SRV" { format!("_r{index}._tcp") } else { format!("r{index}") };
            let policy = match self.random.below(5) {
                0 => Some("adopt-or-create"),
                1 if self.strangers => Some("adopt"),
                _ => None,
            };
            let is_twin = self.random.chance(15);
            let record =
                Record { object: format!("r{index}"), zone, host, kind, version: 0, policy, is_twin };
            if is_twin {
                self.records.push(Record { object: format!("r{index}-twin"), ..record.clone() });
            }
            self.records.push(record);
        }
    }

    /// The first manifests, in any order: children may come before their parents.
    fn begin(&mut self) {
        let mut lines = vec![];
        if self.zones > 1 {
            let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "apps"}});
            self.lines.push(format!("apply {namespace}"));
        }
        for zone in &ZONES[..self.zones] {
            lines.push(format!("apply {}", zone_manifest(zone)));
        }
        for record in &self.records {
            lines.push(format!("apply {}", manifest(record)));
        }
        while !lines.is_empty() {
            let next = self.random.below(lines.len());
            self.lines.push(lines.swap_remove(next));
            if self.random.chance(15) {
                self.time();
            }
        }
    }

    fn time(&mut self) {
        const TIMES: &[&str] =
            &["settle", "settle", "advance 100ms", "advance 2s", "advance 90s", "advance 12m"];
        let time = self.random.pick(TIMES).copied().unwrap_or("settle");
        self.lines.push(time.to_owned());
    }

    fn event(&mut self) {
        match self.random.below(12) {
            0..=2 => self.time(),
            3 | 4 => self.edit(),
            5 => self.annotate(),
            6 | 7 => self.fault(),
            8 if self.deletions => self.delete(),
            9 if self.crashes => self.crash(),
            10 if self.strangers => self.stranger(),
            11 => self.dashboard(),
            _ if self.jumps && self.random.chance(30) => {
                let jump = self.random.pick(&["jump 1h", "jump -30m"]).copied().unwrap_or("jump 1h");
                self.lines.push(jump.to_owned());
            }
            _ => self.time(),
        }
    }

    fn any(&mut self) -> Option<usize> {
        let count = self.records.len();
        (count > 0).then(|| self.random.below(count))
    }

    fn edit(&mut self) {
        let Some(index) = self.any() else { return };
        let ttl = 60 + 60 * self.random.below(5);
        let what = self.random.below(3);
        let record = &mut self.records[index];
        let patch = match what {
            0 if !record.is_twin => {
                record.version += 1;
                json!({ "spec": spec(record) })
            }
            1 => json!({ "spec": { "comment": format!("note {ttl}") } }),
            _ => json!({ "spec": { "ttl": ttl } }),
        };
        let line = format!("patch dnsrecord/{} -n {} {patch}", record.object, namespace(record));
        self.lines.push(line);
    }

    fn annotate(&mut self) {
        const WHAT: &[&str] =
            &["paused=true", "paused-", "reconcile-at=1", "reconcile-at=2", "deletion-policy=retain"];
        let Some(index) = self.any() else { return };
        let what = self.random.pick(WHAT).copied().unwrap_or("reconcile-at=3");
        let record = &self.records[index];
        if what == "deletion-policy=retain" {
            // Kept when its resource goes, it may stand beside what a new resource with another content makes.
            self.retained.insert(full_name(record));
            self.loose.insert(full_name(record));
        }
        let line = format!("annotate dnsrecord/{} -n {} kflare.dev/{what}", record.object, namespace(record));
        self.lines.push(line);
    }

    fn fault(&mut self) {
        let all: Vec<(&str, &'static str)> = self
            .cloudflare
            .iter()
            .map(|fault| ("cf", *fault))
            .chain(self.kubernetes.iter().map(|fault| ("kubernetes", *fault)))
            .collect();
        if let Some((side, fault)) = self.random.pick(&all).copied() {
            let after = self.random.below(4);
            self.lines.push(format!("fault {side} {fault} after {after}"));
        }
    }

    fn delete(&mut self) {
        match self.random.below(8) {
            0 => {
                let zone = &ZONES[self.random.below(self.zones)];
                self.lines.push(format!("delete zone/{} -n {}", zone.object, zone.namespace));
                if self.random.chance(50) {
                    self.time();
                }
                self.lines.push(format!("apply {}", zone_manifest(zone)));
            }
            1 if self.zones > 1 => self.lines.push("delete namespace/apps".to_owned()),
            _ => {
                let Some(index) = self.any() else { return };
                let record = self.records[index].clone();
                self.lines.push(format!("delete dnsrecord/{} -n {}", record.object, namespace(&record)));
                if self.random.chance(60) {
                    self.time();
                    self.lines.push(format!("apply {}", manifest(&record)));
                }
            }
        }
    }

    fn crash(&mut self) {
        if self.random.chance(40) {
            self.lines.push("crash".to_owned());
        } else {
            let (write, side) = (1 + self.random.below(6), ["before", "after"][self.random.below(2)]);
            self.lines.push(format!("crash at write {write} {side}"));
            self.time();
        }
        self.lines.push("start".to_owned());
    }

    /// Somebody else makes an object of the kind that a resource wants, or would.
    fn stranger(&mut self) {
        let Some(index) = self.any() else { return };
        let record = &self.records[index];
        // Where adoption is allowed, the object may be taken over; elsewhere nobody may touch it.
        let comment = if record.policy.is_some() { "up for adoption" } else { HANDS_OFF };
        let wanted = spec(record);
        let mut fields = format!("comment=\"{comment}\"");
        for field in ["content", "priority"] {
            if let Some(value) = wanted.get(field) {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                fields.push_str(&format!(" {field}=\"{}\"", text.replace('"', "\\\"")));
            }
        }
        if let Some(data) = wanted.get("data") {
            fields.push_str(&format!(" \"data={}\"", data.to_string().replace('"', "\\\"")));
        }
        let line = format!("cf create record {}. {} {fields}", full_name(record), record.kind);
        self.lines.push(line);
    }

    /// Somebody edits or deletes what stands at a resource's name, in the dashboard.
    fn dashboard(&mut self) {
        let Some(index) = self.any() else { return };
        self.dashboard = true;
        let record = &self.records[index];
        let (name, kind) = (full_name(record), record.kind);
        let line = if self.random.chance(50) {
            format!("cf set record {name}. {kind} ttl=7200")
        } else {
            format!("cf delete record {name}. {kind}")
        };
        self.lines.push(line);
    }
}

fn namespace(record: &Record) -> &'static str {
    ZONES[record.zone].namespace
}

fn full_name(record: &Record) -> String {
    format!("{}.{}", record.host, ZONES[record.zone].domain)
}

fn zone_manifest(zone: &Zone) -> Value {
    json!({
        "apiVersion": "kflare.dev/v1alpha1",
        "kind": "Zone",
        "metadata": { "name": zone.object, "namespace": zone.namespace },
        "spec": { "name": zone.domain, "accountRef": { "name": "main" } },
    })
}

fn manifest(record: &Record) -> Value {
    let mut annotations = BTreeMap::new();
    if let Some(policy) = record.policy {
        annotations.insert("kflare.dev/adoption-policy", policy);
    }
    let mut spec = spec(record);
    spec["zoneRef"] = json!({ "name": ZONES[record.zone].object });
    spec["name"] = json!(record.host);
    spec["type"] = json!(record.kind);
    json!({
        "apiVersion": "kflare.dev/v1alpha1",
        "kind": "DNSRecord",
        "metadata": { "name": record.object, "namespace": namespace(record), "annotations": annotations },
        "spec": spec,
    })
}

/// What may change in a record's spec, in its current version.
fn spec(record: &Record) -> Value {
    let n = record.version + 1;
    match record.kind {
        "A" => json!({ "content": format!("192.0.2.{n}") }),
        "AAAA" => json!({ "content": format!("2001:DB8::{n}") }),
        "CNAME" => json!({ "content": format!("T{n}.example.net.") }),
        "MX" => json!({ "content": format!("mx{n}.example.net"), "priority": n }),
        "SRV" => json!({ "data": { "priority": n, "weight": 5, "port": 5060, "target": "sip.example.net" } }),
        "CAA" => json!({ "data": { "flags": 0, "tag": "issue", "value": format!("ca{n}.example.net") } }),
        _ => json!({ "content": format!("text number {n}") }),
    }
}
