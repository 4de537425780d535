//! Where a scenario happens: the two worlds in memory, or a real API server with a process of its own for the operator.
//! Says what both can do; what a command means is `perform`, what is checked is `expect`.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use operator::{Config, Transport};
use sandbox::cloudflare::Cloudflare;
use sandbox::kubernetes::Status;
use serde_json::{Value, json};

use super::perform::arm;
use super::script::{FaultOrder, ObjectName};
use crate::world::{CrashPoint, Settled, World, Writes};

/// What only a world in memory can do, whose time and whose API server are ours.
#[derive(Debug)]
pub enum Unreal<'c> {
    /// Sets the clock of the operator's machine.
    Jump(SignedDuration),
    /// Forgets the events of the Kubernetes API.
    Compact,
    /// Makes requests to the Kubernetes API go wrong.
    Fault(&'c FaultOrder),
    /// Makes them go well again.
    NoFaults,
}

/// A Kubernetes API, a Cloudflare API and an operator between them. Objects in Kubernetes are a user's to change.
pub trait Setting {
    /// The Cloudflare side, which is the sandbox's everywhere.
    fn cloudflare(&self) -> &Cloudflare;

    /// Creates or changes an object, as `kubectl apply`.
    fn apply(&self, object: Value) -> impl Future<Output = Result<(), String>>;

    /// Asks for an object's deletion.
    fn delete(&self, object: &ObjectName) -> impl Future<Output = Result<(), String>>;

    /// Merges a patch into an object.
    fn patch(&self, object: &ObjectName, patch: Value) -> impl Future<Output = Result<(), String>>;

    /// Merges a patch into an object's status.
    fn patch_status(&self, object: &ObjectName, patch: Value) -> impl Future<Output = Result<(), String>>;

    /// An object, if there is one.
    fn find(&self, object: &ObjectName) -> impl Future<Output = Result<Option<Value>, String>>;

    /// All objects of a kind.
    fn list(&self, kind: &str) -> impl Future<Output = Result<Vec<Value>, String>>;

    /// Does what cannot be had for real.
    fn unreal(&mut self, what: Unreal<'_>) -> Result<(), String>;

    /// Starts the operator, if it does not run.
    fn start(&mut self) -> impl Future<Output = Result<(), String>>;

    /// Kills the operator.
    fn crash(&mut self) -> impl Future<Output = Result<(), String>>;

    /// Kills the operator at a write.
    fn crash_at(&mut self, point: CrashPoint) -> Result<(), String>;

    /// Lets time pass until no work is due.
    fn settle(&mut self) -> impl Future<Output = Result<Settled, String>>;

    /// Lets this much time pass.
    fn advance(&mut self, by: Duration) -> impl Future<Output = Result<Settled, String>>;

    /// After a crash: lets time pass until nothing of the dead operator counts any more.
    fn recover(&mut self) -> impl Future<Output = Result<Settled, String>>;

    /// The operator's writes so far.
    fn writes(&mut self) -> Writes;

    /// Ways into both sides beside the operator's, and how an operator is configured here.
    fn ways(&self) -> (kube::Client, Transport, Config);

    /// The time of day here.
    fn now(&self) -> Timestamp;

    /// How long something that is expected may take to become so: requests that take time in the real world take none in
    /// virtual time.
    fn patience(&self) -> Duration;
}

/// All objects of our kinds, parents before children, with the name of their kind.
pub(super) async fn resources(setting: &impl Setting) -> Result<Vec<(&'static str, Value)>, String> {
    let mut all = Vec::new();
    for kind in kinds::KINDS {
        all.extend(setting.list(kind.name).await?.into_iter().map(|object| (kind.name, object)));
    }
    Ok(all)
}

impl Setting for World {
    fn cloudflare(&self) -> &Cloudflare {
        &self.cloudflare
    }

    async fn apply(&self, object: Value) -> Result<(), String> {
        self.kubernetes.apply(object).map(drop).map_err(said)
    }

    async fn delete(&self, object: &ObjectName) -> Result<(), String> {
        let ObjectName { resource, namespace, name } = object;
        self.kubernetes.delete(&resource.kind, Some(namespace), name).map_err(said)
    }

    async fn patch(&self, object: &ObjectName, patch: Value) -> Result<(), String> {
        let ObjectName { resource, namespace, name } = object;
        self.kubernetes.patch(&resource.kind, Some(namespace), name, patch).map(drop).map_err(said)
    }

    async fn patch_status(&self, object: &ObjectName, patch: Value) -> Result<(), String> {
        let ObjectName { resource, namespace, name } = object;
        let patch = json!({ "status": patch });
        self.kubernetes.patch_status(&resource.kind, Some(namespace), name, patch).map(drop).map_err(said)
    }

    async fn find(&self, object: &ObjectName) -> Result<Option<Value>, String> {
        Ok(self.kubernetes.get(&object.resource.kind, Some(&object.namespace), &object.name))
    }

    async fn list(&self, kind: &str) -> Result<Vec<Value>, String> {
        Ok(self.kubernetes.list(kind))
    }

    fn unreal(&mut self, what: Unreal<'_>) -> Result<(), String> {
        match what {
            Unreal::Jump(by) => self.node_clock.jump(by),
            Unreal::Compact => self.kubernetes.compact(),
            Unreal::Fault(order) => arm(self.kubernetes.faults(), order),
            Unreal::NoFaults => self.kubernetes.faults().clear(),
        }
        Ok(())
    }

    async fn start(&mut self) -> Result<(), String> {
        Self::start(self);
        Ok(())
    }

    async fn crash(&mut self) -> Result<(), String> {
        Self::crash(self);
        Ok(())
    }

    fn crash_at(&mut self, point: CrashPoint) -> Result<(), String> {
        Self::crash_at(self, point);
        Ok(())
    }

    async fn settle(&mut self) -> Result<Settled, String> {
        Ok(Self::settle(self).await)
    }

    async fn advance(&mut self, by: Duration) -> Result<Settled, String> {
        Ok(Self::advance(self, by).await)
    }

    async fn recover(&mut self) -> Result<Settled, String> {
        Ok(Self::recover(self).await)
    }

    fn writes(&mut self) -> Writes {
        Self::writes(self)
    }

    fn ways(&self) -> (kube::Client, Transport, Config) {
        Self::ways(self)
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn patience(&self) -> Duration {
        Duration::ZERO
    }
}

fn said(status: Status) -> String {
    status.message
}
