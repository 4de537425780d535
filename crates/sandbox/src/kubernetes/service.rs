//! The HTTP face: bodies in, faults, the log, answers out. Leaves what a request means to `answer`.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::PoisonError;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use futures::stream;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::ApiServer;
use super::answer::{Answer, Content};
use super::faulty::{self, Act};
use super::present::error_line;
use super::status::{Reason, Status};
use super::uri::{self, Query, Routed};
use crate::fault::ConnectionReset;
use crate::request_log::Line;
use crate::serve::AnswerBody;

/// Largest body: `MaxRequestBodyBytes` of the generic API server.
const BODY_BYTES_MAX: usize = 3 * 1024 * 1024;
const WARNING: HeaderName = HeaderName::from_static("warning");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// One request, read to its end.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) method: String,
    pub(crate) path: String,
    /// The path and query as they came.
    pub(crate) target: String,
    pub(crate) query: Query,
    pub(crate) accept: String,
    pub(crate) content_type: String,
    pub(crate) user_agent: String,
    pub(crate) body: Bytes,
}

impl Call {
    pub(crate) fn is_watch(&self) -> bool {
        self.method == "GET" && self.query.flag("watch")
    }

    fn is_write(&self) -> bool {
        !matches!(self.method.as_str(), "GET" | "HEAD")
    }

    /// `WATCH` for a watch.
    fn verb(&self) -> &str {
        if self.is_watch() { "WATCH" } else { &self.method }
    }
}

/// The server as a tower service. Clones are the same server.
#[derive(Clone, Debug)]
pub struct KubernetesService {
    server: ApiServer,
}

impl KubernetesService {
    pub(super) fn new(server: ApiServer) -> Self {
        Self { server }
    }
}

type Answered = Result<Response<AnswerBody>, ConnectionReset>;

impl<B> tower::Service<Request<B>> for KubernetesService
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
{
    type Response = Response<AnswerBody>;
    type Error = ConnectionReset;
    type Future = Pin<Box<dyn Future<Output = Answered> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ConnectionReset>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let server = self.server.clone();
        Box::pin(async move { answer(server, request).await })
    }
}

async fn answer<B>(server: ApiServer, request: Request<B>) -> Answered
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
{
    let (head, body) = request.into_parts();
    let body = read(body).await?;
    let text = |name: HeaderName| header(&head.headers, &name);
    let call = Call {
        method: head.method.as_str().to_owned(),
        path: head.uri.path().to_owned(),
        target: head.uri.path_and_query().map_or_else(|| head.uri.path().to_owned(), ToString::to_string),
        query: Query::parse(head.uri.query().unwrap_or_default()),
        accept: text(ACCEPT),
        content_type: text(CONTENT_TYPE),
        user_agent: text(USER_AGENT),
        body: body.clone().unwrap_or_default(),
    };
    let Routed { template, .. } = uri::route(&server.state().registry, &call.path);
    let mut line = Line {
        at: server.inner.clock.now(),
        method: call.verb().to_owned(),
        route: template,
        path: call.target.clone(),
        status: 0,
        body: digest(&call.body),
        who: call.user_agent.clone(),
        subject: String::new(),
        fault: None,
    };
    let fault = server.faults().take(call.verb(), &call.path);
    let act = match fault {
        _ if body.is_none() => Act::Answer(too_large()),
        Some(fault) => faulty::act(fault, call.is_watch(), call.is_write()),
        None => Act::Pass,
    };
    let act = if act == Act::Recall { recalled(&server, &call) } else { act };
    if let Some(fault) = fault.filter(|_| act != Act::Pass) {
        server.faults().has_hit(fault);
    }
    let outcome = act_out(&server, call, act);
    line.fault = fault;
    line.status = outcome.as_ref().map_or(0, |response| response.as_ref().map_or(0, |r| r.status().as_u16()));
    server.log().push(line);
    match outcome {
        Some(answered) => answered,
        // The client's own timeout ends it.
        None => std::future::pending().await,
    }
}

fn header(headers: &HeaderMap, name: &HeaderName) -> String {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
}

/// The whole body; `None` when it is too large.
async fn read<B: http_body::Body<Data = Bytes>>(body: B) -> Result<Option<Bytes>, ConnectionReset> {
    let mut body = pin!(body);
    let mut all = BytesMut::new();
    while let Some(frame) = body.frame().await {
        // A body that breaks off is a connection that broke.
        let Ok(data) = frame.map_err(|_| ConnectionReset)?.into_data() else { continue };
        if all.len() + data.len() > BODY_BYTES_MAX {
            return Ok(None);
        }
        all.extend_from_slice(&data);
    }
    Ok(Some(all.freeze()))
}

fn too_large() -> Status {
    let message = format!("Request entity too large: limit is {BODY_BYTES_MAX}");
    Status::new(Reason::RequestEntityTooLarge, message)
}

fn digest(body: &[u8]) -> String {
    if body.is_empty() {
        return String::new();
    }
    Sha256::digest(body).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Carries a request out as far as a fault lets it. `None`: it is never answered.
fn act_out(server: &ApiServer, call: Call, act: Act) -> Option<Answered> {
    match act {
        Act::Pass | Act::Recall => Some(Ok(finish(server, &call))),
        Act::Answer(status) => Some(Ok(refusal(&status))),
        Act::AnswerAfter(status) => {
            drop(finish(server, &call));
            Some(Ok(refusal(&status)))
        }
        Act::ProxyPage(status) => Some(Ok(proxy_page(status))),
        Act::Silence { commit } => {
            if commit {
                drop(finish(server, &call));
            }
            None
        }
        Act::Late => {
            server.inner.late.lock().unwrap_or_else(PoisonError::into_inner).push(call);
            None
        }
        Act::Reset { commit } => {
            if commit {
                drop(finish(server, &call));
            }
            Some(Err(ConnectionReset))
        }
        Act::SlowBody => {
            let (mut head, _) = finish(server, &call).into_parts();
            head.headers.remove(http::header::CONTENT_LENGTH);
            Some(Ok(Response::from_parts(head, endless())))
        }
        Act::CutBody => Some(Ok(cut(server, &call))),
        Act::Again { media_type, bytes } => Some(Ok(respond(Answer { media_type, ..Answer::ok(bytes) }))),
        Act::Cut => Some(Ok(watch_response(Full::new(Bytes::new()).map_err(never).boxed_unsync()))),
        Act::Stale => Some(Ok(watch_response(endless()))),
        Act::Gap => {
            let line = error_line(&faulty::gap());
            Some(Ok(watch_response(Full::new(line).map_err(never).boxed_unsync())))
        }
    }
}

fn finish(server: &ApiServer, call: &Call) -> Response<AnswerBody> {
    let response = match server.perform(call) {
        Ok(answer) => {
            keep(server, call, &answer);
            respond(answer)
        }
        Err(status) => refusal(&status),
    };
    if call.method == "GET" && !call.is_watch() {
        server.commit_late(&call.path);
    }
    response
}

/// Keeps what a read is answered, for a fault that answers it so again.
fn keep(server: &ApiServer, call: &Call, answer: &Answer) {
    let (at, read) = (server.inner.clock.now(), format!("{} {}", call.accept, call.target));
    match &answer.content {
        Content::Bytes(bytes) if call.method == "GET" && !call.is_watch() => {
            server.inner.recall.keep(at, &read, bytes.len(), &(answer.media_type, bytes.clone()));
        }
        _ => {}
    }
}

/// To answer a read as the oldest that is still known; when none is, nothing goes wrong with it.
fn recalled(server: &ApiServer, call: &Call) -> Act {
    let read = format!("{} {}", call.accept, call.target);
    let oldest = server.inner.recall.oldest(&read, Timestamp::MIN);
    oldest.map_or(Act::Pass, |(media_type, bytes)| Act::Again { media_type, bytes })
}

/// The answer, whose body ends in the middle.
fn cut(server: &ApiServer, call: &Call) -> Response<AnswerBody> {
    match server.perform(call) {
        Ok(Answer { content: Content::Bytes(bytes), code, warnings, media_type }) => {
            let half = bytes.slice(..bytes.len() / 2);
            respond(Answer { content: Content::Bytes(half), code, warnings, media_type })
        }
        Ok(answer) => respond(answer),
        Err(status) => refusal(&status),
    }
}

impl ApiServer {
    /// Carries out the writes that waited for a list of this collection.
    fn commit_late(&self, path: &str) {
        let mut due = Vec::new();
        {
            let mut late = self.inner.late.lock().unwrap_or_else(PoisonError::into_inner);
            if late.is_empty() {
                return;
            }
            let registry = &self.state().registry;
            let listed = uri::route(registry, path).route.collection();
            let Some(listed) = listed else { return };
            let mut kept = Vec::new();
            for call in late.drain(..) {
                let same = uri::route(registry, &call.path).route.resource() == Some(listed);
                if same { due.push(call) } else { kept.push(call) }
            }
            *late = kept;
        }
        for call in due {
            // Nobody waits for the answer.
            let _ = self.perform(&call);
        }
    }
}

fn never(error: Infallible) -> ConnectionReset {
    match error {}
}

/// A body that never says anything and never ends.
fn endless() -> AnswerBody {
    StreamBody::new(stream::pending::<Result<Frame<Bytes>, ConnectionReset>>()).boxed_unsync()
}

fn watch_response(body: AnswerBody) -> Response<AnswerBody> {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

fn respond(answer: Answer) -> Response<AnswerBody> {
    let mut response = match answer.content {
        Content::Stream(body) => watch_response(body),
        Content::Bytes(bytes) => watch_response(Full::new(bytes).map_err(never).boxed_unsync()),
        Content::Text(text) => {
            let mut response = watch_response(Full::new(Bytes::from(text)).map_err(never).boxed_unsync());
            let plain = HeaderValue::from_static("text/plain; charset=utf-8");
            response.headers_mut().insert(CONTENT_TYPE, plain);
            response
        }
    };
    if let Some(media_type) = answer.media_type {
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    }
    *response.status_mut() = answer.code;
    warn(&mut response, &answer.warnings);
    response
}

/// One header a warning; the same is not told twice.
fn warn(response: &mut Response<AnswerBody>, warnings: &[String]) {
    for warning in warnings.iter().collect::<BTreeSet<_>>() {
        let text = format!("299 - \"{}\"", warning.replace('\\', "\\\\").replace('"', "\\\""));
        if let Ok(value) = HeaderValue::from_str(&text) {
            response.headers_mut().append(WARNING, value);
        }
    }
}

fn refusal(status: &Status) -> Response<AnswerBody> {
    let body = Bytes::from(status.to_value().to_string());
    let mut response = watch_response(Full::new(body).map_err(never).boxed_unsync());
    *response.status_mut() = StatusCode::from_u16(status.code()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if status.details.retry_after_seconds > 0 {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(status.details.retry_after_seconds));
    }
    warn(&mut response, &status.details.warnings);
    response
}

fn proxy_page(status: u16) -> Response<AnswerBody> {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    let page = Bytes::from(format!("<html><body><h1>{status}</h1></body></html>\n"));
    let mut response = watch_response(Full::new(page).map_err(never).boxed_unsync());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html"));
    response
}
