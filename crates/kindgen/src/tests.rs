//! Tests over whole tables: what goes wrong, what the stages make of a toy, and the real tables with their output.

mod errors;
mod fresh;
mod golden;
mod schema;

use std::path::PathBuf;

use crate::{Project, Source, reasons, tree};

/// The repository.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The real tables.
fn real() -> Project {
    let sources = tree::sources(&root()).expect("kinds/ can be read");
    Project::load(&sources).expect("the tables are in order")
}

/// A toy with every feature of the format.
fn toy() -> Vec<Source> {
    let source = |path: &str, text: &str| Source { path: path.to_owned(), text: text.to_owned() };
    vec![
        source("kinds/manager.toml", include_str!("../testdata/kinds/manager.toml")),
        source("kinds/red_widget.toml", include_str!("../testdata/kinds/red_widget.toml")),
        source("kinds/shelf.toml", include_str!("../testdata/kinds/shelf.toml")),
        source(reasons::PATH, include_str!("../testdata/reason.rs")),
    ]
}
