//! What must never get out, and limits that no call may break: secrets, the call budget, paths that lead nowhere.

use std::collections::{BTreeMap, VecDeque};

use jiff::{SignedDuration, Timestamp};
use sandbox::request_log::Line;

use crate::world::World;

/// Cloudflare API docs: requests per user in five minutes.
const WINDOW_QUOTA: usize = 1_200;
/// That window.
const WINDOW: SignedDuration = SignedDuration::from_secs(300);

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

/// More requests in a window than Cloudflare grants, or an answer that says so.
fn budget_broken(requests: &[Line]) -> Vec<String> {
    let mut windows: BTreeMap<&str, VecDeque<Timestamp>> = BTreeMap::new();
    let mut broken = Vec::new();
    for line in requests.iter().filter(|line| line.status != 429) {
        let window = windows.entry(&line.who).or_default();
        while window.front().is_some_and(|first| line.at.duration_since(*first) >= WINDOW) {
            window.pop_front();
        }
        window.push_back(line.at);
        if window.len() > WINDOW_QUOTA {
            broken.push(format!("{} requests in the five minutes before {}", window.len(), line.at));
            break;
        }
    }
    broken
}

/// Requests for which there is no route: an empty or malformed ID (b150).
fn calls_to_nowhere(requests: &[Line]) -> Vec<String> {
    let lost = requests.iter().filter(|line| line.route == "(no route)" || line.path.contains("//"));
    lost.map(|line| format!("a call to nowhere: {} {}", line.method, line.path)).collect()
}
