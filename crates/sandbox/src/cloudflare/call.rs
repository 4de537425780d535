//! One request, taken apart and authenticated; the products read nothing else.
//! Carries it to the product that answers it.

use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::Value;

use super::envelope::{ApiErrors, Reply};
use super::gateway::Gateway;
use super::query::Query;
use super::route::{Endpoint, Routed};
use super::token::{Permission, Scope, Token, TokenKind};
use super::world::{OUT_OF_BAND, World};
use super::{account, dns, hold, subscription, token_calls, tunnel, user, zone_calls};

/// Who asks.
#[derive(Clone, Debug)]
pub(super) struct Actor {
    /// The token's id, or [`OUT_OF_BAND`].
    pub(super) id: Arc<str>,
    /// Absent for changes behind the API's back, which may do everything.
    pub(super) token: Option<Arc<Token>>,
    /// When the token was made: new tokens are refused for a while where the switches say so.
    pub(super) since: Timestamp,
}

impl Actor {
    pub(super) fn out_of_band() -> Self {
        Self { id: OUT_OF_BAND.into(), token: None, since: Timestamp::MIN }
    }

    pub(super) fn grants(&self, permission: Permission) -> bool {
        self.token.as_ref().is_none_or(|token| token.grants(permission))
    }

    pub(super) fn sees_zone(&self, account_id: &str, zone_id: &str) -> bool {
        self.sees_account(account_id) && self.token.as_ref().is_none_or(|token| token.zones.holds(zone_id))
    }

    pub(super) fn sees_account(&self, account_id: &str) -> bool {
        self.token.as_ref().is_none_or(|token| token.reaches_account(account_id))
    }

    /// A token that is for single zones cannot make new ones.
    pub(super) fn may_add_zones(&self, account_id: &str) -> bool {
        self.sees_account(account_id) && self.token.as_ref().is_none_or(|token| token.zones == Scope::All)
    }

    /// The user whose token it is; none for account-owned tokens.
    pub(super) fn user(&self) -> Option<&str> {
        match self.token.as_deref().map(|token| &token.kind) {
            Some(TokenKind::User { user }) => Some(user),
            _ => None,
        }
    }

    /// Whose rate limit it is: a user's tokens share one, an account-owned token has its own.
    pub(super) fn limit_subject(&self) -> String {
        self.user().map_or_else(|| format!("token {}", self.id), |user| format!("user {user}"))
    }

    pub(super) fn require(&self, permission: Permission) -> Result<(), ApiErrors> {
        if self.grants(permission) { Ok(()) } else { Err(Gateway::NoPermission.into()) }
    }
}

/// A request that was routed and authenticated.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) actor: Actor,
    pub(super) routed: Routed,
    pub(super) query: Query,
    /// The value of `Content-Type`, empty without one.
    pub(super) content_type: String,
    pub(super) body: Bytes,
}

impl Call {
    /// The id at this place of the route; rows and their handlers agree on the number.
    pub(super) fn id(&self, place: usize) -> &str {
        self.routed.ids.get(place).map_or("", String::as_str)
    }

    pub(super) fn json(&self) -> Result<Value, ApiErrors> {
        if self.body.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&self.body).map_err(|_| Gateway::MalformedJson.into())
    }

    /// The collection that the request is about: `zones/…/dns_records` for a record, a batch or the list.
    pub(super) fn collection(&self) -> String {
        let mut ids = self.routed.ids.iter();
        let mut path: Vec<&str> = Vec::new();
        let mut last = "";
        for word in self.routed.row.template.split('/').skip(1) {
            last = word;
            path.push(if word.starts_with('{') { ids.next().map_or("", String::as_str) } else { word });
        }
        if last.starts_with('{') || matches!(last, "batch" | "import") {
            path.pop();
        }
        path.join("/")
    }

    /// True for a read of a whole collection (or of a thing that there is one of).
    pub(super) fn is_list(&self) -> bool {
        !self.is_write() && !self.routed.row.template.ends_with('}')
    }

    pub(super) fn is_write(&self) -> bool {
        self.routed.row.method != "GET"
    }
}

/// Carries out one call.
pub(super) fn perform(world: &mut World, now: Timestamp, call: &Call) -> Result<Reply, ApiErrors> {
    use Endpoint as E;
    match call.routed.row.endpoint {
        E::UserVerify | E::AccountVerify => token_calls::verify(world, now, call),
        E::UserTokenList | E::AccountTokenList => token_calls::list(world, now, call),
        E::UserTokenCreate | E::AccountTokenCreate => token_calls::create(world, now, call),
        E::UserTokenGet | E::AccountTokenGet => token_calls::get(world, now, call),
        E::UserTokenUpdate | E::AccountTokenUpdate => token_calls::update(world, now, call),
        E::UserTokenDelete | E::AccountTokenDelete => token_calls::delete(world, call),
        E::UserTokenRoll | E::AccountTokenRoll => token_calls::roll(world, now, call),
        E::UserTokenGroups | E::AccountTokenGroups => token_calls::groups(call),
        E::User => user::get(call),
        E::Memberships => user::memberships(world, call),
        E::AccountList => account::list(world, call),
        E::AccountCreate => account::create(call),
        E::AccountGet => account::get(world, call),
        E::AccountUpdate => account::update(world, call),
        E::AccountDelete => account::delete(world, call),
        E::AccountDnsUsage => dns::calls::account_usage(world, call),
        E::ZoneList => zone_calls::list(world, now, call),
        E::ZoneCreate => zone_calls::create(world, now, call),
        E::ZoneGet => zone_calls::get(world, now, call),
        E::ZonePatch => zone_calls::patch(world, now, call),
        E::ZoneDelete => zone_calls::delete(world, now, call),
        E::ActivationCheck => zone_calls::activation_check(world, now, call),
        E::PurgeCache => zone_calls::purge_cache(world, now, call),
        E::SubscriptionGet => subscription::get(world, now, call),
        E::SubscriptionCreate => subscription::create(world, now, call),
        E::SubscriptionUpdate => subscription::update(world, now, call),
        E::HoldGet => hold::get(world, now, call),
        E::HoldCreate => hold::create(world, now, call),
        E::HoldPatch => hold::patch(world, now, call),
        E::HoldDelete => hold::delete(world, now, call),
        E::RecordList => dns::list::list(world, now, call),
        E::RecordCreate => dns::calls::create(world, now, call),
        E::RecordGet => dns::calls::get(world, now, call),
        E::RecordPut | E::RecordPatch => dns::calls::change(world, now, call),
        E::RecordDelete => dns::calls::delete(world, now, call),
        E::RecordBatch => dns::batch::run(world, now, call),
        E::RecordExport => dns::zone_file::export(world, now, call),
        E::RecordImport => dns::zone_file::import(world, now, call),
        E::RecordScan | E::RecordScanTrigger | E::RecordScanReview | E::RecordScanAnswer => {
            dns::scan::answer(world, now, call)
        }
        E::RecordUsage => dns::calls::usage(world, now, call),
        E::TunnelList => tunnel::calls::list(world, now, call),
        E::TunnelCreate => tunnel::calls::create(world, now, call),
        E::TunnelGet => tunnel::calls::get(world, now, call),
        E::TunnelPatch => tunnel::calls::patch(world, now, call),
        E::TunnelDelete => tunnel::calls::delete(world, now, call),
        E::TunnelToken => tunnel::calls::token(world, now, call),
        E::TunnelManagement => tunnel::calls::management(world, now, call),
        E::TunnelConnections => tunnel::calls::connections(world, now, call),
        E::TunnelCleanUp => tunnel::calls::clean_up(world, now, call),
        E::TunnelConnector => tunnel::calls::connector(world, now, call),
        E::TunnelConfigurationGet => tunnel::configuration::get(world, now, call),
        E::TunnelConfigurationPut => tunnel::configuration::put(world, now, call),
    }
}
