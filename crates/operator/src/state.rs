//! What all tasks share: caches, queue and memories behind one lock, so that an event and whom it wakes are one step.
//! The lock is never held while waiting for anything.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cf_api::budget::Class;
use jiff::{SignedDuration, Timestamp};
use kinds::{Key, Kind, Resource};
use plan::{CredId, MemberId, Memory, UnitKey};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::cache::{Cache, Change, Source};
use crate::metrics::Metrics;
use crate::queue::{Again, Queue};
use crate::routing;

/// Caches, queue and memories.
#[derive(Debug)]
pub struct State {
    /// What the watches know.
    pub cache: Cache,
    /// What is due.
    pub queue: Queue,
    /// When this process began to lead; every unit's memory reaches back to it and no further.
    pub since: Option<Timestamp>,
    memories: BTreeMap<UnitKey, Memory>,
    /// Members whose copy was old: any event wakes them, their own echoes included.
    awaited: BTreeSet<MemberId>,
    refused: BTreeMap<(CredId, &'static str), Refused>,
    metrics: Arc<Metrics>,
}

/// Members whose token Cloudflare refused: one tries again, the others follow when it succeeds (contract K16).
#[derive(Debug)]
struct Refused {
    probe: MemberId,
    followers: BTreeSet<MemberId>,
}

/// The shared state.
#[derive(Debug)]
pub struct Shared {
    state: Mutex<State>,
    changed: Notify,
    alive: AtomicBool,
    /// Counts what happens.
    pub metrics: Arc<Metrics>,
}

impl Shared {
    /// Shares a state.
    #[must_use]
    pub fn new(cache: Cache, queue: Queue, metrics: Arc<Metrics>) -> Self {
        let state = State {
            cache,
            queue,
            since: None,
            memories: BTreeMap::new(),
            awaited: BTreeSet::new(),
            refused: BTreeMap::new(),
            metrics: Arc::clone(&metrics),
        };
        Self { state: Mutex::new(state), changed: Notify::new(), alive: AtomicBool::new(true), metrics }
    }

    /// The state. A panic while it was held is a bug that its pass reports; the maps stay usable.
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True until the dispatcher ends, at the loss of the lease or by a bug: then nothing is looked at any more.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Relaxed)
    }

    /// The dispatcher has ended.
    pub fn ended(&self) {
        self.alive.store(false, Ordering::Relaxed);
    }

    /// Tells the dispatcher that something may have become due.
    pub fn notify(&self) {
        self.changed.notify_one();
    }

    /// Ends when something may have become due since the last time.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    /// A write of ours is about to be sent that leads to this fingerprint; `None` once it cannot take effect any more.
    pub fn writes(&self, member: &MemberId, fingerprint: Option<u64>) {
        self.lock().cache.expect(member, fingerprint);
    }

    /// The answer to a write of ours: the cache has it at once, and others see what changed.
    pub fn wrote(&self, kind: &'static Kind, answer: &Resource, expected: Option<u64>) {
        self.lock().take(kind, answer, Source::Own(expected));
        self.notify();
    }
}

impl State {
    /// Takes a version of an object and queues whoever it concerns.
    pub fn take(&mut self, kind: &'static Kind, resource: &Resource, source: Source) {
        if let Some(change) = self.cache.apply(kind, resource, source) {
            self.route(&change, source == Source::Own(None) || !matches!(source, Source::Own(_)));
        }
    }

    /// Takes the news that an object is gone.
    pub fn take_deletion(&mut self, kind: &'static Kind, key: &Key, uid: Option<&str>) {
        if let Some(change) = self.cache.delete(kind, key, uid) {
            self.route(&change, true);
        }
    }

    /// Takes the end of a list.
    pub fn take_list(&mut self, kind: &'static Kind, held: &BTreeSet<Key>) {
        for change in self.cache.listed(kind, held) {
            self.route(&change, true);
        }
    }

    /// A token Secret may have changed.
    pub fn take_secret(&mut self, key: &Key, version: Option<&str>) {
        if self.cache.secret(key, version) {
            self.secret_changed(key);
        }
    }

    /// Takes the end of a list of Secrets.
    pub fn take_secrets_list(&mut self, held: &BTreeSet<Key>) {
        for key in self.cache.secrets_listed(held) {
            self.secret_changed(&key);
        }
    }

    fn secret_changed(&mut self, key: &Key) {
        let woken = routing::secret_changed(&self.cache, &mut self.queue, key, Instant::now());
        self.count(woken);
    }

    /// The answer to our own write of a Secret: its echo is no news.
    pub fn wrote_secret(&mut self, key: &Key, version: &str) {
        self.cache.secret(key, Some(version));
    }

    /// Namespaces whose labels changed.
    pub fn namespace_changed(&mut self, name: &str) {
        let woken = routing::namespace_changed(&self.cache, &mut self.queue, name, Instant::now());
        self.count(woken);
    }

    /// What a unit remembers, for a pass.
    pub fn memory(&self, unit: &UnitKey) -> Memory {
        Memory { since: self.since, ..self.memories.get(unit).cloned().unwrap_or_default() }
    }

    /// Keeps what a pass leaves to the next, as long as it means anything.
    pub fn remember(&mut self, unit: &UnitKey, mut memory: Memory, now: Timestamp) {
        let lag = SignedDuration::try_from(plan::limits::READS_MAY_LAG).unwrap_or(SignedDuration::ZERO);
        memory.written.retain(|member, at| now.duration_since(*at) < lag && self.cache.contains(member));
        memory.quarantine.retain(|member, _| self.cache.contains(member));
        // The size of a list is only of use to a unit that has one.
        let is_empty = memory.written.is_empty() && memory.quarantine.is_empty() && memory.listed.is_none();
        if is_empty {
            self.memories.remove(unit);
        } else {
            self.memories.insert(unit.clone(), memory);
        }
    }

    /// A member's copy, of this version, was old: it is looked at again at once when the cache has a newer one, else
    /// with its next event (design §3).
    pub fn stale(&mut self, member: &MemberId, version: &str, class: Class) -> Again {
        match self.cache.version(member) {
            Some(known) if known == version => {
                self.awaited.insert(member.clone());
                Again::OnChange
            }
            Some(_) => Again::Now(class),
            None => Again::Forget,
        }
    }

    /// Cloudflare refused a member's token: the first of its kind tries again, the others wait for it.
    pub fn token_refused(&mut self, member: &MemberId, cred: &CredId, again: Again) -> Again {
        let refused = self
            .refused
            .entry((cred.clone(), member.kind))
            .or_insert_with(|| Refused { probe: member.clone(), followers: BTreeSet::new() });
        if refused.probe == *member || !self.cache.contains(&refused.probe) {
            refused.probe = member.clone();
            refused.followers.remove(member);
            again
        } else {
            refused.followers.insert(member.clone());
            Again::Resync
        }
    }

    /// A member was not refused: if others waited for it, they follow.
    pub fn token_accepted(&mut self, member: &MemberId) {
        if self.refused.is_empty() {
            return;
        }
        let mut woken = BTreeSet::new();
        self.refused.retain(|_, refused| {
            refused.followers.remove(member);
            let is_probe = refused.probe == *member;
            if is_probe {
                woken.append(&mut refused.followers);
            }
            !is_probe
        });
        let now = Instant::now();
        for member in woken {
            let unit = routing::unit_of(&self.cache, &member);
            self.queue.add(&unit, member, Class::Retry, now);
        }
    }

    fn route(&mut self, change: &Change, is_event: bool) {
        let awaited = is_event && self.awaited.remove(&change.member);
        if change.after.is_none() {
            self.memories.remove(&UnitKey::Object(change.member.clone()));
            self.token_accepted(&change.member);
        }
        let woken = routing::route(&self.cache, &mut self.queue, change, awaited, Instant::now());
        self.count(woken);
    }

    fn count(&self, added: usize) {
        self.metrics.queue(self.queue.ready(), added, 0);
        let (objects, bytes) = self.cache.size();
        self.metrics.cached(objects, bytes);
    }
}
