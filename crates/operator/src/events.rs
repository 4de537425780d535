//! Kubernetes Events: one per turned condition, written aside so that no pass waits for them.
//! Bounded: what does not fit is dropped and counted, because an Event is a courtesy and the condition is the truth.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event as EventObject;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use kinds::{Kind, Resource, names};
use kube::api::PostParams;
use kube::{Api, Client};
use plan::Event;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use crate::causes::Causes;
use crate::cloudflare::Clock;
use crate::limits::{EVENT_NAME_MAX, EVENTS_AT_ONCE, EVENTS_MAX};
use crate::metrics::Metrics;

/// Where Events of cluster-scoped objects go, as kubectl expects.
const CLUSTER_NAMESPACE: &str = "default";
/// What was done when the condition turned.
const ACTION: &str = "Reconcile";

/// Takes Events.
#[derive(Clone, Debug)]
pub struct Publisher {
    queue: mpsc::Sender<EventObject>,
    clock_and_metrics: Told,
    instance: Arc<str>,
}

#[derive(Clone)]
struct Told {
    clock: Clock,
    metrics: Arc<Metrics>,
}

impl std::fmt::Debug for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Told")
    }
}

/// Writes what the publisher takes.
pub struct Writer {
    queue: mpsc::Receiver<EventObject>,
    client: Client,
    metrics: Arc<Metrics>,
    timeout: Duration,
}

/// A publisher and its writer. `instance` names this process in the Events.
#[must_use]
pub fn channel(
    client: Client,
    clock: Clock,
    metrics: Arc<Metrics>,
    timeout: Duration,
    instance: &str,
) -> (Publisher, Writer) {
    let (sender, receiver) = mpsc::channel(EVENTS_MAX);
    let told = Told { clock, metrics: Arc::clone(&metrics) };
    let publisher = Publisher { queue: sender, clock_and_metrics: told, instance: instance.into() };
    (publisher, Writer { queue: receiver, client, metrics, timeout })
}

impl Publisher {
    /// Queues an Event about an object whose status was just written.
    pub fn publish(&self, kind: &Kind, object: &Resource, event: &Event) {
        let Told { clock, metrics } = &self.clock_and_metrics;
        let event = event_object(kind, object, event, MicroTime(clock()), &self.instance);
        match self.queue.try_send(event) {
            Ok(()) => {}
            Err(TrySendError::Full(_) | TrySendError::Closed(_)) => metrics.event_lost(),
        }
    }
}

impl Writer {
    /// Writes Events until the publisher is dropped.
    pub async fn run(self) {
        let Self { queue, client, metrics, timeout } = self;
        let queued = futures::stream::unfold(queue, |mut queue| async move {
            let event = queue.recv().await?;
            Some((event, queue))
        });
        let write = |event: EventObject| {
            let (client, metrics) = (client.clone(), Arc::clone(&metrics));
            async move {
                let namespace = event.metadata.namespace.clone().unwrap_or_default();
                let api: Api<EventObject> = Api::namespaced(client, &namespace);
                let params = PostParams {
                    field_manager: Some(names::FIELD_MANAGER.to_owned()),
                    ..PostParams::default()
                };
                match tokio::time::timeout(timeout, api.create(&params, &event)).await {
                    Ok(Ok(_)) => metrics.event_written(),
                    // Written by an attempt whose answer was lost: the name says that it is the same Event.
                    Ok(Err(kube::Error::Api(status))) if status.code == 409 => metrics.event_written(),
                    Ok(Err(error)) => {
                        tracing::debug!(error = %Causes(&error), "cannot write an Event");
                        metrics.event_lost();
                    }
                    Err(_) => metrics.event_lost(),
                }
            }
        };
        queued.for_each_concurrent(EVENTS_AT_ONCE, write).await;
    }
}

fn event_object(
    kind: &Kind,
    object: &Resource,
    event: &Event,
    now: MicroTime,
    instance: &str,
) -> EventObject {
    let meta = &object.metadata;
    let namespace = if meta.namespace.is_empty() { CLUSTER_NAMESPACE } else { &meta.namespace };
    let mut hasher = DefaultHasher::new();
    // The version alone would not do: not every Event comes with a write of its object.
    (&meta.uid, &meta.resource_version, event.reason.name(), &event.note, now.0).hash(&mut hasher);
    let name: String = meta.name.chars().take(EVENT_NAME_MAX).collect();
    EventObject {
        metadata: ObjectMeta {
            name: Some(format!("{name}.{:016x}", hasher.finish())),
            namespace: Some(namespace.to_owned()),
            ..ObjectMeta::default()
        },
        event_time: Some(now),
        reporting_controller: Some(names::EVENT_CONTROLLER.to_owned()),
        reporting_instance: Some(instance.to_owned()),
        action: Some(ACTION.to_owned()),
        reason: Some(event.reason.name().to_owned()),
        regarding: Some(ObjectReference {
            api_version: Some(names::API_VERSION.to_owned()),
            kind: Some(kind.name.to_owned()),
            name: Some(meta.name.clone()),
            namespace: (!meta.namespace.is_empty()).then(|| meta.namespace.clone()),
            uid: Some(meta.uid.clone()),
            resource_version: Some(meta.resource_version.clone()),
            ..ObjectReference::default()
        }),
        note: Some(event.note.clone()),
        type_: Some(if event.normal { "Normal" } else { "Warning" }.to_owned()),
        ..EventObject::default()
    }
}

#[cfg(test)]
mod tests {
    use kinds::Reason;

    use super::*;

    #[test]
    fn a_second_event_about_an_object_that_was_not_written_in_between_is_another_one() {
        let account = kinds::kind("CloudflareAccount").unwrap();
        let object = || {
            let mut object = Resource::default();
            object.metadata.name = "main".to_owned();
            object.metadata.uid = "u".to_owned();
            object.metadata.resource_version = "1".to_owned();
            object
        };
        let named = |note: &str, second: i64| {
            let event = Event { normal: false, reason: Reason::DriftBehind, note: note.to_owned() };
            let at = MicroTime(jiff::Timestamp::from_second(second).unwrap());
            event_object(account, &object(), &event, at, "kflare-0").metadata.name.unwrap()
        };
        assert_eq!(
            named("behind", 1),
            named("behind", 1),
            "one Event keeps its name when it is written again"
        );
        assert_ne!(named("behind", 1), named("behind", 2));
        assert_ne!(named("behind", 1), named("further behind", 1));
    }
}
