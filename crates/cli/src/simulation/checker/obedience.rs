//! Nothing is written to Cloudflare for a resource that is paused, or whose namespace may not use the account.

use jiff::Timestamp;
use kinds::names;
use sandbox::cloudflare::{Change, ChangeKind, OUT_OF_BAND, ObjectKind};
use serde_json::Value;

use super::super::facts::{Facts, Life, before, named_ids};
use super::super::object::{annotation, text};
use super::tenants;

/// What was under way when people forbade it may still be carried out: a request for two and a half minutes. Where a
/// watch hangs, nobody hears of it until the watch is opened anew.
const UNDER_WAY: i64 = 180;
const WATCH_HANGS: i64 = 900;

/// Seconds in which what people say need not have been heard.
pub(super) fn slack(watches_hang: bool) -> i64 {
    if watches_hang { WATCH_HANGS } else { UNDER_WAY }
}

/// Writes for resources that were all paused, or all kept out, for longer than anything is under way.
pub(super) fn disobeyed(facts: &Facts, watches_hang: bool) -> Vec<String> {
    let slack = slack(watches_hang);
    let mut broken = Vec::new();
    for change in facts.changes.iter().filter(|change| change.who != OUT_OF_BAND) {
        let moments = facts.moments(before(change.at, slack), change.at);
        let lives = doers(facts, change, slack);
        let all = |is_so: &dyn Fn(&Value, Timestamp) -> bool| {
            let throughout =
                |life: &Life| moments.iter().all(|at| life.at(*at).is_some_and(|object| is_so(object, *at)));
            !lives.is_empty() && lives.iter().all(|life| throughout(life))
        };
        let complaint = if all(&|object, _| annotation(object, names::PAUSED) == "true") {
            "paused"
        } else if all(&|object, at| !may_write(facts, object, at, change)) {
            "kept out"
        } else {
            continue;
        };
        let names: Vec<String> = lives.iter().map(|life| life.name()).collect();
        broken.push(format!(
            "{:?} of {} at {}: {complaint} are {}",
            change.kind,
            change.id,
            change.at,
            names.join(", ")
        ));
    }
    broken
}

/// The resources that a change at Cloudflare can have been made for.
fn doers<'f>(facts: &'f Facts, change: &Change, slack: i64) -> Vec<&'f Life> {
    // What a deletion was carried out for may be gone by then: a request may take effect late.
    let exists =
        |life: &&Life| life.between(before(change.at, slack), change.at).any(|version| !version.is_last);
    let claims = facts.claims(&change.id);
    let in_time = claims.iter().filter(|claim| claim.first.at <= change.at);
    let claiming: Vec<&Life> = in_time.map(|claim| claim.life).filter(exists).collect();
    if !claiming.is_empty() {
        return claiming;
    }
    if change.object == ObjectKind::Zone {
        let zone = change.after.as_ref().or(change.before.as_ref()).unwrap_or(&Value::Null);
        let is_it = |life: &&Life| text(life.last(), "/spec/name") == text(zone, "/name");
        return facts.of_kind("Zone").filter(is_it).filter(exists).collect();
    }
    let wanting = facts.place(change).map(|place| facts.wanting(&place, change.at));
    wanting.unwrap_or_default().into_iter().filter(exists).collect()
}

/// Contract K3 and K14: what a status names may be deleted from anywhere.
fn may_write(facts: &Facts, object: &Value, at: Timestamp, change: &Change) -> bool {
    let namespace = text(object, "/metadata/namespace");
    let kind = text(object, "/kind");
    let zone = if kind == "Zone" {
        Some(object)
    } else {
        facts.named("Zone", namespace, text(object, "/spec/zoneRef/name"), at)
    };
    let account =
        |zone: &Value| facts.named("CloudflareAccount", "", text(zone, "/spec/accountRef/name"), at);
    // Who is gone forbids nothing.
    let Some(account) = zone.and_then(account) else { return true };
    let cleans_up =
        change.kind == ChangeKind::Delete && named_ids(kind, object).contains(&change.id.as_str());
    cleans_up || tenants::is_allowed(facts, account, namespace, at)
}
