//! Fills a snapshot with what Kubernetes knows around the members of a pass: references, accounts, namespaces,
//! claims, dependents, tokens. Facts only; what could not be read is said to be unknown (V3).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cf_api::token::Secret;
use futures::StreamExt;
use jiff::Timestamp;
use k8s_openapi::api::core::v1;
use kinds::{Key, Kind, Resource, names};
use kube::{Api, Client};
use plan::context::{self, Teardown};
use plan::snapshot::{Claim, Credential, Lookup, Member, Observed, SecretFacts, Snapshot};
use plan::{CredId, MemberId, ReadAnswer, policy, protection};
use serde_json::Value;
use tokio::time::Instant;

use crate::cache::Cache;
use crate::credentials::{Credentials, SecretRead, credential};
use crate::limits::{CHAIN_MAX, SECRET_READS_AT_ONCE};
use crate::object;
use crate::queue::{Due, Slice};
use crate::state::State;

/// The tokens of a pass, by where they come from; dropped with it.
pub type Tokens = BTreeMap<CredId, Secret>;

/// A pass over a unit, still without members.
#[must_use]
pub fn begin(
    state: &mut State,
    slice: &Slice,
    deletion_default: policy::Deletion,
    now: Timestamp,
) -> Snapshot {
    Snapshot {
        unit: slice.unit.clone(),
        members: BTreeMap::new(),
        claims: BTreeMap::new(),
        listing: Observed::Unread,
        document: Observed::Unread,
        complete: slice.complete,
        refused: BTreeSet::new(),
        usage_asked: false,
        memory: state.memory(&slice.unit, now),
        deletion_default,
    }
}

/// What the caches say of members that are due, in the place of those that the snapshot had. Those that no longer exist
/// are left out, and so are those that cannot be read: these are returned, with what is wrong (V3).
pub fn from_caches<'d>(
    cache: &Cache,
    snapshot: &mut Snapshot,
    due: impl IntoIterator<Item = (&'d MemberId, &'d Due)>,
) -> BTreeMap<MemberId, String> {
    let mut unknown = BTreeMap::new();
    let mut known = Known { cache, objects: BTreeMap::new() };
    let mut claiming = None;
    let members = due.into_iter().filter_map(|(id, due)| {
        let kind = kinds::kind(id.kind)?;
        let object = match cache.get(id.kind, &id.key) {
            Lookup::Found(object) => object,
            Lookup::Missing => return None,
            other => {
                let why = if let Lookup::Unknown(why) = other { why } else { String::new() };
                unknown.insert(id.clone(), why);
                return None;
            }
        };
        claiming = claiming.or(kind.identity.spec.is_none().then_some(kind.name));
        let mut member = Member::new(kind, object, due.class);
        known.fill(&mut member);
        member.sharers = known.sharers(&member, kind.external_id(&member.object));
        if kind.secret.is_some() {
            let leftovers = cache.leftover_protections().cloned();
            member.secrets.extend(leftovers.map(|key| (key, SecretFacts::default())));
        }
        Some((id.clone(), member))
    });
    // Collected and not inserted one by one, which would leave half of the map's nodes empty.
    snapshot.members = members.collect();
    if let Some(kind) = claiming {
        let claims = cache.claims(kind, snapshot.members.values().flat_map(named_ids));
        add_claims(snapshot, claims);
    }
    unknown
}

/// What is there counts our own patches of this pass.
fn add_claims(snapshot: &mut Snapshot, claims: BTreeMap<String, Vec<Claim>>) {
    for (id, claims) in claims {
        snapshot.claims.entry(id).or_insert(claims);
    }
}

/// The external IDs that a member's resource names, in whatever way.
fn named_ids(member: &Member) -> impl Iterator<Item = &str> {
    let (kind, object) = (member.kind, &member.object);
    let label = kind.identity.label.and_then(|label| object.label(label));
    let status = object.status_str(kind.identity.status);
    [kind.external_id(object), label, status, object.annotation(names::ADOPT_ID)].into_iter().flatten()
}

/// Adds who claims the objects that an answer shows: one may be claimed by a resource of another namespace, through
/// another Zone for the same zone. Only IDs that the pass has met are looked up, because a cluster has many others.
pub fn claims_of_answer(cache: &Cache, snapshot: &mut Snapshot, answer: &ReadAnswer) {
    let Some(kind) = claiming_kind(snapshot) else { return };
    let id = |item: &Value| item.pointer(kind.identity.wire).and_then(Value::as_str).map(str::to_owned);
    let ids: Vec<String> = match answer {
        ReadAnswer::One(item) => id(item).into_iter().collect(),
        ReadAnswer::Many { items, .. } => items.iter().filter_map(|item| id(&item)).collect(),
        ReadAnswer::Failed(_) => return,
    };
    claims_of(cache, snapshot, ids.iter().map(String::as_str));
    if kind.is_shared() {
        let mut known = Known { cache, objects: BTreeMap::new() };
        // Who may be about to adopt one of them. A deletion knows what it is about.
        for member in snapshot.members.values_mut().filter(|member| !member.object.is_deleting()) {
            let sharers = known.sharers(member, ids.iter().map(String::as_str));
            member.sharers.extend(sharers);
        }
    }
}

/// Adds who claims these objects.
pub fn claims_of<'i>(cache: &Cache, snapshot: &mut Snapshot, ids: impl IntoIterator<Item = &'i str>) {
    if let Some(kind) = claiming_kind(snapshot) {
        add_claims(snapshot, cache.claims(kind.name, ids));
    }
}

fn claiming_kind(snapshot: &Snapshot) -> Option<&'static Kind> {
    let claiming = |member: &&Member| member.kind.identity.spec.is_none();
    snapshot.members.values().find(claiming).map(|member| member.kind)
}

/// The caches, with each parent parsed once per pass: thousands of records share one zone.
struct Known<'c> {
    cache: &'c Cache,
    objects: BTreeMap<(&'static str, Key), Lookup<Arc<Resource>>>,
}

impl Known<'_> {
    fn get(&mut self, kind: &'static str, key: &Key) -> Lookup<Arc<Resource>> {
        let cache = self.cache;
        let entry = self.objects.entry((kind, key.clone()));
        entry.or_insert_with(|| cache.get(kind, key).map(Arc::new)).clone()
    }

    fn fill(&mut self, member: &mut Member) {
        for reference in member.kind.references {
            if let Some(key) = object::referenced(reference, &member.object) {
                member.references.insert(reference.field, self.get(reference.kind, &key));
            }
        }
        member.account = self.account(member.kind, &member.object);
        let namespace = &member.object.metadata.namespace;
        member.namespace = if namespace.is_empty() {
            Lookup::Found(BTreeMap::new())
        } else {
            self.cache.namespace_labels(namespace)
        };
        // Only a deletion waits for others; for a zone of 10,000 records this list is long.
        if member.object.is_deleting() {
            let (kind, key) = (member.kind.name, member.object.key());
            member.dependents = self.cache.children(kind, &key).map(ToString::to_string).collect();
        }
    }

    /// The other resources that stand for these objects, of a kind of which several may stand for one.
    fn sharers<'i>(
        &mut self,
        member: &Member,
        externals: impl IntoIterator<Item = &'i str>,
    ) -> BTreeMap<MemberId, Lookup<Member>> {
        let (kind, cache) = (member.kind, &self.cache);
        if !kind.is_shared() {
            return BTreeMap::new();
        }
        let claims = cache.claims(kind.name, externals).into_values().flatten();
        let others = claims.filter(|claim| claim.member.key != member.object.key());
        let sharer = |claim: Claim| {
            let sharer = cache.get(kind.name, &claim.member.key).map(|object| {
                let mut sharer = Member::new(kind, object, member.class);
                self.fill(&mut sharer);
                sharer
            });
            (claim.member, sharer)
        };
        others.map(sharer).collect()
    }

    /// Follows the parents up to the kind that holds credentials.
    fn account(&mut self, kind: &'static Kind, object: &Resource) -> Lookup<Arc<Resource>> {
        let parent_of = |kind: &'static Kind, object: &Resource| {
            let reference = kind.parent()?;
            Some((kinds::kind(reference.kind)?, object::referenced(reference, object)?))
        };
        if kind.secret.is_some() {
            return Lookup::Found(Arc::new(object.clone()));
        }
        let mut above = parent_of(kind, object);
        for _ in 0..CHAIN_MAX {
            let Some((parent, key)) = above else { return Lookup::Missing };
            match self.get(parent.name, &key) {
                Lookup::Found(found) if parent.secret.is_none() => above = parent_of(parent, &found),
                account => return account,
            }
        }
        Lookup::Unknown("its parents form a loop".to_owned())
    }
}

/// Reads the token of every member, each Secret once, and the metadata of the Secrets that a member protects. A token that
/// the pass knows is not read again. A paused member's token is not read (seed: Pausing a resource).
pub async fn credentials(
    snapshot: &mut Snapshot,
    cache_of: impl Fn(&Key) -> Vec<MemberId>,
    credentials: &Credentials,
    client: &Client,
    asked: Instant,
    known: &Tokens,
) -> Tokens {
    let mut places = BTreeMap::new();
    let mut protected = BTreeSet::new();
    for (id, member) in &mut snapshot.members {
        if policy::is_paused(&member.object) {
            continue;
        }
        if let Some(place) = token_place(member).filter(|place| is_of_use(member, place)) {
            places.insert(id.clone(), place);
        }
        if member.kind.secret.is_some() {
            protected.extend(protection::referenced(member));
            protected.extend(protection::recorded(member));
            protected.extend(member.secrets.keys().cloned());
        }
    }
    let is_known = |(key, entry): &&(Key, String)| known.contains_key(&CredId::new(key, entry));
    let secrets: BTreeSet<Key> =
        places.values().filter(|place| !is_known(place)).map(|(key, _)| key.clone()).collect();
    let read = |key: Key| async move {
        let read = credentials.read(&key, asked).await;
        (key, read)
    };
    let reads: BTreeMap<Key, SecretRead> =
        futures::stream::iter(secrets).map(read).buffered(SECRET_READS_AT_ONCE).collect().await;
    let facts = |key: Key| async move {
        let secret = secret_metadata(client, &key).await;
        (key, secret)
    };
    // What was read with its token need not be read again for its metadata.
    let unread = protected.iter().filter(|key| !reads.contains_key(*key)).cloned();
    let mut facts: BTreeMap<Key, Lookup<Resource>> = futures::stream::iter(unread.collect::<Vec<_>>())
        .map(facts)
        .buffered(SECRET_READS_AT_ONCE)
        .collect()
        .await;
    facts.extend(
        reads
            .iter()
            .filter(|(key, _)| protected.contains(*key))
            .map(|(key, read)| (key.clone(), read.metadata())),
    );
    let mut tokens = Tokens::new();
    for (id, member) in &mut snapshot.members {
        if let Some((found, token)) = places.get(id).and_then(|place| found_at(place, known, &reads)) {
            member.credential = found;
            member.has_placeholder =
                token.as_ref().is_some_and(|(_, token)| token.is(names::TOKEN_PLACEHOLDER));
            tokens.extend(token);
        }
        if member.kind.secret.is_none() {
            continue;
        }
        let leftovers: Vec<Key> = member.secrets.keys().cloned().collect();
        let own = protection::referenced(member).into_iter().chain(protection::recorded(member));
        for key in own.chain(leftovers) {
            if let Some(secret) = facts.get(&key) {
                let shared = cache_of(&key).iter().any(|other| other != id);
                member.secrets.insert(key, SecretFacts { secret: secret.clone(), shared });
            }
        }
    }
    tokens
}

/// What is known of the token at a place.
fn found_at(
    (key, entry): &(Key, String),
    known: &Tokens,
    reads: &BTreeMap<Key, SecretRead>,
) -> Option<(Credential, Option<(CredId, Secret)>)> {
    let cred = CredId::new(key, entry);
    match known.get(&cred) {
        Some(token) => Some((Credential::Usable(cred.clone()), Some((cred, token.clone())))),
        None => reads.get(key).map(|read| credential(key, entry, read)),
    }
}

/// When the last of a slice's members asked to be looked at: what was read since then is new to all of them.
#[must_use]
pub fn asked(slice: &Slice) -> Instant {
    slice.members.values().map(|due| due.asked).max().unwrap_or_else(Instant::now)
}

/// Where the account at the end of the member's parents keeps its token.
fn token_place(member: &Member) -> Option<(Key, String)> {
    let account = member.account.found()?;
    let mut kind = member.kind;
    for _ in 0..CHAIN_MAX {
        if let Some(reference) = &kind.secret {
            return object::token_place(reference, account);
        }
        kind = kinds::kind(kind.parent()?.kind)?;
    }
    None
}

/// Whether the member would come to use a token: one that waits for its parent, or whose namespace is not allowed, is
/// not worth a read of a Secret every minute.
fn is_of_use(member: &mut Member, (key, entry): &(Key, String)) -> bool {
    member.credential = Credential::Usable(CredId::new(key, entry));
    let is_of_use = if member.object.is_deleting() {
        matches!(context::for_deletion(member), Teardown::Able(_))
    } else {
        context::for_apply(member).is_ok()
    };
    member.credential = Credential::Unread;
    is_of_use
}

async fn secret_metadata(client: &Client, key: &Key) -> Lookup<Resource> {
    let api: Api<v1::Secret> = Api::namespaced(client.clone(), &key.namespace);
    match api.get_metadata_opt(&key.name).await {
        Ok(Some(secret)) => {
            let metadata = object::meta(secret.metadata);
            Lookup::Found(Resource { metadata, ..Resource::default() })
        }
        Ok(None) => Lookup::Missing,
        Err(kube::Error::Api(status)) => Lookup::Unknown(status.message.clone()),
        Err(_) => Lookup::Unknown("the API server did not give a usable answer".to_owned()),
    }
}

#[cfg(test)]
mod tests;
