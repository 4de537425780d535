//! Whether an account's token can be used: what its Secret holds, and what Cloudflare knows of it.

use base64::Engine;
use sandbox::cloudflare::TokenStatus;
use serde_json::Value;

use super::super::object::text;
use crate::world::World;

/// What an account's Secret holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// There is no Secret.
    NoSecret,
    /// There is no such key, or nothing in it.
    NoToken,
    /// This, which may be a token.
    Token(String),
}

/// Reads the Secret that an account names.
pub(super) fn held(world: &World, account: &Value) -> Held {
    let place = |field: &str| text(account, &format!("/spec/tokenSecretRef/{field}"));
    let Some(secret) = world.kubernetes.get("Secret", Some(place("namespace")), place("name")) else {
        return Held::NoSecret;
    };
    let encoded = secret["data"][place("key")].as_str().unwrap_or_default();
    match decoded(encoded).trim() {
        "" => Held::NoToken,
        token => Held::Token(token.to_owned()),
    }
}

/// True when Cloudflare takes what the Secret holds for a token.
pub(super) fn is_accepted(world: &World, token: &str) -> bool {
    world.cloudflare.token(token).is_some_and(|token| token.status == TokenStatus::Active)
}

/// Why an account cannot be Ready.
pub(super) fn problem(world: &World, account: &Value) -> Option<String> {
    match held(world, account) {
        Held::NoSecret => Some("its Secret does not exist".to_owned()),
        Held::NoToken => Some("its Secret has no token".to_owned()),
        Held::Token(token) if !is_accepted(world, &token) => Some("Cloudflare refuses its token".to_owned()),
        Held::Token(_) => None,
    }
}

/// A value of a Secret's data.
fn decoded(encoded: &str) -> String {
    let bytes = base64::engine::general_purpose::STANDARD.decode(encoded).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}
