//! `cargo xtask kubectl`: what people type, against a real API server and against the sandbox, must print the same. The
//! commands stand in `testing/kubectl/commands.txt`. Leaves requests that kubectl does not send to `differential`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, bail};
use regex::Regex;
use tokio::process::Command;
use tokio::time::{Instant, sleep};

use crate::{product, servers};

/// How long our definitions may take to be taken: a server that has just started does not serve them at once.
const INSTALLED_MAX: Duration = Duration::from_secs(240);
/// How long the controllers of the real cluster may take to do what the sandbox does at once.
const SETTLED_MAX: Duration = Duration::from_secs(20);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(200);
/// Commands that only look: they are asked again while the real server, whose controllers work beside it and which
/// publishes the schema of a new definition only some seconds after that is Established, gets as far as the sandbox.
const LOOKS: [&str; 8] = [
    "kubectl get ",
    "kubectl describe ",
    "kubectl rollout history ",
    "kubectl explain ",
    "kubectl api-resources",
    "kubectl api-versions",
    "kubectl diff ",
    "kubectl auth can-i ",
];
/// Marks a command that prints something else in the sandbox on purpose; the reason stands behind it.
const DIFFERS: &str = "#differs ";

/// What is asked for on the command line.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    /// The kubectl to use
    #[arg(long, env = "KUBECTL", default_value = "kubectl")]
    kubectl: PathBuf,
    /// The kflare to ask; a debug build of this tree when absent
    #[arg(long, env = "KFLARE")]
    kflare: Option<PathBuf>,
    /// Print what both servers answer
    #[arg(long)]
    show: bool,
}

/// A line of the script.
#[derive(Debug, PartialEq)]
struct Line<'t> {
    command: &'t str,
    /// Why it prints something else in the sandbox.
    differs: Option<&'t str>,
}

fn read(script: &str) -> anyhow::Result<Vec<Line<'_>>> {
    let (mut lines, mut differs) = (Vec::new(), None);
    for line in script.lines() {
        if let Some(why) = line.strip_prefix(DIFFERS) {
            differs = Some(why);
        } else if !line.is_empty() && !line.starts_with('#') {
            lines.push(Line { command: line, differs: differs.take() });
        }
    }
    if let Some(why) = differs {
        bail!("no command follows: {why}");
    }
    Ok(lines)
}

/// Runs the script on both and fails when a difference has no explanation.
pub(crate) fn run(root: &Path, options: &Options) -> anyhow::Result<()> {
    let kflare = product::given_or_built(root, options.kflare.as_deref())?;
    let kube_apiserver = servers::build(root, servers::Version::Newest)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(start_and_compare(root, options, [&kube_apiserver, &kflare]))
}

async fn start_and_compare(
    root: &Path,
    options: &Options,
    [kube_apiserver, kflare]: [&Path; 2],
) -> anyhow::Result<()> {
    let home = root.join("testing/kubectl");
    let script = home.join("commands.txt");
    let script =
        std::fs::read_to_string(&script).with_context(|| format!("could not read {}", script.display()))?;
    let lines = read(&script)?;
    let scratch = root.join("target/kubectl");
    servers::fresh(&scratch)?;
    std::fs::create_dir_all(scratch.join("bin"))?;
    std::os::unix::fs::symlink(found(&options.kubectl)?, scratch.join("bin/kubectl"))?;
    let shell = Shell { files: home.join("files"), bin: scratch.join("bin") };
    let ours = servers::sandbox(kflare, &home.join("world.yaml"), &scratch).await?;
    let real = servers::start(kube_apiserver, &scratch.join("kubernetes"))?.ready().await?;
    compare(&shell, root, &real.files.kubeconfig, &ours.kubeconfig, &lines, options.show).await
}

/// Installs our definitions, and waits until they are served.
async fn install(shell: &Shell, root: &Path, kubeconfig: &Path) -> anyhow::Result<()> {
    let crds = root.join("deploy/crds");
    let command = format!(
        "kubectl apply --server-side --force-conflicts -f '{}' && \
         kubectl wait --for=condition=Established --timeout=30s crd --all",
        crds.display()
    );
    let deadline = Instant::now() + INSTALLED_MAX;
    loop {
        let text = shell.run(kubeconfig, &command).await?;
        if text.starts_with("[0]") {
            return Ok(());
        }
        if Instant::now() > deadline {
            bail!("the definitions are not taken: {text}");
        }
        sleep(LOOK).await;
    }
}

async fn compare(
    shell: &Shell,
    root: &Path,
    real: &Path,
    ours: &Path,
    lines: &[Line<'_>],
    show: bool,
) -> anyhow::Result<()> {
    install(shell, root, real).await?;
    install(shell, root, ours).await?;
    let neutral = Neutral::new()?;
    let (mut same, mut explained, mut failed) = (0, 0, 0);
    for line in lines {
        let (theirs, mine) = shell.both(real, ours, &neutral, line).await?;
        if show {
            println!("$ {}\n{theirs}", line.command);
        }
        match (theirs == mine, line.differs) {
            (true, None) => same += 1,
            (false, Some(_)) => explained += 1,
            (true, Some(why)) => {
                failed += 1;
                println!("DIFFERS NO MORE: {}\n    {why}", line.command);
            }
            (false, None) => {
                failed += 1;
                println!("DIFFERS: {}\n{}", line.command, only_in_one(&theirs, &mine));
            }
        }
    }
    println!(
        "kubectl: {} commands, {same} print the same, {explained} differ on purpose, {failed} failed",
        lines.len()
    );
    if failed > 0 {
        bail!("kubectl does not print the same on the sandbox as on a real API server");
    }
    Ok(())
}

/// The program, where a search finds it.
fn found(program: &Path) -> anyhow::Result<PathBuf> {
    if program.components().count() > 1 {
        return Ok(std::path::absolute(program)?);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::env::split_paths(&path).map(|folder| folder.join(program));
    all.into_iter()
        .find(|candidate| candidate.is_file())
        .with_context(|| format!("there is no {}", program.display()))
}

/// Where and how commands run.
struct Shell {
    files: PathBuf,
    bin: PathBuf,
}

impl Shell {
    /// How a command ended and what it printed.
    async fn run(&self, kubeconfig: &Path, command: &str) -> anyhow::Result<String> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path =
            std::env::join_paths(std::iter::once(self.bin.clone()).chain(std::env::split_paths(&path)))?;
        let output = Command::new("bash")
            .args(["-c", command])
            .current_dir(&self.files)
            .env("KUBECONFIG", kubeconfig)
            .env("PATH", path)
            .envs([("LC_ALL", "C"), ("TZ", "UTC"), ("KUBE_EDITOR", "true")])
            .stdin(Stdio::null())
            .output()
            .await
            .context("cannot start bash")?;
        let mut text = String::new();
        let code = output.status.code().unwrap_or(-1);
        write!(text, "[{code}]\n{}", String::from_utf8_lossy(&output.stdout))?;
        write!(text, "{}", String::from_utf8_lossy(&output.stderr))?;
        Ok(text)
    }

    /// What both print. A question is asked again while the controllers of the real cluster are at work.
    async fn both(
        &self,
        real: &Path,
        ours: &Path,
        neutral: &Neutral,
        line: &Line<'_>,
    ) -> anyhow::Result<(String, String)> {
        let command = line.command;
        let (theirs, mine) = tokio::join!(self.run(real, command), self.run(ours, command));
        let (mut theirs, mine) = (neutral.text(&theirs?), neutral.text(&mine?));
        let looks = LOOKS.iter().any(|look| command.starts_with(look)) && line.differs.is_none();
        let deadline = Instant::now() + SETTLED_MAX;
        while theirs != mine && looks && Instant::now() < deadline {
            sleep(LOOK).await;
            theirs = neutral.text(&self.run(real, command).await?);
        }
        Ok((theirs, mine))
    }
}

/// What may differ between two servers that behave alike.
struct Neutral(Vec<(Regex, &'static str)>);

impl Neutral {
    fn new() -> anyhow::Result<Self> {
        let patterns = [
            ("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UID"),
            (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
            (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ \+0000", "TIME"),
            (r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}", "TIME"),
            (r"(?m)^W\d{4} \S+ +\d+ ", "W "),
            (r#"((?:resourceVersion"?|Resource Version): *"?)\d+"#, "${1}VERSION"),
            (r"\b10\.\d+\.\d+\.\d+\b", "ADDRESS"),
            (r"\bnodePort: \d+", "nodePort: PORT"),
            (r"\b(\d+[smh]){1,2}\b", "AGE"),
            (r"/tmp/\S*", "FILE"),
            (r"\b(web|tiny)-[0-9a-z]{8,10}(-[0-9a-z]{5})?\b", "${1}-HASH"),
            // The width of a column is that of its widest entry.
            (r"(\S) {2,}", "$1  "),
            (r"(?m) +$", ""),
        ];
        let compile = |(pattern, with)| anyhow::Ok((Regex::new(pattern)?, with));
        Ok(Self(patterns.into_iter().map(compile).collect::<anyhow::Result<_>>()?))
    }

    fn text(&self, text: &str) -> String {
        let replace =
            |text: String, (pattern, with): &(Regex, &str)| pattern.replace_all(&text, *with).into_owned();
        self.0.iter().fold(text.to_owned(), replace)
    }
}

/// The lines that only one of them has.
fn only_in_one(theirs: &str, mine: &str) -> String {
    let mut text = String::new();
    let only = |one: &str, other: &str, mark: char| {
        let others: Vec<&str> = other.lines().collect();
        let lines = one.lines().filter(|line| !others.contains(line));
        lines.map(|line| format!("    {mark} {line}\n")).collect::<String>()
    };
    text.push_str(&only(theirs, mine, '-'));
    text.push_str(&only(mine, theirs, '+'));
    if text.is_empty() {
        text = format!("    the same lines in another order\n--- real\n{theirs}\n--- sandbox\n{mine}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_has_commands_and_reasons() {
        let lines = read("# x\n\nkubectl get a\n#differs nodes\nkubectl get b\n").unwrap();
        let line = |command, differs| Line { command, differs };
        assert_eq!(lines, [line("kubectl get a", None), line("kubectl get b", Some("nodes"))]);
        assert!(read("#differs nodes\n").is_err());
    }

    #[test]
    fn what_may_differ_is_neutral_and_the_rest_stays() {
        let neutral = Neutral::new().unwrap();
        let text = "NAME   AGE\nweb-5d9c7b8f6c-x2x4z   12m\n  uid: 01234567-89ab-4cde-8f01-23456789abcd   \n";
        assert_eq!(neutral.text(text), "NAME  AGE\nweb-HASH  AGE\n  uid: UID\n");
        assert_eq!(neutral.text("  spec:\n    replicas: 2\n"), "  spec:\n    replicas: 2\n");
    }
}
