//! Tokens from Secrets: read when a pass needs them, never kept beyond it (contract K2).
//! Says what a Secret holds; what follows from a bad one is decided in `plan`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cf_api::token::{Secret, TokenError};
use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use kinds::Key;
use kube::{Api, Client};
use plan::CredId;
use plan::snapshot::Credential;

use crate::limits::SECRET_READ_GATHERS;

/// What one read of a Secret gave.
#[derive(Clone)]
pub enum SecretRead {
    /// Its entries, each as a token or why it is none.
    Found(Arc<BTreeMap<String, Result<Secret, TokenError>>>),
    /// There is no such Secret.
    Missing,
    /// It could not be read; the text never holds any of it.
    Unknown(String),
}

type Reading = Shared<BoxFuture<'static, SecretRead>>;

/// Reads Secrets. Reads of one Secret are shared by all who asked before it began.
pub struct Credentials {
    client: Client,
    timeout: Duration,
    waiting: Arc<Mutex<BTreeMap<Key, Reading>>>,
}

impl Credentials {
    /// Reads with this client.
    #[must_use]
    pub fn new(client: Client, timeout: Duration) -> Self {
        Self { client, timeout, waiting: Arc::default() }
    }

    /// The Secret as it was after now.
    pub async fn read(&self, key: &Key) -> SecretRead {
        let reading = {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            match waiting.get(key) {
                Some(reading) => reading.clone(),
                None => {
                    let reading = self.begin(key.clone());
                    waiting.insert(key.clone(), reading.clone());
                    reading
                }
            }
        };
        reading.await
    }

    fn begin(&self, key: Key) -> Reading {
        let (client, timeout, waiting) = (self.client.clone(), self.timeout, Arc::clone(&self.waiting));
        let read = async move {
            // Who asks within this time joins. From there on nobody can, because a read that began before one asked
            // may be too old for him.
            tokio::time::sleep(SECRET_READ_GATHERS).await;
            waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
            match tokio::time::timeout(timeout, fetch(&client, &key)).await {
                Ok(read) => read,
                Err(_) => SecretRead::Unknown("no answer in time".to_owned()),
            }
        };
        read.boxed().shared()
    }
}

async fn fetch(client: &Client, key: &Key) -> SecretRead {
    let api: Api<k8s_openapi::api::core::v1::Secret> = Api::namespaced(client.clone(), &key.namespace);
    match api.get_opt(&key.name).await {
        Ok(Some(secret)) => {
            let entries = secret.data.unwrap_or_default();
            let tokens = entries.into_iter().map(|(name, value)| (name, Secret::parse(&value.0)));
            SecretRead::Found(Arc::new(tokens.collect()))
        }
        Ok(None) => SecretRead::Missing,
        // Only what the API server says: a decoding error could quote what it failed on.
        Err(kube::Error::Api(status)) => SecretRead::Unknown(status.message.clone()),
        Err(_) => SecretRead::Unknown("the API server did not give a usable answer".to_owned()),
    }
}

/// What a read means for a token at `entry` of Secret `key`.
#[must_use]
pub fn credential(key: &Key, entry: &str, read: &SecretRead) -> (Credential, Option<(CredId, Secret)>) {
    let entries = match read {
        SecretRead::Missing => return (Credential::SecretMissing(key.clone()), None),
        SecretRead::Unknown(why) => return (Credential::Unknown(why.clone()), None),
        SecretRead::Found(entries) => entries,
    };
    match entries.get(entry) {
        None | Some(Err(TokenError::Empty)) => (Credential::KeyMissing(key.clone(), entry.to_owned()), None),
        Some(Err(error)) => (Credential::Malformed(key.clone(), error.to_string()), None),
        Some(Ok(token)) => {
            let id = CredId::new(key, entry);
            (Credential::Usable(id.clone()), Some((id, token.clone())))
        }
    }
}

#[cfg(test)]
mod tests;
