//! What a pass heard about its members' tokens. A list that members share is read with the token of one of them (contract
//! K19): its answer says nothing of the tokens of the others. What follows from it is for `refusals`.

use cf_api::error::{ApiError, Class};
use kinds::Reason;
use plan::snapshot::{Credential, Member, ReadFault, Snapshot};
use plan::{Act, CredId, MemberId, Next, Outcome, Read, ReadAnswer, Reply, Report, Request};

use crate::refusals::Heard;

/// Whether an answer to a read shows that Cloudflare takes the token it was asked with.
pub(super) fn is_accepted(answer: &ReadAnswer) -> bool {
    match answer {
        ReadAnswer::One(_) | ReadAnswer::Many { .. } => true,
        ReadAnswer::Failed(ReadFault::Api(error)) => looked_further(error),
        ReadAnswer::Failed(ReadFault::Cause(_)) => false,
    }
}

/// Notes an accepted read on those of its members whose token was used.
pub(super) fn note_read(snapshot: &mut Snapshot, read: &Read) {
    note(snapshot, &read.members, &read.cred);
}

/// Notes what a write's outcome shows.
pub(super) fn note_outcome(snapshot: &mut Snapshot, act: &Act, outcome: &Outcome) {
    let Request::Cloudflare { cred, .. } = &act.request else { return };
    let is_accepted = match outcome {
        Outcome::Done(Reply::Cloudflare(_) | Reply::Batch(_)) => true,
        Outcome::Refused(error) => looked_further(error),
        _ => false,
    };
    if is_accepted {
        note(snapshot, act.parts.iter().map(|part| &part.member), cred);
    }
}

fn note<'m>(snapshot: &mut Snapshot, members: impl IntoIterator<Item = &'m MemberId>, cred: &CredId) {
    for id in members {
        if let Some(member) = snapshot.members.get_mut(id)
            && own_cred(member) == Some(cred)
        {
            member.progress.answered = true;
        }
    }
}

/// Cloudflare looked at what was sent, and so had looked at the token. Where it doubts an ID, the token may be what does
/// not see the object.
fn looked_further(error: &ApiError) -> bool {
    matches!(error.class(), Class::NotFound | Class::AlreadyExists | Class::Invalid)
        && !error.doubts_identifier()
}

/// The token of a member.
pub(super) fn own_cred(member: &Member) -> Option<&CredId> {
    match &member.credential {
        Credential::Usable(cred) => Some(cred),
        _ => None,
    }
}

/// What the pass heard about a member's token.
pub(super) fn heard(member: &Member, report: &Report) -> Heard {
    if report.refused_credentials {
        return Heard::Refused;
    }
    if member.progress.answered {
        return Heard::Accepted;
    }
    match (report.reason, report.next) {
        // It may stay so for ever: another one has to find out.
        (Some(Reason::InternalError), _) => Heard::Nothing,
        (_, Next::Fault(_) | Next::Now(_) | Next::Event) => Heard::Open,
        _ => Heard::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use cf_api::budget::Class as CallClass;
    use cf_api::items::Items;
    use cf_api::request::{Method, Request as Call};
    use jiff::Timestamp;
    use kinds::{Key, Resource};
    use plan::read::What;
    use plan::{Memory, Observed, UnitKey};

    use super::*;

    fn cred(name: &str) -> CredId {
        CredId::new(&Key::new("default", name), "token")
    }

    fn id(name: &str) -> MemberId {
        MemberId { kind: "DNSRecord", key: Key::new("default", name) }
    }

    /// Two records of a zone that two accounts' tokens reach.
    fn snapshot() -> Snapshot {
        let member = |token: &str| {
            let mut member =
                Member::new(kinds::kind("DNSRecord").unwrap(), Resource::default(), CallClass::User);
            member.credential = Credential::Usable(cred(token));
            member
        };
        Snapshot {
            unit: UnitKey::Children { kind: "DNSRecord", parent: "zone".to_owned() },
            members: BTreeMap::from([(id("a"), member("good")), (id("b"), member("bad"))]),
            claims: BTreeMap::new(),
            listing: Observed::Unread,
            document: Observed::Unread,
            complete: true,
            refused: BTreeSet::new(),
            usage_asked: false,
            memory: Memory::default(),
            deletion_default: plan::policy::Deletion::default(),
        }
    }

    fn heard_of(snapshot: &Snapshot, name: &str) -> Heard {
        let report =
            Report { status: None, event: None, reason: None, next: Next::Drift, refused_credentials: false };
        heard(&snapshot.members[&id(name)], &report)
    }

    #[test]
    fn a_list_says_something_of_the_token_that_it_was_read_with_and_of_no_other() {
        let mut snapshot = snapshot();
        let read = Read {
            cred: cred("good"),
            members: vec![id("a"), id("b")],
            what: What::List,
            request: Call::new(Method::Get, "/zones/{id}/dns_records", &["zone"]).unwrap(),
            per_page: None,
            class: CallClass::User,
        };
        let answer = ReadAnswer::Many { items: Items::default(), one_page: true };
        assert!(is_accepted(&answer));
        plan::fold(&mut snapshot, &read, answer, Timestamp::UNIX_EPOCH);
        note_read(&mut snapshot, &read);
        assert!(snapshot.members[&id("b")].progress.listed, "it is shown to both");
        assert_eq!([heard_of(&snapshot, "a"), heard_of(&snapshot, "b")], [Heard::Accepted, Heard::Nothing]);
        note_read(&mut snapshot, &Read { cred: cred("bad"), ..read });
        assert_eq!(heard_of(&snapshot, "b"), Heard::Accepted);
    }

    #[test]
    fn only_an_answer_from_beyond_the_check_of_the_token_accepts_it() {
        let failed =
            |status| is_accepted(&ReadAnswer::Failed(ReadFault::Api(ApiError::new(status, Vec::new()))));
        assert_eq!([401, 403, 429, 500, 502].map(failed), [false; 5]);
        assert_eq!([404, 409, 400].map(failed), [true; 3]);
    }
}
