//! One `kflare run` of several beside each other, with a way to Cloudflare of its own, so that its writes are counted and
//! it can be killed at one of them. Who leads is theirs to settle.

use std::sync::{Arc, Mutex, PoisonError};

use sandbox::cloudflare::Cloudflare;
use sandbox::serve::{self, Served, WholeRequest};
use tower::ServiceExt;

use super::process::{Activity, Orders, Process};
use crate::world::{CrashPoint, Gate, Side, wiring};

/// A place for an operator: whoever runs there is followed by the next.
pub(super) struct Replica {
    orders: Orders,
    /// The line between who runs and Cloudflare; each process has its own.
    gate: Arc<Mutex<Gate>>,
    _served: Served,
    process: Option<Process>,
    /// Writes to Cloudflare of those that are gone.
    past: u64,
}

impl Replica {
    /// A place where nobody runs yet. Where Cloudflare is found is its own.
    pub(super) async fn new(cloudflare: &Cloudflare, orders: Orders) -> anyhow::Result<Self> {
        let gate = Arc::<Mutex<Gate>>::default();
        let served = serve(cloudflare, &gate).await?;
        let cloudflare = format!("http://{}{}", served.address, wiring::BASE_PATH);
        Ok(Self { orders: Orders { cloudflare, ..orders }, gate, _served: served, process: None, past: 0 })
    }

    /// Starts a process, which may be killed by one of its writes.
    pub(super) fn start(&mut self, armed: Option<CrashPoint>) -> Result<(), String> {
        let next = Gate::default();
        if let Some(point) = armed {
            next.arm(point);
        }
        let last = std::mem::replace(&mut *self.gate.lock().unwrap_or_else(PoisonError::into_inner), next);
        self.past += last.writes().cloudflare;
        self.process = Some(Process::begin(&self.orders)?);
        Ok(())
    }

    pub(super) const fn runs(&self) -> bool {
        self.process.is_some()
    }

    pub(super) fn gate(&self) -> Gate {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Writes to Cloudflare.
    pub(super) fn writes(&self) -> u64 {
        self.past + self.gate().writes().cloudflare
    }

    /// What it says of itself; `None` when it does not answer.
    pub(super) async fn activity(&self) -> Option<Activity> {
        self.process.as_ref()?.activity().await
    }

    /// When it ended by itself: what it said last.
    pub(super) fn has_ended(&mut self) -> Option<String> {
        self.process.as_mut()?.has_ended()
    }

    /// SIGKILL.
    pub(super) fn kill(&mut self) {
        self.gate().close();
        if let Some(process) = self.process.take() {
            process.kill();
        }
    }

    /// Tells who runs to end, which must be in order.
    pub(super) async fn stop(&mut self) -> Result<(), String> {
        match self.process.take() {
            Some(process) => process.stop().await,
            None => Ok(()),
        }
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
