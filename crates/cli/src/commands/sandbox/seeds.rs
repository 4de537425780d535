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
    let (mut failed, mut requests) = (Vec::new(), 0);
    let progress = Progress::begin("drawing worlds");
    simulation::run_seeds(arguments.seed, arguments.seeds, |seed, outcome| {
        match &outcome {
            Ok(run) => requests += run.requests,
            Err(_) => failed.push(seed),
        }
        let (told, failures) = (seed - arguments.seed + 1, failed.len());
        progress.say(|| format!("{told} of {} seeds, {failures} failed", arguments.seeds));
        match &outcome {
            Ok(run) if arguments.each => progress.aside(|| tell_passed(&mut out, run, colour)),
            Ok(_) => Ok(()),
            Err(failure) => progress.aside(|| tell_failed(&mut out, failure, colour)),
        }
    })?;
    drop(progress);
    let passed = arguments.seeds - u64::try_from(failed.len()).unwrap_or(arguments.seeds);
    writeln!(
        out,
        "{passed} of {} seeds from {} on passed, with {requests} requests",
        arguments.seeds, arguments.seed
    )?;
    let Some(first) = failed.first() else { return Ok(ExitCode::SUCCESS) };
    writeln!(out, "see one again with: kflare sandbox sim --seed {first} --seeds 1")?;
    Ok(ExitCode::FAILURE)
}

fn tell_passed(out: &mut impl Write, run: &SeedRun, colour: bool) -> io::Result<()> {
    writeln!(out, "{} seed {}, {} requests", Tone::Good.paint("ok    ", colour), run.seed, run.requests)?;
    out.flush()
}

fn tell_failed(out: &mut impl Write, failure: &SeedFailure, colour: bool) -> io::Result<()> {
    writeln!(out, "{} seed {}", Tone::Bad.paint("FAILED", colour), failure.seed)?;
    for line in failure.to_string().lines() {
        writeln!(out, "  {}", terminal::harmless(line))?;
    }
    out.flush()
}
