//! Fuzz targets: each takes any bytes and panics when something that must hold of them does not.
//! Which bytes to try is left to an engine (`main.rs`, libFuzzer) and to the corpus, which every test run goes through.

mod cloudflare;
mod dns;
mod envelope;
mod exchange;
mod kubernetes;
mod manifest;
mod scenario;
mod selector;
mod wording;

use std::path::PathBuf;

/// Something that takes what others write.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name on the command line, and that of its folder of the corpus.
    pub name: &'static str,
    /// Panics when a promise is broken.
    pub run: fn(&[u8]),
}

/// All of them.
pub const TARGETS: &[Target] = &[
    Target { name: "envelope", run: envelope::run },
    Target { name: "dns", run: dns::run },
    Target { name: "scenario", run: scenario::run },
    Target { name: "manifest", run: manifest::run },
    Target { name: "selector", run: selector::run },
    Target { name: "kubernetes", run: kubernetes::run },
    Target { name: "cloudflare", run: cloudflare::run },
];

/// The target of this name.
#[must_use]
pub fn target(name: &str) -> Option<Target> {
    TARGETS.iter().find(|target| target.name == name).copied()
}

/// Where a target's inputs are that are worth trying again.
#[must_use]
pub fn corpus(target: Target) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name)
}
