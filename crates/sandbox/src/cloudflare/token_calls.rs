//! The calls on tokens: verify, and the life of tokens of a user and of an account.
//! What a token means is left to `token`, finding it in a request to `access`.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::access;
use super::account;
use super::call::Call;
use super::envelope::{ApiErrors, Coded, Extra, Reply};
use super::gateway::Gateway;
use super::query::{Page, SHORT_LIST};
use super::route::Endpoint;
use super::token::{Permission, Scope, Token, TokenKind, TokenStatus};
use super::world::{Credential, World, digest_of, stamp};

/// Cloudflare API docs: characters of a token's name.
const NAME_MAX: usize = 120;
/// Cloudflare docs: tokens of a user and of an account.
const USER_TOKENS_MAX: usize = 50;
const ACCOUNT_TOKENS_MAX: usize = 500;

/// Refusals of the tokens products.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum TokenRefusal {
    #[error("Token not found")]
    NotFound,
    #[error("Token name is missing or longer than {NAME_MAX} characters")]
    Name,
    #[error("Permission group is not found")]
    Group,
    #[error("{field} is invalid")]
    Field { field: &'static str },
    #[error("At most {max} tokens can exist")]
    TooMany { max: usize },
}

impl Coded for TokenRefusal {
    fn code(&self) -> u32 {
        match self {
            Self::NotFound => 1003,
            Self::Name => 400,
            Self::Group | Self::Field { .. } | Self::TooMany { .. } => 1001,
        }
    }

    fn status(&self) -> u16 {
        match self {
            Self::NotFound => 404,
            _ => 400,
        }
    }
}

/// GET /user/tokens/verify and /accounts/{id}/tokens/verify: each only for its own kind of token.
pub(super) fn verify(world: &mut World, now: Timestamp, call: &Call) -> Result<Reply, ApiErrors> {
    let token = call.actor.token.as_deref().ok_or(Gateway::InvalidToken)?;
    let own_kind = match (&token.kind, call.routed.row.endpoint) {
        (TokenKind::User { .. }, endpoint) => endpoint == Endpoint::UserVerify,
        (TokenKind::Account { account_id }, endpoint) => {
            endpoint == Endpoint::AccountVerify
                && account_id == call.id(0)
                && world.accounts.contains_key(account_id)
        }
    };
    if !own_kind {
        return Err(Gateway::InvalidToken.into());
    }
    let status = token.status_at(now);
    let mut result = json!({ "id": &*call.actor.id, "status": status.name() });
    for (field, time) in [("not_before", token.not_before), ("expires_on", token.expires_on)] {
        if let Some(time) = time {
            result[field] = json!(whole_seconds(time));
        }
    }
    let message = match token.is_usable_at(now) {
        true => Extra::Message { code: 10000, message: "This API Token is valid and active" },
        false => Extra::Nothing,
    };
    Ok(Reply::value(&result).with(message))
}

/// Cloudflare API docs: `expires_on` and `not_before` have whole seconds.
fn whole_seconds(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn is_for_user(call: &Call) -> bool {
    call.routed.row.template.starts_with("/user/")
}

/// Whose tokens the call is about.
fn kind_of(world: &World, call: &Call) -> Result<TokenKind, ApiErrors> {
    if is_for_user(call) {
        let user = call.actor.user().ok_or(Gateway::Unauthorized)?.to_owned();
        return Ok(TokenKind::User { user });
    }
    let account_id = account::visible(world, &call.actor, call.id(0))?.id.clone();
    Ok(TokenKind::Account { account_id })
}

fn token_id(call: &Call) -> &str {
    call.id(usize::from(!is_for_user(call)))
}

fn object(credential: &Credential, now: Timestamp) -> Value {
    let token = &credential.token;
    let mut object = json!({
        "id": &*credential.id,
        "name": credential.name,
        "status": token.status_at(now).name(),
        "issued_on": stamp(credential.issued_on),
        "modified_on": stamp(credential.modified_on),
        "policies": credential.policies,
    });
    for (field, time) in [("not_before", token.not_before), ("expires_on", token.expires_on)] {
        if let Some(time) = time {
            object[field] = json!(whole_seconds(time));
        }
    }
    object
}

/// The secret's key and credential of the token that a call is about.
fn found(world: &World, call: &Call) -> Result<(String, Credential), ApiErrors> {
    let kind = kind_of(world, call)?;
    world
        .credentials
        .iter()
        .find(|(_, credential)| &*credential.id == token_id(call) && credential.token.kind == kind)
        .map(|(key, credential)| (key.clone(), credential.clone()))
        .ok_or_else(|| TokenRefusal::NotFound.into())
}

pub(super) fn list(world: &mut World, now: Timestamp, call: &Call) -> Result<Reply, ApiErrors> {
    let kind = kind_of(world, call)?;
    let page = Page::of(&call.query, SHORT_LIST, world.switches.too_large_per_page)?;
    let mut rows: Vec<&Credential> =
        world.credentials.values().filter(|credential| credential.token.kind == kind).collect();
    rows.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
    let (part, info) = page.cut(&rows);
    let objects: Vec<Value> = part.iter().map(|credential| object(credential, now)).collect();
    Ok(Reply::page(Value::Array(objects).to_string(), info))
}

pub(super) fn get(world: &mut World, now: Timestamp, call: &Call) -> Result<Reply, ApiErrors> {
    Ok(Reply::value(&object(&found(world, call)?.1, now)))
}

pub(super) fn create(world: &mut World, now: Timestamp, call: &Call) -> Result<Reply, ApiErrors> {
    let kind = kind_of(world, call)?;
    let max = if is_for_user(call) { USER_TOKENS_MAX } else { ACCOUNT_TOKENS_MAX };
    if world.credentials.values().filter(|credential| credential.token.kind == kind).count() >= max {
        return Err(TokenRefusal::TooMany { max }.into());
    }
    let (name, token, policies) = wanted(&call.json()?, kind, TokenStatus::Active)?;
    let credential = Credential {
        id: Arc::from(world.ids.next()),
        name,
        token,
        issued_on: now,
        modified_on: now,
        policies,
    };
    let secret = new_secret(world, &credential.token.kind);
    let mut answer = object(&credential, now);
    answer["value"] = json!(secret);
    world.credentials.insert(access::key_of(&secret), credential);
    Ok(Reply::value(&answer))
}

/// PUT needs the full object and may set `status` (cloudflare API docs).
pub(super) fn update(world: &mut World, now: Timestamp, call: &Call) -> Result<Reply, ApiErrors> {
    let (key, mut credential) = found(world, call)?;
    let body = call.json()?;
    let status = match body.get("status").map(Value::as_str) {
        None => credential.token.status,
        Some(Some("active")) => TokenStatus::Active,
        Some(Some("disabled")) => TokenStatus::Disabled,
        Some(Some("expired")) => TokenStatus::Expired,
        Some(_) => return Err(TokenRefusal::Field { field: "status" }.into()),
    };
    let (name, token, policies) = wanted(&body, credential.token.kind.clone(), status)?;
    credential.name = name;
    credential.token = token;
    credential.policies = policies;
    credential.modified_on = now;
    let answer = object(&credential, now);
    world.credentials.insert(key, credential);
    Ok(Reply::value(&answer))
}

pub(super) fn delete(world: &mut World, call: &Call) -> Result<Reply, ApiErrors> {
    let (key, credential) = found(world, call)?;
    world.credentials.remove(&key);
    Ok(Reply::value(&json!({ "id": &*credential.id })))
}

/// A new secret for the same token.
pub(super) fn roll(world: &mut World, now: Timestamp, call: &Call) -> Result<Reply, ApiErrors> {
    let (key, mut credential) = found(world, call)?;
    let secret = new_secret(world, &credential.token.kind);
    credential.modified_on = now;
    world.credentials.remove(&key);
    world.credentials.insert(access::key_of(&secret), credential);
    Ok(Reply::value(&json!(secret)))
}

/// Cloudflare docs: account-owned tokens begin with `cfat_`; newer user tokens with `cfut_`.
fn new_secret(world: &mut World, kind: &TokenKind) -> String {
    let prefix = match kind {
        TokenKind::User { .. } => "cfut_",
        TokenKind::Account { .. } => "cfat_",
    };
    format!("{prefix}{}", &digest_of(&[b"token", world.ids.next().as_bytes()])[..40])
}

fn group_id(permission: Permission) -> String {
    digest_of(&[b"permission group", permission.name().as_bytes()])[..32].to_owned()
}

pub(super) fn groups(call: &Call) -> Result<Reply, ApiErrors> {
    let fits = |key: &str, value: &str| call.query.get(key).is_none_or(|wanted| wanted == value);
    let groups: Vec<Value> = Permission::ALL
        .into_iter()
        .filter(|permission| fits("name", permission.name()) && fits("scope", permission.scope()))
        .map(|permission| {
            json!({
                "id": group_id(permission),
                "name": permission.name(),
                "scopes": [permission.scope()],
                "category": permission.category(),
            })
        })
        .collect();
    Ok(Reply::value(&Value::Array(groups)))
}

/// The name, the token and its policies that a body asks for.
fn wanted(body: &Value, kind: TokenKind, status: TokenStatus) -> Result<(String, Token, Value), ApiErrors> {
    let name = body.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
    let name = name.filter(|name| name.chars().count() <= NAME_MAX).ok_or(TokenRefusal::Name)?;
    let policies = body
        .get("policies")
        .and_then(Value::as_array)
        .filter(|policies| !policies.is_empty())
        .ok_or(TokenRefusal::Field { field: "policies" })?;
    let mut permissions = BTreeSet::new();
    let mut denied = BTreeSet::new();
    let mut reach = Reach::default();
    for policy in policies {
        let groups = groups_of(policy)?;
        match policy.get("effect").and_then(Value::as_str) {
            Some("allow") => {
                permissions.extend(groups);
                reach.add(policy.get("resources"))?;
            }
            Some("deny") => denied.extend(groups),
            _ => return Err(TokenRefusal::Field { field: "effect" }.into()),
        }
    }
    let (accounts, zones) = reach.scopes();
    let token = Token {
        kind,
        permissions: permissions.difference(&denied).copied().collect(),
        accounts,
        zones,
        status,
        expires_on: time(body, "expires_on")?,
        not_before: time(body, "not_before")?,
    };
    Ok((name.to_owned(), token, policies.iter().map(stored).collect()))
}

/// A policy as it is shown: Cloudflare gives it an ID of its own.
fn stored(policy: &Value) -> Value {
    let mut policy = policy.clone();
    policy["id"] = json!(&digest_of(&[b"policy", policy.to_string().as_bytes()])[..32]);
    policy
}

fn groups_of(policy: &Value) -> Result<Vec<Permission>, TokenRefusal> {
    let groups = policy.get("permission_groups").and_then(Value::as_array).ok_or(TokenRefusal::Group)?;
    groups
        .iter()
        .map(|group| {
            let id = group.get("id").and_then(Value::as_str);
            let known = Permission::ALL.into_iter().find(|permission| id == Some(&group_id(*permission)));
            known.ok_or(TokenRefusal::Group)
        })
        .collect()
}

fn time(body: &Value, field: &'static str) -> Result<Option<Timestamp>, TokenRefusal> {
    match body.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_str().map(str::parse) {
            Some(Ok(time)) => Ok(Some(time)),
            _ => Err(TokenRefusal::Field { field }),
        },
    }
}

/// What the resources of all policies reach together.
#[derive(Default)]
struct Reach {
    all_accounts: bool,
    all_zones: bool,
    accounts: BTreeSet<String>,
    zones: BTreeSet<String>,
}

impl Reach {
    fn add(&mut self, resources: Option<&Value>) -> Result<(), TokenRefusal> {
        let resources =
            resources.and_then(Value::as_object).ok_or(TokenRefusal::Field { field: "resources" })?;
        for (resource, inner) in resources {
            let zone = resource.strip_prefix("com.cloudflare.api.account.zone.");
            let account = resource.strip_prefix("com.cloudflare.api.account.");
            match (zone, account) {
                (Some("*"), _) => self.all_zones = true,
                (Some(zone), _) => {
                    self.zones.insert(zone.to_owned());
                }
                (None, Some("*")) => self.all_accounts = true,
                (None, Some(account)) => {
                    self.accounts.insert(account.to_owned());
                    if inner.is_object() {
                        self.add(Some(inner))?;
                    }
                }
                (None, None) if resource.starts_with("com.cloudflare.api.user.") => {}
                (None, None) => return Err(TokenRefusal::Field { field: "resources" }),
            }
        }
        Ok(())
    }

    fn scopes(self) -> (Scope, Scope) {
        let accounts = match self.all_accounts || self.accounts.is_empty() {
            true => Scope::All,
            false => Scope::Only(self.accounts),
        };
        let zones = match self.all_zones || self.zones.is_empty() {
            true => Scope::All,
            false => Scope::Only(self.zones),
        };
        (accounts, zones)
    }
}

/// A token that was put into the world by a test or a scenario.
pub(super) fn scene_credential(id: &str, token: Token, now: Timestamp) -> Credential {
    let id: Arc<str> = Arc::from(id);
    Credential {
        name: format!("token {id}"),
        id,
        token,
        issued_on: now,
        modified_on: now,
        policies: json!([]),
    }
}
