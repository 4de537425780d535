//! The HTTP endpoints of the process itself: `/healthz`, `/readyz` and `/metrics`.
//! Says what it is told; serves nothing of Kubernetes or Cloudflare.

use std::net::{Ipv6Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use prometheus_client::encoding::prometheus_text::CONTENT_TYPE as METRICS_TYPE;
use tokio::net::TcpListener;

use crate::state::Shared;

/// The address that turns an endpoint off.
const OFF: &str = "0";

/// Why an endpoint cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Not an address.
    #[error("{0:?} is no address: write :8080, 127.0.0.1:8080 or 0 for none")]
    Address(String),
    /// The port is taken or not allowed.
    #[error("cannot listen on {address}")]
    Bind {
        /// Where.
        address: SocketAddr,
        /// The operating system's word.
        source: std::io::Error,
    },
}

/// Listens where a flag says; `None` for `0`, which turns the endpoint off.
///
/// # Errors
/// [`ListenError`].
pub async fn listen(address: &str) -> Result<Option<TcpListener>, ListenError> {
    if address == OFF {
        return Ok(None);
    }
    let wrong = || ListenError::Address(address.to_owned());
    let address = match address.strip_prefix(':') {
        // Go's way to say "all addresses", which on a dual-stack host is this one.
        Some(port) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, port.parse().map_err(|_| wrong())?)),
        None => address.parse().map_err(|_| wrong())?,
    };
    match TcpListener::bind(address).await {
        Ok(listener) => Ok(Some(listener)),
        // A host without IPv6.
        Err(_) if address.ip() == Ipv6Addr::UNSPECIFIED => {
            let address = SocketAddr::from(([0, 0, 0, 0], address.port()));
            let listener = TcpListener::bind(address).await;
            listener.map(Some).map_err(|source| ListenError::Bind { address, source })
        }
        Err(source) => Err(ListenError::Bind { address, source }),
    }
}

/// `/healthz` and `/readyz`.
pub fn probes(shared: Arc<Shared>) -> Router {
    Router::new().route("/healthz", get(alive)).route("/readyz", get(ready)).with_state(shared)
}

async fn alive(State(shared): State<Arc<Shared>>) -> (StatusCode, &'static str) {
    if shared.is_alive() {
        (StatusCode::OK, "ok")
    } else {
        (
            StatusCode::INTERNAL_SERVER_ERROR,
            "nothing is looked at any more: the lease is lost, or this is a bug",
        )
    }
}

async fn ready(State(shared): State<Arc<Shared>>) -> (StatusCode, &'static str) {
    // A process that waits for the lease is ready, too: else a rolling update would never end.
    if shared.lock().cache.is_synced() {
        (StatusCode::OK, "ok")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "some kinds have not been listed yet")
    }
}

/// `/metrics`.
pub fn metrics(shared: Arc<Shared>) -> Router {
    let text = |State(shared): State<Arc<Shared>>| async move {
        ([(CONTENT_TYPE, METRICS_TYPE)], shared.measured())
    };
    Router::new().route("/metrics", get(text)).with_state(shared)
}

/// Serves until `end` is over.
///
/// # Errors
/// What the operating system says when accepting fails for good.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    end: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    axum::serve(listener, router).with_graceful_shutdown(end).await
}
