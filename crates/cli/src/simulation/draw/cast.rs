//! Who is there: namespaces, accounts, zones and records, and their manifests.
//! What happens to them is drawn elsewhere.

use serde_json::{Map, Value, json};

use super::value::{self, Fields};
use super::{Drawing, Group};
use crate::world::{ACCOUNT_ID, SECRET_NAME, SECRET_NAMESPACE, TOKEN, TOKEN_KEY};

/// Records of a world. Few, so that things meet; many enough for batches.
const RECORDS_MAX: usize = 9;

/// The tokens besides the first; no output may ever show them.
pub(in super::super) const SECOND_TOKEN: &str = "secondTokenThatNoOutputMayEverShow000000";
pub(in super::super) const THIRD_TOKEN: &str = "thirdTokenThatNoOutputMayEverShow0000000";

/// An account and where its token lies.
#[derive(Clone, Debug)]
pub(super) struct Account {
    pub(super) object: &'static str,
    pub(super) secret: &'static str,
    pub(super) key: &'static str,
    pub(super) token: &'static str,
}

/// A zone's object.
#[derive(Clone, Debug)]
pub(super) struct Zone {
    pub(super) object: &'static str,
    pub(super) domain: &'static str,
    pub(super) namespace: &'static str,
    pub(super) account: &'static str,
    pub(super) plan: Option<&'static str>,
    pub(super) policy: Option<&'static str>,
}

/// A record's object.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) object: String,
    pub(super) zone: usize,
    pub(super) host: String,
    pub(super) kind: &'static str,
    /// Which of its values it has.
    pub(super) version: usize,
    pub(super) fields: Fields,
    pub(super) policy: Option<&'static str>,
}

impl Drawing {
    /// Draws everybody. Tokens that the accounts name are issued first.
    pub(super) fn draw_cast(&mut self) {
        let main = Account { object: "main", secret: SECRET_NAME, key: TOKEN_KEY, token: TOKEN };
        self.accounts.push(main);
        if self.random.chance(25) {
            let token = SECOND_TOKEN;
            self.line(format!("cf token issue {token}"));
            self.accounts.push(Account { object: "second", secret: "second-token", key: "token", token });
        }
        self.draw_zones();
        self.draw_records();
    }

    fn draw_zones(&mut self) {
        let main = Zone {
            object: "example-com",
            domain: "example.com",
            namespace: "default",
            account: "main",
            plan: None,
            policy: None,
        };
        let org = Zone { object: "example-org", domain: "example.org", namespace: "apps", ..main.clone() };
        let shared =
            Zone { object: "shared", namespace: "team", policy: Some("adopt-or-create"), ..main.clone() };
        let mut zones = vec![main];
        if self.random.chance(50) {
            zones.push(org);
        }
        if self.random.chance(25) {
            zones.push(shared);
        }
        for mut zone in zones {
            let accounts: Vec<_> = self.accounts.iter().map(|account| account.object).collect();
            zone.account = self.random.pick(&accounts).copied().unwrap_or("main");
            // Tags need a paid plan.
            zone.plan = self.random.chance(25).then_some("pro");
            if self.has(Group::Adoption) && self.random.chance(30) {
                zone.policy =
                    self.random.pick(&[Some("adopt"), Some("adopt-or-create"), None]).copied().flatten();
            }
            if self.has(Group::ZoneDesk) && self.random.chance(30) {
                self.line(format!("cf create zone {} plan=pro", zone.domain));
            }
            self.zones.push(zone);
        }
    }

    fn draw_records(&mut self) {
        let kinds = if self.random.chance(50) { value::COMMON } else { value::ALL };
        for index in 0..2 + self.random.below(RECORDS_MAX) {
            let kind = self.random.pick(kinds).copied().unwrap_or("A");
            let zone = self.random.below(self.zones.len());
            let host = self.host(kind, index);
            let fields = Fields::draw(&mut self.random, kind);
            let adopts = self.has(Group::Adoption);
            let policy = match self.random.below(5) {
                0 => Some("adopt-or-create"),
                1 if adopts => Some("adopt"),
                _ => None,
            };
            let record = Record { object: format!("r{index}"), zone, host, kind, version: 0, fields, policy };
            if kind == "NS" && self.random.chance(60) {
                // A DS stands only beside the NS that delegates its name.
                self.records.push(Record { object: format!("r{index}-ds"), kind: "DS", ..record.clone() });
            }
            if self.random.chance(15) {
                // The same once more: only one of the two can have it.
                self.records.push(Record { object: format!("r{index}-twin"), ..record.clone() });
            }
            if self.random.chance(10) {
                // Another value of the same set.
                self.records.push(Record {
                    object: format!("r{index}-other"),
                    version: 40,
                    ..record.clone()
                });
            }
            self.records.push(record);
        }
    }

    fn host(&mut self, kind: &str, index: usize) -> String {
        match kind {
            "SRV" | "URI" => format!("_r{index}._tcp"),
            "TLSA" => format!("_443._tcp.r{index}"),
            "SMIMEA" => format!("h{index}._smimecert"),
            "NS" | "DS" | "CNAME" => format!("r{index}"),
            _ => match self.random.below(12) {
                0 => "@".to_owned(),
                1 => format!("*.r{index}"),
                2 => format!("a.b.r{index}"),
                3 => format!("R{index}"),
                _ => format!("r{index}"),
            },
        }
    }

    /// `apply` for everybody.
    pub(super) fn manifests(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for account in &self.accounts[1..] {
            lines.push(format!("apply {}", secret_manifest(account.secret, &[(account.key, account.token)])));
            lines.push(format!("apply {}", account.manifest()));
        }
        lines.extend(self.zones.iter().map(|zone| format!("apply {}", zone.manifest())));
        lines.extend(self.records.iter().map(|record| format!("apply {}", self.record_manifest(record))));
        lines
    }

    pub(super) fn record_manifest(&self, record: &Record) -> Value {
        let zone = &self.zones[record.zone];
        let mut spec = record.spec();
        spec["zoneRef"] = json!({ "name": zone.object });
        spec["name"] = json!(record.host);
        spec["type"] = json!(record.kind);
        object("DNSRecord", &record.object, Some(zone.namespace), record.policy, spec)
    }

    /// `dnsrecord/r1 -n apps`.
    pub(super) fn record_word(&self, record: &Record) -> String {
        format!("dnsrecord/{} -n {}", record.object, self.zones[record.zone].namespace)
    }

    /// The record's name in Cloudflare, with its final dot.
    pub(super) fn full_name(&self, record: &Record) -> String {
        let domain = self.zones[record.zone].domain;
        match record.host.to_lowercase().as_str() {
            "@" => format!("{domain}."),
            host => format!("{host}.{domain}."),
        }
    }
}

impl Account {
    pub(super) fn manifest(&self) -> Value {
        let secret = json!({ "name": self.secret, "namespace": SECRET_NAMESPACE, "key": self.key });
        object(
            "CloudflareAccount",
            self.object,
            None,
            None,
            json!({ "accountID": ACCOUNT_ID, "tokenSecretRef": secret }),
        )
    }
}

impl Zone {
    pub(super) fn manifest(&self) -> Value {
        let mut spec = json!({ "name": self.domain, "accountRef": { "name": self.account } });
        if let Some(plan) = self.plan {
            spec["plan"] = json!(plan);
        }
        object("Zone", self.object, Some(self.namespace), self.policy, spec)
    }

    /// `zone/example-org -n apps`.
    pub(super) fn word(&self) -> String {
        format!("zone/{} -n {}", self.object, self.namespace)
    }
}

impl Record {
    /// What may change in its spec.
    pub(super) fn spec(&self) -> Value {
        let mut spec = value::of(self.kind, self.version);
        self.fields.put(&mut spec);
        spec
    }
}

fn object(kind: &str, name: &str, namespace: Option<&str>, policy: Option<&str>, spec: Value) -> Value {
    let mut metadata = Map::new();
    metadata.insert("name".to_owned(), json!(name));
    if let Some(namespace) = namespace {
        metadata.insert("namespace".to_owned(), json!(namespace));
    }
    if let Some(policy) = policy {
        metadata.insert("annotations".to_owned(), json!({ kinds::names::ADOPTION_POLICY: policy }));
    }
    json!({ "apiVersion": kinds::names::API_VERSION, "kind": kind, "metadata": metadata, "spec": spec })
}

pub(super) fn namespace_manifest(name: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } })
}

/// A Secret with these entries.
pub(in super::super) fn secret_manifest(name: &str, entries: &[(&str, &str)]) -> Value {
    let data: Map<String, Value> =
        entries.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
    let metadata = json!({ "name": name, "namespace": SECRET_NAMESPACE });
    json!({ "apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": data })
}
