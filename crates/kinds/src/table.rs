//! The row types of the kinds table: all that the engine needs to know of a kind, as constants.
//! The rows are generated from `kinds/*.toml`; what a row cannot say is a hook (`hooks/<kind>.rs`).

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde_json::Value;

use crate::{Reason, Resource};

/// Where objects of a kind live in Kubernetes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One per name in the cluster.
    Cluster,
    /// One per name in a namespace.
    Namespaced,
}

/// What kflare does with the Cloudflare object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifecycle {
    /// Reads it and never creates, changes or deletes it (an account).
    Observed,
    /// Creates, changes and deletes it.
    Managed,
}

/// Which objects are read and written together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grouping {
    /// Each object by itself.
    Object,
    /// All objects below one parent in Cloudflare share one list and its batches; any subset may be written.
    ParentList,
    /// All objects below one parent are parts of one document that is written as a whole.
    ParentDocument,
}

/// A field of the spec that names another object in Kubernetes.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    /// The spec field, an object with `name`: `zoneRef`.
    pub field: &'static str,
    /// The kind it names.
    pub kind: &'static str,
    /// It leads to the account and its credentials; the named object's external ID is `{parent}` in paths.
    pub parent: bool,
    /// The reason while the named object does not exist.
    pub not_found: Reason,
    /// The reason while the named object is not Ready or has no ID.
    pub not_ready: Reason,
}

/// A field of the spec that names a Secret holding a token.
#[derive(Clone, Copy, Debug)]
pub struct SecretReference {
    /// The spec field, an object with `name`, `namespace` and `key`.
    pub field: &'static str,
    /// The key when the field gives none.
    pub default_key: &'static str,
    /// Route that says what a token is worth; tokens that an account owns have one below it.
    pub verify: &'static str,
    /// JSON pointer to the status field that records which Secret carries our protection, as `namespace/name`.
    pub protected_status: &'static str,
}

/// How an update is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// Never: nothing about the object can be changed.
    Never,
    /// One PATCH with the fields that differ.
    Patch,
    /// One PATCH per field that differs: the API takes one property per call (zones).
    PatchEach,
    /// One PUT of the whole object.
    Put,
}

/// How one request can carry the writes of many objects.
#[derive(Clone, Copy, Debug)]
pub struct Batch {
    /// Path template below the parent.
    pub path: &'static str,
    /// Where the parent's status shows the plan that bounds a batch, as JSON pointer.
    pub plan: &'static str,
    /// Most writes in one request, by that plan.
    pub limit: fn(plan: &str) -> usize,
    /// How full the parent is, where the API tells.
    pub usage: Option<Usage>,
}

/// The call that says how many objects a parent may hold, and how many it holds.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// Path template below the parent.
    pub path: &'static str,
    /// JSON pointer to the most it may hold; null where there is no such bound.
    pub most: &'static str,
    /// JSON pointer to how many it holds.
    pub held: &'static str,
}

/// The Cloudflare routes of a kind. `{parent}` is the parent's external ID, `{id}` the object's own.
#[derive(Clone, Copy, Debug)]
pub struct Routes {
    /// List (GET) and create (POST).
    pub collection: &'static str,
    /// Read, update and delete.
    pub item: &'static str,
    /// How updates are sent to `item`.
    pub update: Update,
    /// Batched writes, where the API has them.
    pub batch: Option<Batch>,
    /// `per_page` of a full list.
    pub page_size: u32,
    /// Query that finds the objects with one key: (parameter, JSON pointer into the key object, see [`Hooks::key`]).
    /// A pointer of `{parent}` stands for the parent's external ID.
    pub lookup: &'static [(&'static str, &'static str)],
    /// Where the create's body names the parent (`/account/id`), if it does.
    pub parent_in_body: Option<&'static str>,
    /// Cloudflare answers 403 rather than 404 for an object that is gone (zones), so that a refused delete says nothing.
    pub absent_is_forbidden: bool,
    /// The document, for kinds of [`Grouping::ParentDocument`].
    pub document: Option<Document>,
}

/// A document that many resources make up together. It is read and written as a whole at [`Routes::collection`].
#[derive(Clone, Copy, Debug)]
pub struct Document {
    /// JSON pointer to its list of entries.
    pub entries: &'static str,
    /// Member of an entry that says whose it is: `<Kind>/<namespace>/<name>` after `kflare-`, or a hash of it.
    pub mark: &'static str,
}

/// How a resource and its Cloudflare object are tied together.
#[derive(Clone, Copy, Debug)]
pub struct Identity {
    /// JSON pointer to the ID in Cloudflare's object.
    pub wire: &'static str,
    /// JSON pointer to the time of its creation in Cloudflare's object.
    pub created: &'static str,
    /// JSON pointer to the ID in our status; empty for a kind whose user names the object.
    pub status: &'static str,
    /// JSON pointer to the ID in the spec, for a kind whose user names the object (an account).
    pub spec: Option<&'static str>,
    /// The label that carries the ID.
    pub label: Option<&'static str>,
    /// The label is a claim: no other resource of the kind may hold the same ID. Otherwise it only informs (zones).
    pub claims: bool,
    /// The reason when another resource holds the claim.
    pub conflict: Reason,
    /// Nobody can change the key of an object at Cloudflare: one with another key is another's, whatever names it, and is
    /// looked at before it goes.
    pub fixed_key: bool,
}

/// What the spec's silence about a field means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenUnset {
    /// The table's default counts as written.
    Default(&'static str),
    /// Not ours: left alone, unless we once wrote it; then this JSON is sent to clear it.
    Unmanaged {
        /// What to send, as JSON, when the user drops a field that we wrote.
        clear: &'static str,
    },
    /// Not ours, and never taken back although we once wrote it, because that would cost the user (a zone's plan).
    Kept,
    /// Required fields, those that a rule of the CRD guards and those that are part of the key: cannot be unset.
    Required,
}

/// A field of Cloudflare's object that a spec decides.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name in the spec (top level) and in `status.appliedFields`.
    pub name: &'static str,
    /// JSON pointer in Cloudflare's object.
    pub wire: &'static str,
    /// What leaving it out means.
    pub unset: WhenUnset,
    /// Cannot change once set; part of what adoption must match.
    pub immutable: bool,
    /// Written by a request of its own instead of the object's body.
    pub own_call: Option<OwnCall>,
}

/// A field that the API changes through another route than its object (a zone's plan).
#[derive(Clone, Copy, Debug)]
pub struct OwnCall {
    /// Path template with `{id}`; the method is PUT.
    pub path: &'static str,
    /// JSON pointer of the value in the body.
    pub body: &'static str,
    /// What the token needs for it.
    pub permission: Permission,
    /// What the API gives a new object, whose create does not take the field; JSON.
    pub initial: &'static str,
}

/// What Cloudflare lets a token do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permission {
    /// As the dashboard names it: `DNS: Edit`.
    pub name: &'static str,
    /// What it is granted on: a zone, or the account with all its zones.
    pub on: GrantedOn,
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} on the {}", self.name, self.on)
    }
}

/// What a permission is granted on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantedOn {
    /// The account.
    Account,
    /// A zone.
    Zone,
}

impl fmt::Display for GrantedOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Account => "account",
            Self::Zone => "zone",
        })
    }
}

/// What the token needs for the calls of a kind. Fields with a call of their own say it themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permissions {
    /// For every read.
    pub read: Permission,
    /// For a create; absent where nothing is written.
    pub create: Option<Permission>,
    /// For an update or a delete; absent where nothing is written.
    pub change: Option<Permission>,
}

/// A status field copied from Cloudflare's object.
#[derive(Clone, Copy, Debug)]
pub struct StatusField {
    /// JSON pointer below `status`.
    pub status: &'static str,
    /// JSON pointer in Cloudflare's object; `{parent}` stands for the parent's external ID.
    pub wire: &'static str,
    /// What the CRD takes there: what Cloudflare sends in another shape is left out, or no status could be written.
    pub shape: Shape,
}

/// The shape of a value that a status shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Text.
    Text,
    /// A list of texts.
    Texts,
    /// True or false.
    Flag,
    /// A whole number.
    Number,
}

/// What is wrong with a spec that the CRD's own validation cannot see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// The spec field, dotted.
    pub field: String,
    /// What is wrong and how to mend it.
    pub problem: String,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "spec.{}: {}", self.field, self.problem)
    }
}

/// What a hook may look at besides the spec: the objects that the spec's references name, by field.
pub type Parents<'a> = BTreeMap<&'static str, &'a Resource>;

/// What a table cannot say about a kind. All pure.
#[derive(Clone, Copy)]
pub struct Hooks {
    /// Spec to the body of a create: every field that the spec decides, at its wire place, not canonical.
    pub body: fn(spec: &Value, parents: &Parents<'_>) -> Result<Value, Invalid>,
    /// Cloudflare's object, or a body of ours, in the form in which equal means "Cloudflare treats them as one".
    /// Idempotent. Holds at least the wire places of the kind's fields.
    pub canonical: fn(wire: &Value, parents: &Parents<'_>) -> Value,
    /// A canonical object's key, as an object of strings (its values feed [`Routes::lookup`]).
    /// `lookup` finds candidates by some of them; two objects with equal keys are the same object to a user.
    pub key: fn(canonical: &Value) -> BTreeMap<&'static str, String>,
    /// The part of the key that an adoption may differ in (K13: a record's content), if any.
    pub loose_key: fn(canonical: &Value) -> BTreeMap<&'static str, String>,
    /// True when Cloudflare refuses a second object with this key, so that a create needs no look before it.
    pub refuses_twins: fn(canonical: &Value) -> bool,
    /// Why an object of Cloudflare's cannot serve although it has the right key (a zone that moved away), for people.
    pub unusable: fn(wire: &Value) -> Option<String>,
    /// When an object that is in order is worth another look because Cloudflare is still at work on it.
    pub recheck: fn(wire: &Value) -> Option<Duration>,
    /// What Cloudflare may want to exist before it takes this object, for people. A refused create then is tried again
    /// instead of being final.
    pub awaits: fn(canonical: &Value) -> Option<&'static str>,
    /// A limit that Cloudflare would refuse, found before a call is spent on it.
    pub refused: fn(canonical: &Value, parents: &Parents<'_>) -> Option<Invalid>,
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hooks")
    }
}

/// One kind.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// As written in `kind:`.
    pub name: &'static str,
    /// As written in paths.
    pub plural: &'static str,
    /// As written by kubectl.
    pub singular: &'static str,
    /// kubectl's short names.
    pub short_names: &'static [&'static str],
    /// Cluster or namespaced.
    pub scope: Scope,
    /// What kflare does with it.
    pub lifecycle: Lifecycle,
    /// What is read and written together.
    pub grouping: Grouping,
    /// References to other objects, the parent first.
    pub references: &'static [Reference],
    /// The token Secret, for the kind that holds credentials.
    pub secret: Option<SecretReference>,
    /// Cloudflare's routes.
    pub routes: Routes,
    /// How resource and object are tied.
    pub identity: Identity,
    /// What the token needs.
    pub permissions: Permissions,
    /// Fields that the spec decides.
    pub fields: &'static [Field],
    /// Fields that status shows.
    pub status: &'static [StatusField],
    /// The reason of `Ready=True`.
    pub ready: Reason,
    /// What the table cannot say.
    pub hooks: Hooks,
}

impl Kind {
    /// The reference that leads to the account, if the kind has one.
    #[must_use]
    pub fn parent(&self) -> Option<&'static Reference> {
        self.references.iter().find(|reference| reference.parent)
    }

    /// The external ID that a resource of this kind stands for: from its spec where users name it there, else from
    /// its label, else from its status. The label comes first because it is written first: between the two writes
    /// only the label names an object that took a lost one's place.
    #[must_use]
    pub fn external_id<'r>(&self, resource: &'r Resource) -> Option<&'r str> {
        if let Some(pointer) = self.identity.spec {
            return resource.spec_str(pointer);
        }
        let labelled =
            self.identity.label.and_then(|label| resource.label(label)).filter(|id| !id.is_empty());
        labelled.or_else(|| resource.status_str(self.identity.status))
    }

    /// The external ID that others go by who need the object of a resource: what its status records, which nobody but
    /// kflare writes, and only where there is none its label. A label that a person edited leads nobody elsewhere.
    #[must_use]
    pub fn shown_id<'r>(&self, resource: &'r Resource) -> Option<&'r str> {
        match self.identity.spec {
            Some(pointer) => resource.spec_str(pointer),
            None => resource.status_str(self.identity.status).or_else(|| self.external_id(resource)),
        }
    }

    /// True when several resources may stand for one object in Cloudflare: their labels claim nothing.
    #[must_use]
    pub const fn is_shared(&self) -> bool {
        self.identity.label.is_some() && !self.identity.claims
    }

    /// True when nothing but a label that a person may have edited says that a resource stands for this object.
    #[must_use]
    pub fn only_labelled(&self, resource: &Resource, external: &str) -> bool {
        self.identity.spec.is_none() && resource.status_str(self.identity.status) != Some(external)
    }
}
