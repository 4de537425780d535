//! The four programs: which client each holds to, how it is installed by that client's ordinary means, how it starts.
//! Everything that is installed lies below target/clients.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

/// A program of testing/clients, named as its directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Program {
    /// npm `cloudflare`
    Typescript,
    /// Go module cloudflare-go/v7
    Go,
    /// Go module cloudflare-go v0
    GoV0,
    /// PyPI `cloudflare`
    Python,
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Program {
    pub(super) const ALL: [Self; 4] = [Self::Typescript, Self::Go, Self::GoV0, Self::Python];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Typescript => "typescript",
            Self::Go => "go",
            Self::GoV0 => "go-v0",
            Self::Python => "python",
        }
    }

    /// Situations that the client cannot go through, whatever answers it.
    pub(super) const fn skips(self) -> &'static [&'static str] {
        match self {
            Self::GoV0 => &["too many requests wait for Retry-After"],
            Self::Typescript | Self::Go | Self::Python => &[],
        }
    }

    /// The tools that install and run it, with the argument that makes each print its version.
    const fn tools(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Typescript => &[("node", "--version"), ("npm", "--version")],
            Self::Go | Self::GoV0 => &[("go", "version")],
            Self::Python => &[("python3", "--version")],
        }
    }

    /// Fails with the name of what is missing, before anything is installed.
    pub(crate) fn find_tools(self) -> anyhow::Result<()> {
        for (tool, version) in self.tools() {
            let found = Command::new(tool).arg(version).output().is_ok_and(|output| output.status.success());
            if !found {
                bail!(
                    "there is no {tool}, which the {self} client needs: install it, or name others with --only"
                );
            }
        }
        Ok(())
    }

    /// Installs the client and builds the program. What is installed already stays.
    pub(crate) fn install(self, root: &Path) -> anyhow::Result<()> {
        let (source, target) = (root.join("testing/clients").join(self.name()), self.target(root));
        std::fs::create_dir_all(&target).with_context(|| format!("cannot make {}", target.display()))?;
        match self {
            Self::Typescript => {
                copy(&source, &target)?;
                if !is_installed(&target, &source.join("package-lock.json"))? {
                    step(&target, "npm", &["ci", "--no-audit", "--no-fund", "--loglevel=error"])?;
                    installed(&target, &source.join("package-lock.json"))?;
                }
                step(&target, "node", &["node_modules/typescript/bin/tsc", "--project", "."])
            }
            // Two at a time: the generated SDK is large, and so are its packages in the compiler's memory.
            Self::Go | Self::GoV0 => step(
                &source,
                "go",
                &["build", "-p", "2", "-o", &target.join("program").to_string_lossy(), "."],
            ),
            Self::Python => {
                let requirements = source.join("requirements.txt");
                if is_installed(&target, &requirements)? {
                    return Ok(());
                }
                step(&target, "python3", &["-m", "venv", "--clear", "venv"])?;
                let list = requirements.to_string_lossy();
                let pip = target.join("venv/bin/python").to_string_lossy().into_owned();
                step(&target, &pip, &["-m", "pip", "install", "--quiet", "--require-hashes", "-r", &list])?;
                installed(&target, &requirements)
            }
        }
    }

    /// The program, ready to be given its settings.
    pub(super) fn command(self, root: &Path) -> tokio::process::Command {
        let (source, target) = (root.join("testing/clients").join(self.name()), self.target(root));
        match self {
            Self::Typescript => {
                let mut command = tokio::process::Command::new("node");
                command.arg("build/main.js").current_dir(target);
                command
            }
            Self::Go | Self::GoV0 => tokio::process::Command::new(target.join("program")),
            Self::Python => {
                let mut command = tokio::process::Command::new(target.join("venv/bin/python"));
                // Nothing is written beside the sources.
                command.arg("-B").arg(source.join("main.py"));
                command
            }
        }
    }

    fn target(self, root: &Path) -> PathBuf {
        root.join("target/clients").join(self.name())
    }
}

/// Runs one command of an installation.
fn step(home: &Path, program: &str, arguments: &[&str]) -> anyhow::Result<()> {
    let status = Command::new(program).args(arguments).current_dir(home).status();
    let status = status.with_context(|| format!("cannot start {program}"))?;
    if !status.success() {
        bail!("`{program} {}` failed", arguments.join(" "));
    }
    Ok(())
}

/// True when what this lock file says was installed here before.
fn is_installed(target: &Path, lock: &Path) -> anyhow::Result<bool> {
    let wanted = std::fs::read(lock).with_context(|| format!("could not read {}", lock.display()))?;
    Ok(std::fs::read(target.join("installed")).is_ok_and(|have| have == wanted))
}

fn installed(target: &Path, lock: &Path) -> anyhow::Result<()> {
    std::fs::copy(lock, target.join("installed")).context("could not note what is installed")?;
    Ok(())
}

/// Copies a program's sources, so that nothing is installed among them.
fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from).with_context(|| format!("could not list {}", from.display()))? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            std::fs::copy(entry.path(), to.join(entry.file_name()))?;
        } else if entry.file_name() == "src" {
            copy(&entry.path(), &to.join("src"))?;
        }
    }
    Ok(())
}
