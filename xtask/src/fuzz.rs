//! Fuzzing: builds the targets with libFuzzer and the compiler's counters of what was reached, and runs each for a while.
//! What must hold of an input, and the corpus, are in testing/fuzz.

use std::fs::{self, File};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, bail};
use clap::Args;

use crate::product;

/// Where the targets are.
const HOME: &str = "testing/fuzz";
/// The variable that tells the program which target it is.
const NAME: &str = "KFLARE_FUZZ_TARGET";

/// What cargo-fuzz asks of the compiler, of which stable Rust has all: counters for each edge, and what is compared.
const INSTRUMENTED: &[&str] = &[
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

/// Longest input: some requests with a body each. Longer ones take time and show nothing else.
const BYTES_MAX: usize = 8_192;
/// Seconds after which an input hangs; the slowest takes a tenth of one, and the machine may be busy.
const SECONDS_MAX: u64 = 30;
/// Megabytes of the process: a world in memory has some 50, and what grows without a bound soon has more.
const MEGABYTES_MAX: u64 = 1_024;
/// Megabytes of one allocation, for the same reason.
const ALLOCATION_MEGABYTES_MAX: u64 = 256;

/// What can be asked for.
#[derive(Args)]
pub(crate) struct Options {
    /// Seconds for each target
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    seconds: u64,
    /// Only this target
    #[arg(long, value_name = "TARGET")]
    only: Option<String>,
    /// Decides what is tried
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u32,
    /// Run one input, and show what comes of it; needs --only
    #[arg(long, value_name = "FILE", requires = "only")]
    input: Option<PathBuf>,
}

/// Builds, and runs each target.
pub(crate) fn run(root: &Path, options: &Options) -> anyhow::Result<()> {
    let program = build(root)?;
    let targets = chosen(&all(&program)?, options.only.as_deref())?;
    if let (Some(input), [target]) = (&options.input, &targets[..]) {
        let status =
            Command::new(program).env(NAME, target).arg(input).status().context("cannot start it")?;
        return if status.success() {
            Ok(())
        } else {
            bail!("{target} does not hold on {}", input.display())
        };
    }
    let broken = broken(root, &program, &targets, options)?;
    if !broken.is_empty() {
        bail!(
            "these do not hold: {}; mend what is wrong, and keep the input as {HOME}/corpus/TARGET/SITUATION",
            broken.join(", ")
        );
    }
    Ok(())
}

/// The targets that do not hold. As many run at a time as there are processors: each is one thread.
fn broken(root: &Path, program: &Path, targets: &[String], options: &Options) -> anyhow::Result<Vec<String>> {
    let waiting = Mutex::new(targets.iter());
    let broken = Mutex::new(Vec::new());
    let work = || {
        loop {
            let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(target) = next else { return anyhow::Ok(()) };
            if !holds(root, program, target, options)? {
                broken.lock().unwrap_or_else(PoisonError::into_inner).push(target.clone());
            }
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| match thread.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })?;
    Ok(broken.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// The targets, which the program names itself.
fn all(program: &Path) -> anyhow::Result<String> {
    let output = Command::new(program).env_remove(NAME).output();
    let output = output.with_context(|| format!("cannot start {}", program.display()))?;
    if !output.status.success() {
        bail!("{} does not say what its targets are", program.display());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Those that are asked for of the names, one a line.
fn chosen(names: &str, only: Option<&str>) -> anyhow::Result<Vec<String>> {
    let known: Vec<String> = names.lines().map(str::to_owned).collect();
    let chosen: Vec<String> =
        known.iter().filter(|name| only.is_none_or(|only| only == *name)).cloned().collect();
    if chosen.is_empty() {
        bail!("there is no target {}; there are {}", only.unwrap_or_default(), known.join(", "));
    }
    Ok(chosen)
}

/// The program of all targets, built beside everything else: its crates are instrumented.
fn build(root: &Path) -> anyhow::Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let host = host()?;
    let folder = folder(root);
    println!("building the targets in {}", folder.display());
    // With --target, build scripts and macros are left as they are: they run without libFuzzer.
    let status = Command::new(cargo)
        .current_dir(root)
        .env("RUSTFLAGS", INSTRUMENTED.join(" "))
        .args(["build", "--quiet", "--locked", "--package", "fuzz", "--features", "engine", "--bin", "fuzz"])
        .args(["--profile", "fuzz", "--target", &host, "--target-dir"])
        .arg(&folder)
        .status()
        .context("cannot start cargo")?;
    if !status.success() {
        bail!("the targets do not build; libFuzzer needs a C++ compiler (c++)");
    }
    Ok(folder.join(host).join("fuzz/fuzz"))
}

fn folder(root: &Path) -> PathBuf {
    product::target(root).join("fuzz")
}

fn host() -> anyhow::Result<String> {
    let output = Command::new("rustc").arg("-vV").output().context("cannot start rustc")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names no host")?;
    Ok(host.to_owned())
}

/// Whether the target held for the whole time; what libFuzzer says is in a file.
fn holds(root: &Path, program: &Path, target: &str, options: &Options) -> anyhow::Result<bool> {
    let folder = folder(root);
    let (found, crashes) = (folder.join("found").join(target), folder.join("crashes"));
    for made in [&found, &crashes] {
        fs::create_dir_all(made).with_context(|| format!("cannot make {}", made.display()))?;
    }
    let log = folder.join(format!("{target}.log"));
    let home = root.join(HOME);
    let corpus = home.join("corpus").join(target);
    let least = inputs(&corpus)?;
    let status = Command::new(program)
        .env(NAME, target)
        .arg(format!("-max_total_time={}", options.seconds))
        .arg(format!("-seed={}", options.seed))
        .arg(format!("-dict={}", home.join("words").join(format!("{target}.txt")).display()))
        .arg(format!("-artifact_prefix={}/{target}-", crashes.display()))
        .arg(format!("-max_len={BYTES_MAX}"))
        .arg(format!("-timeout={SECONDS_MAX}"))
        .arg(format!("-rss_limit_mb={MEGABYTES_MAX}"))
        .arg(format!("-malloc_limit_mb={ALLOCATION_MEGABYTES_MAX}"))
        .args(["-use_value_profile=1", "-print_final_stats=1"])
        // New inputs go to the first folder; those of the second are only read.
        .args([&found, &corpus])
        .stderr(File::create(&log).with_context(|| format!("cannot write {}", log.display()))?)
        .status()
        .with_context(|| format!("cannot start {}", program.display()))?;
    let said = fs::read(&log).with_context(|| format!("cannot read {}", log.display()))?;
    let told = told(&String::from_utf8_lossy(&said), status.success(), least);
    match &told {
        Ok(text) => println!("{target}: {text}"),
        Err(text) => println!("{target}: BROKEN\n  {text}\n  all of it: {}", log.display()),
    }
    Ok(told.is_ok())
}

/// How many inputs a corpus has.
fn inputs(corpus: &Path) -> anyhow::Result<u64> {
    let entries = fs::read_dir(corpus).with_context(|| format!("cannot list {}", corpus.display()))?;
    let count = entries.map(|entry| entry.map(|_| 1)).sum::<Result<u64, _>>()?;
    if count == 0 {
        bail!("{} is empty", corpus.display());
    }
    Ok(count)
}

/// What a run says of itself; as an error, what does not hold. A run that did not even get through its corpus shows nothing.
fn told(said: &str, ended_well: bool, least: u64) -> Result<String, String> {
    let number = |name: &str| -> Option<u64> {
        let line = said.lines().rev().find_map(|line| line.strip_prefix(&format!("stat::{name}:")))?;
        line.trim().parse().ok()
    };
    if ended_well {
        return match (number("number_of_executed_units"), number("new_units_added")) {
            (Some(inputs), Some(new)) if inputs >= least => {
                Ok(format!("{inputs} inputs tried, {new} of them reached something new"))
            }
            (Some(inputs), Some(_)) => {
                Err(format!("only {inputs} inputs tried, of a corpus of {least}: give it more seconds"))
            }
            _ => Err("it does not say how many inputs it tried".to_owned()),
        };
    }
    let tells =
        |line: &&str| ["panicked at", "SUMMARY", "Test unit written"].iter().any(|word| line.contains(word));
    let mut told: Vec<&str> = said.lines().filter(tells).collect();
    if told.is_empty() {
        told.extend(said.lines().last());
    }
    Err(told.join("\n  "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_that_does_not_exist_is_named_with_those_that_do() {
        let all = "envelope\ndns\n";
        assert_eq!(chosen(all, None).unwrap(), ["envelope", "dns"]);
        assert_eq!(chosen(all, Some("dns")).unwrap(), ["dns"]);
        let error = chosen(all, Some("dsn")).unwrap_err().to_string();
        assert!(error.contains("dsn") && error.contains("envelope, dns"), "{error}");
        assert!(chosen("", None).is_err(), "a program without targets");
    }

    #[test]
    fn a_run_is_told_in_a_line_and_a_failure_with_its_input() {
        let said = "#1\nstat::number_of_executed_units: 7\nstat::new_units_added: 2\n";
        assert_eq!(told(said, true, 7), Ok("7 inputs tried, 2 of them reached something new".to_owned()));
        let said = "thread 'main' panicked at x\nfoo\nTest unit written to crashes/dns-1\n";
        let told = told(said, false, 1).unwrap_err();
        assert!(told.contains("panicked at x\n  Test unit written to crashes/dns-1"), "{told}");
    }

    #[test]
    fn a_run_that_tried_less_than_its_corpus_or_does_not_say_how_much_does_not_hold() {
        let said = "stat::number_of_executed_units: 6\nstat::new_units_added: 0\n";
        assert!(told(said, true, 7).unwrap_err().contains("only 6"));
        assert!(told("", true, 1).is_err());
        assert!(told("stat::number_of_executed_units: ?\n", true, 1).is_err());
    }

    #[test]
    fn every_corpus_has_inputs() {
        let corpus = crate::root().join(HOME).join("corpus");
        assert!(inputs(&corpus.join("dns")).unwrap() > 1);
        assert!(inputs(&corpus.join("nothing")).is_err());
    }
}
