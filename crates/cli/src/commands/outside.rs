//! What only the world outside knows: the time of day, and chance. Everything else gets both as arguments (V12).

use std::hash::BuildHasher;

use jiff::Timestamp;

/// The time of day.
#[expect(
    clippy::disallowed_methods,
    reason = "a process that serves people lives in their time; it begins here"
)]
pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}

/// Whether this process runs in a Pod: Kubernetes sets the variable in each.
pub(super) fn is_in_pod() -> bool {
    std::env::var_os("KUBERNETES_SERVICE_HOST").is_some_and(|host| !host.is_empty())
}

/// A number that differs from process to process: for jitter and identities, not for secrets.
#[expect(
    clippy::disallowed_types,
    reason = "its keys are the operating system's random numbers, which is the point"
)]
pub(super) fn chance() -> u64 {
    std::hash::RandomState::new().hash_one(std::process::id())
}
