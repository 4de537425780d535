//! `kflare run` as a process of its own: started, looked at through its metrics, told to end, killed.
//! What it does is for the scenario to check.

use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

use super::cluster::LOOK;
use crate::world::SECRET_NAMESPACE;

/// How long a process may take until it leads: a killed predecessor's Lease has to end first.
pub(super) const LEADS_MAX: Duration = Duration::from_secs(60);

/// How long an end in order may take: longer than the operator grants itself.
const END_MAX: Duration = Duration::from_secs(40);

/// How long the metrics may take to answer before that counts as no answer.
const ANSWER_MAX: Duration = Duration::from_secs(2);

/// Bytes of the metrics that are read; they are some 20 kB.
const METRICS_MAX: usize = 1024 * 1024;

/// Lines of a log that are shown of a failure.
const LOG_LINES: usize = 12;

/// How a process is started.
#[derive(Clone, Debug)]
pub(crate) struct Orders {
    pub(crate) kubeconfig: PathBuf,
    pub(crate) cloudflare: String,
    pub(crate) factor: f64,
    pub(crate) drift: Option<Duration>,
    pub(crate) retain: bool,
    pub(crate) log: PathBuf,
}

/// A running operator. Dropping it kills it.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    metrics: SocketAddr,
    log: PathBuf,
}

/// What a process says of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Activity {
    /// It leads and has read every list.
    pub(crate) is_up: bool,
    /// Something runs, or could.
    pub(crate) runs: bool,
    /// Something is collected or tried again soon.
    pub(crate) is_due: bool,
}

impl Process {
    /// Starts one and waits until it leads.
    pub(crate) async fn start(orders: &Orders) -> Result<Self, String> {
        let mut process = Self::begin(orders)?;
        let began = Instant::now();
        loop {
            if process.activity().await.is_some_and(|activity| activity.is_up) {
                return Ok(process);
            }
            if let Some(said) = process.has_ended() {
                return Err(said);
            }
            if began.elapsed() > LEADS_MAX {
                return Err(format!("kflare run does not lead; it logged\n{}", tail(&process.log)));
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Starts one.
    pub(super) fn begin(orders: &Orders) -> Result<Self, String> {
        Self::spawn(orders).map_err(|error| format!("kflare run does not start: {error}"))
    }

    fn spawn(orders: &Orders) -> std::io::Result<Self> {
        let program = std::env::current_exe()?;
        // Free now, and soon taken: nothing else on the machine asks for ports by number.
        let metrics = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        let log = File::options().create(true).append(true).open(&orders.log)?;
        let millis = |duration: Duration| format!("{}ms", duration.as_millis().max(1));
        let mut command = Command::new(program);
        command.arg("run").arg("--kubeconfig").arg(&orders.kubeconfig);
        command.args(["--namespace", SECRET_NAMESPACE, "--cloudflare-api-url", &orders.cloudflare]);
        command.args(["--metrics-bind-address", &metrics.to_string(), "--health-probe-bind-address", "0"]);
        // Neither proxies nor settings of an allocator: it runs as it is.
        command.env_clear();
        command.args(["--log-format", "text", "--timings-factor", &orders.factor.to_string()]);
        if let Some(drift) = orders.drift {
            command.args(["--drift-check-interval", &millis(drift.mul_f64(orders.factor))]);
        }
        if orders.retain {
            command.args(["--default-deletion-policy", "retain"]);
        }
        let child = command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn()?;
        Ok(Self { child, metrics, log: orders.log.clone() })
    }

    /// SIGKILL.
    pub(super) fn kill(mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// SIGTERM, and an end in order.
    pub(crate) async fn stop(mut self) -> Result<(), String> {
        let told = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        told.map_err(|error| format!("cannot send SIGTERM: {error}"))?;
        let began = Instant::now();
        while began.elapsed() < END_MAX {
            match self.child.try_wait() {
                Ok(None) => tokio::time::sleep(LOOK).await,
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => {
                    return Err(format!("kflare run ended with {status}; it logged\n{}", tail(&self.log)));
                }
                Err(error) => return Err(error.to_string()),
            }
        }
        Err("kflare run does not end when it is told to".to_owned())
    }

    /// When it ended by itself: what it said last.
    pub(crate) fn has_ended(&mut self) -> Option<String> {
        let status = self.child.try_wait().ok()??;
        Some(format!("kflare run ended by itself with {status}; it logged\n{}", tail(&self.log)))
    }

    /// What the system calls it.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it says of itself; `None` when it does not answer.
    pub(crate) async fn activity(&self) -> Option<Activity> {
        let text = timeout(ANSWER_MAX, metrics(self.metrics)).await.ok()?.ok()?;
        Some(read(&text))
    }
}

#[cfg(test)]
impl Process {
    /// Any process, which serves no metrics.
    pub(crate) fn of(child: Child) -> Self {
        Self { child, metrics: (Ipv4Addr::LOCALHOST, 0).into(), log: PathBuf::new() }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn metrics(address: SocketAddr) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").await?;
    let mut text = Vec::new();
    stream.take(METRICS_MAX as u64).read_to_end(&mut text).await?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn read(text: &str) -> Activity {
    let is_positive = |name: &str| {
        let lines = text.lines().filter(|line| line.starts_with(name));
        lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).any(|value| value > 0.0)
    };
    let due = |when: &str| is_positive(&format!("kflare_due{{when=\"{when}\"}}"));
    Activity {
        is_up: is_positive("leader_election_master_status") && is_positive("kflare_cache_synced"),
        runs: ["ready", "running", "held"].into_iter().any(due),
        is_due: ["hold_off", "retry"].into_iter().any(due),
    }
}

/// The last lines of a log.
pub(super) fn tail(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LOG_LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_say_whether_something_is_due() {
        let up = "leader_election_master_status{name=\"x\"} 1\nkflare_cache_synced 1\n";
        let quiet = Activity { is_up: true, runs: false, is_due: false };
        assert_eq!(read(up), quiet);
        assert_eq!(read(&format!("{up}kflare_due{{when=\"wait\"}} 3\n")), quiet);
        assert_eq!(
            read(&format!("{up}kflare_due{{when=\"retry\"}} 1\n")),
            Activity { is_due: true, ..quiet }
        );
        assert_eq!(read(&format!("{up}kflare_due{{when=\"held\"}} 1\n")), Activity { runs: true, ..quiet });
        assert!(!read("leader_election_master_status{name=\"x\"} 0\nkflare_cache_synced 1\n").is_up);
    }
}
