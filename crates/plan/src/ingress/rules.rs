//! The rules of a tunnel, from all Ingresses that go through it, and what of them there is to write. The whole list is
//! written at once, so a configuration that could not be read is not written (V3).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use kinds::Key;
use serde_json::{Map, Value, json};

use super::exposure::{Exposed, Exposure, Owner};
use super::kept::{Kept, LastRule, LiveRule, kept};
use super::notice::Notice;
use super::order::{Beaten, Candidate, Place, settle, unguarded};
use crate::snapshot::Lookup;

/// What answers where no rule does and no Ingress has a default backend.
pub const NOT_FOUND: &str = "http_status:404";

/// One rule of the list.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Nothing stands for every host.
    pub host: Option<String>,
    /// The expression that is searched in the path; nothing fits every path.
    pub path: Option<String>,
    /// A URL or a status.
    pub service: String,
    /// The origin's settings, when there are any.
    pub origin: Option<Value>,
    /// Why it is there.
    pub source: Source,
    kept: Option<Value>,
}

/// Why a rule is in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// This Ingress exposes it.
    Ingress(Key),
    /// It stands, and this Ingress is held.
    Kept(Key),
    /// It keeps what a host's paths leave from falling to a wider rule.
    Guard,
    /// It ends the list, for this Ingress if there is one.
    Last(Option<Key>),
}

/// The rules of a tunnel, and what the Ingresses are told because of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Assembled {
    /// In order; the last one takes everything.
    pub rules: Vec<Rule>,
    /// By Ingress.
    pub notices: Vec<(Key, Notice)>,
    /// Hosts of rules that stay for an Ingress that is held.
    pub kept_hosts: BTreeSet<String>,
}

/// What to do with the configuration of a tunnel.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// It is in order.
    Nothing,
    /// It could not be read, so it is not written.
    Unknown(String),
    /// It is replaced by this one.
    Put {
        /// The whole configuration.
        config: Value,
        /// Rules that stand and would go.
        removed: Vec<Value>,
    },
}

/// The rules of all these Ingresses, given the live ones.
#[must_use]
pub fn assemble(all: &[Exposed], live: &[Value], cluster_domain: &str) -> Assembled {
    let Kept { rules: kept_rules, last: kept_last } = kept(live, all, cluster_domain);
    let wanted = all.iter().flat_map(|one| one.served().iter().map(|exposure| of_exposure(one, exposure)));
    let (winners, beaten) = settle(wanted.chain(kept_rules).collect());
    let mut notices: Vec<(Key, Notice)> = beaten.into_iter().filter_map(told).collect();
    // Losers come by owner, so the same thing said twice of one Ingress stands together.
    notices.dedup();
    let (last, last_owner) = last_rule(all, kept_last, &mut notices);
    let kept_hosts = winners.iter().filter(|rule| rule.kept.is_some()).filter_map(|rule| rule.host.clone());
    Assembled { kept_hosts: kept_hosts.collect(), rules: list(winners, &last, last_owner), notices }
}

fn of_exposure(exposed: &Exposed, exposure: &Exposure) -> Candidate {
    let Exposure { host, path, expression, service, origin } = exposure.clone();
    Candidate {
        place: Place::new(host.as_deref(), &path),
        host,
        path,
        expression,
        service,
        origin: origin.to_json(),
        owner: exposed.owner.clone(),
        kept: None,
    }
}

fn told(Beaten { candidate, by }: Beaten) -> Option<(Key, Notice)> {
    if candidate.kept.is_some() {
        return None;
    }
    let (host, path) = (candidate.host.unwrap_or_default(), candidate.path.text);
    let notice = if by.key == candidate.owner.key {
        Notice::PathTwice { host, path }
    } else {
        Notice::PathConflict { host, path, winner: by.key }
    };
    Some((candidate.owner.key, notice))
}

/// The oldest Ingress with a default backend has it; the others are told.
fn last_rule(
    all: &[Exposed],
    kept: Option<(Owner, LastRule)>,
    notices: &mut Vec<(Key, Notice)>,
) -> (LastRule, Option<Key>) {
    let mut wanting: Vec<(Owner, LastRule, bool)> = all
        .iter()
        .filter_map(|one| one.served_last().map(|last| (one.owner.clone(), LastRule::from(last), true)))
        .chain(kept.map(|(owner, last)| (owner, last, false)))
        .collect();
    wanting.sort_by(|one, other| one.0.cmp(&other.0));
    let mut wanting = wanting.into_iter();
    let Some((winner, last, _)) = wanting.next() else {
        return (LastRule { service: NOT_FOUND.to_owned(), origin: None }, None);
    };
    let losers = wanting.filter(|(_, _, is_told)| *is_told);
    notices.extend(
        losers.map(|(owner, _, _)| (owner.key, Notice::DefaultConflict { winner: winner.key.clone() })),
    );
    (last, Some(winner.key))
}

/// The rules with their guards and the last one. A host's rules stand together, so its guard follows them.
fn list(winners: Vec<Candidate>, last: &LastRule, last_owner: Option<Key>) -> Vec<Rule> {
    let mut guards: BTreeSet<String> = unguarded(&winners).into_iter().collect();
    let mut rules: Vec<Rule> = Vec::with_capacity(winners.len() + guards.len() + 1);
    let end = |host: Option<String>, source| {
        let (service, origin) = (last.service.clone(), last.origin.clone());
        Rule { host, path: None, service, origin, source, kept: None }
    };
    let mut winners = winners.into_iter().peekable();
    while let Some(Candidate { host, expression, service, origin, owner, kept, .. }) = winners.next() {
        let source = if kept.is_some() { Source::Kept(owner.key) } else { Source::Ingress(owner.key) };
        rules.push(Rule { host: host.clone(), path: expression, service, origin, source, kept });
        let is_end_of_host = winners.peek().is_none_or(|next| next.host != host);
        if let Some(host) = host.filter(|host| is_end_of_host && guards.remove(host)) {
            rules.push(end(Some(host), Source::Guard));
        }
    }
    rules.push(end(None, Source::Last(last_owner)));
    rules
}

impl Rule {
    /// As the configuration has it. What is kept stays as it stands, with whatever members it has.
    #[must_use]
    pub fn to_json(&self) -> Value {
        if let Some(kept) = &self.kept {
            return kept.clone();
        }
        let mut rule = Map::new();
        let texts = [("hostname", &self.host), ("path", &self.path)];
        rule.extend(
            texts.iter().filter_map(|(name, text)| Some(((*name).to_owned(), json!(text.as_ref()?)))),
        );
        rule.insert("service".to_owned(), json!(self.service));
        rule.extend(self.origin.iter().map(|origin| ("originRequest".to_owned(), origin.clone())));
        Value::Object(rule)
    }
}

/// What to write so that the tunnel has these rules. Every other member of the configuration stays.
#[must_use]
pub fn change(live: &Lookup<Value>, wanted: &[Rule]) -> Change {
    let rules: Vec<Value> = wanted.iter().map(Rule::to_json).collect();
    let (mut config, standing) = match live {
        Lookup::Unknown(why) => return Change::Unknown(why.clone()),
        Lookup::Unread => return Change::Unknown("it is not read yet".to_owned()),
        // A tunnel that nobody uses needs no configuration.
        Lookup::Missing if wanted.len() <= 1 && wanted.iter().all(|rule| rule.service == NOT_FOUND) => {
            return Change::Nothing;
        }
        Lookup::Missing => (Map::new(), Vec::new()),
        Lookup::Found(config) => {
            (config.as_object().cloned().unwrap_or_default(), live_rules(config).to_vec())
        }
    };
    let (have, want) = (all_compared(&standing), all_compared(&rules));
    if have == want {
        return Change::Nothing;
    }
    let removed = standing.iter().zip(&have).filter(|(_, rule)| !want.contains(rule));
    let removed = removed.map(|(rule, _)| rule.clone()).collect();
    config.insert("ingress".to_owned(), Value::Array(rules));
    Change::Put { config: Value::Object(config), removed }
}

/// The rules of a configuration.
#[must_use]
pub fn live_rules(config: &Value) -> &[Value] {
    config.get("ingress").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn all_compared(rules: &[Value]) -> Vec<BTreeMap<&str, &Value>> {
    rules.iter().map(compared).collect()
}

/// A rule without the members that say nothing.
fn compared(rule: &Value) -> BTreeMap<&str, &Value> {
    let says_something = |value: &&Value| match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => true,
    };
    let members = rule.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value));
    members.filter(|(_, value)| says_something(value)).collect()
}

/// Rules among those removed that no Ingress's deletion or edit asks for by name: no Ingress at hand speaks of their
/// host. These are what a wrong reading of the cluster would remove.
#[must_use]
pub fn derived<'r>(removed: &'r [Value], all: &[Exposed]) -> Vec<&'r Value> {
    let is_spoken_of = |rule: &LiveRule<'_>| {
        let host = rule.host;
        all.iter()
            .any(|one| host.is_none_or(|host| one.hosts.as_ref().is_some_and(|hosts| hosts.contains(host))))
    };
    removed.iter().filter(|rule| !is_spoken_of(&LiveRule::read(rule))).collect()
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (host, path) = (self.host.as_deref().unwrap_or("*"), self.path.as_deref().unwrap_or(""));
        write!(f, "{host} {path} -> {}", self.service)?;
        if let Some(origin) = &self.origin {
            write!(f, " {origin}")?;
        }
        match &self.source {
            Source::Ingress(key) | Source::Last(Some(key)) => write!(f, " ({key})"),
            Source::Kept(key) => write!(f, " (kept for {key})"),
            Source::Guard => write!(f, " (guard)"),
            Source::Last(None) => write!(f, " (last)"),
        }
    }
}
