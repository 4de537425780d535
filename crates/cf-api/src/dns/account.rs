//! The request that tells whether credentials work (cloudflare-api.md 2).
//!
//! Not here: `/user`, `/memberships` and the list of accounts, which refuse account-owned tokens (B146).

use crate::request::{Method, PathError, Request};

/// Who owns a token; each kind has its own route to be verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TokenKind {
    /// A user's token: `cfut_…` or, older, 40 characters without a prefix.
    User,
    /// An account's own token: `cfat_…`.
    Account,
}

impl TokenKind {
    /// The kind of a token, by its prefix.
    pub fn of(token: &str) -> TokenKind {
        if token.starts_with("cfat_") { TokenKind::Account } else { TokenKind::User }
    }
}

/// Whether the token in use is active; the result is `{id, status, expires_on?}`. The account counts only for
/// tokens that it owns.
///
/// # Errors
/// [`PathError`] when the account's identifier is needed and empty or malformed.
pub fn verify(kind: TokenKind, account: &str) -> Result<Request, PathError> {
    match kind {
        TokenKind::User => Request::new(Method::Get, "/user/tokens/verify", &[]),
        TokenKind::Account => Request::new(Method::Get, "/accounts/{account_id}/tokens/verify", &[account]),
    }
}
