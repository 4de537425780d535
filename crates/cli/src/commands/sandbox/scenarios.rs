//! `kflare sandbox run`: scenarios by file or directory, with what came of each. The runner is `crate::scenario`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};

use super::arguments::ScenarioArguments;
use crate::e2e;
use crate::progress::Progress;
use crate::scenario::{self, Mode};
use crate::terminal::{self, Tone};

/// How a scenario's file ends.
const EXTENSION: &str = "txt";

/// Directories below each other that are searched; ours have one level.
const DEPTH_MAX: usize = 8;

/// Runs them in order; fails when one does.
pub(super) fn execute(arguments: &ScenarioArguments) -> anyhow::Result<ExitCode> {
    let mut files = Vec::new();
    for path in &arguments.scenarios {
        collect(path, DEPTH_MAX, &mut files)?;
    }
    if let Some(part) = &arguments.only {
        files.retain(|file| file.to_string_lossy().contains(part));
    }
    if files.is_empty() {
        bail!("there is no .{EXTENSION} file: name a scenario, or a directory of them");
    }
    if let Some(roles) = &arguments.roles {
        let complete = arguments.only.is_none();
        let (clusters, seed) = (&arguments.cluster, arguments.seed);
        return e2e::run(&e2e::Order { clusters, roles, files, seed, complete });
    }
    let mut out = io::stdout().lock();
    let colour = terminal::wants_colour(&io::stdout());
    let mut failures = 0_usize;
    let progress = Progress::begin("running scenarios");
    for (done, file) in files.iter().enumerate() {
        let mode = Mode { seed: arguments.seed, ..Mode::default() };
        let name = file.display().to_string();
        let name = terminal::harmless(&name);
        progress.say(|| format!("{name}, {} of {}", done + 1, files.len()));
        let outcome = scenario::run_file(file, mode);
        failures += usize::from(outcome.is_err());
        progress.aside(|| -> io::Result<()> {
            match outcome {
                Ok(finished) => {
                    if !arguments.quiet {
                        let transcript = finished.transcript.to_string();
                        transcript
                            .lines()
                            .try_for_each(|line| writeln!(out, "{}", terminal::harmless(line)))?;
                    }
                    writeln!(out, "{} {name}", Tone::Good.paint("ok    ", colour))
                }
                Err(error) => {
                    writeln!(out, "{} {name}", Tone::Bad.paint("FAILED", colour))?;
                    let text = format!("{:#}", anyhow::Error::from(error));
                    text.lines().try_for_each(|line| writeln!(out, "  {}", terminal::harmless(line)))
                }
            }
        })?;
    }
    drop(progress);
    writeln!(out, "{} of {} scenarios passed", files.len() - failures, files.len())?;
    Ok(if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn collect(path: &Path, depth: usize, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let entries = std::fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut paths: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() && depth > 0 {
            collect(&path, depth - 1, files)?;
        } else if path.extension().is_some_and(|extension| extension == EXTENSION) {
            files.push(path);
        }
    }
    Ok(())
}
