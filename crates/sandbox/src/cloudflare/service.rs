//! The tower service: one request in, one answer out, with the faults that are armed for it.
//! Routing, credentials and limits are asked in the gateway's order; products do the rest.

use std::convert::Infallible;
use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::StreamExt;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Full, Limited, StreamBody};
use jiff::{SignedDuration, Timestamp};
use tower::Service;

use super::call::{self, Call};
use super::envelope::{ApiErrors, Reply};
use super::gateway::{BadHeader, Gateway, bad_header};
use super::query::Query;
use super::rate_limit::{self, Left, Limit};
use super::route::{self, BodyKind};
use super::switches::RateLimitCode;
use super::world::{World, digest_of};
use super::{Cloudflare, Shared, access, control};
use crate::fault::{ConnectionReset, Fault};
use crate::request_log::Line;
use crate::serve::AnswerBody;

/// The base path of the real API; requests come with or without it.
const BASE_PATH: &str = "/client/v4";
/// Bytes of a request body: a batch of 3,500 of the largest records has some 15 MB.
const BODY_MAX: usize = 32 * 1024 * 1024;
/// Seconds of `Retry-After` of the 429 that is a fault: short, so that scenarios see the retry.
const FAULT_RETRY_AFTER_S: u64 = 5;
/// How old the answer to a read may be: Cloudflare's reads lag behind its writes by seconds.
pub const STALE_FOR: SignedDuration = SignedDuration::from_secs(30);
/// How long a late commit waits for a list: clients give a request up after two minutes, and Cloudflare may take half a
/// minute more to finish what it began.
const LATE_MAX: SignedDuration = SignedDuration::from_secs(150);
/// What the edge in front of the API answers to who asks too often.
const EDGE_LIMIT_TEXT: &str = "error code: 1015";
/// What a proxy in between answers that wants people to sign in first.
const SIGN_IN_PAGE: &str =
    "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Sign in to go on</body></html>\n";
/// What a proxy in between answers that no longer waits.
const GATEWAY_TIMEOUT_PAGE: &str = "<html>\r\n<head><title>504 Gateway Time-out</title></head>\r\n<body>\r\n\
    <center><h1>504 Gateway Time-out</h1></center>\r\n<hr><center>cloudflare</center>\r\n</body>\r\n</html>\r\n";
/// What a proxy in between answers.
const BAD_GATEWAY_PAGE: &str = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n\
    <center><h1>502 Bad Gateway</h1></center>\r\n<hr><center>cloudflare</center>\r\n</body>\r\n</html>\r\n";

/// The API as a tower service.
#[derive(Clone, Debug)]
pub struct CloudflareService {
    shared: Arc<Shared>,
}

impl CloudflareService {
    pub(super) fn new(cloudflare: &Cloudflare) -> Self {
        Self { shared: cloudflare.shared.clone() }
    }
}

/// A request whose body has arrived.
pub(super) struct Arrived {
    pub(super) method: Method,
    pub(super) uri: Uri,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// What becomes of a request.
enum Outcome {
    Answer(Answer),
    NeverAnswered,
    Reset,
}

/// An answer before it is HTTP.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) content_type: &'static str,
    pub(super) body: String,
    pub(super) left: Left,
    pub(super) retry_after: Option<u64>,
    /// The body never ends.
    pub(super) slow: bool,
}

impl<B> Service<Request<B>> for CloudflareService
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    type Response = Response<AnswerBody>;
    type Error = ConnectionReset;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let shared = self.shared.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = match Limited::new(body, BODY_MAX).collect().await {
                Ok(collected) => collected.to_bytes(),
                Err(error) if error.is::<http_body_util::LengthLimitError>() => {
                    let refusal = Gateway::BodyTooLarge { max: BODY_MAX };
                    return Ok(response(refused(refusal.into(), rate_limit::UNCOUNTED)));
                }
                // The client went away while it sent.
                Err(_) => return Err(ConnectionReset),
            };
            let arrived = Arrived { method: parts.method, uri: parts.uri, headers: parts.headers, body };
            match handle(&shared, &arrived) {
                Outcome::Answer(answer) => Ok(response(answer)),
                Outcome::NeverAnswered => std::future::pending().await,
                Outcome::Reset => Err(ConnectionReset),
            }
        })
    }
}

fn handle(shared: &Arc<Shared>, arrived: &Arrived) -> Outcome {
    let now = shared.clock.now();
    let path = arrived.uri.path();
    let path = path.strip_prefix(BASE_PATH).filter(|rest| rest.starts_with('/')).unwrap_or(path);
    if let Some(rest) = path.strip_prefix(control::PREFIX) {
        return Outcome::Answer(control::answer(&Cloudflare { shared: shared.clone() }, arrived, rest));
    }
    let fault = shared.faults.take(arrived.method.as_str(), path);
    let mut world = shared.world();
    let who = access::who(&world, &arrived.headers);
    let subject = access::subject(&world, &arrived.headers);
    // What one token is shown is no answer to another.
    let read = (arrived.method == Method::GET).then(|| format!("{who} {}", arrived.uri));
    let recalled = read
        .as_deref()
        .filter(|_| fault == Some(Fault::StaleRead))
        .and_then(|read| shared.recall.oldest(read, now - STALE_FOR));
    if let Some(fault) = fault.filter(|fault| means_something(*fault) || recalled.is_some()) {
        shared.faults.has_hit(fault);
    }
    let outcome = match recalled {
        Some(answer) => Outcome::Answer(answer),
        None => act(&mut world, now, arrived, path, fault),
    };
    drop(world);
    if let (Some(read), None, Outcome::Answer(answer)) = (&read, fault, &outcome) {
        shared.recall.keep(now, read, answer.body.len(), answer);
    }
    let status = match &outcome {
        Outcome::Answer(answer) => answer.status,
        Outcome::NeverAnswered | Outcome::Reset => 0,
    };
    shared.log.push(Line {
        at: now,
        method: arrived.method.to_string(),
        route: route::template_of(path).to_owned(),
        path: arrived.uri.path_and_query().map_or_else(String::new, ToString::to_string),
        status,
        body: body_digest(&arrived.body),
        who,
        subject,
        fault,
    });
    if let Some(witness) = shared.witness.get() {
        let answer = match &outcome {
            Outcome::Answer(answer) if !is_of_the_way(fault) => Some(answer),
            _ => None,
        };
        witness.note(arrived, path, answer);
    }
    outcome
}

/// Whether a fault does something to every request; a stale read does where an older answer is known.
fn means_something(fault: Fault) -> bool {
    fault != Fault::StaleRead && !fault.is_of_kubernetes()
}

/// Whether what comes back is not the API's: a page of somebody in between, or half an answer.
fn is_of_the_way(fault: Option<Fault>) -> bool {
    use Fault::{BadGateway, CutBody, GatewayTimeout, Page, TooManyRequestsBare};
    matches!(fault, Some(BadGateway | CutBody | GatewayTimeout | Page | TooManyRequestsBare))
}

fn body_digest(body: &Bytes) -> String {
    if body.is_empty() { String::new() } else { digest_of(&[body])[..16].to_owned() }
}

fn act(world: &mut World, now: Timestamp, arrived: &Arrived, path: &str, fault: Option<Fault>) -> Outcome {
    let left = rate_limit::UNCOUNTED;
    match fault {
        Some(Fault::TooManyRequests) => {
            let errors = too_many(world, rate_limit::GLOBAL, FAULT_RETRY_AFTER_S);
            Outcome::Answer(refused(errors, Left { remaining: 0, reset_s: FAULT_RETRY_AFTER_S }))
        }
        Some(Fault::InternalError) => Outcome::Answer(refused(Gateway::Internal.into(), left)),
        Some(Fault::Unavailable) => Outcome::Answer(refused(Gateway::Unavailable.into(), left)),
        Some(Fault::Unauthorized) => Outcome::Answer(refused(Gateway::InvalidToken.into(), left)),
        Some(Fault::Forbidden) => Outcome::Answer(refused(Gateway::NoPermission.into(), left)),
        Some(Fault::TooManyRequestsBare) => Outcome::Answer(page(429, "text/plain", EDGE_LIMIT_TEXT)),
        Some(Fault::BadGateway) => Outcome::Answer(page(502, "text/html", BAD_GATEWAY_PAGE)),
        Some(Fault::Page) => Outcome::Answer(page(200, "text/html", SIGN_IN_PAGE)),
        Some(Fault::GatewayTimeout) => {
            carry_out(world, now, arrived, path);
            Outcome::Answer(page(504, "text/html", GATEWAY_TIMEOUT_PAGE))
        }
        Some(Fault::TimeoutBeforeCommit) => Outcome::NeverAnswered,
        Some(Fault::ResetBeforeCommit) => Outcome::Reset,
        Some(Fault::LateCommit) => {
            let (prepared, _) = prepare(world, now, arrived, path);
            world.late.extend(prepared.ok().filter(Call::is_write).map(|call| (now + LATE_MAX, call)));
            Outcome::NeverAnswered
        }
        Some(Fault::TimeoutAfterCommit) => {
            carry_out(world, now, arrived, path);
            Outcome::NeverAnswered
        }
        Some(Fault::ResetAfterCommit) => {
            carry_out(world, now, arrived, path);
            Outcome::Reset
        }
        Some(Fault::SlowBody) => {
            Outcome::Answer(Answer { slow: true, ..carry_out(world, now, arrived, path) })
        }
        Some(Fault::CutBody) => {
            let answer = carry_out(world, now, arrived, path);
            let half = answer.body.floor_char_boundary(answer.body.len() / 2);
            Outcome::Answer(Answer { body: answer.body[..half].to_owned(), ..answer })
        }
        // What was not read before is read now; the rest are faults of the Kubernetes API.
        Some(
            Fault::StaleRead
            | Fault::WriteConflict
            | Fault::WatchCut
            | Fault::WatchStale
            | Fault::WatchLate
            | Fault::WatchGap,
        )
        | None => Outcome::Answer(carry_out(world, now, arrived, path)),
    }
}

fn carry_out(world: &mut World, now: Timestamp, arrived: &Arrived, path: &str) -> Answer {
    let (prepared, left) = prepare(world, now, arrived, path);
    let call = match prepared {
        Ok(call) => call,
        Err(errors) => return refused(errors, left),
    };
    let answer = match call::perform(world, now, &call) {
        Ok(reply) => answered(reply, left),
        Err(errors) => refused(errors, left),
    };
    if call.is_list() {
        world.commit_late(now, Some(&call.collection()));
    }
    answer
}

/// Everything before the product: route, credentials, limits, headers, permission.
fn prepare(
    world: &mut World,
    now: Timestamp,
    arrived: &Arrived,
    path: &str,
) -> (Result<Call, ApiErrors>, Left) {
    let routed = route::find(arrived.method.as_str(), path, world.switches.routing_status);
    let row = routed.as_ref().ok().map(|routed| routed.row);
    let actor = match access::authenticate(world, now, &arrived.headers, row) {
        Ok(actor) => actor,
        Err(errors) => return (Err(errors), rate_limit::UNCOUNTED),
    };
    let left = match limited(world, now, &actor.limit_subject()) {
        Ok(left) => left,
        Err(errors) => {
            let reset_s = errors.retry_after.unwrap_or_default();
            return (Err(errors), Left { remaining: 0, reset_s });
        }
    };
    let call = routed.and_then(|routed| {
        let content_type = content_type(&arrived.headers, routed.row.body)?;
        access::authorise(world, now, &actor, routed.row)?;
        let query = Query::parse(arrived.uri.query().unwrap_or(""));
        Ok(Call { actor, routed, query, content_type, body: arrived.body.clone() })
    });
    (call, left)
}

fn limited(world: &mut World, now: Timestamp, subject: &str) -> Result<Left, ApiErrors> {
    if world.switches.address_limit
        && let Err(excess) = world.addresses.ask("loopback", now)
    {
        return Err(too_many(world, rate_limit::ADDRESS, excess.retry_after_s));
    }
    if !world.switches.rate_limit {
        return Ok(rate_limit::UNCOUNTED);
    }
    match world.requests.ask(subject, now) {
        Ok(left) => Ok(left),
        Err(excess) => Err(too_many(world, rate_limit::GLOBAL, excess.retry_after_s)),
    }
}

/// 429 with `Retry-After`, as the switches say.
pub(super) fn too_many(world: &World, limit: Limit, retry_after_s: u64) -> ApiErrors {
    let mut errors = match world.switches.rate_limit_code {
        RateLimitCode::Code10429 => {
            let message =
                format!("More than {} requests per {} seconds reached", limit.quota, limit.window_s);
            ApiErrors::single(429, 10429, message)
        }
        RateLimitCode::Code971 => {
            ApiErrors::single(429, 971, "Please wait and consider throttling your request speed")
        }
    };
    errors.retry_after = Some(retry_after_s);
    errors
}

/// Cloudflare API docs: a wrong content type is refused at the gateway. No content type at all passes.
fn content_type(headers: &HeaderMap, body: BodyKind) -> Result<String, ApiErrors> {
    let Some(value) = headers.get(header::CONTENT_TYPE) else { return Ok(String::new()) };
    let text = value.to_str().unwrap_or("");
    let essence = text.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    let fits = match body {
        BodyKind::Multipart => essence == "multipart/form-data",
        BodyKind::Json => essence == "application/json",
        BodyKind::Ignored => matches!(essence.as_str(), "application/json" | "multipart/form-data"),
    };
    if fits { Ok(text.to_owned()) } else { Err(bad_header(BadHeader::ContentType)) }
}

fn answered(reply: Reply, left: Left) -> Answer {
    Answer {
        status: 200,
        content_type: reply.content_type(),
        body: reply.into_body(),
        left,
        retry_after: None,
        slow: false,
    }
}

/// What something in front of the API answers.
fn page(status: u16, content_type: &'static str, body: &str) -> Answer {
    let left = rate_limit::UNCOUNTED;
    Answer { status, content_type, body: body.to_owned(), left, retry_after: None, slow: false }
}

fn refused(errors: ApiErrors, left: Left) -> Answer {
    Answer {
        status: errors.status,
        content_type: "application/json",
        body: errors.body(),
        left,
        retry_after: errors.retry_after,
        slow: false,
    }
}

fn response(answer: Answer) -> Response<AnswerBody> {
    let Answer { status, content_type, body, left, retry_after, slow } = answer;
    let body = if slow { endless(body) } else { whole(body) };
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    let mut put = |name: &'static str, value: String| {
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(name, value);
        }
    };
    put("ratelimit", rate_limit::header(left));
    put("ratelimit-policy", rate_limit::policy_header());
    if let Some(seconds) = retry_after {
        put("retry-after", seconds.to_string());
    }
    response
}

fn whole(body: String) -> AnswerBody {
    Full::new(Bytes::from(body)).map_err(|never: Infallible| match never {}).boxed_unsync()
}

/// The first half of the body, and then nothing more.
fn endless(body: String) -> AnswerBody {
    let mut half = Bytes::from(body);
    half.truncate(half.len() / 2);
    let first = futures::stream::iter([Ok::<_, ConnectionReset>(Frame::data(half))]);
    StreamBody::new(first.chain(futures::stream::pending())).boxed_unsync()
}

impl World {
    /// Carries out the requests that were held back, of one collection or all.
    pub(super) fn commit_late(&mut self, now: Timestamp, collection: Option<&str>) {
        let due = self.late.extract_if(.., |(_, call)| collection.is_none_or(|c| call.collection() == c));
        for (_, call) in due.collect::<Vec<_>>() {
            // Nobody waits for the answer any more.
            let _ = call::perform(self, now, &call);
        }
    }

    /// Carries out those that no list came for, each when it was due.
    pub(super) fn commit_overdue(&mut self, now: Timestamp) {
        let due = self.late.extract_if(.., |(at, _)| *at <= now);
        for (at, call) in due.collect::<Vec<_>>() {
            let _ = call::perform(self, at, &call);
        }
    }
}
