//! GET /user and /memberships, which account-owned tokens may not call.
//! A user exists by having a token; nothing about users can be changed.

use serde_json::{Value, json};

use super::call::Call;
use super::envelope::{ApiErrors, Reply};
use super::gateway::Gateway;
use super::query::{Page, SHORT_LIST};
use super::token::Permission;
use super::world::{World, digest_of};

/// The id of a user of this name.
pub(super) fn id_of(user: &str) -> String {
    digest_of(&[b"user", user.as_bytes()])[..32].to_owned()
}

pub(super) fn get(call: &Call) -> Result<Reply, ApiErrors> {
    let user = call.actor.user().ok_or(Gateway::Unauthorized)?;
    call.actor.require(Permission::UserDetailsRead)?;
    Ok(Reply::value(&json!({
        "id": id_of(user),
        "email": format!("{user}@users.example"),
        "first_name": Value::Null,
        "last_name": Value::Null,
        "telephone": Value::Null,
        "country": Value::Null,
        "zipcode": Value::Null,
        "suspended": false,
        "two_factor_authentication_enabled": false,
        "two_factor_authentication_locked": false,
    })))
}

pub(super) fn memberships(world: &mut World, call: &Call) -> Result<Reply, ApiErrors> {
    let user = call.actor.user().ok_or(Gateway::Unauthorized)?;
    call.actor.require(Permission::MembershipsRead)?;
    let page = Page::of(&call.query, SHORT_LIST, world.switches.too_large_per_page)?;
    let rows: Vec<Value> = world
        .accounts
        .values()
        .filter(|account| call.actor.sees_account(&account.id))
        .map(|account| {
            json!({
                "id": digest_of(&[b"membership", user.as_bytes(), account.id.as_bytes()])[..32],
                "account": account.object(),
                "status": "accepted",
                "roles": ["Super Administrator - All Privileges"],
            })
        })
        .collect();
    let (part, info) = page.cut(&rows);
    Ok(Reply::page(Value::Array(part.to_vec()).to_string(), info))
}
