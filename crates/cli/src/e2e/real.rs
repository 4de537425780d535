//! A scenario's setting made of a real API server, the sandbox's Cloudflare over HTTP, and `kflare run` as a process.
//! When it is at rest is `rest`; what a server keeps from one scenario to the next is cleared by `clean`.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use operator::{Config, Transport};
use sandbox::clock::Clock;
use sandbox::cloudflare::Cloudflare;
use serde_json::Value;
use tokio::time::Instant;

use super::audit::Audit;
use super::cluster::{Cluster, LOOK};
use super::process::{LEADS_MAX, Orders};
use super::replica::Replica;
use crate::commands::outside;
use crate::scenario::{ObjectName, Setting, Unreal};
use crate::world::{CrashPoint, Gate, Options, Settled, Side, Writes, scene, wiring};

/// How long an expectation may take to come true. The namespace controller looks again at a namespace that was not empty
/// after eight seconds; all else takes milliseconds, or is wrong.
const PATIENCE: Duration = Duration::from_secs(20);

/// What ages are counted in.
const SECOND: Duration = Duration::from_secs(1);

/// How long the namespace controller may take to begin with a namespace.
const NAMESPACE_MAX: Duration = Duration::from_secs(30);

/// A real setting of one scenario.
pub(super) struct Real {
    pub(super) cluster: Cluster,
    pub(super) cloudflare: Cloudflare,
    pub(super) factor: f64,
    options: Options,
    clock: Clock,
    pub(super) replicas: Vec<Replica>,
    /// The one that was last seen to lead.
    pub(super) leader: Cell<usize>,
    audit: RefCell<Audit>,
    /// Writes up to the end of the last command that let time pass.
    pub(super) counted: Writes,
    /// A write that is to kill whoever makes it, while nobody runs.
    armed: Option<CrashPoint>,
    /// The second in which an object was last applied.
    applied: Cell<i64>,
    /// So much has passed since that what is applied next is younger. Ages are whole seconds, pauses are scaled to less.
    ages: Cell<bool>,
}

impl Real {
    /// A new Cloudflare and what every scenario begins with, on a server that was cleared; with an operator.
    pub(super) async fn begin(
        cluster: &Cluster,
        mut options: Options,
        factor: f64,
        log: PathBuf,
    ) -> anyhow::Result<Self> {
        let clock = Clock::starting_at(outside::now());
        // What the operator grants to new zones and tokens is scaled, and so is what they take.
        let spread = &mut options.switches.lag.access_after_create;
        *spread = spread.mul_f64(factor);
        let cloudflare = Cloudflare::with_switches(clock.clone(), options.seed, options.switches.clone());
        if options.schemas {
            cloudflare.hold_to_schemas();
        }
        scene::furnish(&cloudflare);
        for object in scene::objects(&options) {
            cluster.apply(object).await.map_err(anyhow::Error::msg)?;
        }
        let orders = Orders {
            kubeconfig: cluster.account(),
            cloudflare: String::new(),
            factor,
            drift: options.drift_interval,
            retain: options.retain,
            log,
        };
        let mut replicas = Vec::new();
        for _ in 0..options.replicas.max(1) {
            replicas.push(Replica::new(&cloudflare, orders.clone()).await?);
        }
        let audit = RefCell::new(Audit::from_now(cluster.audit_log()));
        let mut real = Self {
            cluster: cluster.clone(),
            cloudflare,
            factor,
            options,
            clock,
            replicas,
            leader: Cell::new(0),
            audit,
            counted: Writes::default(),
            armed: None,
            applied: Cell::new(0),
            ages: Cell::new(false),
        };
        real.start().await.map_err(anyhow::Error::msg)?;
        Ok(real)
    }

    /// The end of the scenario: operators that still run are told to end, and must do so in order.
    pub(super) async fn end(mut self) -> Result<(), String> {
        for replica in &mut self.replicas {
            replica.stop().await?;
        }
        Ok(())
    }

    /// True while an operator runs.
    pub(super) fn is_running(&self) -> bool {
        self.replicas.iter().any(Replica::runs)
    }

    /// Waits until every operator answers and one of them leads.
    async fn led(&mut self) -> Result<(), String> {
        let began = Instant::now();
        loop {
            let (mut answers, mut is_led) = (true, false);
            for (at, replica) in self.replicas.iter().enumerate() {
                let says = replica.activity().await;
                answers &= says.is_some();
                if says.is_some_and(|says| says.is_up) {
                    is_led = true;
                    self.leader.set(at);
                }
            }
            if answers && is_led {
                return Ok(());
            }
            if let Some(said) = self.has_ended() {
                return Err(said);
            }
            if began.elapsed() > LEADS_MAX {
                return Err("no kflare run leads".to_owned());
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// When one of the operators ended by itself: what it said last.
    pub(super) fn has_ended(&mut self) -> Option<String> {
        self.replicas.iter_mut().find_map(Replica::has_ended)
    }

    /// Deletes a namespace as far as the API server does at once in memory: everything in it is asked to go.
    async fn empty_namespace(&self, name: &str) -> Result<(), String> {
        let began = Instant::now();
        while began.elapsed() < NAMESPACE_MAX {
            let mut stays = false;
            for kind in kinds::KINDS.iter().map(|kind| kind.name).chain(["Secret"]) {
                stays |= self.cluster.list(kind).await?.iter().any(|object| {
                    object["metadata"]["namespace"] == name
                        && object["metadata"]["deletionTimestamp"].is_null()
                });
            }
            if !stays {
                return Ok(());
            }
            tokio::time::sleep(LOOK).await;
        }
        Err(format!("what is in the namespace {name} is not deleted"))
    }
}

impl Setting for Real {
    fn cloudflare(&self) -> &Cloudflare {
        &self.cloudflare
    }

    async fn apply(&self, object: Value) -> Result<(), String> {
        while self.ages.get() && self.now().as_second() <= self.applied.get() {
            tokio::time::sleep(LOOK).await;
        }
        self.ages.set(false);
        self.cluster.apply(object).await?;
        self.applied.set(self.now().as_second());
        Ok(())
    }

    async fn delete(&self, object: &ObjectName) -> Result<(), String> {
        self.cluster.delete(object).await?;
        if object.resource.kind == "Namespace" {
            self.empty_namespace(&object.name).await?;
        }
        Ok(())
    }

    async fn patch(&self, object: &ObjectName, patch: Value) -> Result<(), String> {
        self.cluster.patch(object, patch).await
    }

    async fn patch_status(&self, object: &ObjectName, patch: Value) -> Result<(), String> {
        self.cluster.patch_status(object, patch).await
    }

    async fn find(&self, object: &ObjectName) -> Result<Option<Value>, String> {
        self.cluster.find(object).await
    }

    async fn list(&self, kind: &str) -> Result<Vec<Value>, String> {
        self.cluster.list(kind).await
    }

    fn unreal(&mut self, what: Unreal<'_>) -> Result<(), String> {
        match what {
            // There were none.
            Unreal::NoFaults => Ok(()),
            what => Err(format!("{what:?} cannot be had for real: the scenario wants a `virtual` line")),
        }
    }

    async fn start(&mut self) -> Result<(), String> {
        for replica in self.replicas.iter_mut().filter(|replica| !replica.runs()) {
            replica.start(self.armed.take())?;
        }
        self.led().await
    }

    async fn crash(&mut self) -> Result<(), String> {
        if self.is_running() {
            self.find_leader().await;
            self.replicas[self.leader.get()].kill();
        }
        Ok(())
    }

    fn crash_at(&mut self, point: CrashPoint) -> Result<(), String> {
        if point.whose != Some(Side::Cloudflare) {
            return Err(
                "only writes to Cloudflare can be counted before they arrive: write `crash at cf write N`"
                    .to_owned(),
            );
        }
        let leader = &self.replicas[self.leader.get()];
        if leader.runs() {
            leader.gate().arm(point);
        } else {
            self.armed = Some(point);
        }
        Ok(())
    }

    async fn settle(&mut self) -> Result<Settled, String> {
        self.rest().await
    }

    async fn advance(&mut self, by: Duration) -> Result<Settled, String> {
        self.ages.set(self.ages.get() || by >= SECOND);
        self.pass(by.mul_f64(self.factor)).await
    }

    async fn recover(&mut self) -> Result<Settled, String> {
        self.rest().await
    }

    fn writes(&mut self) -> Writes {
        let mut audit = self.audit.borrow_mut();
        // A log that cannot be read on shows as missing writes.
        let _ = audit.read_on();
        let cloudflare = self.replicas.iter().map(Replica::writes).sum();
        Writes { kubernetes: audit.writes, cloudflare }
    }

    fn ways(&self) -> (kube::Client, Transport, Config) {
        let transport = wiring::transport(&self.cloudflare, &Gate::default());
        (self.cluster.client.clone(), transport, wiring::config(&self.options, &self.clock, 0))
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn patience(&self) -> Duration {
        PATIENCE
    }
}
