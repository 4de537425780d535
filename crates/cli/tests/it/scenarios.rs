//! Every scenario under `scenarios/`, each compared with its golden.

use std::path::{Path, PathBuf};

use cli::scenario::{Mode, Script, run_file};
use operator::Portions;

/// Set to 1, the goldens are written anew; read their diff before you commit it.
const UPDATE: &str = "UPDATE_GOLDENS";
/// Longer goldens nobody reads.
const GOLDEN_LINES_MAX: usize = 200;

/// Every scenario, sorted.
pub(crate) fn all() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut found = Vec::new();
    for folder in std::fs::read_dir(root).unwrap() {
        let Ok(files) = std::fs::read_dir(folder.unwrap().path()) else { continue };
        found.extend(
            files
                .map(|file| file.unwrap().path())
                .filter(|path| path.extension().is_some_and(|e| e == "txt")),
        );
    }
    found.sort();
    assert!(!found.is_empty());
    found
}

fn check(path: &Path, mode: Mode) -> Result<(), String> {
    let finished = run_file(path, mode).map_err(|error| error.to_string())?;
    let golden = path.with_extension("golden");
    if std::env::var(UPDATE).is_ok_and(|value| value == "1") {
        std::fs::write(&golden, &finished.transcript).map_err(|error| error.to_string())?;
    }
    let lines = finished.transcript.lines().count();
    if lines > GOLDEN_LINES_MAX {
        return Err(format!("its transcript has {lines} lines, more than {GOLDEN_LINES_MAX}: split it"));
    }
    let expected = std::fs::read_to_string(&golden)
        .map_err(|_| format!("it has no golden; run with {UPDATE}=1 and read what it writes"))?;
    let differs = expected.lines().zip(finished.transcript.lines()).find(|(old, new)| old != new);
    match differs {
        Some((old, new)) => Err(format!("its transcript differs from the golden:\n  - {old}\n  + {new}")),
        None if expected != finished.transcript => {
            Err("its transcript is longer or shorter than the golden".into())
        }
        None => Ok(()),
    }
}

#[test]
fn every_scenario_does_what_it_says() {
    let failures: Vec<String> = all().iter().filter_map(|path| failure(path, Mode::default())).collect();
    assert!(failures.is_empty(), "{} scenarios fail:\n{}", failures.len(), failures.join("\n"));
}

/// A mark says either what cannot be had for real or which bound is not scaled, and stands nowhere else.
#[test]
fn only_what_cannot_be_had_for_real_is_left_to_virtual_time() {
    let wrong = |path: &Path| {
        let script = Script::read(path).unwrap();
        let is_so = |why: &str| {
            let names_a_bound = why.contains("::limits::") || why.contains("::timings::");
            (script.hangs_on_time() && names_a_bound)
                || (script.edits_in_one_moment() && why.contains("in the same moment"))
        };
        match (&script.only_virtual, script.beyond_reality()) {
            (Some(why), Some(_)) if !why.contains(" since ") => {
                Some(format!("{}: `{why}` says what, and not why", path.display()))
            }
            (None, Some(what)) => Some(format!("{}: `{what}` wants a `virtual` line", path.display())),
            (Some(why), None) if !is_so(why) => {
                Some(format!("{}: nothing in it wants virtual time for: {why}", path.display()))
            }
            _ => None,
        }
    };
    let wrong: Vec<String> = all().iter().filter_map(|path| wrong(path)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_who_orders_crashes_or_says_why_is_left_out_of_the_crash_sweep() {
    let wrong = |path: &Path| {
        let script = Script::read(path).unwrap();
        let wants = match (script.setup.sweep, script.orders_crashes(), &script.unswept) {
            (false, false, _) => {
                "orders no crash: instead of `sweep=off` it wants an `unswept` line with its why"
            }
            (false, true, Some(_)) => "says `sweep=off` and `unswept`: one is enough",
            _ => return None,
        };
        Some(format!("{} {wants}", path.display()))
    };
    let wrong: Vec<String> = all().iter().filter_map(|path| wrong(path)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn that_a_large_unit_is_taken_in_in_portions_shows_nowhere() {
    let portions = Portions { size: 1, ..Portions::default() };
    let mode = Mode { portions, ..Mode::default() };
    let mut paths = all();
    // Those in which several members of one unit are looked at together.
    paths.retain(|path| {
        let golden = std::fs::read_to_string(path.with_extension("golden")).unwrap_or_default();
        golden.contains("/dns_records/batch")
    });
    assert!(paths.len() > 10);
    let failures: Vec<String> = paths.iter().filter_map(|path| failure(path, mode)).collect();
    assert!(failures.is_empty(), "{} scenarios differ:\n{}", failures.len(), failures.join("\n"));
}

fn failure(path: &Path, mode: Mode) -> Option<String> {
    check(path, mode).err().map(|message| format!("{}: {message}", path.display()))
}
