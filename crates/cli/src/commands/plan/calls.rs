//! What the calls to Cloudflare of one plan came to: how many there were, and whether any was answered. A plan in which
//! none was is no plan, whatever its objects say.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::{Request, Response};
use hyper_util::client::proxy::matcher::Matcher;
use operator::Transport;
use operator::transport::TransportError;
use tower::ServiceExt;
use tower::util::BoxCloneSyncService;

use crate::progress::Teller;

/// Counts.
#[derive(Debug, Default)]
pub(super) struct Calls {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    sent: usize,
    answered: usize,
    /// Why the last one that had no answer had none.
    failure: Option<String>,
}

/// Nobody answers there.
#[derive(Debug, thiserror::Error)]
#[error("cannot reach Cloudflare at {url}{}: {cause}", if *.by_proxy { " through the proxy of HTTPS_PROXY" } else { "" })]
pub(in crate::commands) struct CloudflareUnreachable {
    url: String,
    /// The environment asks for one.
    by_proxy: bool,
    cause: String,
}

impl CloudflareUnreachable {
    /// What to do about it.
    pub(in crate::commands) fn next(&self) -> String {
        "is this machine online, and is a proxy needed (HTTPS_PROXY) or in the way (NO_PROXY)? For a sandbox set \
         CLOUDFLARE_API_URL to the address that it prints"
            .to_owned()
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
            Ok(_) => inner.answered += 1,
            Err(error) => inner.failure = Some(why(error)),
        }
    }

    /// An error when none of the calls was answered.
    pub(super) fn check(&self, url: &str) -> Result<(), CloudflareUnreachable> {
        let inner = self.lock();
        match &inner.failure {
            Some(cause) if inner.answered == 0 => {
                let by_proxy = url.parse().is_ok_and(|url| Matcher::from_env().intercept(&url).is_some());
                Err(CloudflareUnreachable { url: url.to_owned(), by_proxy, cause: cause.clone() })
            }
            _ => Ok(()),
        }
    }
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
            assert!(after(&calls, transport(|| Ok(Response::new(Bytes::new())))).await.is_ok(), "one was answered");
        })
        .unwrap();
    }

    #[test]
    fn a_plan_that_needs_no_call_needs_no_answer() {
        assert!(Calls::default().check("x").is_ok());
    }
}
