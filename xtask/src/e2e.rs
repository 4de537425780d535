//! Scenarios beside real Kubernetes API servers: builds a server from its published modules, starts some, and has the
//! product run its scenarios there. What is checked is the product's to say.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};

use crate::product::{self, Build};

/// Where the server's Go module is.
const MODULE: &str = "testing/kube-apiserver";

/// What can be asked for.
#[derive(Args)]
pub(crate) struct Options {
    /// Only scenarios with this in their path
    #[arg(long, value_name = "PART-OF-A-NAME")]
    only: Option<String>,
    /// The version of Kubernetes
    #[arg(long, value_name = "VERSION", default_value = "1.37")]
    server: Version,
    /// Servers beside each other, of some 400 MB each; scenarios mostly wait
    #[arg(long, value_name = "NUMBER", default_value_t = 4)]
    servers: usize,
    /// With a debug build of kflare, which is there sooner
    #[arg(long)]
    debug: bool,
}

/// The versions that are tested.
#[derive(Clone, Copy, ValueEnum)]
enum Version {
    /// The newest.
    #[value(name = "1.37")]
    Newest,
    /// The oldest that is supported.
    #[value(name = "1.33")]
    Oldest,
}

impl Version {
    /// What names its modules.
    const fn modules(self) -> &'static str {
        match self {
            Self::Newest => "go.mod",
            Self::Oldest => "oldest.mod",
        }
    }

    /// The program that is built of it.
    const fn program(self) -> &'static str {
        match self {
            Self::Newest => "target/tools/kube-apiserver",
            Self::Oldest => "target/tools/kube-apiserver-oldest",
        }
    }
}

/// A server, which ends when its standard input is closed.
struct Server {
    child: Child,
    _alive: Option<ChildStdin>,
    folder: PathBuf,
}

impl Drop for Server {
    fn drop(&mut self) {
        self._alive = None;
        // Whether it ended well is no part of what is tested.
        let _ = self.child.wait();
    }
}

/// Runs the scenarios.
pub(crate) fn run(root: &Path, options: &Options) -> anyhow::Result<()> {
    build(root, options.server)?;
    let program = root.join(options.server.program());
    let home = root.join("target/e2e");
    if home.exists() {
        fs::remove_dir_all(&home).context("cannot clear target/e2e")?;
    }
    let count = if options.only.is_some() { 1 } else { options.servers.max(1) };
    let mut servers = (1..=count)
        .map(|number| start(&program, home.join(number.to_string())))
        .collect::<anyhow::Result<Vec<_>>>()?;
    servers.iter_mut().try_for_each(await_ready)?;
    let mut words = vec!["--roles".to_owned(), "deploy/rbac/manager.yaml".to_owned()];
    for server in &servers {
        words.extend(["--cluster".to_owned(), server.folder.display().to_string()]);
    }
    if let Some(only) = &options.only {
        words.extend(["--only".to_owned(), only.clone()]);
    }
    for entry in fs::read_dir(root.join("scenarios")).context("cannot read scenarios")? {
        let path = entry?.path();
        if path.is_dir() {
            words.push(path.display().to_string());
        }
    }
    let build = if options.debug { Build::Debug } else { Build::Release };
    product::sandbox(root, build, "run", &words)
}

/// Builds the server with Go; the first time takes minutes.
fn build(root: &Path, version: Version) -> anyhow::Result<()> {
    let module = root.join(MODULE);
    let modules = version.modules();
    let requires =
        fs::read_to_string(module.join(modules)).with_context(|| format!("cannot read {modules}"))?;
    let wanted = requires.lines().find_map(|line| line.trim().strip_prefix("k8s.io/kubernetes "));
    let wanted = wanted.context("no k8s.io/kubernetes is required")?.trim();
    let minor = wanted.split('.').nth(1).context("the version has no minor part")?;
    let stamp = "k8s.io/component-base/version";
    let flags =
        format!("-s -w -X {stamp}.gitVersion={wanted} -X {stamp}.gitMajor=1 -X {stamp}.gitMinor={minor}");
    println!("the API server is {wanted} (a first build takes minutes)");
    let status = Command::new("go")
        .current_dir(&module)
        .env("CGO_ENABLED", "0")
        .args([
            "build",
            "-modfile",
            modules,
            "-p",
            "2",
            "-trimpath",
            "-buildvcs=false",
            "-ldflags",
            &flags,
            "-o",
        ])
        .arg(root.join(version.program()))
        .arg(".")
        .status()
        .context("there is no Go, with which the API server is built")?;
    if !status.success() {
        bail!("the API server does not build");
    }
    Ok(())
}

fn start(program: &Path, folder: PathBuf) -> anyhow::Result<Server> {
    fs::create_dir_all(&folder)?;
    let log = File::create(folder.join("server.log"))?;
    let mut child = Command::new(program)
        .arg("-dir")
        .arg(&folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .context("the API server does not start")?;
    let alive = child.stdin.take();
    Ok(Server { child, _alive: alive, folder })
}

/// A server says one line when it is ready, and nothing when it cannot be.
fn await_ready(server: &mut Server) -> anyhow::Result<()> {
    let out = server.child.stdout.take().context("the API server has no standard output")?;
    let mut line = String::new();
    BufReader::new(out).read_line(&mut line)?;
    if line.is_empty() {
        bail!("the API server did not start; see {}", server.folder.join("server.log").display());
    }
    Ok(())
}
