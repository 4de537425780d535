//! The one writer of status: a merge patch of what differs, conditional on the version it was derived from.
//! What it says is `plan`'s report; an Event follows only when the status was written.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use kinds::Resource;
use plan::{Event, MemberId};
use serde_json::{Value, json};

use crate::events::Publisher;
use crate::limits::STATUSES_AT_ONCE;
use crate::object;
use crate::send::{Sender, WriteError};
use crate::state::Shared;
use crate::timings::Timings;

/// A status to write.
pub struct Writing<'s> {
    /// Whose.
    pub member: MemberId,
    /// The object as last read or written.
    pub base: &'s Resource,
    /// The whole new status.
    pub status: Value,
    /// What to tell when it is written.
    pub event: Option<Event>,
}

/// Writes status.
pub struct StatusWriter {
    /// The way to Kubernetes.
    pub sender: Arc<Sender>,
    /// Hears of what was written.
    pub shared: Arc<Shared>,
    /// Takes the Events.
    pub events: Publisher,
    /// Bounds the whole.
    pub timings: Timings,
}

impl StatusWriter {
    /// Writes all, each within a time of its own, whatever the pass has used up. Returns how each write failed.
    pub async fn write(&self, writings: Vec<Writing<'_>>) -> BTreeMap<MemberId, WriteError> {
        let mut failures = BTreeMap::new();
        let mut running = FuturesUnordered::new();
        for writing in writings {
            if running.len() >= STATUSES_AT_ONCE {
                failures.extend(running.next().await.flatten());
            }
            running.push(self.write_in_time(writing));
        }
        while let Some(failed) = running.next().await {
            failures.extend(failed);
        }
        failures
    }

    async fn write_in_time(&self, writing: Writing<'_>) -> Option<(MemberId, WriteError)> {
        let written = tokio::time::timeout(self.timings.status_write, self.write_one(&writing)).await;
        let failed = match written {
            Ok(Ok(())) => return None,
            Ok(Err(error)) => error,
            Err(_) => WriteError::Unknown(cf_api::error::Cause::Timeout),
        };
        Some((writing.member, failed))
    }

    async fn write_one(&self, writing: &Writing<'_>) -> Result<(), WriteError> {
        let Writing { member, base, status, event } = writing;
        let Some(kind) = kinds::kind(member.kind) else { return Ok(()) };
        let Some(change) = object::difference(&base.status, status) else { return Ok(()) };
        let body = json!({
            "metadata": { "uid": base.metadata.uid, "resourceVersion": base.metadata.resource_version },
            "status": change,
        });
        let expected = object::patched(base, &body).map(|object| object::fingerprint(&object));
        self.shared.writes(member, expected);
        let answer = self.sender.patch_status(kind, &member.key, &body).await.inspect_err(|error| {
            if !error.may_have_happened() {
                self.shared.writes(member, None);
            }
        })?;
        self.shared.wrote(kind, &answer, expected);
        if let Some(event) = event {
            tracing::info!(
                kind = member.kind,
                namespace = member.key.namespace,
                name = member.key.name,
                generation = base.metadata.generation,
                reason = event.reason.name(),
                note = event.note,
                "the condition turned"
            );
            self.events.publish(kind, &answer, event);
        }
        Ok(())
    }
}
