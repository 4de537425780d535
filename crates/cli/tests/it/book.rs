//! The book in docs/: every page is in its summary, every link leads to a page and a heading of it, and the page of
//! metrics names all of them. Whether it builds without warnings is asked by the gate; whether it is true, by reviewers.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// Every page by its path below docs/, the summary included.
fn pages() -> BTreeMap<PathBuf, String> {
    let mut pages = BTreeMap::new();
    let mut open = vec![docs()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).expect("docs/ can be listed") {
            let path = entry.expect("an entry of docs/").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|end| end == "md") {
                let name = path.strip_prefix(docs()).expect("below docs/").to_owned();
                pages.insert(name, fs::read_to_string(&path).expect("a page can be read"));
            }
        }
    }
    pages
}

/// The text without code: what stands in it is no link and no heading.
fn prose(page: &str) -> Vec<String> {
    let mut is_code = false;
    let mut lines = Vec::new();
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            lines.push(line.to_owned());
        }
    }
    lines
}

/// Where a page's links lead, without those to other sites.
fn links(page: &str) -> Vec<String> {
    let without_quotes = |line: String| line.split('`').step_by(2).collect::<String>();
    let lines: Vec<_> = prose(page).into_iter().map(without_quotes).collect();
    let targets =
        lines.iter().flat_map(|line| line.split("](").skip(1)).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains(':')).map(str::to_owned).collect()
}

/// The names that a link into a page may end with: its headings as mdBook spells them, and its anchors.
fn anchors(page: &str) -> BTreeSet<String> {
    let headings = prose(page).into_iter().filter(|line| line.starts_with('#')).map(|line| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
        kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
    });
    let set = page.split("<a id=\"").skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned);
    headings.chain(set).collect()
}

/// `target` as seen from `page`, without `..`.
fn resolved(page: &Path, target: &str) -> PathBuf {
    let mut path = page.parent().unwrap_or_else(|| Path::new("")).to_owned();
    for part in Path::new(target).components() {
        match part {
            Component::ParentDir if path.pop() => {}
            part => path.push(part),
        }
    }
    path
}

#[test]
fn every_page_is_in_the_summary_once() {
    let mut pages = pages();
    let summary = pages.remove(Path::new("SUMMARY.md")).expect("docs/SUMMARY.md");
    let mut listed: Vec<PathBuf> = links(&summary).into_iter().map(PathBuf::from).collect();
    listed.sort();
    assert_eq!(listed, pages.into_keys().collect::<Vec<_>>());
}

#[test]
fn every_link_leads_to_a_page_of_the_book_and_a_heading_of_it() {
    let pages = pages();
    let mut broken = Vec::new();
    for (name, text) in &pages {
        for link in links(text) {
            let (target, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if target.is_empty() { name.clone() } else { resolved(name, target) };
            let is_there =
                pages.get(&target).is_some_and(|page| anchor.is_empty() || anchors(page).contains(anchor));
            if !is_there {
                broken.push(format!("{}: {link}", name.display()));
            }
        }
    }
    assert_eq!(broken, [""; 0], "a file outside docs/ is named in backticks, as the book has no page for it");
}

#[test]
fn the_page_of_metrics_names_every_metric() {
    let source = docs().join("../crates/operator/src/metrics.rs");
    let source = fs::read_to_string(source).expect("the metrics");
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    let beginnings = ["controller_runtime_", "leader_election_", "workqueue_", "kflare_", "rest_client_"];
    let is_metric =
        |word: &&str| word.contains('_') && beginnings.iter().any(|start| word.starts_with(start));
    let prefix = "controller_runtime_reconcile";
    let words = code.split('"').skip(1).step_by(2).map(|word| word.replace("{prefix}", prefix));
    let names: BTreeSet<String> = words.filter(|word| is_metric(&word.as_str())).collect();
    assert!(
        names.contains("controller_runtime_reconcile_errors") && names.contains("kflare_events"),
        "{names:?}"
    );
    let page = fs::read_to_string(docs().join("reference/metrics.md")).expect("the page of metrics");
    let is_told = |name: &&String| {
        // The registry ends the names of counters with `_total`.
        page.contains(&format!("| `{name}` |")) || page.contains(&format!("| `{name}_total` |"))
    };
    let untold: Vec<_> = names.iter().filter(|name| !is_told(name)).collect();
    assert_eq!(untold, [""; 0], "docs/reference/metrics.md does not name them");
}
