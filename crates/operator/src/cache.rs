//! What the watches know: each object as pruned bytes with an index row, parsed when a pass needs it.
//! Keeps facts and says what changed; whom a change wakes is decided in [`crate::routing`].

mod row;
mod secrets;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use kinds::{Key, Kind, Resource};
use plan::MemberId;
use plan::snapshot::{Claim, Lookup};

use self::row::{Row, is_newer};
use self::secrets::Secrets;

/// Where a version of an object comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A page of a list: believed even if its version is lower, because a restored etcd counts anew; but not against what
    /// was learned while the list was read, which its pages may be too old to show.
    List,
    /// A watch event.
    Watch,
    /// The answer to a write of ours, which must have led to this fingerprint if nobody else wrote meanwhile.
    Own(Option<u64>),
}

/// What an object shows to others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Hash of what objects that refer to it see.
    pub visible: u64,
    /// The external ID that it claims.
    pub claim: Option<Box<str>>,
    /// The generation that it is Ready for: what stands in Cloudflare for the claim is as that spec said.
    pub obeyed: Option<i64>,
    /// Hash of what it wants, as far as that never changes: who may be in whose way.
    pub wants: u64,
    /// The objects that it refers to.
    pub references: Box<[(&'static str, Key)]>,
}

/// What a version of an object changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The object.
    pub member: MemberId,
    /// Something of the object that we did not expect differs: it is looked at again.
    pub foreign: bool,
    /// What was seen before; `None` for a new object.
    pub before: Option<Seen>,
    /// What is seen now; `None` for one that is gone.
    pub after: Option<Seen>,
}

#[derive(Debug)]
struct Shelf {
    kind: &'static Kind,
    rows: BTreeMap<Key, Row>,
    /// By external ID. Pairs and not a set for each: nearly every one is claimed once.
    claims: BTreeSet<(Box<str>, Key)>,
    /// Who is not Ready because of what stands in Cloudflare, or does not, by what they want.
    at_odds: BTreeSet<(u64, Key)>,
    synced: bool,
    /// When the list that is being read, or was read last, began; in changes of all caches.
    list_began: u64,
}

/// All caches.
#[derive(Debug, Default)]
pub struct Cache {
    shelves: BTreeMap<&'static str, Shelf>,
    children: BTreeMap<(&'static str, Key), BTreeSet<MemberId>>,
    /// Those of the children that are not Ready.
    unready: BTreeMap<(&'static str, Key), BTreeSet<MemberId>>,
    secrets: Secrets,
    namespaces: BTreeMap<String, BTreeMap<String, String>>,
    namespaces_synced: bool,
    objects: usize,
    bytes: usize,
    changes: u64,
}

impl Cache {
    /// Empty caches of these kinds.
    #[must_use]
    pub fn new(kinds: &[&'static Kind]) -> Self {
        let shelf = |kind: &&'static Kind| {
            let kind = *kind;
            let (rows, claims, at_odds) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
            (kind.name, Shelf { kind, rows, claims, at_odds, synced: false, list_began: 0 })
        };
        Self { shelves: kinds.iter().map(shelf).collect(), ..Self::default() }
    }

    /// Takes a version of an object; `None` when the cache had it or a newer one.
    pub fn apply(&mut self, kind: &'static Kind, resource: &Resource, source: Source) -> Option<Change> {
        let key = resource.key();
        let shelf = self.shelves.get_mut(kind.name)?;
        if let Some(row) = shelf.rows.get_mut(&key)
            && *row.uid == *resource.metadata.uid
            && !is_newer(&resource.metadata.resource_version, row, source, shelf.list_began)
        {
            if matches!(source, Source::Own(_)) {
                // Its event was faster than the answer.
                row.expected = None;
            }
            return None;
        }
        let mut row = Row::of(kind, resource)?;
        let foreign = match (source, shelf.rows.get(&key)) {
            // Its deletion was seen before the answer to our write: the answer is history.
            (Source::Own(_), None) => return None,
            (Source::Own(expected), Some(old)) => row.fingerprint != expected.unwrap_or(old.fingerprint),
            (_, None) => true,
            (_, Some(old)) if row.fingerprint == old.fingerprint => {
                row.expected = old.expected;
                false
            }
            (_, Some(old)) => old.expected != Some(row.fingerprint),
        };
        self.changes += 1;
        row.learned = self.changes;
        let member = MemberId { kind: kind.name, key };
        let after = Some(row.seen.clone());
        let secrets = row.secrets.clone();
        let before = self.remove_row(&member);
        self.insert_row(&member, row);
        let left = before.iter().flat_map(|before| &before.secrets).filter(|key| !secrets.contains(*key));
        left.for_each(|secret| self.secrets.unused(secret, &member));
        Some(Change { member, foreign, before: before.map(|row| row.seen), after })
    }

    /// A write of ours is about to be sent that leads to this fingerprint if nobody else writes meanwhile: the event that
    /// shows it is no news, even if it comes before the answer (design §3). `None` when nothing is on its way any more.
    pub fn expect(&mut self, member: &MemberId, fingerprint: Option<u64>) {
        let shelf = self.shelves.get_mut(member.kind);
        if let Some(row) = shelf.and_then(|shelf| shelf.rows.get_mut(&member.key)) {
            row.expected = fingerprint;
        }
    }

    /// An object is gone. `uid` guards against an old event about an object made anew.
    pub fn delete(&mut self, kind: &'static Kind, key: &Key, uid: Option<&str>) -> Option<Change> {
        let row = self.shelves.get(kind.name)?.rows.get(key)?;
        if uid.is_some_and(|uid| uid != &*row.uid) {
            return None;
        }
        let member = MemberId { kind: kind.name, key: key.clone() };
        let before = self.remove_row(&member)?;
        before.secrets.iter().for_each(|secret| self.secrets.unused(secret, &member));
        Some(Change { member, foreign: true, before: Some(before.seen), after: None })
    }

    /// A list is about to be asked for: what is learned from here on, its pages may be too old to show.
    pub fn list_begins(&mut self, kind: &'static Kind) {
        if let Some(shelf) = self.shelves.get_mut(kind.name) {
            shelf.list_began = self.changes;
        }
    }

    /// Ends a list: what it did not hold is gone (the watcher itself tells nobody, kube issue 1590).
    pub fn listed(&mut self, kind: &'static Kind, held: &BTreeSet<Key>) -> Vec<Change> {
        let Some(shelf) = self.shelves.get_mut(kind.name) else { return Vec::new() };
        shelf.synced = true;
        let gone: Vec<Key> = shelf.rows.keys().filter(|key| !held.contains(*key)).cloned().collect();
        gone.iter().filter_map(|key| self.delete(kind, key, None)).collect()
    }

    /// The object, parsed.
    #[must_use]
    pub fn get(&self, kind: &str, key: &Key) -> Lookup<Resource> {
        let Some(shelf) = self.shelves.get(kind).filter(|shelf| shelf.synced) else {
            return Lookup::Unknown(format!("the {kind} objects have not been listed yet"));
        };
        let Some(row) = shelf.rows.get(key) else { return Lookup::Missing };
        match serde_json::from_slice(&row.bytes) {
            Ok(resource) => Lookup::Found(resource),
            Err(error) => Lookup::Unknown(format!("its cached copy cannot be read: {error}")),
        }
    }

    /// The version of an object that the cache has.
    #[must_use]
    pub fn version(&self, member: &MemberId) -> Option<&str> {
        Some(&self.shelves.get(member.kind)?.rows.get(&member.key)?.version)
    }

    /// The external ID that an object stands for.
    #[must_use]
    pub fn external_id(&self, kind: &str, key: &Key) -> Option<&str> {
        self.shelves.get(kind)?.rows.get(key)?.external.as_deref()
    }

    /// The objects that an object refers to.
    #[must_use]
    pub fn references(&self, member: &MemberId) -> &[(&'static str, Key)] {
        let row = self.shelves.get(member.kind).and_then(|shelf| shelf.rows.get(&member.key));
        row.map_or(&[], |row| &row.seen.references)
    }

    /// When an object was made.
    #[must_use]
    pub fn created(&self, member: &MemberId) -> Option<Timestamp> {
        self.shelves.get(member.kind)?.rows.get(&member.key)?.created
    }

    /// True while the cache holds the object.
    #[must_use]
    pub fn contains(&self, member: &MemberId) -> bool {
        self.shelves.get(member.kind).is_some_and(|shelf| shelf.rows.contains_key(&member.key))
    }

    /// True when the object is Ready.
    #[must_use]
    pub fn is_ready(&self, member: &MemberId) -> bool {
        self.shelves
            .get(member.kind)
            .and_then(|shelf| shelf.rows.get(&member.key))
            .is_some_and(|row| row.ready)
    }

    /// True when the object is being deleted.
    #[must_use]
    pub fn is_going(&self, member: &MemberId) -> bool {
        let row = self.shelves.get(member.kind).and_then(|shelf| shelf.rows.get(&member.key));
        row.is_some_and(|row| row.going)
    }

    /// The objects of a kind that want the same and are not Ready because of what stands in Cloudflare, or does not.
    pub fn at_odds(&self, kind: &'static str, wants: u64) -> impl Iterator<Item = MemberId> {
        let first = (wants, Key::default());
        let odds =
            self.shelves.get(kind).into_iter().flat_map(move |shelf| shelf.at_odds.range(first.clone()..));
        odds.take_while(move |(wanted, _)| *wanted == wants)
            .map(move |(_, key)| MemberId { kind, key: key.clone() })
    }

    /// The objects that refer to this one.
    pub fn children(&self, kind: &'static str, key: &Key) -> impl Iterator<Item = &MemberId> {
        self.children.get(&(kind, key.clone())).into_iter().flatten()
    }

    /// Those of them that are not Ready.
    pub fn unready_children(&self, kind: &'static str, key: &Key) -> impl Iterator<Item = &MemberId> {
        self.unready.get(&(kind, key.clone())).into_iter().flatten()
    }

    /// The objects whose token lies in this Secret, or that protect it.
    pub fn users_of_secret(&self, secret: &Key) -> impl Iterator<Item = &MemberId> {
        self.secrets.users(secret)
    }

    /// All objects of a kind.
    pub fn all<'c>(&'c self, kind: &'static str) -> impl Iterator<Item = MemberId> + use<'c> {
        let rows = self.shelves.get(kind).into_iter().flat_map(|shelf| shelf.rows.keys());
        rows.map(move |key| MemberId { kind, key: key.clone() })
    }

    /// All objects in a namespace.
    pub fn in_namespace<'c>(&'c self, namespace: &'c str) -> impl Iterator<Item = MemberId> + 'c {
        let first = Key::new(namespace, "");
        self.shelves.iter().flat_map(move |(kind, shelf)| {
            let rows = shelf.rows.range(first.clone()..);
            rows.map(|(key, _)| key)
                .take_while(move |key| key.namespace == namespace)
                .map(|key| MemberId { kind, key: key.clone() })
        })
    }

    /// Who claims these external IDs, among the resources whose parent exists: a claim whose parent is gone does not
    /// count (contract K11).
    #[must_use]
    pub fn claims<'i>(
        &self,
        kind: &'static str,
        ids: impl IntoIterator<Item = &'i str>,
    ) -> BTreeMap<String, Vec<Claim>> {
        let Some(shelf) = self.shelves.get(kind) else { return BTreeMap::new() };
        let claim = |id: &str, key: &Key| {
            let row = shelf.rows.get(key).filter(|row| self.parents_exist(shelf.kind, row))?;
            let member = MemberId { kind, key: key.clone() };
            Some(Claim { member, recorded: row.recorded.as_deref() == Some(id), created: row.created })
        };
        let of_id = |id: &'i str| {
            let first = (Box::from(id), Key::default());
            let claims = shelf.claims.range(first..).take_while(|(claimed, _)| **claimed == *id);
            let claims: Vec<Claim> = claims.filter_map(|(_, key)| claim(id, key)).collect();
            (!claims.is_empty()).then(|| (id.to_owned(), claims))
        };
        ids.into_iter().filter_map(of_id).collect()
    }

    /// The external IDs that objects of this kind stand for.
    #[must_use]
    pub fn external_ids(&self, kind: &str) -> BTreeSet<&str> {
        let rows = self.shelves.get(kind).into_iter().flat_map(|shelf| shelf.rows.values());
        rows.filter_map(|row| row.external.as_deref()).collect()
    }

    fn parents_exist(&self, kind: &Kind, row: &Row) -> bool {
        let Some(parent) = kind.parent() else { return true };
        let named = row.seen.references.iter().find(|(kind, _)| *kind == parent.kind);
        // Not knowing the parent's kind is no proof that it is gone (V3).
        named.is_none_or(|(kind, key)| {
            self.shelves.get(kind).is_none_or(|shelf| !shelf.synced || shelf.rows.contains_key(key))
        })
    }

    /// Notes whether a Secret carries our protection.
    pub fn protects(&mut self, key: &Key, protected: bool) {
        self.secrets.protects(key, protected);
    }

    /// Secrets that carry our protection although nothing references them any more.
    pub fn leftover_protections(&self) -> impl Iterator<Item = &Key> {
        self.secrets.leftover_protections()
    }

    /// A Secret's version by its metadata; true when it is news. `None` stands for a deleted one.
    pub fn secret(&mut self, key: &Key, version: Option<&str>) -> bool {
        self.secrets.seen(key, version)
    }

    /// A namespace's labels; true when they changed. `None` stands for a deleted one.
    pub fn namespace(&mut self, name: &str, labels: Option<BTreeMap<String, String>>) -> bool {
        match labels {
            Some(labels) if self.namespaces.get(name) == Some(&labels) => false,
            Some(labels) => {
                self.namespaces.insert(name.to_owned(), labels);
                true
            }
            None => self.namespaces.remove(name).is_some(),
        }
    }

    /// Ends a list of namespaces: the others are gone. Returns their names.
    pub fn namespaces_listed(&mut self, held: &BTreeSet<Key>) -> Vec<String> {
        self.namespaces_synced = true;
        let held: BTreeSet<&str> = held.iter().map(|key| key.name.as_str()).collect();
        let gone: Vec<String> =
            self.namespaces.keys().filter(|name| !held.contains(name.as_str())).cloned().collect();
        for name in &gone {
            self.namespaces.remove(name);
        }
        gone
    }

    /// Ends a list of Secrets: the others that are in use are gone. Returns the keys of which that is news.
    pub fn secrets_listed(&mut self, held: &BTreeSet<Key>) -> Vec<Key> {
        self.secrets.listed(held)
    }

    /// The labels of a namespace.
    #[must_use]
    pub fn namespace_labels(&self, name: &str) -> Lookup<BTreeMap<String, String>> {
        match self.namespaces.get(name) {
            Some(labels) => Lookup::Found(labels.clone()),
            None if self.namespaces_synced => Lookup::Missing,
            None => Lookup::Unknown("the namespaces have not been listed yet".to_owned()),
        }
    }

    /// True when all that passes over `kind` look at has been listed: the kind, what it refers to up to the account,
    /// and what refers to it.
    #[must_use]
    pub fn is_ready_for(&self, kind: &'static str) -> bool {
        let synced = |kind: &str| self.shelves.get(kind).is_some_and(|shelf| shelf.synced);
        let children = self
            .shelves
            .values()
            .filter(|shelf| shelf.kind.references.iter().any(|reference| reference.kind == kind));
        let mut above = vec![kind];
        let mut looked_at = BTreeSet::new();
        while let Some(kind) = above.pop() {
            if looked_at.insert(kind) {
                let references = self.shelves.get(kind).map_or(&[][..], |shelf| shelf.kind.references);
                above.extend(references.iter().map(|reference| reference.kind));
            }
        }
        self.namespaces_synced
            && looked_at.into_iter().all(synced)
            && children.into_iter().all(|shelf| shelf.synced)
    }

    /// True when every list has been read once.
    #[must_use]
    pub fn is_synced(&self) -> bool {
        self.namespaces_synced && self.secrets.is_synced() && self.shelves.values().all(|shelf| shelf.synced)
    }

    /// Objects and bytes held, for metrics.
    #[must_use]
    pub const fn size(&self) -> (usize, usize) {
        (self.objects, self.bytes)
    }

    fn insert_row(&mut self, member: &MemberId, row: Row) {
        for (kind, key) in &row.seen.references {
            self.children.entry((kind, key.clone())).or_default().insert(member.clone());
            if !row.ready {
                self.unready.entry((kind, key.clone())).or_default().insert(member.clone());
            }
        }
        for secret in &row.secrets {
            self.secrets.used(secret, member);
        }
        if let Some(shelf) = self.shelves.get_mut(member.kind) {
            for claim in row.claims() {
                shelf.claims.insert((claim.into(), member.key.clone()));
            }
            if row.at_odds {
                shelf.at_odds.insert((row.seen.wants, member.key.clone()));
            }
            self.objects += 1;
            self.bytes += row.bytes.len();
            shelf.rows.insert(member.key.clone(), row);
        }
    }

    /// Takes a row out of all indices but that of Secrets, which keeps what it knows while a new version comes in.
    fn remove_row(&mut self, member: &MemberId) -> Option<Row> {
        let shelf = self.shelves.get_mut(member.kind)?;
        let row = shelf.rows.remove(&member.key)?;
        self.objects -= 1;
        self.bytes -= row.bytes.len();
        for claim in row.claims() {
            shelf.claims.remove(&(claim.into(), member.key.clone()));
        }
        shelf.at_odds.remove(&(row.seen.wants, member.key.clone()));
        for reference in &row.seen.references {
            unlink(&mut self.children, reference, member);
            unlink(&mut self.unready, reference, member);
        }
        Some(row)
    }
}

fn unlink<K: Ord, V: Ord>(index: &mut BTreeMap<K, BTreeSet<V>>, key: &K, value: &V) {
    if let Some(set) = index.get_mut(key) {
        set.remove(value);
        if set.is_empty() {
            index.remove(key);
        }
    }
}

#[cfg(test)]
mod tests;
