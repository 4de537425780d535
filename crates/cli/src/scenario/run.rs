//! Runs a scenario, line by line, in a world of its own.
//! What a command does is `perform`, what is checked is `expect`; this keeps order, time and the transcript.

use std::collections::BTreeMap;
use std::path::Path;

use operator::Portions;
use sandbox::kubernetes::Status;

use super::error::{Failure, ScriptError};
use super::script::{Command, Script, Step};
use super::setting::{Setting, resources};
use super::transcript::{self, Transcript};
use super::{expect, perform};
use crate::commands;
use crate::world::{CrashPoint, Options, Settled, World, Writes, misfits};

/// How a scenario is run.
#[derive(Clone, Copy, Debug)]
pub struct Mode {
    /// Decides IDs and jitter.
    pub seed: u64,
    /// Kill the operator at this write, and start it again at once.
    pub crash: Option<CrashPoint>,
    /// Expectations are not checked, and steps that cannot be done are passed over: for runs that the script was
    /// not written for.
    pub lenient: bool,
    /// Kubernetes keeps every version of every object, for checkers that look back.
    pub history: bool,
    /// How passes of the operator take in the members of a large unit.
    pub portions: Portions,
}

impl Default for Mode {
    fn default() -> Self {
        Self { seed: 1, crash: None, lenient: false, history: false, portions: Portions::default() }
    }
}

/// A scenario that came to its end.
#[derive(Debug)]
pub struct Finished {
    /// What was done and what came of it, sorted and without wall-clock time.
    pub transcript: String,
    /// The operator's writes.
    pub writes: Writes,
}

/// Requests and writes of the operator during the last command that let time pass.
#[derive(Clone, Debug, Default)]
pub(super) struct Window {
    pub(super) writes: Writes,
    pub(super) calls: BTreeMap<(String, String), u64>,
}

/// A running scenario.
#[derive(Debug)]
pub struct Runner<S = World> {
    /// Where it happens.
    pub world: S,
    pub(super) script: Script,
    mode: Mode,
    pub(super) window: Window,
    /// Requests to Cloudflare up to the end of the last command that let time pass. Whatever comes after it belongs to the
    /// next: where time is real, it passes all the time.
    counted: BTreeMap<(String, String), u64>,
    transcript: Transcript,
}

/// Runs `future` alone in virtual time: nothing sleeps for real, and the order of everything is fixed.
pub fn simulate<T>(future: impl Future<Output = T>) -> std::io::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
    Ok(runtime.block_on(future))
}

/// Reads and runs a scenario, as `kflare sandbox run FILE` does.
pub fn run_file(path: &Path, mode: Mode) -> Result<Finished, RunError> {
    let script = Script::read(path)?;
    simulate(async {
        let mut runner = Runner::new(script, mode)?;
        runner.run().await?;
        Ok(runner.finish())
    })
    .map_err(RunError::Runtime)?
}

/// The world that a script wants.
pub(crate) fn options(script: &Script, mode: Mode) -> Result<Options, Box<Failure>> {
    let setup = &script.setup;
    let switches = perform::switches(setup).map_err(|message| {
        let (line, text) = script.world.clone().unwrap_or_default();
        Box::new(Failure { file: script.name.clone(), line, text, message })
    })?;
    Ok(Options {
        seed: mode.seed,
        empty: setup.empty,
        switches,
        drift_interval: setup.drift,
        retain: setup.retain,
        election: setup.election || setup.replicas > 1,
        replicas: setup.replicas,
        history: mode.history,
        owners: false,
        portions: mode.portions,
        schemas: true,
    })
}

/// Why a scenario did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The file is no scenario.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// A step failed.
    #[error(transparent)]
    Step(#[from] Box<Failure>),
    /// The world could not be made: our own CRDs are refused.
    #[error("the sandbox refuses its first objects")]
    Scene(#[from] Status),
    /// No runtime.
    #[error("cannot start a runtime")]
    Runtime(#[source] std::io::Error),
}

impl Runner {
    /// A world as the script wants it, with an operator that has just started.
    pub fn new(script: Script, mode: Mode) -> Result<Self, RunError> {
        let mut world = World::new(options(&script, mode)?)?;
        world.start();
        if let Some(point) = mode.crash {
            world.crash_at(point);
        }
        Ok(Self::within(world, script, mode))
    }
}

impl<S: Setting> Runner<S> {
    /// In a setting that is as the script wants it, with an operator that has just started.
    pub fn within(world: S, script: Script, mode: Mode) -> Self {
        let mut transcript = Transcript::default();
        if let Some((_, line)) = &script.world {
            transcript.command(line);
        }
        Self { world, script, mode, window: Window::default(), counted: BTreeMap::new(), transcript }
    }

    /// Runs all steps; ends at the first that fails.
    pub async fn run(&mut self) -> Result<(), Box<Failure>> {
        let steps = self.script.steps.clone();
        for step in &steps {
            self.step(step).await?;
        }
        Ok(())
    }

    /// Runs one step.
    pub async fn step(&mut self, step: &Step) -> Result<(), Box<Failure>> {
        self.transcript.command(&step.text);
        let done = self.perform(&step.command).await;
        let failure = |message| {
            let (file, text) = (self.script.name.clone(), step.text.clone());
            Box::new(Failure { file, line: step.line, text, message })
        };
        let misfits = misfits(self.world.cloudflare());
        match done {
            _ if !misfits.is_empty() => Err(failure(misfits.join("\n"))),
            Err(message) if !self.mode.lenient => Err(failure(message)),
            _ => Ok(()),
        }
    }

    /// The transcript and the counts.
    #[must_use]
    pub fn finish(mut self) -> Finished {
        Finished { transcript: self.transcript.into_text(), writes: self.world.writes() }
    }

    async fn perform(&mut self, command: &Command) -> Result<(), String> {
        match command {
            Command::Settle { writes } => self.settle(*writes).await,
            Command::Advance(by) => {
                let mut settled = self.world.advance(*by).await?;
                self.revive(&mut settled).await?;
                self.passed(settled).await
            }
            Command::Expect(_) | Command::Plan(_) if self.mode.lenient => Ok(()),
            Command::Plan(object) => {
                let plan = commands::plan::within(self.world.ways(), self.world.now(), object).await;
                let plan = plan.map_err(|error| error.to_string())?;
                self.transcript.plan(&plan);
                // Its reads are not the operator's.
                self.counted = self.world.cloudflare().log().counts();
                Ok(())
            }
            Command::Expect(expectation) => expect::check(self, expectation).await,
            command => perform::at_once(self, command).await,
        }
    }

    async fn settle(&mut self, expected: Option<u64>) -> Result<(), String> {
        let mut settled = self.world.settle().await?;
        self.revive(&mut settled).await?;
        self.passed(settled).await?;
        let writes = settled.writes.cloudflare;
        match expected {
            Some(expected) if expected != writes => {
                Err(format!("{writes} writes reached Cloudflare, not {expected}"))
            }
            _ if !settled.quiet && !settled.crashed => {
                let resources = resources(&self.world).await?;
                Err(format!("work is still due: {}", transcript::unready(&resources)))
            }
            _ => Ok(()),
        }
    }

    /// In a crash sweep: starts the operator that an armed write killed, and gives it the time that it takes to
    /// know what became of what its predecessor had in flight.
    async fn revive(&mut self, settled: &mut Settled) -> Result<(), String> {
        if settled.crashed && self.mode.crash.is_some() {
            self.world.start().await?;
            *settled = self.world.recover().await?;
        }
        Ok(())
    }

    async fn passed(&mut self, settled: Settled) -> Result<(), String> {
        let now = self.world.cloudflare().log().counts();
        let mut calls = now.clone();
        for (route, count) in std::mem::replace(&mut self.counted, now) {
            if let Some(now) = calls.get_mut(&route) {
                *now -= count;
            }
        }
        calls.retain(|_, count| *count > 0);
        self.transcript.passed(&resources(&self.world).await?, settled, &calls);
        self.window = Window { writes: settled.writes, calls };
        Ok(())
    }
}
