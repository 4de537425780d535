//! Every bound of this crate, each with its reason.
//!
//! Bounds of sockets (timeouts, body sizes, calls in flight) belong to the crate that owns the socket.

use std::time::Duration;

/// Requests per [`RATE_WINDOW`] that Cloudflare grants to a user or to an account-owned token.
/// Source: developers.cloudflare.com, "API rate limits".
pub const RATE_LIMIT: u64 = 1_200;

/// The window of [`RATE_LIMIT`]; also how long every call is refused after an excess (same source).
pub const RATE_WINDOW: Duration = Duration::from_secs(300);

/// What we use of [`RATE_LIMIT`] at most. The rest is for people: the dashboard and other tools of the same
/// user count against the same limit, and one call too many locks them out for five minutes, too.
pub const OWN_LIMIT: u64 = 1_140;

/// Calls that may go at once after a quiet time: enough for the first lists of many zones, small enough that
/// refilling during the same window stays below [`OWN_LIMIT`].
pub const BUDGET_CAPACITY: u64 = 300;

/// Calls per ten seconds that the budget gains back (2.8 per second, as an integer so that sums are exact).
pub const BUDGET_CALLS_PER_10S: u64 = 28;

/// Requests per second that Cloudflare grants to one address, whatever tokens they carry (same source).
pub const ADDRESS_LIMIT: u64 = 200;

/// Requests that may go at once from this process after a quiet time, all tokens together: the first lists of as many
/// zones.
pub const ADDRESS_BURST: u64 = 100;

/// Requests per second of this process beyond that, all tokens together. With the burst nine tenths of
/// [`ADDRESS_LIMIT`]: the rest is for others behind the same address. One token's budget never needs so many; only
/// dozens of accounts that are swept at once do.
pub const ADDRESS_CALLS_PER_SECOND: u64 = 80;

/// What a budget holds when the process starts or a 429 ends. An earlier process may have spent [`OWN_LIMIT`]
/// in the same window; with this start the sum of both still keeps within [`RATE_LIMIT`]. Of a process that
/// restarts again and again only the `Ratelimit` header keeps count.
pub const BUDGET_START: u64 = RATE_LIMIT - OWN_LIMIT;

/// Calls that retries leave to users: an edit during an outage still goes out at once.
pub const RETRY_LEAVES: u64 = 60;

/// Calls that drift checks leave to users and retries: half the capacity, so that a sweep over thousands of
/// objects never delays an edit, and a burst of edits pauses the sweep instead of joining a queue behind it.
pub const DRIFT_LEAVES: u64 = 150;

/// Of what `Ratelimit` says remains, user changes leave this for what is on its way: other programs of the
/// same user, whose calls our last answer could not count.
pub const REMOTE_USER_LEAVES: u64 = 5;

/// Of what `Ratelimit` says remains, retries leave this. Smaller than [`RETRY_LEAVES`], because the header
/// may speak of a short window with a small quota.
pub const REMOTE_RETRY_LEAVES: u64 = 20;

/// Of what `Ratelimit` says remains, drift checks leave this (see [`REMOTE_RETRY_LEAVES`]).
pub const REMOTE_DRIFT_LEAVES: u64 = 40;

/// Calls per ten seconds on which a drift interval may rely (half of [`BUDGET_CALLS_PER_10S`]): the other
/// half is for changes, so that an interval we announce (K17) is also held on a busy day.
pub const DRIFT_CALLS_PER_10S: u64 = BUDGET_CALLS_PER_10S / 2;

/// How long the gate stays closed after a 429 without `Retry-After` (Cloudflare refuses for five minutes).
pub const RETRY_AFTER_DEFAULT: Duration = RATE_WINDOW;

/// The longest `Retry-After` we believe: a broken header must not stop an operator for a day.
pub const RETRY_AFTER_MAX: Duration = Duration::from_secs(3_600);

/// The longest `t` of a `Ratelimit` header we believe, for the same reason.
pub const RATELIMIT_RESET_MAX: Duration = RETRY_AFTER_MAX;

/// Pages of one list at most: 10,000 zones of 50, or a million records of 5,000 (the largest Enterprise
/// quota), and never more than a sixth of the call limit.
pub const PAGES_MAX: u32 = 200;

/// Operations of one DNS batch on a Free zone. Source: Cloudflare's "Batch record changes".
pub const BATCH_MAX_FREE: usize = 200;

/// Operations of one DNS batch on a zone of any other plan (same source).
pub const BATCH_MAX_PAID: usize = 3_500;

/// Bytes of one path argument: Cloudflare's longest name in a path is a KV key of 512 bytes.
pub const PATH_ARG_MAX: usize = 512;

/// Errors of one answer that are kept: validators list every bad field, and nobody reads more.
pub const ERRORS_MAX: usize = 16;

/// Depth of `error_chain` that is kept: two is what was seen (1004 with 9021); a bound stops hostile nesting.
pub const CHAIN_DEPTH_MAX: usize = 4;

/// Characters of one error message that are kept: expression errors quote the expression.
pub const MESSAGE_MAX: usize = 500;

/// Characters of an error's text as conditions show it (a condition message may have 32,768, an Event 1,024).
pub const TEXT_MAX: usize = 900;

/// Characters of an unexpected body that a message shows.
pub const EXCERPT_MAX: usize = 200;

/// Bytes of an unexpected body that are looked at for the excerpt: an HTML head may hold a long style sheet.
pub const EXCERPT_SCAN_MAX: usize = 16_384;

/// Bytes of a `cf-ray` that are kept (today 20).
pub const RAY_MAX: usize = 64;

/// Bytes that a token must have to be erased from an answer that echoes it: Cloudflare's have 40 and more, and what is
/// shorter may be a word of any answer.
pub const ERASED_MIN: usize = 20;

/// Bytes of a token: today's have 40 to 53; a file pasted by mistake must not become a header.
pub const TOKEN_MAX: usize = 1_024;

const _: () = assert!(BUDGET_CAPACITY * 10 + RATE_WINDOW.as_secs() * BUDGET_CALLS_PER_10S <= OWN_LIMIT * 10);
const _: () = assert!((ADDRESS_BURST + ADDRESS_CALLS_PER_SECOND) * 10 <= ADDRESS_LIMIT * 9);
const _: () = assert!(BUDGET_START <= BUDGET_CAPACITY && OWN_LIMIT + BUDGET_START <= RATE_LIMIT);
const _: () = assert!(RETRY_LEAVES < DRIFT_LEAVES && DRIFT_LEAVES < BUDGET_CAPACITY);
const _: () = assert!(REMOTE_USER_LEAVES < REMOTE_RETRY_LEAVES && REMOTE_RETRY_LEAVES < REMOTE_DRIFT_LEAVES);
const _: () = assert!(RETRY_AFTER_DEFAULT.as_secs() <= RETRY_AFTER_MAX.as_secs());
const _: () = assert!(MESSAGE_MAX < TEXT_MAX && EXCERPT_MAX < MESSAGE_MAX);
