//! What kflare tells in Kubernetes: statuses that never look back, and one Event for each change of a condition.

use kinds::names;
use sandbox::kubernetes::{Author, Version};
use serde_json::Value;

use super::super::facts::{Facts, Life, before as start};
use super::super::object::{annotation, ready, text};
use super::obedience;

/// Statuses that tell of an older generation than before, or of one that never was.
pub(super) fn regressed(facts: &Facts) -> Vec<String> {
    let mut broken = Vec::new();
    for life in facts.lives.values() {
        let mut observed = -1;
        for version in life.versions.iter().filter(|version| !version.is_last) {
            let told = version.object["status"]["observedGeneration"].as_i64();
            if version.author == Author::Scene {
                // Who wipes a status makes kflare begin anew.
                observed = told.unwrap_or(-1).min(observed);
                continue;
            }
            let generation = version.object["metadata"]["generation"].as_i64().unwrap_or_default();
            let told = told.unwrap_or(-1);
            if told < observed || told > generation {
                let name = life.name();
                broken.push(format!(
                    "{name} told of generation {told} after {observed}, at generation {generation}"
                ));
            }
            observed = told;
        }
    }
    broken
}

/// Resources whose condition turned while they were paused, for longer than a pass can be under way.
pub(super) fn turned_while_paused(facts: &Facts, watches_hang: bool) -> Vec<String> {
    let slack = obedience::slack(watches_hang);
    let is_paused = |version: &Version| annotation(&version.object, names::PAUSED) == "true";
    let mut broken = Vec::new();
    for life in facts.lives.values() {
        for pair in life.versions.windows(2).filter(|pair| pair[1].author == Author::Client) {
            let [before, after] = [ready(&pair[0].object), ready(&pair[1].object)];
            // Who has no condition yet gets one that says Unknown.
            let is_kept = after.0 == before.0 || before.0.is_empty() && after.0 == "Unknown";
            let was_paused = life.between(start(pair[1].at, slack), pair[1].at).all(is_paused);
            if was_paused && !(is_kept && after.1 == "Paused") {
                let (name, at) = (life.name(), pair[1].at);
                broken.push(format!(
                    "{name} turned from {} to {} {} at {at} while paused",
                    before.0, after.0, after.1
                ));
            }
        }
    }
    broken
}

/// More Events about an object than its condition turned.
pub(super) fn repeated_events(facts: &Facts) -> Vec<String> {
    let mut broken = Vec::new();
    for (uid, life) in &facts.lives {
        let about = |event: &&Life| {
            ["/regarding/uid", "/involvedObject/uid"].iter().any(|pointer| text(event.last(), pointer) == uid)
        };
        let events = facts.events().filter(about).count();
        let turns = turns(life);
        if events > turns {
            broken
                .push(format!("{} has {events} Events, and its condition turned {turns} times", life.name()));
        }
    }
    broken
}

/// How often kflare wrote another status or reason than it had written last.
fn turns(life: &Life) -> usize {
    let condition = |object: &Value| {
        let (status, reason, _) = ready(object);
        (status.to_owned(), reason.to_owned())
    };
    let pairs = life.versions.windows(2);
    let turned = pairs.filter(|pair| {
        pair[1].author == Author::Client && condition(&pair[0].object) != condition(&pair[1].object)
    });
    turned.count()
}
