//! Runs the world of a seed: first what was drawn, faults and all, then a quiet phase that must converge and then
//! write nothing, then the end of everything, which must leave nothing behind.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::checker::{self, Place};
use super::draw::{Drawn, MayStay, draw};
use super::{log_watch, shrink};
use crate::scenario::{Mode, Runner, Script, simulate};
use crate::world::{TOKEN, World};

/// Reasons of a resource that is not Ready, and rightly stays so when everything works.
const STEADY: &[&str] = &[
    "AlreadyExists",
    "RecordConflict",
    "NotFound",
    "AdoptionAmbiguous",
    "ZoneNotFound",
    "ZoneNotReady",
    "TerminalError",
    // A zone that was deleted while its records stay.
    "InUse",
];

/// Virtual time in which a converged world must write nothing.
const IDLE: Duration = Duration::from_secs(3_600);

/// A seed that came out right.
#[derive(Clone, Debug)]
pub struct SeedRun {
    /// The seed.
    pub seed: u64,
    /// Every request to both worlds, in order.
    pub requests: Vec<String>,
}

/// A seed that did not.
#[derive(Clone, Debug)]
pub struct SeedFailure {
    /// The seed.
    pub seed: u64,
    /// What is wrong.
    pub problems: Vec<String>,
    /// The world and the steps that are enough to see it, as a scenario.
    pub script: Vec<String>,
}

impl std::fmt::Display for SeedFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "seed {}:", self.seed)?;
        self.problems.iter().try_for_each(|problem| writeln!(f, "  {problem}"))?;
        writeln!(f, "the same happens with:")?;
        self.script.iter().try_for_each(|line| writeln!(f, "  {line}"))
    }
}

/// Runs a seed; a failure comes with as few steps as still fail.
pub fn run_seed(seed: u64) -> Result<SeedRun, Box<SeedFailure>> {
    let drawn = draw(seed);
    match attempt(&drawn) {
        Ok(requests) => Ok(SeedRun { seed, requests }),
        Err(_) => {
            let (drawn, problems) = shrink::shrink(drawn, |drawn| attempt(drawn).err());
            let script = std::iter::once(drawn.world).chain(drawn.lines).collect();
            Err(Box::new(SeedFailure { seed, problems, script }))
        }
    }
}

/// The requests of a seed's world, whether it came out right or not.
#[must_use]
pub fn request_log(seed: u64) -> Vec<String> {
    match attempt(&draw(seed)) {
        Ok(requests) => requests,
        Err(problems) => problems,
    }
}

/// Runs a drawn world; the requests, or what is wrong.
fn attempt(drawn: &Drawn) -> Result<Vec<String>, Vec<String>> {
    let text =
        std::iter::once(&drawn.world).chain(&drawn.lines).map(String::as_str).collect::<Vec<_>>().join("\n");
    let script = Script::parse(&format!("seed {}", drawn.seed), Path::new(""), &text);
    let script = script.map_err(|error| vec![error.to_string()])?;
    let mode = Mode { seed: drawn.seed, lenient: true, ..Mode::default() };
    let live = async {
        let mut runner = Runner::new(script, mode).map_err(|error| vec![error.to_string()])?;
        runner.run().await.map_err(|failure| vec![failure.to_string()])?;
        let world = &mut runner.world;
        let mut problems = quiet_phase(world, drawn.dashboard).await;
        if problems.is_empty() {
            problems = end_phase(world, drawn).await;
        }
        problems.extend(checker::promises(world));
        problems.extend(checker::twins(world, &allowed(world, drawn), drawn.late_commits));
        if problems.is_empty() { Ok(log(world)) } else { Err(problems) }
    };
    let (lived, has_shown_a_secret) = log_watch::watched(|| simulate(live));
    if has_shown_a_secret {
        return Err(vec!["a secret is shown in the log".to_owned()]);
    }
    lived.map_err(|error| vec![error.to_string()])?
}

fn log(world: &World) -> Vec<String> {
    let lines = |side: &str, lines: Vec<sandbox::request_log::Line>| {
        lines.into_iter().map(|line| format!("{side} {line:?}")).collect::<Vec<_>>()
    };
    let mut all = lines("kubernetes", world.kubernetes.log().lines());
    all.extend(lines("cloudflare", world.cloudflare.log().lines()));
    all
}

/// No faults, everything unpaused: the world must come to rest, tell the truth, and then write nothing.
async fn quiet_phase(world: &mut World, look: bool) -> Vec<String> {
    world.disarm();
    world.kubernetes.faults().clear();
    world.cloudflare.faults().clear();
    world.cloudflare.set_token_status(TOKEN, sandbox::cloudflare::TokenStatus::Active);
    for (kind, object) in world.resources() {
        let is_paused = object["metadata"]["annotations"][kinds::names::PAUSED].is_string();
        if is_paused || look {
            let mut annotations = json!({ kinds::names::PAUSED: null });
            if look {
                annotations["kflare.dev/reconcile-at"] = json!("quiet");
            }
            let patch = json!({ "metadata": { "annotations": annotations } });
            let (namespace, name) = key(&object);
            // An object that is gone meanwhile needs no patch.
            let _ = world.kubernetes.patch(kind, Some(&namespace), &name, patch);
        }
    }
    revive(world);
    let recovered = world.recover().await;
    let mut problems = restless(world, recovered.quiet);
    problems.extend(checker::lies(world));
    let idle = world.advance(IDLE).await;
    if idle.writes.total() > 0 {
        problems.push(format!("an idle hour made {:?}", idle.writes));
    }
    problems
}

fn restless(world: &World, quiet: bool) -> Vec<String> {
    let mut problems = Vec::new();
    if !quiet {
        problems.push("the quiet phase does not come to rest".to_owned());
    }
    for (kind, object) in world.resources() {
        let condition = &object["status"]["conditions"][0];
        let text = |field: &str| condition[field].as_str().unwrap_or_default();
        if text("status") != "True" && !STEADY.contains(&text("reason")) {
            let name = &object["metadata"]["name"];
            problems.push(format!(
                "{kind} {name} stays {} {}: {}",
                text("status"),
                text("reason"),
                text("message")
            ));
        }
    }
    problems
}

/// Everything is deleted, parents first: nothing may hang and nothing may be left.
async fn end_phase(world: &mut World, drawn: &Drawn) -> Vec<String> {
    for (kind, object) in world.resources() {
        let (namespace, name) = key(&object);
        // Objects that went with an earlier deletion are no failure.
        let _ = world.kubernetes.delete(kind, Some(&namespace), &name);
    }
    world.recover().await;
    let left = world.resources().into_iter();
    let mut problems: Vec<String> = left
        .map(|(kind, object)| {
            let (name, condition) = (&object["metadata"]["name"], &object["status"]["conditions"][0]);
            format!("{kind} {name} hangs: {} {}", condition["reason"], condition["message"])
        })
        .collect();
    if let MayStay::Named(names) = &drawn.may_stay {
        let orphans = checker::orphans(world, names);
        problems.extend(orphans);
    }
    problems
}

fn revive(world: &mut World) {
    if !world.is_running() {
        world.crash();
        world.start();
    }
}

fn key(object: &Value) -> (String, String) {
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
    (text("namespace"), text("name"))
}

/// One record at each place, several where resources may differ.
fn allowed(world: &World, drawn: &Drawn) -> BTreeMap<Place, usize> {
    let history = world.cloudflare.history();
    let records: BTreeSet<Place> = history
        .iter()
        .filter_map(|change| {
            let record = change.after.as_ref()?;
            let text = |field: &str| Some(record[field].as_str()?.to_owned());
            Some((change.zone_id.clone(), text("name")?, text("type")?))
        })
        .collect();
    records
        .into_iter()
        .map(|place| {
            let count = if drawn.loose.contains(&place.1) { usize::MAX } else { 1 };
            (place, count)
        })
        .collect()
}
