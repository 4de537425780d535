//! When a real setting is at rest: the process says that nothing is due, and nothing has moved for a while.
//! In memory the same question is answered by `world::settle`.

use std::time::Duration;

use tokio::time::Instant;

use super::process::Activity;
use super::real::Real;
use super::replica::Replica;
use crate::scenario::Setting;
use crate::world::{Gate, Settled, Writes};

/// Between two looks.
const LOOK: Duration = Duration::from_millis(50);

/// For how long nothing may have moved: many times what an event takes from the API server to the queue.
const QUIET: Duration = Duration::from_millis(400);

/// When something that still has work counts as restless: above what a budget takes that Cloudflare throttled twice, whose
/// pauses are Cloudflare's and not scaled.
const SETTLE_MAX: Duration = Duration::from_secs(75);

/// How long what runs at the end of a pause may take to end; longer runs are part of what is looked at.
const END_OF_RUN: Duration = Duration::from_secs(1);

/// The shortest pause: within less, an edit does not reach the operator.
const PAUSE_MIN: Duration = Duration::from_millis(100);

/// How far both sides have come.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mark {
    calls: u64,
    versions: Vec<String>,
}

impl Real {
    /// Waits until nothing is due, or an armed write has killed the operator.
    pub(super) async fn rest(&mut self) -> Result<Settled, String> {
        let began = Instant::now();
        let (mut quiet_since, mut last, mut quiet, mut crashed) = (Instant::now(), None, false, false);
        while self.is_running() && !quiet && began.elapsed() < SETTLE_MAX {
            crashed |= self.sleep(LOOK).await?;
            let mark = self.mark().await?;
            if mark.is_none() || mark != last {
                quiet_since = Instant::now();
            }
            quiet = mark.is_some() && quiet_since.elapsed() >= QUIET;
            last = mark;
        }
        let quiet = quiet || !self.is_running();
        Ok(Settled { writes: self.written(), quiet, crashed })
    }

    /// Lets so much real time pass, and lets what runs at its end come to its end.
    pub(super) async fn pass(&mut self, time: Duration) -> Result<Settled, String> {
        let crashed = self.sleep(time.max(PAUSE_MIN)).await?;
        let end = Instant::now();
        while !crashed && end.elapsed() < END_OF_RUN && self.find_leader().await.is_some_and(|says| says.runs)
        {
            if self.sleep(LOOK).await? {
                return Ok(Settled { writes: self.written(), quiet: false, crashed: true });
            }
        }
        Ok(Settled { writes: self.written(), quiet: false, crashed })
    }

    /// Sleeps, unless an armed write kills the operator meanwhile. An operator that ends by itself is a failure.
    async fn sleep(&mut self, time: Duration) -> Result<bool, String> {
        let gates: Vec<Gate> = self.replicas.iter().map(Replica::gate).collect();
        let fell = tokio::select! {
            biased;
            at = any_fallen(&gates) => Some(at),
            () = tokio::time::sleep(time) => None,
        };
        if let Some(at) = fell {
            self.replicas[at].kill();
        }
        match self.has_ended() {
            Some(said) => Err(said),
            None => Ok(fell.is_some()),
        }
    }

    /// The writes since the last command that let time pass: nobody waits for edits.
    fn written(&mut self) -> Writes {
        let now = self.writes();
        now.since(std::mem::replace(&mut self.counted, now))
    }

    /// What the operator that leads says of itself.
    pub(super) async fn find_leader(&self) -> Option<Activity> {
        for (at, replica) in self.replicas.iter().enumerate() {
            if let Some(says) = replica.activity().await.filter(|says| says.is_up) {
                self.leader.set(at);
                return Some(says);
            }
        }
        None
    }

    /// How far both sides have come, when the operator that leads says that nothing is due.
    async fn mark(&self) -> Result<Option<Mark>, String> {
        let says = self.find_leader().await;
        if !says.is_some_and(|says| !says.runs && !says.is_due) {
            return Ok(None);
        }
        let mut versions = Vec::new();
        for kind in kinds::KINDS {
            // A kind whose definition was deleted has no versions.
            let objects = self.cluster.list(kind.name).await.unwrap_or_default();
            versions.extend(objects.iter().map(|object| object["metadata"]["resourceVersion"].to_string()));
        }
        Ok(Some(Mark { calls: self.cloudflare.log().total(), versions }))
    }
}

/// Which gate an armed write closes first.
async fn any_fallen(gates: &[Gate]) -> usize {
    futures::future::select_all(gates.iter().map(|gate| Box::pin(gate.fallen()))).await.1
}
