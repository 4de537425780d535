//! What only the world outside knows: the time of day, and chance. Everything else gets both as arguments (V12).

use std::hash::BuildHasher;

use jiff::Timestamp;

/// The time of day.
#[expect(
    clippy::disallowed_methods,
    reason = "a process that serves people lives in their time; it begins here"
)]
pub(super) fn now() -> Timestamp {
    Timestamp::now()
}

/// A number that differs from process to process: for jitter and identities, not for secrets.
#[expect(
    clippy::disallowed_types,
    reason = "its keys are the operating system's random numbers, which is the point"
)]
pub(super) fn chance() -> u64 {
    std::hash::RandomState::new().hash_one(std::process::id())
}
