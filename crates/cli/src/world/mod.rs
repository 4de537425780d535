//! Both worlds and the operator in one process: how tests, scenarios, `kflare sandbox` and the benches see kflare.
//! Sets the scene, starts and kills the operator, lets time pass; what happens in it is left to the callers.

mod catalog;
mod gate;
pub(crate) mod scene;
mod settle;
pub(crate) mod wiring;

pub use catalog::ResourceType;
pub use gate::{CrashPoint, CrashSide, Gate, Side, Writes};
pub use scene::{ACCOUNT_ID, ACCOUNT_NAME, Options, SECRET_NAME, SECRET_NAMESPACE, TOKEN, TOKEN_KEY};
pub use settle::Settled;

use std::cell::Cell;

use jiff::Timestamp;
use operator::{Config, Leadership, Operator, Transport};
use sandbox::clock::Clock;
use sandbox::cloudflare::Cloudflare;
use sandbox::kubernetes::{ApiServer, Status};
use serde_json::Value;

/// When every world begins, so that no output holds the wall clock.
const EPOCH: Timestamp = Timestamp::constant(1_767_225_600, 0);

/// A Kubernetes API, a Cloudflare API and, most of the time, an operator between them.
///
/// # Assumptions
/// Everything happens in the runtime that [`World::new`] was called in. With paused time the world is
/// deterministic: the same steps and seed give the same requests.
pub struct World {
    /// The Kubernetes side.
    pub kubernetes: ApiServer,
    /// The Cloudflare side.
    pub cloudflare: Cloudflare,
    /// The clock of both.
    pub clock: Clock,
    /// The clock of the machine that the operator runs on, which can go wrong.
    pub node_clock: Clock,
    options: Options,
    replicas: Vec<Replica>,
    /// How many were ever started: each has a name of its own.
    started: u32,
    /// What those wrote that are gone.
    past: Writes,
    /// A write that is to kill whoever makes it, while nobody runs.
    armed: Cell<Option<CrashPoint>>,
    _held: Held,
}

/// No world ends unnoticed in which something did not fit the facts of the real API, or was not even held to them.
struct Held {
    cloudflare: Cloudflare,
    /// Whether it is to be: nowhere else is a debug build for.
    schemas: bool,
}

impl Drop for Held {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let misfits = misfits(&self.cloudflare);
        assert!(misfits.is_empty(), "{}", misfits.join("\n"));
        let is_checked = self.cloudflare.checked().requests > 0;
        let was_asked = self.cloudflare.log().total() > 0;
        assert!(
            is_checked || !was_asked || !self.schemas,
            "no request was held to the facts of Cloudflare's API"
        );
    }
}

/// What did not fit the facts of the real API since the last time, in words.
pub(crate) fn misfits(cloudflare: &Cloudflare) -> Vec<String> {
    cloudflare
        .take_misfits()
        .iter()
        .map(|misfit| format!("Cloudflare's API knows no such thing: {misfit}"))
        .collect()
}

/// A running operator and the line between it and the two worlds.
struct Replica {
    operator: Operator,
    gate: Gate,
}

impl World {
    /// Two worlds with our CRDs, a Cloudflare account and its token; unless the options say otherwise also the
    /// token's Secret and the CloudflareAccount `main`. No operator yet.
    pub fn new(options: Options) -> Result<Self, Status> {
        Self::starting_at(EPOCH, options)
    }

    /// The same at another time, for a sandbox that people look at.
    pub fn starting_at(epoch: Timestamp, options: Options) -> Result<Self, Status> {
        let clock = Clock::starting_at(epoch);
        let cloudflare = Cloudflare::with_switches(clock.clone(), options.seed, options.switches.clone());
        let world = Self {
            kubernetes: ApiServer::new(clock.clone(), options.seed),
            _held: Held {
                cloudflare: cloudflare.clone(),
                schemas: options.schemas || cfg!(debug_assertions),
            },
            cloudflare,
            node_clock: Clock::starting_at(epoch),
            clock,
            options,
            replicas: Vec::new(),
            started: 0,
            past: Writes::default(),
            armed: Cell::new(None),
        };
        scene::set(&world.kubernetes, &world.cloudflare, &world.options)?;
        Ok(world)
    }

    /// What it was made with.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The drift check interval of operators that are started from now on.
    pub fn set_drift_interval(&mut self, interval: Option<std::time::Duration>) {
        self.options.drift_interval = interval;
    }

    /// Starts as many operators as there are to be and do not run.
    pub fn start(&mut self) {
        while self.replicas.len() < usize::from(self.options.replicas.max(1)) {
            let gate = Gate::default();
            if let Some(point) = self.armed.take() {
                gate.arm(point);
            }
            let client = wiring::client(&self.kubernetes, &gate);
            let transport = wiring::transport(&self.cloudflare, &gate);
            let config = wiring::config(&self.options, &self.node_clock, self.started);
            self.started += 1;
            self.replicas.push(Replica { operator: Operator::start(client, transport, config), gate });
        }
    }

    /// Kills the operator at once, with everything that it has in flight: of several, the one that leads.
    pub fn crash(&mut self) {
        if let Some(at) = self.leader() {
            self.kill(at);
        }
    }

    fn kill(&mut self, at: usize) {
        let Replica { gate, .. } = self.replicas.remove(at);
        gate.close();
        self.past = self.past.plus(gate.writes());
    }

    /// The place of the operator that leads, else of the first.
    fn leader(&self) -> Option<usize> {
        let leads = |replica: &Replica| {
            !matches!(replica.operator.activity().leadership, Some(Leadership::Waiting | Leadership::Lost))
        };
        self.replicas.iter().position(leads).or((!self.replicas.is_empty()).then_some(0))
    }

    /// True while an operator runs.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.replicas.iter().any(|replica| !replica.gate.is_closed())
    }

    /// Kills the operator at its n-th write from now on (1 is the next).
    pub fn crash_at(&self, point: CrashPoint) {
        match self.leader() {
            Some(at) => self.replicas[at].gate.arm(point),
            None => self.armed.set(Some(point)),
        }
    }

    /// No write kills the operator any more.
    pub fn disarm(&self) {
        self.armed.set(None);
        self.replicas.iter().for_each(|replica| replica.gate.disarm());
    }

    /// The operator's writes so far, all operators of this world together.
    #[must_use]
    pub fn writes(&self) -> Writes {
        self.replicas.iter().fold(self.past, |sum, replica| sum.plus(replica.gate.writes()))
    }

    /// The operator, while one runs: of several, the one that leads.
    #[must_use]
    pub fn operator(&self) -> Option<&Operator> {
        self.leader().map(|at| &self.replicas[at].operator)
    }

    /// Ways into both worlds beside the operator's, and how an operator of this world is configured.
    #[must_use]
    pub fn ways(&self) -> (kube::Client, Transport, Config) {
        // A gate of its own: what goes through it is not the operator's doing.
        let gate = Gate::default();
        let client = wiring::client(&self.kubernetes, &gate);
        let transport = wiring::transport(&self.cloudflare, &gate);
        (client, transport, wiring::config(&self.options, &self.clock, 0))
    }

    /// All objects of our kinds, parents before children, with the name of their kind.
    #[must_use]
    pub fn resources(&self) -> Vec<(&'static str, Value)> {
        let of_kind = |kind: &&'static kinds::Kind| {
            let name = kind.name;
            self.kubernetes.list(name).into_iter().map(move |object| (name, object))
        };
        kinds::KINDS.iter().flat_map(of_kind).collect()
    }
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World").field("options", &self.options).finish_non_exhaustive()
    }
}
