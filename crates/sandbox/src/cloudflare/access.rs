//! Who asks: credentials in headers, the token behind them, and whether it may do what it asks.
//! What a token may see of the world is left to each product.

use std::sync::Arc;

use http::HeaderMap;
use http::header::AUTHORIZATION;
use jiff::Timestamp;

use super::call::Actor;
use super::envelope::ApiErrors;
use super::gateway::{BadHeader, Gateway, bad_header};
use super::route::{Endpoint, Row};
use super::switches::VerifyInactive;
use super::token::TokenKind;
use super::world::{Credential, World, digest_of};
use super::zone::is_younger;

/// The key under which a secret's credential is stored.
pub(super) fn key_of(secret: &str) -> String {
    digest_of(&[b"secret", secret.as_bytes()])
}

/// The bearer token of a request.
fn bearer(headers: &HeaderMap) -> Result<&str, ApiErrors> {
    let Some(value) = headers.get(AUTHORIZATION) else {
        let email = headers.get("x-auth-email").map(|email| email.to_str().unwrap_or(""));
        return Err(match (email, headers.contains_key("x-auth-key")) {
            (None, false) => Gateway::NoCredentials.into(),
            (Some(email), _) if !email.contains('@') => bad_header(BadHeader::Email),
            // There are no global keys in this world, so no key can be right.
            _ => bad_header(BadHeader::Key),
        });
    };
    let token = value.to_str().ok().and_then(|text| text.strip_prefix("Bearer "));
    let is_token = |token: &&str| {
        !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    token.filter(is_token).ok_or_else(|| bad_header(BadHeader::Authorization))
}

fn credential<'a>(world: &'a World, headers: &HeaderMap) -> Option<&'a Credential> {
    bearer(headers).ok().and_then(|secret| world.credentials.get(&key_of(secret)))
}

/// The id of the token of a request, for the log; empty when it is unknown.
pub(super) fn who(world: &World, headers: &HeaderMap) -> String {
    credential(world, headers).map_or_else(String::new, |credential| credential.id.to_string())
}

/// Whose rate limit a request counts against, for the log; empty when nobody is known to ask.
pub(super) fn subject(world: &World, headers: &HeaderMap) -> String {
    credential(world, headers).map_or_else(String::new, |credential| actor_of(credential).limit_subject())
}

/// Finds who asks, or refuses like the gateway does. `row` is absent for requests without a route.
pub(super) fn authenticate(
    world: &World,
    now: Timestamp,
    headers: &HeaderMap,
    row: Option<&Row>,
) -> Result<Actor, ApiErrors> {
    let endpoint = row.map(|row| row.endpoint);
    let verifies = matches!(endpoint, Some(Endpoint::UserVerify | Endpoint::AccountVerify));
    if endpoint == Some(Endpoint::AccountVerify) && !headers.contains_key(AUTHORIZATION) {
        return Err(Gateway::NoAccountToken.into());
    }
    let secret = bearer(headers)?;
    let unknown = || if verifies { Gateway::InvalidToken } else { Gateway::UnknownToken };
    let credential = world.credentials.get(&key_of(secret)).ok_or_else(unknown)?;
    let tells = verifies && world.switches.verify_inactive == VerifyInactive::TellStatus;
    if !tells && !credential.token.is_usable_at(now) {
        return Err(unknown().into());
    }
    Ok(actor_of(credential))
}

pub(super) fn actor_of(credential: &Credential) -> Actor {
    Actor {
        id: credential.id.clone(),
        token: Some(Arc::new(credential.token.clone())),
        since: credential.issued_on,
    }
}

/// Refuses what the token may not do, wherever it would do it.
pub(super) fn authorise(world: &World, now: Timestamp, actor: &Actor, row: &Row) -> Result<(), ApiErrors> {
    // Cloudflare API: short-lived 403/10000 just after a token is created.
    let verifies = matches!(row.endpoint, Endpoint::UserVerify | Endpoint::AccountVerify);
    if !verifies && is_younger(actor.since, now, world.switches.lag.access_after_create, actor) {
        return Err(Gateway::NoPermission.into());
    }
    let for_users = matches!(row.template.split('/').nth(1), Some("user"));
    let is_owned = matches!(actor.token.as_deref().map(|token| &token.kind), Some(TokenKind::Account { .. }));
    match row.permission {
        Some(_) if for_users && is_owned => Err(Gateway::Unauthorized.into()),
        Some(permission) => actor.require(permission),
        None => Ok(()),
    }
}
