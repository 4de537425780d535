//! The committed files are what the stages make of the committed tables (invariant V10).

use super::{real, root};
use crate::{generate, tree};

#[test]
fn generated_files_are_fresh() {
    let stale = tree::stale(&root(), &generate(&real())).expect("the generated files can be read");
    assert!(stale.is_empty(), "stale; run `cargo xtask codegen` and commit: {stale:#?}");
}

#[test]
fn every_generated_file_says_so_at_its_top() {
    for file in generate(&real()) {
        assert!(file.text.lines().take(8).any(|line| line.contains(crate::MARK)), "{}", file.path);
    }
}
