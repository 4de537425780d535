//! What stands in a cluster: all objects of our kinds and the labels of the namespaces, read once.
//! Secrets are not among them: what is needed of one is read by name.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1;
use kinds::{Key, Resource};
use kube::api::{Api, ListParams};
use kube::{Client, core::ObjectList};
use operator::object::{self, Object};
use plan::MemberId;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::commands::cluster::definitions::{self, Gap};
use crate::commands::cluster::{ClusterError, SECRET, look};
use crate::progress::Teller;

/// Objects of one page, as client-go asks for them.
const PAGE: u32 = 500;

/// Pages of one list before something is wrong with it: ten times the objects that kflare is measured with.
const PAGES_MAX: usize = 200;

/// A cluster as it was read.
pub(super) struct Inventory {
    pub(super) client: Client,
    server: String,
    /// All objects of our kinds, with everything that kubectl keeps on them.
    pub(super) objects: BTreeMap<MemberId, Object>,
    /// Definitions that lack something.
    pub(super) older: Vec<Gap>,
    /// The labels of every namespace.
    pub(super) namespaces: BTreeMap<String, BTreeMap<String, String>>,
    /// Every namespace as far as a manifest may be laid over it.
    pub(super) bases: BTreeMap<String, Value>,
    /// Those that are being deleted: nothing new can be made in them.
    pub(super) terminating: BTreeSet<String>,
}

impl Inventory {
    /// Reads it.
    ///
    /// # Errors
    /// [`ClusterError`], which says what is missing.
    pub(super) async fn read(client: Client, server: String, teller: &Teller) -> Result<Self, ClusterError> {
        let (mut objects, mut missing) = (BTreeMap::new(), Vec::new());
        for kind in kinds::KINDS {
            let api: Api<Object> = Api::all_with(client.clone(), &object::api_resource(kind));
            let name = format!("{}.{}", kind.plural, kinds::names::GROUP);
            let found = match list(&api, &server, &name).await {
                Err(ClusterError::NoSuchKinds(names)) => {
                    missing.extend(names);
                    continue;
                }
                found => found?,
            };
            for object in found {
                let key = Resource::from(object.clone()).key();
                objects.insert(MemberId::new(kind, key), object);
            }
            teller.say(|| format!("reading the cluster: {} objects", objects.len()));
        }
        if !missing.is_empty() {
            return Err(definitions::absent(&client, &server, missing).await);
        }
        let older = definitions::gaps(&client, &server).await;
        let api: Api<v1::Namespace> = Api::all(client.clone());
        let namespaces = list(&api, &server, "namespaces").await?;
        let terminating =
            namespaces.iter().filter(|namespace| namespace.metadata.deletion_timestamp.is_some());
        let terminating = terminating.filter_map(|namespace| namespace.metadata.name.clone()).collect();
        let base = |namespace: &v1::Namespace| {
            let name = namespace.metadata.name.clone().unwrap_or_default();
            (name, json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": namespace.metadata }))
        };
        let bases = namespaces.iter().map(base).collect();
        let named = |namespace: v1::Namespace| {
            let labels = object::labels(&namespace.metadata);
            (namespace.metadata.name.unwrap_or_default(), labels)
        };
        let namespaces = namespaces.into_iter().map(named).collect();
        Ok(Self { client, server, objects, older, namespaces, bases, terminating })
    }

    /// The metadata of a Secret.
    ///
    /// # Errors
    /// [`ClusterError`].
    pub(super) async fn secret(&self, key: &Key) -> Result<Option<Resource>, ClusterError> {
        let api: Api<v1::Secret> = Api::namespaced(self.client.clone(), &key.namespace);
        let found = look(&self.server, format!("{SECRET}{key}"), api.get_metadata_opt(&key.name)).await;
        let found = found.map_err(ClusterError::of_reader)?;
        let of = |secret: kube::core::PartialObjectMeta<v1::Secret>| Resource {
            metadata: object::meta(secret.metadata),
            ..Resource::default()
        };
        Ok(found.map(of))
    }
}

async fn list<K>(api: &Api<K>, server: &str, name: &str) -> Result<Vec<K>, ClusterError>
where
    K: Clone + DeserializeOwned + std::fmt::Debug,
{
    let mut all = Vec::new();
    let mut params = ListParams::default().limit(PAGE);
    for _ in 0..PAGES_MAX {
        let page = look(server, name.to_owned(), api.list(&params)).await;
        let page: ObjectList<K> = page.map_err(ClusterError::of_reader)?;
        all.extend(page.items);
        match page.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => params = params.continue_token(&token),
            None => return Ok(all),
        }
    }
    Err(ClusterError::Endless(name.to_owned()))
}
