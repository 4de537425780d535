//! From what changed to who is looked at: the unit of a member, and whom a change wakes.
//! Reads the caches and fills the queue; starts nothing.

use std::collections::BTreeSet;

use cf_api::budget::Class;
use kinds::Key;
use kinds::table::Grouping;
use plan::{MemberId, UnitKey};
use tokio::time::Instant;

use crate::cache::{Cache, Change};
use crate::limits::CHAIN_MAX;
use crate::queue::Queue;

/// The unit that a member belongs to now. It moves when its parent gets an external ID.
#[must_use]
pub fn unit_of(cache: &Cache, member: &MemberId) -> UnitKey {
    let alone = || UnitKey::Object(member.clone());
    let Some(kind) = kinds::kind(member.kind) else { return alone() };
    let grouped = match kind.grouping {
        Grouping::Object => None,
        Grouping::ParentList | Grouping::ParentDocument => kind.parent(),
    };
    let parent = grouped.and_then(|parent| {
        let (kind, key) = cache.references(member).iter().find(|(kind, _)| *kind == parent.kind)?;
        cache.external_id(kind, key)
    });
    parent.map_or_else(alone, |id| UnitKey::Children { kind: kind.name, parent: id.to_owned() })
}

/// The first of a member's ancestors that is not in order and about to be looked at: what it will show decides what
/// the member can do, so that a look before would only report that it waits.
#[must_use]
pub fn awaited_ancestor(cache: &Cache, queue: &Queue, member: &MemberId) -> Option<MemberId> {
    let mut above: Vec<MemberId> = references(cache, member).collect();
    for _ in 0..CHAIN_MAX {
        let busy = above.iter().find(|parent| !cache.is_ready(parent) && queue.is_busy(parent));
        if let Some(busy) = busy {
            return Some(busy.clone());
        }
        above = above.iter().flat_map(|parent| references(cache, parent)).collect();
    }
    None
}

/// The object above a member that holds its token.
#[must_use]
pub fn account_above(cache: &Cache, member: &MemberId) -> Option<MemberId> {
    let holds_token = |above: &MemberId| kinds::kind(above.kind).is_some_and(|kind| kind.secret.is_some());
    let mut above: Vec<MemberId> = references(cache, member).collect();
    for _ in 0..CHAIN_MAX {
        if let Some(account) = above.iter().find(|above| holds_token(above)) {
            return Some(account.clone());
        }
        above = above.iter().flat_map(|parent| references(cache, parent)).collect();
    }
    None
}

fn references<'c>(cache: &'c Cache, member: &MemberId) -> impl Iterator<Item = MemberId> + use<'c> {
    cache.references(member).iter().map(|(kind, key)| MemberId { kind, key: key.clone() })
}

/// Queues whoever has to look at a change. `awaited` says that the object itself waits for any event after a
/// conflict. Returns how many members became due.
pub fn route(cache: &Cache, queue: &mut Queue, change: &Change, awaited: bool, now: Instant) -> usize {
    let mut woken = BTreeSet::new();
    if (change.foreign || awaited) && change.after.is_some() {
        woken.insert(change.member.clone());
    }
    let visible = |seen: &Option<crate::cache::Seen>| seen.as_ref().map(|seen| seen.visible);
    if visible(&change.before) != visible(&change.after) {
        below(cache, &change.member, &mut woken);
        // What this one did to the object the others have not seen yet: a zone's plan, say.
        woken.extend(peers(cache, &change.member));
    }
    let claimed = change.before.as_ref().and_then(|seen| seen.claim.as_ref());
    let claims = change.after.as_ref().and_then(|seen| seen.claim.as_ref());
    let lets_go = claimed.is_some() && claimed != claims;
    for seen in change.before.iter().filter(|_| change.after.is_none() || lets_go) {
        for (kind, key) in &seen.references {
            let parent = MemberId { kind, key: key.clone() };
            // Siblings that want what is now free, and a parent whose deletion waited for this one. One that stays has
            // nothing to look at, though thousands go.
            for beside in peers(cache, &parent).chain([parent.clone()]) {
                woken.extend(cache.unready_children(beside.kind, &beside.key).cloned());
            }
            woken.extend(cache.is_going(&parent).then_some(parent));
        }
    }
    if let (Some(before), Some(after)) = (&change.before, &change.after)
        && after.claim.is_some()
        && (&before.claim, before.obeyed) != (&after.claim, after.obeyed)
    {
        // Something was made or changed in Cloudflare: it may be what another one looks for, or free what that one wants.
        woken.extend(cache.at_odds(change.member.kind, after.wants));
    }
    if change.after.is_none() {
        queue.forget(&change.member, now);
        woken.remove(&change.member);
    }
    wake(cache, queue, woken, now)
}

/// Who stands for the same object in Cloudflare: what lies below one of them lies beside what lies below the others.
fn peers(cache: &Cache, member: &MemberId) -> impl Iterator<Item = MemberId> + use<> {
    let external = cache.external_id(member.kind, &member.key);
    let claims = cache.claims(member.kind, external).into_values().flatten();
    let this = member.clone();
    claims.map(|claim| claim.member).filter(move |other| *other != this)
}

/// A token Secret changed: its accounts look at it, and everything below them that is not in order.
pub fn secret_changed(cache: &Cache, queue: &mut Queue, secret: &Key, now: Instant) -> usize {
    let mut woken: BTreeSet<MemberId> = cache.users_of_secret(secret).cloned().collect();
    for account in woken.clone() {
        unready_below(cache, &account, &mut woken);
    }
    wake(cache, queue, woken, now)
}

/// A namespace's labels changed: accounts may allow it now, or no longer (contract K3).
pub fn namespace_changed(cache: &Cache, queue: &mut Queue, namespace: &str, now: Instant) -> usize {
    let woken = cache.in_namespace(namespace).collect();
    wake(cache, queue, woken, now)
}

/// Queues a member because of a user's change.
pub fn wake(cache: &Cache, queue: &mut Queue, members: BTreeSet<MemberId>, now: Instant) -> usize {
    let add = |member: MemberId| queue.add(&unit_of(cache, &member), member, Class::User, now);
    members.into_iter().map(add).filter(|added| *added).count()
}

/// Direct children always; what lies deeper sees only its own parent, but may wait for a token that now works.
fn below(cache: &Cache, parent: &MemberId, woken: &mut BTreeSet<MemberId>) {
    woken.extend(cache.children(parent.kind, &parent.key).cloned());
    unready_below(cache, parent, woken);
}

fn unready_below(cache: &Cache, parent: &MemberId, woken: &mut BTreeSet<MemberId>) {
    let mut parents = vec![parent.clone()];
    let mut passed = BTreeSet::new();
    while let Some(parent) = parents.pop() {
        for child in cache.children(parent.kind, &parent.key) {
            if passed.insert(child.clone()) {
                parents.push(child.clone());
                if !cache.is_ready(child) {
                    woken.insert(child.clone());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
