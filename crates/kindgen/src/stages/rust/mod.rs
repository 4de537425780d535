//! Rust: one module per kind with its row and its types, and the module that lists them all.

mod code;
mod row;
mod types;

use std::fmt::Write as _;

use super::{File, origin, origin_of_all};
use crate::project::{Kind, Project};

const HOME: &str = "crates/kinds/src/generated";

pub(super) fn files(project: &Project) -> Vec<File> {
    let mut files: Vec<File> = project.kinds.iter().map(module).collect();
    files.push(File { path: format!("{HOME}/mod.rs"), text: list(project) });
    files
}

fn module(kind: &Kind) -> File {
    let types = types::of(kind);
    let mut text = format!("// {}\n", origin(kind));
    let _ = writeln!(text, "//! The row and the types of {}.\n", kind.table.kind);
    text.push_str(&types.imports);
    text.push('\n');
    text.push_str(&row::imports(kind));
    text.push('\n');
    text.push_str(&row::of(kind));
    text.push_str(&types.items);
    File { path: format!("{HOME}/{}.rs", kind.stem), text }
}

fn list(project: &Project) -> String {
    let mut text = format!("// {}\n", origin_of_all(project));
    text.push_str("//! Every kind: its row, its types and its CustomResourceDefinition.\n\n");
    let mut stems: Vec<&str> = project.kinds.iter().map(|kind| kind.stem.as_str()).collect();
    stems.sort_unstable();
    for stem in stems {
        let _ = writeln!(text, "mod {stem};");
    }
    text.push_str("\nuse crate::Kind;\n\n/// The rows, parents before children.\n");
    let rows = project.kinds.iter().map(|kind| code::Code::atom(format!("&{}::KIND", kind.stem))).collect();
    let rows = code::Code::Slice(rows);
    let _ = writeln!(text, "{};", rows.after("pub static KINDS: &[&Kind] = ", 0));
    text.push_str("\n/// The CustomResourceDefinitions as JSON, in the order of the rows.\n");
    let path = |kind: &Kind| code::Code::atom(format!("include_str!(\"crds/{}.json\")", kind.table.plural));
    let crds = code::Code::Slice(project.kinds.iter().map(path).collect());
    let _ = writeln!(text, "{};", crds.after("pub static CRDS: &[&str] = ", 0));
    text.push_str("\n/// Spec and status of every kind as types.\npub mod types {\n    pub use crate::condition::Condition;\n\n");
    let mut modules: Vec<&Kind> = project.kinds.iter().collect();
    modules.sort_by(|a, b| a.stem.cmp(&b.stem));
    for kind in modules {
        let names = types::of(kind).names;
        let prefix = format!("    pub use super::{}::", kind.stem);
        text.push_str(&code::import(&prefix, &names));
    }
    text.push_str("}\n");
    text
}
