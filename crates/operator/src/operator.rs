//! The operator as a whole: starts every task and stops them. Dropping it is a crash: every task ends at once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::bounded::bounded;
use crate::cache::Cache;
use crate::cloudflare::{Clock, Cloudflare};
use crate::credentials::Credentials;
use crate::dispatcher::Dispatcher;
use crate::drift::DriftWatch;
use crate::effects::Effects;
use crate::events::Publisher;
use crate::leader::{self, Candidate, LeaderConfig, Leadership, Lease};
use crate::limits::CONCURRENCY;
use crate::metrics::Metrics;
use crate::pass::{Context, Portions};
use crate::pass_time::Parked;
use crate::queue::{Queue, Why};
use crate::send::Sender;
use crate::sightings::Sightings;
use crate::state::Shared;
use crate::status::StatusWriter;
use crate::timings::Timings;
use crate::transport::Transport;
use crate::{events, informer};

/// What the Events of an operator without election name as their instance.
const INSTANCE: &str = "kflare";

/// How an operator runs.
#[derive(Clone)]
pub struct Config {
    /// All durations.
    pub timings: Timings,
    /// Draws every jitter.
    pub seed: u64,
    /// The time of day.
    pub clock: Clock,
    /// How often Cloudflare is looked at for changes of others; `None` for never.
    pub drift_check_interval: Option<Duration>,
    /// What happens by default to an object whose resource goes.
    pub default_deletion: plan::policy::Deletion,
    /// Bounds one pass, waiting for the call budget not counted.
    pub reconcile_timeout: Duration,
    /// The election; `None` to run without.
    pub leader: Option<LeaderConfig>,
    /// Passes at once.
    pub concurrency: usize,
    /// How passes take in the members of a large unit.
    pub portions: Portions,
}

impl Config {
    /// The defaults of contract §3e, without election.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self {
            timings: Timings::default(),
            seed: 0,
            clock,
            drift_check_interval: None,
            default_deletion: plan::policy::Deletion::default(),
            reconcile_timeout: Duration::from_secs(300),
            leader: None,
            concurrency: CONCURRENCY,
            portions: Portions::default(),
        }
    }
}

/// What an operator does, for tests that wait until nothing is due and for the live table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activity {
    /// Every list has been read once.
    pub synced: bool,
    /// Where the election stands; `None` without one.
    pub leadership: Option<Leadership>,
    /// Units that could run now.
    pub ready: usize,
    /// Units that run.
    pub running: usize,
    /// Members that are due once another one's run has ended.
    pub held: usize,
    /// What is due later: how many and the soonest, by reason.
    pub delayed: BTreeMap<Why, (usize, Instant)>,
}

impl Activity {
    /// True when nothing runs or could run, and nothing waits but for changes, safety polls, drift checks and resyncs.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        let due_soon = [Why::HoldOff, Why::Retry].iter().any(|why| self.delayed.contains_key(why));
        self.synced && self.ready == 0 && self.running == 0 && self.held == 0 && !due_soon
    }
}

/// A running operator.
pub struct Operator {
    shared: Arc<Shared>,
    lease: Lease,
    leadership: Option<watch::Receiver<Leadership>>,
    stop: watch::Sender<bool>,
    kube: Client,
    config: Config,
    dispatcher: JoinSet<()>,
    events: JoinSet<()>,
    others: JoinSet<()>,
}

impl Operator {
    /// Starts an operator. Must be called inside a tokio runtime. The client must not retry: what may be repeated is
    /// decided here, and pauses must be reproducible.
    #[must_use]
    pub fn start(kube: Client, cloudflare: Transport, config: Config) -> Self {
        let (timings, seed) = (config.timings.clone(), config.seed);
        let metrics = Arc::new(Metrics::default());
        let kube = bounded(kube, timings.kubernetes_request, Arc::clone(&metrics));
        let queue = Queue::new(timings.clone(), seed, config.drift_check_interval);
        let shared = Arc::new(Shared::new(Cache::new(kinds::KINDS), queue, metrics));
        let mut others = JoinSet::new();
        let leadership =
            config.leader.clone().map(|leader| campaign(&kube, leader, &config, &shared, &mut others));
        let lease = leadership.clone().map_or(Lease::unneeded(), Lease::of);
        for kind in kinds::KINDS {
            shared.metrics.concurrency(kind.name, config.concurrency);
            others.spawn(informer::watch_kind(
                kube.clone(),
                kind,
                Arc::clone(&shared),
                timings.clone(),
                seed,
            ));
        }
        others.spawn(informer::watch_secrets(kube.clone(), Arc::clone(&shared), timings.clone(), seed));
        others.spawn(informer::watch_namespaces(kube.clone(), Arc::clone(&shared), timings.clone(), seed));
        let (stop, stopping) = watch::channel(false);
        let (mut dispatcher, mut events) = (JoinSet::new(), JoinSet::new());
        let publisher = publisher(&kube, &config, &shared, &mut events);
        if let Some(interval) = config.drift_check_interval {
            let (shared, events, lease) = (Arc::clone(&shared), publisher.clone(), lease.clone());
            let (pause, stopping) = (timings.drift_watch, stopping.clone());
            let watch = DriftWatch { shared, events, interval, pause, lease, stopping };
            dispatcher.spawn(watch.run());
        }
        let context = context(&kube, cloudflare, &config, &shared, &lease, publisher);
        let concurrency = config.concurrency;
        let runner =
            Dispatcher { context: Arc::new(context), concurrency, timings, lease: lease.clone(), stopping };
        dispatcher.spawn(runner.run());
        Self { shared, lease, leadership, stop, kube, config, dispatcher, events, others }
    }

    /// What it does now.
    #[must_use]
    pub fn activity(&self) -> Activity {
        let mut state = self.shared.lock();
        state.queue.advance(Instant::now());
        let depth = state.queue.depth();
        Activity {
            synced: state.cache.is_synced(),
            leadership: self.leadership.as_ref().map(|leadership| *leadership.borrow()),
            ready: depth.ready,
            running: depth.running,
            held: depth.held,
            delayed: depth.delayed,
        }
    }

    /// Its metrics.
    #[must_use]
    pub fn metrics(&self) -> Arc<Metrics> {
        Arc::clone(&self.shared.metrics)
    }

    /// What the health endpoints look at.
    #[must_use]
    pub fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    /// Ends when this process led and does so no more: all work is cancelled, and the process has to end. Never
    /// without election.
    pub async fn lost(&self) {
        self.lease.lost().await;
    }

    /// Starts nothing new, lets running passes finish within the time to drain, then releases the lease.
    pub async fn shutdown(mut self) {
        self.stop.send_replace(true);
        while self.dispatcher.join_next().await.is_some() {}
        // With the passes their publisher is gone: the writer ends when it has written what they left.
        let written = tokio::time::timeout(self.config.timings.status_write, self.events.join_next()).await;
        if written.is_err() {
            tracing::warn!("some Events could not be written in time");
        }
        // The candidate must not renew what is released.
        self.others.shutdown().await;
        if let Some(leader) = &self.config.leader {
            let limit = self.config.timings.lease_renew_deadline;
            leader::release(self.kube.clone(), leader, &self.config.clock, limit).await;
        }
    }
}

fn campaign(
    kube: &Client,
    leader: LeaderConfig,
    config: &Config,
    shared: &Shared,
    tasks: &mut JoinSet<()>,
) -> watch::Receiver<Leadership> {
    let (told, leadership) = watch::channel(Leadership::Waiting);
    let (timings, clock) = (config.timings.clone(), Arc::clone(&config.clock));
    let metrics = Arc::clone(&shared.metrics);
    let candidate = Candidate::new(kube.clone(), leader, timings, clock, config.seed, metrics, told);
    tasks.spawn(candidate.run());
    leadership
}

/// Takes Events; its writer is one of these tasks.
fn publisher(kube: &Client, config: &Config, shared: &Shared, tasks: &mut JoinSet<()>) -> Publisher {
    let (clock, metrics) = (Arc::clone(&config.clock), Arc::clone(&shared.metrics));
    let instance = config.leader.as_ref().map_or(INSTANCE, |leader| leader.identity.as_str());
    let timeout = config.timings.kubernetes_request;
    let (publisher, writer) = events::channel(kube.clone(), clock, metrics, timeout, instance);
    tasks.spawn(writer.run());
    publisher
}

fn context(
    kube: &Client,
    transport: Transport,
    config: &Config,
    shared: &Arc<Shared>,
    lease: &Lease,
    events: Publisher,
) -> Context {
    let timings = config.timings.clone();
    let (clock, metrics) = (Arc::clone(&config.clock), Arc::clone(&shared.metrics));
    let timeout = timings.kubernetes_request;
    let cloudflare =
        Cloudflare::new(transport, Arc::clone(&clock), metrics, timings.cloudflare_request, lease.clone());
    let sender = Arc::new(Sender {
        cloudflare,
        kubernetes: kube.clone(),
        kubernetes_timeout: timeout,
        lease: lease.clone(),
    });
    let status = StatusWriter { sender: Arc::clone(&sender), shared: Arc::clone(shared), events, timings };
    Context {
        shared: Arc::clone(shared),
        credentials: Credentials::new(kube.clone(), timeout, Some(Sightings::default())),
        sender,
        effects: Effects::Sent(Box::new(status)),
        clock,
        reconcile_timeout: config.reconcile_timeout,
        default_deletion: config.default_deletion,
        parked: Parked::default(),
        portions: config.portions,
    }
}
