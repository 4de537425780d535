//! Requests as text, and answers to them from a service in memory, in a time that stands still.
//!
//! ```text
//! PATCH /api/v1/namespaces/default/configmaps/a?dryRun=All
//! Content-Type: application/merge-patch+json
//!
//! {"data": {"a": "b"}}
//! %%
//! GET /api/v1/configmaps
//! ```

use bytes::Bytes;
use futures::FutureExt as _;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full};
use sandbox::cloudflare::{Cloudflare, Flaw};
use sandbox::fault::ConnectionReset;
use sandbox::serve::AnswerBody;
use tower::Service;

/// Between two requests.
const BETWEEN: &[u8] = b"\n%%\n";
/// Requests of one input: enough to make something, change it twice and look at it; more would hide what is new.
const REQUESTS_MAX: usize = 12;
/// Frames of one answer: a watch of all that is there at once.
const FRAMES_MAX: usize = 10_000;

/// An answer, read to its end or until nothing more comes.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// The requests of an input, those left out that HTTP cannot say.
pub(crate) fn requests(input: &[u8]) -> Vec<Request<Full<Bytes>>> {
    split(input, BETWEEN).into_iter().take(REQUESTS_MAX).filter_map(request).collect()
}

fn request(text: &[u8]) -> Option<Request<Full<Bytes>>> {
    let (line, rest) = cut(text, b"\n");
    let (method, uri) = cut(line, b" ");
    let (headers, body) = headed(rest);
    let mut request = Request::new(Full::new(Bytes::copy_from_slice(body)));
    *request.method_mut() = Method::from_bytes(method).ok()?;
    *request.uri_mut() = Uri::try_from(uri).ok()?;
    *request.headers_mut() = headers;
    Some(request)
}

/// Header lines up to an empty one, and what follows. A line that is no header is left out.
pub(crate) fn headed(text: &[u8]) -> (HeaderMap, &[u8]) {
    let mut headers = HeaderMap::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (line, next) = cut(rest, b"\n");
        rest = next;
        if line.is_empty() {
            break;
        }
        let (name, value) = cut(line, b":");
        let name = HeaderName::from_bytes(name.trim_ascii());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(value.trim_ascii())) {
            headers.append(name, value);
        }
    }
    (headers, rest)
}

/// What is before the first `at` and what is behind it.
pub(crate) fn cut<'t>(text: &'t [u8], at: &[u8]) -> (&'t [u8], &'t [u8]) {
    match text.windows(at.len()).position(|window| window == at) {
        Some(found) => (&text[..found], &text[found + at.len()..]),
        None => (text, &[]),
    }
}

fn split<'t>(mut text: &'t [u8], at: &[u8]) -> Vec<&'t [u8]> {
    let mut parts = Vec::new();
    while !text.is_empty() {
        let (part, rest) = cut(text, at);
        parts.push(part);
        text = rest;
    }
    parts
}

/// Runs a target where time stands still: the clock of both worlds follows the runtime's.
pub(crate) fn in_standing_time(run: impl FnOnce()) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.expect("a runtime without threads");
    let _entered = runtime.enter();
    run();
}

/// Sends a request; nothing when it is never answered.
pub(crate) fn send<S>(service: &mut S, request: Request<Full<Bytes>>) -> Option<Answer>
where
    S: Service<Request<Full<Bytes>>, Response = http::Response<AnswerBody>, Error = ConnectionReset>,
{
    let answered = service.call(request).now_or_never()?.ok()?;
    let (head, mut body) = answered.into_parts();
    let mut bytes = Vec::new();
    for _ in 0..FRAMES_MAX {
        let Some(Some(Ok(frame))) = body.frame().now_or_never() else { break };
        bytes.extend(frame.into_data().unwrap_or_default());
    }
    Some(Answer { status: head.status, headers: head.headers, body: bytes })
}

/// Panics when something on the wire to Cloudflare was not as the facts of the real API say. The spelling of values is left
/// out: of most nonsense that is tried here, only Cloudflare knows whether it would be refused.
pub(crate) fn fits(line: &str, cloudflare: &Cloudflare) {
    let misfits = cloudflare.take_misfits();
    let misfit = misfits.iter().find(|misfit| misfit.flaw != Flaw::Form).map(ToString::to_string);
    assert_eq!(misfit, None, "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_several_requests() {
        let requests =
            requests(b"POST /a?b=c\nX-One: 1\nno header\n\n{}\n%%\nGET /d\n%%\n(no) request\n%%\n");
        assert_eq!(requests.len(), 2, "{requests:?}");
        assert_eq!(requests[0].uri(), "/a?b=c");
        assert_eq!(requests[0].headers()["x-one"], "1");
        assert_eq!(requests[1].method(), Method::GET);
    }
}
