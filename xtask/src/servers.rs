//! The API servers that chores start: real ones, built with Go from their published modules, and the sandbox. What is
//! asked of them is for the chores; they end when they are dropped.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::ValueEnum;
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};

/// Where the real server's Go module is.
const MODULE: &str = "testing/kube-apiserver";
/// What builds it, here and in the gate.
const BUILD: &str = ".ci/kubernetes-build";
/// How long a server may take to start: the real one takes four to ten seconds on an idle machine.
const START_MAX: Duration = Duration::from_secs(240);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(100);

/// The versions of Kubernetes that are tested.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Version {
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

/// Builds a real server with Go, and says where it is. The first time takes minutes, and once it is built an instant.
pub(crate) fn build(root: &Path, version: Version) -> anyhow::Result<PathBuf> {
    let program = root.join(version.program());
    let status = std::process::Command::new(root.join(BUILD))
        .arg(root.join(MODULE))
        .arg(version.modules())
        .arg(&program)
        .status()
        .with_context(|| format!("cannot start {BUILD}"))?;
    if !status.success() {
        bail!("the API server does not build");
    }
    Ok(program)
}

/// A folder with nothing in it.
pub(crate) fn fresh(folder: &Path) -> anyhow::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot clear {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))
}

/// A real server: a store, kube-apiserver and kube-controller-manager.
#[derive(Debug)]
pub(crate) struct Real {
    pub(crate) files: Files,
    /// Its own children end with it.
    _child: Child,
}

/// What a real server says of itself when it is ready.
#[derive(Debug, Deserialize)]
pub(crate) struct Files {
    /// Its folder, with certificates, logs and the audit log.
    pub(crate) directory: PathBuf,
    /// An administrator's.
    pub(crate) kubeconfig: PathBuf,
    /// Its address.
    pub(crate) server: String,
    /// The administrator's.
    pub(crate) token: String,
}

/// A real server that is not ready yet, so that several can be started beside each other.
#[derive(Debug)]
pub(crate) struct Starting {
    child: Child,
    log: PathBuf,
}

/// Starts a real server whose files go below a folder.
pub(crate) fn start(program: &Path, folder: &Path) -> anyhow::Result<Starting> {
    fs::create_dir_all(folder)?;
    let log = folder.join("server.log");
    let child = Command::new(program)
        .arg("-dir")
        .arg(folder)
        // It ends when its standard input does, even when we are killed.
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(File::create(&log)?)
        .kill_on_drop(true)
        .spawn()
        .with_context(|| format!("cannot start {}", program.display()))?;
    Ok(Starting { child, log })
}

impl Starting {
    /// A server says one line when it is ready, and nothing when it cannot be.
    pub(crate) async fn ready(mut self) -> anyhow::Result<Real> {
        let out = self.child.stdout.take().context("the API server has no output")?;
        let mut line = String::new();
        let said = timeout(START_MAX, BufReader::new(out).read_line(&mut line)).await;
        let see = || format!("the API server does not start; see {}", self.log.display());
        said.with_context(see)?.with_context(see)?;
        let files = serde_json::from_str(&line).with_context(see)?;
        Ok(Real { files, _child: self.child })
    }
}

/// A sandbox without an operator.
#[derive(Debug)]
pub(crate) struct Sandbox {
    /// Leads to it.
    pub(crate) kubeconfig: PathBuf,
    _child: Child,
}

/// Starts the sandbox of a kflare with what a manifest holds; its files go into a folder.
pub(crate) async fn sandbox(kflare: &Path, world: &Path, folder: &Path) -> anyhow::Result<Sandbox> {
    let (kubeconfig, log) = (folder.join("kubeconfig"), folder.join("sandbox.log"));
    let out = File::create(&log)?;
    let mut child = Command::new(kflare)
        .args(["sandbox", "--no-operator", "--kubeconfig"])
        .arg(&kubeconfig)
        .arg("-f")
        .arg(world)
        .stdin(Stdio::null())
        .stdout(out.try_clone()?)
        .stderr(out)
        .kill_on_drop(true)
        .spawn()
        .with_context(|| format!("cannot start {}", kflare.display()))?;
    let deadline = Instant::now() + START_MAX;
    // It is written once the sandbox listens, and may be seen before all of it stands there.
    let is_whole = || fs::read_to_string(&kubeconfig).is_ok_and(|text| text.contains("users:"));
    while !is_whole() {
        if child.try_wait()?.is_some() || Instant::now() > deadline {
            bail!("the sandbox does not start; see {}", log.display());
        }
        sleep(LOOK).await;
    }
    Ok(Sandbox { kubeconfig, _child: child })
}
