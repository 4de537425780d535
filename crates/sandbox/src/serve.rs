//! Serves a world over HTTP/1.1 on a loopback port, for kubectl, curl and other clients.
//! Knows nothing of the worlds: any cloneable tower service with the shared body types will do.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tower::{Service, ServiceExt};

use crate::fault::ConnectionReset;

/// Why a world cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The port is taken or not allowed.
    #[error("cannot listen on 127.0.0.1:{port}")]
    Listen {
        /// The port asked for; 0 means any.
        port: u16,
        /// The operating system's word.
        source: std::io::Error,
    },
}

/// The body type of every answer of both worlds.
pub type AnswerBody = UnsyncBoxBody<Bytes, ConnectionReset>;

/// A world that listens. Dropping it stops the listener and every connection.
#[derive(Debug)]
pub struct Served {
    /// Where it listens.
    pub address: SocketAddr,
    _connections: JoinSet<()>,
}

/// Connections at once: kubectl needs two, an operator one per watch; this is a bound, not a target.
const CONNECTIONS_MAX: usize = 512;

/// A request whose body has come.
pub type WholeRequest = Request<Full<Bytes>>;

/// Bytes of a request: as much as the worlds take.
const BODY_MAX: usize = 128 * 1024 * 1024;

/// How long the body of a request may take to come: whoever never sends it keeps a connection from others.
const BODY_WITHIN: Duration = Duration::from_secs(60);

/// How long to wait when a connection cannot be taken: there are too many open files, and asking at once does not help.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

/// Hands a request on when all of its body has come, so that whoever counts requests need not wait for the rest.
pub fn gathered<S>(
    service: S,
) -> impl Service<
    Request<Incoming>,
    Response = Response<AnswerBody>,
    Error = ConnectionReset,
    Future: Send + 'static,
> + Clone
+ Send
+ 'static
where
    S: Service<WholeRequest, Response = Response<AnswerBody>, Error = ConnectionReset>
        + Clone
        + Send
        + 'static,
    S::Future: Send + 'static,
{
    tower::service_fn(move |request: Request<Incoming>| {
        let service = service.clone();
        async move {
            let (head, body) = request.into_parts();
            let body = tokio::time::timeout(BODY_WITHIN, Limited::new(body, BODY_MAX).collect());
            let body = body.await.map_err(|_| ConnectionReset)?.map_err(|_| ConnectionReset)?;
            service.oneshot(Request::from_parts(head, Full::new(body.to_bytes()))).await
        }
    })
}

/// Listens on `127.0.0.1:port` (0: any free port) and answers with `service`.
pub async fn on_loopback<S>(port: u16, service: S) -> Result<Served, ServeError>
where
    S: Service<Request<Incoming>, Response = Response<AnswerBody>, Error = ConnectionReset>
        + Clone
        + Send
        + 'static,
    S::Future: Send + 'static,
{
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
        .await
        .map_err(|source| ServeError::Listen { port, source })?;
    let address = listener.local_addr().map_err(|source| ServeError::Listen { port, source })?;
    let mut accepting = JoinSet::new();
    accepting.spawn(accept(listener, service));
    Ok(Served { address, _connections: accepting })
}

async fn accept<S>(listener: TcpListener, service: S)
where
    S: Service<Request<Incoming>, Response = Response<AnswerBody>, Error = ConnectionReset>
        + Clone
        + Send
        + 'static,
    S::Future: Send + 'static,
{
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        if connections.len() >= CONNECTIONS_MAX {
            connections.join_next().await;
        }
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_AGAIN).await;
            continue;
        };
        let service = TowerToHyperService::new(service.clone());
        connections.spawn(async move {
            // A connection that the client or a fault ends early is not an error of the server.
            let _ = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}
