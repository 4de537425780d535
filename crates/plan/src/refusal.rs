//! What Cloudflare's refusals and failures mean for one member, in words that say how to mend it (contract K15, K16).
//! Says nothing of when a refused token is tried again by whom: that is the operator's.

use std::fmt::Write as _;

use cf_api::error::{ApiError, Class};
use kinds::Reason;
use kinds::table::Permission;

use crate::act::{Part, Write};
use crate::hold::Hold;
use crate::limits;
use crate::snapshot::{Credential, Member, ReadFault};

/// A call that failed.
struct Tried<'w> {
    /// After "cannot".
    doing: &'w str,
    /// What the token needs for it.
    needs: Option<Permission>,
    /// What a person can do about it besides, if there is anything.
    advice: Option<&'w str>,
}

/// What a failed read means for a member.
pub(crate) fn hold_from_fault(member: &Member, fault: &ReadFault, doing: &str) -> Hold {
    let needs = Some(member.kind.permissions.read);
    let is_doubted = matches!(fault, ReadFault::Api(error) if error.doubts_identifier());
    let way_out = way_out();
    let advice = (member.object.is_deleting() && is_doubted).then_some(way_out.as_str());
    from_fault(member, fault, &Tried { doing, needs, advice })
}

/// What it means that a token could not be verified, which every token may ask of itself.
pub(crate) fn hold_from_verifying(member: &Member, fault: &ReadFault) -> Hold {
    from_fault(member, fault, &Tried { doing: "verify the token", needs: None, advice: None })
}

/// What a refused write means for a member.
pub(crate) fn hold_from_refusal(
    member: &Member,
    part: &Part,
    error: &ApiError,
    advice: Option<&str>,
) -> Hold {
    let doing = part.write.doing();
    from_error(member, error, &Tried { doing: &doing, needs: needed(member, part), advice })
}

/// What to do about an object that may be gone and may be hidden: only a person can tell.
pub(crate) fn way_out() -> String {
    let policy = kinds::names::DELETION_POLICY;
    format!("if it is gone, annotate the resource with {policy}: retain to let it go")
}

/// Cloudflare may refuse with 403 what it will grant in a moment, while it spreads the news of a new zone or token.
pub(crate) fn may_pass(member: &Member, error: &ApiError) -> bool {
    member.is_young && (error.class() == Class::Forbidden || error.doubts_identifier())
}

/// Where a member's token comes from.
pub(crate) fn credentials(member: &Member) -> String {
    let account = member.account.found().map(|account| account.metadata.name.clone()).unwrap_or_default();
    let secret = match &member.credential {
        Credential::Usable(cred) => cred.to_string(),
        _ => String::new(),
    };
    let placeholder = if member.has_placeholder {
        ", which still holds the placeholder of the samples: put an API token of your account in its place"
    } else {
        ""
    };
    format!("CloudflareAccount {account} (Secret {secret}{placeholder})")
}

/// What the token needs for a write.
fn needed(member: &Member, part: &Part) -> Option<Permission> {
    let permissions = &member.kind.permissions;
    let own_call = || {
        let field = part.why.first()?.field;
        member.kind.fields.iter().find(|known| known.name == field)?.own_call
    };
    match part.write {
        Write::Create(_) => permissions.create,
        Write::Update(..) => own_call().map(|call| call.permission).or(permissions.change),
        Write::Delete(_) | Write::Entry => permissions.change,
        Write::Prepare
        | Write::Claim
        | Write::Unmark
        | Write::MarkDeleting
        | Write::Release
        | Write::Protect => None,
    }
}

fn from_fault(member: &Member, fault: &ReadFault, tried: &Tried<'_>) -> Hold {
    match fault {
        ReadFault::Api(error) => from_error(member, error, tried),
        ReadFault::Cause(cause) => Hold::from_cause(cause, tried.doing),
    }
}

fn from_error(member: &Member, error: &ApiError, tried: &Tried<'_>) -> Hold {
    let class = error.class();
    let message = message(member, error, tried);
    let hold = Hold::new(Reason::TerminalError, message);
    match class {
        _ if may_pass(member, error) => Hold { reason: Reason::APIError, ..hold },
        Class::Unauthorized | Class::Forbidden => {
            Hold { retry_after: Some(limits::REFUSED_CREDENTIALS_RECHECK), refused_credentials: true, ..hold }
        }
        Class::RateLimited | Class::Transient => {
            Hold { reason: Reason::APIError, retry_after: error.retry_after, ..hold }
        }
        Class::AlreadyExists => Hold { reason: Reason::AlreadyExists, ..hold },
        Class::NotFound | Class::Invalid => hold,
    }
}

/// What failed, whose token it was, what that token needs and what else helps; Cloudflare's text and code come last.
fn message(member: &Member, error: &ApiError, tried: &Tried<'_>) -> String {
    let mut message = format!("cannot {}", tried.doing);
    if matches!(error.class(), Class::Unauthorized | Class::Forbidden) {
        let _ = write!(message, " with the token of {}", credentials(member));
        if let Some(permission) = tried.needs.filter(|_| error.may_lack_permission()) {
            let _ = write!(message, ", which needs the permission {permission}");
        }
    }
    if may_pass(member, error) {
        let new = "the token or what it is for is new, and Cloudflare may not know it everywhere yet, so it is tried again";
        let _ = write!(message, "; {new}");
    }
    if let Some(advice) = tried.advice {
        let _ = write!(message, "; {advice}");
    }
    let _ = write!(message, ": {}", error.text());
    message
}
