//! Runs what is due: takes units from the queue, starts a pass for each, and gives the results back.
//! Knows who may run and how many at once; what a pass does is in [`crate::pass`].

use std::sync::Arc;
use std::time::Duration;

use cf_api::budget::Class;
use kinds::table::Grouping;
use plan::UnitKey;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tracing::Instrument;

use crate::leader::Lease;
use crate::limits::PARKED_MAX;
use crate::metrics::Ended;
use crate::pass::{self, Context};
use crate::queue::{Again, Slice};
use crate::routing;
use crate::state::{Shared, State};
use crate::timings::Timings;

/// Starts passes until told to stop.
pub struct Dispatcher {
    /// What passes work with.
    pub context: Arc<Context>,
    /// Passes at once, those that wait for the budget not counted.
    pub concurrency: usize,
    /// How long to wait for caches at start and for passes at the end.
    pub timings: Timings,
    /// Nothing runs before this process leads, or after.
    pub lease: Lease,
    /// True once no new pass may start.
    pub stopping: watch::Receiver<bool>,
}

impl Dispatcher {
    /// Runs until told to stop or until the lease is lost; then everything is dropped at once.
    pub async fn run(self) {
        let lease = self.lease.clone();
        let _alive = Alive(Arc::clone(&self.context.shared));
        tokio::select! {
            biased;
            () = lease.lost() => tracing::error!("the lease is lost: all work is cancelled"),
            () = self.work() => {}
        }
    }

    async fn work(mut self) {
        let mut stopping = self.stopping.clone();
        tokio::select! {
            biased;
            // A replica that does not lead has begun nothing that it would have to finish.
            _ = stopping.wait_for(|stopping| *stopping) => return,
            () = self.ready_to_work() => {}
        }
        let mut passes = JoinSet::new();
        while !*self.stopping.borrow() {
            let next = self.start(&mut passes);
            let due = async {
                match next {
                    Some(at) => tokio::time::sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                _ = self.stopping.wait_for(|stopping| *stopping) => break,
                Some(_) = passes.join_next(), if !passes.is_empty() => {}
                () = self.context.shared.changed() => {}
                () = self.context.parked.changed() => {}
                () = due => {}
            }
        }
        let drained =
            tokio::time::timeout(self.timings.drain, async { while passes.join_next().await.is_some() {} });
        if drained.await.is_err() {
            tracing::warn!("passes still ran at the end of the time to drain");
        }
    }

    async fn ready_to_work(&self) {
        self.lease.won().await;
        self.context.shared.lock().since = Some(Instant::now());
        self.wait_for_caches().await;
    }

    /// Passes begin when every list was read once; a kind that cannot be listed holds up only what needs it.
    async fn wait_for_caches(&self) {
        let shared = &self.context.shared;
        let synced = async {
            while !shared.lock().cache.is_synced() {
                shared.changed().await;
            }
        };
        if tokio::time::timeout(self.timings.sync_grace, synced).await.is_err() {
            tracing::warn!("some kinds cannot be listed; what needs them waits");
        }
    }

    /// Starts what may start; when to look again.
    fn start(&self, passes: &mut JoinSet<()>) -> Option<Instant> {
        let now = Instant::now();
        let mut state = self.context.shared.lock();
        state.queue.advance(now);
        loop {
            let parked = self.context.parked.count().min(PARKED_MAX);
            if passes.len() >= self.concurrency.max(1) + parked {
                break;
            }
            let Some(slice) = next_slice(&mut state, self.timings.watch_backoff_first, now) else { break };
            passes.spawn(one(Arc::clone(&self.context), slice));
        }
        self.context.shared.metrics.queue(state.queue.ready(), 0, 0);
        state.queue.next_deadline()
    }
}

/// The next slice that may run, of members whose caches were listed and whose ancestors are not about to be looked at.
/// What has to wait for a list is looked at again after `later`.
pub(crate) fn next_slice(state: &mut State, later: Duration, now: Instant) -> Option<Slice> {
    loop {
        let mut slice = state.queue.take()?;
        if !state.cache.is_ready_for(pass::controller(&slice.unit)) {
            let again = |(member, due): (_, crate::queue::Due)| (member, Again::After(later, due.class));
            let again = slice.members.into_iter().map(again).collect();
            state.queue.finish(&slice.unit, again, now);
            continue;
        }
        settle_members(state, &mut slice, now);
        if slice.members.is_empty() {
            state.queue.finish(&slice.unit, Vec::new(), now);
            continue;
        }
        state.queue.begins(&slice.unit, now);
        return Some(slice);
    }
}

/// Tells the health endpoint of the end of the dispatcher, however it comes.
struct Alive(Arc<Shared>);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.ended();
    }
}

/// Sends away members that belong to another unit by now, holds those whose ancestors are about to be looked at, and
/// takes in those that a document needs.
fn settle_members(state: &mut State, slice: &mut Slice, now: Instant) {
    let State { cache, queue, .. } = state;
    for member in slice.members.keys().cloned().collect::<Vec<_>>() {
        let unit = routing::unit_of(cache, &member);
        if unit != slice.unit
            && let Some(due) = slice.members.remove(&member)
        {
            queue.moved(&slice.unit, &unit, member, due, now);
        } else if let Some(ancestor) = routing::awaited_ancestor(cache, queue, &member) {
            queue.hold(slice, &member, ancestor);
        }
    }
    let UnitKey::Children { kind, .. } = slice.unit else { return };
    if slice.members.is_empty() || kinds::kind(kind).is_none_or(|k| k.grouping != Grouping::ParentDocument) {
        return;
    }
    let others = cache.all(kind).filter(|member| routing::unit_of(cache, member) == slice.unit);
    let others: Vec<_> = others.filter(|member| !slice.members.contains_key(member)).collect();
    // That the caches are synced was seen before.
    slice.complete = true;
    for member in others {
        slice.complete &= queue.join(slice, &member, now);
    }
}

async fn one(context: Arc<Context>, slice: Slice) {
    let controller = pass::controller(&slice.unit);
    let metrics = Arc::clone(&context.shared.metrics);
    let began = Instant::now();
    let asked = slice.members.values().map(|due| due.asked).min().unwrap_or(began);
    let is_drift = slice.members.values().all(|due| due.class == Class::Drift);
    let running = metrics.pass_began(controller, began - asked, is_drift);
    let span = tracing::info_span!("pass", unit = %slice.unit, members = slice.members.len());
    let again = pass::run(&context, &slice).instrument(span).await;
    let ended = ended(&again);
    let retried = again.iter().filter(|(_, again)| matches!(again, Again::Fault(_))).count();
    let mut state = context.shared.lock();
    state.queue.finish(&slice.unit, again, Instant::now());
    metrics.queue(state.queue.ready(), 0, retried);
    drop(state);
    metrics.pass_ended(&running, ended);
    context.shared.notify();
}

fn ended(again: &[(plan::MemberId, Again)]) -> Ended {
    let any = |wanted: fn(&Again) -> bool| again.iter().any(|(_, again)| wanted(again));
    if any(|again| matches!(again, Again::Fault(_))) {
        Ended::Error
    } else if any(|again| matches!(again, Again::Now(_))) {
        Ended::Requeue
    } else if any(|again| matches!(again, Again::After(..) | Again::OnChange)) {
        Ended::RequeueAfter
    } else {
        Ended::Success
    }
}
