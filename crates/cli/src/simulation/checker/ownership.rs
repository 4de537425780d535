//! Whose objects are touched: what others made stays as it is, nothing is made twice, nothing is left behind.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use kinds::names;
use sandbox::cloudflare::{Change, ChangeKind, OUT_OF_BAND, ObjectKind};
use sandbox::kubernetes::{Author, Version};
use sandbox::request_log::Line;
use serde_json::Value;

use super::super::facts::{Claim, Facts, Life, Place, after, before, named_ids};
use super::super::object::{annotation, is_going, text};
use crate::world::World;

/// How long an extra object may stand that a late commit made, counted from the next list of its zone: the time in
/// which a mark still proves that it is ours, and a look after it.
const EXTRA_MAX: SignedDuration = SignedDuration::from_secs(900);

/// How long what was asked for may still be carried out after it was taken back: a request is under way for at most two
/// and a half minutes, and the watch that tells of the change may have hung.
const UNDER_WAY: i64 = 900;

/// Objects that others made and that kflare changed or deleted without being asked.
pub(super) fn foreign_touched(facts: &Facts) -> Vec<String> {
    // What is in a zone goes with it, whoever made it.
    let zones_gone: BTreeSet<(&str, Timestamp)> = facts
        .changes
        .iter()
        .filter(|change| change.object == ObjectKind::Zone && change.kind == ChangeKind::Delete)
        .map(|change| (change.zone_id.as_str(), change.at))
        .collect();
    let by_us = |change: &&Change| {
        let with_its_zone = change.object == ObjectKind::DnsRecord
            && zones_gone.contains(&(change.zone_id.as_str(), change.at));
        change.kind != ChangeKind::Create && change.who != OUT_OF_BAND && !with_its_zone
    };
    let foreign = facts.changes.iter().filter(by_us).filter(|change| facts.is_foreign(&change.id));
    foreign
        .filter(|change| !facts.claims(&change.id).iter().any(|claim| may_touch(claim, change)))
        .filter(|change| !may_be_ours(facts, change))
        .map(|change| {
            let what = change.before.as_ref().unwrap_or(&Value::Null);
            format!("a foreign object was touched ({:?}, {}): {what}", change.kind, change.at)
        })
        .collect()
}

/// True when the resource had asked for the object and, for a delete, for its deletion.
fn may_touch(claim: &Claim<'_>, change: &Change) -> bool {
    let Claim { life, first } = claim;
    if first.at > change.at {
        return false;
    }
    // A label or status that a person wrote is a claim, too.
    let by_hand = first.author == Author::Scene || life.was_tampered_with();
    let adopts = ["adopt", "adopt-or-create"].contains(&annotation(&first.object, names::ADOPTION_POLICY));
    let names_it = annotation(&first.object, names::ADOPT_ID) == change.id;
    if !(by_hand || adopts || names_it) {
        return false;
    }
    change.kind == ChangeKind::Update
        || life.between(before(change.at, UNDER_WAY), change.at).any(|version| {
            let policy = annotation(&version.object, names::DELETION_POLICY);
            is_going(&version.object) && (policy == "delete" || by_hand && policy != "retain")
        })
}

/// A zone has nothing that tells whose create made it: one that others made while ours was open may be either.
fn may_be_ours(facts: &Facts, change: &Change) -> bool {
    let made = facts.made(&change.id).unwrap_or(change.at);
    let name = change.before.as_ref().or(change.after.as_ref()).map_or("", |zone| text(zone, "/name"));
    let is_open = |version: &Version| {
        let is_marked = !annotation(&version.object, names::CREATING).is_empty();
        is_marked && text(&version.object, "/spec/name").eq_ignore_ascii_case(name)
    };
    change.object == ObjectKind::Zone
        && facts.of_kind("Zone").any(|life| life.between(made, after(made, UNDER_WAY)).any(is_open))
}

/// The lists of records that were asked for.
pub(super) fn lists(world: &World) -> Vec<(Timestamp, String)> {
    let lines = world.cloudflare.log().lines().into_iter();
    let is_list = |line: &Line| line.method == "GET" && line.route == "/zones/{zone_id}/dns_records";
    lines.filter(is_list).map(|line| (line.at, line.path)).collect()
}

/// A second object of ours beside an identical one. Where commits may be late (then the lists are given), an extra one may
/// stand until a list shows it and it is cleared away.
pub(super) fn twins(facts: &Facts, lists: Option<&[(Timestamp, String)]>, now: Timestamp) -> Vec<String> {
    let overdue = |since: Timestamp, zone: &str, until: Timestamp| {
        let Some(lists) = lists else { return true };
        let listed = lists.iter().find(|(at, path)| *at > since && path.contains(zone));
        listed.is_some_and(|(listed, _)| until.duration_since(*listed) > EXTRA_MAX)
    };
    let mut standing: BTreeMap<String, String> = BTreeMap::new();
    let mut extra: BTreeMap<String, (Timestamp, &Change)> = BTreeMap::new();
    let mut broken = Vec::new();
    let mut complain = |what: &str, (since, change): (Timestamp, &Change), until: Timestamp| {
        let excused = || {
            let place = facts.place(change);
            place
                .is_some_and(|place| facts.wanting(&place, until).iter().any(|life| life.was_tampered_with()))
        };
        if overdue(since, &change.zone_id, until) && !excused() {
            broken.push(format!(
                "two identical records {what} from {since} to {until}: {what:?} {}",
                shown(change)
            ));
        }
    };
    for change in facts.changes.iter().filter(|change| change.object == ObjectKind::DnsRecord) {
        match (change.kind, &change.after) {
            (ChangeKind::Create, Some(record)) if change.who != OUT_OF_BAND => {
                let value = identity(change, record);
                if standing.values().any(|other| *other == value) {
                    extra.insert(change.id.clone(), (change.at, change));
                }
                standing.insert(change.id.clone(), value);
            }
            (ChangeKind::Update, Some(record)) => {
                if let Some(value) = standing.get_mut(&change.id) {
                    *value = identity(change, record);
                }
            }
            (ChangeKind::Delete, _) => {
                standing.remove(&change.id);
            }
            _ => {}
        }
        // An extra one ends with itself, with its twin, or with an edit of one of them.
        let is_extra = |id: &String| {
            let value = standing.get(id);
            value.is_some() && standing.iter().any(|(other, found)| other != id && Some(found) == value)
        };
        let ended: Vec<String> = extra.keys().filter(|id| !is_extra(id)).cloned().collect();
        for id in ended {
            if let Some(found) = extra.remove(&id) {
                complain("stood", found, change.at);
            }
        }
    }
    extra.into_values().for_each(|found| complain("stand", found, now));
    broken
}

fn identity(change: &Change, record: &Value) -> String {
    let part = |field: &str| record[field].to_string();
    let parts = ["name", "type", "content", "data", "priority"].map(part);
    format!("{} {}", change.zone_id, parts.join(" "))
}

fn shown(change: &Change) -> String {
    let record = change.after.as_ref().or(change.before.as_ref()).unwrap_or(&Value::Null);
    format!("{} {}", text(record, "/name"), text(record, "/type"))
}

/// More records of ours at one place than resources ever wanted it. Where commits may be late or clocks are wrong, nothing
/// can be told.
pub(super) fn surplus(facts: &Facts, tells_nothing: bool) -> Vec<String> {
    let mut standing: BTreeMap<Place, BTreeSet<&str>> = BTreeMap::new();
    let mut worst: BTreeMap<Place, (usize, Timestamp)> = BTreeMap::new();
    for change in facts.changes.iter().filter(|change| change.object == ObjectKind::DnsRecord) {
        let Some(place) = facts.place(change) else { continue };
        let here = standing.entry(place.clone()).or_default();
        match change.kind {
            ChangeKind::Create if change.who != OUT_OF_BAND => drop(here.insert(&change.id)),
            ChangeKind::Delete => drop(here.remove(change.id.as_str())),
            _ => continue,
        }
        let most = worst.entry(place).or_insert((0, change.at));
        if here.len() > most.0 {
            *most = (here.len(), change.at);
        }
    }
    let mut broken = Vec::new();
    for (place, (count, at)) in worst {
        let lives = facts.wanting(&place, at);
        let is_excused = tells_nothing
            || lives.iter().any(|life| life.was_tampered_with())
            || facts.changes.iter().any(|change| is_edit_by_others(facts, change, &place));
        if count > lives.len().max(1) && !is_excused {
            let (_, name, kind) = place;
            broken.push(format!(
                "{count} records stood at {name} {kind} at {at} for {} resources",
                lives.len()
            ));
        }
    }
    broken
}

fn is_edit_by_others(facts: &Facts, change: &Change, place: &Place) -> bool {
    change.who == OUT_OF_BAND
        && change.kind == ChangeKind::Update
        && change.object == ObjectKind::DnsRecord
        && facts.place(change).as_ref() == Some(place)
}

/// What stands in Cloudflare although every resource is gone: what kflare made and nobody asked to keep. With a clock
/// that was wrong by more than the minutes that a mark allows for, nobody can tell what a lost answer was about.
pub(super) fn orphans(facts: &Facts, world: &World, clock_was_wrong: bool) -> Vec<String> {
    let zones = world.cloudflare.zones();
    let records = world.cloudflare.records_anywhere().into_iter().map(|(_, record)| record);
    records
        .chain(zones)
        .filter(|object| !facts.is_foreign(text(object, "/id")))
        .filter(|object| !clock_was_wrong && !may_stay(facts, world, object))
        .map(|object| format!("an orphan stands in Cloudflare: {object}"))
        .collect()
}

fn may_stay(facts: &Facts, world: &World, object: &Value) -> bool {
    let (id, now) = (text(object, "/id"), world.clock.now());
    let claims = facts.claims(id);
    let of_this: Vec<&Life> = match object["type"].as_str() {
        _ if !claims.is_empty() => claims.iter().map(|claim| claim.life).collect(),
        Some(kind) if object.get("content").is_some() => {
            // Nobody ever named it: whoever wanted its place can have made it.
            let made =
                facts.changes.iter().find(|change| change.id == id && change.kind == ChangeKind::Create);
            let domain = made.and_then(|made| facts.domains.get(&made.zone_id)).cloned().unwrap_or_default();
            facts.wanting(&(domain, text(object, "/name").to_owned(), kind.to_owned()), now)
        }
        _ => facts
            .of_kind("Zone")
            .filter(|life| text(life.last(), "/spec/name") == text(object, "/name"))
            .collect(),
    };
    let edited =
        |change: &Change| change.id == id && change.who == OUT_OF_BAND && change.kind == ChangeKind::Update;
    // Whoever edits what no resource names yet makes it unlike anything that a create of ours made.
    (claims.is_empty() && facts.changes.iter().any(edited))
        || of_this.iter().any(|life| was_let_go(facts, life, id))
}

/// True when the resource went, or could only go, without its object.
fn was_let_go(facts: &Facts, life: &Life, id: &str) -> bool {
    let keeps = |object: &Value| match annotation(object, names::DELETION_POLICY) {
        "retain" => true,
        "delete" => false,
        _ => annotation(object, names::ADOPTED) == "true" || facts.keeps_by_default,
    };
    let Some(last) = life.versions.last() else { return true };
    let going = life.versions.iter().filter(|version| is_going(&version.object) || version.is_last);
    keeps(&last.object)
        || going.clone().any(|version| keeps(&version.object))
        || life.was_tampered_with()
        || going.clone().any(|version| !has_way(facts, life, &version.object, version.at, id))
        // It named another object by then: this one was lost to it.
        || !named_ids(&life.kind, &last.object).contains(&id) && last.is_last && names_another(life, &last.object)
}

fn names_another(life: &Life, object: &Value) -> bool {
    !named_ids(&life.kind, object).is_empty()
}

/// True when the parents led to a token and to the object's parent, so that it could be deleted.
fn has_way(facts: &Facts, life: &Life, object: &Value, at: Timestamp, id: &str) -> bool {
    let namespace = text(object, "/metadata/namespace");
    let account =
        |zone: &Value| facts.named("CloudflareAccount", "", text(zone, "/spec/accountRef/name"), at);
    let zone = if life.kind == "Zone" {
        Some(object)
    } else {
        facts.named("Zone", namespace, text(object, "/spec/zoneRef/name"), at)
    };
    let Some(account) = zone.and_then(account) else { return false };
    let has_status = kinds::kind(&life.kind)
        .is_some_and(|kind| text(&object["status"], kind.identity.status) == id && !id.is_empty());
    if !has_status && !super::tenants::is_allowed(facts, account, namespace, at) {
        return false;
    }
    let Some(zone) = zone.filter(|_| life.kind == "DNSRecord") else { return true };
    let made_in = facts.changes.iter().find(|change| change.id == id).map(|change| change.zone_id.as_str());
    made_in.is_some_and(|zone_id| named_ids("Zone", zone).contains(&zone_id))
}
