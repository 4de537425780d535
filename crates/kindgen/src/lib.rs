//! Turns the tables of `kinds/*.toml` into Rust rows and types, CRDs, RBAC, samples and reference pages, by a list
//! of pure stages. Never linked into the product, and never looks at a cluster or at Cloudflare.

mod check;
mod error;
mod names;
pub mod project;
pub mod reasons;
mod stages;
pub mod table;
#[cfg(test)]
mod tests;
pub mod tree;
mod yaml;

pub use error::TableError;
pub use project::{Project, Source};
pub use stages::{File, STAGES, Stage};

/// What every generated file carries near its top, so that orphans can be told from hand-written files.
pub const MARK: &str = "by kindgen, do not edit";

/// All files of a project, in the order of the stages.
#[must_use]
pub fn generate(project: &Project) -> Vec<File> {
    STAGES.iter().flat_map(|stage| (stage.run)(project)).collect()
}
