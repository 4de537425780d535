//! Scenarios with crashes at every write, worlds from seeds, and the promise that a seed repeats byte for byte.

use std::convert::Infallible;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use cli::simulation::{in_order, request_log, run_seed, sweep};

/// Seeds that a development build runs in a minute or two; `kflare sandbox sim --seeds N` runs more.
const SEEDS: u64 = 60;
/// Seeds that are run twice (design §5).
const REPLAYED: u64 = 50;
/// Narrows the sweep to scenarios with this in their path, while one is being written.
const ONLY: &str = "ONLY";

/// Does `work` for every item, on all cores, and collects what it finds, in the order of the items.
fn all<T: Sync>(items: &[T], work: impl Fn(&T) -> Vec<String> + Sync) -> Vec<String> {
    let mut found = Vec::new();
    let work = |at: u64| work(&items[usize::try_from(at).unwrap()]);
    let told: Result<(), Infallible> = in_order(items.len() as u64, work, |_, mine| {
        found.extend(mine);
        Ok(())
    });
    told.unwrap();
    found
}

#[test]
fn a_crash_at_any_write_changes_nothing_in_the_end() {
    let only = std::env::var(ONLY).unwrap_or_default();
    let mut paths = crate::scenarios::all();
    paths.retain(|path| path.to_string_lossy().contains(&only));
    assert!(!paths.is_empty());
    let points = AtomicU64::new(0);
    let failures = all(&paths, |path| match sweep(path) {
        Ok(sweep) => {
            points.fetch_add(sweep.points, Ordering::Relaxed);
            sweep.failures.iter().map(ToString::to_string).collect()
        }
        Err(error) => vec![format!("{}: {error}", path.display())],
    });
    println!("{} crashes in {} scenarios", points.load(Ordering::Relaxed), paths.len());
    assert!(points.into_inner() > 0, "no scenario was swept");
    assert!(failures.is_empty(), "{} crashes are not survived:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn seeds_converge_and_keep_every_promise() {
    let seeds: Vec<u64> = (1..=SEEDS).chain(kept_seeds()).collect();
    let failures =
        all(&seeds, |seed| run_seed(*seed).err().map(|failure| failure.to_string()).into_iter().collect());
    assert!(failures.is_empty(), "{} seeds fail:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn v12_the_same_seed_gives_the_same_request_log() {
    let seeds: Vec<u64> = (1_001..=1_000 + REPLAYED).collect();
    let differing = all(&seeds, |seed| {
        let (first, second) = (request_log(*seed), request_log(*seed));
        assert!(!first.is_empty());
        let at = first.iter().zip(&second).position(|(a, b)| a != b);
        match at {
            Some(at) => vec![format!("seed {seed}, request {at}:\n  {}\n  {}", first[at], second[at])],
            None if first.len() == second.len() => vec![],
            None => vec![format!("seed {seed}: {} and {} requests", first.len(), second.len())],
        }
    });
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

/// Seeds that once failed: the first word of each line.
fn kept_seeds() -> Vec<u64> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/seeds.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines.map(|line| line.split_whitespace().next().unwrap().parse().unwrap()).collect()
}
