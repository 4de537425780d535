//! libFuzzer with one of the targets, which the environment names; where it names none, the names of all are printed.
//! Arguments are libFuzzer's own.
//! Built and started by `cargo xtask fuzz`, with the compiler's counters of what was reached.

#![no_main]

use std::sync::LazyLock;

use fuzz::{TARGETS, Target};
use libfuzzer_sys::fuzz_target;

/// The variable that names the target.
const NAME: &str = "KFLARE_FUZZ_TARGET";

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var(NAME).unwrap_or_default();
    fuzz::target(&name).unwrap_or_else(|| panic!("{NAME}={name:?} names no target"))
});

/// Prints the names of all targets and ends, when none is asked for.
#[expect(clippy::disallowed_methods, reason = "libFuzzer's main calls this, and would go on")]
fn answer_which() {
    if std::env::var_os(NAME).is_none() {
        for target in TARGETS {
            println!("{}", target.name);
        }
        std::process::exit(0);
    }
}

fuzz_target!(init: answer_which(), |data: &[u8]| (TARGET.run)(data));
