//! What must never get out, and limits that no call may break: secrets, the call budget, paths that lead nowhere.

use std::collections::{BTreeMap, VecDeque};

use cf_api::limits::{OWN_LIMIT, RATE_WINDOW};
use jiff::{SignedDuration, Timestamp};
use sandbox::fault::Fault;
use sandbox::request_log::Line;

use crate::world::World;

/// The secrets of every world and of the scenarios' fixtures have this in them.
pub(in super::super) const SECRET_MARK: &str = "ThatNoOutputMayEverShow";

/// All of it.
pub(super) fn exposed(world: &World) -> Vec<String> {
    let requests = world.cloudflare.log().lines();
    let mut broken = secrets_shown(world, &requests);
    broken.extend(budget_broken(&requests));
    broken.extend(calls_to_nowhere(&requests));
    broken
}

/// Secrets in anything that is written down, Secrets themselves apart.
fn secrets_shown(world: &World, requests: &[Line]) -> Vec<String> {
    let mut broken = Vec::new();
    let mut look = |place: &str, text: &str| {
        if text.contains(SECRET_MARK) {
            broken.push(format!("a secret is shown in {place}"));
        }
    };
    for (kind, object) in world.resources() {
        look(kind, &object.to_string());
    }
    for event in world.kubernetes.list("Event") {
        look("an Event", &event.to_string());
    }
    if let Some(operator) = world.operator() {
        look("the metrics", &operator.metrics().text());
    }
    for line in requests.iter().chain(&world.kubernetes.log().lines()) {
        look("the path of a request", &line.path);
    }
    broken
}

/// More requests in a window than kflare allows itself, or an answer that says that somebody had too many. A refused
/// request was sent, too, so it counts.
pub(super) fn budget_broken(requests: &[Line]) -> Vec<String> {
    let span = SignedDuration::try_from(RATE_WINDOW).unwrap_or(SignedDuration::MAX);
    let own_limit = usize::try_from(OWN_LIMIT).unwrap_or(usize::MAX);
    let mut windows: BTreeMap<&str, VecDeque<Timestamp>> = BTreeMap::new();
    let mut too_many: BTreeMap<&str, String> = BTreeMap::new();
    for line in requests.iter().filter(|line| !line.subject.is_empty()) {
        let window = windows.entry(&line.subject).or_default();
        while window.front().is_some_and(|first| line.at.duration_since(*first) >= span) {
            window.pop_front();
        }
        window.push_back(line.at);
        if window.len() > own_limit {
            too_many.entry(&line.subject).or_insert_with(|| {
                format!(
                    "{} requests of {} in the five minutes before {}",
                    window.len(),
                    line.subject,
                    line.at
                )
            });
        }
    }
    let was_ordered =
        |line: &Line| matches!(line.fault, Some(Fault::TooManyRequests | Fault::TooManyRequestsBare));
    let refused = requests.iter().filter(|line| line.status == 429 && !was_ordered(line));
    let refused =
        refused.map(|line| format!("refused as one too many at {}: {} {}", line.at, line.method, line.path));
    too_many.into_values().chain(refused).collect()
}

/// Requests for which there is no route: an empty or malformed ID (b150).
fn calls_to_nowhere(requests: &[Line]) -> Vec<String> {
    let lost = requests.iter().filter(|line| line.route == "(no route)" || line.path.contains("//"));
    lost.map(|line| format!("a call to nowhere: {} {}", line.method, line.path)).collect()
}
