//! Turns reads and acts into requests, and answers into outcomes. Makes no choices (V2).

use std::time::Duration;

use cf_api::budget::Class;
use cf_api::dns::{self, BatchAnswer, BatchBody, TokenKind};
use cf_api::envelope::Answer;
use cf_api::error::{ApiError, Cause};
use cf_api::page::Pages;
use cf_api::request::Request as Call;
use cf_api::token::Secret;
use k8s_openapi::api::core::v1;
use kinds::{Resource, names};
use kube::api::{Patch as KubePatch, PatchParams};
use kube::{Api, Client};
use plan::act::Target;
use plan::read::What;
use plan::snapshot::ReadFault;
use plan::{Act, Outcome, Patch, Read, ReadAnswer, Reply, Request};
use serde_json::Value;

use crate::cloudflare::{CallError, Cloudflare, Terms};
use crate::gather::Tokens;
use crate::leader::Lease;
use crate::object;
use crate::pass_time::PassTime;

/// The ways out of this process.
pub struct Sender {
    /// To Cloudflare.
    pub cloudflare: Cloudflare,
    /// To Kubernetes.
    pub kubernetes: Client,
    /// The time of one call to Kubernetes.
    pub kubernetes_timeout: Duration,
    /// Whether this process may write.
    pub lease: Lease,
}

/// How a write in Kubernetes failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// Our copy was old, or of an object that was made anew.
    #[error("the copy was old")]
    Stale,
    /// The object does not exist.
    #[error("the object does not exist")]
    Gone,
    /// Kubernetes refused or failed.
    #[error("{0}")]
    Failed(String),
    /// It may have been written.
    #[error("no answer")]
    Unknown(Cause),
    /// It was not sent.
    #[error("not sent")]
    NotSent(Cause),
}

impl WriteError {
    /// True when the write may have taken effect all the same, now or later.
    #[must_use]
    pub const fn may_have_happened(&self) -> bool {
        matches!(self, Self::Unknown(_))
    }
}

impl Sender {
    /// Carries out a read; lists are read to their end. `account` is the external ID of the member's account.
    pub async fn read(&self, read: &Read, account: &str, tokens: &Tokens, time: &PassTime) -> ReadAnswer {
        let terms = Terms { class: read.class, time, send_by: None };
        let no_answer = |cause| ReadAnswer::Failed(ReadFault::Cause(cause));
        let Some(secret) = tokens.get(&read.cred) else { return no_answer(Cause::NoCredentials) };
        let answer = match read.per_page {
            Some(per_page) => {
                let pages = Pages::new(read.request.clone(), per_page);
                self.list(secret, pages, terms).await
            }
            None => match request_of(read, secret, account) {
                Some(request) => {
                    let answer = self.cloudflare.call(secret, &request, terms).await;
                    answer.map(|answer| ReadAnswer::One(answer.result))
                }
                None => return no_answer(Cause::Malformed),
            },
        };
        answer.unwrap_or_else(|error| {
            ReadAnswer::Failed(match error {
                CallError::Api(error) => ReadFault::Api(error),
                CallError::NoAnswer(cause) => ReadFault::Cause(cause),
            })
        })
    }

    async fn list(
        &self,
        secret: &Secret,
        mut pages: Pages,
        terms: Terms<'_>,
    ) -> Result<ReadAnswer, CallError> {
        let mut request = pages.first();
        loop {
            let answer = self.cloudflare.list(secret, &request, terms).await?;
            match pages.next(answer) {
                Ok(Some(next)) => request = next,
                Ok(None) => break,
                Err(error) => {
                    tracing::warn!(route = request.route, %error, "a list cannot be read to its end");
                    return Err(CallError::Api(ApiError::new(200, Vec::new())));
                }
            }
        }
        let listed = pages.finish();
        // A list that hints at missing items proves no absence.
        let one_page = listed.one_page && listed.complete;
        Ok(ReadAnswer::Many { items: listed.items, one_page })
    }

    /// Carries out an act.
    pub async fn act(&self, act: &Act, class: Class, tokens: &Tokens, time: &PassTime) -> Outcome {
        match &act.request {
            Request::Cloudflare { cred, call } => {
                let Some(secret) = tokens.get(cred) else { return Outcome::NotSent(Cause::NoCredentials) };
                let terms = Terms { class, time, send_by: act.send_by };
                match self.cloudflare.call(secret, call, terms).await {
                    Ok(answer) if act.parts.len() > 1 => batch_reply(call, &answer),
                    Ok(answer) => Outcome::Done(Reply::Cloudflare(answer.result)),
                    Err(CallError::Api(error)) => Outcome::Refused(error),
                    Err(CallError::NoAnswer(cause)) if cause.may_have_happened() => Outcome::Unknown(cause),
                    Err(CallError::NoAnswer(cause)) => Outcome::NotSent(cause),
                }
            }
            Request::Kubernetes(patch) => match self.patch(patch, time).await {
                Ok(object) => Outcome::Done(Reply::Kubernetes(Box::new(object))),
                Err(WriteError::Stale) => Outcome::Stale,
                Err(WriteError::Gone) => Outcome::Gone,
                Err(WriteError::Failed(why)) => Outcome::KubernetesFailed(why),
                Err(WriteError::Unknown(cause)) => Outcome::Unknown(cause),
                Err(WriteError::NotSent(cause)) => Outcome::NotSent(cause),
            },
        }
    }

    async fn patch(&self, patch: &Patch, time: &PassTime) -> Result<Resource, WriteError> {
        if time.is_over() {
            return Err(WriteError::NotSent(Cause::OutOfTime));
        }
        tokio::select! {
            biased;
            patched = self.patched(patch) => patched,
            () = time.over() => Err(WriteError::Unknown(Cause::Cancelled)),
        }
    }

    async fn patched(&self, patch: &Patch) -> Result<Resource, WriteError> {
        let (params, body) = (params(), KubePatch::Merge(&patch.body));
        match patch.target {
            Target::Kind(name) => {
                let kind = kinds::kind(name).ok_or(WriteError::NotSent(Cause::Malformed))?;
                let api = object::api(&self.kubernetes, kind, &patch.key);
                self.written(api.patch(&patch.key.name, &params, &body)).await.map(Resource::from)
            }
            Target::Secret => {
                let api: Api<v1::Secret> = Api::namespaced(self.kubernetes.clone(), &patch.key.namespace);
                // Its metadata alone: the data of a Secret never reaches this process by a write.
                let secret = self.written(api.patch_metadata(&patch.key.name, &params, &body)).await?;
                Ok(Resource { metadata: object::meta(secret.metadata), ..Resource::default() })
            }
        }
    }

    /// Writes an object's status.
    ///
    /// # Errors
    /// [`WriteError`].
    pub async fn patch_status(
        &self,
        kind: &kinds::Kind,
        key: &kinds::Key,
        body: &Value,
    ) -> Result<Resource, WriteError> {
        let api = object::api(&self.kubernetes, kind, key);
        self.written(api.patch_status(&key.name, &params(), &KubePatch::Merge(body)))
            .await
            .map(Resource::from)
    }

    async fn written<T>(&self, write: impl Future<Output = Result<T, kube::Error>>) -> Result<T, WriteError> {
        if !self.lease.may_send() {
            return Err(WriteError::NotSent(Cause::NotLeader));
        }
        match tokio::time::timeout(self.kubernetes_timeout, write).await {
            Ok(Ok(object)) => Ok(object),
            Ok(Err(error)) => Err(write_error(&error)),
            Err(_) => Err(WriteError::Unknown(Cause::Timeout)),
        }
    }
}

fn params() -> PatchParams {
    PatchParams { field_manager: Some(names::FIELD_MANAGER.to_owned()), ..PatchParams::default() }
}

/// The request of a read: the state of a token has a route of its own for each kind of token (B146).
fn request_of(read: &Read, secret: &Secret, account: &str) -> Option<Call> {
    match (read.what, secret.kind()) {
        (What::Verify, TokenKind::Account) => dns::verify(TokenKind::Account, account).ok(),
        _ => Some(read.request.clone()),
    }
}

/// Assigns a batch's results to its parts, which stand in the order in which Cloudflare runs them.
fn batch_reply(call: &Call, answer: &Answer) -> Outcome {
    let read = BatchAnswer::read(&batch_body(call), answer);
    match read {
        Ok(read) => Outcome::Done(Reply::Batch(read.in_order().cloned().collect())),
        Err(error) => {
            tracing::warn!(route = call.route, %error, "the answer to a batch does not fit it");
            // The changes have probably happened; only a look can tell.
            Outcome::Unknown(Cause::Reset)
        }
    }
}

fn batch_body(call: &Call) -> BatchBody {
    let list = |name: &str| {
        let items = call.body.as_ref().and_then(|body| body.get(name)).and_then(Value::as_array);
        items.cloned().unwrap_or_default()
    };
    let id = |item: &Value| item.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    let with_ids = |items: Vec<Value>| items.into_iter().map(|item| (id(&item), item)).collect();
    BatchBody {
        deletes: list("deletes").iter().map(id).collect(),
        patches: with_ids(list("patches")),
        puts: with_ids(list("puts")),
        posts: list("posts"),
    }
}

fn write_error(error: &kube::Error) -> WriteError {
    let kube::Error::Api(status) = error else {
        // Whatever broke, the server may have carried it out.
        return WriteError::Unknown(Cause::Reset);
    };
    let about_uid = || {
        let causes = status.details.iter().flat_map(|details| &details.causes);
        causes.into_iter().any(|cause| cause.field == "metadata.uid")
    };
    match status.code {
        404 => WriteError::Gone,
        409 => WriteError::Stale,
        // An object made anew has another uid, which a patch cannot change.
        422 if about_uid() => WriteError::Stale,
        _ => WriteError::Failed(status.message.clone()),
    }
}
