//! From the facts around a member to what a request needs: its token, its parent's ID, its body and its key.
//! Reads nothing: what is missing is said as a hold.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use kinds::table::{Parents, Reference, Scope};
use kinds::{Key, Kind, Reason, Resource};
use serde_json::Value;

use crate::act::CredId;
use crate::creating::{Mark, render_key};
use crate::hold::Hold;
use crate::limits;
use crate::snapshot::{Credential, Lookup, Member, Snapshot};

/// What every request for a member needs.
#[derive(Clone, Debug)]
pub struct Context<'m> {
    /// Whose token.
    pub cred: &'m CredId,
    /// The parent's external ID; empty for a kind without parent.
    pub parent: &'m str,
    /// The objects that the references name, for the hooks.
    pub parents: Parents<'m>,
}

/// What the spec wants, in the forms that decisions need.
#[derive(Clone, Debug, PartialEq)]
pub struct Desired {
    /// The body of a create.
    pub body: Value,
    /// Its canonical form.
    pub canonical: Value,
    /// The rendered key.
    pub key: String,
    /// The values that look-ups use.
    pub key_parts: BTreeMap<&'static str, String>,
    /// The rendered part of the key that an adoption must match.
    pub loose_key: String,
    /// Cloudflare refuses a second object with this key.
    pub refuses_twins: bool,
}

/// What the deletion of a member can be done with.
#[derive(Debug)]
pub enum Teardown<'m> {
    /// All is there.
    Able(Context<'m>),
    /// The parent is gone, and with it the way to the token: the object stays as it is (seed: Deletion).
    ParentGone,
    /// It has to wait.
    Held(Hold),
}

/// All that a create or update needs, or why it has to wait.
pub fn for_apply(member: &Member) -> Result<Context<'_>, Hold> {
    let mut parents = Parents::new();
    for reference in member.kind.references {
        let resource = named(member, reference)?;
        let ready = resource.ready() == Some("True") && external_id(reference, resource).is_some();
        if !ready {
            let state = if resource.is_deleting() {
                "is being deleted"
            } else {
                "is not Ready: its own condition says why"
            };
            let message = format!("{} {} {state}", reference.kind, resource.key());
            return Err(Hold::new(reference.not_ready, message));
        }
        parents.insert(reference.field, resource);
    }
    let account = account(member)?;
    allowed(member, account)?;
    let cred = credential(member)?;
    Ok(Context { cred, parent: parent_id(member.kind, &parents), parents })
}

/// All that a deletion needs. A parent need not be ready for it: it may itself be waiting for this deletion.
#[must_use]
pub fn for_deletion(member: &Member) -> Teardown<'_> {
    let mut parents = Parents::new();
    for reference in member.kind.references.iter().filter(|reference| reference.parent) {
        match member.references.get(reference.field) {
            Some(Lookup::Found(resource)) => {
                if external_id(reference, resource).is_none() {
                    // A parent that never had an object in Cloudflare leaves none below it; one that lost sight of its
                    // object will find it again, unless it goes itself.
                    let made = member.kind.external_id(&member.object).is_some()
                        || Mark::of(&member.object).is_some();
                    if made && !resource.is_deleting() {
                        let message = format!("{} {} has no ID yet", reference.kind, resource.key());
                        return Teardown::Held(Hold::new(reference.not_ready, message));
                    }
                    return Teardown::ParentGone;
                }
                parents.insert(reference.field, resource);
            }
            Some(Lookup::Missing) => return Teardown::ParentGone,
            other => return Teardown::Held(unread(reference, other)),
        }
    }
    let account = match &member.account {
        Lookup::Found(account) => account,
        Lookup::Missing => return Teardown::ParentGone,
        other => return Teardown::Held(unread_account(other)),
    };
    if member.object.status_str(member.kind.identity.status).is_none() {
        match allowed(member, account) {
            // Outside the allowed namespaces a label or annotation alone proves nothing (contract K14).
            Err(hold) if hold.reason == Reason::NamespaceNotAllowed => return Teardown::ParentGone,
            Err(hold) => return Teardown::Held(hold),
            Ok(()) => {}
        }
    }
    match credential(member) {
        Ok(cred) => Teardown::Able(Context { cred, parent: parent_id(member.kind, &parents), parents }),
        Err(hold) => Teardown::Held(hold),
    }
}

/// Notes which members rest on something that is new at Cloudflare (contract K16).
pub fn note_ages(snapshot: &mut Snapshot, now: Timestamp) {
    let spread = SignedDuration::try_from(limits::NEWS_MAY_SPREAD).unwrap_or(SignedDuration::ZERO);
    for member in snapshot.members.values_mut() {
        member.is_young = member.newest.is_some_and(|newest| newest <= now && now < newest + spread);
    }
}

/// What the spec wants. `Err` when no request can be made of it.
pub fn desired<'m>(member: &'m Member, context: &Context<'_>) -> Result<&'m Desired, Hold> {
    member
        .desired
        .get_or_init(|| {
            let hooks = &member.kind.hooks;
            let invalid =
                |invalid: kinds::table::Invalid| Hold::new(Reason::InvalidSpec, invalid.to_string());
            let body = (hooks.body)(&member.object.spec, &context.parents).map_err(invalid)?;
            let canonical = (hooks.canonical)(&body, &context.parents);
            if let Some(refused) = (hooks.refused)(&canonical, &context.parents) {
                return Err(invalid(refused));
            }
            let key_parts = (hooks.key)(&canonical);
            Ok(Desired {
                key: render_key(&key_parts),
                loose_key: render_key(&(hooks.loose_key)(&canonical)),
                refuses_twins: (hooks.refuses_twins)(&canonical),
                key_parts,
                canonical,
                body,
            })
        })
        .as_ref()
        .map_err(Hold::clone)
}

fn named<'m>(member: &'m Member, reference: &Reference) -> Result<&'m Resource, Hold> {
    match member.references.get(reference.field) {
        Some(Lookup::Found(resource)) => Ok(resource),
        Some(Lookup::Missing) => {
            let name = member.object.spec_str(&format!("/{}/name", reference.field)).unwrap_or_default();
            let is_cluster_wide =
                kinds::kind(reference.kind).is_some_and(|kind| kind.scope == Scope::Cluster);
            let namespace = if is_cluster_wide { "" } else { member.object.metadata.namespace.as_str() };
            let message = format!(
                "{} {} does not exist: create it, or correct spec.{}",
                reference.kind,
                Key::new(namespace, name),
                reference.field
            );
            Err(Hold::new(reference.not_found, message))
        }
        other => Err(unread(reference, other)),
    }
}

fn unread(reference: &Reference, lookup: Option<&Lookup<Arc<Resource>>>) -> Hold {
    let why = match lookup {
        Some(Lookup::Unknown(why)) => why.as_str(),
        _ => "it was not read",
    };
    Hold::new(
        Reason::APIError,
        format!("cannot read the {} that spec.{} names: {why}", reference.kind, reference.field),
    )
}

fn account(member: &Member) -> Result<&Resource, Hold> {
    match &member.account {
        Lookup::Found(account) => Ok(account),
        Lookup::Missing => Err(Hold::new(
            Reason::AccountNotFound,
            "the CloudflareAccount does not exist: create it, or correct what names it",
        )),
        other => Err(unread_account(other)),
    }
}

fn unread_account(lookup: &Lookup<Arc<Resource>>) -> Hold {
    let why = match lookup {
        Lookup::Unknown(why) => why.as_str(),
        _ => "it was not read",
    };
    Hold::new(Reason::APIError, format!("cannot read the CloudflareAccount: {why}"))
}

fn external_id<'r>(reference: &Reference, resource: &'r Resource) -> Option<&'r str> {
    kinds::kind(reference.kind)?.shown_id(resource)
}

/// The external ID of an account, the kind that holds credentials.
pub(crate) fn account_id(account: &Resource) -> Option<&str> {
    kinds::KINDS.iter().find(|kind| kind.secret.is_some())?.external_id(account)
}

fn parent_id<'m>(kind: &Kind, parents: &Parents<'m>) -> &'m str {
    let of = |reference: &'static Reference| external_id(reference, parents.get(reference.field)?);
    kind.parent().and_then(of).unwrap_or_default()
}

/// Contract K3: `spec.allowedNamespaces` of the account, absent meaning all.
pub(crate) fn is_barred(member: &Member) -> Result<bool, Hold> {
    let account = account(member)?;
    match allowed(member, account) {
        Ok(()) => Ok(false),
        Err(hold) if hold.reason == Reason::NamespaceNotAllowed => Ok(true),
        Err(hold) => Err(hold),
    }
}

pub(crate) fn allowed(member: &Member, account: &Resource) -> Result<(), Hold> {
    let Some(rule) = account.spec.get("allowedNamespaces").filter(|rule| !rule.is_null()) else {
        return Ok(());
    };
    let namespace = &member.object.metadata.namespace;
    if namespace.is_empty() {
        return Ok(());
    }
    let names = rule.get("names").and_then(Value::as_array);
    if names.into_iter().flatten().any(|name| name.as_str() == Some(namespace)) {
        return Ok(());
    }
    if let Some(selector) = rule.get("selector").filter(|selector| !selector.is_null()) {
        match &member.namespace {
            Lookup::Found(labels) if selects(selector, labels) => return Ok(()),
            Lookup::Found(_) | Lookup::Missing => {}
            Lookup::Unread => {
                return Err(Hold::new(Reason::APIError, "the namespace's labels were not read"));
            }
            Lookup::Unknown(why) => {
                return Err(Hold::new(
                    Reason::APIError,
                    format!("cannot read the namespace's labels: {why}"),
                ));
            }
        }
    }
    Err(Hold::new(
        Reason::NamespaceNotAllowed,
        format!(
            "CloudflareAccount {} does not list namespace {namespace:?} in spec.allowedNamespaces",
            account.key()
        ),
    ))
}

/// A label selector as Kubernetes reads it; an empty one selects everything.
fn selects(selector: &Value, labels: &BTreeMap<String, String>) -> bool {
    let equal = selector.get("matchLabels").and_then(Value::as_object).is_none_or(|wanted| {
        wanted.iter().all(|(key, value)| labels.get(key).map(String::as_str) == value.as_str())
    });
    let expressions = selector.get("matchExpressions").and_then(Value::as_array);
    equal && expressions.into_iter().flatten().all(|expression| matches_expression(expression, labels))
}

fn matches_expression(expression: &Value, labels: &BTreeMap<String, String>) -> bool {
    let text = |name: &str| expression.get(name).and_then(Value::as_str).unwrap_or_default();
    let label = labels.get(text("key")).map(String::as_str);
    let values = expression.get("values").and_then(Value::as_array);
    let listed = |label: &str| values.into_iter().flatten().any(|value| value.as_str() == Some(label));
    match text("operator") {
        "In" => label.is_some_and(listed),
        "NotIn" => !label.is_some_and(listed),
        "Exists" => label.is_some(),
        "DoesNotExist" => label.is_none(),
        _ => false,
    }
}

fn credential(member: &Member) -> Result<&CredId, Hold> {
    let at = |key: &Key| format!("Secret {key}");
    match &member.credential {
        Credential::Usable(cred) => Ok(cred),
        Credential::SecretMissing(key) => {
            let message = format!(
                "{} with the API token does not exist: create it, or correct tokenSecretRef of the CloudflareAccount",
                at(key)
            );
            Err(Hold::new(Reason::SecretNotFound, message))
        }
        Credential::KeyMissing(key, entry) => Err(Hold::new(
            Reason::TokenKeyMissing,
            format!(
                "{} has no entry {entry:?} with the API token, or it is empty: put the token there, or correct \
                 tokenSecretRef of the CloudflareAccount",
                at(key)
            ),
        )),
        Credential::Malformed(key, why) => {
            Err(Hold::new(Reason::InvalidToken, format!("{} does not hold an API token: {why}", at(key))))
        }
        Credential::Unread => Err(Hold::new(Reason::APIError, "the token Secret was not read")),
        Credential::Unknown(why) => {
            Err(Hold::new(Reason::APIError, format!("cannot read the token Secret: {why}")))
        }
    }
}
