//! What must hold in every world at every time, read from raw facts: Cloudflare's history, the request logs and
//! whatever Kubernetes shows. Knows nothing of `plan`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use jiff::{SignedDuration, Timestamp};
use sandbox::cloudflare::{Change, ChangeKind, OUT_OF_BAND, ObjectKind};
use sandbox::request_log::Line;
use serde_json::Value;

use crate::world::{TOKEN, World};

/// A record made behind kflare's back with this comment is nobody's to touch.
pub const HANDS_OFF: &str = "hands off";

/// Cloudflare API docs: requests per user in five minutes.
const WINDOW_QUOTA: usize = 1_200;
/// That window.
const WINDOW: SignedDuration = SignedDuration::from_secs(300);

/// The secrets of every world and of the scenarios' fixtures have this in them.
pub(super) const SECRET_MARK: &str = "ThatNoOutputMayEverShow";
const _: () = assert!(TOKEN.len() > SECRET_MARK.len());

/// How long an extra object may stand that a late commit made, counted from the next list of its zone: the time in
/// which a mark still proves that it is ours, and a look after it.
const EXTRA_MAX: SignedDuration = SignedDuration::from_secs(900);

/// Every promise that is broken, in words; none when all is well.
#[must_use]
pub fn promises(world: &World) -> Vec<String> {
    let history = world.cloudflare.history();
    let requests = world.cloudflare.log().lines();
    let mut broken = foreign_objects_touched(&history);
    broken.extend(secrets_shown(world, &requests));
    broken.extend(budget_broken(&requests));
    broken.extend(calls_to_nowhere(&requests));
    broken
}

/// Objects that others made and told us to leave alone.
fn foreign_objects_touched(history: &[Change]) -> Vec<String> {
    // What is in a zone goes with it, whoever made it.
    let zones_gone: BTreeSet<(&str, Timestamp)> = history
        .iter()
        .filter(|change| change.object == ObjectKind::Zone && change.kind == ChangeKind::Delete)
        .map(|change| (change.id.as_str(), change.at))
        .collect();
    let mut protected = BTreeSet::new();
    let mut broken = Vec::new();
    for change in history {
        let comment = |value: &Option<Value>| {
            value.as_ref().is_some_and(|value| value["comment"].as_str().unwrap_or_default() == HANDS_OFF)
        };
        match change.kind {
            ChangeKind::Create if change.who == OUT_OF_BAND && comment(&change.after) => {
                protected.insert(change.id.clone());
            }
            ChangeKind::Update | ChangeKind::Delete
                if change.who != OUT_OF_BAND
                    && protected.contains(&change.id)
                    && !zones_gone.contains(&(change.zone_id.as_str(), change.at)) =>
            {
                let what = change.before.as_ref().unwrap_or(&Value::Null);
                broken.push(format!("a foreign object was touched ({:?}): {what}", change.kind));
            }
            _ => {}
        }
    }
    broken
}

/// A record's zone, name and type: what one resource stands for.
pub type Place = (String, String, String);

/// At every instant at most `allowed` records that we made stand at one place. Where commits may be late, an extra
/// one may stand until a list shows it and it is cleared away.
#[must_use]
pub fn twins(world: &World, allowed: &BTreeMap<Place, usize>, late_commits: bool) -> Vec<String> {
    let lists: Vec<(Timestamp, String)> = world
        .cloudflare
        .log()
        .lines()
        .into_iter()
        .filter(|line| line.method == "GET" && line.route == "/zones/{zone_id}/dns_records")
        .map(|line| (line.at, line.path))
        .collect();
    let mut standing: BTreeMap<Place, BTreeSet<String>> = BTreeMap::new();
    let mut extra_since: BTreeMap<Place, (Timestamp, String)> = BTreeMap::new();
    let mut broken = Vec::new();
    let overdue = |since: Timestamp, zone: &str, until: Timestamp| {
        let listed = lists.iter().find(|(at, path)| *at > since && path.contains(zone)).map(|(at, _)| *at);
        !late_commits || listed.is_some_and(|listed| until.duration_since(listed) > EXTRA_MAX)
    };
    let history = world.cloudflare.history();
    for change in history.iter().filter(|change| change.object == ObjectKind::DnsRecord) {
        let Some(place) = place(change) else { continue };
        let here = standing.entry(place.clone()).or_default();
        match change.kind {
            ChangeKind::Create if change.who != OUT_OF_BAND => drop(here.insert(change.id.clone())),
            ChangeKind::Delete => drop(here.remove(&change.id)),
            _ => continue,
        }
        if here.len() > allowed.get(&place).copied().unwrap_or(0).max(1) {
            extra_since.entry(place).or_insert((change.at, change.zone_id.clone()));
        } else if let Some((since, zone)) = extra_since.remove(&place)
            && overdue(since, &zone, change.at)
        {
            broken.push(format!("two records stood at {} from {since} to {}", place_name(&place), change.at));
        }
    }
    let now = world.clock.now();
    for (place, (since, zone)) in extra_since {
        if overdue(since, &zone, now) {
            broken.push(format!("two records stand at {} since {since}", place_name(&place)));
        }
    }
    broken
}

fn place(change: &Change) -> Option<Place> {
    let record = change.after.as_ref().or(change.before.as_ref())?;
    let text = |field: &str| Some(record[field].as_str()?.to_owned());
    Some((change.zone_id.clone(), text("name")?, text("type")?))
}

fn place_name((_, name, kind): &Place) -> String {
    format!("{name} {kind}")
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

/// What stands in Cloudflare although every resource is gone: what we made and nobody asked to keep.
#[must_use]
pub fn orphans(world: &World, kept: &BTreeSet<String>) -> Vec<String> {
    let history = world.cloudflare.history();
    let made: BTreeSet<&str> = history
        .iter()
        .filter(|change| change.kind == ChangeKind::Create && change.who != OUT_OF_BAND)
        .map(|change| change.id.as_str())
        .collect();
    let records = world.cloudflare.records_anywhere().into_iter().map(|(_, record)| record);
    records
        .chain(world.cloudflare.zones())
        .filter(|object| object["id"].as_str().is_some_and(|id| made.contains(id)))
        .filter(|object| object["name"].as_str().is_none_or(|name| !kept.contains(name)))
        .map(|object| format!("an orphan stands in Cloudflare: {object}"))
        .collect()
}

/// Resources that say Ready although Cloudflare does not hold what they ask for.
#[must_use]
pub fn lies(world: &World) -> Vec<String> {
    let records: BTreeMap<String, Value> = world
        .cloudflare
        .records_anywhere()
        .into_iter()
        .map(|(_, record)| (record["id"].as_str().unwrap_or_default().to_owned(), record))
        .collect();
    let is_synced = |object: &&Value| {
        let conditions = object["status"]["conditions"].as_array().into_iter().flatten();
        conditions
            .into_iter()
            .any(|condition| condition["status"] == "True" && condition["reason"] == "Synced")
    };
    let resources = world.kubernetes.list("DNSRecord");
    resources
        .iter()
        .filter(is_synced)
        .filter_map(|object| {
            let id = object["status"]["recordID"].as_str().unwrap_or_default();
            let (spec, name) = (&object["spec"], &object["metadata"]["name"]);
            let Some(record) = records.get(id) else {
                return Some(format!("{name} is Synced, but its record {id:?} does not exist"));
            };
            let same = |field: &str| spec[field].is_null() || spec[field] == record[field];
            let differs = ["type", "ttl", "proxied"].into_iter().find(|field| !same(field))?;
            Some(format!("{name} is Synced, but {differs} is {} in Cloudflare", record[differs]))
        })
        .collect()
}
