//! What all tasks share: caches, queue and memories behind one lock, so that an event and whom it wakes are one step.
//! The lock is never held while waiting for anything.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cf_api::budget::Class;
use jiff::Timestamp;
use kinds::{Key, Kind, Resource};
use plan::{CredId, MemberId, Memory, UnitKey};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::cache::{Cache, Change, Source};
use crate::memories::Memories;
use crate::metrics::Metrics;
use crate::queue::{Again, Queue};
use crate::refusals::{Heard, Refusals};
use crate::routing;

/// Caches, queue and memories.
#[derive(Debug)]
pub struct State {
    /// What the watches know.
    pub cache: Cache,
    /// What is due.
    pub queue: Queue,
    /// When this process began to lead; every unit's memory reaches back to it and no further.
    pub since: Option<Instant>,
    memories: Memories,
    /// When this process made what others rest on, as long as Cloudflare may not know it everywhere.
    founded: BTreeMap<MemberId, Instant>,
    /// Objects that were deleted so far.
    deletions: u64,
    /// Members whose copy was old: any event wakes them, their own echoes included.
    awaited: BTreeSet<MemberId>,
    refusals: Refusals,
    metrics: Arc<Metrics>,
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
            memories: Memories::default(),
            founded: BTreeMap::new(),
            deletions: 0,
            awaited: BTreeSet::new(),
            refusals: Refusals::default(),
            metrics: Arc::clone(&metrics),
        };
        Self { state: Mutex::new(state), changed: Notify::new(), alive: AtomicBool::new(true), metrics }
    }

    /// The state. A panic while it was held is a bug that its pass reports; the maps stay usable.
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The metrics as text, with what is due now.
    #[must_use]
    pub fn measured(&self) -> String {
        let state = self.lock();
        self.metrics.due(&state.queue.depth(), state.cache.is_synced());
        drop(state);
        self.metrics.text()
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

    /// Lends what a unit remembers to a pass that begins now.
    pub fn memory(&mut self, unit: &UnitKey, now: Timestamp) -> Memory {
        self.memories.lend(unit, self.since, now)
    }

    /// When the object that a resource stands for, and that others rest on, was made by this process, if that was a
    /// moment ago.
    #[must_use]
    pub fn founded_at(&self, member: &MemberId, now: Timestamp) -> Option<Timestamp> {
        let age = self.queue.timings().age(self.founded.get(member)?.elapsed());
        now.checked_sub(age).ok().filter(|_| age < plan::limits::NEWS_MAY_SPREAD)
    }

    /// The object that a resource stands for, and that others rest on, was made by this process `ago`.
    pub fn found(&mut self, member: &MemberId, ago: Duration) {
        self.founded.retain(|_, at| at.elapsed() < plan::limits::NEWS_MAY_SPREAD);
        self.founded.insert(member.clone(), Instant::now().checked_sub(ago).unwrap_or_else(Instant::now));
    }

    /// How many objects the last list of a unit held.
    pub fn listed(&self, unit: &UnitKey) -> Option<usize> {
        self.memories.listed(unit)
    }

    /// Keeps what a pass leaves to the next.
    pub fn remember(&mut self, unit: &UnitKey, memory: Memory, now: Timestamp) {
        let Self { cache, memories, deletions, .. } = self;
        memories.keep(unit, memory, now, *deletions, |member| cache.contains(member));
        if memories.are_many() {
            let parents: BTreeMap<&str, BTreeSet<&str>> =
                kinds::KINDS.iter().map(|kind| (kind.name, cache.external_ids(kind.name))).collect();
            memories.sweep(|unit| match unit {
                UnitKey::Object(member) => cache.contains(member),
                UnitKey::Children { kind, parent } => {
                    let above = kinds::kind(kind).and_then(|kind| kind.parent());
                    above.is_some_and(|above| {
                        parents.get(above.kind).is_some_and(|ids| ids.contains(parent.as_str()))
                    })
                }
            });
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

    /// What a pass heard about a member's token, and when the member is looked at again because of it (contract K16).
    pub fn token_heard(
        &mut self,
        member: &MemberId,
        cred: Option<&CredId>,
        heard: Heard,
        again: Again,
    ) -> Again {
        let mut next = again;
        let woken = match (cred, heard) {
            (Some(cred), Heard::Refused) => {
                let refused = self.refusals.refused(member, cred);
                if refused == Some(1) {
                    self.doubt_account(member);
                }
                next = match (refused, again) {
                    (Some(tries), Again::After(pause, class)) => {
                        let pause = self.queue.spread(pause, member, tries);
                        self.next_try(member, cred, pause, class)
                    }
                    (Some(_), again) => again,
                    (None, _) => Again::Resync,
                };
                self.refusals.leave(member, Some(cred))
            }
            (Some(cred), Heard::Accepted) => {
                let mut woken = self.refusals.accepted(member, cred);
                woken.extend(self.refusals.leave(member, Some(cred)));
                woken
            }
            (Some(cred), Heard::Open) => self.refusals.leave(member, Some(cred)),
            (None, Heard::Open) => BTreeSet::new(),
            (_, Heard::Nothing) | (None, _) => self.refusals.leave(member, None),
        };
        self.retry(woken);
        next
    }

    /// The first refusal of a token may be news to the account that it belongs to, which says that it works.
    fn doubt_account(&mut self, member: &MemberId) {
        let account = routing::account_above(&self.cache, member);
        let doubted = account.filter(|account| self.cache.is_ready(account));
        self.retry(doubted.into_iter().collect());
    }

    /// Who of those that wait for a token tries next, and when: somebody of another unit, if there is one. When the member
    /// itself is looked at again.
    fn next_try(&mut self, member: &MemberId, cred: &CredId, pause: Duration, class: Class) -> Again {
        let Self { cache, queue, refusals, .. } = self;
        let own = routing::unit_of(cache, member);
        let may = |other: &MemberId| !queue.is_busy(other) && routing::unit_of(cache, other) != own;
        match refusals.pass_on(member, cred, may) {
            Some(other) => {
                let unit = routing::unit_of(cache, &other);
                queue.later(&unit, other, pause, class, Instant::now());
                Again::Resync
            }
            None => Again::After(pause, class),
        }
    }

    fn retry(&mut self, members: BTreeSet<MemberId>) {
        let now = Instant::now();
        for member in members {
            let unit = routing::unit_of(&self.cache, &member);
            self.queue.add(&unit, member, Class::Retry, now);
        }
    }

    fn route(&mut self, change: &Change, is_event: bool) {
        let awaited = is_event && self.awaited.remove(&change.member);
        if change.after.is_none() {
            self.deletions += 1;
            self.memories.forget(&UnitKey::Object(change.member.clone()));
            let woken = self.refusals.leave(&change.member, None);
            self.retry(woken);
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

#[cfg(test)]
mod tests;
