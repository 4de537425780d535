//! Makes a server as it was before a scenario: every object of ours, every Secret, label and Event is gone.
//! The operator does not run meanwhile, so finalizers are taken away by hand.

use std::time::Duration;

use kube::api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams};
use serde_json::json;
use tokio::time::Instant;

use super::cluster::{Cluster, LOOK, said};

/// Namespaces of the server's own.
const SYSTEM: &str = "kube-";

/// How long a namespace that is being deleted may take to be gone: its controller looks again after eight seconds.
const GONE_MAX: Duration = Duration::from_secs(60);

impl Cluster {
    /// Clears the server.
    pub(crate) async fn clear(&self) -> Result<(), String> {
        for kind in kinds::KINDS.iter().rev().map(|kind| kind.name).chain(["Secret", "Lease"]) {
            for object in self.everywhere(kind).list(&ListParams::default()).await.map_err(said)? {
                self.remove(kind, &object).await?;
            }
        }
        for namespace in self.everywhere("Namespace").list(&ListParams::default()).await.map_err(said)? {
            let name = namespace.metadata.name.clone().unwrap_or_default();
            if name.starts_with(SYSTEM) {
                continue;
            }
            if namespace.metadata.deletion_timestamp.is_some() {
                self.gone("Namespace", "", &name).await?;
                continue;
            }
            let plain = Patch::Merge(json!({ "metadata": { "labels": null, "annotations": null } }));
            let namespaces = self.everywhere("Namespace");
            namespaces.patch(&name, &PatchParams::default(), &plain).await.map_err(said)?;
            let events = self.within("Event", &name);
            events.delete_collection(&DeleteParams::default(), &ListParams::default()).await.map_err(said)?;
        }
        Ok(())
    }

    async fn remove(&self, kind: &str, object: &DynamicObject) -> Result<(), String> {
        let namespace = object.metadata.namespace.as_deref().unwrap_or_default();
        let name = object.metadata.name.as_deref().unwrap_or_default();
        if namespace.starts_with(SYSTEM) {
            return Ok(());
        }
        let api = self.within(kind, namespace);
        if object.metadata.finalizers.as_ref().is_some_and(|finalizers| !finalizers.is_empty()) {
            let free = Patch::Merge(json!({ "metadata": { "finalizers": null } }));
            ignore_absence(api.patch(name, &PatchParams::default(), &free).await.map(drop))?;
        }
        ignore_absence(api.delete(name, &DeleteParams::default()).await.map(drop))?;
        self.gone(kind, namespace, name).await
    }

    async fn gone(&self, kind: &str, namespace: &str, name: &str) -> Result<(), String> {
        let api = self.within(kind, namespace);
        let began = Instant::now();
        while api.get_opt(name).await.map_err(said)?.is_some() {
            if began.elapsed() > GONE_MAX {
                return Err(format!("{kind} {name} cannot be cleared away"));
            }
            tokio::time::sleep(LOOK).await;
        }
        Ok(())
    }
}

fn ignore_absence(done: Result<(), kube::Error>) -> Result<(), String> {
    match done {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        done => done.map_err(said),
    }
}
