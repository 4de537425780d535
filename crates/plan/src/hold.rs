//! Why a member goes no further in this pass: a reason from the closed list, and words for people.

use std::time::Duration;

use cf_api::error::Cause;
use kinds::Reason;

/// A member stops here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// What the condition shows; says also how it is retried.
    pub reason: Reason,
    /// What a person reads.
    pub message: String,
    /// Not before this, whatever the retry class would say.
    pub retry_after: Option<Duration>,
    /// Cloudflare refused the token (401, 403): one member a token looks again for all (contract K16).
    pub refused_credentials: bool,
}

impl Hold {
    /// A hold with the reason's own retry class.
    #[must_use]
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into(), retry_after: None, refused_credentials: false }
    }

    /// What the lack of an answer means for one member.
    #[must_use]
    pub fn from_cause(cause: &Cause, doing: &str) -> Self {
        Self::new(Reason::APIError, format!("cannot {doing}: {cause}"))
    }
}
