//! What comes next for a resource that is being deleted: wait for dependents, then delete, keep or leave the object,
//! then let the resource go. Each delete carries its proof (V4).

use cf_api::error::Class as ErrorClass;
use jiff::Timestamp;
use kinds::table::Lifecycle;
use kinds::{Reason, names};
use serde_json::json;

use crate::act::{Proof, Write};
use crate::context::{self, Context, Teardown};
use crate::creating::Mark;
use crate::hold::Hold;
use crate::lifecycle::{Step, await_mark, delete, proof_of, twins};
use crate::patches::patch;
use crate::read::can_be_id;
use crate::refusal::hold_from_fault;
use crate::sharing::{self, Share};
use crate::snapshot::{Member, Observed, ReadFault, Snapshot, holder};
use crate::unit::MemberId;
use crate::{document, labelled, limits, policy, protection};

/// The next step of a deleting member.
pub(crate) fn step(
    snapshot: &Snapshot,
    id: &MemberId,
    member: &Member,
    now: Timestamp,
) -> Result<Step, Hold> {
    if !member.object.has_finalizer() {
        return Ok(Step::Ended);
    }
    if !member.dependents.is_empty() {
        return Err(Hold::new(Reason::InUse, format!("waiting for {}", listed(&member.dependents))));
    }
    if member.kind.lifecycle == Lifecycle::Observed {
        return Ok(protection::unprotect(member)?.unwrap_or_else(|| release(member)));
    }
    let context = match context::for_deletion(member) {
        Teardown::ParentGone => return Ok(release(member)),
        Teardown::Able(context) => Ok(context),
        Teardown::Held(hold) => Err(hold),
    };
    if policy::keeps_object(member.kind, &member.object, snapshot.deletion_default)? {
        return Ok(release(member));
    }
    if sharing::share(id, member, snapshot.deletion_default)? == Share::Others {
        return Ok(release(member));
    }
    if let Some(document) = member.kind.routes.document {
        return match document::wish(snapshot, id, member, &context?, &document, None)? {
            Step::Done => Ok(release(member)),
            step => Ok(step),
        };
    }
    let (owned, mark) = match named(member)? {
        Named::By(owned, mark) => (owned, mark),
        // Without a token nothing can be looked at, which is what the user has to hear.
        Named::Unread => return context.map(|_| Step::Reading),
    };
    if owned.is_none() && mark.is_none() {
        return Ok(release(member));
    }
    let context = context?;
    match (owned, mark) {
        (Some(external), _) if !member.progress.deleted => match &member.progress.hidden {
            None => Ok(delete_owned(snapshot, id, member, &context, &external)),
            Some(hold) => hidden(member, &external, hold),
        },
        (owned, Some(mark)) if !is_last(member, &context, &mark, owned.as_deref()) => {
            delete_marked(snapshot, id, member, &context, &mark, now)
        }
        _ => Ok(release(member)),
    }
}

/// What names the object of a deleting member.
enum Named {
    /// This ID, if any, and this mark.
    By(Option<String>, Option<Mark>),
    /// What the label or the status names has to be looked at first.
    Unread,
}

/// What names the object of a deleting member. Outside the allowed namespaces only its status does: people write labels
/// and annotations, and could name with them what they may not touch (contract K14). Elsewhere a label alone names what is
/// as the spec says, as far as that cannot change; a status, where that is the whole key, too.
fn named(member: &Member) -> Result<Named, Hold> {
    let recorded = member.object.status_str(member.kind.identity.status).map(str::to_owned);
    let claimed = member.kind.external_id(&member.object).map(str::to_owned);
    let mark = Mark::of(&member.object);
    let doubtful = labelled::doubtful(member);
    let is_seen_first = member.kind.identity.fixed_key && claimed.is_some() && !member.progress.deleted;
    if recorded == claimed && mark.is_none() && doubtful.is_none() && !is_seen_first {
        return Ok(Named::By(claimed, None));
    }
    if context::is_barred(member)? {
        return by_status(member, recorded, None);
    }
    let Some(external) = doubtful else { return Ok(Named::By(claimed, mark)) };
    if recorded.as_deref() == Some(external) {
        return Ok(if may_go(member, &member.live, external)? {
            Named::By(claimed, mark)
        } else {
            Named::Unread
        });
    }
    match &member.live {
        _ if labelled::is_an_id(member, external).is_err() => by_status(member, recorded, mark),
        Observed::Unread => Ok(Named::Unread),
        Observed::Seen(live, _) if labelled::is_as_specified(member, live) => Ok(Named::By(claimed, mark)),
        Observed::Failed(fault) if recorded.is_none() => {
            let what = format!("read the object {external:?} that the label names");
            Err(hold_from_fault(member, fault, &what))
        }
        // What the label names is somebody else's, or nothing, or not to be seen: what the status records still counts.
        Observed::Seen(..) | Observed::Absent(_) | Observed::Failed(_) => by_status(member, recorded, mark),
    }
}

/// What only the status names. Where its key shows whether it is another's, it is looked at itself before it goes.
fn by_status(member: &Member, recorded: Option<String>, mark: Option<Mark>) -> Result<Named, Hold> {
    let is_seen_first = member.kind.identity.fixed_key && !member.progress.deleted;
    if let Some(external) = recorded.as_deref().filter(|_| is_seen_first)
        && !may_go(member, &member.recorded, external)?
    {
        return Ok(Named::Unread);
    }
    Ok(Named::By(recorded, mark))
}

/// Whether the object that the status records was seen to be as the spec says; false until it was looked at.
fn may_go(member: &Member, look: &Observed<serde_json::Value>, external: &str) -> Result<bool, Hold> {
    match look {
        // What can be no ID names nothing; the delete says so.
        _ if !can_be_id(external) => Ok(true),
        Observed::Unread => Ok(false),
        Observed::Seen(live, _) if labelled::is_as_specified(member, live) => Ok(true),
        Observed::Seen(live, _) => Err(labelled::anothers(member, live, external)),
        Observed::Absent(_) => Ok(true),
        // It was looked at before a delete that was never answered: another tells what is gone from what is hidden.
        Observed::Failed(ReadFault::Api(error))
            if error.class() == ErrorClass::Forbidden
                && member.object.annotation(names::DELETING) == Some(external) =>
        {
            Ok(true)
        }
        Observed::Failed(fault) => {
            Err(hold_from_fault(member, fault, &format!("look at {external} before it is deleted")))
        }
    }
}

/// The ID that the status records, where its object has to be looked at and what the label names does not count.
pub(crate) fn to_look_at(member: &Member) -> Option<&str> {
    let waits = matches!(named(member), Ok(Named::Unread));
    member.object.status_str(member.kind.identity.status).filter(|external| waits && can_be_id(external))
}

/// True when the delete that was carried out took the object of the mark with it: the one that the claim names, of a
/// key of which Cloudflare holds one at most. An ID that only the status names is of an object before the mark.
fn is_last(member: &Member, context: &Context<'_>, mark: &Mark, owned: Option<&str>) -> bool {
    let label = member.kind.identity.label.and_then(|label| member.object.label(label));
    let of_mark = owned.is_none() || label.is_some() && label == owned;
    member.progress.deleted
        && of_mark
        && context::desired(member, context).is_ok_and(|desired| mark.is_harmless(desired))
}

/// A claim that another resource holds by right proves nothing for this one.
fn delete_owned(
    snapshot: &Snapshot,
    id: &MemberId,
    member: &Member,
    context: &Context<'_>,
    external: &str,
) -> Step {
    let claims = snapshot.claims.get(external).filter(|_| member.kind.identity.claims);
    if claims.and_then(|claims| holder(claims)).is_some_and(|other| other != id) {
        return release(member);
    }
    if member.kind.routes.absent_is_forbidden && member.object.annotation(names::DELETING) != Some(external) {
        return mark_deleting(member, external);
    }
    delete(member, context, external, proof_of(member, external))
}

/// Notes that the delete is about to be sent. Once the object is gone Cloudflare answers as if it were forbidden, and
/// only this note tells a process that comes after which of the two it is.
fn mark_deleting(member: &Member, external: &str) -> Step {
    let body = json!({"metadata": {
        "resourceVersion": member.object.metadata.resource_version,
        "annotations": {names::DELETING: external},
    }});
    Step::Kubernetes(Write::MarkDeleting, patch(member, body))
}

pub(crate) fn unmark_deleting(member: &Member) -> Step {
    let body = json!({"metadata": {"annotations": {names::DELETING: null}}});
    Step::Kubernetes(Write::Unmark, patch(member, body))
}

/// Cloudflare refused the delete in words that fit an object that is gone as well as one that the token may not see.
/// An earlier delete of ours that was sent and never answered, and a look-up by name that does not show the object, prove
/// together that it is gone. A first delete that is refused proves nothing, nor does a token that Cloudflare may not know
/// everywhere yet: nothing is forgotten because of a 403 (contract K16).
fn hidden(member: &Member, external: &str, hold: &Hold) -> Result<Step, Hold> {
    if member.progress.marked_deleting {
        let noted = member.object.annotation(names::DELETING).is_some();
        return if noted { Ok(unmark_deleting(member)) } else { Err(hold.clone()) };
    }
    let is_it = |object: &serde_json::Value| {
        object.pointer(member.kind.identity.wire).and_then(serde_json::Value::as_str) == Some(external)
    };
    match &member.found {
        _ if member.is_young => Err(hold.clone()),
        Observed::Unread => Ok(Step::Reading),
        Observed::Absent(_) => Ok(release(member)),
        Observed::Seen(found, _) if !found.iter().any(is_it) => Ok(release(member)),
        Observed::Seen(..) | Observed::Failed(_) => Err(hold.clone()),
    }
}

/// No ID was ever recorded, but a create may have been carried out: look, and look again once nothing can land.
fn delete_marked(
    snapshot: &Snapshot,
    id: &MemberId,
    member: &Member,
    context: &Context<'_>,
    mark: &Mark,
    now: Timestamp,
) -> Result<Step, Hold> {
    let began = match &member.found {
        Observed::Unread => return Ok(Step::Reading),
        Observed::Failed(fault) => {
            return Err(hold_from_fault(member, fault, "look for the object to delete"));
        }
        Observed::Absent(began) => *began,
        Observed::Seen(found, began) => {
            if let Some(own) = twins(snapshot, id, member, found, mark, context).next() {
                return Ok(delete(member, context, &own, Proof::CreatingMark(own.clone())));
            }
            *began
        }
    };
    if mark.is_over(began) { Ok(release(member)) } else { await_mark(member, mark, now) }
}

/// Takes our finalizer off. Conditional, since a merge patch replaces the whole list.
fn release(member: &Member) -> Step {
    let others: Vec<&String> =
        member.object.metadata.finalizers.iter().filter(|finalizer| *finalizer != names::FINALIZER).collect();
    let body = json!({"metadata": {
        "resourceVersion": member.object.metadata.resource_version,
        "finalizers": if others.is_empty() { serde_json::Value::Null } else { json!(others) },
    }});
    Step::Kubernetes(Write::Release, patch(member, body))
}

/// Names for a message, however many there are.
pub(crate) fn listed(names: &[String]) -> String {
    let shown = names.iter().take(limits::NAMES_SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(limits::NAMES_SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
