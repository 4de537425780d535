//! Whether the call budget can pay for the drift checks. If not, kflare says so instead of silently being late (contract
//! K17): a metric, and one Event on each CloudflareAccount whose token has to pay.
//! Only tells: when an object is checked is decided by the queue, and who may call by the budget.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use cf_api::budget::sustainable_drift;
use kinds::table::Grouping;
use kinds::{Key, Kind, Reason, Resource};
use plan::snapshot::Lookup;
use plan::{CredId, Event, MemberId, UnitKey};
use tokio::sync::watch;

use crate::cache::Cache;
use crate::events::Publisher;
use crate::leader::Lease;
use crate::limits::{CHAIN_MAX, DRIFT_RELIEF};
use crate::object;
use crate::routing;
use crate::state::{Shared, State};

/// What one round of checks costs a token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Cost {
    accounts: BTreeSet<Key>,
    objects: usize,
    calls: u64,
}

/// Looks from time to time at what the checks cost.
pub struct DriftWatch {
    /// Caches and memories.
    pub shared: Arc<Shared>,
    /// Takes the Events.
    pub events: Publisher,
    /// The interval that was asked for.
    pub interval: Duration,
    /// Between two looks.
    pub pause: Duration,
    /// Says nothing while another one leads.
    pub lease: Lease,
    /// True once it has to end.
    pub stopping: watch::Receiver<bool>,
}

impl DriftWatch {
    /// Looks until told to stop.
    pub async fn run(mut self) {
        let mut told = BTreeSet::new();
        loop {
            tokio::select! {
                biased;
                _ = self.stopping.wait_for(|stopping| *stopping) => return,
                () = tokio::time::sleep(self.pause) => {}
            }
            if self.lease.may_send() {
                self.look(&mut told);
            }
        }
    }

    fn look(&self, told: &mut BTreeSet<Key>) {
        let state = self.shared.lock();
        let costs = costs(&state);
        let held = costs.values().map(|cost| sustainable_drift(cost.calls)).max().unwrap_or_default();
        self.shared.metrics.drift_interval(self.interval, held);
        for (account, cost) in news(&costs, self.interval, told) {
            let Some((kind, object)) = found(&state.cache, &account) else { continue };
            let note = note(cost, self.interval);
            tracing::warn!(account = account.name, note, "the call budget cannot pay for the drift checks");
            self.events.publish(kind, &object, &Event { normal: false, reason: Reason::DriftBehind, note });
        }
    }
}

/// The kind whose objects hold credentials.
fn account_kind() -> Option<&'static Kind> {
    kinds::KINDS.iter().copied().find(|kind| kind.secret.is_some())
}

fn found(cache: &Cache, account: &Key) -> Option<(&'static Kind, Resource)> {
    let kind = account_kind()?;
    match cache.get(kind.name, account) {
        Lookup::Found(object) => Some((kind, object)),
        _ => None,
    }
}

/// The accounts that have to be told, each once until its checks can be paid for again.
fn news<'c>(
    costs: &'c BTreeMap<CredId, Cost>,
    interval: Duration,
    told: &mut BTreeSet<Key>,
) -> Vec<(Key, &'c Cost)> {
    let mut news = Vec::new();
    let mut still = BTreeSet::new();
    for cost in costs.values() {
        let held = sustainable_drift(cost.calls);
        for account in &cost.accounts {
            let was_told = told.contains(account);
            // Just below the interval nothing is over: the next object would bring the same Event again.
            if held > interval || was_told && held > interval.mul_f64(DRIFT_RELIEF) {
                still.insert(account.clone());
                if !was_told {
                    news.push((account.clone(), cost));
                }
            }
        }
    }
    *told = still;
    news
}

fn note(cost: &Cost, interval: Duration) -> String {
    let held = sustainable_drift(cost.calls);
    format!(
        "a drift check every {} cannot be paid for: the {} objects of this token cost {} calls, for which the call \
         budget holds one every {}",
        shown(interval),
        cost.objects,
        cost.calls,
        shown(held)
    )
}

/// Minutes once there are several, seconds below; rounded up.
fn shown(duration: Duration) -> String {
    let seconds = duration.as_millis().div_ceil(1_000);
    if seconds < 120 { format!("{seconds}s") } else { format!("{}m", seconds.div_ceil(60)) }
}

/// What one round of checks costs each token. Only objects that are in order are checked.
fn costs(state: &State) -> BTreeMap<CredId, Cost> {
    let cache = &state.cache;
    let mut creds: BTreeMap<Key, Option<CredId>> = BTreeMap::new();
    let mut costs: BTreeMap<CredId, Cost> = BTreeMap::new();
    let mut units: BTreeMap<(UnitKey, CredId), usize> = BTreeMap::new();
    for kind in kinds::KINDS {
        for member in cache.all(kind.name).filter(|member| cache.is_ready(member)) {
            let Some(account) = account_of(cache, &member) else { continue };
            let cred = creds.entry(account.clone()).or_insert_with(|| cred_of(cache, &account));
            let Some(cred) = cred.clone() else { continue };
            let cost = costs.entry(cred.clone()).or_default();
            cost.accounts.insert(account);
            cost.objects += 1;
            match routing::unit_of(cache, &member) {
                // The token is looked at, too, where there is one.
                UnitKey::Object(_) => cost.calls += if kind.secret.is_some() { 2 } else { 1 },
                unit @ UnitKey::Children { .. } => *units.entry((unit, cred)).or_default() += 1,
            }
        }
    }
    for ((unit, cred), members) in units {
        costs.entry(cred).or_default().calls += calls_of(&unit, members, state.listed(&unit));
    }
    costs
}

/// The calls that show all members of a unit once.
fn calls_of(unit: &UnitKey, members: usize, listed: Option<usize>) -> u64 {
    let kind = match unit {
        UnitKey::Object(_) => return 1,
        UnitKey::Children { kind, .. } => kinds::kind(kind),
    };
    let Some(kind) = kind.filter(|kind| kind.grouping != Grouping::ParentDocument) else { return 1 };
    let pages = listed.unwrap_or(members).div_ceil(kind.routes.page_size.max(1) as usize).max(1);
    let one_by_one = members < pages && members <= plan::limits::LOOKUPS_MAX;
    (if one_by_one { members } else { pages }) as u64
}

fn account_of(cache: &Cache, member: &MemberId) -> Option<Key> {
    let holder = account_kind()?.name;
    let mut at = member.clone();
    for _ in 0..CHAIN_MAX {
        if at.kind == holder {
            return Some(at.key);
        }
        let parent = kinds::kind(at.kind)?.parent()?.kind;
        let (kind, key) = cache.references(&at).iter().find(|(kind, _)| *kind == parent)?;
        at = MemberId { kind, key: key.clone() };
    }
    None
}

fn cred_of(cache: &Cache, account: &Key) -> Option<CredId> {
    let (kind, object) = found(cache, account)?;
    let (key, entry) = object::token_place(kind.secret.as_ref()?, &object)?;
    Some(CredId::new(&key, &entry))
}

#[cfg(test)]
mod tests;
