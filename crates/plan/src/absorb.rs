//! How the outcome of an act changes the snapshot, without a second read (design §3).
//! Decides nothing: what follows from the new state is for the next call of `decide`.

use std::collections::BTreeMap;

use cf_api::error::{ApiError, Class as ErrorClass};
use jiff::Timestamp;
use kinds::table::Update;
use kinds::{Kind, Reason, Resource};
use serde_json::Value;

use crate::act::{Act, Outcome, Part, Reply, Request, Target, Write};
use crate::creating::Mark;
use crate::document;
use crate::hold::Hold;
use crate::lag;
use crate::limits;
use crate::refusal::{hold_from_refusal, way_out};
use crate::snapshot::{Claim, Lookup, Marked, Member, Observed, Snapshot};
use crate::unit::MemberId;

/// Folds an outcome in.
pub fn absorb(snapshot: &mut Snapshot, act: &Act, outcome: Outcome, now: Timestamp) {
    match (&act.request, outcome) {
        (Request::Kubernetes(patch), outcome) => {
            for part in &act.parts {
                kubernetes(snapshot, part, patch.target, &outcome, now);
            }
        }
        (Request::Cloudflare { .. }, Outcome::Done(Reply::Batch(results))) => {
            for (part, result) in act.parts.iter().zip(results) {
                done(snapshot, part, result, now);
            }
            show_to_others(snapshot, act);
        }
        (Request::Cloudflare { .. }, Outcome::Done(Reply::Cloudflare(result))) if document::is_write(act) => {
            // The answer is the whole document as it stands now.
            snapshot.document = Observed::Seen(result, now);
        }
        (Request::Cloudflare { .. }, Outcome::Done(Reply::Cloudflare(result))) => {
            for part in &act.parts {
                done(snapshot, part, result.clone(), now);
            }
            show_to_others(snapshot, act);
        }
        (Request::Cloudflare { .. }, Outcome::Refused(error)) => {
            for part in &act.parts {
                refused(snapshot, part, &error, act.parts.len());
            }
        }
        (Request::Cloudflare { .. }, outcome) => {
            for part in &act.parts {
                unanswered(snapshot, part, &outcome, now);
            }
        }
    }
}

fn kubernetes(snapshot: &mut Snapshot, part: &Part, target: Target, outcome: &Outcome, now: Timestamp) {
    let Some(member) = snapshot.members.get_mut(&part.member) else { return };
    match outcome {
        Outcome::Done(Reply::Kubernetes(object)) if target == Target::Secret => {
            secret_patched(member, object)
        }
        Outcome::Done(Reply::Kubernetes(object)) => patched(snapshot, part, object, now),
        // Two accounts of one Secret, say: no event of the resource itself will come.
        Outcome::Stale if target == Target::Secret => member.progress.deferred = true,
        Outcome::Stale => member.progress.stale = true,
        Outcome::Gone if part.write == Write::Protect => {
            // Which Secrets there are is looked at again in the next pass, which the Secret's own event starts.
            member.progress.stale = true;
        }
        Outcome::Gone => member.progress.gone = true,
        Outcome::KubernetesFailed(why) => {
            let message = format!("cannot {} the resource in Kubernetes: {why}", part.write.verb());
            member.progress.hold = Some(Hold::new(Reason::APIError, message));
        }
        Outcome::NotSent(cause) | Outcome::Unknown(cause) => {
            member.progress.hold = Some(Hold::from_cause(cause, "write the resource in Kubernetes"));
        }
        Outcome::Done(_) | Outcome::Refused(_) => {
            let message = "Kubernetes gave an answer that does not fit the request";
            member.progress.hold = Some(Hold::new(Reason::InternalError, message));
        }
    }
}

fn secret_patched(member: &mut Member, object: &Resource) {
    if let Some(facts) = member.secrets.get_mut(&object.key()) {
        facts.secret = Lookup::Found(object.clone());
    }
}

fn patched(snapshot: &mut Snapshot, part: &Part, object: &Resource, now: Timestamp) {
    let Some(member) = snapshot.members.get_mut(&part.member) else { return };
    let had_mark = Mark::of(&member.object).is_some();
    let spec_changed = member.object.metadata.generation != object.metadata.generation;
    let was_deleting = member.object.is_deleting();
    member.object = object.clone();
    match part.write {
        Write::Release => {
            member.progress.released = true;
            // What it made is nobody's now, and is in nobody's way for its sake.
            snapshot.memory.made.retain(|_, by| *by != part.member);
        }
        Write::MarkDeleting => member.progress.marked_deleting = true,
        Write::Prepare if Mark::of(object).is_some() => {
            member.progress.marked = Some(if had_mark { Marked::Again } else { Marked::First });
        }
        _ => {}
    }
    if part.write == Write::Claim || (part.write == Write::Prepare && Mark::of(object).is_none()) {
        taken(member);
    }
    if spec_changed || was_deleting != object.is_deleting() {
        // A claim is not conditional: the answer may show an edit or a deletion, which the next pass acts on.
        member.progress.deferred = true;
    }
    if part.write == Write::Claim && had_mark {
        // What a create without an answer made is as new as what one with an answer did.
        found(member, now);
    }
    count_claim(snapshot, &part.member);
}

/// The object that was found and taken is the member's own from here on.
fn taken(member: &mut Member) {
    let Some(external) = member.kind.external_id(&member.object).map(str::to_owned) else { return };
    let is_it = |object: &&Value| {
        object.pointer(member.kind.identity.wire).and_then(Value::as_str) == Some(&external)
    };
    if let Observed::Seen(found, began) = &member.found
        && let Some(object) = found.iter().find(is_it)
    {
        member.live = Observed::Seen(object.clone(), *began);
    } else if !member.live.seen().as_ref().is_some_and(is_it) {
        member.live = Observed::Unread;
    }
}

/// The index of claims counts an answered patch at once (design §3).
fn count_claim(snapshot: &mut Snapshot, id: &MemberId) {
    let Some(member) = snapshot.members.get(id) else { return };
    let Some(external) = member.kind.external_id(&member.object) else { return };
    let claim = Claim {
        member: id.clone(),
        recorded: member.object.status_str(member.kind.identity.status) == Some(external),
        created: member.object.metadata.creation_timestamp,
    };
    let claims = snapshot.claims.entry(external.to_owned()).or_default();
    if !claims.iter().any(|other| other.member == *id) {
        claims.push(claim);
    }
}

fn done(snapshot: &mut Snapshot, part: &Part, result: Value, now: Timestamp) {
    snapshot.memory.written.insert(part.member.clone(), now);
    snapshot.memory.quarantine.remove(&part.member);
    let Some(member) = snapshot.members.get_mut(&part.member) else { return };
    member.progress.refused_in = None;
    lag::note_made(&mut snapshot.memory.made, member, part);
    match &part.write {
        Write::Create(_) => match result.pointer(member.kind.identity.wire) {
            Some(_) => {
                found(member, now);
                member.live = Observed::Seen(result, now);
            }
            None => {
                member.progress.hold =
                    Some(Hold::new(Reason::APIError, "Cloudflare's answer to the create names no ID"))
            }
        },
        Write::Update(..) => {
            member.progress.updated.extend(part.why.iter().map(|diff| diff.field));
            // An answer of another route (a subscription) does not show the object: it has to be read again.
            let shows = result.pointer(member.kind.identity.wire).and_then(Value::as_str)
                == member.kind.external_id(&member.object);
            // Of several answers that cross, none shows all changes.
            let alone = member.kind.routes.update != Update::PatchEach;
            if shows && alone {
                member.live = Observed::Seen(result, now);
            } else {
                member.live = Observed::Unread;
            }
        }
        Write::Delete(external) => deleted(member, external, now),
        _ => {}
    }
}

/// Others that found an object when it still had their key see what it has become.
fn show_to_others(snapshot: &mut Snapshot, act: &Act) {
    let changed = act.parts.iter().filter(|part| matches!(part.write, Write::Update(..)));
    let changed: BTreeMap<String, Value> = changed
        .filter_map(|part| {
            let member = snapshot.members.get(&part.member)?;
            let live = member.live.seen()?;
            Some((live.pointer(member.kind.identity.wire)?.as_str()?.to_owned(), live.clone()))
        })
        .collect();
    if changed.is_empty() {
        return;
    }
    for member in snapshot.members.values_mut() {
        let wire = member.kind.identity.wire;
        let Observed::Seen(found, _) = &mut member.found else { continue };
        for object in found {
            let now = object.pointer(wire).and_then(Value::as_str).and_then(|id| changed.get(id));
            if let Some(now) = now.cloned() {
                *object = now;
            }
        }
    }
}

/// A member's object was made by us. If other kinds have their objects below it, they rest on something new.
fn found(member: &mut Member, now: Timestamp) {
    let refers = |other: &Kind| other.references.iter().any(|reference| reference.kind == member.kind.name);
    if kinds::KINDS.iter().any(|other| refers(other)) {
        member.is_young = true;
        member.progress.founded.get_or_insert(now);
    }
}

/// An object is gone: the member's own, or a late twin of it.
fn deleted(member: &mut Member, external: &str, now: Timestamp) {
    if let Observed::Seen(found, _) = &mut member.found {
        found.retain(|object| {
            object.pointer(member.kind.identity.wire).and_then(Value::as_str) != Some(external)
        });
    }
    let own = member.kind.external_id(&member.object) == Some(external);
    if own {
        member.live = Observed::Absent(now);
    }
    if member.object.is_deleting() {
        member.progress.deleted = true;
    }
}

fn refused(snapshot: &mut Snapshot, part: &Part, error: &ApiError, parts: usize) {
    let class = error.class();
    let retriable = matches!(class, ErrorClass::RateLimited | ErrorClass::Transient);
    // About the token or the parent, and so about the call as a whole, not about one of its parts.
    let concerns_all =
        matches!(class, ErrorClass::Unauthorized | ErrorClass::Forbidden) || error.doubts_identifier();
    if parts > 1 && part.write != Write::Entry && !retriable && !concerns_all {
        // Which part was to blame is not documented: smaller batches tell.
        if let Some(member) = snapshot.members.get_mut(&part.member) {
            member.progress.refused_in = Some(parts);
        }
        return;
    }
    let Some(member) = snapshot.members.get_mut(&part.member) else { return };
    member.progress.create_refused = matches!(part.write, Write::Create(_)) && !error.may_have_happened();
    member.progress.delete_refused = matches!(part.write, Write::Delete(_)) && !error.may_have_happened();
    match (&part.write, class) {
        (Write::Delete(external), ErrorClass::NotFound) => deleted(member, external, Timestamp::UNIX_EPOCH),
        (Write::Delete(_), _)
            if error.doubts_identifier()
                && member.progress.hidden.is_none()
                && member.kind.routes.absent_is_forbidden =>
        {
            member.progress.hidden = Some(hold_from_refusal(member, part, error, Some(&way_out())));
            member.found = Observed::Unread;
        }
        (Write::Update(..), ErrorClass::NotFound) => member.live = Observed::Unread,
        (Write::Create(_), ErrorClass::AlreadyExists) if member.progress.exists.is_none() => {
            member.progress.exists = Some(error.text());
            member.found = Observed::Unread;
        }
        _ => {
            let awaited = awaited(member, &part.write).filter(|_| class == ErrorClass::Invalid);
            let advice = match awaited {
                Some(needed) => Some(format!("it may need {needed}, so it is tried again")),
                None if matches!(part.write, Write::Delete(_)) && error.doubts_identifier() => {
                    Some(way_out())
                }
                None => None,
            };
            let mut hold = hold_from_refusal(member, part, error, advice.as_deref());
            if awaited.is_some() {
                hold.reason = Reason::APIError;
            }
            if error.exceeds_quota() {
                hold.retry_after = Some(limits::QUOTA_RECHECK);
                snapshot.memory.full = true;
            }
            member.progress.hold = Some(hold);
            let generation = member.object.metadata.generation;
            if !retriable && !concerns_all {
                snapshot.memory.quarantine.insert(part.member.clone(), generation);
            }
        }
    }
}

/// What a refused create may be waiting for.
fn awaited(member: &Member, write: &Write) -> Option<&'static str> {
    let desired = member.desired.get()?.as_ref().ok().filter(|_| matches!(write, Write::Create(_)))?;
    (member.kind.hooks.awaits)(&desired.canonical)
}

fn unanswered(snapshot: &mut Snapshot, part: &Part, outcome: &Outcome, now: Timestamp) {
    let Some(member) = snapshot.members.get_mut(&part.member) else { return };
    let doing = part.write.doing();
    let hold = match outcome {
        Outcome::NotSent(cause) => {
            member.progress.create_refused = matches!(part.write, Write::Create(_));
            member.progress.delete_refused = matches!(part.write, Write::Delete(_));
            Hold::from_cause(cause, &doing)
        }
        Outcome::Unknown(cause) => {
            snapshot.memory.written.insert(part.member.clone(), now);
            Hold::from_cause(cause, &doing)
        }
        _ => Hold::new(Reason::InternalError, "the answer does not fit the request"),
    };
    member.progress.hold = Some(hold);
}
