//! Runs the world of a seed: first what was drawn, faults and all, then a quiet phase that must converge and then
//! write nothing, then the end of everything, which must leave nothing behind.

use std::path::Path;
use std::time::Duration;

use kinds::names;
use sandbox::cloudflare::{Token, TokenStatus};
use serde_json::{Value, json};

use super::checker::Silence;
use super::draw::{Drawn, SECOND_TOKEN, THIRD_TOKEN, draw, secret_manifest};
use super::object::{annotation, key, path, ready, text};
use super::{checker, log_watch, shrink};
use crate::scenario::{Mode, Runner, Script, simulate};
use crate::world::{ACCOUNT_ID, SECRET_NAME, Settled, TOKEN, TOKEN_KEY, World};

/// Virtual time until nothing that happened counts any more: a refused token is tried again every ten minutes and one
/// more (contract K16), a lost create is looked for after four and a half, a back-off is at most five.
const CALM: Duration = Duration::from_secs(16 * 60);

/// Virtual time in which a converged world must write nothing.
const IDLE: Duration = Duration::from_secs(3_600);

/// A seed that came out right.
#[derive(Clone, Debug)]
pub struct SeedRun {
    /// The seed.
    pub seed: u64,
    /// How many requests reached both worlds.
    pub requests: u64,
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
    /// Secrets, pauses and tenants are put right after that.
    pub is_mended: bool,
}

impl std::fmt::Display for SeedFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "seed {}:", self.seed)?;
        self.problems.iter().try_for_each(|problem| writeln!(f, "  {problem}"))?;
        let mended = if self.is_mended { ", and everything mended after it" } else { "" };
        writeln!(f, "the same happens with{mended}:")?;
        self.script.iter().try_for_each(|line| writeln!(f, "  {line}"))
    }
}

/// Runs a seed; a failure comes with as few steps as still fail.
pub fn run_seed(seed: u64) -> Result<SeedRun, Box<SeedFailure>> {
    let drawn = draw(seed);
    let count = |world: &World| world.kubernetes.log().total() + world.cloudflare.log().total();
    match attempt(&drawn, count) {
        Ok(requests) => Ok(SeedRun { seed, requests }),
        Err(_) => {
            let (drawn, problems) = shrink::shrink(drawn, |drawn| attempt(drawn, |_| ()).err());
            let is_mended = drawn.is_mended;
            let script = std::iter::once(drawn.world).chain(drawn.lines).collect();
            Err(Box::new(SeedFailure { seed, problems, script, is_mended }))
        }
    }
}

/// The requests of a seed's world, whether it came out right or not.
#[must_use]
pub fn request_log(seed: u64) -> Vec<String> {
    attempt(&draw(seed), log).unwrap_or_else(|problems| problems)
}

/// Runs a drawn world; what is read of it, or what is wrong.
fn attempt<R>(drawn: &Drawn, read: impl FnOnce(&World) -> R) -> Result<R, Vec<String>> {
    let text =
        std::iter::once(&drawn.world).chain(&drawn.lines).map(String::as_str).collect::<Vec<_>>().join("\n");
    let script = Script::parse(&format!("seed {}", drawn.seed), Path::new(""), &text);
    let script = script.map_err(|error| vec![error.to_string()])?;
    let mode = Mode { seed: drawn.seed, lenient: true, history: true, ..Mode::default() };
    let live = async {
        let mut runner = Runner::new(script, mode).map_err(|error| vec![error.to_string()])?;
        runner.run().await.map_err(|failure| vec![failure.to_string()])?;
        let world = &mut runner.world;
        let mut problems = quiet_phase(world, drawn.is_mended).await;
        if problems.is_empty() {
            problems = end_phase(world, drawn).await;
        }
        problems.extend(checker::drawn_promises(world, drawn));
        if problems.is_empty() { Ok(read(world)) } else { Err(problems) }
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

/// No faults, and tokens that work: the world must come to rest, tell the truth, and then write nothing.
async fn quiet_phase(world: &mut World, is_mended: bool) -> Vec<String> {
    world.disarm();
    world.kubernetes.faults().clear();
    world.cloudflare.faults().clear();
    world.cloudflare.set_token(TOKEN, Token::all(ACCOUNT_ID));
    for token in [SECOND_TOKEN, THIRD_TOKEN] {
        // Worlds that have no such token need none.
        let _ = world.cloudflare.set_token_status(token, TokenStatus::Active);
    }
    if is_mended {
        mend(world);
    }
    revive(world);
    let end = calm(world).await;
    let mut problems = restless(world, end, "");
    problems.extend(checker::unexplained(world, false));
    // Nothing but a look at Cloudflare shows what others did there.
    patch_all(world, |_| Some(json!({ "metadata": { "annotations": { names::RECONCILE_AT: "quiet" } } })));
    let end = calm(world).await;
    problems.extend(restless(world, end, " after a look at everything"));
    problems.extend(checker::unexplained(world, true));
    problems.extend(checker::lies(world));
    let silence = Silence::begin(world);
    let idle = world.advance(IDLE).await;
    if idle.writes.total() > 0 && !silence.is_excused() {
        problems.push(format!("an idle hour made {:?}", idle.writes));
    }
    problems.extend(silence.broken(world).into_iter().map(|what| format!("in an idle hour {what}")));
    problems
}

/// Comes to rest, if it can; with how that ended, and the time in which it should have changed nothing any more.
async fn calm(world: &mut World) -> (Settled, Silence) {
    world.settle().await;
    world.advance(CALM).await;
    let silence = Silence::begin(world);
    (world.settle().await, silence)
}

/// What is wrong with a world that finds no rest. What keeps failing may be tried again for ever, but then that is all that
/// is written.
fn restless(world: &World, (settled, silence): (Settled, Silence), when: &str) -> Vec<String> {
    if settled.quiet {
        return vec![];
    }
    if !silence.is_excused() {
        return vec![format!("the quiet phase does not come to rest{when}")];
    }
    let noise = silence.broken(world).into_iter();
    noise.map(|what| format!("the quiet phase does not come to rest{when}: {what}")).collect()
}

/// Puts right what people left broken in Kubernetes.
fn mend(world: &World) {
    // Secrets that no account needs do no harm, and an account that is gone needs no patch.
    let _ = world.kubernetes.apply(secret_manifest(SECRET_NAME, &[(TOKEN_KEY, TOKEN)]));
    let _ = world.kubernetes.apply(secret_manifest("second-token", &[("token", SECOND_TOKEN)]));
    patch_all(world, |object| {
        let is_paused = !annotation(object, names::PAUSED).is_empty();
        is_paused.then(|| json!({ "metadata": { "annotations": { names::PAUSED: null } } }))
    });
    patch_all(world, |object| {
        let is_choosy = path(object, "/spec/allowedNamespaces").is_some();
        is_choosy.then(|| json!({ "spec": { "allowedNamespaces": null } }))
    });
}

fn patch_all(world: &World, patch: impl Fn(&Value) -> Option<Value>) {
    for (kind, object) in world.resources() {
        if let Some(patch) = patch(&object) {
            let (namespace, name) = key(&object);
            // An object that went with an earlier patch needs none.
            let _ = world.kubernetes.patch(kind, Some(&namespace), &name, patch);
        }
    }
}

/// Everything is deleted, parents first: nothing may hang and nothing may be left.
async fn end_phase(world: &mut World, drawn: &Drawn) -> Vec<String> {
    mend(world);
    calm(world).await;
    for (kind, object) in world.resources() {
        let (namespace, name) = key(&object);
        // Objects that went with an earlier deletion are no failure.
        let _ = world.kubernetes.delete(kind, Some(&namespace), &name);
    }
    calm(world).await;
    // Nothing is deleted under a policy that nobody knows (contract K12), nor what still needs it. Nor does anybody know
    // whether what is refused with a 403 is gone (K16): the message says how to let it go.
    let waits = |object: &Value| ["InvalidDeletionPolicy", "InUse"].contains(&ready(object).1);
    let mut problems = hanging(world, |object| checker::lost_its_zone(world, object) || waits(object));
    for _ in kinds::KINDS {
        if world.resources().is_empty() {
            break;
        }
        patch_all(world, |object| {
            let is_known = ["", "delete", "retain"].contains(&annotation(object, names::DELETION_POLICY));
            let is_lost = checker::lost_its_zone(world, object);
            let policy = if is_lost { json!("retain") } else { Value::Null };
            let is_due = is_lost || !is_known;
            is_due.then(|| json!({ "metadata": { "annotations": { names::DELETION_POLICY: policy } } }))
        });
        // What hangs keeps its parents, which can only say then what they hang for.
        calm(world).await;
    }
    problems.extend(hanging(world, |_| false));
    problems.extend(protected_secrets(world));
    problems.extend(checker::orphans(world, drawn));
    problems
}

fn hanging(world: &World, is_right: impl Fn(&Value) -> bool) -> Vec<String> {
    let left = world.resources().into_iter().filter(|(_, object)| !is_right(object));
    left.map(|(kind, object)| {
        let (_, reason, message) = ready(&object);
        format!("{kind} {} hangs: {reason} {message}", text(&object, "/metadata/name"))
    })
    .collect()
}

/// Secrets that are still kept from being deleted although no account needs them.
fn protected_secrets(world: &World) -> Vec<String> {
    let is_ours = |finalizer: &Value| finalizer == names::TOKEN_PROTECTION_FINALIZER;
    let secrets = world.kubernetes.list("Secret").into_iter();
    secrets
        .filter(|secret| secret["metadata"]["finalizers"].as_array().into_iter().flatten().any(is_ours))
        .map(|secret| format!("Secret {} is still protected", text(&secret, "/metadata/name")))
        .collect()
}

fn revive(world: &mut World) {
    if !world.is_running() {
        world.crash();
        world.start();
    }
}
