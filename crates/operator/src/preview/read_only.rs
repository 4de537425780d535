//! The ways out of a preview: both carry reads and nothing else, whatever asks for more.
//! Secrets that only the files have, and what was foreseen of a Secret's metadata, are answered here.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use cf_api::error::Cause;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use kinds::Key;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use tower::util::BoxCloneSyncService;
use tower::{BoxError, ServiceExt};

use super::foresight::Foresight;
use crate::transport::{Transport, TransportError};

/// Something asked a preview to change the world.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a preview sends reads only, and this is a {0}")]
pub(super) struct NotARead(Method);

/// Secrets as Kubernetes would give them, by where they are.
#[derive(Clone, Default)]
pub struct Secrets(BTreeMap<Key, Value>);

impl fmt::Debug for Secrets {
    /// Their names only: what they hold is secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Secrets {
    /// Adds one, in the place of another of its name.
    pub fn insert(&mut self, key: Key, secret: Value) {
        self.0.insert(key, secret);
    }

    /// True when there is one at this place.
    #[must_use]
    pub fn contains(&self, key: &Key) -> bool {
        self.0.contains_key(key)
    }
}

/// How many requests have gone out over a transport. Clones count together.
#[derive(Clone, Debug, Default)]
pub(super) struct Count(Arc<AtomicUsize>);

impl Count {
    /// The number so far.
    #[must_use]
    pub(super) fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// The same way to Cloudflare, for reads.
#[must_use]
pub(super) fn transport(inner: Transport, count: Count) -> Transport {
    BoxCloneSyncService::new(tower::service_fn(move |request: Request<Bytes>| {
        let (inner, count) = (inner.clone(), count.clone());
        async move {
            if request.method() != Method::GET {
                let source = Some(NotARead(request.method().clone()).into());
                return Err(TransportError { cause: Cause::Malformed, source });
            }
            count.0.fetch_add(1, Ordering::Relaxed);
            inner.oneshot(request).await
        }
    }))
}

/// A client for Kubernetes that reads: from these Secrets first, then from the cluster, if there is one.
#[must_use]
pub(super) fn client(cluster: Option<Client>, secrets: Secrets, foresight: Foresight) -> Client {
    let namespace = cluster.as_ref().map_or("default", Client::default_namespace).to_owned();
    let (secrets, foresight) = (Arc::new(secrets), foresight);
    let service = tower::service_fn(move |request: Request<Body>| {
        let (cluster, secrets, foresight) = (cluster.clone(), Arc::clone(&secrets), foresight.clone());
        async move {
            if request.method() != Method::GET {
                return Err(BoxError::from(NotARead(request.method().clone())));
            }
            if let Some(known) = known(&request, &secrets, &foresight) {
                return Ok(answer(StatusCode::OK, &known));
            }
            match cluster {
                Some(cluster) => cluster.send(request).await.map_err(BoxError::from),
                None => Ok(answer(StatusCode::NOT_FOUND, &no_such_object())),
            }
        }
    });
    Client::new(service, namespace)
}

/// What is known without the cluster: a Secret of the files, or the metadata that a foreseen patch left of any.
fn known(request: &Request<Body>, secrets: &Secrets, foresight: &Foresight) -> Option<Value> {
    let key = secret_of(request.uri().path())?;
    let accepted = request.headers().get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !accepted.contains("PartialObjectMetadata") {
        return secrets.0.get(&key).cloned();
    }
    let metadata = match foresight.secret(&key) {
        Some(patched) => serde_json::to_value(patched.metadata).ok()?,
        None => secrets.0.get(&key)?["metadata"].clone(),
    };
    Some(json!({ "apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": metadata }))
}

fn secret_of(path: &str) -> Option<Key> {
    let (namespace, name) = path.strip_prefix("/api/v1/namespaces/")?.split_once("/secrets/")?;
    Some(Key::new(namespace, name))
}

fn no_such_object() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404,
        "message": "it is not in the files, and no cluster is looked at",
    })
}

fn answer(status: StatusCode, value: &Value) -> Response<Body> {
    let mut response = Response::new(Body::from(value.to_string().into_bytes()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
