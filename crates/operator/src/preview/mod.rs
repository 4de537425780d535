//! What the operator would do: its own passes over given objects, with predictions in the place of everything it sends.
//! Decides nothing and changes nothing; where the objects come from and how the result is shown is the caller's.
//!
//! # Flow
//! The objects fill the caches, as a list would. The queue then runs as in the operator, parents before children: what
//! a pass foresees (patches, statuses, objects in Cloudflare) is what the next one finds. It ends when nothing is due
//! but retries, polls and checks.
//!
//! # Guarantees
//! Nothing but reads leaves the process: the effects are [`Effects::Foreseen`], and both ways out refuse all else.

mod foresight;
mod read_only;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cf_api::budget::Class;
use kinds::{Key, Kind, Resource};
use kube::Client;
use plan::{Act, MemberId};
use tokio::time::Instant;

pub use foresight::Foresight;
pub use read_only::Secrets;

use crate::bounded::bounded;
use crate::cache::{Cache, Source};
use crate::cloudflare::Cloudflare;
use crate::credentials::Credentials;
use crate::dispatcher::next_slice;
use crate::effects::Effects;
use crate::leader::Lease;
use crate::limits::PREVIEW_PASSES_MAX;
use crate::metrics::Metrics;
use crate::operator::Config;
use crate::pass::{self, Context};
use crate::pass_time::Parked;
use crate::queue::{Again, Queue, Slice, Why};
use crate::routing;
use crate::send::Sender;
use crate::state::Shared;
use crate::transport::Transport;

/// What is there before anything happens.
#[derive(Debug, Default)]
pub struct World {
    /// All objects of our kinds, as they will be when the pass begins.
    pub objects: Vec<(&'static Kind, Resource)>,
    /// The labels of all namespaces.
    pub namespaces: BTreeMap<String, BTreeMap<String, String>>,
    /// Secrets that count in the place of the cluster's.
    pub secrets: Secrets,
    /// The objects are all that there are. If not, no document is written as a whole (V3).
    pub complete: bool,
}

/// Which objects are looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All.
    Everything,
    /// These, what they lead to and what depends on them; and whoever a change of those wakes.
    Around(BTreeSet<MemberId>),
}

/// What the operator would do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Preview {
    /// Every object that was looked at, as it would be afterwards; `None` for one that would be gone.
    pub objects: BTreeMap<MemberId, Option<Resource>>,
    /// Every act, in the order in which they would be sent.
    pub acts: Vec<Act>,
    /// Calls to Cloudflare that were made to find out.
    pub reads: usize,
    /// Objects that were looked at again and again without coming to rest.
    pub restless: BTreeSet<MemberId>,
}

/// Looks at what the operator would do. `cluster` is asked for Secrets only.
///
/// # Assumptions
/// Runs inside a tokio runtime. As in the operator several passes run at a time; each round of them begins when the last
/// one has ended, so that the result does not depend on who is faster.
pub async fn preview(
    cluster: Option<Client>,
    cloudflare: Transport,
    world: World,
    scope: &Scope,
    config: &Config,
) -> Preview {
    let (foresight, count) = (Foresight::default(), read_only::Count::default());
    let kubernetes = read_only::client(cluster, world.secrets.clone(), foresight.clone());
    let transport = read_only::transport(cloudflare, count.clone());
    let complete = world.complete;
    let shared = shared(world, config);
    let context = context(kubernetes, transport, config, &shared, foresight.clone());
    begin(&shared, scope);
    let mut passes = Passes::default();
    let mut now = Instant::now();
    loop {
        let slices = next(&shared, config, complete, &mut now);
        if slices.is_empty() {
            break;
        }
        let runs = slices.iter().map(|slice| pass::run(&context, slice));
        let ended = futures::future::join_all(runs).await;
        foresight.end_round();
        let mut state = shared.lock();
        for (slice, again) in slices.iter().zip(ended) {
            let again = again.into_iter().map(|(member, again)| passes.end(member, again)).collect();
            state.queue.finish(&slice.unit, again, now);
        }
    }
    let state = shared.lock();
    let seen = |member: &MemberId| state.cache.get(member.kind, &member.key).found().cloned();
    let objects = passes.counts.into_keys().map(|member| (member.clone(), seen(&member))).collect();
    Preview { objects, acts: foresight.acts(), reads: count.get(), restless: passes.restless }
}

/// How often each object was looked at.
#[derive(Debug, Default)]
struct Passes {
    counts: BTreeMap<MemberId, usize>,
    restless: BTreeSet<MemberId>,
}

impl Passes {
    /// When a member is looked at again after a pass. What only time or others can change is not waited for.
    fn end(&mut self, member: MemberId, again: Again) -> (MemberId, Again) {
        let count = self.counts.entry(member.clone()).or_default();
        *count += 1;
        let again = match again {
            Again::Now(_) if *count >= PREVIEW_PASSES_MAX => {
                self.restless.insert(member.clone());
                Again::Resync
            }
            Again::Now(_) | Again::Forget => again,
            _ => Again::Resync,
        };
        (member, again)
    }
}

/// The slices that may run at the same time. The time in which a unit collects members is not waited for.
fn next(shared: &Shared, config: &Config, complete: bool, now: &mut Instant) -> Vec<Slice> {
    let mut state = shared.lock();
    let mut slices = Vec::new();
    loop {
        *now = Instant::now().max(*now);
        state.queue.advance(*now);
        while slices.len() < config.concurrency.max(1)
            && let Some(mut slice) = next_slice(&mut state, config.timings.watch_backoff_first, *now)
        {
            slice.complete &= complete;
            slices.push(slice);
        }
        let hold_off = state.queue.depth().delayed.get(&Why::HoldOff).copied();
        match hold_off {
            Some((_, until)) if slices.is_empty() => *now = until.max(*now),
            _ => return slices,
        }
    }
}

/// Fills the caches as complete lists would.
fn shared(world: World, config: &Config) -> Arc<Shared> {
    let mut cache = Cache::new(kinds::KINDS);
    let mut held: BTreeMap<&str, BTreeSet<Key>> = BTreeMap::new();
    for (kind, resource) in &world.objects {
        cache.apply(kind, resource, Source::List);
        held.entry(kind.name).or_default().insert(resource.key());
    }
    for kind in kinds::KINDS {
        cache.listed(kind, held.get(kind.name).unwrap_or(&BTreeSet::new()));
    }
    let names = world.namespaces.keys().map(|name| Key::new("", name)).collect();
    for (name, labels) in world.namespaces {
        cache.namespace(&name, Some(labels));
    }
    cache.namespaces_listed(&names);
    let queue = Queue::new(config.timings.clone(), config.seed, None);
    Arc::new(Shared::new(cache, queue, Arc::new(Metrics::default())))
}

fn context(
    kubernetes: Client,
    transport: Transport,
    config: &Config,
    shared: &Arc<Shared>,
    foresight: Foresight,
) -> Context {
    let (clock, metrics) = (Arc::clone(&config.clock), Arc::clone(&shared.metrics));
    let (timings, lease) = (&config.timings, Lease::unneeded());
    let cloudflare =
        Cloudflare::new(transport, Arc::clone(&clock), metrics, timings.cloudflare_request, lease.clone());
    let kubernetes_timeout = timings.kubernetes_request;
    let kubernetes = bounded(kubernetes, kubernetes_timeout, Arc::clone(&shared.metrics));
    let sender = Sender { cloudflare, kubernetes: kubernetes.clone(), kubernetes_timeout, lease };
    Context {
        shared: Arc::clone(shared),
        // When the operator first saw a token is not known here: the plan shows what is said once it is not new any more.
        credentials: Credentials::new(kubernetes, kubernetes_timeout, None),
        sender: Arc::new(sender),
        effects: Effects::Foreseen(foresight),
        clock,
        reconcile_timeout: config.reconcile_timeout,
        default_deletion: config.default_deletion,
        parked: Parked::default(),
        portions: config.portions,
    }
}

/// Queues what is looked at, parents before children.
fn begin(shared: &Shared, scope: &Scope) {
    let mut state = shared.lock();
    let all = kinds::KINDS.iter().flat_map(|kind| state.cache.all(kind.name)).collect::<Vec<_>>();
    let wanted = match scope {
        Scope::Everything => None,
        Scope::Around(members) => Some(around(&state.cache, members)),
    };
    let now = Instant::now();
    for member in
        all.into_iter().filter(|member| wanted.as_ref().is_none_or(|wanted| wanted.contains(member)))
    {
        let unit = routing::unit_of(&state.cache, &member);
        state.queue.add(&unit, member, Class::User, now);
    }
}

/// These members with all that is above and below them.
fn around(cache: &Cache, members: &BTreeSet<MemberId>) -> BTreeSet<MemberId> {
    let above = |member: &MemberId| {
        let references = cache.references(member).iter();
        references.map(|(kind, key)| MemberId { kind, key: key.clone() }).collect::<Vec<_>>()
    };
    let below = |member: &MemberId| cache.children(member.kind, &member.key).cloned().collect::<Vec<_>>();
    let mut wanted = closure(members, below);
    wanted.extend(closure(&wanted, above));
    wanted
}

fn closure(from: &BTreeSet<MemberId>, to: impl Fn(&MemberId) -> Vec<MemberId>) -> BTreeSet<MemberId> {
    let mut reached = from.clone();
    let mut open: Vec<MemberId> = from.iter().cloned().collect();
    while let Some(member) = open.pop() {
        open.extend(to(&member).into_iter().filter(|next| reached.insert(next.clone())));
    }
    reached
}
