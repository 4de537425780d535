//! Objects that several resources may stand for: two Zones, in two namespaces, of one zone. Each may have others below it,
//! so the object goes with the last of them (docs/adr/0010-a-shared-zone-goes-last.md).
//! Says who has to wait for whom and whose word counts; the delete itself, and its proof, are for `deletion`.

use kinds::{Reason, names};

use crate::act::FieldDiff;
use crate::context;
use crate::deletion::listed;
use crate::hold::Hold;
use crate::policy::{self, Deletion};
use crate::snapshot::{Lookup, Member};
use crate::unit::MemberId;

/// Whose it is to delete the object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    /// This member's, now.
    Mine,
    /// Another one's, which is being deleted too and waits for this one to go.
    Others,
}

/// Whether a deleting member that is to take its object away may do so.
pub(crate) fn share(id: &MemberId, member: &Member, default: Deletion) -> Result<Share, Hold> {
    let mut waits = Vec::new();
    for (other, sharer) in &member.sharers {
        // One that cannot be read may stand for it (V3).
        let Some(sharer) = sharer.found() else {
            waits.push(other.to_string());
            continue;
        };
        if !stands_for_it(member, sharer) {
            continue;
        }
        let takes_it = sharer.object.is_deleting()
            && sharer.object.has_finalizer()
            && policy::keeps_object(sharer.kind, &sharer.object, default) == Ok(false);
        if takes_it && order(other, sharer) < order(id, member) {
            return Ok(Share::Others);
        }
        if takes_it || !sharer.object.is_deleting() || !sharer.dependents.is_empty() {
            waits.push(other.to_string());
        }
    }
    if waits.is_empty() {
        return Ok(Share::Mine);
    }
    let (waits, policy, kind) = (listed(&waits), names::DELETION_POLICY, member.kind.name);
    let message = format!(
        "waiting for {waits}: one {kind} in Cloudflare serves them all and goes with the last; annotate this one with \
         {policy}: retain to let it go now and leave the {kind} to the others"
    );
    Err(Hold::new(Reason::InUse, message))
}

/// Two that want the object different would change it back and forth for ever, and each change of a plan is billed. What the
/// oldest says is so; whoever says otherwise has to wait until they agree.
pub(crate) fn agreed(id: &MemberId, member: &Member, diffs: &[FieldDiff]) -> Result<(), Hold> {
    let sharers = member.sharers.iter().filter_map(|(other, sharer)| Some((other, sharer.found()?)));
    let external = member.kind.external_id(&member.object);
    let older = sharers.filter(|(other, sharer)| {
        let object = &sharer.object;
        let named = [sharer.kind.external_id(object), object.status_str(sharer.kind.identity.status)];
        named.contains(&external)
            && !object.is_deleting()
            && stands_for_it(member, sharer)
            && order(other, sharer) < order(id, member)
    });
    for (other, sharer) in older {
        let says = |diff: &&FieldDiff| {
            let said = sharer.object.spec.get(diff.field).filter(|said| !said.is_null());
            said.is_some_and(|said| Some(said) != member.object.spec.get(diff.field))
        };
        if let Some(diff) = diffs.iter().find(says) {
            let (field, said) = (diff.field, &sharer.object.spec[diff.field]);
            let message = format!(
                "{other} stands for the same object, is older and says spec.{field}: {said}: let both say the same, or \
                 leave {field} out here"
            );
            return Err(Hold::new(member.kind.identity.conflict, message));
        }
    }
    Ok(())
}

/// Of several that are to delete the object, the first does; it does so when the others are gone, since a second
/// delete would be refused.
fn order<'m>(id: &'m MemberId, member: &Member) -> (Option<jiff::Timestamp>, &'m MemberId) {
    (member.object.metadata.creation_timestamp, id)
}

/// True unless it is known to stand for nothing: its account is gone or another one, or all that names the object is a
/// label in a namespace that may not use the account, where a label proves nothing (contract K11, K14).
fn stands_for_it(member: &Member, sharer: &Member) -> bool {
    let account = match &sharer.account {
        Lookup::Found(account) => account,
        Lookup::Missing => return false,
        Lookup::Unread | Lookup::Unknown(_) => return true,
    };
    let ours = member.account.found().and_then(|account| context::account_id(account));
    let is_ours = context::account_id(account).is_none_or(|theirs| ours.is_none_or(|ours| ours == theirs));
    let shared = member.kind.external_id(&member.object);
    let is_recorded = shared.is_some() && sharer.object.status_str(sharer.kind.identity.status) == shared;
    let is_barred = || matches!(context::allowed(sharer, account), Err(hold) if hold.reason == Reason::NamespaceNotAllowed);
    is_ours && (is_recorded || !is_barred())
}
