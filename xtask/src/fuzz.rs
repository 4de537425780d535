//! Fuzzing: builds the targets with libFuzzer and the compiler's counters of what was reached, and runs each for a while.
//! What must hold of an input, and the corpus, are in testing/fuzz.

use std::fs::{self, File};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, bail};
use clap::Args;

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
    let targets = targets(root, options.only.as_deref())?;
    let program = build(root)?;
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

/// The targets are the folders of the corpus.
fn targets(root: &Path, only: Option<&str>) -> anyhow::Result<Vec<String>> {
    let corpus = root.join(HOME).join("corpus");
    let entries = fs::read_dir(&corpus).with_context(|| format!("cannot list {}", corpus.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    let known = names.join(", ");
    names.retain(|name| only.is_none_or(|only| only == name));
    if names.is_empty() {
        bail!("there is no target {}; there are {known}", only.unwrap_or_default());
    }
    Ok(names)
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
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from).join("fuzz")
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
        .args([&found, &home.join("corpus").join(target)])
        .stderr(File::create(&log).with_context(|| format!("cannot write {}", log.display()))?)
        .status()
        .with_context(|| format!("cannot start {}", program.display()))?;
    let said = fs::read(&log).unwrap_or_default();
    println!("{target}: {}", told(&String::from_utf8_lossy(&said), status.success(), &log));
    Ok(status.success())
}

/// What a run says of itself, or its last lines.
fn told(said: &str, holds: bool, log: &Path) -> String {
    let number = |name: &str| {
        let line = said.lines().rev().find_map(|line| line.strip_prefix(&format!("stat::{name}:")));
        line.map_or("?", str::trim).to_owned()
    };
    if holds {
        let (inputs, new) = (number("number_of_executed_units"), number("new_units_added"));
        return format!("{inputs} inputs tried, {new} of them reached something new");
    }
    let tells =
        |line: &&str| ["panicked at", "SUMMARY", "Test unit written"].iter().any(|word| line.contains(word));
    let mut told: Vec<&str> = said.lines().filter(tells).collect();
    if told.is_empty() {
        told.extend(said.lines().last());
    }
    format!("BROKEN\n  {}\n  all of it: {}", told.join("\n  "), log.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_that_does_not_exist_is_named_with_those_that_do() {
        let root = crate::root();
        let all = targets(&root, None).expect("there are some");
        assert!(
            all.iter().all(|target| root.join(HOME).join(format!("words/{target}.txt")).exists()),
            "{all:?}"
        );
        assert_eq!(targets(&root, Some("dns")).expect("there is one"), ["dns"]);
        let error = targets(&root, Some("dsn")).expect_err("there is none").to_string();
        assert!(error.contains("dsn") && error.contains("dns"), "{error}");
    }

    #[test]
    fn a_run_is_told_in_a_line_and_a_failure_with_its_input() {
        let said = "#1\nstat::number_of_executed_units: 7\nstat::new_units_added: 2\n";
        assert_eq!(told(said, true, Path::new("l")), "7 inputs tried, 2 of them reached something new");
        let said = "thread 'main' panicked at x\nfoo\nTest unit written to crashes/dns-1\n";
        let told = told(said, false, Path::new("l"));
        assert!(told.contains("panicked at x\n  Test unit written to crashes/dns-1"), "{told}");
    }
}
