//! Members whose token Cloudflare refuses: one per credential and kind tries again, the others follow (contract K16).
//! Says who tries and who follows; when, and what wakes them all besides, is the queue's and routing's.
//!
//! They take turns, one unit after the other: a token may have come to see one zone and not another.
//!
//! # Guarantees
//! - Whoever waits here waits for one that tries: when that one asks no more, another takes its place.
//! - An entry goes with its last member.

use std::collections::{BTreeMap, BTreeSet};

use plan::{CredId, MemberId};

/// What a pass heard about a member's token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Cloudflare refused it.
    Refused,
    /// Cloudflare answered, whatever it said about the object.
    Accepted,
    /// No answer yet: the member asks again by itself.
    Open,
    /// Nothing, and it will not ask: it is paused, or its spec cannot be turned into a request.
    Nothing,
}

#[derive(Debug)]
struct Waiting {
    probe: MemberId,
    followers: BTreeSet<MemberId>,
    tries: u64,
}

/// Who waits for which credential.
#[derive(Debug, Default)]
pub struct Refusals {
    waiting: BTreeMap<(CredId, &'static str), Waiting>,
}

impl Refusals {
    /// A member's token was refused. How often it was, if this is the member that tries; `None` if it follows.
    pub fn refused(&mut self, member: &MemberId, cred: &CredId) -> Option<u64> {
        let first = || Waiting { probe: member.clone(), followers: BTreeSet::new(), tries: 0 };
        let waiting = self.waiting.entry((cred.clone(), member.kind)).or_insert_with(first);
        if waiting.probe != *member {
            waiting.followers.insert(member.clone());
            return None;
        }
        waiting.tries += 1;
        Some(waiting.tries)
    }

    /// Hands the next try from the one whose turn it was to the next who `may`, in order and around; returns it. `None`
    /// if there is nobody else, so that the same one tries again.
    pub fn pass_on(
        &mut self,
        member: &MemberId,
        cred: &CredId,
        may: impl Fn(&MemberId) -> bool,
    ) -> Option<MemberId> {
        let waiting = self.waiting.get_mut(&(cred.clone(), member.kind))?;
        let (before, after): (Vec<&MemberId>, Vec<&MemberId>) =
            waiting.followers.iter().partition(|other| *other < member);
        let next = after.into_iter().chain(before).find(|other| may(other))?.clone();
        waiting.followers.remove(&next);
        waiting.followers.insert(std::mem::replace(&mut waiting.probe, next.clone()));
        Some(next)
    }

    /// A member's token was taken. If it had been refused, all who wait for the same are due; returns them.
    pub fn accepted(&mut self, member: &MemberId, cred: &CredId) -> BTreeSet<MemberId> {
        let place = (cred.clone(), member.kind);
        let takes_part = |waiting: &Waiting| waiting.probe == *member || waiting.followers.contains(member);
        if !self.waiting.get(&place).is_some_and(takes_part) {
            return BTreeSet::new();
        }
        let mut woken = BTreeSet::new();
        if let Some(waiting) = self.waiting.remove(&place) {
            woken.extend(waiting.followers);
            woken.insert(waiting.probe);
        }
        woken.remove(member);
        woken
    }

    /// A member waits for no credential any more, but for this one. Returns who tries in its place.
    pub fn leave(&mut self, member: &MemberId, but_for: Option<&CredId>) -> BTreeSet<MemberId> {
        let mut woken = BTreeSet::new();
        self.waiting.retain(|(cred, kind), waiting| {
            if *kind != member.kind || Some(cred) == but_for {
                return true;
            }
            waiting.followers.remove(member);
            if waiting.probe != *member {
                return true;
            }
            let Some(next) = waiting.followers.pop_first() else { return false };
            woken.insert(next.clone());
            waiting.probe = next;
            true
        });
        woken
    }
}

#[cfg(test)]
mod tests {
    use kinds::Key;

    use super::*;

    fn record(name: &str) -> MemberId {
        MemberId { kind: "DNSRecord", key: Key::new("default", name) }
    }

    fn cred(name: &str) -> CredId {
        CredId::new(&Key::new("default", name), "token")
    }

    fn refusals() -> Refusals {
        let mut refusals = Refusals::default();
        assert_eq!(refusals.refused(&record("a"), &cred("one")), Some(1));
        assert_eq!(refusals.refused(&record("b"), &cred("one")), None);
        assert_eq!(refusals.refused(&record("c"), &cred("one")), None);
        refusals
    }

    #[test]
    fn all_follow_when_the_token_of_one_of_them_is_taken() {
        for taken in ["a", "b"] {
            let mut refusals = refusals();
            let mut others = BTreeSet::from([record("a"), record("b"), record("c")]);
            others.remove(&record(taken));
            assert_eq!(refusals.accepted(&record(taken), &cred("one")), others);
            assert!(refusals.waiting.is_empty());
        }
    }

    #[test]
    fn they_take_turns_in_order_and_around() {
        let mut refusals = refusals();
        let may = |other: &MemberId| *other != record("b");
        assert_eq!(refusals.pass_on(&record("a"), &cred("one"), may), Some(record("c")));
        assert_eq!(refusals.refused(&record("a"), &cred("one")), None, "it follows now");
        assert_eq!(refusals.refused(&record("c"), &cred("one")), Some(2));
        assert_eq!(refusals.pass_on(&record("c"), &cred("one"), may), Some(record("a")));
        assert_eq!(refusals.pass_on(&record("a"), &cred("one"), |_| false), None, "nobody else may");
        assert_eq!(refusals.refused(&record("a"), &cred("one")), Some(3));
        assert_eq!(refusals.accepted(&record("a"), &cred("one")), BTreeSet::from([record("b"), record("c")]));
    }

    #[test]
    fn one_that_was_never_refused_wakes_nobody() {
        let mut refusals = refusals();
        assert!(refusals.accepted(&record("other"), &cred("one")).is_empty());
        assert_eq!(refusals.refused(&record("a"), &cred("one")), Some(2));
    }

    #[test]
    fn another_tries_when_the_one_that_tried_asks_no_more() {
        let mut refusals = refusals();
        assert_eq!(refusals.leave(&record("a"), None), BTreeSet::from([record("b")]));
        assert_eq!(refusals.refused(&record("a"), &cred("one")), None, "it follows now");
        assert_eq!(refusals.leave(&record("c"), None), BTreeSet::new());
        assert_eq!(refusals.leave(&record("b"), None), BTreeSet::from([record("a")]));
        assert_eq!(refusals.leave(&record("a"), None), BTreeSet::new());
        assert!(refusals.waiting.is_empty());
    }

    #[test]
    fn whoever_turns_to_another_credential_leaves_the_first() {
        let mut refusals = refusals();
        assert_eq!(refusals.leave(&record("a"), Some(&cred("two"))), BTreeSet::from([record("b")]));
        assert_eq!(refusals.refused(&record("a"), &cred("two")), Some(1));
        assert_eq!(refusals.waiting.len(), 2);
    }
}
