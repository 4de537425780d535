//! The objects: one counter for all versions, one collection per resource, and per collection the window
//! of recent events that watches read. Leaves every rule to `write` and `settle`: what is put here is stored.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::sync::broadcast;

use super::builtins::{self, BuiltIn};
use super::history::History;
use super::resource::{Endpoint, Registry, ResourceId};

/// Removed collections that are kept until their watches have ended: more than a product has kinds to uninstall at once.
const WITHDRAWN_MAX: usize = 32;

/// Events that a collection remembers for its watches. More than one write of each of the 10,000 objects
/// of the largest test, so that a watch survives a burst of that size; memory stays bounded.
pub(crate) const EVENT_WINDOW: usize = 16_384;

/// Where an object is within its collection; the namespace is empty for cluster-wide kinds.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl Key {
    pub(crate) fn new(namespace: Option<&str>, name: &str) -> Self {
        Self { namespace: namespace.unwrap_or_default().to_owned(), name: name.to_owned() }
    }
}

/// One version of one object, in storage form.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) value: Value,
    pub(crate) version: u64,
    bytes: OnceLock<Bytes>,
}

impl Stored {
    pub(crate) fn new(value: Value, version: u64) -> Self {
        Self { value, version, bytes: OnceLock::new() }
    }

    /// The JSON of the storage form, made once.
    pub(crate) fn bytes(&self) -> Bytes {
        self.bytes.get_or_init(|| Bytes::from(self.value.to_string())).clone()
    }

    pub(crate) fn uid(&self) -> &str {
        self.value["metadata"]["uid"].as_str().unwrap_or_default()
    }

    pub(crate) fn is_terminating(&self) -> bool {
        self.value["metadata"]["deletionTimestamp"].is_string()
    }

    pub(crate) fn finalizers(&self) -> impl Iterator<Item = &str> {
        self.value["metadata"]["finalizers"].as_array().into_iter().flatten().filter_map(Value::as_str)
    }
}

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Added,
    Modified,
    Deleted,
}

/// One entry of a collection's window.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) version: u64,
    pub(crate) change: Change,
    pub(crate) object: Arc<Stored>,
    /// The version before, for selectors that start or stop to match.
    pub(crate) before: Option<Arc<Stored>>,
}

/// The objects of one resource.
#[derive(Debug)]
pub(crate) struct Collection {
    pub(crate) objects: Objects,
    /// The version at which it began.
    since: u64,
    window: VecDeque<Event>,
    /// Events up to this version are gone.
    compacted: u64,
    changed: broadcast::Sender<()>,
}

/// A watch asked for events that are gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Compacted {
    pub(crate) oldest: u64,
}

impl Collection {
    fn new(version: u64) -> Self {
        Self {
            objects: Objects::new(),
            since: version,
            window: VecDeque::new(),
            compacted: version,
            changed: broadcast::Sender::new(1),
        }
    }

    fn push(&mut self, event: Event) {
        if self.window.len() == EVENT_WINDOW
            && let Some(oldest) = self.window.pop_front()
        {
            self.compacted = oldest.version;
        }
        tell(&self.changed);
        self.window.push_back(event);
    }

    /// Up to `max` events after `version`.
    pub(crate) fn events_after(&self, version: u64, max: usize) -> Result<Vec<Event>, Compacted> {
        if version < self.compacted {
            return Err(Compacted { oldest: self.compacted });
        }
        let from = self.window.partition_point(|event| event.version <= version);
        Ok(self.window.range(from..).take(max).cloned().collect())
    }

    /// Wakes when something changes; all that wait, in the order in which they began to. (A watch channel of tokio would
    /// wake them in a random order.)
    pub(crate) fn subscribe(&self) -> broadcast::Receiver<()> {
        self.changed.subscribe()
    }

    /// Forgets the events so far, as a compaction of etcd does.
    fn compact(&mut self, version: u64) {
        self.window.clear();
        self.compacted = version;
    }

    /// The objects as they were at a version; none when it is no longer known.
    pub(crate) fn snapshot(&self, version: u64) -> Option<Objects> {
        if version < self.compacted && version >= self.since {
            return None;
        }
        let mut objects = self.objects.clone();
        for event in self.window.iter().rev().take_while(|event| event.version > version) {
            let metadata = &event.object.value["metadata"];
            let key = Key::new(metadata["namespace"].as_str(), metadata["name"].as_str().unwrap_or_default());
            match &event.before {
                Some(before) => objects.insert(key, Arc::clone(before)),
                None => objects.remove(&key),
            };
        }
        // Before it was served, a resource had no objects.
        if version < self.since { Some(Objects::new()) } else { Some(objects) }
    }

    /// The objects of one namespace, or all.
    pub(crate) fn range(&self, namespace: Option<&str>) -> impl Iterator<Item = (&Key, &Arc<Stored>)> {
        range(&self.objects, namespace)
    }
}

/// Objects by their place.
pub(crate) type Objects = BTreeMap<Key, Arc<Stored>>;

/// Those of one namespace, or all.
pub(crate) fn range<'o>(
    objects: &'o Objects,
    namespace: Option<&str>,
) -> impl Iterator<Item = (&'o Key, &'o Arc<Stored>)> + use<'o> {
    let start = Key { namespace: namespace.unwrap_or_default().to_owned(), name: String::new() };
    let wanted = namespace.map(str::to_owned);
    objects
        .range(start..)
        .take_while(move |(key, _)| wanted.as_ref().is_none_or(|namespace| key.namespace == *namespace))
}

/// Tells whoever watches, and nobody else has to hear of it.
fn tell(changed: &broadcast::Sender<()>) {
    let _ = changed.send(());
}

/// An object anywhere.
pub(crate) type Place = (ResourceId, Key);

/// Everything the server remembers.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) registry: Registry,
    pub(crate) version: u64,
    seed: u64,
    uids: u64,
    collections: BTreeMap<ResourceId, Collection>,
    /// Collections whose definition is gone, for the watches that still have to tell of the last deletions.
    withdrawn: VecDeque<(ResourceId, Collection)>,
    by_owner: BTreeMap<String, BTreeSet<Place>>,
    /// Objects that `settle` has to look at.
    pub(crate) unsettled: VecDeque<Unsettled>,
    /// Continue tokens from before this version have expired.
    pub(crate) compacted: u64,
    /// Every version, where somebody asked for it.
    pub(crate) history: History,
    /// Objects that were stored without the defaults that they are read with, and not written since.
    pub(crate) unfilled: BTreeSet<Place>,
    /// Cluster addresses given to Services so far.
    pub(crate) addresses: u32,
    /// Objects say in `managedFields` who set which field.
    pub(crate) tells_owners: bool,
}

/// Work that the server's own controllers have to do.
#[derive(Clone, Debug)]
pub(crate) enum Unsettled {
    /// The object with this uid is gone: its dependents may go.
    Owner(String),
    /// An object that names owners was written: they may be gone already.
    Dependent(Place),
    /// An object that is being deleted may hold a finalizer of the garbage collector.
    Held(Place),
    /// A namespace was told to go: its content has to.
    Emptying(String),
    /// An object of this namespace went: it may have been the last.
    Namespace(String),
    /// A definition was told to go: its objects have to.
    Withdrawing(ResourceId),
    /// An object of this custom resource went, or a definition did.
    Definition(ResourceId),
    /// A workload was written, or something that it controls.
    Workload(Place),
}

impl State {
    pub(crate) fn new(seed: u64) -> Self {
        let registry = builtins::registry();
        // The first object of a real cluster has a small version, never 0, which has a meaning of its own.
        let version = 1;
        let collections = registry.all().map(|resource| (resource.id, Collection::new(version))).collect();
        Self {
            registry,
            version,
            seed,
            uids: 0,
            collections,
            withdrawn: VecDeque::new(),
            by_owner: BTreeMap::new(),
            unsettled: VecDeque::new(),
            compacted: 0,
            history: History::default(),
            unfilled: BTreeSet::new(),
            addresses: 0,
            tells_owners: true,
        }
    }

    /// Forgets all events so far.
    pub(crate) fn compact(&mut self) {
        self.compacted = self.version;
        let version = self.version;
        self.collections.values_mut().for_each(|collection| collection.compact(version));
    }

    pub(crate) fn collection(&self, id: ResourceId) -> Option<&Collection> {
        self.collections.get(&id)
    }

    pub(crate) fn add_collection(&mut self, id: ResourceId) {
        self.collections.entry(id).or_insert_with(|| Collection::new(self.version));
    }

    pub(crate) fn remove_collection(&mut self, id: ResourceId) {
        let Some(collection) = self.collections.remove(&id) else { return };
        tell(&collection.changed);
        if self.withdrawn.len() == WITHDRAWN_MAX {
            self.withdrawn.pop_front();
        }
        self.withdrawn.push_back((id, collection));
    }

    /// A collection that was removed a moment ago.
    pub(crate) fn withdrawn(&self, id: ResourceId) -> Option<&Collection> {
        self.withdrawn.iter().find(|(other, _)| *other == id).map(|(_, collection)| collection)
    }

    pub(crate) fn find(&self, id: ResourceId, key: &Key) -> Option<&Arc<Stored>> {
        self.collections.get(&id)?.objects.get(key)
    }

    /// An object whose place is given in words.
    pub(crate) fn find_named(
        &self,
        endpoint: &Endpoint,
        namespace: &str,
        name: &str,
    ) -> Option<&Arc<Stored>> {
        self.find(endpoint.resource.id, &Key::new(Some(namespace), name))
    }

    pub(crate) fn dependents(&self, uid: &str) -> Vec<Place> {
        self.by_owner.get(uid).into_iter().flatten().cloned().collect()
    }

    /// Stores a new version of an object and tells the watches.
    pub(crate) fn put(&mut self, id: ResourceId, key: Key, mut value: Value) -> Arc<Stored> {
        self.version += 1;
        value["metadata"]["resourceVersion"] = json!(self.version.to_string());
        let object = Arc::new(Stored::new(value, self.version));
        let version = self.version;
        let Some(collection) = self.collections.get_mut(&id) else { return object };
        self.unfilled.remove(&(id, key.clone()));
        let before = collection.objects.insert(key.clone(), Arc::clone(&object));
        let change = if before.is_some() { Change::Modified } else { Change::Added };
        collection.push(Event { version, change, object: Arc::clone(&object), before: before.clone() });
        self.history.note(self.registry.get(id).map(|resource| resource.kind.as_str()), &object, false);
        self.index_owners((id, key), before.as_deref(), Some(&object));
        object
    }

    /// Removes an object and tells the watches; `value` is its last state.
    pub(crate) fn remove(&mut self, id: ResourceId, key: &Key, mut value: Value) -> Option<Arc<Stored>> {
        let collection = self.collections.get_mut(&id)?;
        let before = collection.objects.remove(key)?;
        self.unfilled.remove(&(id, key.clone()));
        self.version += 1;
        value["metadata"]["resourceVersion"] = json!(self.version.to_string());
        let object = Arc::new(Stored::new(value, self.version));
        collection.push(Event {
            version: self.version,
            change: Change::Deleted,
            object: Arc::clone(&object),
            before: Some(Arc::clone(&before)),
        });
        self.history.note(self.registry.get(id).map(|resource| resource.kind.as_str()), &object, true);
        self.index_owners((id, key.clone()), Some(&before), None);
        if !before.uid().is_empty() {
            self.unsettled.push_back(Unsettled::Owner(before.uid().to_owned()));
        }
        for owner in self.owner_places(&before, &key.namespace) {
            self.unsettled.push_back(Unsettled::Held(owner.clone()));
            self.unsettled.push_back(Unsettled::Workload(owner));
        }
        if !key.namespace.is_empty() {
            self.unsettled.push_back(Unsettled::Namespace(key.namespace.clone()));
        }
        let built_in = self.registry.get(id).and_then(|resource| resource.built_in);
        if built_in.is_none_or(|kind| kind == BuiltIn::CustomResourceDefinition) {
            self.unsettled.push_back(Unsettled::Definition(id));
        }
        Some(object)
    }

    /// Where the owners that an object names would be.
    fn owner_places(&self, object: &Stored, namespace: &str) -> Vec<Place> {
        let owners = object.value["metadata"]["ownerReferences"].as_array().into_iter().flatten();
        owners
            .filter_map(|owner| {
                let endpoint =
                    self.registry.for_object(owner["apiVersion"].as_str()?, owner["kind"].as_str()?)?;
                let namespace = endpoint.resource.namespaced.then_some(namespace);
                Some((endpoint.resource.id, Key::new(namespace, owner["name"].as_str()?)))
            })
            .collect()
    }

    fn index_owners(&mut self, place: Place, before: Option<&Stored>, after: Option<&Stored>) {
        let old: BTreeSet<String> = before.map(owner_uids).unwrap_or_default();
        let new: BTreeSet<String> = after.map(owner_uids).unwrap_or_default();
        if old == new {
            return;
        }
        for gone in old.difference(&new) {
            if let Some(places) = self.by_owner.get_mut(gone) {
                places.remove(&place);
                if places.is_empty() {
                    self.by_owner.remove(gone);
                }
            }
        }
        for owner in new.difference(&old) {
            self.by_owner.entry(owner.clone()).or_default().insert(place.clone());
        }
        if after.is_some() {
            self.unsettled.push_back(Unsettled::Dependent(place));
        }
    }

    /// Sixteen bytes that depend on nothing but the seed and how many were asked for before.
    fn next_hash(&mut self) -> [u8; 16] {
        self.uids += 1;
        let mut hasher = Sha256::new();
        hasher.update(self.seed.to_le_bytes());
        hasher.update(self.uids.to_le_bytes());
        let digest = hasher.finalize();
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        bytes
    }

    /// A uid in the form of a random UUID.
    pub(crate) fn next_uid(&mut self) -> String {
        let mut bytes = self.next_hash();
        bytes[6] = (bytes[6] & 0x0f) | 0x40;
        bytes[8] = (bytes[8] & 0x3f) | 0x80;
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
    }

    /// The five characters that `generateName` adds, of the alphabet without vowels that the server uses.
    pub(crate) fn next_suffix(&mut self) -> String {
        const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
        self.next_hash()
            .iter()
            .take(5)
            .map(|byte| char::from(ALPHABET[usize::from(*byte) % ALPHABET.len()]))
            .collect()
    }
}

fn owner_uids(object: &Stored) -> BTreeSet<String> {
    object.value["metadata"]["ownerReferences"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|owner| owner["uid"].as_str().map(str::to_owned))
        .collect()
}
