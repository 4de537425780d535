//! What was just written and need not be shown yet: Cloudflare's reads can lag behind its writes.
//! For as long as that lasts nothing that a read lacks counts as gone, and nothing is made beside it.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use kinds::Reason;

use crate::act::{Part, Write};
use crate::context;
use crate::hold::Hold;
use crate::limits;
use crate::read::{full_key, reading_context};
use crate::snapshot::{Member, Memory, Observed, Snapshot};
use crate::unit::MemberId;

/// Holds a member whose object a read that began at `began` does not show although it was written a moment ago, by
/// this process or perhaps by the one before it.
pub(crate) fn recently_written(snapshot: &Snapshot, id: &MemberId, began: Timestamp) -> Result<(), Hold> {
    if !may_lag(&snapshot.memory, id, began) {
        return Ok(());
    }
    Err(Hold {
        reason: Reason::APIError,
        message: "Cloudflare does not show yet what was just written".to_owned(),
        retry_after: Some(limits::READS_MAY_LAG),
        refused_credentials: false,
    })
}

/// True when a read that began at `began` may not show yet what the member, or the process before this one, wrote.
pub(crate) fn may_lag(memory: &Memory, id: &MemberId, began: Timestamp) -> bool {
    // A time that lies far in the future was told by a clock that has been set back since, and says nothing.
    let lag = SignedDuration::try_from(limits::READS_MAY_LAG).unwrap_or(SignedDuration::ZERO);
    let written = memory.written.get(id).or(memory.since.as_ref());
    written.is_some_and(|written| began < *written + lag && *written < began + lag)
}

/// What stands at Cloudflare under which key by a write that was carried out, whether lists show it yet or not.
pub(crate) fn note_made(made: &mut BTreeMap<String, MemberId>, member: &Member, part: &Part) {
    if let Ok(context) = reading_context(member) {
        // What goes is not read before: then it is taken for what the spec says.
        let before = match member.live.seen() {
            Some(before) => Some(full_key(member, before, &context.parents)),
            None => context::desired(member, &context).ok().map(|desired| desired.key.clone()),
        };
        if let Some(key) = before.filter(|key| made.get(key) == Some(&part.member)) {
            made.remove(&key);
        }
    }
    if let (Write::Create(_) | Write::Update(..), Some(Ok(desired))) = (&part.write, member.desired.get()) {
        made.insert(desired.key.clone(), part.member.clone());
    }
}

/// The process before this one may have made what a member names and no read shows yet, or only a read by its ID and no
/// list: its key is taken, so that no other member makes it a second time where Cloudflare would take it.
pub(crate) fn note_unseen(snapshot: &mut Snapshot, read: &[MemberId]) {
    let Snapshot { members, memory, .. } = snapshot;
    for id in read {
        let Some(member) = members.get(id) else { continue };
        let (Observed::Absent(began) | Observed::Seen(_, began)) = member.live else { continue };
        if memory.written.contains_key(id) || !may_lag(memory, id, began) {
            continue;
        }
        let Ok(context) = reading_context(member) else { continue };
        if let (Ok(desired), Some(since)) = (context::desired(member, &context), memory.since) {
            memory.written.insert(id.clone(), since);
            memory.made.insert(desired.key.clone(), id.clone());
        }
    }
}
