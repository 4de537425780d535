//! All that a pass knows about a unit. Facts only: filled by `gather` and by answers, read by decisions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use cf_api::budget::Class;
use cf_api::error::{ApiError, Cause};
use jiff::Timestamp;
use kinds::{Key, Kind, Resource};
use serde_json::Value;

use crate::act::CredId;
use crate::context::Desired;
use crate::hold::Hold;
use crate::unit::{MemberId, UnitKey};

/// What is known of something in Kubernetes. Unknown is never absent (V3).
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Lookup<T> {
    /// It is there.
    Found(T),
    /// The API server, or a synced cache of it, says that it is not there.
    Missing,
    /// Nobody asked yet.
    #[default]
    Unread,
    /// It could not be read; the text says why.
    Unknown(String),
}

impl<T> Lookup<T> {
    /// The found one.
    pub const fn found(&self) -> Option<&T> {
        match self {
            Self::Found(value) => Some(value),
            _ => None,
        }
    }

    /// The same of another form of what was found.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Lookup<U> {
        match self {
            Self::Found(value) => Lookup::Found(change(value)),
            Self::Missing => Lookup::Missing,
            Self::Unread => Lookup::Unread,
            Self::Unknown(why) => Lookup::Unknown(why),
        }
    }
}

/// What is known of something in Cloudflare. Unknown is never absent (V3).
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Observed<T> {
    /// Nobody asked yet.
    #[default]
    Unread,
    /// As read at that time (when the read began), or as a write's answer showed it.
    Seen(T, Timestamp),
    /// Proved absent by a read that began at that time.
    Absent(Timestamp),
    /// The read failed.
    Failed(ReadFault),
}

impl<T> Observed<T> {
    /// The seen value.
    pub const fn seen(&self) -> Option<&T> {
        match self {
            Self::Seen(value, _) => Some(value),
            _ => None,
        }
    }
}

/// Why a read gave nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum ReadFault {
    /// Cloudflare answered with an error.
    Api(ApiError),
    /// No answer came.
    Cause(Cause),
}

/// The full list that a unit's members share: its items are handed to the members as it is folded in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Listing {
    /// How many objects it held.
    pub count: usize,
    /// It came in one page, so that what it lacks was absent. Pages move while they are read.
    pub one_page: bool,
}

/// A resource that claims an external ID by its label or its status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Who.
    pub member: MemberId,
    /// Its status records the ID: it held it before.
    pub recorded: bool,
    /// When the resource was made.
    pub created: Option<Timestamp>,
}

/// Who holds an ID that several resources claim: who recorded it in status, else the oldest, else the first by name.
#[must_use]
pub fn holder(claims: &[Claim]) -> Option<&MemberId> {
    claims
        .iter()
        .min_by_key(|claim| (!claim.recorded, claim.created, &claim.member))
        .map(|claim| &claim.member)
}

/// The token of a member, as far as its Secret says.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Credential {
    /// Nobody asked yet.
    #[default]
    Unread,
    /// It can be used.
    Usable(CredId),
    /// The Secret does not exist.
    SecretMissing(Key),
    /// The Secret has no such key, or it is empty.
    KeyMissing(Key, String),
    /// The value cannot be a token; the text says what is wrong, never the value.
    Malformed(Key, String),
    /// The Secret could not be read; the text says why.
    Unknown(String),
}

/// A token Secret's metadata, for its protection.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct SecretFacts {
    /// Its metadata; null spec and status.
    pub secret: Lookup<Resource>,
    /// Another resource references it too.
    pub shared: bool,
}

/// A member of the unit: one resource and what is known around it.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its row.
    pub kind: &'static Kind,
    /// The resource, as last read or as our own last patch returned it.
    pub object: Resource,
    /// Why it is looked at; pays for its calls.
    pub class: Class,
    /// The objects that its references name, by spec field.
    pub references: BTreeMap<&'static str, Lookup<Arc<Resource>>>,
    /// The account at the end of the chain of parents; the resource itself for an account.
    pub account: Lookup<Arc<Resource>>,
    /// The labels of its namespace.
    pub namespace: Lookup<BTreeMap<String, String>>,
    /// Its token.
    pub credential: Credential,
    /// The token is the placeholder of the samples, which a sandbox takes for a token and Cloudflare does not.
    pub has_placeholder: bool,
    /// The token Secrets that it protects or should: those of `protection::referenced` and `protection::recorded`, and
    /// those that carry our protection although nothing references them.
    pub secrets: BTreeMap<Key, SecretFacts>,
    /// Display names of the resources that still need it.
    pub dependents: Vec<String>,
    /// Other resources of the kind that stand for the same object, where several may (zones).
    pub sharers: BTreeMap<MemberId, Lookup<Member>>,
    /// When the latest of what it rests on came to be: its own or its parent's object was made by kflare, or its token
    /// first seen by this process.
    pub newest: Option<Timestamp>,
    /// That was a moment ago, so that Cloudflare may not know it everywhere yet.
    pub is_young: bool,
    /// The object with the ID that the resource records.
    pub live: Observed<Value>,
    /// The object with the ID that the status records, where a deletion goes by that alone.
    pub recorded: Observed<Value>,
    /// The objects with the resource's key.
    pub found: Observed<Vec<Value>>,
    /// What Cloudflare says about the token, for a kind that holds credentials.
    pub verified: Observed<Value>,
    /// What happened in this pass.
    pub progress: Progress,
    /// What the spec wants, computed once per pass: a memo of a pure function, never a fact.
    pub(crate) desired: OnceLock<Result<Desired, Hold>>,
}

impl Member {
    /// A member about which only Kubernetes facts are still to be filled in.
    #[must_use]
    pub fn new(kind: &'static Kind, object: Resource, class: Class) -> Self {
        Self {
            kind,
            object,
            class,
            references: BTreeMap::new(),
            account: Lookup::Unread,
            namespace: Lookup::Unread,
            credential: Credential::Unread,
            has_placeholder: false,
            secrets: BTreeMap::new(),
            dependents: Vec::new(),
            sharers: BTreeMap::new(),
            newest: None,
            is_young: false,
            live: Observed::Unread,
            recorded: Observed::Unread,
            found: Observed::Unread,
            verified: Observed::Unread,
            progress: Progress::default(),
            desired: OnceLock::new(),
        }
    }
}

/// How the creating mark of this pass came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marked {
    /// There was none before: only this pass's request can have made what it names.
    First,
    /// It took the place of an earlier one, whose request may have taken effect.
    Again,
}

/// What happened to a member in this pass.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// It goes no further.
    pub hold: Option<Hold>,
    /// Our copy was old: only an event can help.
    pub stale: bool,
    /// The resource no longer exists.
    pub gone: bool,
    /// Our finalizer is off: nothing is left to do and nothing to report.
    pub released: bool,
    /// Its object in Cloudflare was deleted, or proved absent, in this pass.
    pub deleted: bool,
    /// The shared list was folded in.
    pub listed: bool,
    /// Cloudflare answered a call with its own token, and not only one with the token of another member.
    pub answered: bool,
    /// The creating mark was written in this pass, so that a create may follow.
    pub marked: Option<Marked>,
    /// Cloudflare answered that it did not carry out the create of this pass.
    pub create_refused: bool,
    /// Cloudflare answered that it did not carry out the delete of this pass, or it was not sent.
    pub delete_refused: bool,
    /// Cloudflare refused its create because of an object that exists, with this text and code.
    pub exists: Option<String>,
    /// Cloudflare refused the delete of its object as one that it does not know or does not show to this token. What is
    /// reported if a look-up shows the object, or nothing.
    pub hidden: Option<Hold>,
    /// The note that its object is about to be deleted was written in this pass: no delete was sent before.
    pub marked_deleting: bool,
    /// The batch it was refused in had this many parts: the next ones have at most half.
    pub refused_in: Option<usize>,
    /// The parent is full, with this many objects, before this member's turn comes to create.
    pub no_room: Option<u64>,
    /// When its object was made in this pass, if others rest on it: Cloudflare may not know it everywhere yet.
    pub founded: Option<Timestamp>,
    /// Fields that we asked Cloudflare to change; a second difference means that it does not.
    pub updated: BTreeSet<&'static str>,
    /// Its write waits for the unit's next pass.
    pub deferred: bool,
}

/// What a unit remembers between passes. Losing it costs calls, never correctness.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    /// Members whose write Cloudflare refused: they never ride in a batch again until their generation changes.
    pub quarantine: BTreeMap<MemberId, i64>,
    /// When a member's object was last written by us.
    pub written: BTreeMap<MemberId, Timestamp>,
    /// The keys of objects that members made or changed, as long as `written` remembers it: lists may not show them yet.
    pub made: BTreeMap<String, MemberId>,
    /// When this process began: another one may have written until then, and what it wrote is not remembered.
    pub since: Option<Timestamp>,
    /// How many objects the last full list held.
    pub listed: Option<usize>,
    /// The parent had no room for all when it was last asked, or refused a create for lack of room.
    pub full: bool,
}

/// All that a pass knows.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The unit.
    pub unit: UnitKey,
    /// The members of this pass.
    pub members: BTreeMap<MemberId, Member>,
    /// Which external ID is claimed by whom, over all resources of the unit's kind whose parents exist.
    pub claims: BTreeMap<String, Vec<Claim>>,
    /// The list that the members share, in a unit of children.
    pub listing: Observed<Listing>,
    /// The document that the members make up, in a unit of one document.
    pub document: Observed<Value>,
    /// The members are all there are: every cache they come from is synced. A document is written only then.
    pub complete: bool,
    /// How full the parent is was asked in this pass, answered or not.
    pub usage_asked: bool,
    /// Tokens that Cloudflare refused for the shared list in this pass.
    pub refused: BTreeSet<CredId>,
    /// What is remembered between passes.
    pub memory: Memory,
    /// What happens by default to an object whose resource goes.
    pub deletion_default: crate::policy::Deletion,
}
