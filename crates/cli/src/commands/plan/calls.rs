//! What the calls to Cloudflare of one plan came to: how many there were, whether any was answered, and whether it was
//! Cloudflare that did. A plan in which none was is no plan, whatever its objects say.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Request, Response};
use hyper_util::client::proxy::matcher::Matcher;
use operator::Transport;
use operator::transport::{BASE_URL, TransportError};
use serde_json::Value;
use tower::ServiceExt;
use tower::util::BoxCloneSyncService;

use crate::progress::Teller;

/// Cloudflare's codes for a path that its API does not have.
const NO_ROUTE: [u64; 2] = [7000, 7001];

/// Counts.
#[derive(Debug, Default)]
pub(super) struct Calls {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    sent: usize,
    answered: usize,
    /// Answers in the form of Cloudflare's API, to a path that it has.
    recognised: usize,
    /// Why the last one that had no answer had none.
    failure: Option<String>,
    /// The last answer that was not Cloudflare's, in words.
    strange: Option<String>,
}

/// There is no Cloudflare there.
#[derive(Debug, thiserror::Error)]
pub(in crate::commands) enum CloudflareUnreachable {
    /// Nobody answers.
    #[error("cannot reach Cloudflare at {url}{}: {cause}", if *.by_proxy { " through the proxy of HTTPS_PROXY" } else { "" })]
    Silent {
        url: String,
        /// The environment asks for one.
        by_proxy: bool,
        cause: String,
    },
    /// Somebody else does.
    #[error("what answers at {url} does not look like the Cloudflare API: {answer}")]
    Stranger { url: String, answer: String },
}

impl CloudflareUnreachable {
    /// What to do about it.
    pub(in crate::commands) fn next(&self) -> String {
        match self {
            Self::Silent { .. } => {
                "is this machine online, and is a proxy needed (HTTPS_PROXY) or in the way (NO_PROXY)? For a sandbox set \
                 CLOUDFLARE_API_URL to the address that it prints"
                    .to_owned()
            }
            Self::Stranger { url, .. } if url == BASE_URL => {
                "is something in between, such as a proxy (HTTPS_PROXY, NO_PROXY)? If not, try again in a while".to_owned()
            }
            Self::Stranger { .. } => format!(
                "--cloudflare-api-url (or CLOUDFLARE_API_URL) is probably wrong: Cloudflare's is {BASE_URL}, which is used \
                 without it; that of a sandbox is printed when it starts and ends with /client/v4"
            ),
        }
    }
}

impl Calls {
    /// A transport whose calls are counted, and told.
    pub(super) fn watch(self: &Arc<Self>, transport: Transport, teller: Teller) -> Transport {
        let calls = Arc::clone(self);
        BoxCloneSyncService::new(tower::service_fn(move |request: Request<Bytes>| {
            let (calls, transport) = (Arc::clone(&calls), transport.clone());
            let sent = calls.sent();
            teller.say(|| format!("asking Cloudflare: {sent} {}", if sent == 1 { "call" } else { "calls" }));
            async move {
                let outcome = transport.oneshot(request).await;
                calls.ended(&outcome);
                outcome
            }
        }))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sent(&self) -> usize {
        let mut inner = self.lock();
        inner.sent += 1;
        inner.sent
    }

    fn ended(&self, outcome: &Result<Response<Bytes>, TransportError>) {
        let mut inner = self.lock();
        match outcome {
            Ok(answer) => {
                inner.answered += 1;
                match strange(answer) {
                    Some(strange) => inner.strange = Some(strange),
                    None => inner.recognised += 1,
                }
            }
            Err(error) => inner.failure = Some(why(error)),
        }
    }

    /// An error when none of the calls was answered, or none by Cloudflare.
    pub(super) fn check(&self, url: &str) -> Result<(), CloudflareUnreachable> {
        let inner = self.lock();
        let url = || url.to_owned();
        match (&inner.failure, &inner.strange) {
            (Some(cause), _) if inner.answered == 0 => {
                let by_proxy = url().parse().is_ok_and(|url| Matcher::from_env().intercept(&url).is_some());
                Err(CloudflareUnreachable::Silent { url: url(), by_proxy, cause: cause.clone() })
            }
            (_, Some(answer)) if inner.recognised == 0 => {
                Err(CloudflareUnreachable::Stranger { url: url(), answer: answer.clone() })
            }
            _ => Ok(()),
        }
    }
}

/// What an answer says that is not one of Cloudflare's API, or is to a path that it does not have.
fn strange(answer: &Response<Bytes>) -> Option<String> {
    let body: Option<Value> = serde_json::from_slice(answer.body()).ok();
    let Some(body) = body.filter(|body| body["success"].is_boolean()) else {
        let media_type = answer.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let what = media_type.map_or_else(String::new, |media_type| format!(" of type {media_type}"));
        return Some(format!("it answers {} with a body{what}", answer.status().as_u16()));
    };
    let is_no_route = |error: &&Value| error["code"].as_u64().is_some_and(|code| NO_ROUTE.contains(&code));
    let error = body["errors"].as_array()?.iter().find(is_no_route)?;
    Some(format!("it has no such path ({})", error["message"].as_str().unwrap_or_default()))
}

/// What the HTTP library's error comes from, else what it means.
fn why(error: &TransportError) -> String {
    match &error.source {
        Some(source) => operator::causes::root(source.as_ref()),
        None => error.cause.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use cf_api::error::Cause;

    use super::*;

    fn transport(
        answers: impl Fn() -> Result<Response<Bytes>, TransportError> + Clone + Send + Sync + 'static,
    ) -> Transport {
        BoxCloneSyncService::new(tower::service_fn(move |_| {
            let answer = answers();
            async move { answer }
        }))
    }

    /// What is said after a call that ends like this.
    async fn after(calls: &Arc<Calls>, transport: Transport) -> Result<(), CloudflareUnreachable> {
        let watched = calls.watch(transport, Teller::default());
        let _ = watched.oneshot(Request::new(Bytes::new())).await;
        calls.check("https://api.example/client/v4")
    }

    #[test]
    fn where_nobody_answers_that_is_said_with_its_cause_and_what_to_do() {
        crate::scenario::simulate(async {
            let calls = Arc::new(Calls::default());
            let dns = || {
                let source = "failed to lookup address information: Name or service not known".into();
                Err(TransportError { cause: Cause::Connect, source: Some(source) })
            };
            let error = after(&calls, transport(dns)).await.unwrap_err();
            assert_eq!(
                error.to_string(),
                "cannot reach Cloudflare at https://api.example/client/v4: failed to lookup address information: \
                 Name or service not known"
            );
            assert!(error.next().contains("HTTPS_PROXY"), "{}", error.next());
            let silent = after(&calls, transport(|| Err(TransportError::new(Cause::Timeout)))).await.unwrap_err();
            assert!(silent.to_string().ends_with(": no answer in time"), "{silent}");
            assert!(after(&calls, answer(200, r#"{"success": true}"#)).await.is_ok(), "one was answered");
        })
        .unwrap();
    }

    /// A transport that knows one answer.
    fn answer(code: u16, body: &'static str) -> Transport {
        transport(move || {
            let answer = Response::builder().status(code).header(CONTENT_TYPE, "text/html");
            Ok(answer.body(Bytes::from_static(body.as_bytes())).unwrap())
        })
    }

    #[test]
    fn what_is_not_cloudflare_is_said_once_with_what_is_probably_wrong() {
        crate::scenario::simulate(async {
            let calls = Arc::new(Calls::default());
            let page = after(&calls, answer(404, "<html>")).await.unwrap_err();
            assert_eq!(
                page.to_string(),
                "what answers at https://api.example/client/v4 does not look like the Cloudflare API: it answers 404 with \
                 a body of type text/html"
            );
            assert!(page.next().contains("--cloudflare-api-url") && page.next().contains(BASE_URL), "{}", page.next());
            let ours = calls.check(BASE_URL).unwrap_err().next();
            assert!(!ours.contains("--cloudflare-api-url"), "{ours}");
            let path = r#"{"success": false, "errors": [{"code": 7000, "message": "No route for that URI"}]}"#;
            let path = after(&calls, answer(400, path)).await.unwrap_err().to_string();
            assert!(path.ends_with("it has no such path (No route for that URI)"), "{path}");
            let refused = r#"{"success": false, "errors": [{"code": 1000, "message": "Invalid API Token"}]}"#;
            assert!(after(&calls, answer(401, refused)).await.is_ok(), "Cloudflare answers");
        })
        .unwrap();
    }

    #[test]
    fn a_plan_that_needs_no_call_needs_no_answer() {
        assert!(Calls::default().check("x").is_ok());
    }
}
