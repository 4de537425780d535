//! Why a member goes no further in this pass: a reason from the closed list, and words for people.

use std::time::Duration;

use cf_api::error::{ApiError, Cause, Class};
use kinds::Reason;

use crate::limits;

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

    /// What Cloudflare's refusal or failure means for one member (contract K15, K16).
    /// `credentials` says where the token came from, `needs` what it has to be allowed (case B148).
    #[must_use]
    pub fn from_api(error: &ApiError, doing: &str, credentials: &str, needs: &[&str]) -> Self {
        let text = error.text();
        match error.class() {
            class @ (Class::Unauthorized | Class::Forbidden) => Self {
                reason: Reason::TerminalError,
                message: match class {
                    Class::Forbidden if !needs.is_empty() => {
                        let needs = needs.join(" or ");
                        format!(
                            "cannot {doing} with the token of {credentials}, which may lack {needs}: {text}"
                        )
                    }
                    _ => format!("cannot {doing} with the token of {credentials}: {text}"),
                },
                retry_after: Some(limits::REFUSED_CREDENTIALS_RECHECK),
                refused_credentials: true,
            },
            Class::RateLimited | Class::Transient => Self {
                reason: Reason::APIError,
                message: format!("cannot {doing}: {text}"),
                retry_after: error.retry_after,
                refused_credentials: false,
            },
            Class::NotFound | Class::AlreadyExists | Class::Invalid => {
                Self::new(Reason::TerminalError, format!("cannot {doing}: {text}"))
            }
        }
    }

    /// What the lack of an answer means for one member.
    #[must_use]
    pub fn from_cause(cause: &Cause, doing: &str) -> Self {
        Self::new(Reason::APIError, format!("cannot {doing}: {cause}"))
    }
}
