//! What a decision says: acts as data, each with its exact request, its reason and its proof of ownership.
//! A stage's acts are independent of each other and leave no choices to whoever sends them (V2).

use std::fmt;
use std::sync::Arc;

use cf_api::error::{ApiError, Cause};
use cf_api::request::Request as Call;
use jiff::Timestamp;
use kinds::{Key, Resource};
use serde::Serialize;
use serde_json::Value;

use crate::unit::MemberId;

/// Names a token without holding it: the Secret and key it is read from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CredId(Arc<str>);

impl CredId {
    /// The token at `key` of the Secret `namespace/name`.
    #[must_use]
    pub fn new(secret: &Key, key: &str) -> Self {
        Self(format!("{secret}/{key}").into())
    }
}

impl fmt::Display for CredId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What comes next for a unit.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// Nothing is left to do in this pass.
    Done,
    /// These acts, in any order or at once; then decide again.
    Stage(Vec<Act>),
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done => f.write_str("done\n"),
            Self::Stage(acts) => {
                f.write_str("stage\n")?;
                acts.iter().try_for_each(|act| write!(f, "{act}"))
            }
        }
    }
}

/// One request and all that justifies it.
#[derive(Clone, Debug, PartialEq)]
pub struct Act {
    /// What is asked, exactly.
    pub request: Request,
    /// Each member's part in it, in the request's order; one unless it is a batch.
    pub parts: Vec<Part>,
    /// Not to be sent after this time: the creating mark that stands for it would not cover it any more.
    pub send_by: Option<Timestamp>,
}

/// A member's part in an act.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The member.
    pub member: MemberId,
    /// What is done for it.
    pub write: Write,
    /// Which differences caused it; empty for creates and deletes.
    pub why: Vec<FieldDiff>,
    /// Why we may.
    pub proof: Proof,
}

/// The request of an act.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// To Cloudflare, with this token.
    Cloudflare {
        /// Whose token.
        cred: CredId,
        /// The request.
        call: Call,
    },
    /// A merge patch of an object in Kubernetes.
    Kubernetes(Patch),
}

/// A merge patch of an object in Kubernetes.
#[derive(Clone, Debug, PartialEq)]
pub struct Patch {
    /// Whose object: one of our kinds, or a Secret.
    pub target: Target,
    /// Namespace and name.
    pub key: Key,
    /// The JSON merge patch; it carries `metadata.uid`, and `metadata.resourceVersion` where it must not race.
    pub body: Value,
}

/// The kinds of objects that acts patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// One of our kinds, by name.
    Kind(&'static str),
    /// A core/v1 Secret; only its metadata is ever touched.
    Secret,
}

/// What an act does for a member.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// Adds our finalizer, and with it the marks that must stand before the next step.
    Prepare,
    /// Records which object is ours and removes the creating mark.
    Claim,
    /// Removes marks that proved to be wrong.
    Unmark,
    /// Notes the ID of the object that is about to be deleted.
    MarkDeleting,
    /// Removes our finalizer: the resource goes.
    Release,
    /// Adds or removes the protection of a token Secret.
    Protect,
    /// Creates the object in Cloudflare from this body.
    Create(Value),
    /// Changes the object with this ID by this body.
    Update(String, Value),
    /// Deletes the object with this ID.
    Delete(String),
    /// Puts the member's entry into the shared document, or takes it out.
    Entry,
}

/// Why we may touch an object in Cloudflare (V4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// Nothing that exists is touched.
    NothingTouched,
    /// Our status records the object's ID.
    StatusId(String),
    /// The resource's claim label names it.
    ClaimLabel(String),
    /// The creating mark names what we were about to make, and this is it.
    CreatingMark(String),
    /// The resource asks to take it over.
    AdoptionPolicy(String),
    /// The entry in the document carries our mark for this resource.
    EntryMark(String),
    /// A second copy that only a late create of ours can have made: between the mark and its end.
    LateTwin(String),
}

/// A field that differs, as the plan and the log show it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FieldDiff {
    /// The spec field.
    pub field: &'static str,
    /// What Cloudflare has.
    pub from: Value,
    /// What the spec wants.
    pub to: Value,
}

impl fmt::Display for FieldDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} -> {}", self.field, self.from, self.to)
    }
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.request {
            Request::Cloudflare { cred, call } => writeln!(f, "  {call} as {cred}")?,
            Request::Kubernetes(patch) => {
                let target = match patch.target {
                    Target::Kind(kind) => kind,
                    Target::Secret => "Secret",
                };
                writeln!(f, "  PATCH {target} {} {}", patch.key, patch.body)?;
            }
        }
        for part in &self.parts {
            write!(f, "    {} {}", part.member, part.write.verb())?;
            for diff in &part.why {
                write!(f, " [{diff}]")?;
            }
            writeln!(f, " ({})", part.proof)?;
        }
        Ok(())
    }
}

impl Write {
    /// The verb that plans and logs show.
    #[must_use]
    pub const fn verb(&self) -> &'static str {
        match self {
            Self::Prepare => "prepare",
            Self::Claim => "claim",
            Self::Unmark => "unmark",
            Self::MarkDeleting => "mark as deleting",
            Self::Release => "release",
            Self::Protect => "protect",
            Self::Create(_) => "create",
            Self::Update(..) => "update",
            Self::Delete(_) => "delete",
            Self::Entry => "set its entry",
        }
    }

    /// What is done to the object, after "cannot".
    #[must_use]
    pub fn doing(&self) -> String {
        match self {
            Self::Entry => self.verb().to_owned(),
            _ => format!("{} it", self.verb()),
        }
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingTouched => f.write_str("nothing that exists is touched"),
            Self::StatusId(id) => write!(f, "status records {id}"),
            Self::ClaimLabel(id) => write!(f, "label claims {id}"),
            Self::CreatingMark(id) => write!(f, "creating mark proves {id}"),
            Self::AdoptionPolicy(id) => write!(f, "adoption policy asks for {id}"),
            Self::EntryMark(mark) => write!(f, "the entry is marked {mark}"),
            Self::LateTwin(id) => write!(f, "{id} was made by our own late request"),
        }
    }
}

/// How an act ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It was carried out.
    Done(Reply),
    /// Cloudflare answered that it did not do it.
    Refused(ApiError),
    /// Kubernetes answered that our copy is old (409), or gone and made anew.
    Stale,
    /// Kubernetes says that the object does not exist.
    Gone,
    /// Kubernetes refused or failed; the text is for people.
    KubernetesFailed(String),
    /// It surely did not reach Cloudflare.
    NotSent(Cause),
    /// It may take effect, even later.
    Unknown(Cause),
}

/// The answer to an act that was carried out.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// `result` of Cloudflare's answer to a single call.
    Cloudflare(Value),
    /// One result per part of a batch, in the parts' order.
    Batch(Vec<Value>),
    /// The patched object.
    Kubernetes(Box<Resource>),
}
