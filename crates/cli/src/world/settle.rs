//! Lets virtual time pass until there is nothing left to do, with a bound.
//! What counts as done is said here once, for scenarios, sweeps and seeds.

use std::time::Duration;

use operator::Leadership;

use super::{Gate, Replica, World, Writes};

/// Time between two looks. Small against every pause of the operator, so that a look never misses that work is due;
/// virtual time makes it cheap.
const STEP: Duration = Duration::from_millis(50);

/// Looks in a row that find nothing to do: one may fall between an answer and what it leads to.
const QUIET_LOOKS: u32 = 2;

/// Virtual time after which a world that still has work counts as restless. A back-off grows to 5 minutes, so
/// something that fails three times and then works is done by then; what fails for ever is not waited for.
const SETTLE_MAX: Duration = Duration::from_secs(1_200);

/// Virtual time after a crash until nothing of it counts any more: a request may take effect for two and a half
/// minutes, what is not found is looked at again after as much, and a back-off is at most five minutes.
const RECOVER: Duration = Duration::from_secs(600);

/// What happened while a world settled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// The operator's writes meanwhile.
    pub writes: Writes,
    /// Nothing is due any more but waits, drift checks and resyncs.
    pub quiet: bool,
    /// An armed write killed the operator.
    pub crashed: bool,
}

impl World {
    /// Lets time pass until no work is due. Without an operator there is none.
    pub async fn settle(&mut self) -> Settled {
        let before = self.writes();
        let mut waited = Duration::ZERO;
        let mut quiet_looks = 0;
        let mut crashed = false;
        while self.is_running() && quiet_looks < QUIET_LOOKS && waited < SETTLE_MAX {
            crashed |= self.pass(STEP).await;
            waited += STEP;
            quiet_looks = if self.is_quiet() { quiet_looks + 1 } else { 0 };
        }
        let quiet = quiet_looks == QUIET_LOOKS || self.replicas.is_empty();
        Settled { writes: self.writes().since(before), quiet, crashed }
    }

    /// Lets this much time pass, whatever happens. Ends at once when an armed write kills the operator.
    pub async fn advance(&mut self, by: Duration) -> Settled {
        let before = self.writes();
        let crashed = self.pass(by).await;
        Settled { writes: self.writes().since(before), quiet: self.is_quiet(), crashed }
    }

    /// After a crash: settles, lets the time pass in which a request of the dead operator could still take effect
    /// and in which its successor believes nothing, and settles again.
    pub async fn recover(&mut self) -> Settled {
        let before = self.writes();
        self.settle().await;
        self.advance(RECOVER).await;
        let Settled { quiet, .. } = self.settle().await;
        Settled { writes: self.writes().since(before), quiet, crashed: false }
    }

    async fn pass(&mut self, time: Duration) -> bool {
        let gates: Vec<Gate> = self.replicas.iter().map(|replica| replica.gate.clone()).collect();
        let fell = tokio::select! {
            biased;
            () = any_fallen(&gates) => true,
            () = tokio::time::sleep(time) => false,
        };
        while let Some(at) = self.replicas.iter().position(|replica| replica.gate.is_closed()) {
            self.kill(at);
        }
        self.restart_who_lost();
        fell
    }

    /// An operator that lost its Lease has to end; its Deployment starts it anew.
    fn restart_who_lost(&mut self) {
        let has_lost = |replica: &Replica| replica.operator.activity().leadership == Some(Leadership::Lost);
        while let Some(at) = self.replicas.iter().position(has_lost) {
            self.kill(at);
            self.start();
        }
    }

    /// True when nothing is due but waits, drift checks and resyncs, and the operator has seen every object as it is.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.replicas.is_empty()
            || self.operator().is_some_and(|operator| {
                let activity = operator.activity();
                let is_led = activity.leadership != Some(Leadership::Waiting);
                is_led && activity.is_quiet() && self.has_seen_all(&operator.shared().lock().cache)
            })
    }

    /// A watch that was cut or hangs delivers late: until it has, its news are due.
    fn has_seen_all(&self, cache: &operator::cache::Cache) -> bool {
        kinds::KINDS.iter().all(|kind| {
            let objects = self.kubernetes.list(kind.name);
            objects.len() == cache.all(kind.name).count()
                && objects.iter().all(|object| {
                    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
                    let member = plan::MemberId::new(kind, kinds::Key::new(text("namespace"), text("name")));
                    cache.version(&member) == Some(text("resourceVersion"))
                })
        })
    }
}

/// Ends when an armed write closes one of the gates.
async fn any_fallen(gates: &[Gate]) {
    let fallen = gates.iter().map(|gate| Box::pin(gate.fallen()));
    if gates.is_empty() {
        std::future::pending::<()>().await;
    }
    futures::future::select_all(fallen).await;
}
