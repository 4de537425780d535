//! A zone: its fields, its status over time, its refusals, and how the API shows it.
//! The calls on zones are left to `zone_calls`, the records in it to `dns`.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::call::{Actor, Call};
use super::dns::store::Records;
use super::envelope::{ApiErrors, Coded};
use super::gateway::Gateway;
use super::hold::Hold;
use super::plan::Plan;
use super::switches::{Switches, UnknownZone};
use super::world::{ObjectKind, Recorded, World, digest_of, stamp};

/// How long a new zone reads `initializing`: long enough that a client which polls at once sees it.
pub(super) const INITIALIZING_FOR: SignedDuration = SignedDuration::from_secs(2);

/// First words of name servers; real ones are first names too.
const NAME_SERVERS: [&str; 16] = [
    "ada", "bob", "cleo", "dan", "elle", "finn", "gail", "hank", "iris", "jay", "kate", "liam", "mona",
    "neil", "olga", "paul",
];

/// Refusals of the zones product.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ZoneRefusal {
    #[error("{name} already exists")]
    Exists { name: String },
    #[error("Invalid domain")]
    InvalidDomain,
    #[error("{name} is not a registered domain")]
    NotRegistered { name: String },
    #[error(
        "Please ensure you are providing the root domain and not any subdomains (e.g., example.com, not subdomain.example.com)"
    )]
    Subdomain,
    #[error("We were unable to add {name} because it is banned")]
    Banned { name: String },
    #[error("account.id is required and must be an account identifier")]
    AccountMissing,
    #[error("Exactly one zone property can be changed at a time")]
    OneProperty,
    #[error("{field} is invalid")]
    InvalidField { field: &'static str },
    #[error("{what} is not available on this plan")]
    Plan { what: &'static str },
    #[error("You may only perform this action once in {seconds} seconds")]
    CheckedTooSoon { seconds: i64 },
    #[error("No hold exists on this zone")]
    NoHold,
    #[error("Zone holds are available on Enterprise zones only")]
    HoldPlan,
    #[error(
        "Request must contain one of \"purge_everything\", \"files\", \"tags\", \"hosts\" or \"prefixes\""
    )]
    Purge,
    #[error("The rate plan is invalid")]
    RatePlan,
}

impl Coded for ZoneRefusal {
    fn code(&self) -> u32 {
        match self {
            Self::Exists { .. } => 1061,
            Self::InvalidDomain => 1002,
            Self::NotRegistered { .. } => 1099,
            Self::Subdomain => 1116,
            Self::Banned { .. } => 1097,
            Self::NoHold => 1003,
            Self::HoldPlan => 1005,
            Self::Plan { .. } => 1015,
            Self::Purge => 1012,
            // No source names the codes of these; the status is what clients go by.
            Self::AccountMissing | Self::OneProperty | Self::InvalidField { .. } => 1004,
            Self::CheckedTooSoon { .. } => 1224,
            Self::RatePlan => 1207,
        }
    }

    fn status(&self) -> u16 {
        match self {
            Self::Banned { .. } | Self::Plan { .. } | Self::HoldPlan => 403,
            Self::NoHold => 404,
            _ => 400,
        }
    }
}

/// How a zone is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ZoneType {
    Full,
    Partial,
    Secondary,
    Internal,
}

impl ZoneType {
    pub(super) const ALL: [Self; 4] = [Self::Full, Self::Partial, Self::Secondary, Self::Internal];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Partial => "partial",
            Self::Secondary => "secondary",
            Self::Internal => "internal",
        }
    }

    pub(super) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Cloudflare docs: partial zones need Business; secondary and internal zones need Enterprise.
    pub(super) const fn least_plan(self) -> Plan {
        match self {
            Self::Full => Plan::Free,
            Self::Partial => Plan::Business,
            Self::Secondary | Self::Internal => Plan::Enterprise,
        }
    }
}

/// A zone.
#[derive(Debug)]
pub(super) struct Zone {
    pub(super) id: String,
    pub(super) name: Arc<str>,
    pub(super) account_id: String,
    pub(super) kind: ZoneType,
    pub(super) paused: bool,
    pub(super) vanity_name_servers: Vec<String>,
    pub(super) plan: Plan,
    pub(super) frequency: Option<String>,
    pub(super) subscription_id: String,
    pub(super) created_on: Timestamp,
    pub(super) modified_on: Timestamp,
    pub(super) initializing_until: Timestamp,
    pub(super) activated_on: Option<Timestamp>,
    /// The domain's name servers no longer point here.
    pub(super) is_moved: bool,
    pub(super) checked_on: Option<Timestamp>,
    pub(super) hold: Option<Hold>,
    pub(super) records: Records,
}

impl Zone {
    pub(super) fn new(
        id: String,
        subscription_id: String,
        account_id: &str,
        name: &str,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            name: name.into(),
            account_id: account_id.to_owned(),
            kind: ZoneType::Full,
            paused: false,
            vanity_name_servers: Vec::new(),
            plan: Plan::Free,
            frequency: None,
            subscription_id,
            created_on: now,
            modified_on: now,
            initializing_until: now,
            activated_on: None,
            is_moved: false,
            checked_on: None,
            hold: None,
            records: Records::default(),
        }
    }

    pub(super) fn status_at(&self, now: Timestamp) -> &'static str {
        match self.activated_on {
            _ if self.is_moved => "moved",
            Some(_) => "active",
            None if now < self.initializing_until => "initializing",
            None => "pending",
        }
    }

    /// Two name servers, the same for all full zones of an account.
    fn name_servers(&self) -> Value {
        if self.kind != ZoneType::Full {
            return Value::Null;
        }
        let digest = digest_of(&[self.account_id.as_bytes()]);
        let pick = digest.bytes().next().map_or(0, usize::from) % NAME_SERVERS.len();
        let other = (pick + 5) % NAME_SERVERS.len();
        let host = |index: usize| format!("{}.ns.cloudflare.com", NAME_SERVERS.get(index).unwrap_or(&"ada"));
        json!([host(pick.min(other)), host(pick.max(other))])
    }

    /// As the API answers it.
    pub(super) fn object(&self, account_name: &str, now: Timestamp) -> Value {
        let original = self
            .checked_on
            .or(self.activated_on)
            .map(|_| json!(["ns1.registrar.example", "ns2.registrar.example"]));
        let mut zone = json!({
            "id": self.id,
            "name": &*self.name,
            "account": { "id": self.account_id, "name": account_name },
            "type": self.kind.name(),
            "paused": self.paused,
            "status": self.status_at(now),
            "name_servers": self.name_servers(),
            "original_name_servers": original,
            "original_registrar": original.as_ref().map(|_| "registrar.example"),
            "original_dnshost": Value::Null,
            "activated_on": self.activated_on.map(stamp),
            "created_on": stamp(self.created_on),
            "modified_on": stamp(self.modified_on),
            "development_mode": 0,
            "owner": { "id": Value::Null, "name": Value::Null, "type": "user" },
            "plan": self.plan.object(),
            "meta": {
                "cdn_only": false,
                "custom_certificate_quota": 0,
                "dns_only": false,
                "foundation_dns": false,
                "page_rule_quota": self.plan.page_rules(),
                "phishing_detected": false,
                "step": if self.activated_on.is_some() { 4 } else { 2 },
            },
            "permissions": ["#dns_records:edit", "#dns_records:read", "#zone:edit", "#zone:read"],
            "tenant": { "id": Value::Null, "name": Value::Null },
            "tenant_unit": { "id": Value::Null },
        });
        if let Some(fields) = zone.as_object_mut() {
            if !self.vanity_name_servers.is_empty() {
                fields.insert("vanity_name_servers".to_owned(), json!(self.vanity_name_servers));
            }
            if self.kind == ZoneType::Partial {
                let key = &digest_of(&[b"verification", self.id.as_bytes()])[..18];
                fields.insert("verification_key".to_owned(), json!(key));
                fields.insert("cname_suffix".to_owned(), json!("cdn.cloudflare.net"));
            }
        }
        zone
    }
}

impl World {
    pub(super) fn account_name(&self, id: &str) -> &str {
        self.accounts.get(id).map_or("", |account| account.name.as_str())
    }

    pub(super) fn zone_object(&self, zone: &Zone, now: Timestamp) -> Value {
        zone.object(self.account_name(&zone.account_id), now)
    }

    /// The zone of a call, when its token may see it and the world already shows it.
    pub(super) fn zone_of(&self, now: Timestamp, call: &Call) -> Result<&Zone, ApiErrors> {
        let id = call.id(0);
        let seen = self.zones.get(id).filter(|zone| call.actor.sees_zone(&zone.account_id, &zone.id));
        match seen {
            Some(zone)
                if is_younger(zone.created_on, now, self.switches.lag.access_after_create, &call.actor) =>
            {
                Err(Gateway::NoPermission.into())
            }
            Some(zone) => Ok(zone),
            None => Err(unknown_zone(id, &self.switches)),
        }
    }

    /// Writes the change of a zone into the history.
    pub(super) fn note_zone(&mut self, now: Timestamp, actor: &Actor, id: &str, before: Option<Value>) {
        let after = self.zones.get(id).map(|zone| self.zone_object(zone, now));
        let text = |value: Option<Value>| value.map(|value| Arc::from(value.to_string()));
        self.history.push(Recorded {
            at: now,
            object: ObjectKind::Zone,
            zone_id: id.to_owned(),
            id: id.to_owned(),
            who: actor.id.clone(),
            before: text(before),
            after: text(after),
        });
    }

    /// Changes a zone and notes it. None when there is no such zone.
    pub(super) fn change_zone(
        &mut self,
        now: Timestamp,
        actor: &Actor,
        id: &str,
        change: impl FnOnce(&mut Zone),
    ) -> Option<Value> {
        let before = self.zones.get(id).map(|zone| self.zone_object(zone, now))?;
        let zone = self.zones.get_mut(id)?;
        change(zone);
        zone.modified_on = now;
        self.note_zone(now, actor, id, Some(before));
        self.zones.get(id).map(|zone| self.zone_object(zone, now))
    }

    /// Removes a zone with its records (cloudflare API docs: zones are deleted with what is in them).
    pub(super) fn drop_zone(&mut self, now: Timestamp, actor: &Actor, id: &str) -> bool {
        let Some(zone) = self.zones.remove(id) else { return false };
        for record in zone.records.iter() {
            self.history.push(Recorded {
                at: now,
                object: ObjectKind::DnsRecord,
                zone_id: id.to_owned(),
                id: record.id.clone(),
                who: actor.id.clone(),
                before: Some(record.answer.clone()),
                after: None,
            });
        }
        let before = self.zone_object(&zone, now);
        self.note_zone(now, actor, id, Some(before));
        true
    }
}

/// True while something is too new to be seen, where the switches say so.
pub(super) fn is_younger(
    created: Timestamp,
    now: Timestamp,
    lag: std::time::Duration,
    actor: &Actor,
) -> bool {
    let lag = SignedDuration::try_from(lag).unwrap_or(SignedDuration::ZERO);
    actor.token.is_some() && !lag.is_zero() && now.duration_since(created) < lag
}

fn unknown_zone(id: &str, switches: &Switches) -> ApiErrors {
    match switches.unknown_zone {
        UnknownZone::Forbidden => Gateway::ForbiddenZone.into(),
        UnknownZone::Invalid => Gateway::InvalidZone.into(),
        UnknownZone::NotFound => Gateway::NoObject { path: format!("/zones/{id}"), status: 404 }.into(),
    }
}
