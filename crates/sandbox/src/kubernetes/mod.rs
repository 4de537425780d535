//! The Kubernetes API in memory: one server that a client in process and kubectl over loopback can use.
//! It knows nothing of the kinds of this project: those come as CustomResourceDefinitions.
//!
//! Not here: conversion webhooks, authorisation (everything is allowed), nodes (Pods stay Pending).

mod admit;
mod age;
mod answer;
mod applying;
mod builtins;
mod cells;
mod complaint;
mod crd;
mod delete;
mod direct;
mod discovery;
mod document;
mod faulty;
mod form;
mod golang;
mod history;
mod identity;
mod kinds;
mod labels;
mod names;
mod openapi;
mod openapi_types;
mod operations;
mod ownership;
mod patch;
mod precondition;
mod present;
mod protobuf;
mod read;
mod resource;
mod scale;
pub mod schema;
mod selector;
mod service;
mod settle;
mod status;
mod store;
mod strategic;
mod table;
#[cfg(test)]
mod tests;
mod tracking;
mod types;
mod uri;
mod watch;
mod workloads;
mod write;

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

pub use history::{Author, Version};
pub use service::KubernetesService;
pub use status::{Details, Reason, Status, StatusCause};

use crate::clock::Clock;
use crate::fault::Faults;
use crate::recall::Recall;
use crate::request_log::RequestLog;
use service::Call;
use store::State;

struct Inner {
    clock: Clock,
    faults: Faults,
    log: RequestLog,
    state: Mutex<State>,
    watchers: AtomicUsize,
    /// Writes that a fault holds back until the next list of their collection.
    late: Mutex<Vec<Call>>,
    /// What reads were answered.
    recall: Recall<(Option<&'static str>, Bytes)>,
}

/// A Kubernetes API server. Clones are the same server.
#[derive(Clone)]
pub struct ApiServer {
    inner: Arc<Inner>,
}

impl fmt::Debug for ApiServer {
    /// Says nothing of what is stored: it may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiServer").finish_non_exhaustive()
    }
}

impl ApiServer {
    /// A server with the namespaces `default` and `kube-system`. The seed decides uids and generated names.
    #[must_use]
    pub fn new(clock: Clock, seed: u64) -> Self {
        let inner = Inner {
            clock,
            faults: Faults::default(),
            log: RequestLog::default(),
            state: Mutex::new(State::new(seed)),
            watchers: AtomicUsize::new(0),
            late: Mutex::default(),
            recall: Recall::default(),
        };
        let server = Self { inner: Arc::new(inner) };
        server.bootstrap();
        server
    }

    /// Leaves `managedFields` out of what is written from now on: to find who set a field is a third of a write's work,
    /// which a simulation of thousands of worlds need not pay for.
    pub fn forget_owners(&self) {
        self.state().tells_owners = false;
    }

    /// What goes wrong, and where.
    #[must_use]
    pub fn faults(&self) -> &Faults {
        &self.inner.faults
    }

    /// The requests so far.
    #[must_use]
    pub fn log(&self) -> &RequestLog {
        &self.inner.log
    }

    /// The version of the last write.
    #[must_use]
    pub fn resource_version(&self) -> u64 {
        self.state().version
    }

    /// Watches that are open.
    #[must_use]
    pub fn watchers(&self) -> usize {
        self.inner.watchers.load(Ordering::Relaxed)
    }

    /// The server as a tower service, for a client in process or `serve::on_loopback`.
    #[must_use]
    pub fn service(&self) -> KubernetesService {
        KubernetesService::new(self.clone())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
