//! What the adoption policy makes of objects that exist with a member's key: whose they are, and which to take over.
//! The policy's values are parsed in `policy`; what follows an adoption is the ordinary lifecycle.

use cf_api::error::Class as ErrorClass;
use kinds::{Reason, names};
use serde_json::Value;

use crate::context::{Context, Desired};
use crate::hold::Hold;
use crate::lag;
use crate::lifecycle::{Step, conflict, not_anothers};
use crate::patches::adopt;
use crate::policy::{self, Adoption};
use crate::read::{can_be_id, full_key, is_below, loose_key};
use crate::refusal::hold_from_fault;
use crate::snapshot::{Marked, Member, Observed, ReadFault, Snapshot, holder};
use crate::unit::MemberId;

/// What an ID looks like, for messages.
const ID_EXAMPLE: &str = "023e105f4ecef8ad9ca31a8372d0c353";

/// The object that the status names, when the label names one that does not exist: people edit labels.
pub(crate) fn recorded<'m>(
    snapshot: &Snapshot,
    id: &MemberId,
    member: &'m Member,
    candidates: &[Value],
) -> Option<&'m str> {
    let external = member.object.status_str(member.kind.identity.status)?;
    let wire = member.kind.identity.wire;
    let is_it = |object: &Value| object.pointer(wire).and_then(Value::as_str) == Some(external);
    let is_free = || not_anothers(snapshot, id, external).is_ok();
    (candidates.iter().any(is_it) && is_free()).then_some(external)
}

/// What the adoption policy makes of the objects with the member's key; `None` when it is to create one.
pub(crate) fn take_over(
    snapshot: &Snapshot,
    id: &MemberId,
    member: &Member,
    context: &Context<'_>,
    desired: &Desired,
    candidates: &[Value],
) -> Result<Option<Step>, Hold> {
    let key_of = |object: &Value| full_key(member, object, &context.parents);
    let claimant = |object: &Value| {
        let external = object.pointer(member.kind.identity.wire).and_then(Value::as_str)?;
        let claims = member.kind.identity.claims.then_some(&snapshot.claims)?;
        claims.get(external).and_then(|claims| holder(claims)).filter(|other| *other != id)
    };
    if let Some(other) = candidates.iter().filter(|object| key_of(object) == desired.key).find_map(claimant) {
        return Err(conflict(snapshot, id, other));
    }
    if let Some(other) = snapshot.memory.made.get(&desired.key).filter(|other| *other != id) {
        return Err(conflict(snapshot, id, other));
    }
    let adoption = policy::adoption(&member.object)?;
    let step = if let Some(external) = member.object.annotation(names::ADOPT_ID) {
        not_anothers(snapshot, id, external)?;
        adopt_named(member, context, desired, external, adoption)?
    } else {
        let free: Vec<&Value> = candidates.iter().filter(|object| claimant(object).is_none()).collect();
        if free.is_empty() && member.progress.exists.is_some() {
            shown_late(snapshot, id, member)?;
        }
        let step = adopt_by_key(member, desired, &free, &key_of, adoption);
        step.map_err(|hold| names_sharer(snapshot, id, member, &free, hold))?
    };
    if step.is_none() && adoption == Adoption::Adopt {
        return Err(Hold::new(
            Reason::NotFound,
            format!("there is no {} to adopt with {}", member.kind.name, desired.key),
        ));
    }
    Ok(step)
}

/// Where resources may share an object (two Zones of one domain), the one that made it is named: it is no stranger's.
fn names_sharer(
    snapshot: &Snapshot,
    id: &MemberId,
    member: &Member,
    free: &[&Value],
    mut hold: Hold,
) -> Hold {
    let holders = free.iter().filter_map(|object| {
        let external = object.pointer(member.kind.identity.wire).and_then(Value::as_str)?;
        snapshot.claims.get(external).and_then(|claims| holder(claims)).filter(|other| *other != id)
    });
    if let (Reason::AlreadyExists, Some(other)) = (hold.reason, holders.into_iter().next()) {
        hold.message = format!(
            "{other} manages it already; remove one of the two, or annotate this one with {}: adopt to share it",
            names::ADOPTION_POLICY
        );
    }
    hold
}

/// Cloudflare says that the object exists and does not show it. An attempt of ours a moment ago may have made it, or one
/// of the process before that left its mark, which a read that lags behind does not show yet: then it is looked for
/// again. The memory of it ends with that lag, so that what is really in the way is soon reported.
fn shown_late(snapshot: &Snapshot, id: &MemberId, member: &Member) -> Result<(), Hold> {
    let (Observed::Seen(_, began) | Observed::Absent(began)) = member.found else { return Ok(()) };
    let by_us = snapshot.memory.written.contains_key(id);
    let by_another = member.progress.marked == Some(Marked::Again);
    if !(by_us || by_another) || !lag::may_lag(&snapshot.memory, id, began) {
        return Ok(());
    }
    let text = member.progress.exists.as_deref().unwrap_or_default();
    Err(Hold::new(Reason::APIError, format!("the object exists and is not shown yet: {text}")))
}

/// Contract K13: `adopt-id` names the object whatever its key's loose part.
fn adopt_named(
    member: &Member,
    context: &Context<'_>,
    desired: &Desired,
    external: &str,
    adoption: Adoption,
) -> Result<Option<Step>, Hold> {
    match &member.live {
        Observed::Seen(live, _) if !is_below(member, live, context.parent) => {
            let parent = member.kind.parent().map_or("parent", |parent| parent.kind);
            Err(Hold::new(
                Reason::AdoptionMismatch,
                format!(
                    "the object {external} belongs to another {parent} than the spec names; correct annotation {}",
                    names::ADOPT_ID
                ),
            ))
        }
        Observed::Seen(live, _) => {
            let loose = loose_key(member, live, &context.parents);
            if loose == desired.loose_key {
                return Ok(Some(adopt(member, external)));
            }
            Err(Hold::new(
                Reason::AdoptionMismatch,
                format!("the object {external} is {loose}, but the spec says {}", desired.loose_key),
            ))
        }
        Observed::Absent(_) if adoption == Adoption::AdoptOrCreate => Ok(None),
        Observed::Absent(_) => Err(Hold::new(
            Reason::NotFound,
            format!("annotation {} names {external}, which does not exist", names::ADOPT_ID),
        )),
        Observed::Unread if !can_be_id(external) => Err(Hold::new(
            Reason::InvalidSpec,
            format!(
                "annotation {} is {external:?}, which cannot be an ID of Cloudflare's: write one such as {ID_EXAMPLE}",
                names::ADOPT_ID
            ),
        )),
        Observed::Unread => Ok(Some(Step::Reading)),
        Observed::Failed(ReadFault::Api(error)) if error.class() == ErrorClass::Invalid => Err(Hold::new(
            Reason::NotFound,
            format!("annotation {} names {external:?}: {}", names::ADOPT_ID, error.text()),
        )),
        Observed::Failed(fault) => Err(hold_from_fault(member, fault, "read the object to adopt")),
    }
}

fn adopt_by_key(
    member: &Member,
    desired: &Desired,
    free: &[&Value],
    key_of: &dyn Fn(&Value) -> String,
    adoption: Adoption,
) -> Result<Option<Step>, Hold> {
    let id_of =
        |object: &Value| object.pointer(member.kind.identity.wire).and_then(Value::as_str).map(str::to_owned);
    let exact: Vec<String> =
        free.iter().filter(|o| key_of(o) == desired.key).filter_map(|o| id_of(o)).collect();
    if adoption == Adoption::Never {
        return match (exact.first(), &member.progress.exists) {
            (Some(external), _) => Err(already_exists(member, external)),
            (None, Some(text)) if free.is_empty() => Err(Hold::new(
                Reason::AlreadyExists,
                format!(
                    "an object of another type, or one that this token is not shown, is in the way; remove it, or change this one: {text}"
                ),
            )),
            (None, Some(_)) => Err(already_exists(
                member,
                &free.iter().filter_map(|o| id_of(o)).collect::<Vec<_>>().join(", "),
            )),
            (None, None) => Ok(None),
        };
    }
    let candidates = if exact.is_empty() { free.iter().filter_map(|o| id_of(o)).collect() } else { exact };
    match candidates.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(adopt(member, one))),
        several => Err(Hold::new(
            Reason::AdoptionAmbiguous,
            format!("{} could be adopted; name one in annotation {}", several.join(", "), names::ADOPT_ID),
        )),
    }
}

fn already_exists(member: &Member, external: &str) -> Hold {
    Hold::new(
        Reason::AlreadyExists,
        format!(
            "{external} exists with this key and kflare did not create it; annotate the {} with {}: adopt to take it over",
            member.kind.name,
            names::ADOPTION_POLICY
        ),
    )
}
