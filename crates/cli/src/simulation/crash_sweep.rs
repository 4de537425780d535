//! Every scenario again with a crash at each external write, once before and once after it was carried out.
//! The end must be the same as without a crash; how a crash is survived is the operator's business.

use std::path::{Path, PathBuf};

use sandbox::fault::Fault;

use super::{EndState, checker};
use crate::scenario::{Command, Mode, RunError, Runner, Script, simulate};
use crate::world::{CrashPoint, CrashSide, World};

/// What a sweep found.
#[derive(Clone, Debug, Default)]
pub struct Sweep {
    /// Crash points visited.
    pub points: u64,
    /// Those that ended in another state, or broke a promise on the way.
    pub failures: Vec<SweepFailure>,
}

/// A crash that was not survived.
#[derive(Clone, Debug)]
pub struct SweepFailure {
    /// The scenario.
    pub path: PathBuf,
    /// Where the operator died.
    pub point: CrashPoint,
    /// What came of it.
    pub difference: String,
}

impl std::fmt::Display for SweepFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { path, point, difference } = self;
        let side = match point.side {
            CrashSide::Before => "before",
            CrashSide::After => "after",
        };
        write!(f, "{}: a crash {side} write {}:\n{difference}", path.display(), point.write)
    }
}

/// Sweeps one scenario; nothing when it says `sweep=off` or `unswept`.
pub fn sweep(path: &Path) -> Result<Sweep, RunError> {
    let script = Script::read(path)?;
    let mut found = Sweep::default();
    if !script.setup.sweep || script.unswept.is_some() {
        return Ok(found);
    }
    let (expected, writes, _) = end_of(&script, None)?;
    for point in points(&script, writes) {
        let (end, _, broken) = end_of(&script, Some(point))?;
        found.points += 1;
        let problems: Vec<String> = expected.difference(&end).into_iter().chain(broken).collect();
        if !problems.is_empty() {
            let (path, difference) = (path.to_owned(), problems.join("\n"));
            found.failures.push(SweepFailure { path, point, difference });
        }
    }
    Ok(found)
}

/// Both sides of every write. What survives a crash stands in the two worlds, and they are the same after write n as
/// before write n + 1, so one run visits both; but where faults are armed a read in between may change a world.
fn points(script: &Script, writes: u64) -> Vec<CrashPoint> {
    let reads_matter = script.steps.iter().any(|step| matches!(step.command, Command::Fault(_)));
    let both =
        |write| [CrashSide::Before, CrashSide::After].map(|side| CrashPoint { write, whose: None, side });
    (1..=writes)
        .flat_map(both)
        .filter(|point| reads_matter || point.write == 1 || point.side == CrashSide::After)
        .collect()
}

/// What is late to commit, or made under a clock that is set by hand, may stand twice for a while.
fn knows_no_time(script: &Script) -> bool {
    script.steps.iter().any(|step| match &step.command {
        Command::Fault(order) => order.fault == Fault::LateCommit,
        Command::Jump { .. } => true,
        _ => false,
    })
}

/// Runs a scenario to its end and some time beyond, so that nothing that is under way counts as a difference.
fn end_of(script: &Script, crash: Option<CrashPoint>) -> Result<(EndState, u64, Vec<String>), RunError> {
    simulate(async {
        let mode = Mode { crash, lenient: true, history: true, ..Mode::default() };
        let mut runner = Runner::new(script.clone(), mode)?;
        runner.run().await?;
        let world: &mut World = &mut runner.world;
        let writes = world.writes().total();
        if !world.is_running() {
            world.crash();
            world.start();
        }
        world.recover().await;
        let mut broken = checker::promises(world);
        broken.extend(checker::doubled(world, knows_no_time(script)));
        Ok((EndState::of(world), writes, broken))
    })
    .map_err(RunError::Runtime)?
}
