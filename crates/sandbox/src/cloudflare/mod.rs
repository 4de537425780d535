//! The Cloudflare v4 API in memory, as a tower service: envelope, credentials, limits, accounts, zones, DNS, tunnels.
//! Written from the API's facts; it knows nothing of the clients that call it.

mod access;
mod account;
mod call;
mod control;
mod dns;
mod envelope;
mod gateway;
mod hold;
mod multipart;
mod plan;
mod query;
mod rate_limit;
mod route;
mod service;
mod subscription;
mod switches;
mod token;
mod token_calls;
mod tunnel;
mod user;
mod witness;
mod world;
mod zone;
mod zone_calls;
mod zone_filter;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde_json::Value;

pub use self::envelope::{ApiError, ApiErrors, Link, Source};
pub use self::plan::Plan;
pub use self::service::{CloudflareService, STALE_FOR};
pub use self::switches::{
    CoexistenceCode, ContentBesideData, Culprit, IdenticalCode, InnerWildcard, Lag, PrivateProxied,
    RateLimitCode, Switches, TooLarge, Unconfigured, UnknownZone, VerifyInactive,
};
pub use self::token::{Permission, Scope, Token, TokenKind, TokenStatus, UnknownPermission};
pub use self::witness::{Checked, Flaw, Misfit, Side};
pub use self::world::{Change, ChangeKind, OUT_OF_BAND, ObjectKind};

use self::account::Account;
use self::call::Actor;
use self::witness::Witness;
use self::world::World;
use self::zone::Zone;
use crate::clock::Clock;
use crate::fault::Faults;
use crate::recall::Recall;
use crate::request_log::RequestLog;

/// The Cloudflare API of one simulated world. Clones share it.
#[derive(Clone, Debug)]
pub struct Cloudflare {
    shared: Arc<Shared>,
}

/// What the handle and the service share.
struct Shared {
    clock: Clock,
    faults: Faults,
    log: RequestLog,
    world: Mutex<World>,
    recall: Recall<service::Answer>,
    /// Only where somebody tests: see [`Cloudflare::hold_to_schemas`].
    witness: OnceLock<Witness>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cloudflare").finish_non_exhaustive()
    }
}

impl Shared {
    /// The world as it is now, with what was held back for too long.
    fn world(&self) -> MutexGuard<'_, World> {
        let mut world = self.world.lock().unwrap_or_else(PoisonError::into_inner);
        world.commit_overdue(self.clock.now());
        world
    }
}

impl Cloudflare {
    /// An empty world with the default switches; the seed decides every id.
    #[must_use]
    pub fn new(clock: Clock, seed: u64) -> Self {
        Self::with_switches(clock, seed, Switches::default())
    }

    /// An empty world with these switches.
    #[must_use]
    pub fn with_switches(clock: Clock, seed: u64, switches: Switches) -> Self {
        let shared = Shared {
            clock,
            faults: Faults::default(),
            log: RequestLog::default(),
            world: Mutex::new(World::new(seed, switches)),
            recall: Recall::default(),
            witness: OnceLock::new(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// The API itself.
    #[must_use]
    pub fn service(&self) -> CloudflareService {
        CloudflareService::new(self)
    }

    /// The faults of this world.
    #[must_use]
    pub fn faults(&self) -> &Faults {
        &self.shared.faults
    }

    /// The log of this world.
    #[must_use]
    pub fn log(&self) -> &RequestLog {
        &self.shared.log
    }

    /// From now on every answer, and every request of kflare's, is held against the facts of the real API. What does not
    /// fit is kept for [`Cloudflare::take_misfits`]; nothing is answered otherwise.
    pub fn hold_to_schemas(&self) {
        self.shared.witness.get_or_init(Witness::default);
    }

    /// What did not fit since the last time, oldest first (the first hundred).
    #[must_use]
    pub fn take_misfits(&self) -> Vec<Misfit> {
        self.shared.witness.get().map(Witness::take).unwrap_or_default()
    }

    /// How much was held against the facts so far.
    #[must_use]
    pub fn checked(&self) -> Checked {
        self.shared.witness.get().map(Witness::checked).unwrap_or_default()
    }

    /// The current switches.
    #[must_use]
    pub fn switches(&self) -> Switches {
        self.world().switches.clone()
    }

    /// Changes the switches from now on.
    pub fn set_switches(&self, switches: Switches) {
        self.world().switches = switches;
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.shared.world()
    }
}

/// Setting the scene: without log, faults, credentials or limits.
impl Cloudflare {
    /// Adds a standard account. `id` has 32 lower-case hexadecimal digits.
    pub fn add_account(&self, id: &str, name: &str) {
        let account = Account::new(id, name, self.shared.clock.now());
        self.world().accounts.insert(id.to_owned(), account);
    }

    /// Makes an account an Enterprise account, whose new zones are Enterprise zones. False: no such account.
    pub fn set_enterprise(&self, account_id: &str) -> bool {
        self.set_new_zone_plan(account_id, Plan::Enterprise)
    }

    /// Gives an account's new zones this plan, as if each were paid for at once. False: no such account.
    pub fn set_new_zone_plan(&self, account_id: &str, plan: Plan) -> bool {
        let mut world = self.world();
        world.accounts.get_mut(account_id).map(|account| account.new_zone_plan = plan).is_some()
    }

    /// Adds a token and gives back its id.
    pub fn add_token(&self, secret: &str, token: Token) -> String {
        let now = self.shared.clock.now();
        let mut world = self.world();
        let id = world.ids.next();
        world.credentials.insert(access::key_of(secret), token_calls::scene_credential(&id, token, now));
        id
    }

    /// Adds a token with an ID of the caller's, so that what is made later has the same IDs as without it.
    pub fn add_token_as(&self, id: &str, secret: &str, token: Token) {
        let credential = token_calls::scene_credential(id, token, self.shared.clock.now());
        self.world().credentials.insert(access::key_of(secret), credential);
    }

    /// Changes a token's status. False: no such token.
    pub fn set_token_status(&self, secret: &str, status: TokenStatus) -> bool {
        let mut world = self.world();
        let credential = world.credentials.get_mut(&access::key_of(secret));
        credential.map(|credential| credential.token.status = status).is_some()
    }

    /// Replaces what a token may do and where; its id stays. False: no such token.
    pub fn set_token(&self, secret: &str, token: Token) -> bool {
        let mut world = self.world();
        let credential = world.credentials.get_mut(&access::key_of(secret));
        credential.map(|credential| credential.token = token).is_some()
    }

    /// Removes a token. False: no such token.
    pub fn remove_token(&self, secret: &str) -> bool {
        self.world().credentials.remove(&access::key_of(secret)).is_some()
    }

    /// Adds a pending zone and gives back its id. Nothing is refused: two zones may have one name.
    /// Unicode and upper case become what the API stores.
    pub fn add_zone(&self, account_id: &str, name: &str, plan: Plan) -> String {
        let now = self.shared.clock.now();
        let name = dns::name::domain(name).unwrap_or_else(|| name.to_owned());
        let mut world = self.world();
        let mut zone = Zone::new(world.ids.next(), world.ids.next(), account_id, &name, now);
        zone.plan = plan;
        let id = zone.id.clone();
        world.zones.insert(id.clone(), zone);
        world.note_zone(now, &Actor::out_of_band(), &id, None);
        id
    }

    /// Changes a zone's plan. False: no such zone.
    pub fn set_plan(&self, zone_id: &str, plan: Plan) -> bool {
        self.change_zone(zone_id, |zone| zone.plan = plan)
    }

    /// Makes a zone active, as the registrar's delegation does. False: no such zone.
    pub fn activate_zone(&self, zone_id: &str) -> bool {
        let now = self.shared.clock.now();
        self.change_zone(zone_id, |zone| {
            zone.is_moved = false;
            zone.activated_on.get_or_insert(now);
        })
    }

    /// Makes a zone `moved`: its domain's name servers point elsewhere. False: no such zone.
    pub fn move_zone(&self, zone_id: &str) -> bool {
        self.change_zone(zone_id, |zone| zone.is_moved = true)
    }

    fn change_zone(&self, zone_id: &str, change: impl FnOnce(&mut Zone)) -> bool {
        let now = self.shared.clock.now();
        self.world().change_zone(now, &Actor::out_of_band(), zone_id, change).is_some()
    }

    /// Removes a zone with its records. False: no such zone.
    pub fn remove_zone(&self, zone_id: &str) -> bool {
        let now = self.shared.clock.now();
        self.world().drop_zone(now, &Actor::out_of_band(), zone_id)
    }

    /// Merges into a record like PATCH, behind everyone's back. False: no such record, or refused.
    pub fn edit_record(&self, zone_id: &str, record_id: &str, merge: Value) -> bool {
        self.try_edit_record(zone_id, record_id, merge).is_ok()
    }

    /// The same, with the reason for a refusal.
    pub fn try_edit_record(&self, zone_id: &str, record_id: &str, merge: Value) -> Result<(), ApiErrors> {
        let now = self.shared.clock.now();
        let actor = Actor::out_of_band();
        self.world().at_desk(zone_id, now, &actor, |desk| desk.merge(record_id, &merge).map(drop))?;
        Ok(())
    }

    /// Removes a record behind everyone's back. False: no such record.
    pub fn remove_record(&self, zone_id: &str, record_id: &str) -> bool {
        let now = self.shared.clock.now();
        let actor = Actor::out_of_band();
        self.world().at_desk(zone_id, now, &actor, |desk| desk.remove(record_id).map(drop)).is_ok()
    }

    /// Creates a record behind everyone's back, validated like POST, and gives back its id.
    pub fn put_record(&self, zone_id: &str, body: Value) -> Result<String, ApiErrors> {
        let now = self.shared.clock.now();
        let actor = Actor::out_of_band();
        let id = self
            .world()
            .at_desk(zone_id, now, &actor, |desk| desk.create(&body).map(|record| record.id.clone()))?;
        Ok(id)
    }

    /// Carries out now what late-commit faults hold back.
    pub fn commit_late(&self) {
        let now = self.shared.clock.now();
        self.world().commit_late(now, None);
    }
}

/// Raw facts, for tests, scenarios and checkers.
impl Cloudflare {
    /// Every account as the API answers it, by id.
    #[must_use]
    pub fn accounts(&self) -> Vec<Value> {
        self.world().accounts.values().map(Account::object).collect()
    }

    /// Every zone as the API answers it, by name and id.
    #[must_use]
    pub fn zones(&self) -> Vec<Value> {
        let now = self.shared.clock.now();
        let world = self.world();
        let mut zones: Vec<&Zone> = world.zones.values().collect();
        zones.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
        zones.into_iter().map(|zone| world.zone_object(zone, now)).collect()
    }

    /// A zone's records as the API answers them, by name, type, content and id.
    #[must_use]
    pub fn records(&self, zone_id: &str) -> Vec<Value> {
        self.world().zones.get(zone_id).map(|zone| zone.records.sorted_values()).unwrap_or_default()
    }

    /// What a record would be stored as in place of `own_id`, or beside what is there, and why the API would refuse it.
    /// Nothing is changed.
    pub fn judge_record(
        &self,
        zone_id: &str,
        own_id: Option<&str>,
        body: &Value,
    ) -> Result<Value, ApiErrors> {
        let now = self.shared.clock.now();
        self.world().judge_record(zone_id, own_id, body, now)
    }

    /// A token by its secret.
    #[must_use]
    pub fn token(&self, secret: &str) -> Option<Token> {
        let world = self.world();
        world.credentials.get(&access::key_of(secret)).map(|credential| credential.token.clone())
    }

    /// How many records a zone has.
    #[must_use]
    pub fn record_count(&self, zone_id: &str) -> usize {
        self.world().zones.get(zone_id).map_or(0, |zone| zone.records.len())
    }

    /// Every record with its zone's name, sorted by that and then like [`Cloudflare::records`].
    #[must_use]
    pub fn records_anywhere(&self) -> Vec<(String, Value)> {
        let world = self.world();
        let mut zones: Vec<&Zone> = world.zones.values().collect();
        zones.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
        zones
            .into_iter()
            .flat_map(|zone| {
                let name = zone.name.to_string();
                zone.records.sorted_values().into_iter().map(move |record| (name.clone(), record))
            })
            .collect()
    }

    /// The changes of zones and records so far, oldest first (the last 200,000).
    #[must_use]
    pub fn history(&self) -> Vec<Change> {
        self.world().history.changes()
    }
}
