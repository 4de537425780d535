//! How many objects a parent may still hold, asked before a batch of creates is spent on it: Cloudflare refuses a batch
//! as a whole, and does not say which of its parts was too many. A single create needs no question, since its refusal is
//! clear, but below a parent that is known to be full.

use std::collections::BTreeSet;

use cf_api::budget::Class;
use cf_api::request::Method;
use jiff::Timestamp;
use kinds::table::{Lifecycle, Usage};
use kinds::{Reason, names};
use serde_json::Value;

use crate::act::Write;
use crate::context;
use crate::hold::Hold;
use crate::lifecycle::{Step, step};
use crate::limits;
use crate::policy;
use crate::read::{Read, ReadAnswer, What, guarded, is_settled, reading_context, request};
use crate::snapshot::{Member, Observed, Snapshot};
use crate::unit::{MemberId, UnitKey};

/// Fewer creates than this ask for themselves.
const CREATES_MIN: usize = 2;

/// The question, when several members are about to create below one parent and nobody asked yet.
pub(crate) fn read(snapshot: &Snapshot) -> Option<Read> {
    if !matches!(snapshot.unit, UnitKey::Children { .. }) || snapshot.usage_asked {
        return None;
    }
    let mut creators = creators(snapshot);
    let (id, member) = creators.next()?;
    let usage = usage(member)?;
    if !snapshot.memory.full && 1 + creators.count() < CREATES_MIN {
        return None;
    }
    let context = reading_context(member).ok()?;
    Some(Read {
        cred: context.cred.clone(),
        members: vec![id.clone()],
        what: What::Usage,
        request: request(Method::Get, usage.path, context.parent, "")?,
        per_page: None,
        class: snapshot.members.values().map(|member| member.class).min().unwrap_or(Class::Drift),
    })
}

/// Folds the answer in: for whom there is no room is told to the members. Without an answer Cloudflare decides, write by
/// write.
pub(crate) fn fold(snapshot: &mut Snapshot, read: &Read, answer: &ReadAnswer, began: Timestamp) {
    snapshot.usage_asked = true;
    let usage = read.members.first().and_then(|id| usage(snapshot.members.get(id)?));
    let (Some(usage), ReadAnswer::One(answer)) = (usage, answer) else { return };
    let number = |pointer: &str| answer.pointer(pointer).and_then(Value::as_u64);
    let (Some(most), Some(held)) = (number(usage.most), number(usage.held)) else { return };
    let Next { going, creating } = next(snapshot, began);
    // Deletes of a batch are carried out before its creates.
    let room = usize::try_from(most.saturating_sub(held)).unwrap_or(usize::MAX).saturating_add(going);
    snapshot.memory.full = creating.len() > room;
    for id in creating.into_iter().skip(room) {
        if let Some(member) = snapshot.members.get_mut(&id) {
            member.progress.no_room = Some(most);
        }
    }
}

/// Why a member does not create.
pub(crate) fn hold(member: &Member) -> Option<Hold> {
    let most = member.progress.no_room?;
    let parent = member.kind.parent()?.kind;
    let message = format!(
        "there is no room: Cloudflare lets the {parent} hold {most} objects of this kind, and it does; delete some, or \
         change its plan"
    );
    let mut hold = Hold::new(Reason::TerminalError, message);
    hold.retry_after = Some(limits::QUOTA_RECHECK);
    Some(hold)
}

fn usage(member: &Member) -> Option<Usage> {
    member.kind.routes.batch?.usage
}

/// Members that may create next, as far as facts tell: when one of them does not after all, a read was spent.
fn creators(snapshot: &Snapshot) -> impl Iterator<Item = (&MemberId, &Member)> {
    snapshot.members.iter().filter(|(_, member)| creates(member))
}

fn creates(member: &Member) -> bool {
    let object = &member.object;
    let is_idle = is_settled(member) || policy::is_paused(object) || object.is_deleting();
    if is_idle || member.kind.lifecycle == Lifecycle::Observed || member.progress.marked.is_some() {
        return false;
    }
    let is_known = member.kind.external_id(object).is_some() || object.annotation(names::ADOPT_ID).is_some();
    if member.live.seen().is_some() || (is_known && !matches!(member.live, Observed::Absent(_))) {
        return false;
    }
    let Ok(context) = reading_context(member) else { return false };
    let Ok(desired) = context::desired(member, &context) else { return false };
    match member.found {
        Observed::Absent(_) => true,
        Observed::Unread => guarded(member, desired),
        Observed::Seen(..) | Observed::Failed(_) => false,
    }
}

/// What the members do next: how many objects go, and who creates one, in the order in which they come.
struct Next {
    going: usize,
    creating: Vec<MemberId>,
}

fn next(snapshot: &Snapshot, now: Timestamp) -> Next {
    let mut going = 0;
    let mut creating = Vec::new();
    for (id, member) in &snapshot.members {
        match step(snapshot, id, member, now) {
            Step::Cloudflare(_, planned) => {
                going += planned.iter().filter(|act| matches!(act.write, Write::Delete(_))).count();
            }
            Step::Kubernetes(Write::Prepare, _) => creating.push((id, member)),
            _ => {}
        }
    }
    creating.sort_by_key(|(id, member)| (member.class, member.object.metadata.creation_timestamp, *id));
    // Of several of one key the first creates at most.
    let mut keys = BTreeSet::new();
    creating.retain(|(_, member)| {
        let key = member.desired.get().and_then(|desired| Some(desired.as_ref().ok()?.key.as_str()));
        key.is_none_or(|key| keys.insert(key))
    });
    Next { going, creating: creating.into_iter().map(|(id, _)| id.clone()).collect() }
}
