//! Every bound of a decision, with its reason.

use std::time::Duration;

/// Rounds of reading and writing in one pass before the unit is queued again. A create takes three stages; halving a
/// batch of 3,500 down to one culprit takes ⌈log2 3500⌉ = 12 more; the rest is room for a lost answer on the way.
pub const ROUNDS_MAX: usize = 24;

/// How long after its mark a create may still be sent: the marks of a full batch, and a wait for the call budget, have
/// to fit. Past it the create is not sent, and the member is marked anew.
pub const CREATE_SENT_WITHIN: Duration = Duration::from_secs(120);

/// How long a create that was sent may still take effect: a request is given up after two minutes (the seed's bound),
/// and Cloudflare is granted half a minute more to finish what it began.
pub const CREATE_LANDS_WITHIN: Duration = Duration::from_secs(150);

/// From the mark to the time after which nothing of its create can land any more.
pub const CREATE_MAY_LAND: Duration =
    Duration::from_secs(CREATE_SENT_WITHIN.as_secs() + CREATE_LANDS_WITHIN.as_secs());

/// For this long after a write of ours nothing that fails to show it counts as proof that it is gone: Cloudflare's
/// reads can lag behind its writes by seconds.
pub const READS_MAY_LAG: Duration = Duration::from_secs(60);

/// For this long after a zone was made or a token first seen, Cloudflare may refuse with 403 what it will grant, since
/// it still spreads the news (contract K16).
pub const NEWS_MAY_SPREAD: Duration = Duration::from_secs(120);

/// What waits for something in Cloudflare is looked at again after as long as it has been waiting, within these bounds:
/// whoever has just made a mistake sees it mended soon, and hundreds that wait for weeks do not eat the call budget.
pub const LOOK_FIRST: Duration = Duration::from_secs(60);

/// The longest such pause.
pub const LOOK_LAST: Duration = Duration::from_secs(600);

/// Names listed in an `InUse` message; more become "and N more".
pub const NAMES_SHOWN: usize = 5;

/// Bytes of an Event's note; the API server refuses more than 1,024.
pub const NOTE_BYTES_MAX: usize = 1_024;

/// Bytes of a condition's message: the API allows 32,768, but nobody reads more than a screen.
pub const MESSAGE_BYTES_MAX: usize = 2_048;

/// A 401 or 403 is looked at again this often (contract K16), besides whenever the credentials change.
pub const REFUSED_CREDENTIALS_RECHECK: Duration = Duration::from_secs(600);

/// A parent that is full is looked at again this often, besides whenever its plan changes: whoever makes room in the
/// dashboard tells nobody.
pub const QUOTA_RECHECK: Duration = Duration::from_secs(600);

/// A record list with more due names than this is read in full rather than name by name, whatever its size:
/// beyond it, the answers of single look-ups outweigh the pages of a list.
pub const LOOKUPS_MAX: usize = 8;

/// Characters of one text of Cloudflare's that a status shows: the longest is the name of a domain or of an account.
pub const SHOWN_CHARACTERS_MAX: usize = 512;

/// Texts of one list of Cloudflare's that a status shows: a zone has two name servers, and five of its own at most.
pub const SHOWN_TEXTS_MAX: usize = 32;

/// Removals that no object asks for are done at once below this number: a handful of edits makes as many.
pub const DERIVED_DELETES_MIN: usize = 10;

/// Removals that no object asks for are done at once up to one in so many of what stands: more than half is what a
/// reading of the cluster that lost something looks like.
pub const DERIVED_DELETES_SHARE: usize = 2;

const _: () = assert!(READS_MAY_LAG.as_secs() < CREATE_MAY_LAND.as_secs());
const _: () = assert!(NOTE_BYTES_MAX <= MESSAGE_BYTES_MAX);
