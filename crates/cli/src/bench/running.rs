//! `kflare run` as users run it, a process of its own: started, waited for, and asked what it used. What happens to the
//! worlds meanwhile is for `work` and `rows`.

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::BenchError;
use super::counts::Counts;
use super::place::Place;
use crate::e2e::{Orders, Process};
use crate::usage::{self, Usage};

/// Between two looks while a process is at work; short against every target.
const LOOK: Duration = Duration::from_millis(5);
/// Between two looks at a process that asks for nothing: each costs it a little.
const QUIET_LOOK: Duration = Duration::from_millis(50);
/// For how long nothing may have been asked: many times what an event takes from the API server to the queue.
const QUIET: Duration = Duration::from_millis(400);
/// Longest wait: far above every target, so that a miss is measured and not cut off.
const WAIT_MAX: Duration = Duration::from_secs(600);

/// A running operator; dropping it kills it.
pub(super) struct Running {
    process: Process,
    /// When it was started.
    pub(super) since: Instant,
}

/// What must hold once it is at rest.
#[derive(Clone, Copy, Debug)]
pub(super) enum Done {
    /// So many records are Ready, each in its newest generation.
    Records(usize),
    /// All zones are Ready.
    Zones,
    /// Whatever it has to do.
    Nothing,
}

impl Running {
    /// Starts one and waits until it leads.
    pub(super) async fn start(place: &Place, drift: Option<Duration>) -> Result<Self, BenchError> {
        let since = Instant::now();
        let orders = Orders {
            kubeconfig: place.kubeconfig(),
            cloudflare: place.cloudflare_url(),
            factor: 1.0,
            drift,
            retain: false,
            log: place.log(),
        };
        Ok(Self { process: Process::start(&orders).await.map_err(BenchError::Process)?, since })
    }

    /// Tells it to end, which it must do in order; the next one need not wait for its Lease.
    pub(super) async fn stop(self) -> Result<(), BenchError> {
        self.process.stop().await.map_err(BenchError::Process)
    }

    /// What it used so far; nothing where the system does not tell. A process that has ended used no little memory: it is
    /// an error.
    pub(super) fn usage(&mut self) -> Result<Option<Usage>, BenchError> {
        let usage = usage::of(self.process.id());
        self.is_alive()?;
        Ok(usage)
    }

    /// From now on, its peak is that of what follows.
    pub(super) fn forget_peak(&self) {
        usage::forget_peak(self.process.id());
    }

    fn is_alive(&mut self) -> Result<(), BenchError> {
        match self.process.has_ended() {
            Some(said) => Err(BenchError::Process(said)),
            None => Ok(()),
        }
    }

    /// Waits until it is at rest: it says that nothing is due, for a while nothing was asked, and what is to be done is.
    /// How long it took from a moment to the last request.
    pub(super) async fn rest(
        &mut self,
        place: &Place,
        since: Instant,
        done: Done,
    ) -> Result<Duration, BenchError> {
        let (mut last, mut moved) = (place.counts()?, Instant::now());
        loop {
            let look = if moved.elapsed() < QUIET { LOOK } else { QUIET_LOOK };
            tokio::time::sleep(look).await;
            self.is_alive()?;
            let now = place.counts()?;
            if now != last {
                (last, moved) = (now, Instant::now());
                continue;
            }
            if moved.elapsed() < QUIET {
                continue;
            }
            let says = self.process.activity().await;
            let is_quiet = says.is_some_and(|says| says.is_up && !says.runs && !says.is_due);
            let missing = if is_quiet { done.missing(place).await? } else { None };
            if is_quiet && missing.is_none() {
                return Ok(moved.duration_since(since));
            }
            if since.elapsed() > WAIT_MAX {
                return Err(restless(missing));
            }
        }
    }

    /// Waits until the counts are so; how long that took.
    pub(super) async fn until(
        &mut self,
        place: &Place,
        look: Duration,
        wanted: impl Fn(Counts) -> bool,
    ) -> Result<Duration, BenchError> {
        let since = Instant::now();
        while !wanted(place.counts()?) {
            self.is_alive()?;
            if since.elapsed() > WAIT_MAX {
                return Err(restless(None));
            }
            tokio::time::sleep(look).await;
        }
        Ok(since.elapsed())
    }
}

fn restless(missing: Option<String>) -> BenchError {
    let state = missing.unwrap_or_else(|| "what was waited for never happened".to_owned());
    BenchError::Restless { seconds: WAIT_MAX.as_secs(), state }
}

impl Done {
    /// What does not hold yet.
    async fn missing(self, place: &Place) -> Result<Option<String>, BenchError> {
        let (kind, wanted) = match self {
            Self::Records(wanted) => ("DNSRecord", Some(wanted)),
            Self::Zones => ("Zone", None),
            Self::Nothing => return Ok(None),
        };
        let objects = place.list(kind).await?;
        let (there, unready) = (objects.len(), objects.iter().filter(|object| !is_ready(object)).count());
        let is_done = unready == 0 && wanted.is_none_or(|wanted| wanted == there);
        Ok((!is_done).then(|| format!("of {there} {kind}s {unready} are not Ready")))
    }
}

/// Ready in its newest generation.
fn is_ready(object: &Value) -> bool {
    let is_true = |condition: &Value| condition["type"] == "Ready" && condition["status"] == "True";
    let conditions = object["status"]["conditions"].as_array();
    conditions.is_some_and(|all| all.iter().any(is_true))
        && object["status"]["observedGeneration"] == object["metadata"]["generation"]
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_process_that_has_ended_used_no_little_memory() {
        let program = std::env::current_exe().unwrap();
        let mut child = Command::new(program).arg("--list").stdout(Stdio::null()).spawn().unwrap();
        child.wait().unwrap();
        let mut running = Running { process: Process::of(child), since: Instant::now() };
        assert!(matches!(running.usage(), Err(BenchError::Process(_))));
    }
}
