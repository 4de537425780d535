//! What nothing but a label names, and what cannot be what the spec says whatever names it
//! (docs/adr/0008-label-before-status.md): people edit labels and statuses, and copy labels with manifests.
//! Says what a name proves; what is done about it is for `lifecycle` and `deletion`.

use kinds::{Reason, names};
use serde_json::Value;

use crate::context::{self, Context, Desired};
use crate::hold::Hold;
use crate::read::{can_be_id, is_below, loose_key, reading_context};
use crate::snapshot::Member;

/// A label is written by people, too, and copied with manifests: what only a label names is nobody's before it was seen
/// to be what the spec says, as far as that cannot change. What the status names must be so where that is the whole key.
pub(crate) fn is_its_own(
    member: &Member,
    context: &Context<'_>,
    desired: &Desired,
    live: &Value,
    external: &str,
) -> Result<(), Hold> {
    if !may_mislead(member, external) {
        return Ok(());
    }
    let is = loose_key(member, live, &context.parents);
    if is == desired.loose_key && is_below(member, live, context.parent) {
        return Ok(());
    }
    if !member.kind.only_labelled(&member.object, external) {
        return Err(anothers(member, live, external));
    }
    let label = member.kind.identity.label.unwrap_or_default();
    let message = format!(
        "label {label} names {external}, which is {is}, but the spec says {}: nothing is written; remove the label",
        desired.loose_key
    );
    Err(Hold::new(Reason::AdoptionMismatch, message))
}

/// The object that the status records is another's, as its key shows.
pub(crate) fn anothers(member: &Member, live: &Value, external: &str) -> Hold {
    let field = member.kind.identity.status.replace('/', ".");
    let is = reading_context(member).map(|context| loose_key(member, live, &context.parents));
    let message = format!(
        "status{field} records {external}, which is {} and not what the spec says: nothing is written or deleted; correct \
         it, or annotate the resource with {}: retain, with which it can be deleted",
        is.unwrap_or_default(),
        names::DELETION_POLICY
    );
    Hold::new(Reason::AdoptionMismatch, message)
}

/// Whether what names the object may have been edited into another's name, which its key would show.
fn may_mislead(member: &Member, external: &str) -> bool {
    member.kind.identity.fixed_key || member.kind.only_labelled(&member.object, external)
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

/// The object of a deleting member that has to be looked at before anything is done to it.
pub(crate) fn doubtful(member: &Member) -> Option<&str> {
    let external = member.kind.external_id(&member.object)?;
    let counts = context::is_barred(member) == Ok(false) && !member.progress.deleted;
    (counts && may_mislead(member, external)).then_some(external)
}
