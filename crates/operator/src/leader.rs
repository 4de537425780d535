//! Leader election by a Lease, after client-go's algorithm (kube has none; docs/adr/0007-dependencies.md says why no crate).
//! Says who leads; what leading means is for the dispatcher. Nothing is fenced at Cloudflare, so nothing is sent once
//! the lease could be another's.
//!
//! # Guarantees
//! - Every write carries the resourceVersion that was read: of two candidates one gets a conflict.
//! - Another's lease is timed by our own monotonic clock from when we saw its last renewal, never by timestamps.
//! - [`Lease::may_send`] turns false by itself when no renewal succeeds within the renew deadline, and at the first look
//!   that shows the lease with another.
//! - A lease that somebody gave to us, emptied, shortened or deleted by hand is waited for like one that is not renewed: who
//!   led until then may not have looked since. Who never saw a deleted one cannot know of it, and leads at once.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease as LeaseObject, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use kube::api::PostParams;
use kube::{Api, Client};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use crate::causes::Causes;
use crate::cloudflare::Clock;
use crate::jitter;
use crate::metrics::Metrics;
use crate::timings::Timings;

/// client-go waits between one and 2.2 retry periods between two tries to become leader.
const SPREAD: f64 = 0.2;

/// How long a lease lasts that is given up, as client-go does it: even one who ignores the empty holder waits no longer.
const RELEASED_SECONDS: i32 = 1;

/// Which Lease, and as whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaderConfig {
    /// The Lease's namespace.
    pub namespace: String,
    /// The Lease's name.
    pub name: String,
    /// Differs between all processes that ever ask for it: the pod's name and a unique part.
    pub identity: String,
}

/// Where the election stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leadership {
    /// Another leads, or nobody yet.
    Waiting,
    /// This process leads, at least until then.
    Leading(Instant),
    /// It led and does so no more: it has to end.
    Lost,
}

/// Whether this process may write.
#[derive(Clone, Debug)]
pub struct Lease(Option<watch::Receiver<Leadership>>);

impl Lease {
    /// Without election: always.
    #[must_use]
    pub const fn unneeded() -> Self {
        Self(None)
    }

    /// As this election says.
    #[must_use]
    pub const fn of(leadership: watch::Receiver<Leadership>) -> Self {
        Self(Some(leadership))
    }

    /// True while nobody else can hold the lease.
    #[must_use]
    pub fn may_send(&self) -> bool {
        match &self.0 {
            None => true,
            Some(leadership) => {
                matches!(*leadership.borrow(), Leadership::Leading(until) if Instant::now() < until)
            }
        }
    }

    /// Ends when this process leads.
    pub async fn won(&self) {
        self.reaches(|state| matches!(state, Leadership::Leading(_))).await;
    }

    /// Ends when this process led and does so no more.
    pub async fn lost(&self) {
        self.reaches(|state| *state == Leadership::Lost).await;
    }

    async fn reaches(&self, mut wanted: impl FnMut(&Leadership) -> bool) {
        let Some(leadership) = &self.0 else {
            // Without election this process leads from the start and for ever.
            if !wanted(&Leadership::Leading(Instant::now())) {
                std::future::pending::<()>().await;
            }
            return;
        };
        if leadership.clone().wait_for(wanted).await.is_err() {
            // Whoever takes part in the election was dropped: nothing changes any more.
            std::future::pending::<()>().await;
        }
    }
}

/// One candidate.
pub struct Candidate {
    api: Api<LeaseObject>,
    config: LeaderConfig,
    timings: Timings,
    clock: Clock,
    seed: u64,
    metrics: Arc<Metrics>,
    told: watch::Sender<Leadership>,
    observed: Option<Observed>,
    /// A write of ours may have made us the holder: since it was sent, nobody else was seen to hold the lease.
    asked: bool,
}

/// What came of a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tried {
    Leads,
    /// Another holds the lease, or may.
    Held,
    Failed,
}

struct Observed {
    version: Option<String>,
    at: Instant,
}

/// Why a try to take or renew the lease failed.
#[derive(Debug, thiserror::Error)]
enum TryError {
    #[error("cannot read the Lease")]
    Get(#[source] kube::Error),
    #[error("cannot write the Lease")]
    Write(#[source] kube::Error),
    #[error("another process holds the Lease")]
    Held,
    #[error("no answer in time")]
    Timeout,
}

impl Candidate {
    /// A candidate that tells `told` where the election stands.
    #[must_use]
    pub fn new(
        client: Client,
        config: LeaderConfig,
        timings: Timings,
        clock: Clock,
        seed: u64,
        metrics: Arc<Metrics>,
        told: watch::Sender<Leadership>,
    ) -> Self {
        let api = Api::namespaced(client, &config.namespace);
        Self { api, config, timings, clock, seed, metrics, told, observed: None, asked: false }
    }

    /// Takes part until the lead is won and lost again.
    pub async fn run(mut self) {
        let mut tries = 0;
        while self.attempt(self.timings.lease_renew_deadline).await != Tried::Leads {
            tries += 1;
            let pause = self.timings.lease_retry.mul_f64(1.0 + SPREAD);
            tokio::time::sleep(jitter::spread(pause, SPREAD, self.seed, &self.config.identity, tries)).await;
        }
        tracing::info!(identity = %self.config.identity, "leading");
        self.metrics.leads(kinds::names::LEASE, true);
        let mut why = "the lease could not be renewed";
        loop {
            tokio::time::sleep(self.timings.lease_retry).await;
            let until = match *self.told.borrow() {
                Leadership::Leading(until) => until,
                Leadership::Waiting | Leadership::Lost => break,
            };
            let left = until.saturating_duration_since(Instant::now());
            match self.attempt(left).await {
                Tried::Leads => {}
                // Whoever it was given to may lead by now: the rest of our time is not ours any more.
                Tried::Held => {
                    why = "the lease was given to another";
                    break;
                }
                Tried::Failed if Instant::now() + self.timings.lease_retry >= until => break,
                Tried::Failed => {}
            }
        }
        tracing::error!(identity = %self.config.identity, "{why}");
        self.metrics.leads(kinds::names::LEASE, false);
        self.told.send_replace(Leadership::Lost);
    }

    /// One try within `limit`; tells when it succeeds. The lead is counted from before the request, because others
    /// count from after it, and to the renew deadline, which leaves them the rest of the lease's duration to wait.
    async fn attempt(&mut self, limit: Duration) -> Tried {
        let began = Instant::now();
        let tried = match timeout(limit, self.acquire_or_renew()).await {
            Ok(tried) => tried,
            Err(_) => Err(TryError::Timeout),
        };
        match tried {
            Ok(()) => {
                self.told.send_replace(Leadership::Leading(began + self.timings.lease_renew_deadline));
                Tried::Leads
            }
            Err(TryError::Held) => Tried::Held,
            Err(error) => {
                tracing::warn!(error = %Causes(&error), "leader election");
                Tried::Failed
            }
        }
    }

    async fn acquire_or_renew(&mut self) -> Result<(), TryError> {
        let found = self.api.get_opt(&self.config.name).await.map_err(TryError::Get)?;
        let now = MicroTime((self.clock)());
        let Some(lease) = found else {
            // Deleted by hand: who led may not have seen it yet.
            if !self.leads() && self.observed.is_some() && !self.has_been_silent(self.timings.lease_duration)
            {
                return Err(TryError::Held);
            }
            self.asked = true;
            let metadata = ObjectMeta { name: Some(self.config.name.clone()), ..ObjectMeta::default() };
            let lease = LeaseObject { metadata, spec: Some(self.held_since(now, 0)) };
            let made = self.api.create(&PostParams::default(), &lease).await.map_err(TryError::Write)?;
            self.observe(made);
            return Ok(());
        };
        self.observe(lease.clone());
        let spec = lease.spec.clone().unwrap_or_default();
        let holder = spec.holder_identity.clone().unwrap_or_default();
        self.asked &= holder == self.config.identity;
        // Without a write of ours it was somebody's hand that put our name there, or took another's away.
        let (is_ours, is_released) = (self.asked, is_released(&spec));
        if !is_ours && !is_released && !self.has_expired(&spec) {
            return Err(TryError::Held);
        }
        let transitions = spec.lease_transitions.unwrap_or_default();
        let next = if is_ours {
            LeaseSpec { acquire_time: spec.acquire_time, ..self.held_since(now, transitions) }
        } else {
            self.held_since(now, transitions + 1)
        };
        let wanted = LeaseObject { spec: Some(next), ..lease };
        let params = PostParams::default();
        self.asked = true;
        let written = self.api.replace(&self.config.name, &params, &wanted).await.map_err(TryError::Write)?;
        self.observe(written);
        Ok(())
    }

    fn held_since(&self, now: MicroTime, transitions: i32) -> LeaseSpec {
        let seconds = self.timings.lease_duration.as_secs().max(1);
        LeaseSpec {
            holder_identity: Some(self.config.identity.clone()),
            lease_duration_seconds: Some(i32::try_from(seconds).unwrap_or(i32::MAX)),
            acquire_time: Some(now.clone()),
            renew_time: Some(now),
            lease_transitions: Some(transitions),
            ..LeaseSpec::default()
        }
    }

    fn observe(&mut self, lease: LeaseObject) {
        // By version, not by what it says: a holder whose clock stands still renews all the same.
        let known = self.observed.as_ref();
        if known.is_none_or(|known| known.version != lease.metadata.resource_version) {
            self.observed = Some(Observed { version: lease.metadata.resource_version, at: Instant::now() });
        }
    }

    fn has_expired(&self, spec: &LeaseSpec) -> bool {
        // Never sooner than a holder like ourselves would stop, whatever a hand has written there.
        let said = spec.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok());
        self.has_been_silent(Duration::from_secs(said.unwrap_or_default()).max(self.timings.lease_duration))
    }

    /// True when the lease was not seen to change for this long.
    fn has_been_silent(&self, time: Duration) -> bool {
        self.observed.as_ref().is_some_and(|observed| observed.at.elapsed() >= time)
    }

    fn leads(&self) -> bool {
        matches!(*self.told.borrow(), Leadership::Leading(_))
    }
}

/// True when its holder gave it up: without a name, and for a second at most. Who only takes the name away leaves a holder
/// behind that does not know of it.
fn is_released(spec: &LeaseSpec) -> bool {
    spec.holder_identity.as_deref().unwrap_or_default().is_empty()
        && spec.lease_duration_seconds == Some(RELEASED_SECONDS)
}

/// Gives the lease up, so that another need not wait for its end. Does nothing when it is not ours.
pub async fn release(client: Client, config: &LeaderConfig, clock: &Clock, limit: Duration) {
    let api: Api<LeaseObject> = Api::namespaced(client, &config.namespace);
    let released = timeout(limit, async {
        let Some(mut lease) = api.get_opt(&config.name).await.map_err(TryError::Get)? else { return Ok(()) };
        let spec = lease.spec.get_or_insert_default();
        if spec.holder_identity.as_deref() != Some(&config.identity) {
            return Ok(());
        }
        spec.holder_identity = Some(String::new());
        spec.lease_duration_seconds = Some(RELEASED_SECONDS);
        spec.renew_time = Some(MicroTime(clock()));
        let written = api.replace(&config.name, &PostParams::default(), &lease).await;
        written.map(|_| ()).map_err(TryError::Write)
    });
    match released.await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(error = %Causes(&error), "cannot release the lease"),
        Err(_) => tracing::warn!("cannot release the lease in time"),
    }
}

#[cfg(test)]
mod tests;
