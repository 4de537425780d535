//! What happened in a world, from the two worlds' own books: every version of every object, every change of every
//! record. Facts in a form that checkers can ask; judges nothing and knows nothing of `plan`.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use kinds::names;
use sandbox::cloudflare::{Change, ChangeKind, OUT_OF_BAND, ObjectKind};
use sandbox::kubernetes::{Author, Version};
use serde_json::Value;

use super::object::{annotation, label, path, text};
use crate::world::World;

/// All that happened.
#[derive(Debug)]
pub(super) struct Facts {
    /// Objects of our kinds by uid.
    pub(super) lives: BTreeMap<String, Life>,
    /// Other objects by kind, namespace and name.
    others: BTreeMap<(String, String, String), Life>,
    /// Changes at Cloudflare, oldest first.
    pub(super) changes: Vec<Change>,
    /// By the ID of each object at Cloudflare: who made it, and when.
    makers: BTreeMap<String, (String, Timestamp)>,
    /// The domains of all zones that ever were, by ID.
    pub(super) domains: BTreeMap<String, String>,
    /// Without a policy, objects stay.
    pub(super) keeps_by_default: bool,
}

/// The versions of one object, oldest first.
#[derive(Debug, Default)]
pub(super) struct Life {
    pub(super) kind: String,
    pub(super) versions: Vec<Version>,
}

/// A resource that named an object of Cloudflare's, in its label or status.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim<'f> {
    pub(super) life: &'f Life,
    /// The first version that did.
    pub(super) first: &'f Version,
}

/// A record's zone, name and type.
pub(super) type Place = (String, String, String);

impl Life {
    /// The object as it was then; none before it was made and after it went.
    pub(super) fn at(&self, time: Timestamp) -> Option<&Value> {
        let end = self.versions.partition_point(|version| version.at <= time);
        let last = self.versions[..end].last()?;
        (!last.is_last).then_some(&last.object)
    }

    /// The object as it was last.
    pub(super) fn last(&self) -> &Value {
        self.versions.last().map_or(&Value::Null, |version| &version.object)
    }

    /// Every version that counted at some time between the two.
    pub(super) fn between(&self, from: Timestamp, to: Timestamp) -> impl Iterator<Item = &Version> {
        let first = self.versions.partition_point(|version| version.at <= from).saturating_sub(1);
        self.versions[first..].iter().take_while(move |version| version.at <= to)
    }

    /// `namespace/name`, for messages.
    pub(super) fn name(&self) -> String {
        let object = self.last();
        let (namespace, name) = (text(object, "/metadata/namespace"), text(object, "/metadata/name"));
        format!("{} {namespace}/{name}", self.kind)
    }

    /// True when a person changed by hand what kflare relies on: the claim, the status, its marks, the finalizer.
    pub(super) fn was_tampered_with(&self) -> bool {
        let relied_on = |object: &Value| {
            let had = |finalizers: &Value| {
                finalizers.as_array().into_iter().flatten().any(|finalizer| finalizer == names::FINALIZER)
            };
            (
                object["metadata"]["labels"].clone(),
                object["status"].clone(),
                [names::CREATING, names::ADOPTED, names::DELETING]
                    .map(|key| annotation(object, key).to_owned()),
                had(&object["metadata"]["finalizers"]),
            )
        };
        self.versions.windows(2).any(|pair| {
            pair[1].author == Author::Scene
                && !pair[1].is_last
                && relied_on(&pair[0].object) != relied_on(&pair[1].object)
        }) || self
            .versions
            .last()
            .is_some_and(|last| last.is_last && last.author == Author::Scene && self.had_finalizer())
    }

    fn had_finalizer(&self) -> bool {
        let before = self.versions.len().checked_sub(2).and_then(|at| self.versions.get(at));
        before.is_some_and(|version| {
            let finalizers = version.object["metadata"]["finalizers"].as_array();
            finalizers.into_iter().flatten().any(|finalizer| finalizer == names::FINALIZER)
        })
    }
}

impl Facts {
    /// What a world remembers; one that keeps its history.
    pub(super) fn of(world: &World) -> Self {
        // An operator that leads says so every other second, and nothing is promised of that.
        let versions = world.kubernetes.history_of(|kind| kind != "Lease");
        let facts = Self::new(versions, world.cloudflare.history());
        Self { keeps_by_default: world.options().retain, ..facts }
    }

    /// Puts in order what happened, oldest first.
    pub(super) fn new(versions: Vec<Version>, changes: Vec<Change>) -> Self {
        let mut facts = Self {
            lives: BTreeMap::new(),
            others: BTreeMap::new(),
            changes,
            makers: BTreeMap::new(),
            domains: BTreeMap::new(),
            keeps_by_default: false,
        };
        for version in versions {
            let key = |pointer| text(&version.object, pointer).to_owned();
            let life = if kinds::kind(&version.kind).is_some() {
                facts.lives.entry(key("/metadata/uid")).or_default()
            } else {
                let place = (version.kind.clone(), key("/metadata/namespace"), key("/metadata/name"));
                facts.others.entry(place).or_default()
            };
            life.kind.clone_from(&version.kind);
            life.versions.push(version);
        }
        for change in facts.changes.iter().filter(|change| change.kind == ChangeKind::Create) {
            facts.makers.insert(change.id.clone(), (change.who.clone(), change.at));
            if let (ObjectKind::Zone, Some(zone)) = (change.object, &change.after) {
                facts.domains.insert(change.id.clone(), text(zone, "/name").to_owned());
            }
        }
        facts
    }

    /// Objects of one of our kinds.
    pub(super) fn of_kind<'f>(&'f self, kind: &'f str) -> impl Iterator<Item = &'f Life> {
        self.lives.values().filter(move |life| life.kind == kind)
    }

    /// An object that is named rather than known by its uid, as it was then.
    pub(super) fn named<'f>(
        &'f self,
        kind: &str,
        namespace: &str,
        name: &str,
        time: Timestamp,
    ) -> Option<&'f Value> {
        if kinds::kind(kind).is_none() {
            let place = (kind.to_owned(), namespace.to_owned(), name.to_owned());
            return self.others.get(&place)?.at(time);
        }
        let of_kind = self.lives.values().filter(|life| life.kind == kind);
        of_kind.filter_map(|life| life.at(time)).find(|object| {
            text(object, "/metadata/name") == name && text(object, "/metadata/namespace") == namespace
        })
    }

    /// True when somebody else than kflare made this object of Cloudflare's.
    pub(super) fn is_foreign(&self, id: &str) -> bool {
        self.makers.get(id).is_none_or(|(who, _)| who == OUT_OF_BAND)
    }

    /// When an object of Cloudflare's was made.
    pub(super) fn made(&self, id: &str) -> Option<Timestamp> {
        self.makers.get(id).map(|(_, at)| *at)
    }

    /// The Events, each with its versions.
    pub(super) fn events(&self) -> impl Iterator<Item = &Life> {
        self.others.iter().filter(|((kind, _, _), _)| kind == "Event").map(|(_, life)| life)
    }

    /// When anything changed in Kubernetes between two times, and those two.
    pub(super) fn moments(&self, from: Timestamp, to: Timestamp) -> Vec<Timestamp> {
        let versions = self.lives.values().chain(self.others.values()).flat_map(|life| &life.versions);
        let mut moments: Vec<Timestamp> =
            versions.map(|version| version.at).filter(|at| from < *at && *at < to).collect();
        moments.extend([from, to]);
        moments.sort_unstable();
        moments.dedup();
        moments
    }

    /// Who ever named this object of Cloudflare's.
    pub(super) fn claims(&self, id: &str) -> Vec<Claim<'_>> {
        let claim = |life| -> Option<Claim<'_>> {
            let life: &Life = life;
            let first =
                life.versions.iter().find(|version| named_ids(&life.kind, &version.object).contains(&id))?;
            Some(Claim { life, first })
        };
        self.lives.values().filter_map(claim).collect()
    }

    /// Where a DNSRecord's record is or would be: its domain, its name and its type.
    pub(super) fn wanted_place(&self, object: &Value, time: Timestamp) -> Option<Place> {
        let namespace = text(object, "/metadata/namespace");
        let zone = self.named("Zone", namespace, text(object, "/spec/zoneRef/name"), time)?;
        let domain = text(zone, "/spec/name").to_lowercase();
        Some((
            domain.clone(),
            full_name(text(object, "/spec/name"), &domain),
            text(object, "/spec/type").to_owned(),
        ))
    }

    /// Where a record at Cloudflare stands.
    pub(super) fn place(&self, change: &Change) -> Option<Place> {
        let record = change.after.as_ref().or(change.before.as_ref())?;
        let domain = self.domains.get(&change.zone_id)?.clone();
        Some((domain, text(record, "/name").to_owned(), text(record, "/type").to_owned()))
    }

    /// The resources that wanted this place at some time up to then.
    pub(super) fn wanting(&self, place: &Place, until: Timestamp) -> Vec<&Life> {
        let wants = |life: &&Life| {
            let versions = life.versions.iter().take_while(|version| version.at <= until);
            // The parent may have come, or gone, between two versions.
            let times = |version: &Version| [version.at, until];
            versions
                .flat_map(|version| times(version).map(|time| (version, time)))
                .any(|(version, time)| self.wanted_place(&version.object, time).as_ref() == Some(place))
        };
        self.of_kind("DNSRecord").filter(wants).collect()
    }
}

/// The IDs that an object of this kind names: in its label and in its status.
pub(super) fn named_ids<'o>(kind: &str, object: &'o Value) -> Vec<&'o str> {
    let Some(identity) = kinds::kind(kind).map(|kind| &kind.identity) else { return Vec::new() };
    let by_label = identity.label.map(|key| label(object, key));
    let status = path(object, "/status").unwrap_or(&Value::Null);
    let by_status = if identity.status.is_empty() { "" } else { text(status, identity.status) };
    by_label.into_iter().chain([by_status]).filter(|id| !id.is_empty()).collect()
}

/// A name as specs have it, in full and in lower case.
pub(super) fn full_name(name: &str, domain: &str) -> String {
    let name = name.to_lowercase();
    if name == "@" {
        return domain.to_owned();
    }
    match name.strip_suffix('.') {
        Some(full) => full.to_owned(),
        None if name == domain || name.ends_with(&format!(".{domain}")) => name,
        None => format!("{name}.{domain}"),
    }
}

/// A while before a time.
pub(super) fn before(time: Timestamp, seconds: i64) -> Timestamp {
    time.checked_sub(SignedDuration::from_secs(seconds)).unwrap_or(time)
}

/// A while after a time.
pub(super) fn after(time: Timestamp, seconds: i64) -> Timestamp {
    time.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(time)
}
