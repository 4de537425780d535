//! The HTTP to Cloudflare as a tower service, so that a sandbox can take its place; and the one for production.
//! Adds no credentials, retries nothing, follows no redirects.

mod connect;

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use cf_api::error::Cause;
use http::{Request, Response, Uri};
use http_body::Body;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use tower::util::BoxCloneSyncService;
use tower::{BoxError, Service, ServiceExt};

use crate::limits::BODY_MAX;

/// Carries one request, whose URI is a path below the API's base, and gives the whole answer.
pub type Transport = BoxCloneSyncService<Request<Bytes>, Response<Bytes>, TransportError>;

/// Where Cloudflare's API is unless configured otherwise.
pub const BASE_URL: &str = "https://api.cloudflare.com/client/v4";

/// Until an answer begins (contract §3e).
const RESPONSE_HEAD: Duration = Duration::from_secs(60);
/// The whole exchange (contract §3e).
const EXCHANGE: Duration = Duration::from_secs(120);
/// A quiet HTTP/2 connection is asked whether it lives, and how long it has to answer (contract §3e).
const PING_AFTER: Duration = Duration::from_secs(30);
const PING_ANSWER: Duration = Duration::from_secs(15);

const _: () = assert!(connect::DIAL.as_secs() + connect::HANDSHAKE.as_secs() < RESPONSE_HEAD.as_secs());
const _: () = assert!(PING_AFTER.as_secs() + PING_ANSWER.as_secs() < RESPONSE_HEAD.as_secs());
const _: () = assert!(RESPONSE_HEAD.as_secs() < EXCHANGE.as_secs());

/// Why there was no answer. It says whether the request may have taken effect.
#[derive(Debug, thiserror::Error)]
#[error("{cause}")]
pub struct TransportError {
    /// What it means for the request.
    pub cause: Cause,
    /// What the HTTP library said.
    pub source: Option<BoxError>,
}

impl TransportError {
    /// An error without a cause of its own.
    #[must_use]
    pub const fn new(cause: Cause) -> Self {
        Self { cause, source: None }
    }
}

/// Why a transport cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum TransportBuildError {
    /// The base URL is not an absolute HTTP URL without a query.
    #[error("the base URL {0:?} is not an absolute http or https URL without a query")]
    BaseUrl(String),
    /// TLS cannot be set up, for want of root certificates for instance.
    #[error("cannot set up TLS")]
    Tls(#[source] rustls::Error),
    /// The HTTP client cannot be made.
    #[error("cannot set up the HTTP client")]
    Client(#[source] reqwest::Error),
}

/// The production transport. The caller has installed a rustls crypto provider for the process.
///
/// # Errors
/// [`TransportBuildError`].
pub fn https(base_url: &str) -> Result<Transport, TransportBuildError> {
    let base = base_url.trim_end_matches('/').to_owned();
    let parsed: Result<Uri, _> = base.parse();
    let fits = |uri: &Uri| matches!(uri.scheme_str(), Some("http" | "https")) && uri.query().is_none();
    if !parsed.as_ref().is_ok_and(fits) {
        return Err(TransportBuildError::BaseUrl(base_url.to_owned()));
    }
    let tls = connect::tls().map_err(TransportBuildError::Tls)?;
    let client = bounded(tls).build().map_err(TransportBuildError::Client)?;
    Ok(over(client, base))
}

fn over(client: reqwest::Client, base: String) -> Transport {
    BoxCloneSyncService::new(tower::service_fn(move |request| {
        exchange(client.clone(), base.clone(), request)
    }))
}

/// The client's bounds but for those of [`exchange`]. It honours the standard proxy variables by default.
fn bounded(tls: rustls::ClientConfig) -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .connector_layer(connect::Bounds)
        .http2_keep_alive_interval(PING_AFTER)
        .http2_keep_alive_timeout(PING_ANSWER)
        .http2_keep_alive_while_idle(true)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
}

/// A transport over a service in this process that expects `base_path` before every path.
pub fn in_process<S, B>(service: S, base_path: &'static str) -> Transport
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + Sync + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send,
    B: Body + Send,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    let reset = |source: BoxError| TransportError { cause: Cause::Reset, source: Some(source) };
    let answer = move |request: Request<Bytes>| {
        let service = service.clone();
        async move {
            let request = below(base_path, request)?.map(Full::new);
            let response = service.oneshot(request).await.map_err(|error| reset(error.into()))?;
            let (head, body) = response.into_parts();
            let body = Limited::new(body, BODY_MAX).collect().await.map_err(|source| {
                let is_too_large = source.is::<LengthLimitError>();
                let cause = if is_too_large { Cause::BodyTooLarge } else { Cause::Reset };
                TransportError { cause, source: Some(source) }
            })?;
            Ok(Response::from_parts(head, body.to_bytes()))
        }
    };
    BoxCloneSyncService::new(tower::service_fn(answer))
}

fn below(base: &str, request: Request<Bytes>) -> Result<Request<Bytes>, TransportError> {
    let (mut head, body) = request.into_parts();
    let uri = format!("{base}{}", head.uri);
    head.uri = uri.parse().map_err(|error: http::uri::InvalidUri| TransportError {
        cause: Cause::Malformed,
        source: Some(error.into()),
    })?;
    Ok(Request::from_parts(head, body))
}

async fn exchange(
    client: reqwest::Client,
    base: String,
    request: Request<Bytes>,
) -> Result<Response<Bytes>, TransportError> {
    let request = below(&base, request)?;
    let request = reqwest::Request::try_from(request).map_err(failed)?;
    let whole = async {
        let head = tokio::time::timeout(RESPONSE_HEAD, client.execute(request)).await;
        let mut response = head.map_err(|_| TransportError::new(Cause::Timeout))?.map_err(failed)?;
        let mut body = BytesMut::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            if body.len() + chunk.len() > BODY_MAX {
                return Err(TransportError::new(Cause::BodyTooLarge));
            }
            body.extend_from_slice(&chunk);
        }
        let mut answer = Response::new(body.freeze());
        *answer.status_mut() = response.status();
        *answer.headers_mut() = std::mem::take(response.headers_mut());
        Ok(answer)
    };
    let in_time = tokio::time::timeout(EXCHANGE, whole).await;
    in_time.map_err(|_| TransportError::new(Cause::Timeout))?
}

fn failed(error: reqwest::Error) -> TransportError {
    let cause = if error.is_connect() {
        Cause::Connect
    } else if error.is_builder() {
        Cause::Malformed
    } else if error.is_timeout() {
        Cause::Timeout
    } else {
        Cause::Reset
    };
    // The URL holds identifiers of the account; the route is logged elsewhere.
    TransportError { cause, source: Some(error.without_url().into()) }
}

#[cfg(test)]
mod tests;
