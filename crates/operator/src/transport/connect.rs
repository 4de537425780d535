//! Bounds of a connection: how long dialling may take, and after it the TLS handshake.
//! The HTTP library knows one time for both; what is connected, and through which proxy, is left to it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rustls::NamedGroup;
use rustls::client::{
    ClientSessionMemoryCache, ClientSessionStore, Resumption, Tls12ClientSessionValue,
    Tls13ClientSessionValue,
};
use rustls::pki_types::ServerName;
use rustls_platform_verifier::ConfigVerifierExt;
use tokio::sync::Notify;
use tokio::time::Instant;
use tower::{BoxError, Layer, Service};

/// Name resolution, the connection, and a proxy's consent (contract §3e).
pub(super) const DIAL: Duration = Duration::from_secs(30);
/// A TLS handshake, from its first byte (contract §3e).
pub(super) const HANDSHAKE: Duration = Duration::from_secs(10);
/// Servers whose sessions are remembered: rustls' own default, far above the one or two that there are.
const SESSIONS_MAX: usize = 256;

tokio::task_local! {
    /// Tells the connection that is being made that a handshake begins.
    static BEGINS: Arc<Notify>;
}

/// Why a connection was given up.
#[derive(Debug, thiserror::Error)]
enum TooSlow {
    #[error("no connection within {} s", DIAL.as_secs())]
    Dial,
    #[error("the TLS handshake took longer than {} s", HANDSHAKE.as_secs())]
    Handshake,
}

/// TLS as the platform trusts it, which tells when a handshake begins.
pub(super) fn tls() -> Result<rustls::ClientConfig, rustls::Error> {
    let mut config = rustls::ClientConfig::with_platform_verifier()?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config.resumption = Resumption::store(Arc::new(Sessions(ClientSessionMemoryCache::new(SESSIONS_MAX))));
    Ok(config)
}

/// The first thing that a handshake does is to ask for a session that it could resume. There is no other word of it.
#[derive(Debug)]
struct Sessions(ClientSessionMemoryCache);

impl ClientSessionStore for Sessions {
    fn take_tls13_ticket(&self, server: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        // Outside of a connection that is bounded nobody listens.
        let _ = BEGINS.try_with(|begins| begins.notify_one());
        self.0.take_tls13_ticket(server)
    }

    fn set_kx_hint(&self, server: ServerName<'static>, group: NamedGroup) {
        self.0.set_kx_hint(server, group);
    }

    fn kx_hint(&self, server: &ServerName<'_>) -> Option<NamedGroup> {
        self.0.kx_hint(server)
    }

    fn set_tls12_session(&self, server: ServerName<'static>, session: Tls12ClientSessionValue) {
        self.0.set_tls12_session(server, session);
    }

    fn tls12_session(&self, server: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.0.tls12_session(server)
    }

    fn remove_tls12_session(&self, server: &ServerName<'static>) {
        self.0.remove_tls12_session(server);
    }

    fn insert_tls13_ticket(&self, server: ServerName<'static>, ticket: Tls13ClientSessionValue) {
        self.0.insert_tls13_ticket(server, ticket);
    }
}

/// Bounds what a connector does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds;

impl<S> Layer<S> for Bounds {
    type Service = Bounded<S>;

    fn layer(&self, connector: S) -> Bounded<S> {
        Bounded(connector)
    }
}

/// A connector within [`Bounds`].
#[derive(Clone, Debug)]
pub(super) struct Bounded<S>(S);

impl<S, R> Service<R> for Bounded<S>
where
    S: Service<R>,
    S::Error: Into<BoxError>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, request: R) -> Self::Future {
        let begins = Arc::new(Notify::new());
        let connecting = BEGINS.scope(Arc::clone(&begins), self.0.call(request));
        Box::pin(async move {
            let mut connecting = std::pin::pin!(connecting);
            let (mut until, mut late) = (Instant::now() + DIAL, TooSlow::Dial);
            loop {
                tokio::select! {
                    biased;
                    connected = &mut connecting => return connected.map_err(Into::into),
                    // Behind a proxy that speaks TLS itself there are two.
                    () = begins.notified() => (until, late) = (Instant::now() + HANDSHAKE, TooSlow::Handshake),
                    () = tokio::time::sleep_until(until) => return Err(late.into()),
                }
            }
        })
    }
}
