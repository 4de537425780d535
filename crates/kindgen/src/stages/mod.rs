//! The stages: each a pure function from the project to files. A stage knows one output format and no other stage.

mod crd;
mod rbac;
mod reasons;
mod reference;
mod rust;
mod sample;
mod schema;

use crate::MARK;
use crate::project::{Kind, Project};

/// A generated file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Path from the repository's root.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// One stage.
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    /// What it makes.
    pub name: &'static str,
    /// How.
    pub run: fn(&Project) -> Vec<File>,
}

/// All stages, in order.
pub const STAGES: &[Stage] = &[
    Stage { name: "rust", run: rust::files },
    Stage { name: "crd", run: crd::files },
    Stage { name: "rbac", run: rbac::files },
    Stage { name: "sample", run: sample::files },
    Stage { name: "reference", run: reference::files },
    Stage { name: "reasons", run: reasons::files },
];

/// What the top of a file says of where it came from: one kind's table.
fn origin(kind: &Kind) -> String {
    format!("Generated from {} (sha256 {}) {MARK}.", kind.path, kind.hash)
}

/// What the top of a file that all tables feed says.
fn origin_of_all(project: &Project) -> String {
    format!("Generated from kinds/*.toml (sha256 {}) {MARK}.", project.hash)
}
