//! Runs scenarios on as many servers as there are, a line for each, and says at the end what the account was used for.
//! One scenario at a time on each server, since the operator serves a whole cluster.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use anyhow::Context;
use sandbox::cloudflare::Cloudflare;
use sandbox::request_log::Line;
use tokio::time::Instant;

use super::audit::Audit;
use super::cluster::Cluster;
use super::privilege;
use super::process::tail;
use super::real::Real;
use crate::scenario::{self, Mode, Runner, Script};
use crate::terminal;

/// Requests to Cloudflare that are shown of a failure.
const CALLS_SHOWN: usize = 8;

/// What is to be run, and where.
pub(crate) struct Order<'o> {
    /// Folders of servers, as testing/kube-apiserver lays them out.
    pub(crate) clusters: &'o [PathBuf],
    /// The manifest of the operator's account and roles.
    pub(crate) roles: &'o Path,
    /// Scenarios.
    pub(crate) files: Vec<PathBuf>,
    pub(crate) seed: u64,
    /// All scenarios are run, so a permission that nothing used is one too many.
    pub(crate) complete: bool,
}

/// A scenario that waits for a server.
struct Waiting {
    file: PathBuf,
    script: Script,
    factor: f64,
}

/// How many came to which end.
#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
}

/// Runs them; fails when one does, when a request was refused, or when a permission was not used.
pub(crate) fn run(order: &Order<'_>) -> anyhow::Result<ExitCode> {
    let roles = std::fs::read_to_string(order.roles).context("cannot read the roles")?;
    let mut waiting = Vec::new();
    let (mut unreal, mut unmarked) = (0_usize, 0_usize);
    for file in &order.files {
        let script = Script::read(file)?;
        match (&script.only_virtual, script.beyond_reality()) {
            (Some(why), _) => {
                unreal += 1;
                say(&format!("virtual {}: {why}", name(file)));
            }
            (None, Some(what)) => {
                unmarked += 1;
                say(&format!("FAILED  {}: `{what}` wants a `virtual` line with its why", name(file)));
            }
            (None, None) => {
                let factor = script.factor();
                waiting.push(Waiting { file: file.clone(), script, factor });
            }
        }
    }
    // The longest first, so that no server waits for one at the end.
    waiting.sort_by_key(|waiting| std::cmp::Reverse(waiting.script.advances().mul_f64(waiting.factor)));
    let (queue, tally) = (Mutex::new(VecDeque::from(waiting)), Mutex::new(Tally::default()));
    let outcome: anyhow::Result<()> = std::thread::scope(|scope| {
        let servers: Vec<_> = order
            .clusters
            .iter()
            .map(|folder| scope.spawn(|| serve(folder, &roles, order.seed, &queue, &tally)))
            .collect();
        servers.into_iter().try_for_each(|server| match server.join() {
            Ok(outcome) => outcome,
            Err(_) => Err(anyhow::anyhow!("a server's scenarios panicked")),
        })
    });
    outcome?;
    let Tally { passed, failed } = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    let failed = failed + unmarked;
    say(&format!("{passed} passed, {failed} failed, {unreal} need virtual time"));
    let lawful = judge(order, &roles)?;
    Ok(if failed == 0 && lawful { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs scenarios on one server until none waits.
fn serve(
    folder: &Path,
    roles: &str,
    seed: u64,
    queue: &Mutex<VecDeque<Waiting>>,
    tally: &Mutex<Tally>,
) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let cluster = Cluster::open(folder).await?;
        cluster.install(roles).await?;
        loop {
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            let Some(waiting) = next else { return Ok(()) };
            let began = Instant::now();
            let outcome = one(&cluster, &waiting, seed).await;
            let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
            let took = began.elapsed().as_secs_f64();
            match outcome {
                Ok(()) => {
                    tally.passed += 1;
                    say(&format!("ok      {} ({took:.1} s)", name(&waiting.file)));
                }
                Err(said) => {
                    tally.failed += 1;
                    let mut text = format!("FAILED  {} ({took:.1} s)", name(&waiting.file));
                    for line in said.lines() {
                        let _ = write!(text, "\n  {}", terminal::harmless(line));
                    }
                    say(&text);
                }
            }
        }
    })
}

async fn one(cluster: &Cluster, waiting: &Waiting, seed: u64) -> Result<(), String> {
    cluster.clear().await?;
    let mode = Mode { seed, ..Mode::default() };
    let options = scenario::options(&waiting.script, mode).map_err(|failure| failure.to_string())?;
    let log = cluster.file(&format!("{}.log", name(&waiting.file).replace('/', "-")));
    let began = Real::begin(cluster, options, waiting.factor, log.clone()).await;
    let real = began.map_err(|error| format!("{error:#}"))?;
    let mut runner = Runner::within(real, waiting.script.clone(), mode);
    let outcome = runner.run().await;
    let calls = last_calls(&runner.world.cloudflare);
    let ended = runner.world.end().await;
    match outcome {
        Ok(()) => ended,
        Err(failure) => {
            Err(format!("{failure}\nCloudflare was asked\n{calls}\nkflare run logged\n{}", tail(&log)))
        }
    }
}

/// The last requests to Cloudflare, for whoever wonders why something was not done.
fn last_calls(cloudflare: &Cloudflare) -> String {
    let lines = cloudflare.log().lines();
    let last = &lines[lines.len().saturating_sub(CALLS_SHOWN)..];
    let line = |line: &Line| format!("{} {} {} {}", line.at, line.method, line.path, line.status);
    last.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Whether the account was granted what it needs, and no more; says what it was used for.
fn judge(order: &Order<'_>, roles: &str) -> anyhow::Result<bool> {
    let mut all = Audit::default();
    for folder in order.clusters {
        let mut audit = Audit::of(folder.join("audit.log"));
        audit.read_on().with_context(|| format!("cannot read the audit log in {}", folder.display()))?;
        all.uses.extend(audit.uses);
        all.refused.extend(audit.refused);
    }
    let (unused, ungranted) = privilege::compare(&privilege::grants(roles)?, &all.uses);
    say("the operator's account was used to");
    privilege::used(&all.uses).iter().for_each(|used| say(&format!("  {used}")));
    all.refused.iter().for_each(|refused| say(&format!("REFUSED {refused}")));
    ungranted.iter().for_each(|used| say(&format!("NOT GRANTED BY ITS ROLES {used}")));
    if order.complete {
        unused.iter().for_each(|grant| say(&format!("NEVER USED {grant}")));
    }
    Ok(all.refused.is_empty() && ungranted.is_empty() && (unused.is_empty() || !order.complete))
}

/// A scenario by its folder and file.
fn name(file: &Path) -> String {
    let parts: Vec<_> = file.iter().rev().take(2).map(|part| part.to_string_lossy().into_owned()).collect();
    parts.into_iter().rev().collect::<Vec<_>>().join("/")
}

/// Prints a line of one of several threads, at once. When nobody reads any more, the exit code still tells.
fn say(text: &str) {
    let _ = writeln!(io::stdout(), "{text}");
}
