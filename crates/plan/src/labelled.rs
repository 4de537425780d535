//! What nothing but a label names (docs/adr/0008-label-before-status.md): people edit labels, and copy them with manifests.
//! Says what such a label proves; what is done about it is for `lifecycle` and `deletion`.

use kinds::Reason;
use serde_json::Value;

use crate::context::{self, Context, Desired};
use crate::hold::Hold;
use crate::read::{can_be_id, is_below, loose_key, reading_context};
use crate::snapshot::Member;

/// A label is written by people, too, and copied with manifests: what only a label names is nobody's before it was seen
/// to be what the spec says, as far as that cannot change.
pub(crate) fn is_its_own(
    member: &Member,
    context: &Context<'_>,
    desired: &Desired,
    live: &Value,
    external: &str,
) -> Result<(), Hold> {
    let is = loose_key(member, live, &context.parents);
    if is == desired.loose_key && is_below(member, live, context.parent) {
        return Ok(());
    }
    let label = member.kind.identity.label.unwrap_or_default();
    let message = format!(
        "label {label} names {external}, which is {is}, but the spec says {}: nothing is written; remove the label",
        desired.loose_key
    );
    Err(Hold::new(Reason::AdoptionMismatch, message))
}

/// A label that names nothing which could be an object leads to nothing: what it spells may be a route.
pub(crate) fn is_an_id(member: &Member, external: &str) -> Result<(), Hold> {
    if can_be_id(external) || !member.kind.only_labelled(&member.object, external) {
        return Ok(());
    }
    let label = member.kind.identity.label.unwrap_or_default();
    let message =
        format!("label {label} is {external:?}, which cannot be an ID of Cloudflare's: remove the label");
    Err(Hold::new(Reason::AdoptionMismatch, message))
}

/// True unless the object differs from the spec in what neither can change. A spec that says nothing sensible contradicts
/// nothing.
pub(crate) fn is_as_specified(member: &Member, live: &Value) -> bool {
    let Ok(context) = reading_context(member) else { return false };
    let is_same = |desired: &Desired| loose_key(member, live, &context.parents) == desired.loose_key;
    is_below(member, live, context.parent) && context::desired(member, &context).map_or(true, is_same)
}

/// The object of a deleting member that has to be looked at before anything is done to it: nothing but its label names it.
pub(crate) fn doubtful(member: &Member) -> Option<&str> {
    let external = member.kind.external_id(&member.object)?;
    let counts = context::is_barred(member) == Ok(false) && !member.progress.deleted;
    (counts && member.kind.only_labelled(&member.object, external)).then_some(external)
}
