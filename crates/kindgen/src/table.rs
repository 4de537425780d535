//! The format of `kinds/*.toml`, as types: what stands in a table is what these structs name, and nothing else.
//! Meaning across fields and tables is checked in `check`; `docs/reference/kind-tables.md` explains it to people.

use serde::Deserialize;
use serde_json::{Map, Value};

/// One kind.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// As written in `kind:`.
    pub kind: String,
    /// As written in paths.
    pub plural: String,
    /// As written by kubectl.
    pub singular: String,
    /// kubectl's short names.
    #[serde(default)]
    pub short_names: Vec<String>,
    /// Cluster or namespaced.
    pub scope: Scope,
    /// Observed or managed.
    pub lifecycle: Lifecycle,
    /// What is read and written together.
    pub grouping: Grouping,
    /// The reason of `Ready=True`.
    pub ready: String,
    /// One line for lists.
    pub summary: String,
    /// One paragraph: what it is and what `Ready` promises.
    pub purpose: String,
    /// References to other kinds, the parent first.
    #[serde(default)]
    pub references: Vec<Reference>,
    /// The token Secret, for the kind that holds credentials.
    pub secret: Option<Secret>,
    /// Cloudflare's routes.
    pub routes: Routes,
    /// How resource and object are tied.
    pub identity: Identity,
    /// What a token must be allowed.
    pub permissions: Vec<Permission>,
    /// CEL rules over the whole spec.
    #[serde(default)]
    pub rules: Vec<Rule>,
    /// Spec fields, in the order of the reference page.
    pub spec: Vec<Field>,
    /// Status fields; `observedGeneration`, `conditions`, `appliedFields` and `adoptedID` come by themselves.
    #[serde(default)]
    pub status: Vec<Field>,
    /// kubectl's columns; Ready and Age come by themselves.
    #[serde(default)]
    pub columns: Vec<Column>,
    /// Fields that `--field-selector` knows.
    #[serde(default)]
    pub selectable: Selectable,
    /// How-to notes for the reference page.
    #[serde(default)]
    pub notes: Vec<Note>,
    /// Manifests that work, for `deploy/samples`.
    pub samples: Vec<Sample>,
}

/// Where objects of a kind live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// One per name in the cluster.
    Cluster,
    /// One per name in a namespace.
    Namespaced,
}

/// What kflare does with the Cloudflare object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lifecycle {
    /// Reads it only.
    Observed,
    /// Creates, changes and deletes it.
    Managed,
}

/// What is read and written together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grouping {
    /// Each object by itself.
    Object,
    /// One list and its batches below each parent.
    ParentList,
    /// One document below each parent.
    ParentDocument,
}

/// A spec field that names an object of another kind.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// The spec field, an object with `name`.
    pub field: String,
    /// The kind it names.
    pub kind: String,
    /// It leads to the account.
    #[serde(default)]
    pub parent: bool,
    /// The reason while the object does not exist.
    pub not_found: String,
    /// The reason while the object is not Ready.
    pub not_ready: String,
}

/// The spec field that names the token Secret.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Secret {
    /// An object with `name`, `namespace` and `key`.
    pub field: String,
    /// The key when there is none.
    pub default_key: String,
    /// Route that says what a token is worth.
    pub verify: String,
    /// The status field that records the protected Secret.
    pub protected_status: String,
}

/// How an update is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Update {
    /// Nothing can be changed.
    Never,
    /// One PATCH of what differs.
    Patch,
    /// One PATCH per field.
    PatchEach,
    /// One PUT of everything.
    Put,
}

/// Cloudflare's routes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Routes {
    /// List and create.
    pub collection: String,
    /// Read, update and delete.
    pub item: String,
    /// How updates are sent.
    pub update: Update,
    /// Batched writes.
    pub batch: Option<Batch>,
    /// `per_page` of a full list.
    pub page_size: u32,
    /// Query parameter and JSON pointer into the key.
    #[serde(default)]
    pub lookup: Vec<(String, String)>,
    /// Where a create's body names the parent.
    pub parent_in_body: Option<String>,
    /// Cloudflare answers 403 for an object that is gone.
    #[serde(default)]
    pub absent_is_forbidden: bool,
    /// The document, for `parent-document` kinds.
    pub document: Option<Document>,
}

/// A document that many resources make up together.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// JSON pointer to its list of entries.
    pub entries: String,
    /// Member of an entry that says whose it is.
    pub mark: String,
}

/// Batched writes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Batch {
    /// Path template.
    pub path: String,
    /// JSON pointer to the plan in the parent's status.
    pub plan: String,
    /// Name of a function in `kinds::limits`.
    pub limit: String,
    /// How full the parent is.
    pub usage: Option<Usage>,
}

/// The call that says how full a parent is.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Path template.
    pub path: String,
    /// JSON pointer to the most it may hold.
    pub most: String,
    /// JSON pointer to how many it holds.
    pub held: String,
}

/// Most of Cloudflare's objects say it there.
fn created_on() -> String {
    "/created_on".to_owned()
}

/// How a resource and its object are tied.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The ID in Cloudflare's object.
    pub wire: String,
    /// The time of its creation in Cloudflare's object.
    #[serde(default = "created_on")]
    pub created: String,
    /// The ID in the status.
    pub status: Option<String>,
    /// The ID in the spec, where users name the object by it.
    pub spec: Option<String>,
    /// The label that carries the ID.
    pub label: Option<String>,
    /// The label is a claim.
    #[serde(default)]
    pub claims: bool,
    /// The reason when another resource holds the claim.
    pub conflict: Option<String>,
    /// Spec fields that adoption and the creating mark go by (the hook `key` builds it).
    #[serde(default)]
    pub key: Vec<String>,
    /// The part of the key that an adoption may differ in.
    #[serde(default)]
    pub loose_key: Vec<String>,
    /// Nobody can change the key of an object at Cloudflare.
    #[serde(default)]
    pub fixed_key: bool,
}

/// A permission that the API token needs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Permission {
    /// As the dashboard spells it.
    pub name: String,
    /// What it is granted on.
    pub on: GrantedOn,
    /// The calls that need it. None for one that only a field's own call needs.
    #[serde(default, rename = "for")]
    pub calls: Vec<Purpose>,
    /// What for, in words.
    pub why: String,
}

/// What a permission is granted on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GrantedOn {
    /// The account.
    Account,
    /// A zone.
    Zone,
}

/// What a call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// Reads.
    Read,
    /// Creates.
    Create,
    /// Updates and deletes.
    Change,
}

/// A CEL rule.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The expression.
    pub rule: String,
    /// What the user reads: the field and the fix.
    pub message: String,
}

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Type {
    /// Text.
    String,
    /// A whole number.
    Integer,
    /// True or false.
    Boolean,
    /// An object with named fields.
    Object,
    /// A list of `item`.
    List,
    /// An object with free names and values of `item`.
    Map,
    /// An object of which the schema knows nothing.
    Free,
}

/// How a list merges and compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ListType {
    /// Order does not count, each item once.
    Set,
    /// Order counts.
    Ordered,
}

/// What the spec's silence about a field means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unset {
    /// Cannot happen: required, guarded by a rule, or part of the key.
    Required,
    /// Left alone, unless we once wrote it: then `clear` is sent.
    Clear,
    /// Left alone, always.
    Keep,
}

/// A field of spec or status, or the item of a list or map.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// As written in manifests; an item has none.
    #[serde(default)]
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub type_: Type,
    /// Prose; an item has none.
    #[serde(default)]
    pub doc: String,
    /// Must be given.
    #[serde(default)]
    pub required: bool,
    /// Filled in by the API server.
    pub default: Option<Value>,
    /// Cannot change once set.
    #[serde(default)]
    pub immutable: bool,
    /// Cloudflare never shows it again, so it is not compared.
    #[serde(default)]
    pub write_only: bool,
    /// Least value.
    pub min: Option<i64>,
    /// Greatest value.
    pub max: Option<i64>,
    /// Least length.
    pub min_length: Option<u64>,
    /// Greatest length.
    pub max_length: Option<u64>,
    /// Regular expression (RE2).
    pub pattern: Option<String>,
    /// A format that the API server checks.
    pub format: Option<String>,
    /// The only values.
    #[serde(rename = "enum", default)]
    pub values: Vec<String>,
    /// Fields of an object.
    #[serde(default)]
    pub fields: Vec<Field>,
    /// Item of a list or map.
    pub item: Option<Box<Field>>,
    /// How a list merges.
    pub list: Option<ListType>,
    /// Fewest items.
    pub min_items: Option<u64>,
    /// Most items.
    pub max_items: Option<u64>,
    /// Most names of a map.
    pub max_properties: Option<u64>,
    /// CEL rules over this field.
    #[serde(default)]
    pub rules: Vec<Rule>,
    /// JSON pointer in Cloudflare's object.
    pub wire: Option<String>,
    /// What leaving it out means.
    pub unset: Option<Unset>,
    /// JSON that clears it.
    pub clear: Option<String>,
    /// Written by a request of its own.
    pub own_call: Option<OwnCall>,
}

/// A request of its own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnCall {
    /// Path template; the method is PUT.
    pub path: String,
    /// Where the value stands in the body.
    pub body: String,
    /// The name of one of the table's permissions.
    pub permission: String,
    /// What a new object has before the call.
    pub initial: Value,
}

/// A column of `kubectl get`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Its head.
    pub name: String,
    /// JSON path.
    pub path: String,
}

/// Fields for field selectors.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selectable {
    /// JSON paths.
    #[serde(default)]
    pub fields: Vec<String>,
}

/// A how-to note.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// What the reader wants to do.
    pub title: String,
    /// How.
    pub text: String,
}

/// A manifest that works.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// `metadata.name`.
    pub name: String,
    /// The token Secret and its namespace come before it.
    #[serde(default)]
    pub secret: bool,
    /// The spec.
    pub spec: Map<String, Value>,
}

/// What the manager is called and may do besides its own kinds: `kinds/manager.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manager {
    /// The API group.
    pub group: String,
    /// The served version.
    pub version: String,
    /// kubectl's category of all kinds.
    pub category: String,
    /// Name of the ServiceAccount and prefix of the roles.
    pub name: String,
    /// Where it runs.
    pub namespace: String,
    /// Reasons that are no single kind's.
    pub reasons: SharedReasons,
    /// Rules for the whole cluster.
    pub rules: Vec<AccessRule>,
    /// Rules for its own namespace.
    pub namespaced_rules: Vec<AccessRule>,
}

/// Reasons that kinds have by what they are; the reference pages list them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedReasons {
    /// Every kind has these.
    pub every: Vec<String>,
    /// The account's Secret gives these to all kinds below it.
    pub credentials: Vec<String>,
    /// Managed kinds have these.
    pub managed: Vec<String>,
    /// Kinds that others refer to have these.
    pub parents: Vec<String>,
}

/// One rule of a role.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccessRule {
    /// What it is for.
    pub why: String,
    /// API groups.
    pub groups: Vec<String>,
    /// Resources.
    pub resources: Vec<String>,
    /// The only objects, by name.
    #[serde(default)]
    pub names: Vec<String>,
    /// Verbs.
    pub verbs: Vec<String>,
}
