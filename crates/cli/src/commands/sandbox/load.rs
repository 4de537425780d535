//! `kflare sandbox load`: thousands of records in bad weather, and how each weather ended. The run and what must hold are
//! `crate::simulation`.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;

use super::arguments::LoadArguments;
use crate::progress::Progress;
use crate::simulation::{self, Calm, LoadOrder, LoadRun, Told};
use crate::terminal::{self, Tone};
use crate::world::Side;

/// Runs all weathers; fails when a promise is broken.
pub(super) fn execute(arguments: &LoadArguments) -> anyhow::Result<ExitCode> {
    let progress = Progress::begin("making a world");
    let order = LoadOrder { records: arguments.records, is_alone: true };
    let run = simulation::run_load(order, &|told| match told {
        Told::Doing(text) => progress.say(|| text),
        // What cannot be printed is told by the closing lines, which cannot be printed either.
        Told::Calm(calm) => drop(progress.aside(|| tell_calm(&mut io::stdout().lock(), calm))),
    })?;
    drop(progress);
    let colour = terminal::wants_colour(&io::stdout());
    tell(&mut io::stdout().lock(), arguments.records, &run, colour)
        .context("cannot write to standard output")?;
    Ok(if run.broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn tell_calm(out: &mut impl Write, calm: &Calm) -> io::Result<()> {
    let Calm { weather, waiting, after, memory } = calm;
    let after = after.map_or("never right".to_owned(), |after| format!("right {} later", minutes(after)));
    write!(out, "{weather}: {waiting} records waited, all was {after}")?;
    if let Some(memory) = memory {
        let (now, peak) = (mebibytes(memory.now), mebibytes(memory.peak));
        write!(out, "; {now} MiB stand in memory, {peak} MiB at most")?;
    }
    writeln!(out)?;
    out.flush()
}

fn tell(out: &mut impl Write, records: u32, run: &LoadRun, colour: bool) -> io::Result<()> {
    for (side, name) in [(Side::Cloudflare, "Cloudflare"), (Side::Kubernetes, "Kubernetes")] {
        let of_side = run.hits.iter().filter(|((whose, _), _)| *whose == side);
        let hits: Vec<String> = of_side.map(|((_, fault), hits)| format!("{fault} {hits}")).collect();
        writeln!(out, "requests to {name} that a fault hit: {}", hits.join(", "))?;
    }
    let LoadRun { calls, most_calls, requests, .. } = run;
    writeln!(
        out,
        "{records} records: {calls} calls to Cloudflare, at most {most_calls} in any five minutes; {requests} requests to \
         Kubernetes"
    )?;
    for broken in &run.broken {
        writeln!(out, "{} {}", Tone::Bad.paint("FAILED", colour), terminal::harmless(broken))?;
    }
    let verdict = if run.broken.is_empty() { "every promise was kept" } else { "not every promise was kept" };
    writeln!(out, "{verdict}")
}

fn minutes(time: Duration) -> String {
    format!("{} min {:02} s", time.as_secs() / 60, time.as_secs() % 60)
}

fn mebibytes(kibibytes: u64) -> u64 {
    kibibytes / 1024
}
