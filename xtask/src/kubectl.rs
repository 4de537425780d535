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
/// Marks a command that prints something else in the sandbox on purpose. Behind it stand, between slashes, a regular
/// expression that every line must fit which only one of them prints (`- ` before one of the real server, `+ ` before one
/// of ours), and the reason.
const DIFFERS: &str = "#differs ";
/// Marks a command that is meant to fail; behind it stands what must be among what it prints.
const FAILS: &str = "#fails ";
/// Marks a command that is meant to succeed without a word.
const SILENT: &str = "#silent";

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
#[derive(Debug)]
struct Line<'t> {
    command: &'t str,
    ends: Ends<'t>,
    differs: Option<Differs<'t>>,
}

/// How a command is meant to end on the real server, and on ours when it does not differ on purpose.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ends<'t> {
    /// With 0, and having said something.
    Told,
    /// With 0, and having said nothing.
    Silent,
    /// With something else, and this among what it said.
    Fails(&'t str),
}

impl Ends<'_> {
    /// What is wrong with an end.
    fn complaint(self, said: &str) -> Option<String> {
        let (code, text) = said.split_once('\n').unwrap_or((said, ""));
        match self {
            Self::Told if code != "[0]" => Some(format!("ends with {code}, and is not marked with {FAILS}")),
            Self::Told if text.trim().is_empty() => {
                Some(format!("says nothing, and is not marked with {SILENT}"))
            }
            Self::Silent if said.trim() != "[0]" => Some("does not succeed without a word".to_owned()),
            Self::Fails(_) if code == "[0]" => Some("does not fail".to_owned()),
            Self::Fails(wanted) if !text.contains(wanted) => Some(format!("does not say {wanted:?}")),
            Self::Told | Self::Silent | Self::Fails(_) => None,
        }
    }
}

/// What may differ, and why.
#[derive(Debug)]
struct Differs<'t> {
    pattern: Regex,
    why: &'t str,
}

fn read(script: &str) -> anyhow::Result<Vec<Line<'_>>> {
    let (mut lines, mut differs, mut ends) = (Vec::new(), None, None);
    for line in script.lines() {
        if let Some(rest) = line.strip_prefix(DIFFERS) {
            let parts = rest.strip_prefix('/').and_then(|rest| rest.split_once("/ "));
            let (pattern, why) = parts
                .filter(|(pattern, why)| !pattern.is_empty() && !why.is_empty())
                .with_context(|| format!("no /pattern/ and reason: {line}"))?;
            differs = Some(Differs { pattern: Regex::new(pattern)?, why });
        } else if let Some(text) = line.strip_prefix(FAILS) {
            ends = Some(Ends::Fails(text));
        } else if line == SILENT {
            ends = Some(Ends::Silent);
        } else if !line.is_empty() && !line.starts_with('#') {
            let ends = ends.take().unwrap_or(Ends::Told);
            lines.push(Line { command: line, ends, differs: differs.take() });
        } else if differs.is_some() || ends.is_some() {
            bail!("no command follows what was said of one, but {line:?}");
        }
    }
    if differs.is_some() || ends.is_some() {
        bail!("no command follows what was said of one at the end");
    }
    Ok(lines)
}

impl Line<'_> {
    /// Whether both end as they should and print the same, or what is explained; else what is wrong.
    fn judge(&self, theirs: &str, mine: &str) -> Result<(), String> {
        let only = only_in_one(theirs, mine);
        match &self.differs {
            None if theirs != mine => {
                return Err(format!("DIFFERS: {}\n{}", self.command, shown(&only, theirs, mine)));
            }
            None => {}
            Some(Differs { why, .. }) if theirs == mine => {
                return Err(format!("DIFFERS NO MORE: {}\n    {why}", self.command));
            }
            Some(Differs { pattern, .. }) => {
                let beyond: Vec<String> =
                    only.iter().filter(|line| !pattern.is_match(line)).cloned().collect();
                if only.is_empty() || !beyond.is_empty() {
                    let shown = shown(&beyond, theirs, mine);
                    return Err(format!("DIFFERS IN MORE THAN {pattern}: {}\n{shown}", self.command));
                }
            }
        }
        match self.ends.complaint(theirs) {
            None => Ok(()),
            Some(complaint) => Err(format!("ENDS OTHERWISE: {}\n    {complaint}\n{theirs}", self.command)),
        }
    }
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
        match line.judge(&theirs, &mine) {
            Ok(()) if line.differs.is_some() => explained += 1,
            Ok(()) => same += 1,
            Err(complaint) => {
                failed += 1;
                println!("{complaint}");
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
            // A command whose output another one filters may not fail unseen.
            .args(["-o", "pipefail", "-c", command])
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

/// The lines that only one of them has, marked.
fn only_in_one(theirs: &str, mine: &str) -> Vec<String> {
    let only = |one: &str, other: &str, mark: char| {
        let others: Vec<&str> = other.lines().collect();
        let lines = one.lines().filter(|line| !others.contains(line));
        lines.map(|line| format!("{mark} {line}")).collect::<Vec<_>>()
    };
    [only(theirs, mine, '-'), only(mine, theirs, '+')].concat()
}

fn shown(only: &[String], theirs: &str, mine: &str) -> String {
    if only.is_empty() {
        return format!("    the same lines in another order\n--- real\n{theirs}\n--- sandbox\n{mine}\n");
    }
    only.iter().map(|line| format!("    {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_has_commands_how_they_end_and_reasons() {
        let text =
            "# x\n\nkubectl get a\n#differs /^- node/ nodes\n#fails no such\nkubectl get b\n#silent\ntrue\n";
        let lines = read(text).unwrap();
        let seen = lines.iter().map(|line| (line.command, line.ends, line.differs.as_ref().map(|it| it.why)));
        let wanted = [
            ("kubectl get a", Ends::Told, None),
            ("kubectl get b", Ends::Fails("no such"), Some("nodes")),
            ("true", Ends::Silent, None),
        ];
        assert_eq!(seen.collect::<Vec<_>>(), wanted);
        for wrong in ["#differs /x/ y\n", "#silent\n\ntrue\n", "#differs // y\na\n", "#differs x\na\n"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_same_failure_on_both_sides_counts_only_where_it_is_meant() {
        let judge = |script: &str, theirs: &str, mine: &str| read(script).unwrap()[0].judge(theirs, mine);
        assert_eq!(judge("a\n", "[0]\nx\n", "[0]\nx\n"), Ok(()));
        assert!(judge("a\n", "[0]\nx\n", "[0]\ny\n").is_err());
        assert!(judge("a\n", "[1]\nno\n", "[1]\nno\n").is_err(), "both fail");
        assert!(judge("a\n", "[0]\n", "[0]\n").is_err(), "both say nothing");
        assert_eq!(judge("#silent\na\n", "[0]\n", "[0]\n"), Ok(()));
        assert!(judge("#silent\na\n", "[0]\nx\n", "[0]\nx\n").is_err(), "both speak");
        assert_eq!(judge("#fails no\na\n", "[1]\nno\n", "[1]\nno\n"), Ok(()));
        assert!(judge("#fails no\na\n", "[0]\nno\n", "[0]\nno\n").is_err(), "both succeed");
        assert!(judge("#fails no\na\n", "[1]\nnot found\n", "[1]\nyes\n").is_err());
        assert!(judge("#fails no\na\n", "[127]\nyes\n", "[127]\nyes\n").is_err(), "fails for another reason");
    }

    #[test]
    fn what_differs_on_purpose_differs_in_nothing_else() {
        let judge = |theirs: &str, mine: &str| {
            read("#differs /^- (node|pod)s$/ none\na\n").unwrap()[0].judge(theirs, mine)
        };
        assert_eq!(judge("[0]\nnodes\nx\n", "[0]\nx\n"), Ok(()));
        assert!(judge("[0]\nx\n", "[0]\nx\n").unwrap_err().contains("NO MORE"));
        assert!(judge("[0]\nnodes\nx\n", "[0]\ny\n").unwrap_err().contains("+ y"));
        assert!(judge("[0]\nnodes\nx\n", "[1]\nx\n").is_err(), "only one fails");
        assert!(judge("[0]\nx\ny\n", "[0]\ny\nx\n").is_err(), "another order");
    }

    #[test]
    fn what_may_differ_is_neutral_and_the_rest_stays() {
        let neutral = Neutral::new().unwrap();
        let text = "NAME   AGE\nweb-5d9c7b8f6c-x2x4z   12m\n  uid: 01234567-89ab-4cde-8f01-23456789abcd   \n";
        assert_eq!(neutral.text(text), "NAME  AGE\nweb-HASH  AGE\n  uid: UID\n");
        assert_eq!(neutral.text("  spec:\n    replicas: 2\n"), "  spec:\n    replicas: 2\n");
    }
}
