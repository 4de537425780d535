//! How old what members rest on is, as far as this process can tell: the objects that it made, and the tokens that it saw
//! (contract K16). What being new excuses is decided in `plan`.

use std::collections::BTreeMap;

use jiff::Timestamp;
use plan::snapshot::{Credential, Snapshot};
use plan::{CredId, MemberId};

use crate::credentials::Credentials;
use crate::gather::Tokens;
use crate::state::State;

/// Notes it for every member, once its references and its token are known.
pub fn note(
    snapshot: &mut Snapshot,
    state: &State,
    credentials: &Credentials,
    tokens: &Tokens,
    now: Timestamp,
) {
    let timings = state.queue.timings();
    let seen = |(cred, token)| {
        let age = timings.age(credentials.known_for(token)?);
        Some((cred, now.checked_sub(age).ok()?))
    };
    let seen: BTreeMap<&CredId, Timestamp> = tokens.iter().filter_map(seen).collect();
    for (id, member) in &mut snapshot.members {
        let named = member.kind.references.iter().filter_map(|reference| {
            let named = member.references.get(reference.field)?.found()?;
            Some(MemberId { kind: reference.kind, key: named.key() })
        });
        let founded = std::iter::once(id.clone()).chain(named).filter_map(|id| state.founded_at(&id, now));
        let token = match &member.credential {
            Credential::Usable(cred) => seen.get(cred).copied(),
            _ => None,
        };
        member.newest = founded.chain(token).max();
    }
    plan::context::note_ages(snapshot, now);
}
