//! Own informers over kube's watcher: one per kind, and metadata only for Secrets and Namespaces.
//! Feeds the shared state; kube's reflectors, shared streams and back-off are not used (they lose deletions, hang,
//! and draw random pauses: kube issues 1590, 936).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::core::v1::{Namespace, Secret};
use kinds::{Key, Kind, Resource, names};
use kube::core::PartialObjectMeta;
use kube::runtime::watcher;
use kube::{Api, Client, ResourceExt};
use tokio::time::Instant;

use crate::cache::Source;
use crate::causes::Causes;
use crate::jitter;
use crate::limits::KUBERNETES_PAGE;
use crate::object::{self, Object};
use crate::state::Shared;
use crate::timings::{Timings, doubled};
use crate::unserved::{Unserved, is_undiscovered, is_unserved};

/// Share by which pauses vary, so that the watches of one broken connection do not come back together.
const SPREAD: f64 = 0.2;

/// What an informer does with what it sees.
trait Sink<K>: Send {
    /// The kind, if it has a definition in the cluster, which may go.
    fn defined(&self) -> Option<&'static Kind> {
        None
    }

    /// A list is about to be asked for.
    fn list_begins(&mut self) {}
    fn applied(&mut self, object: K, source: Source);
    fn deleted(&mut self, object: K);
    fn listed(&mut self, held: &BTreeSet<Key>);
}

/// Watches all objects of a kind until it is dropped.
pub async fn watch_kind(
    client: Client,
    kind: &'static Kind,
    shared: Arc<Shared>,
    timings: Timings,
    seed: u64,
) {
    let api: Api<Object> = Api::all_with(client, &object::api_resource(kind));
    let sink = Objects { kind, shared: Arc::clone(&shared) };
    watch(api, kind.name, sink, &shared, &timings, seed).await;
}

/// Watches the metadata of all Secrets.
pub async fn watch_secrets(client: Client, shared: Arc<Shared>, timings: Timings, seed: u64) {
    let api: Api<PartialObjectMeta<Secret>> = Api::all(client);
    let sink = Secrets { shared: Arc::clone(&shared) };
    watch(api, "Secret", sink, &shared, &timings, seed).await;
}

/// Watches the metadata of all Namespaces.
pub async fn watch_namespaces(client: Client, shared: Arc<Shared>, timings: Timings, seed: u64) {
    let api: Api<PartialObjectMeta<Namespace>> = Api::all(client);
    let sink = Namespaces { shared: Arc::clone(&shared) };
    watch(api, "Namespace", sink, &shared, &timings, seed).await;
}

async fn watch<K, S: Sink<K>>(
    api: Api<K>,
    name: &'static str,
    mut sink: S,
    shared: &Shared,
    timings: &Timings,
    seed: u64,
) where
    K: kube::Resource + Clone + std::fmt::Debug + serde::de::DeserializeOwned + Send + 'static,
{
    let timeout = u32::try_from(timings.watch_timeout.as_secs().max(1)).unwrap_or(u32::MAX);
    let config = watcher::Config::default().page_size(KUBERNETES_PAGE).timeout(timeout);
    let begin = || watcher(api.clone(), config.clone()).boxed();
    let client = api.clone().into_client();
    let mut events = begin();
    let mut held = BTreeSet::new();
    let (mut failures, mut unserved) = (0, Unserved::default());
    while let Some(event) = events.next().await {
        match event {
            Ok(event) => {
                if !matches!(event, watcher::Event::Init) {
                    failures = 0;
                    unserved = Unserved::default();
                }
                take(event, &mut sink, &mut held);
                shared.notify();
            }
            Err(error) => {
                failures += 1;
                shared.metrics.watch_failed(name);
                let proved = match sink.defined() {
                    Some(kind) if unserved.failed(&error, Instant::now(), timings.unserved_for) => {
                        unserved.discovered(is_undiscovered(&client, kind).await);
                        unserved.proved
                    }
                    _ => false,
                };
                let unserved_for = proved.then_some(timings.unserved_for);
                tell(name, failures, &error, unserved_for, unserved.proved);
                if is_unserved(&error) {
                    // A watch that goes on where it was would neither say that the kind is served again nor show what is
                    // there by then.
                    events = begin();
                }
                if proved {
                    sink.list_begins();
                    sink.listed(&BTreeSet::new());
                    shared.notify();
                }
                tokio::time::sleep(pause(timings, seed, name, failures)).await;
            }
        }
    }
}

/// A failure is worth a warning until it is known that the kind is not there, which is said once.
fn tell(kind: &str, failures: u32, error: &watcher::Error, unserved_for: Option<Duration>, is_known: bool) {
    let error = Causes(error);
    match (unserved_for, is_known) {
        (Some(long), _) => tracing::warn!(
            kind,
            failures,
            %error,
            "the cluster has not served this kind for {} s: it counts as having no objects until it is served again",
            long.as_secs()
        ),
        (None, true) => tracing::debug!(kind, failures, %error, "the kind is still not served"),
        (None, false) => tracing::warn!(kind, failures, %error, "the watch failed"),
    }
}

fn take<K: kube::Resource>(event: watcher::Event<K>, sink: &mut impl Sink<K>, held: &mut BTreeSet<Key>) {
    match event {
        watcher::Event::Init => {
            held.clear();
            sink.list_begins();
        }
        watcher::Event::InitApply(object) => {
            held.insert(key_of(&object));
            sink.applied(object, Source::List);
        }
        watcher::Event::InitDone => {
            sink.listed(held);
            held.clear();
        }
        watcher::Event::Apply(object) => sink.applied(object, Source::Watch),
        watcher::Event::Delete(object) => sink.deleted(object),
    }
}

fn key_of<K: kube::Resource>(object: &K) -> Key {
    Key::new(object.namespace().unwrap_or_default(), object.name_any())
}

fn pause(timings: &Timings, seed: u64, name: &'static str, failures: u32) -> Duration {
    let pause = doubled(timings.watch_backoff_first, timings.watch_backoff_max, failures);
    jitter::spread(pause, SPREAD, seed, &name, failures.into())
}

struct Objects {
    kind: &'static Kind,
    shared: Arc<Shared>,
}

impl Sink<Object> for Objects {
    fn defined(&self) -> Option<&'static Kind> {
        Some(self.kind)
    }

    fn list_begins(&mut self) {
        self.shared.lock().cache.list_begins(self.kind);
    }

    fn applied(&mut self, object: Object, source: Source) {
        let resource = Resource::from(object);
        self.shared.lock().take(self.kind, &resource, source);
    }

    fn deleted(&mut self, object: Object) {
        let uid = object.metadata.uid.clone();
        self.shared.lock().take_deletion(self.kind, &key_of(&object), uid.as_deref());
    }

    fn listed(&mut self, held: &BTreeSet<Key>) {
        self.shared.lock().take_list(self.kind, held);
    }
}

struct Secrets {
    shared: Arc<Shared>,
}

impl Sink<PartialObjectMeta<Secret>> for Secrets {
    fn applied(&mut self, secret: PartialObjectMeta<Secret>, _: Source) {
        let finalizers = secret.metadata.finalizers.as_deref().unwrap_or_default();
        let protected = finalizers.iter().any(|name| name == names::TOKEN_PROTECTION_FINALIZER);
        self.shared.lock().cache.protects(&key_of(&secret), protected);
        self.shared.lock().take_secret(&key_of(&secret), secret.metadata.resource_version.as_deref());
    }

    fn deleted(&mut self, secret: PartialObjectMeta<Secret>) {
        self.shared.lock().cache.protects(&key_of(&secret), false);
        self.shared.lock().take_secret(&key_of(&secret), None);
    }

    fn listed(&mut self, held: &BTreeSet<Key>) {
        self.shared.lock().take_secrets_list(held);
    }
}

struct Namespaces {
    shared: Arc<Shared>,
}

impl Sink<PartialObjectMeta<Namespace>> for Namespaces {
    fn applied(&mut self, namespace: PartialObjectMeta<Namespace>, _: Source) {
        let name = namespace.name_any();
        let mut state = self.shared.lock();
        if state.cache.namespace(&name, Some(object::labels(&namespace.metadata))) {
            state.namespace_changed(&name);
        }
    }

    fn deleted(&mut self, namespace: PartialObjectMeta<Namespace>) {
        let name = namespace.name_any();
        let mut state = self.shared.lock();
        if state.cache.namespace(&name, None) {
            state.namespace_changed(&name);
        }
    }

    fn listed(&mut self, held: &BTreeSet<Key>) {
        let mut state = self.shared.lock();
        for name in state.cache.namespaces_listed(held) {
            state.namespace_changed(&name);
        }
    }
}

#[cfg(test)]
mod tests;
