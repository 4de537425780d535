//! Tokens from Secrets: read when a pass needs them, never kept beyond it (contract K2).
//! Says what a Secret holds; what follows from a bad one is decided in `plan`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cf_api::token::{Secret, TokenError};
use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use kinds::{Key, Resource};
use kube::{Api, Client};
use plan::CredId;
use plan::snapshot::{Credential, Lookup};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::limits::{SECRET_READ_GATHERS, SECRET_READ_SERVES};
use crate::object;
use crate::sightings::Sightings;

/// A Secret that was found.
pub struct Content {
    /// Its metadata; null spec and status.
    pub secret: Resource,
    /// Its entries, each as a token or why it is none.
    pub entries: BTreeMap<String, Result<Secret, TokenError>>,
}

/// What one read of a Secret gave.
#[derive(Clone)]
pub enum SecretRead {
    /// It is there.
    Found(Arc<Content>),
    /// There is no such Secret.
    Missing,
    /// It could not be read; the text never holds any of it.
    Unknown(String),
}

impl SecretRead {
    /// The Secret's metadata alone.
    #[must_use]
    pub fn metadata(&self) -> Lookup<Resource> {
        match self {
            Self::Found(content) => Lookup::Found(content.secret.clone()),
            Self::Missing => Lookup::Missing,
            Self::Unknown(why) => Lookup::Unknown(why.clone()),
        }
    }
}

type Reading = Shared<BoxFuture<'static, SecretRead>>;

/// Reads Secrets. Reads of one Secret are shared by all who asked before it began.
pub struct Credentials {
    client: Client,
    timeout: Duration,
    /// What this process knows of the age of tokens; none where it tells nothing.
    sightings: Option<Sightings>,
    waiting: Arc<Mutex<BTreeMap<Key, Reading>>>,
    /// Reads that ended a moment ago, and when they began.
    recent: Arc<Mutex<BTreeMap<Key, (Instant, SecretRead)>>>,
    /// Forgets them; ends with this.
    forgetting: Mutex<JoinSet<()>>,
}

impl Credentials {
    /// Reads with this client. Without `sightings` no token counts as new.
    #[must_use]
    pub fn new(client: Client, timeout: Duration, sightings: Option<Sightings>) -> Self {
        Self {
            client,
            timeout,
            sightings,
            waiting: Arc::default(),
            recent: Arc::default(),
            forgetting: Mutex::default(),
        }
    }

    /// The Secret as it was at some time after `asked`.
    pub async fn read(&self, key: &Key, asked: Instant) -> SecretRead {
        if let Some((began, read)) = self.recent.lock().unwrap_or_else(PoisonError::into_inner).get(key)
            && *began >= asked
        {
            return read.clone();
        }
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

    /// How long ago this process first saw a token; `None` where that tells nothing of the token.
    #[must_use]
    pub fn known_for(&self, token: &Secret) -> Option<Duration> {
        Some(self.sightings.as_ref()?.first(token).elapsed())
    }

    fn begin(&self, key: Key) -> Reading {
        let (client, timeout, waiting) = (self.client.clone(), self.timeout, Arc::clone(&self.waiting));
        let recent = Arc::clone(&self.recent);
        self.forget_later(key.clone());
        let read = async move {
            // Who asks within this time joins. From there on nobody can, because a read that began before one asked
            // may be too old for him.
            tokio::time::sleep(SECRET_READ_GATHERS).await;
            waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
            let began = Instant::now();
            let read = match tokio::time::timeout(timeout, fetch(&client, &key)).await {
                Ok(read) => read,
                Err(_) => SecretRead::Unknown("no answer in time".to_owned()),
            };
            // A failure serves nobody else: the next one may succeed.
            if !matches!(read, SecretRead::Unknown(_)) && began.elapsed() < SECRET_READ_SERVES {
                recent.lock().unwrap_or_else(PoisonError::into_inner).insert(key, (began, read.clone()));
            }
            read
        };
        read.boxed().shared()
    }

    /// Forgets a read that begins now once it serves nobody any more.
    fn forget_later(&self, key: Key) {
        let recent = Arc::clone(&self.recent);
        let mut forgetting = self.forgetting.lock().unwrap_or_else(PoisonError::into_inner);
        while forgetting.try_join_next().is_some() {}
        forgetting.spawn(async move {
            tokio::time::sleep(SECRET_READ_GATHERS + SECRET_READ_SERVES).await;
            let mut recent = recent.lock().unwrap_or_else(PoisonError::into_inner);
            if recent.get(&key).is_some_and(|(began, _)| began.elapsed() >= SECRET_READ_SERVES) {
                recent.remove(&key);
            }
        });
    }
}

async fn fetch(client: &Client, key: &Key) -> SecretRead {
    let api: Api<k8s_openapi::api::core::v1::Secret> = Api::namespaced(client.clone(), &key.namespace);
    match api.get_opt(&key.name).await {
        Ok(Some(secret)) => {
            let entries = secret.data.unwrap_or_default();
            let entries = entries.into_iter().map(|(name, value)| (name, Secret::parse(&value.0))).collect();
            let secret = Resource { metadata: object::meta(secret.metadata), ..Resource::default() };
            SecretRead::Found(Arc::new(Content { secret, entries }))
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
        SecretRead::Found(content) => &content.entries,
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
