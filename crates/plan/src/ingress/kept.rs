//! Which live rules stay although no Ingress that we may serve stands for them: those that lead to the namespace of an
//! Ingress that is paused or cannot be told. The live configuration is the only memory of its last good rules, so a
//! restart loses nothing (contract I4, I15).

use kinds::cloudflared::Configuration;
use serde_json::{Value, json};

use super::backend::UNAVAILABLE;
use super::exposure::{Exposed, Exposure, LastResort, Outside, Owner};
use super::order::{Candidate, Place};
use super::path::{Path, matches_all};
use super::rules::NOT_FOUND;

/// A rule of the live configuration.
#[derive(Clone, Copy, Debug)]
pub(super) struct LiveRule<'a> {
    pub(super) host: Option<&'a str>,
    pub(super) path: Option<&'a str>,
    pub(super) service: &'a str,
    pub(super) origin: Option<&'a Value>,
    pub(super) json: &'a Value,
}

impl<'a> LiveRule<'a> {
    pub(super) fn read(json: &'a Value) -> Self {
        let text = |name| json.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let is_set = |origin: &&Value| origin.as_object().is_some_and(|settings| !settings.is_empty());
        Self {
            host: text("hostname"),
            path: text("path"),
            service: text("service").unwrap_or_default(),
            origin: json.get("originRequest").filter(is_set),
            json,
        }
    }

    const fn is_last(&self) -> bool {
        self.host.is_none() && self.path.is_none()
    }

    /// Whether it is of this host and path: by our expression, or as the old controller wrote paths, which were sent
    /// verbatim, or not at all for a scheme that it did not know.
    fn is_of(&self, exposure: &Exposure) -> bool {
        let own = exposure.expression.as_deref();
        let verbatim = Some(exposure.path.text.as_str()).filter(|text| !text.is_empty());
        let is_whole = self.path.is_none() && matches_all(own);
        self.host == exposure.host.as_deref() && (self.path == own || self.path == verbatim || is_whole)
    }
}

/// Where a rule leads.
enum Target<'a> {
    Namespace(&'a str),
    Name(&'a str),
    Nowhere503,
    Other,
}

fn target<'a>(service: &'a str, cluster_domain: &str) -> Target<'a> {
    if service == UNAVAILABLE {
        return Target::Nowhere503;
    }
    let Some((_, rest)) = service.split_once("://") else { return Target::Other };
    let host = rest.split(['/', ':']).next().unwrap_or_default();
    let inside = host.strip_suffix(cluster_domain).and_then(|host| host.strip_suffix(".svc."));
    match inside.and_then(|host| host.rsplit_once('.')) {
        Some((_, namespace)) => Target::Namespace(namespace),
        None => Target::Name(host),
    }
}

/// Whether a rule may be this Ingress's. Where it cannot be told which names the Ingress leads to, a held one may lead
/// to any that is in no namespace.
fn may_be_of(rule: &LiveRule<'_>, exposed: &Exposed, cluster_domain: &str) -> bool {
    match target(rule.service, cluster_domain) {
        Target::Namespace(namespace) => namespace == exposed.owner.key.namespace,
        Target::Name(name) => match &exposed.outside {
            Outside::Names(names) => names.contains(name),
            Outside::Unknown => exposed.is_held() && may_name(exposed, rule.host),
        },
        Target::Nowhere503 => exposed.named().iter().any(|exposure| rule.is_of(exposure)),
        Target::Other => false,
    }
}

fn may_name(exposed: &Exposed, host: Option<&str>) -> bool {
    match (&exposed.hosts, host) {
        (Some(hosts), Some(host)) => hosts.contains(host),
        _ => true,
    }
}

/// Rules that stay.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) rules: Vec<Candidate>,
    pub(super) last: Option<(Owner, LastRule)>,
}

/// The rule that ends the list.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LastRule {
    pub(super) service: String,
    pub(super) origin: Option<Value>,
}

impl From<&LastResort> for LastRule {
    fn from(last: &LastResort) -> Self {
        Self { service: last.service.clone(), origin: last.origin.to_json() }
    }
}

/// What of the live rules stays for Ingresses that are held.
pub(super) fn kept(live: &[Value], all: &[Exposed], cluster_domain: &str) -> Kept {
    let rules: Vec<LiveRule<'_>> = live.iter().map(LiveRule::read).collect();
    let mut kept = Kept::default();
    for (index, rule) in rules.iter().enumerate() {
        if is_guard(index, &rules) {
            continue;
        }
        if !is_taken(rule) {
            continue;
        }
        let names_it = |one: &Exposed| match rule.is_last() {
            true => one.names_last(),
            false => one.named().iter().any(|exposure| rule.is_of(exposure)),
        };
        let holders = all.iter().filter(|one| one.is_held() && may_be_of(rule, one, cluster_domain));
        let Some(holder) = holders.min_by_key(|one| (!names_it(one), &one.owner)) else { continue };
        // What the holder itself names is between it and those who are older; a younger one never takes it over.
        let is_named = names_it(holder);
        let mut others = all.iter().filter(|one| !one.is_held() && (!is_named || one.owner < holder.owner));
        let stands_elsewhere = others.any(|other| may_be_of(rule, other, cluster_domain) && names_it(other));
        if stands_elsewhere {
            continue;
        }
        if rule.is_last() {
            let last = LastRule { service: rule.service.to_owned(), origin: rule.origin.cloned() };
            kept.last = Some((holder.owner.clone(), last));
        } else {
            kept.rules.push(candidate(rule, holder));
        }
    }
    kept
}

/// Whether connectors take a rule. One that they refuse has served nobody, and all others wait for it to go.
fn is_taken(rule: &LiveRule<'_>) -> bool {
    let last = json!({"service": NOT_FOUND});
    let rules = if rule.is_last() { vec![rule.json.clone()] } else { vec![rule.json.clone(), last] };
    Configuration::read(&json!({ "ingress": rules })).is_ok()
}

/// A rule for a whole host that leads where the last one does, after others of that host: a guard of ours, which is
/// made anew where one is needed.
fn is_guard(index: usize, rules: &[LiveRule<'_>]) -> bool {
    let (Some(rule), Some(last)) = (rules.get(index), rules.last()) else { return false };
    let is_for_host = rule.host.is_some() && rule.path.is_none();
    let leads_as_last = last.is_last() && (rule.service, rule.origin) == (last.service, last.origin);
    is_for_host && leads_as_last && rules.iter().take(index).any(|other| other.host == rule.host)
}

fn candidate(rule: &LiveRule<'_>, holder: &Exposed) -> Candidate {
    let expression = rule.path.map(str::to_owned);
    let own = holder
        .named()
        .iter()
        .find(|exposure| exposure.host.as_deref() == rule.host && exposure.expression == expression);
    let path = own.map_or_else(|| Path::of_expression(rule.path), |exposure| exposure.path.clone());
    Candidate {
        place: Place::new(rule.host, &path),
        host: rule.host.map(str::to_owned),
        path,
        expression,
        service: rule.service.to_owned(),
        origin: rule.origin.cloned(),
        owner: holder.owner.clone(),
        kept: Some(rule.json.clone()),
    }
}
