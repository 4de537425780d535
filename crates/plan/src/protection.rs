//! The protection of token Secrets: our finalizer on each Secret that an account references, off again when none does.
//! Only metadata is looked at and written; the token itself is for `operator`.

use cf_api::error::Class as ErrorClass;
use kinds::{Key, Reason, Resource, names};
use serde_json::{Value, json};

use crate::act::{Patch, Target, Write};
use crate::hold::Hold;
use crate::lifecycle::Step;
use crate::limits;
use crate::refusal::{credentials, hold_from_verifying, may_pass};
use crate::snapshot::{Lookup, Member, Observed, ReadFault};

/// The Secret that the spec names.
#[must_use]
pub fn referenced(member: &Member) -> Option<Key> {
    let field = member.kind.secret?.field;
    let text = |name: &str| member.object.spec_str(&format!("/{field}/{name}"));
    Some(Key::new(text("namespace")?, text("name")?))
}

/// The Secret that our status says we protect.
#[must_use]
pub fn recorded(member: &Member) -> Option<Key> {
    let text = member.object.status_str(member.kind.secret?.protected_status)?;
    let (namespace, name) = text.split_once('/')?;
    Some(Key::new(namespace, name))
}

/// The next step to bring protections in order: put it on the referenced Secret, take it off the former one.
pub(crate) fn protect(member: &Member) -> Option<Step> {
    let wanted = referenced(member)?;
    if let Some(secret) = found(member, &wanted)
        && !is_protected(secret)
        && !secret.is_deleting()
    {
        return Some(change(secret, true));
    }
    let former = member.secrets.keys().filter(|former| **former != wanted);
    former.filter_map(|former| take_off(member, former).ok().flatten()).next()
}

/// The Secret that the spec names, once it carries our protection.
pub(crate) fn protected(member: &Member) -> Option<Key> {
    referenced(member).filter(|key| found(member, key).is_some_and(is_protected))
}

/// The next step of a deleting account: take the protection off what nobody else references.
pub(crate) fn unprotect(member: &Member) -> Result<Option<Step>, Hold> {
    for key in member.secrets.keys() {
        if let Some(step) = take_off(member, key)? {
            return Ok(Some(step));
        }
    }
    Ok(None)
}

fn take_off(member: &Member, key: &Key) -> Result<Option<Step>, Hold> {
    let Some(facts) = member.secrets.get(key) else { return Ok(None) };
    // What another account references stays protected, whatever this one does.
    match &facts.secret {
        Lookup::Found(secret) if is_protected(secret) && !facts.shared => Ok(Some(change(secret, false))),
        Lookup::Found(_) | Lookup::Missing => Ok(None),
        Lookup::Unread => Err(Hold::new(Reason::APIError, format!("Secret {key} was not read"))),
        Lookup::Unknown(why) => Err(Hold::new(Reason::APIError, format!("cannot read Secret {key}: {why}"))),
    }
}

fn found<'m>(member: &'m Member, key: &Key) -> Option<&'m Resource> {
    member.secrets.get(key)?.secret.found()
}

fn is_protected(secret: &Resource) -> bool {
    secret.metadata.finalizers.iter().any(|finalizer| finalizer == names::TOKEN_PROTECTION_FINALIZER)
}

fn change(secret: &Resource, protect: bool) -> Step {
    let mut finalizers: Vec<&str> = secret
        .metadata
        .finalizers
        .iter()
        .map(String::as_str)
        .filter(|finalizer| *finalizer != names::TOKEN_PROTECTION_FINALIZER)
        .collect();
    if protect {
        finalizers.push(names::TOKEN_PROTECTION_FINALIZER);
    }
    let body = json!({"metadata": {
        "uid": secret.metadata.uid,
        "resourceVersion": secret.metadata.resource_version,
        "finalizers": if finalizers.is_empty() { Value::Null } else { json!(finalizers) },
    }});
    Step::Kubernetes(Write::Protect, Patch { target: Target::Secret, key: secret.key(), body })
}

/// What Cloudflare says about the token.
pub(crate) fn verified(member: &Member) -> Result<(), Hold> {
    match &member.verified {
        // Not read yet: `read` asks for it before the object is looked at.
        Observed::Unread | Observed::Absent(_) => Ok(()),
        Observed::Seen(token, _) => match token.get("status").and_then(Value::as_str) {
            Some("active") | None => Ok(()),
            Some(status) => Err(Hold {
                reason: Reason::InvalidToken,
                message: format!(
                    "the token of {} is {status}; put a valid one into the Secret",
                    credentials(member)
                ),
                // A disabled token may be enabled again, and an expired one prolonged, without a word to us.
                retry_after: Some(limits::REFUSED_CREDENTIALS_RECHECK),
                refused_credentials: true,
            }),
        },
        Observed::Failed(ReadFault::Api(error))
            if matches!(
                error.class(),
                ErrorClass::Unauthorized | ErrorClass::Forbidden | ErrorClass::Invalid
            ) && !may_pass(member, error) =>
        {
            Err(Hold {
                reason: Reason::InvalidToken,
                message: format!("Cloudflare refused the token of {}: {}", credentials(member), error.text()),
                retry_after: Some(limits::REFUSED_CREDENTIALS_RECHECK),
                refused_credentials: true,
            })
        }
        Observed::Failed(fault) => Err(hold_from_verifying(member, fault)),
    }
}
