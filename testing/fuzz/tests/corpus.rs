//! Every input of the corpus once more: what was found once is not found again. Trying new ones is `cargo xtask fuzz`.

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use fuzz::{TARGETS, Target, corpus};

/// Each has some, or its corpus was lost on the way.
const INPUTS_MIN: usize = 5;

fn run(target: Target) -> Vec<String> {
    let mut failed = Vec::new();
    let mut count = 0;
    for entry in fs::read_dir(corpus(target)).expect("every target has a corpus") {
        let path = entry.expect("an entry").path();
        let input = fs::read(&path).expect("an input");
        count += 1;
        if catch_unwind(AssertUnwindSafe(|| (target.run)(&input))).is_err() {
            failed.push(format!(
                "{}/{}",
                target.name,
                path.file_name().unwrap_or_default().to_string_lossy()
            ));
        }
    }
    assert!(count >= INPUTS_MIN, "{} has {count} inputs", target.name);
    failed
}

#[test]
fn every_target_holds_on_its_corpus() {
    let failed: Vec<String> = TARGETS.iter().copied().flat_map(run).collect();
    assert!(failed.is_empty(), "{failed:?}");
}

#[test]
fn every_folder_of_the_corpus_and_every_file_of_words_is_of_a_target() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let names: BTreeSet<String> = TARGETS.iter().map(|target| target.name.to_owned()).collect();
    for folder in ["corpus", "words"] {
        let entries = fs::read_dir(home.join(folder)).expect("a folder");
        let stems = entries.map(|entry| {
            let path = entry.expect("an entry").path();
            path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
        });
        assert_eq!(stems.collect::<BTreeSet<_>>(), names, "{folder}");
    }
}

#[test]
fn an_empty_input_and_one_of_no_sense_break_nothing() {
    for target in TARGETS {
        for input in [&b""[..], b"\n", b"\0\xff\xfe", b"%%\n%%\n", &[b'['; 10_000], &[b'{'; 10_000]] {
            (target.run)(input);
        }
    }
}
