//! `kflare sandbox sim`: worlds drawn from seeds, with what came of each. Drawing and judging are `crate::simulation`.

use std::io::{self, Write};
use std::process::ExitCode;

use super::arguments::SeedArguments;
use crate::progress::Progress;
use crate::simulation::{self, SeedFailure, SeedRun};
use crate::terminal::{self, Tone};

/// Runs the seeds in order; fails when one does.
pub(super) fn execute(arguments: &SeedArguments) -> anyhow::Result<ExitCode> {
    let mut out = io::stdout().lock();
    let colour = terminal::wants_colour(&io::stdout());
    let mut failed = Vec::new();
    let progress = Progress::begin("drawing worlds");
    simulation::run_seeds(arguments.seed, arguments.seeds, |seed, outcome| {
        if outcome.is_err() {
            failed.push(seed);
        }
        let (told, failures) = (seed - arguments.seed + 1, failed.len());
        progress.say(|| format!("{told} of {} seeds, {failures} failed", arguments.seeds));
        progress.aside(|| tell(&mut out, seed, outcome.as_ref().map_err(Box::as_ref), colour))
    })?;
    drop(progress);
    let passed = arguments.seeds - u64::try_from(failed.len()).unwrap_or(arguments.seeds);
    writeln!(out, "{passed} of {} seeds passed", arguments.seeds)?;
    let Some(first) = failed.first() else { return Ok(ExitCode::SUCCESS) };
    writeln!(out, "see one again with: kflare sandbox sim --seed {first} --seeds 1")?;
    Ok(ExitCode::FAILURE)
}

fn tell(
    out: &mut impl Write,
    seed: u64,
    outcome: Result<&SeedRun, &SeedFailure>,
    colour: bool,
) -> io::Result<()> {
    match outcome {
        Ok(run) => {
            let verdict = Tone::Good.paint("ok    ", colour);
            writeln!(out, "{verdict} seed {seed}, {} requests", run.requests)?;
        }
        Err(failure) => {
            writeln!(out, "{} seed {seed}", Tone::Bad.paint("FAILED", colour))?;
            for line in failure.to_string().lines() {
                writeln!(out, "  {}", terminal::harmless(line))?;
            }
        }
    }
    out.flush()
}
