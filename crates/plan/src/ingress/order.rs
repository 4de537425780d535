//! The order of a tunnel's rules, of which a connector takes the first that fits: total, and the same whatever order
//! the Ingresses come in. It goes by the path of the Ingress, not by the expression that is sent (contract I2).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::Value;

use super::exposure::Owner;
use super::host::{covers, is_wildcard};
use super::path::{Path, PathKind, matches_all};

/// Where a rule stands: by kind of host, wildcards with more dots first, host, longer paths first, path, kind of path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    group: Group,
    dots: Reverse<usize>,
    host: String,
    length: Reverse<usize>,
    text: String,
    kind: PathKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Host,
    Wildcard,
    Any,
}

impl Place {
    pub(super) fn new(host: Option<&str>, path: &Path) -> Self {
        let name = host.unwrap_or_default();
        let (group, dots) = match host {
            None => (Group::Any, 0),
            Some(host) if is_wildcard(host) => (Group::Wildcard, host.matches('.').count()),
            Some(_) => (Group::Host, 0),
        };
        let Path { kind, text } = path.clone();
        Self { group, dots: Reverse(dots), host: name.to_owned(), length: Reverse(text.len()), text, kind }
    }
}

/// A rule that somebody wants.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Candidate {
    pub(super) place: Place,
    pub(super) host: Option<String>,
    pub(super) path: Path,
    pub(super) expression: Option<String>,
    pub(super) service: String,
    pub(super) origin: Option<Value>,
    pub(super) owner: Owner,
    /// The live rule as it stands, when this is one that is kept.
    pub(super) kept: Option<Value>,
}

/// A rule that nobody could ever reach, since another has the same host and path.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Beaten {
    pub(super) candidate: Candidate,
    pub(super) by: Owner,
}

/// The candidates in order. Of those with one host and one expression the oldest owner's stays, and of one owner's
/// the first in order; the others could not be reached.
pub(super) fn settle(candidates: Vec<Candidate>) -> (Vec<Candidate>, Vec<Beaten>) {
    let mut best: BTreeMap<(Option<String>, Option<String>), Candidate> = BTreeMap::new();
    let mut beaten = Vec::new();
    for candidate in candidates {
        let key = (candidate.host.clone(), candidate.expression.clone());
        match best.remove(&key) {
            None => {
                best.insert(key, candidate);
            }
            Some(other) => {
                let (winner, loser) =
                    if rank(&other) <= rank(&candidate) { (other, candidate) } else { (candidate, other) };
                beaten.push(Beaten { candidate: loser, by: winner.owner.clone() });
                best.insert(key, winner);
            }
        }
    }
    // Whoever lost to someone who lost too is told of the last winner.
    for Beaten { candidate, by } in &mut beaten {
        if let Some(winner) = best.get(&(candidate.host.clone(), candidate.expression.clone())) {
            *by = winner.owner.clone();
        }
    }
    let mut winners: Vec<_> = best.into_values().collect();
    winners.sort_by(|one, other| {
        (&one.place, &one.expression, &one.service).cmp(&(&other.place, &other.expression, &other.service))
    });
    beaten.sort_by(|one, other| rank(&one.candidate).cmp(&rank(&other.candidate)));
    (winners, beaten)
}

fn rank(candidate: &Candidate) -> (&Owner, &Place, &str, String) {
    let origin = candidate.origin.as_ref().map(Value::to_string).unwrap_or_default();
    (&candidate.owner, &candidate.place, &candidate.service, origin)
}

/// Hosts whose paths do not match everything although a wider rule would take what they leave: the precise host is
/// chosen before paths are looked at (contract I28).
pub(super) fn unguarded(rules: &[Candidate]) -> Vec<String> {
    let is_open = |host: &str| {
        !rules
            .iter()
            .any(|rule| rule.host.as_deref() == Some(host) && matches_all(rule.expression.as_deref()))
    };
    let wildcards: Vec<&str> = {
        let mut hosts: Vec<_> = rules.iter().filter_map(|rule| rule.host.as_deref()).collect();
        hosts.retain(|host| is_wildcard(host));
        hosts.dedup();
        hosts
    };
    let any = rules.iter().any(|rule| rule.host.is_none());
    let mut hosts: Vec<&str> = rules.iter().filter_map(|rule| rule.host.as_deref()).collect();
    hosts.dedup();
    hosts.retain(|host| any || wildcards.iter().any(|wildcard| covers(wildcard, host)));
    hosts.into_iter().filter(|host| is_open(host)).map(str::to_owned).collect()
}
