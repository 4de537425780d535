//! What the two APIs would answer to an act, so that a pass can be looked at before it is carried out.
//! Guesses no refusal: what Cloudflare or Kubernetes would say no to shows when the act is sent.

use std::borrow::Cow;

use cf_api::request::Request as Call;
use kinds::{Key, Resource};
use serde_json::{Map, Value};

use crate::act::{Act, FieldDiff, Outcome, Patch, Reply, Request, Target, Write};
use crate::difference::put;
use crate::document;
use crate::snapshot::{Member, Observed, Snapshot};
use crate::unit::MemberId;

/// How people see what only the APIs can tell.
pub const KNOWN_AFTER_APPLY: &str = "(known after apply)";

/// Begins every stand-in. With what follows it is made of RFC 3986's unreserved characters only, so that a path holds
/// it unchanged and it can be found again in any text.
const STAND_IN: &str = "known-after-apply~";

/// Separates the parts of a stand-in: no kind and no name of Kubernetes holds it.
const PART: char = '~';

/// Parts after the prefix: kind, namespace, name.
const PARTS: usize = 3;

/// Ends the version of an object that a predicted write has changed. Caches take a version that is no number as news,
/// and a later write adds another one.
const LATER: char = '+';

/// What stands for the ID that Cloudflare, or the uid that Kubernetes, will give to what a member makes.
#[must_use]
pub fn stand_in(member: &MemberId) -> String {
    let Key { namespace, name } = &member.key;
    format!("{STAND_IN}{}{PART}{namespace}{PART}{name}{PART}", member.kind)
}

/// True for an ID that [`stand_in`] made up: nothing with it exists yet.
#[must_use]
pub fn is_stand_in(id: &str) -> bool {
    id.starts_with(STAND_IN)
}

/// A text as people see it: each stand-in is [`KNOWN_AFTER_APPLY`].
#[must_use]
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(STAND_IN) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(STAND_IN) {
        shown.push_str(before);
        let end = after.match_indices(PART).nth(PARTS - 1).map(|(at, _)| at + PART.len_utf8());
        shown.push_str(KNOWN_AFTER_APPLY);
        rest = end.map_or("", |end| &after[end..]);
    }
    shown.push_str(rest);
    Cow::Owned(shown)
}

/// A JSON value as people see it, stand-ins and predicted versions alike.
#[must_use]
pub fn shown_value(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(shown(text).into_owned()),
        Value::Array(items) => items.iter().map(shown_value).collect(),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| {
                let is_later =
                    name == "resourceVersion" && value.as_str().is_some_and(|text| text.ends_with(LATER));
                let value =
                    if is_later { Value::String(KNOWN_AFTER_APPLY.to_owned()) } else { shown_value(value) };
                (shown(name).into_owned(), value)
            };
            Value::Object(members.iter().map(member).collect())
        }
        other => other.clone(),
    }
}

/// The answer to an act that nothing goes wrong with.
///
/// # Guarantees
/// Two creates of one member have the same ID, two members never. What a patch leaves is a newer version of the object
/// with the old generation: acts change no spec.
#[must_use]
pub fn predict(act: &Act, snapshot: &Snapshot) -> Outcome {
    match &act.request {
        Request::Kubernetes(patch) => predict_patch(act, patch, snapshot),
        Request::Cloudflare { call, .. } if document::is_write(act) => {
            Outcome::Done(Reply::Cloudflare(call.body.clone().unwrap_or_default()))
        }
        Request::Cloudflare { call, .. } => {
            let results = act.parts.iter().map(|part| {
                let member = snapshot.members.get(&part.member);
                member
                    .map_or(Value::Null, |member| answer(member, &part.member, &part.write, &part.why, call))
            });
            let mut results: Vec<Value> = results.collect();
            match (results.len(), results.pop()) {
                (1, Some(one)) => Outcome::Done(Reply::Cloudflare(one)),
                (_, last) => {
                    results.extend(last);
                    Outcome::Done(Reply::Batch(results))
                }
            }
        }
    }
}

fn predict_patch(act: &Act, patch: &Patch, snapshot: &Snapshot) -> Outcome {
    let member = act.parts.first().and_then(|part| snapshot.members.get(&part.member));
    let base = member.and_then(|member| match patch.target {
        Target::Kind(_) => Some(&member.object),
        Target::Secret => member.secrets.get(&patch.key)?.secret.found(),
    });
    let Some(base) = base else { return Outcome::Gone };
    match patched(base, &patch.body) {
        Ok(object) => Outcome::Done(Reply::Kubernetes(Box::new(object))),
        Err(error) => Outcome::KubernetesFailed(error.to_string()),
    }
}

/// The object as a merge patch leaves it, in a version of its own.
pub fn patched(base: &Resource, patch: &Value) -> serde_json::Result<Resource> {
    let mut whole = serde_json::to_value(base)?;
    merge(&mut whole, patch);
    let mut object: Resource = serde_json::from_value(whole)?;
    object.metadata.resource_version = format!("{}{LATER}", base.metadata.resource_version);
    Ok(object)
}

/// What a JSON merge patch makes of a value (RFC 7386).
pub fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        patch.clone_into(target);
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(target) = target else { return };
    for (name, value) in patch {
        if value.is_null() {
            target.remove(name);
        } else {
            merge(target.entry(name.as_str()).or_insert(Value::Null), value);
        }
    }
}

/// The object in Cloudflare after a write.
fn answer(member: &Member, id: &MemberId, write: &Write, why: &[FieldDiff], call: &Call) -> Value {
    let with_id = |mut object: Value, external: &str| {
        put(&mut object, member.kind.identity.wire, Value::String(external.to_owned()));
        object
    };
    match write {
        Write::Create(body) => with_id(made(member, body), &stand_in(id)),
        Write::Update(external, body) => {
            let mut object = before(member, external);
            if !has_own_call(member, why) {
                replace(&mut object, body);
            }
            // Whatever route and shape the change was sent in, this is what it is to lead to.
            for diff in why {
                if let Some(field) = member.kind.fields.iter().find(|field| field.name == diff.field) {
                    put(&mut object, field.wire, diff.to.clone());
                }
            }
            with_id(object, external)
        }
        Write::Delete(external) => with_id(Value::Object(Map::new()), external),
        _ => call.body.clone().unwrap_or_default(),
    }
}

/// A new object: what its create does not take is as the API gives it.
fn made(member: &Member, body: &Value) -> Value {
    let mut object = body.clone();
    for field in member.kind.fields {
        if let Some(own) = field.own_call {
            put(&mut object, field.wire, serde_json::from_str(own.initial).unwrap_or_default());
        }
    }
    object
}

/// The fields of a body that is not the object's own: a subscription.
fn has_own_call(member: &Member, why: &[FieldDiff]) -> bool {
    let own = |diff: &FieldDiff| {
        member.kind.fields.iter().any(|field| field.name == diff.field && field.own_call.is_some())
    };
    why.iter().any(own)
}

/// The object with this ID as it was last seen.
fn before(member: &Member, external: &str) -> Value {
    let found = match &member.found {
        Observed::Seen(found, _) => found.as_slice(),
        _ => &[],
    };
    let is_it =
        |object: &&Value| object.pointer(member.kind.identity.wire).and_then(Value::as_str) == Some(external);
    member.live.seen().into_iter().chain(found).find(is_it).cloned().unwrap_or_default()
}

/// A PATCH of Cloudflare's replaces the members that it names.
fn replace(object: &mut Value, body: &Value) {
    if !object.is_object() {
        *object = Value::Object(Map::new());
    }
    if let (Value::Object(object), Value::Object(body)) = (object, body) {
        object.extend(body.iter().map(|(name, value)| (name.clone(), value.clone())));
    }
}
