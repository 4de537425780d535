//! libFuzzer with one of the targets, which the environment names. Arguments are libFuzzer's own.
//! Built and started by `cargo xtask fuzz`, with the compiler's counters of what was reached.

#![no_main]

use std::sync::LazyLock;

use fuzz::Target;
use libfuzzer_sys::fuzz_target;

/// The variable that names the target.
const NAME: &str = "KFLARE_FUZZ_TARGET";

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var(NAME).unwrap_or_default();
    fuzz::target(&name).unwrap_or_else(|| panic!("{NAME}={name:?} names no target"))
});

fuzz_target!(|data: &[u8]| (TARGET.run)(data));
