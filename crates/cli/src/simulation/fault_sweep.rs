//! A scenario again with each fault at each request that the operator makes in it, to Cloudflare and to Kubernetes.
//! The end must be the same as in fair weather, and then nothing may be written; how that is reached is the operator's
//! business.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use sandbox::cloudflare::STALE_FOR;
use sandbox::fault::{Fault, Faults, Target};
use sandbox::request_log::{Line, RequestLog};

use super::{EndState, checker};
use crate::scenario::{Mode, RunError, Runner, Script, simulate};
use crate::world::{Side, World};

/// Virtual time until nothing of a fault counts any more: a refused token is tried again after ten minutes, a lost create
/// is looked for after four and a half, a back-off is at most five.
const CALM: Duration = Duration::from_secs(16 * 60);
/// Virtual time in which a converged world must write nothing.
const IDLE: Duration = Duration::from_secs(3_600);

/// The method of a read.
const GET: &str = "GET";
/// How the sandbox calls the method of a watch.
const WATCH: &str = "WATCH";
/// The route of all watches, whose moments no log tells apart.
pub const WATCHES: &str = "watches";

/// A fault and the request that it hits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gust {
    /// Whose request.
    pub side: Side,
    /// What goes wrong.
    pub fault: Fault,
    /// The request's method; `WATCH` for a watch, its events included.
    pub method: String,
    /// How many requests with this method pass before.
    pub after: u32,
}

impl std::fmt::Display for Gust {
    /// As a line of a scenario.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { side, fault, method, after } = self;
        let side = if *side == Side::Cloudflare { "cf" } else { "kubernetes" };
        write!(f, "fault {side} {fault} {method} after {after}")
    }
}

/// A kind of request and what went wrong with one of it.
pub type Met = (Side, String, String, Fault);

/// What a sweep found.
#[derive(Clone, Debug, Default)]
pub struct FaultSweep {
    /// Every fault that hit a request, by side, method and route.
    pub met: BTreeSet<Met>,
    /// Runs.
    pub runs: u64,
    /// What is wrong, one text for each run that did not come out right.
    pub failures: Vec<String>,
}

impl FaultSweep {
    /// Adds what another sweep found.
    pub fn extend(&mut self, other: Self) {
        self.met.extend(other.met);
        self.runs += other.runs;
        self.failures.extend(other.failures);
    }
}

/// Runs that share the same fair end, and may go side by side.
#[derive(Debug)]
pub struct Forecast {
    script: Script,
    fair: EndState,
    /// Every gust but those of watches, with the route that it hits.
    pub gusts: Vec<(Gust, String)>,
}

/// Runs a scenario in fair weather, and says what can go wrong in it.
pub fn forecast(path: &Path) -> Result<Forecast, RunError> {
    let script = Script::read(path)?;
    let (fair, gusts) = simulate(async {
        let mut runner = start(&script)?;
        runner.run().await?;
        let world = &mut runner.world;
        let mut gusts = gusts(Side::Cloudflare, world.cloudflare.log());
        gusts.extend(gusts_of_kubernetes(world));
        calm(world).await;
        Ok::<_, RunError>((EndState::of(world), gusts))
    })
    .map_err(RunError::Runtime)??;
    Ok(Forecast { script, fair, gusts })
}

/// Those of Kubernetes, with every beginning and every event of a watch.
fn gusts_of_kubernetes(world: &World) -> Vec<(Gust, String)> {
    let mut gusts = gusts(Side::Kubernetes, world.kubernetes.log());
    for after in 0..world.kubernetes.faults().asked(WATCH) {
        gusts.extend(faults(Side::Kubernetes, WATCH).map(|fault| {
            let gust = Gust { side: Side::Kubernetes, fault, method: WATCH.to_owned(), after };
            (gust, WATCHES.to_owned())
        }));
    }
    gusts
}

/// Every fault at every request of the log but watches. A read may be stale where the same was read before.
fn gusts(side: Side, log: &RequestLog) -> Vec<(Gust, String)> {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    let mut read: BTreeMap<String, Timestamp> = BTreeMap::new();
    let mut gusts = Vec::new();
    for Line { at, method, route, path, .. } in log.lines().into_iter().filter(|line| line.method != WATCH) {
        let seen = counts.entry(method.clone()).or_default();
        let after = *seen;
        *seen += 1;
        let last = if method == GET { read.insert(path, at) } else { None };
        let is_known = |last: Timestamp| side == Side::Kubernetes || last >= at - STALE_FOR;
        let can_be = |fault: &Fault| *fault != Fault::StaleRead || last.is_some_and(is_known);
        let gust = |fault| (Gust { side, fault, method: method.clone(), after }, route.clone());
        gusts.extend(faults(side, &method).filter(can_be).map(gust));
    }
    gusts
}

/// The faults that mean something to requests with this method.
pub fn faults(side: Side, method: &str) -> impl Iterator<Item = Fault> {
    let is_known = move |fault: &Fault| side == Side::Kubernetes || !fault.is_of_kubernetes();
    Fault::ALL.into_iter().filter(is_known).filter(move |fault| fault.meets(method))
}

impl Forecast {
    /// Runs the scenario with one of its gusts.
    pub fn run(&self, gust: &Gust, route: &str) -> Result<FaultSweep, RunError> {
        let run = async {
            let mut runner = start(&self.script)?;
            let target = Target { method: Some(gust.method.clone()), ..Target::default() };
            faults_of(&runner.world, gust.side).arm(gust.fault, target, gust.after, 1);
            runner.run().await?;
            let world = &mut runner.world;
            let has_hit = faults_of(world, gust.side).hits(gust.fault) > 0;
            world.kubernetes.faults().clear();
            world.cloudflare.faults().clear();
            Ok::<_, RunError>((has_hit, self.problems(world, gust).await))
        };
        let (has_hit, problems) = simulate(run).map_err(RunError::Runtime)??;
        let mut found = FaultSweep { runs: 1, ..FaultSweep::default() };
        if has_hit {
            found.met.insert((gust.side, gust.method.clone(), route.to_owned(), gust.fault));
        }
        if !problems.is_empty() {
            found.failures.push(format!(
                "{}, with `{gust}` ({route}) at its beginning:\n  {}",
                self.script.name,
                problems.join("\n  ")
            ));
        }
        Ok(found)
    }

    /// What differs from fair weather, is broken, or does not rest.
    async fn problems(&self, world: &mut World, gust: &Gust) -> Vec<String> {
        calm(world).await;
        let mut problems: Vec<String> = self.fair.difference(&EndState::of(world)).into_iter().collect();
        problems.extend(checker::promises(world));
        problems.extend(checker::doubled(world, gust.fault == Fault::LateCommit));
        let idle = world.advance(IDLE).await;
        if idle.writes.total() > 0 {
            problems.push(format!("an idle hour made {:?}", idle.writes));
        }
        problems
    }
}

fn start(script: &Script) -> Result<Runner, RunError> {
    Runner::new(script.clone(), Mode { lenient: true, history: true, ..Mode::default() })
}

async fn calm(world: &mut World) {
    world.settle().await;
    world.advance(CALM).await;
    world.settle().await;
}

fn faults_of(world: &World, side: Side) -> &Faults {
    match side {
        Side::Kubernetes => world.kubernetes.faults(),
        Side::Cloudflare => world.cloudflare.faults(),
    }
}
