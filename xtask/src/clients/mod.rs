//! Cloudflare's own clients as witnesses: the programs of testing/clients, one for each client, go through the same
//! situations against the sandbox's Cloudflare or, with `--live`, a real account. Says who goes through what and what
//! came of it; installing them is left to `program`, where they are sent to `scene`.

pub(crate) mod program;
mod scene;

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, bail};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;

use program::Program;
use scene::Scene;

/// How long one client may take. A real account answers in tenths of seconds, a zone file may have to wait a minute.
const PROGRAM_MAX: Duration = Duration::from_secs(600);

/// What is asked for on the command line.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    /// Only these clients
    #[arg(long, value_name = "NAME")]
    only: Vec<Program>,
    /// Go to a real account instead of the sandbox: CLOUDFLARE_API_TOKEN says as whom
    #[arg(long, requires_all = ["zone", "account"])]
    live: bool,
    /// The throw-away zone of a live run: a registered domain that is in no Cloudflare account; made and deleted
    #[arg(long, value_name = "NAME", requires = "live")]
    zone: Option<String>,
    /// The account of a live run
    #[arg(long, value_name = "ID", requires = "live")]
    account: Option<String>,
    /// The kflare whose sandbox is asked; a debug build of this tree when absent
    #[arg(long, env = "KFLARE")]
    kflare: Option<PathBuf>,
}

/// What came of one client's lines.
#[derive(Debug, Default, PartialEq, Eq)]
struct Count {
    passed: usize,
    failed: usize,
    skipped: usize,
}

/// Runs the programs one after the other and fails when one of them found something.
pub(crate) fn run(root: &Path, options: &Options) -> anyhow::Result<()> {
    // Only an error that somebody else was first could come of it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let programs = if options.only.is_empty() { Program::ALL.to_vec() } else { options.only.clone() };
    for program in &programs {
        program.find_tools()?;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(all(root, options, &programs))
}

async fn all(root: &Path, options: &Options, programs: &[Program]) -> anyhow::Result<()> {
    let home = root.join("testing/clients");
    let situations = std::fs::read_to_string(home.join("situations.txt")).context("no list of situations")?;
    let situations: Vec<&str> = situations.lines().collect();
    for program in programs {
        println!("installs {program}");
        program.install(root)?;
    }
    let scene = match (options.live, &options.zone, &options.account) {
        (true, Some(zone), Some(account)) => Scene::live(zone, account)?,
        _ => Scene::sandbox(root, options.kflare.as_deref()).await?,
    };
    let mut total = Count::default();
    let mut complaints = Vec::new();
    for program in programs {
        println!("\n{program}, at {}", scene.base_url());
        let mut command = program.command(root);
        scene.prepare(*program, &mut command).await?;
        command.env("WITNESS_RECORDS", home.join("records.json"));
        command.env("WITNESS_DIFFERENCES", home.join("differences.json"));
        let lines = lines_of(command).await.with_context(|| format!("{program} did not end well"))?;
        let may_skip = if options.live { &situations } else { program.skips() };
        let count = judge(&lines.text, &situations, may_skip, &mut |complaint| {
            complaints.push(format!("{program}: {complaint}"));
        });
        if !lines.ended_well && count.failed == 0 {
            complaints.push(format!("{program}: ended with an error"));
        }
        for misfit in scene.misfits().await? {
            complaints.push(format!("{program}: {misfit}"));
        }
        if lines.interrupted {
            bail!("interrupted; what {program} says above is whether its zone is deleted");
        }
        total.passed += count.passed;
        total.failed += count.failed;
        total.skipped += count.skipped;
    }
    let Count { passed, failed, skipped } = total;
    println!("\nclients: {passed} passed, {failed} failed, {skipped} skipped");
    if !complaints.is_empty() {
        bail!("Cloudflare's clients do not agree:\n  {}", complaints.join("\n  "));
    }
    Ok(())
}

/// What a program printed, whether it ended with 0, and whether somebody pressed Ctrl-C.
struct Lines {
    text: Vec<String>,
    ended_well: bool,
    interrupted: bool,
}

/// Runs a program, shows its lines while they come, and keeps them. Ctrl-C reaches the program, too: it cleans up, and is
/// waited for.
async fn lines_of(mut command: Command) -> anyhow::Result<Lines> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
    let output = child.stdout.take().context("no output")?;
    let follow = async {
        let (mut text, mut interrupted) = (Vec::new(), false);
        let mut lines = BufReader::new(output).lines();
        loop {
            tokio::select! {
                line = lines.next_line() => match line? {
                    Some(line) => {
                        println!("{line}");
                        text.push(line);
                    }
                    None => break,
                },
                _ = tokio::signal::ctrl_c() => interrupted = true,
            }
        }
        let ended_well = child.wait().await?.success();
        anyhow::Ok(Lines { text, ended_well, interrupted })
    };
    tokio::time::timeout(PROGRAM_MAX, follow)
        .await
        .with_context(|| format!("not within {} s", PROGRAM_MAX.as_secs()))?
}

/// Counts the lines. Every situation must be reported once, and only those that may be left out are.
fn judge(
    lines: &[String],
    situations: &[&str],
    may_skip: &[&str],
    complain: &mut dyn FnMut(String),
) -> Count {
    let mut count = Count::default();
    for situation in situations {
        let reports: Vec<&str> = lines.iter().filter_map(|line| outcome_of(line, situation)).collect();
        match reports.as_slice() {
            ["ok"] => count.passed += 1,
            ["skip"] if may_skip.contains(situation) => count.skipped += 1,
            ["skip"] => {
                count.failed += 1;
                complain(format!("{situation}: left out"));
            }
            ["FAILED"] => {
                count.failed += 1;
                complain(format!("{situation}: failed"));
            }
            _ => {
                count.failed += 1;
                complain(format!("{situation}: reported {} times", reports.len()));
            }
        }
    }
    count
}

/// The first word of a line that is about the situation.
fn outcome_of<'a>(line: &'a str, situation: &str) -> Option<&'a str> {
    let (outcome, rest) = line.split_once(' ')?;
    let rest = rest.trim_start().strip_prefix(situation)?;
    (rest.is_empty() || rest.starts_with(':')).then_some(outcome)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn judged(lines: &[&str]) -> (Count, Vec<String>) {
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        let mut complaints = Vec::new();
        let count =
            judge(&lines, &["a zone is created", "the zone is read"], &["the zone is read"], &mut |one| {
                complaints.push(one);
            });
        (count, complaints)
    }

    #[test]
    fn a_client_that_says_nothing_of_a_situation_has_not_passed_it() {
        let (count, complaints) = judged(&["ok     a zone is created", "skip   the zone is read: no method"]);
        assert_eq!((count, complaints.len()), (Count { passed: 1, failed: 0, skipped: 1 }, 0));
        let (count, complaints) = judged(&["ok     a zone is created"]);
        assert_eq!((count.passed, count.failed), (1, 1));
        assert_eq!(complaints, ["the zone is read: reported 0 times"]);
    }

    #[test]
    fn failures_and_situations_that_are_left_out_without_leave_count() {
        let (count, complaints) =
            judged(&["skip   a zone is created: why not", "FAILED the zone is read: no"]);
        assert_eq!(count, Count { passed: 0, failed: 2, skipped: 0 });
        assert_eq!(complaints, ["a zone is created: left out", "the zone is read: failed"]);
    }

    #[test]
    fn every_note_is_about_a_program_and_has_its_reason() {
        let notes = std::fs::read_to_string(crate::root().join("testing/clients/differences.json")).unwrap();
        let notes: BTreeMap<String, Vec<BTreeMap<String, String>>> = serde_json::from_str(&notes).unwrap();
        let mut named: Vec<&str> = Program::ALL.iter().map(|program| program.name()).collect();
        named.sort_unstable();
        assert_eq!(notes.keys().collect::<Vec<_>>(), named);
        for note in notes.values().flatten() {
            assert!(note.get("why").is_some_and(|why| !why.is_empty()), "{note:?}");
        }
    }

    #[test]
    fn a_situation_is_known_by_its_whole_name() {
        assert_eq!(outcome_of("ok     the zone is read", "the zone is read"), Some("ok"));
        assert_eq!(outcome_of("ok     the zone is read again", "the zone is read"), None);
        assert_eq!(outcome_of("typescript: 1 passed, 0 failed", "1 passed, 0 failed"), Some("typescript:"));
    }
}
