//! Sends calls to Cloudflare: the token's header, the budget of each token, the time of a call, the envelope.
//! Repeats nothing: whether a call may be made again is decided in `plan`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use cf_api::budget::{Budget, Class, Decision};
use cf_api::envelope::{self, Answer, ListAnswer, RateLimit};
use cf_api::error::{self, ApiError, Cause};
use cf_api::pace::Pace;
use cf_api::request::Request;
use cf_api::token::{Fingerprint, Secret};
use http::HeaderMap;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, USER_AGENT};
use jiff::Timestamp;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tower::ServiceExt;

use crate::causes::Causes;
use crate::leader::Lease;
use crate::limits::{CALLS_AT_ONCE, TOKEN_KEPT};
use crate::metrics::Metrics;
use crate::pass_time::PassTime;
use crate::transport::{Transport, TransportError};

/// Tells the time of day.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Cloudflare asks clients to name themselves.
const AGENT: &str = concat!("kflare/", env!("CARGO_PKG_VERSION"));

/// Why a call has no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CallError {
    /// Cloudflare answered with an error.
    #[error("Cloudflare refused the call")]
    Api(#[source] ApiError),
    /// No answer came; the cause says whether it may have taken effect.
    #[error("no answer from Cloudflare")]
    NoAnswer(#[source] Cause),
}

/// Who pays for a call, and how long it may wait.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'p> {
    /// Pays.
    pub class: Class,
    /// The time of the pass, which stands still while the call waits for the budget.
    pub time: &'p PassTime,
    /// Not to be sent after this time: what proves it as ours does not cover it any more.
    pub send_by: Option<Timestamp>,
}

/// The way to Cloudflare, shared by all passes.
pub struct Cloudflare {
    transport: Transport,
    clock: Clock,
    metrics: Arc<Metrics>,
    request_timeout: Duration,
    lease: Lease,
    began: Instant,
    tokens: Mutex<BTreeMap<Fingerprint, Arc<Token>>>,
    pace: Mutex<Pace>,
}

struct Token {
    budget: Mutex<Budget>,
    in_flight: Semaphore,
    used: Mutex<Instant>,
}

impl Cloudflare {
    /// A way over this transport. The budgets start anew.
    #[must_use]
    pub fn new(
        transport: Transport,
        clock: Clock,
        metrics: Arc<Metrics>,
        request_timeout: Duration,
        lease: Lease,
    ) -> Self {
        let (began, tokens, pace) = (Instant::now(), Mutex::default(), Mutex::default());
        Self { transport, clock, metrics, request_timeout, lease, began, tokens, pace }
    }

    /// One call, once the token's budget pays for it.
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn call(
        &self,
        secret: &Secret,
        request: &Request,
        terms: Terms<'_>,
    ) -> Result<Answer, CallError> {
        self.exchange(secret, request, terms, envelope::parse).await
    }

    /// A call for a list, or for a page of one.
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn list(
        &self,
        secret: &Secret,
        request: &Request,
        terms: Terms<'_>,
    ) -> Result<ListAnswer, CallError> {
        self.exchange(secret, request, terms, envelope::parse_list).await
    }

    async fn exchange<T>(
        &self,
        secret: &Secret,
        request: &Request,
        terms: Terms<'_>,
        parse: impl Fn(u16, &HeaderMap, &[u8], Timestamp) -> Result<T, ApiError>,
    ) -> Result<T, CallError> {
        let message = self.message(secret, request).ok_or(CallError::NoAnswer(Cause::Malformed))?;
        let token = self.token(secret);
        let _place = self.paid(&token, terms).await.map_err(CallError::NoAnswer)?;
        if !self.lease.may_send() {
            return Err(CallError::NoAnswer(Cause::NotLeader));
        }
        let sent = Instant::now();
        let exchange = self.transport.clone().oneshot(message);
        let answer = tokio::select! {
            biased;
            answer = tokio::time::timeout(self.request_timeout, exchange) => {
                answer.unwrap_or_else(|_| Err(TransportError::new(Cause::Timeout)))
            }
            () = terms.time.over() => Err(TransportError::new(Cause::Cancelled)),
        };
        let status = answer.as_ref().map_or(0, |response| response.status().as_u16());
        self.metrics.called(request.method.as_str(), request.route, status, sent.elapsed());
        let response = answer.map_err(|error| {
            let (method, route) = (request.method.as_str(), request.route);
            tracing::warn!(method, route, error = %Causes(&error), "no answer from Cloudflare");
            CallError::NoAnswer(error.cause)
        })?;
        let read = |body: &[u8]| parse(status, response.headers(), body, (self.clock)());
        let parsed = match read(response.body()) {
            // What is said of a refusal is shown, also by a proxy that echoes our header. Whatever cannot be said without the
            // token is not said.
            Err(error) => Err(match secret.erased_from(response.body()) {
                Some(body) => read(&body).err().or_else(|| read(&[]).err()).unwrap_or(error),
                None => error,
            }),
            read => read,
        };
        self.settle(&token, RateLimit::from_headers(response.headers()), parsed.as_ref().err());
        tell(request, status, sent.elapsed(), parsed.as_ref().err());
        parsed.map_err(CallError::Api)
    }

    fn message(&self, secret: &Secret, request: &Request) -> Option<http::Request<Bytes>> {
        let mut message = http::Request::builder()
            .method(http::Method::from(request.method))
            .uri(request.uri())
            .header(AUTHORIZATION, secret.header_value())
            .header(ACCEPT, HeaderValue::from_static("application/json"))
            .header(USER_AGENT, HeaderValue::from_static(AGENT));
        let body = match &request.body {
            Some(body) => {
                message = message.header(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                serde_json::to_vec(body).ok()?.into()
            }
            None => Bytes::new(),
        };
        message.body(body).ok()
    }

    fn token(&self, secret: &Secret) -> Arc<Token> {
        let now = Instant::now();
        let mut tokens = lock(&self.tokens);
        let fingerprint = secret.fingerprint();
        if let Some(token) = tokens.get(&fingerprint) {
            *lock(&token.used) = now;
            return Arc::clone(token);
        }
        tokens.retain(|_, token| Arc::strong_count(token) > 1 || now - *lock(&token.used) < TOKEN_KEPT);
        let token = Arc::new(Token {
            budget: Mutex::new(Budget::new(self.began.elapsed())),
            in_flight: Semaphore::new(CALLS_AT_ONCE),
            used: Mutex::new(now),
        });
        tokens.insert(fingerprint, Arc::clone(&token));
        token
    }

    /// Whether a call may go, by the token's budget and by what this process may send at all. Going pays for both.
    fn ask(&self, token: &Token, class: Class) -> Decision {
        let now = self.began.elapsed();
        let mut pace = lock(&self.pace);
        if let Some(at) = pace.wait_until(now) {
            return Decision::WaitUntil(at);
        }
        let decision = lock(&token.budget).ask(class, now);
        if decision == Decision::Go {
            pace.went(now);
        }
        decision
    }

    /// Waits until the call is paid for and has a place. The place is taken before the budget is asked, so that what
    /// is paid for is sent at once; and given back while waiting, so that a drift check keeps no edit waiting.
    async fn paid<'t>(
        &self,
        token: &'t Token,
        terms: Terms<'_>,
    ) -> Result<tokio::sync::SemaphorePermit<'t>, Cause> {
        let began = Instant::now();
        // Kept on the monotonic clock, too: a clock that is set back while the call waits grants no more time.
        let deadline = terms.send_by.map(|send_by| {
            let left = send_by.duration_since((self.clock)());
            began + Duration::try_from(left).unwrap_or_default()
        });
        let is_late = || {
            deadline.is_some_and(|deadline| Instant::now() >= deadline)
                || terms.send_by.is_some_and(|send_by| (self.clock)() >= send_by)
        };
        let mut throttled = false;
        loop {
            let place = tokio::select! {
                biased;
                () = late(deadline) => return Err(Cause::BudgetExhausted),
                () = terms.time.over() => return Err(Cause::OutOfTime),
                place = token.in_flight.acquire() => place.map_err(|_| Cause::OutOfTime)?,
            };
            // Nothing waits between this look and the first byte that is sent.
            if is_late() {
                return Err(Cause::BudgetExhausted);
            }
            match self.ask(token, terms.class) {
                Decision::Go => {
                    if throttled {
                        self.metrics.throttled(began.elapsed());
                    }
                    return Ok(place);
                }
                Decision::WaitUntil(at) => {
                    drop(place);
                    throttled = true;
                    // For as long as it waits for the budget alone: a wait for a place counts, and so it ends.
                    let _waiting = terms.time.waiting();
                    // At least a millisecond, tokio's resolution: a time that has just come must not spin.
                    let at = (self.began + at).max(Instant::now() + Duration::from_millis(1));
                    tokio::time::sleep_until(deadline.map_or(at, |deadline| at.min(deadline))).await;
                }
            }
        }
    }

    fn settle(&self, token: &Token, ratelimit: Option<RateLimit>, error: Option<&ApiError>) {
        let now = self.began.elapsed();
        let mut budget = lock(&token.budget);
        budget.answered(ratelimit, now);
        if let Some(error) = error.filter(|error| error.class() == error::Class::RateLimited) {
            budget.too_many(error.retry_after, now);
        }
    }
}

/// A panic while it was held is a bug that its pass reports; what is counted stays usable.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends when a call that has to be sent by then is late; never for a call that has not.
async fn late(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// One line for each call; only those that change something or fail are worth a line of a log that is not for debugging.
/// What a condition says of a failure in Cloudflare's words and code, the log says with the request.
fn tell(request: &Request, status: u16, took: Duration, error: Option<&ApiError>) {
    let (method, route) = (request.method.as_str(), request.route);
    let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    if let Some(error) = error {
        let ray = error.ray.as_deref();
        tracing::warn!(method, route, status, millis, ray, %error, "Cloudflare refused a call");
    } else if request.is_write() {
        tracing::info!(method, route, status, millis, "write to Cloudflare");
    } else {
        tracing::debug!(method, route, status, millis, "call to Cloudflare");
    }
}

#[cfg(test)]
mod tests;
