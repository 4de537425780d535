//! Every scenario under `scenarios/`, each compared with its golden.

use std::path::{Path, PathBuf};

use cli::scenario::{Mode, run_file};

/// The folder of the scenarios.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

#[test]
fn first() {
    let finished = run_file(&root().join("dns_record/create.txt"), Mode::default());
    match finished {
        Ok(finished) => println!("{}", finished.transcript),
        Err(error) => panic!("{error}"),
    }
}
