//! The edges between our crates, and what each may reach, as `cargo tree` resolves them (ARCHITECTURE, "Edges").
//! Looks at dependencies only; what the code does with them is for clippy and reviews.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// Our packages: every crate of the workspace.
const OURS: &[&str] = &["cf-api", "cli", "fuzz", "kindgen", "kinds", "operator", "plan", "sandbox", "xtask"];

/// Whom each crate of ours may name. Less is fine; more needs a decision record.
const EDGES: &[(&str, &[&str])] = &[
    ("cf-api", &[]),
    ("cli", &["cf-api", "kinds", "operator", "plan", "sandbox"]),
    ("fuzz", &["cf-api", "cli", "kinds", "plan", "sandbox"]),
    ("kindgen", &[]),
    ("kinds", &[]),
    ("operator", &["cf-api", "kinds", "plan"]),
    ("plan", &["cf-api", "kinds"]),
    ("sandbox", &[]),
    ("xtask", &["kindgen"]),
];

/// What waits, sends, logs or draws lots.
const EFFECTS: &[&str] = &[
    "async-std",
    "futures",
    "getrandom",
    "hyper",
    "hyper-util",
    "k8s-openapi",
    "kube",
    "kube-client",
    "kube-core",
    "kube-runtime",
    "mio",
    "rand",
    "reqwest",
    "ring",
    "rustls",
    "smol",
    "socket2",
    "tokio",
    "tower",
    "tower-http",
    "tracing",
    "tracing-core",
];

/// The names of a package's dependencies, itself left out.
fn tree(package: &str, arguments: &[&str]) -> BTreeSet<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new(cargo)
        .current_dir(root)
        .args(["tree", "--offline", "--locked", "--prefix", "none", "--format", "{p}", "--package", package])
        .args(arguments)
        .output()
        .expect("cargo runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo tree of {package}: {errors}");
    let names = String::from_utf8(output.stdout).expect("cargo prints text");
    let names: BTreeSet<String> =
        names.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect();
    assert!(names.contains(package), "cargo tree of {package} printed {names:?}");
    names.into_iter().filter(|name| name != package).collect()
}

/// Everything that ends up in a build of the package.
fn reached(package: &str) -> BTreeSet<String> {
    tree(package, &["--edges", "normal,build"])
}

#[track_caller]
fn reaches_none(package: &str, reached: &BTreeSet<String>, forbidden: &[&str]) {
    let found: Vec<_> = forbidden.iter().filter(|name| reached.contains(**name)).collect();
    assert!(found.is_empty(), "{package} reaches {found:?}; `cargo tree -p {package} -i NAME` shows how");
}

#[test]
fn crates_name_only_what_the_architecture_lets_them() {
    for (package, allowed) in EDGES {
        let direct = tree(package, &["--edges", "normal,build", "--depth", "1"]);
        let beyond: Vec<_> =
            OURS.iter().filter(|name| direct.contains(**name) && !allowed.contains(name)).collect();
        assert!(beyond.is_empty(), "{package} names {beyond:?}");
    }
}

#[test]
fn v1_plan_cf_api_and_kinds_reach_nothing_that_has_effects() {
    for package in ["kinds", "cf-api", "plan"] {
        reaches_none(package, &reached(package), EFFECTS);
    }
}

#[test]
fn v7_the_sandbox_imports_nothing_of_ours() {
    // Its tests too: a witness that is examined with our own code proves nothing.
    let reached = tree("sandbox", &["--edges", "normal,build,dev"]);
    let others: Vec<&str> = OURS.iter().copied().filter(|name| *name != "sandbox").collect();
    reaches_none("sandbox", &reached, &others);
    reaches_none("sandbox", &reached, &["k8s-openapi", "kube", "kube-client", "kube-core", "kube-runtime"]);
}

#[test]
fn the_generator_and_the_cel_engine_stay_where_they_belong() {
    reaches_none("cli", &reached("cli"), &["fuzz", "kindgen", "xtask"]);
    for package in OURS.iter().filter(|name| !["cli", "fuzz", "sandbox"].contains(name)) {
        reaches_none(package, &reached(package), &["kube-cel", "cel"]);
    }
    let direct = tree("cli", &["--edges", "normal,build", "--depth", "1"]);
    reaches_none("cli", &direct, &["kube-cel", "cel"]);
}

#[test]
fn one_tls_stack() {
    reaches_none("cli", &reached("cli"), &["aws-lc-rs", "native-tls", "openssl", "openssl-sys"]);
}

#[test]
fn every_crate_of_the_workspace_has_its_edges_here() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut crates: BTreeSet<String> = ["fuzz", "xtask"].map(str::to_owned).into();
    for entry in std::fs::read_dir(root).expect("crates/ can be listed") {
        crates.insert(entry.expect("an entry of crates/").file_name().to_string_lossy().into_owned());
    }
    let known: BTreeSet<String> = EDGES.iter().map(|(package, _)| (*package).to_owned()).collect();
    assert_eq!(crates, known);
    assert!(OURS.iter().all(|name| known.contains(*name)));
}
