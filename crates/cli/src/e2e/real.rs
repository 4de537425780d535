//! A scenario's setting made of a real API server, the sandbox's Cloudflare over HTTP, and `kflare run` as a process.
//! When it is at rest is `rest`; what a server keeps from one scenario to the next is cleared by `clean`.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use operator::{Config, Transport};
use sandbox::clock::Clock;
use sandbox::cloudflare::Cloudflare;
use sandbox::serve::{self, Served, WholeRequest};
use serde_json::Value;
use tower::ServiceExt;

use super::audit::Audit;
use super::cluster::{Cluster, LOOK};
use super::process::{Orders, Process};
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
    /// The line between the operator that runs and Cloudflare; each operator has its own.
    pub(super) gate: Arc<Mutex<Gate>>,
    _served: Served,
    orders: Orders,
    pub(super) process: Option<Process>,
    audit: RefCell<Audit>,
    /// Writes up to the end of the last command that let time pass.
    pub(super) counted: Writes,
    /// Writes to Cloudflare of those operators that are gone.
    past: u64,
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
        options: Options,
        factor: f64,
        log: PathBuf,
    ) -> anyhow::Result<Self> {
        let clock = Clock::starting_at(outside::now());
        let cloudflare = Cloudflare::with_switches(clock.clone(), options.seed, options.switches.clone());
        if options.schemas {
            cloudflare.hold_to_schemas();
        }
        scene::furnish(&cloudflare);
        for object in scene::objects(&options) {
            cluster.apply(object).await.map_err(anyhow::Error::msg)?;
        }
        let gate = Arc::<Mutex<Gate>>::default();
        let served = serve(&cloudflare, &gate).await?;
        let orders = Orders {
            kubeconfig: cluster.account(),
            cloudflare: format!("http://{}{}", served.address, wiring::BASE_PATH),
            factor,
            drift: options.drift_interval,
            retain: options.retain,
            log,
        };
        let audit = RefCell::new(Audit::from_now(cluster.audit_log()));
        let mut real = Self {
            cluster: cluster.clone(),
            cloudflare,
            factor,
            options,
            clock,
            gate,
            _served: served,
            orders,
            process: None,
            audit,
            counted: Writes::default(),
            past: 0,
            armed: None,
            applied: Cell::new(0),
            ages: Cell::new(false),
        };
        real.start().await.map_err(anyhow::Error::msg)?;
        Ok(real)
    }

    /// The end of the scenario: an operator that still runs is told to end, and must do so in order.
    pub(super) async fn end(mut self) -> Result<(), String> {
        match self.process.take() {
            Some(process) => process.stop().await,
            None => Ok(()),
        }
    }

    /// The line between the operator that runs and Cloudflare.
    pub(super) fn gate(&self) -> Gate {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn replace_gate(&self, next: Gate) -> Gate {
        std::mem::replace(&mut self.gate.lock().unwrap_or_else(PoisonError::into_inner), next)
    }

    /// SIGKILL.
    pub(super) fn kill(&mut self) {
        self.gate().close();
        if let Some(process) = self.process.take() {
            process.kill();
        }
    }

    /// Deletes a namespace as far as the API server does at once in memory: everything in it is asked to go.
    async fn empty_namespace(&self, name: &str) -> Result<(), String> {
        let began = tokio::time::Instant::now();
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
        if self.process.is_some() {
            return Ok(());
        }
        let next = Gate::default();
        if let Some(point) = self.armed.take() {
            next.arm(point);
        }
        self.past += self.replace_gate(next).writes().cloudflare;
        self.process = Some(Process::start(&self.orders).await?);
        Ok(())
    }

    async fn crash(&mut self) -> Result<(), String> {
        self.kill();
        Ok(())
    }

    fn crash_at(&mut self, point: CrashPoint) -> Result<(), String> {
        if point.whose != Some(Side::Cloudflare) {
            return Err(
                "only writes to Cloudflare can be counted before they arrive: write `crash at cf write N`"
                    .to_owned(),
            );
        }
        match &self.process {
            Some(_) => self.gate().arm(point),
            None => self.armed = Some(point),
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
        let cloudflare = self.past + self.gate().writes().cloudflare;
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

/// Serves a Cloudflare behind the gate of whoever runs. A request passes the gate as a whole, as it does in memory.
async fn serve(cloudflare: &Cloudflare, gate: &Arc<Mutex<Gate>>) -> anyhow::Result<Served> {
    let (cloudflare, gate) = (cloudflare.clone(), Arc::clone(gate));
    let service = tower::service_fn(move |request: WholeRequest| {
        let gate = gate.lock().unwrap_or_else(PoisonError::into_inner).clone();
        gate.before(Side::Cloudflare, cloudflare.service()).oneshot(request)
    });
    Ok(serve::on_loopback(0, serve::gathered(service)).await?)
}
