//! Every bound of the effects, each with its reason. Durations are in [`crate::timings`], because real-time runs
//! scale them; bounds of decisions and of the API are in `plan` and `cf_api`.

use std::time::Duration;

/// Members of one pass: a whole Enterprise zone of 10,000 records and room for one twice as large, so that a sweep
/// costs one list (design §8); more wait for the next pass.
pub const SLICE_MAX: usize = 20_000;

/// Members of a pass that are held at once while the list that all share shows them in order: some 12 kB each, so that
/// they are little beside the list; with fewer, the caches would be locked more often than it is worth.
pub const PORTION: usize = 500;

/// Members with something to do that a pass takes in: as many as one batch can write, since whoever does not fit waits for
/// the next pass in any case. With the rest of a portion it bounds what a pass holds, however large the unit.
pub const OPEN_MAX: usize = cf_api::limits::BATCH_MAX_PAID;

/// Due members that end a hold-off early: the largest DNS batch that Cloudflare takes.
pub const SLICE_FULL: usize = cf_api::limits::BATCH_MAX_PAID;

/// Requests of one stage that are sent at once. Kubernetes handles far more; with more in flight a pass gains
/// nothing on two cores and a timeout would leave more unknown.
pub const SENDS_AT_ONCE: usize = 16;

/// Calls in flight per Cloudflare token, all units together: a slow Cloudflare must not collect hundreds.
pub const CALLS_AT_ONCE: usize = 8;

/// A token that was not used for this long is forgotten when another one comes, so that rotation leaves nothing behind:
/// the longest pause that Cloudflare can have asked of it is over, and its budget is full.
pub const TOKEN_KEPT: Duration = cf_api::limits::RETRY_AFTER_MAX;

/// Tokens whose first sight is remembered, far more than accounts in a cluster. Beyond it the one that was not seen for
/// the longest time is forgotten, and would be new if it came back.
pub const TOKENS_SEEN_MAX: usize = 1_024;

/// Status patches of one pass that are sent at once; as [`SENDS_AT_ONCE`].
pub const STATUSES_AT_ONCE: usize = 16;

/// Direct reads of Secrets of one pass at once; a pass rarely needs more than one.
pub const SECRET_READS_AT_ONCE: usize = 8;

/// Objects per page of a list: what client-go asks for; it bounds what is decoded at once.
pub const KUBERNETES_PAGE: u32 = 500;

/// Bytes of one answer of Cloudflare. 5,000 records are below 4 MB; the rest is for long comments and tags.
pub const BODY_MAX: usize = 32 * 1024 * 1024;

/// Events that wait to be written: those of one pass. Beyond it the newest are dropped and counted.
pub const EVENTS_MAX: usize = SLICE_MAX;

/// Units that run at once unless configured otherwise: more only compete for the same budget.
pub const CONCURRENCY: usize = 8;

/// Characters of an object's name that an Event's name keeps: with a dot and 16 hex digits it stays below the 253
/// that Kubernetes allows.
pub const EVENT_NAME_MAX: usize = 230;

/// Doublings of a back-off that are computed: 2^16 seconds is far above every maximum.
pub const DOUBLINGS_MAX: u32 = 16;

/// Schedules of units kept beyond those in use before the old ones are swept.
pub const SCHEDULES_SLACK: usize = 256;

/// Share of the drift interval below which the budget counts as able to pay again, so that one object more or less does
/// not bring an Event each time.
pub const DRIFT_RELIEF: f64 = 0.9;

/// Memories of units kept beyond twice those in use before those of units that are gone are swept.
pub const MEMORIES_SLACK: usize = 256;

/// Bytes of the metrics' text that are set aside at once: what most clusters need, so that it is not moved as it grows.
pub const METRICS_BYTES: usize = 64 * 1024;

/// Events that are written at once: as many as status patches, which cause them.
pub const EVENTS_AT_ONCE: usize = STATUSES_AT_ONCE;

/// Passes that may wait for the budget besides those that run; each holds its snapshot.
pub const PARKED_MAX: usize = 64;

/// References followed from a resource to its account: the longest chain of kinds has three, a loop would not end.
pub const CHAIN_MAX: usize = 8;

/// Bytes of one answer of the API server that is no watch: a page of [`KUBERNETES_PAGE`] objects, each below 100 kB
/// unless it holds a Worker's script (etcd's limit is 1.5 MB).
pub const KUBERNETES_BODY_MAX: usize = 64 * 1024 * 1024;

/// How long a read of a Secret waits for others who want it: the passes that start together at a restart ask within
/// it, and it is tokio's resolution, so that nobody notices it.
pub const SECRET_READ_GATHERS: Duration = Duration::from_millis(1);

/// How long after it began a read of a Secret still serves those who had asked before it began: after a restart a pass
/// over thousands of records gets to its token a second later than the others. Then it is forgotten.
pub const SECRET_READ_SERVES: Duration = Duration::from_secs(5);

/// Passes over one object in a preview. A new one takes one for each of its ancestors that turns Ready, and one more
/// for each batch that is full before its turn; what needs more does not come to rest.
pub const PREVIEW_PASSES_MAX: usize = 64;

const _: () = assert!(SLICE_FULL <= SLICE_MAX);
const _: () = assert!(EVENT_NAME_MAX + 1 + 16 <= 253);
