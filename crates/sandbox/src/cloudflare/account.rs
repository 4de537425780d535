//! Accounts: list, get, change; creating and deleting them is for tenants, of which this world has none.
//! Tokens of accounts are left to `token_calls`.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::call::{Actor, Call};
use super::envelope::{ApiErrors, Coded, Reply};
use super::gateway::Gateway;
use super::plan::Plan;
use super::query::{Page, SHORT_LIST};
use super::token::Permission;
use super::world::{World, stamp};

/// Cloudflare API docs: characters of an account's name.
const NAME_MAX: usize = 100;

/// Refusals of the accounts product.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum AccountRefusal {
    #[error("List accounts endpoint does not support account owned tokens.")]
    OwnedToken,
    #[error("Invalid account name")]
    Name,
    #[error("Account name is too long")]
    NameTooLong,
    #[error("Account type is not supported")]
    Type,
    #[error("Account settings are invalid")]
    Settings,
    #[error("Account creation forbidden")]
    Creation,
    #[error("direction must be asc or desc")]
    Direction,
}

impl Coded for AccountRefusal {
    fn code(&self) -> u32 {
        match self {
            Self::Creation => 1002,
            _ => 1001,
        }
    }

    fn status(&self) -> u16 {
        match self {
            Self::Creation => 403,
            _ => 400,
        }
    }
}

/// An account.
#[derive(Debug, Clone)]
pub(super) struct Account {
    pub(super) id: String,
    pub(super) name: String,
    /// What its new zones get without asking; an Enterprise account has an Enterprise contract.
    pub(super) new_zone_plan: Plan,
    pub(super) enforce_twofactor: bool,
    pub(super) abuse_contact_email: Option<String>,
    pub(super) created_on: Timestamp,
}

impl Account {
    pub(super) fn new(id: &str, name: &str, created_on: Timestamp) -> Self {
        Self {
            id: id.to_owned(),
            name: name.to_owned(),
            new_zone_plan: Plan::Free,
            enforce_twofactor: false,
            abuse_contact_email: None,
            created_on,
        }
    }

    pub(super) fn is_enterprise(&self) -> bool {
        self.new_zone_plan == Plan::Enterprise
    }

    pub(super) fn object(&self) -> Value {
        json!({
            "id": self.id,
            "name": self.name,
            "type": if self.is_enterprise() { "enterprise" } else { "standard" },
            "settings": {
                "enforce_twofactor": self.enforce_twofactor,
                "abuse_contact_email": self.abuse_contact_email,
            },
            "created_on": stamp(self.created_on),
        })
    }
}

pub(super) fn list(world: &mut World, call: &Call) -> Result<Reply, ApiErrors> {
    if call.actor.user().is_none() {
        return Err(AccountRefusal::OwnedToken.into());
    }
    call.actor.require(Permission::AccountSettingsRead)?;
    let page = Page::of(&call.query, SHORT_LIST, world.switches.too_large_per_page)?;
    let mut rows: Vec<&Account> = world
        .accounts
        .values()
        .filter(|account| call.actor.sees_account(&account.id))
        .filter(|account| call.query.get("name").is_none_or(|name| account.name.eq_ignore_ascii_case(name)))
        .collect();
    rows.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
    match call.query.get("direction") {
        None | Some("asc") => {}
        Some("desc") => rows.reverse(),
        Some(_) => return Err(AccountRefusal::Direction.into()),
    }
    let (part, info) = page.cut(&rows);
    let objects: Vec<Value> = part.iter().map(|account| account.object()).collect();
    Ok(Reply::page(Value::Array(objects).to_string(), info))
}

pub(super) fn create(_call: &Call) -> Result<Reply, ApiErrors> {
    Err(AccountRefusal::Creation.into())
}

/// The account of a call, when its token may see it.
pub(super) fn visible<'a>(world: &'a World, actor: &Actor, id: &str) -> Result<&'a Account, ApiErrors> {
    let seen = world.accounts.get(id).filter(|account| actor.sees_account(&account.id));
    seen.ok_or_else(|| Gateway::Unauthorized.into())
}

pub(super) fn get(world: &mut World, call: &Call) -> Result<Reply, ApiErrors> {
    Ok(Reply::value(&visible(world, &call.actor, call.id(0))?.object()))
}

pub(super) fn update(world: &mut World, call: &Call) -> Result<Reply, ApiErrors> {
    let mut account = visible(world, &call.actor, call.id(0))?.clone();
    let body = call.json()?;
    let name = body.get("name").and_then(Value::as_str).map(str::trim).unwrap_or_default();
    if name.is_empty() {
        return Err(AccountRefusal::Name.into());
    }
    if name.chars().count() > NAME_MAX {
        return Err(AccountRefusal::NameTooLong.into());
    }
    let own_type = if account.is_enterprise() { "enterprise" } else { "standard" };
    match body.get("type") {
        None | Some(Value::Null) => {}
        Some(kind) if kind.as_str() == Some(own_type) => {}
        Some(_) => return Err(AccountRefusal::Type.into()),
    }
    account.name = name.to_owned();
    match body.pointer("/settings/enforce_twofactor") {
        None | Some(Value::Null) => {}
        Some(value) => account.enforce_twofactor = value.as_bool().ok_or(AccountRefusal::Settings)?,
    }
    match body.pointer("/settings/abuse_contact_email") {
        None => {}
        Some(Value::Null) => account.abuse_contact_email = None,
        Some(value) => {
            let email = value.as_str().ok_or(AccountRefusal::Settings)?;
            account.abuse_contact_email = Some(email.to_owned());
        }
    }
    let answer = account.object();
    world.accounts.insert(account.id.clone(), account);
    Ok(Reply::value(&answer))
}

/// Only a tenant deletes accounts.
pub(super) fn delete(world: &mut World, call: &Call) -> Result<Reply, ApiErrors> {
    visible(world, &call.actor, call.id(0))?;
    Err(Gateway::Unauthorized.into())
}
