//! `kflare run` as users run it: a process of its own beside worlds that are served over loopback HTTP.
//! Starts it, tells what memory it holds, and ends it; what happens to the worlds meanwhile is left to the rows.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use sandbox::serve::{self, Served};

use super::BenchError;
use crate::world::{SECRET_NAMESPACE, World};

/// A world that listens, and the kubeconfig that leads to it.
pub(super) struct ServedWorld {
    pub(super) world: World,
    _kubernetes: Served,
    cloudflare: Served,
    scratch: Scratch,
}

impl ServedWorld {
    /// Serves a world in which no operator runs.
    pub(super) async fn of(world: World) -> Result<Self, BenchError> {
        let kubernetes = serve::on_loopback(0, world.kubernetes.service()).await?;
        let cloudflare = serve::on_loopback(0, world.cloudflare.service()).await?;
        let scratch = Scratch::new(&world, kubernetes.address).map_err(BenchError::Scratch)?;
        Ok(Self { world, _kubernetes: kubernetes, cloudflare, scratch })
    }

    /// Starts `kflare run` of this same program.
    pub(super) fn start(&self, drift_interval: Duration) -> Result<Process, BenchError> {
        // Of a process that was killed: it would keep the next one waiting for as long as it was granted.
        let _ = self.world.kubernetes.delete("Lease", Some(SECRET_NAMESPACE), kinds::names::LEASE);
        let program = std::env::current_exe().map_err(BenchError::Process)?;
        let child = Command::new(program)
            .arg("run")
            .arg("--kubeconfig")
            .arg(&self.scratch.kubeconfig)
            .arg(format!("--cloudflare-api-url=http://{}/client/v4", self.cloudflare.address))
            .arg(format!("--drift-check-interval={}s", drift_interval.as_secs()))
            .arg(format!("--namespace={SECRET_NAMESPACE}"))
            .args(["--metrics-bind-address=0", "--health-probe-bind-address=0"])
            .args(["--log-format=text", "--log-level=error"])
            // Neither proxies nor settings of an allocator: it runs as it is.
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn();
        Ok(Process(child.map_err(BenchError::Process)?))
    }
}

/// A running operator; dropping it kills it.
pub(super) struct Process(Child);

/// What memory a process holds, in KiB.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Memory {
    /// The most that it ever held.
    pub(super) peak: u64,
    /// What it holds now.
    pub(super) now: u64,
}

impl Process {
    /// None where the system does not tell.
    pub(super) fn memory(&self) -> Option<Memory> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0.id())).ok()?;
        let kib = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse().ok()
        };
        Some(Memory { peak: kib("VmHWM:")?, now: kib("VmRSS:")? })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        // Without it the system keeps what is left of the process.
        let _ = self.0.wait();
    }
}

/// A directory with the kubeconfig; it goes when dropped.
struct Scratch {
    directory: PathBuf,
    kubeconfig: PathBuf,
}

impl Scratch {
    fn new(world: &World, address: SocketAddr) -> std::io::Result<Self> {
        let name = format!("kflare-bench-{}-{}", std::process::id(), address.port());
        let directory = std::env::temp_dir().join(name);
        fs::create_dir(&directory)?;
        let scratch = Self { kubeconfig: directory.join("kubeconfig"), directory };
        fs::write(&scratch.kubeconfig, world.kubernetes.kubeconfig(address))?;
        Ok(scratch)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}
