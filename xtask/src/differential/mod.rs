//! The same questions to a real API server and to the sandbox's: sequences of requests, from a table, from the schemas of
//! our definitions and from a seed, go to both, and what they answer must be the same. Leaves the parts to its modules.

mod bounds;
mod compare;
mod draw;
mod excuse;
mod neutral;
mod pair;
mod sequence;
mod shrink;
mod subjects;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use compare::Difference;
use excuse::Excuse;
use neutral::{Patterns, Seen};
use sequence::{Sequence, Step};

use crate::{product, servers};
use pair::Pair;

/// Sequences under way at a time: what keeps two processors busy while watches wait.
const AT_A_TIME: usize = 48;
/// How long the controllers of the real cluster may take to do what the sandbox does at once.
const SETTLED_MAX: Duration = Duration::from_secs(20);
/// Between two questions to a server whose controllers are at work.
const LOOK: Duration = Duration::from_millis(150);
/// Sequences that are shrunk and printed whole; one fault shows in many.
const SHOWN_MAX: usize = 30;

/// What is asked for on the command line.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    /// How many sequences there are in all; the table and the schemas come first, the rest is drawn
    #[arg(long, default_value_t = 2000)]
    sequences: usize,
    /// What the drawn sequences are drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only the sequences whose names contain this
    #[arg(long)]
    only: Option<String>,
    /// The kflare to ask; a debug build of this tree when absent
    #[arg(long, env = "KFLARE")]
    kflare: Option<PathBuf>,
    /// Print what both servers answer
    #[arg(long)]
    show: bool,
}

/// What all sequences share.
#[derive(Debug)]
struct Run {
    pair: Pair,
    patterns: Patterns,
    excuses: Vec<Excuse>,
    spaces: AtomicUsize,
    requests: AtomicUsize,
    show: bool,
}

/// Runs everything and fails when a difference has no explanation.
pub(crate) fn run(root: &Path, options: &Options) -> anyhow::Result<()> {
    // Only an error that somebody else was first could come of it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let kflare = product::given_or_built(root, options.kflare.as_deref())?;
    let kube_apiserver = servers::build(root, servers::Version::Newest)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(compare_all(root, options, [&kube_apiserver, &kflare]))
}

/// All sequences of a run, and how many of them stand in the table.
fn sequences(root: &Path, options: &Options) -> anyhow::Result<(Vec<Sequence>, usize)> {
    let mut all = Vec::new();
    let home = root.join("testing/differential/sequences");
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(&home).with_context(|| format!("could not list {}", home.display()))? {
        paths.push(entry?.path());
    }
    paths.sort();
    for path in paths {
        let text = std::fs::read_to_string(&path)?;
        all.extend(sequence::parse(&text).with_context(|| format!("could not read {}", path.display()))?);
    }
    let mut names: Vec<&str> = all.iter().map(|sequence| sequence.name.as_str()).collect();
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        bail!("two sequences are called {:?}", twice[0]);
    }
    let in_table = all.len();
    all.extend(bounds::sequences(root)?);
    let missing = options.sequences.saturating_sub(all.len());
    all.extend(draw::sequences(options.seed, missing));
    if let Some(only) = &options.only {
        all.retain(|sequence| sequence.name.contains(only.as_str()));
    }
    Ok((all, in_table))
}

async fn compare_all(root: &Path, options: &Options, programs: [&Path; 2]) -> anyhow::Result<()> {
    let (all, in_table) = sequences(root, options)?;
    let excuses = excuse::read(&root.join("testing/differential/not-modelled.yaml"))?;
    let pair = pair::start(root, programs).await?;
    let (spaces, requests) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let run =
        Arc::new(Run { pair, patterns: Patterns::new()?, excuses, spaces, requests, show: options.show });
    let began = tokio::time::Instant::now();
    let mut failed = Vec::new();
    let mut under_way = JoinSet::new();
    for sequence in &all {
        if under_way.len() == AT_A_TIME
            && let Some(done) = under_way.join_next().await
        {
            failed.extend(done??);
        }
        let (run, sequence) = (Arc::clone(&run), sequence.clone());
        under_way.spawn(async move {
            let found = run.differences(&sequence).await?;
            anyhow::Ok((!found.is_empty()).then_some((sequence, found)))
        });
    }
    while let Some(done) = under_way.join_next().await {
        failed.extend(done??);
    }
    let took = began.elapsed().as_secs();
    for (sequence, found) in failed.iter().take(SHOWN_MAX) {
        run.report(sequence, found, options.only.is_some()).await;
    }
    for (sequence, found) in failed.iter().skip(SHOWN_MAX) {
        println!("DIFFERS {}", sequence.name);
        for difference in found {
            println!("    {difference}");
        }
    }
    let unused: Vec<&Excuse> = run.excuses.iter().filter(|excuse| excuse.uses() == 0).collect();
    let whole = options.only.is_none();
    if whole {
        for excuse in &unused {
            println!("NOT NEEDED in not-modelled.yaml: {}", excuse.why);
        }
    }
    println!(
        "differential: {} sequences ({in_table} of the table) of {} requests in {took} s, {} with an unexplained difference",
        all.len(),
        run.requests.load(Ordering::Relaxed),
        failed.len()
    );
    if !failed.is_empty() || (whole && !unused.is_empty()) {
        bail!("the sandbox does not answer as a real API server does");
    }
    Ok(())
}

impl Run {
    /// What both servers answer, request by request, where it differs and nothing explains it. Ends at the first request
    /// with a difference that changed something: what comes after it would only follow from it.
    async fn differences(&self, sequence: &Sequence) -> anyhow::Result<Vec<Difference>> {
        let space = format!("q{}", self.spaces.fetch_add(1, Ordering::Relaxed));
        let make = Step {
            ask: "POST namespaces".to_owned(),
            body: Some(json!({ "metadata": { "name": space } })),
            ..Step::default()
        };
        let request = make.fill(&space, &[])?;
        tokio::try_join!(self.pair.real.ask(&request, false), self.pair.ours.ask(&request, false))?;
        let mut answers: [Vec<Value>; 2] = Default::default();
        let mut seen: [Seen; 2] = Default::default();
        let mut all = Vec::new();
        for (index, step) in sequence.requests.iter().enumerate() {
            let deadline = tokio::time::Instant::now() + SETTLED_MAX;
            loop {
                let before = seen.clone();
                let requests = [step.fill(&space, &answers[0])?, step.fill(&space, &answers[1])?];
                let watch = step.is_watch();
                self.requests.fetch_add(1, Ordering::Relaxed);
                let (real, ours) = tokio::try_join!(
                    self.pair.real.ask(&requests[0], watch),
                    self.pair.ours.ask(&requests[1], watch)
                )?;
                let neutral =
                    [seen[0].neutral(&self.patterns, &real), seen[1].neutral(&self.patterns, &ours)];
                let found = compare::differences(&neutral[0], &neutral[1]);
                if step.eventually && !found.is_empty() && tokio::time::Instant::now() < deadline {
                    seen = before;
                    tokio::time::sleep(LOOK).await;
                    continue;
                }
                if self.show {
                    println!("{}. {}\n  real: {real}\n  ours: {ours}", index + 1, step.ask);
                }
                let found = found.into_iter().map(|(at, real, ours)| Difference {
                    step: index + 1,
                    ask: step.ask.clone(),
                    at,
                    real,
                    ours,
                });
                let found = excuse::unexplained(&self.excuses, &sequence.name, found.collect());
                let changes_nothing = step.ask.starts_with("GET")
                    || step.ask.contains("dryRun=All")
                    || [&real, &ours].iter().all(|answer| answer["status"].as_u64() >= Some(400));
                all.extend(found);
                if !all.is_empty() && !changes_nothing {
                    return Ok(all);
                }
                answers[0].push(real["body"].clone());
                answers[1].push(ours["body"].clone());
                break;
            }
        }
        Ok(all)
    }

    /// Prints a sequence that differs, as short as it can be, in the form of the table.
    async fn report(&self, sequence: &Sequence, found: &[Difference], whole: bool) {
        let fails = |smaller: Sequence| async move {
            self.differences(&smaller).await.is_ok_and(|found| !found.is_empty())
        };
        let mut smallest = sequence.clone();
        if let Some(last) = found.first() {
            smallest.requests.truncate(last.step);
        }
        if !whole {
            smallest = shrink::shrink(&smallest, fails).await;
        }
        println!("DIFFERS {}", sequence.name);
        for difference in found {
            println!("    {difference}");
        }
        for line in smallest.to_yaml().lines() {
            println!("    | {line}");
        }
    }
}
