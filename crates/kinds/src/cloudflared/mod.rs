//! What cloudflared makes of a tunnel's configuration: whether it takes it, and which rule answers a request. One bad
//! rule makes it refuse the whole and keep what it had, so every host of the tunnel freezes: this is asked before
//! anything is written. Pure; knows nothing of kinds, and does not say what a good configuration would be.
//!
//! Where cloudflared's answer cannot be known, the answer here is a refusal ([`Refusal::is_unsure`]).

mod address;
mod configuration;
mod expression;
mod hostname;
mod members;
mod origin;
mod refusal;
mod service;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod totality;

pub use address::AddressError;
pub use configuration::Configuration;
pub use expression::{EXPRESSION_BYTES_MAX, ExpressionError, PathExpression};
pub use hostname::check_hostname;
pub use refusal::{Cause, Expected, Place, RULES_MAX, Refusal};
pub use service::check_service;
