//! A kube client whose every answer ends: kube bounds neither the head of an answer nor its body, so that one lost
//! packet would stop a list, and with it a kind, for ever. Watches are left to end as the server says.

use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use http_body_util::{BodyExt, Limited};
use kube::Client;
use kube::client::Body;
use tokio::time::{Instant, timeout_at};
use tower::BoxError;

use crate::limits::KUBERNETES_BODY_MAX;
use crate::metrics::Metrics;

/// Why an answer was given up.
#[derive(Debug, thiserror::Error)]
pub enum BoundError {
    /// Not within the time of one call.
    #[error("no answer from the API server in time")]
    Timeout,
    /// What the client said.
    #[error("the API server cannot be asked")]
    Client(#[source] kube::Error),
    /// The body broke, or was larger than we read.
    #[error("the answer of the API server cannot be read")]
    Body(#[source] BoxError),
}

/// The same client, with this time for each call; of a watch, for the head of its answer.
#[must_use]
pub fn bounded(client: Client, limit: Duration, metrics: Arc<Metrics>) -> Client {
    let namespace = client.default_namespace().to_owned();
    let service = tower::service_fn(move |request: Request<Body>| {
        let (client, metrics) = (client.clone(), Arc::clone(&metrics));
        async move {
            let method = request.method().clone();
            let answer = exchange(client, request, limit).await;
            metrics.kubernetes_called(&method, answer.as_ref().map_or(0, |answer| answer.status().as_u16()));
            answer
        }
    });
    Client::new(service, namespace)
}

async fn exchange(
    client: Client,
    request: Request<Body>,
    limit: Duration,
) -> Result<Response<Body>, BoundError> {
    let deadline = Instant::now() + limit;
    let is_watch =
        request.uri().query().is_some_and(|query| query.split('&').any(|pair| pair == "watch=true"));
    let head = timeout_at(deadline, client.send(request)).await;
    let response = head.map_err(|_| BoundError::Timeout)?.map_err(BoundError::Client)?;
    if is_watch {
        return Ok(response);
    }
    let (head, body) = response.into_parts();
    let body = timeout_at(deadline, Limited::new(body, KUBERNETES_BODY_MAX).collect()).await;
    let body = body.map_err(|_| BoundError::Timeout)?.map_err(BoundError::Body)?;
    Ok(Response::from_parts(head, Body::from(body.to_bytes())))
}
