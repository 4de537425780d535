//! A world in YAML that answers reads and acts as the two APIs would, in as few lines as a plan table needs.
//! Stands in for `gather` and `send`; the real worlds are in the sandbox.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use cf_api::budget::Class;
use cf_api::error::{ApiError, ApiMessage};
use expect_test::Expect;
use jiff::Timestamp;
use kinds::{Key, Resource, names};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::act::{Act, CredId, Decision, Outcome, Reply, Request, Target, Write};
use crate::policy::Deletion;
use crate::read::{Read, ReadAnswer, What};
use crate::snapshot::{Claim, Credential, Lookup, Member, Memory, ReadFault, SecretFacts, Snapshot};
use crate::{MemberId, UnitKey, absorb, decide, fold, limits, protection, reads, report};

pub(super) const ZONE: &str = "0000000000000000000000000000abcd";
pub(super) const ACCOUNT: &str = "000000000000000000000000000000ac";

/// The world of a plan table.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct World {
    /// Resources of the kind under test; `metadata` and `spec` as users write them.
    pub(super) objects: Vec<Value>,
    /// Replaces the ready Zone `example-com`; null: it does not exist.
    pub(super) zone: Option<Value>,
    /// What exists in Cloudflare, with `id`.
    pub(super) live: Vec<Value>,
    /// Claims of resources that are not due: external ID to `namespace/name`.
    pub(super) claims: BTreeMap<String, String>,
    /// Dependents of the first object.
    pub(super) dependents: Vec<String>,
    /// Cloudflare refuses writes whose body holds this text, with this code.
    pub(super) refuses: BTreeMap<String, i64>,
    /// The status of those refusals, if not 400.
    pub(super) refusal_status: Option<u16>,
    /// How many seconds ago what the objects rest on came to be, if not long ago.
    pub(super) age: Option<i64>,
    /// Others that stand for the same object as each of the objects.
    pub(super) sharers: Vec<Sharer>,
    /// Creates whose body holds this text are carried out and never answered.
    pub(super) lost: Vec<String>,
    /// Reads fail with this status.
    pub(super) reads_fail: Option<u16>,
    /// The Secret's finalizers; null: it does not exist.
    pub(super) secret: Option<Vec<String>>,
    /// The token's state at Cloudflare.
    pub(super) token: Option<String>,
    /// It is the placeholder of the samples.
    pub(super) placeholder: bool,
    /// The default deletion policy.
    pub(super) retain: bool,
    /// The shared document.
    pub(super) document: Value,
    /// A cache is not synced.
    pub(super) incomplete: bool,
    /// How many records the zone may hold.
    pub(super) quota: Option<usize>,
    /// Lists come in two pages.
    pub(super) two_pages: bool,
    /// IDs of objects that moved from one page to another while a list was read, so that neither shows them.
    pub(super) unlisted: Vec<String>,
    /// Requires an account that allows these namespaces only.
    pub(super) allowed: Value,
    /// Labels of the objects' namespace.
    pub(super) namespace_labels: BTreeMap<String, String>,
    /// Seconds after the table's time zero.
    #[serde(skip)]
    pub(super) clock: i64,
    /// What the unit remembers of earlier passes.
    #[serde(skip)]
    pub(super) memory: Memory,
    #[serde(skip)]
    created: usize,
    /// What `predict` calls the objects that were created, by their IDs.
    #[serde(skip)]
    stand_ins: BTreeMap<String, String>,
}

/// Another resource of the kind.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Sharer {
    /// As users write it; null: it could not be read.
    pub(super) object: Value,
    /// The ID of its account, if it is another one; `missing` or `unknown`.
    pub(super) account: Option<String>,
    /// What waits for it.
    pub(super) dependents: Vec<String>,
}

/// 2026-01-01T00:00:00Z.
const TIME_ZERO: i64 = 1_767_225_600;

/// What a table is about: a kind of ours by name, or a row that only a test has.
pub(super) trait Tested {
    fn row(self) -> &'static kinds::Kind;
}

impl Tested for &str {
    fn row(self) -> &'static kinds::Kind {
        kinds::kind(self).expect("a kind")
    }
}

impl Tested for &'static kinds::Kind {
    fn row(self) -> &'static kinds::Kind {
        self
    }
}

/// Runs the world to its end and compares what was done; then runs it once more and expects that nothing is.
#[track_caller]
pub(super) fn check(kind: impl Tested, yaml: &str, expected: &Expect) {
    let mut world: World = serde_saphyr::from_str(yaml).expect("the table's YAML");
    let kind = kind.row();
    let predicted = world.predicted(kind);
    let passed = world.pass(kind);
    expected.assert_eq(&passed);
    world.compare(predicted, &passed);
    let again = world.pass(kind);
    assert!(!again.contains("stage"), "the second pass still writes:\n{again}");
    assert!(!again.contains("status:"), "the second pass writes status again:\n{again}");
}

/// Like [`check`], for worlds that are not at rest after one pass.
#[track_caller]
pub(super) fn check_once(kind: impl Tested, yaml: &str, expected: &Expect) -> World {
    let mut world: World = serde_saphyr::from_str(yaml).expect("the table's YAML");
    let kind = kind.row();
    let predicted = world.predicted(kind);
    let passed = world.pass(kind);
    expected.assert_eq(&passed);
    world.compare(predicted, &passed);
    world
}

impl World {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(TIME_ZERO + self.clock).unwrap()
    }

    /// One pass over all objects: what was decided and reported, as text.
    pub(super) fn pass(&mut self, kind: &'static kinds::Kind) -> String {
        let mut snapshot = self.gather(kind);
        let mut out = String::new();
        for _ in 0..limits::ROUNDS_MAX {
            loop {
                let wanted = reads(&snapshot);
                if wanted.is_empty() {
                    break;
                }
                for read in wanted {
                    let answer = self.answer(&read);
                    fold(&mut snapshot, &read, answer, self.now());
                }
            }
            let decision = decide(&snapshot, self.now());
            let Decision::Stage(acts) = &decision else { break };
            let _ = write!(out, "{decision}");
            for act in acts {
                let outcome = self.send(act);
                absorb(&mut snapshot, act, outcome, self.now());
            }
        }
        for (id, report) in report(&snapshot, self.now()) {
            self.tell(&id, &report, &mut out);
        }
        out
    }

    /// The stages of a pass in which `predict` answers every act; none where something goes wrong, which it cannot know.
    fn predicted(&mut self, kind: &'static kinds::Kind) -> Option<String> {
        if !self.refuses.is_empty() || !self.lost.is_empty() {
            return None;
        }
        let mut snapshot = self.gather(kind);
        let mut out = String::new();
        for _ in 0..limits::ROUNDS_MAX {
            let wanted = reads(&snapshot);
            for read in &wanted {
                let answer = self.answer(read);
                fold(&mut snapshot, read, answer, self.now());
            }
            if !wanted.is_empty() {
                continue;
            }
            let decision = decide(&snapshot, self.now());
            let Decision::Stage(acts) = &decision else { break };
            let _ = write!(out, "{decision}");
            for act in acts {
                let outcome = crate::predict(act, &snapshot);
                absorb(&mut snapshot, act, outcome, self.now());
            }
        }
        Some(out)
    }

    /// What was predicted is what was done, but for the IDs and versions that only the APIs know.
    #[track_caller]
    fn compare(&self, predicted: Option<String>, passed: &str) {
        let Some(predicted) = predicted else { return };
        let is_act = |line: &&str| !line.starts_with("status:") && !line.starts_with("next:");
        let mut passed: Vec<String> = passed.lines().filter(is_act).map(str::to_owned).collect();
        for line in &mut passed {
            for (id, stand_in) in &self.stand_ins {
                *line = line.replace(id, stand_in);
            }
        }
        assert_eq!(
            predicted.replace("+\"", "\""),
            passed.iter().map(|line| format!("{line}\n")).collect::<String>()
        );
    }

    fn tell(&mut self, id: &MemberId, report: &crate::Report, out: &mut String) {
        if let Some(status) = &report.status {
            let condition = &status["conditions"][0];
            let text = |name: &str| condition[name].as_str().unwrap_or_default().to_owned();
            let _ = writeln!(
                out,
                "status: {id} Ready={} {}: {}",
                text("status"),
                text("reason"),
                text("message")
            );
            let object = self.object(&id.key);
            object["status"] = status.clone();
        }
        let _ = writeln!(out, "next: {id} {:?}", report.next);
    }

    fn object(&mut self, key: &Key) -> &mut Value {
        let found = self.objects.iter_mut().find(|object| {
            let text = |name: &str| object["metadata"][name].as_str().unwrap_or_default();
            text("name") == key.name && text("namespace") == key.namespace
        });
        found.expect("an object of the table")
    }

    fn gather(&mut self, kind: &'static kinds::Kind) -> Snapshot {
        let unit = match kind.name {
            "DNSRecord" | "Toy" => UnitKey::Children { kind: kind.name, parent: ZONE.to_owned() },
            _ => UnitKey::Object(MemberId::new(kind, Key::default())),
        };
        let mut members = BTreeMap::new();
        let mut claims: BTreeMap<String, Vec<Claim>> = BTreeMap::new();
        for (external, who) in &self.claims {
            let (namespace, name) = who.split_once('/').unwrap();
            let member = MemberId::new(kind, Key::new(namespace, name));
            claims.entry(external.clone()).or_default().push(Claim { member, recorded: true, created: None });
        }
        for object in &mut self.objects {
            object["metadata"]["uid"] =
                json!(format!("uid-{}", object["metadata"]["name"].as_str().unwrap()));
            if object["metadata"]["generation"].is_null() {
                object["metadata"]["generation"] = json!(1);
            }
        }
        for object in self.objects.clone() {
            let mut member = self.member(kind, serde_json::from_value(object).unwrap());
            let id = MemberId::new(kind, member.object.key());
            member.sharers = self.sharers(kind);
            if let Some(external) = kind.external_id(&member.object).filter(|_| kind.identity.claims) {
                let recorded = member.object.status_str(kind.identity.status) == Some(external);
                let claim = Claim {
                    member: id.clone(),
                    recorded,
                    created: member.object.metadata.creation_timestamp,
                };
                claims.entry(external.to_owned()).or_default().push(claim);
            }
            members.insert(id, member);
        }
        let mut snapshot = Snapshot {
            unit,
            members,
            claims,
            listing: crate::Observed::Unread,
            document: crate::Observed::Unread,
            complete: !self.incomplete,
            usage_asked: false,
            refused: Default::default(),
            memory: self.memory.clone(),
            deletion_default: if self.retain { Deletion::Retain } else { Deletion::Delete },
        };
        crate::context::note_ages(&mut snapshot, self.now());
        snapshot
    }

    /// Sharers are named `web/<number>` when they cannot be read.
    fn sharers(&self, kind: &'static kinds::Kind) -> BTreeMap<MemberId, Lookup<Member>> {
        let sharer = |(number, sharer): (usize, &Sharer)| {
            if sharer.object.is_null() {
                let id = MemberId::new(kind, Key::new("web", number.to_string()));
                return (id, Lookup::Unknown("its cached copy cannot be read".to_owned()));
            }
            let mut member = self.member(kind, serde_json::from_value(sharer.object.clone()).unwrap());
            member.dependents.clone_from(&sharer.dependents);
            match (sharer.account.as_deref(), &mut member.account) {
                (Some("missing"), account) => *account = Lookup::Missing,
                (Some("unknown"), account) => *account = Lookup::Unknown("no answer".to_owned()),
                (Some(other), Lookup::Found(account)) => {
                    Arc::make_mut(account).spec["accountID"] = json!(other);
                }
                _ => {}
            }
            (MemberId::new(kind, member.object.key()), Lookup::Found(member))
        };
        self.sharers.iter().enumerate().map(sharer).collect()
    }

    fn member(&self, kind: &'static kinds::Kind, object: Resource) -> Member {
        let secret = Key::new("kflare", "token");
        let account: Resource = serde_json::from_value(json!({
            "metadata": {"name": "acct"},
            "spec": {"accountID": ACCOUNT, "allowedNamespaces": self.allowed},
            "status": {"conditions": [{"type": "Ready", "status": "True"}]},
        }))
        .unwrap();
        let zone: Resource = serde_json::from_value(self.zone.clone().unwrap_or_else(|| {
            json!({
                "metadata": {"name": "example-com", "namespace": "apps"},
                "spec": {"name": "example.com"},
                "status": {
                    "cloudflareMetadata": {"zoneID": ZONE, "plan": "free"},
                    "conditions": [{"type": "Ready", "status": "True"}],
                },
            })
        }))
        .unwrap_or_default();
        let exists = !matches!(&self.zone, Some(Value::String(gone)) if gone == "missing");
        let mut member = Member::new(kind, object, Class::User);
        for reference in kind.references {
            let found = if reference.kind == "Zone" { zone.clone() } else { account.clone() };
            let lookup = if exists { Lookup::Found(Arc::new(found)) } else { Lookup::Missing };
            member.references.insert(reference.field, lookup);
        }
        member.account =
            Lookup::Found(Arc::new(if kind.secret.is_some() { member.object.clone() } else { account }));
        member.namespace = Lookup::Found(self.namespace_labels.clone());
        member.credential = match (&self.secret, kind.secret) {
            (None, Some(_)) => Credential::SecretMissing(secret.clone()),
            _ => Credential::Usable(CredId::new(&secret, "CF_API_TOKEN")),
        };
        member.has_placeholder = self.placeholder;
        member.dependents.clone_from(&self.dependents);
        member.newest = self.age.map(|age| self.now() - jiff::SignedDuration::from_secs(age));
        for key in [protection::referenced(&member), protection::recorded(&member)].into_iter().flatten() {
            let secret = self.secret.clone().map_or(Lookup::Missing, |finalizers| {
                let mut secret = Resource::default();
                secret.metadata.name.clone_from(&key.name);
                secret.metadata.namespace.clone_from(&key.namespace);
                secret.metadata.finalizers = finalizers;
                Lookup::Found(secret)
            });
            member.secrets.insert(key, SecretFacts { secret, shared: false });
        }
        member
    }

    fn answer(&self, read: &Read) -> ReadAnswer {
        if let Some(status) = self.reads_fail {
            return ReadAnswer::Failed(ReadFault::Api(error(status, 10_000, "no")));
        }
        match read.what {
            What::Verify => match self.token.as_deref() {
                Some("invalid") => ReadAnswer::Failed(ReadFault::Api(error(401, 1000, "Invalid API Token"))),
                status => ReadAnswer::One(json!({"id": "t", "status": status.unwrap_or("active")})),
            },
            What::Document => ReadAnswer::One(self.document.clone()),
            What::Usage => {
                ReadAnswer::One(json!({"record_quota": self.quota, "record_usage": self.live.len()}))
            }
            What::List => {
                let is_shown = |item: &&Value| !self.unlisted.iter().any(|id| item["id"] == **id);
                let items = self.live.iter().filter(is_shown).cloned().collect();
                ReadAnswer::Many { items, one_page: !self.two_pages }
            }
            What::Lookup => {
                let wanted = |name: &str| {
                    read.request.query.iter().find(|(key, _)| key == name).map(|(_, value)| value)
                };
                let name = wanted("name.exact").or_else(|| wanted("name"));
                let items = self.live.iter().filter(|item| item["name"].as_str() == name.map(String::as_str));
                ReadAnswer::Many { items: items.cloned().collect(), one_page: true }
            }
            What::Item | What::Recorded => {
                let id = read.request.path.rsplit('/').next().unwrap_or_default();
                match self.live.iter().find(|item| item["id"].as_str() == Some(id)) {
                    Some(item) => ReadAnswer::One(item.clone()),
                    None => ReadAnswer::Failed(ReadFault::Api(error(404, 81044, "Record does not exist."))),
                }
            }
        }
    }

    fn send(&mut self, act: &Act) -> Outcome {
        match &act.request {
            Request::Kubernetes(patch) if patch.target == Target::Secret => {
                let finalizers = patch.body["metadata"]["finalizers"].clone();
                self.secret = Some(serde_json::from_value(finalizers).unwrap_or_default());
                let mut secret = Resource::default();
                secret.metadata.name.clone_from(&patch.key.name);
                secret.metadata.namespace.clone_from(&patch.key.namespace);
                secret.metadata.finalizers = self.secret.clone().unwrap_or_default();
                Outcome::Done(Reply::Kubernetes(Box::new(secret)))
            }
            Request::Kubernetes(patch) => {
                let object = self.object(&patch.key);
                merge(object, &patch.body);
                Outcome::Done(Reply::Kubernetes(Box::new(serde_json::from_value(object.clone()).unwrap())))
            }
            Request::Cloudflare { call, .. } => {
                let text = call.to_string();
                if let Some((word, code)) = self.refuses.iter().find(|(word, _)| text.contains(*word)) {
                    return Outcome::Refused(error(
                        self.refusal_status.unwrap_or(400),
                        *code,
                        &format!("refused because of {word}"),
                    ));
                }
                if crate::document::is_write(act) {
                    self.document = call.body.clone().unwrap();
                    return Outcome::Done(Reply::Cloudflare(self.document.clone()));
                }
                let lost = self.lost.iter().any(|word| text.contains(word));
                let results: Vec<Value> = act.parts.iter().map(|part| self.write(&part.write)).collect();
                for (part, result) in act.parts.iter().zip(&results) {
                    if let (Write::Create(_), Some(id)) = (&part.write, result["id"].as_str()) {
                        self.stand_ins.insert(id.to_owned(), crate::predict::stand_in(&part.member));
                    }
                }
                match results.as_slice() {
                    _ if lost => Outcome::Unknown(cf_api::error::Cause::Timeout),
                    [one] => Outcome::Done(Reply::Cloudflare(one.clone())),
                    _ => Outcome::Done(Reply::Batch(results)),
                }
            }
        }
    }

    fn write(&mut self, write: &Write) -> Value {
        match write {
            Write::Create(body) => {
                self.created += 1;
                let mut object = body.clone();
                object["id"] = json!(format!("new{}", self.created));
                object["created_on"] = json!(self.now().to_string());
                self.live.push(object.clone());
                object
            }
            Write::Update(id, body) => {
                let object =
                    self.live.iter_mut().find(|item| item["id"] == json!(id)).expect("the updated object");
                merge(object, body);
                object.clone()
            }
            Write::Delete(id) => {
                self.live.retain(|item| item["id"] != json!(id));
                json!({"id": id})
            }
            _ => Value::Null,
        }
    }
}

fn error(status: u16, code: i64, text: &str) -> ApiError {
    ApiError::new(status, vec![ApiMessage::new(code, text)])
}

fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    for (name, change) in changes {
        if change.is_null() {
            target.as_object_mut().unwrap().remove(name);
        } else {
            merge(&mut target[name.as_str()], change);
        }
    }
}

#[test]
fn the_creating_annotation_has_the_contracts_name() {
    assert_eq!(names::CREATING, "kflare.dev/creating");
}
