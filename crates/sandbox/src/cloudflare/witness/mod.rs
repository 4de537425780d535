//! Holds what goes over the wire against the facts of Cloudflare's API (crates/sandbox/schemas): every answer that is given,
//! and every request that comes from kflare. What others send may be wrong on purpose. Nothing here changes an answer, and
//! nothing is done before [`super::Cloudflare::hold_to_schemas`] asks for it.

mod check;
mod exceptions;
mod facts;
mod format;
mod misfit;
mod schema;

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use http::header;
use serde_json::{Map, Value};

use self::check::Check;
use self::exceptions::EXCEPTIONS;
use self::facts::{FACTS, Operation};
use self::schema::Id;
use super::query::Query;
use super::route;
use super::service::{Answer, Arrived};

pub use self::misfit::{Flaw, Misfit, Side};

/// How kflare names itself.
const OURS: &str = "kflare/";
/// Misfits that are kept: one fault makes thousands of them, and a few tell it.
const MISFITS_MAX: usize = 100;

/// What did not fit so far.
#[derive(Debug, Default)]
pub(super) struct Witness {
    seen: Mutex<Seen>,
}

/// How much was held against the facts so far. Nothing: whoever thinks that it was is wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Requests of kflare's.
    pub requests: u64,
    /// Answers, whoever asked.
    pub answers: u64,
}

#[derive(Debug, Default)]
struct Seen {
    checked: Checked,
    misfits: Vec<Misfit>,
    /// The exceptions that something fell under, by their place in the list.
    excused: BTreeSet<usize>,
}

impl Witness {
    /// Looks at one request and what the API answered, if it did; `path` comes without the base path.
    pub(super) fn note(&self, arrived: &Arrived, path: &str, answer: Option<&Answer>) {
        let operation = operation_of(arrived.method.as_str(), path);
        let ours = is_ours(arrived).then(|| request(&operation, arrived, path));
        let theirs = answer.map(|answer| response(&operation, answer));
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.checked.requests += u64::from(ours.is_some());
        seen.checked.answers += u64::from(theirs.is_some());
        let found = ours.into_iter().chain(theirs).flatten();
        for misfit in found {
            match EXCEPTIONS.iter().position(|exception| exception.excuses(&misfit)) {
                Some(place) => {
                    seen.excused.insert(place);
                }
                None if seen.misfits.len() < MISFITS_MAX => seen.misfits.push(misfit),
                None => {}
            }
        }
    }

    pub(super) fn checked(&self) -> Checked {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).checked
    }

    pub(super) fn take(&self) -> Vec<Misfit> {
        std::mem::take(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner).misfits)
    }

    /// Exceptions that nothing fell under.
    #[cfg(test)]
    pub(super) fn unused(&self) -> Vec<String> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let unused = EXCEPTIONS.iter().enumerate().filter(|(place, _)| !seen.excused.contains(place));
        unused.map(|(_, exception)| format!("{exception:?}")).collect()
    }
}

/// The operations that there are facts of, and whether kflare may send such requests.
#[cfg(test)]
pub(super) fn known_operations() -> std::collections::BTreeMap<String, bool> {
    FACTS.operations()
}

/// Method and template, with `{}` for each identifier: the name of an operation in the facts.
fn operation_of(method: &str, path: &str) -> String {
    let template = route::template_of(path);
    let segments = template.split('/').map(|word| if word.starts_with('{') { "{}" } else { word });
    format!("{method} {}", segments.collect::<Vec<_>>().join("/"))
}

fn is_ours(arrived: &Arrived) -> bool {
    let agent = arrived.headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
    agent.is_some_and(|agent| agent.starts_with(OURS))
}

/// What is wrong with an answer. One that no operation gave (a path that there is not) must be a refusal.
fn response(operation: &str, answer: &Answer) -> Vec<Misfit> {
    let facts = FACTS.operation(operation);
    let schemas = if facts.is_empty() { FACTS.refusal() } else { answers(&facts, answer.status) };
    let value = if answer.content_type == "application/json" {
        serde_json::from_str(&answer.body).unwrap_or(Value::Null)
    } else {
        Value::from(answer.body.as_str())
    };
    let mut check = Check::new(operation, Side::Answer(answer.status));
    if schemas.is_empty() {
        check.no_facts();
    } else {
        check.value(&value, &schemas);
    }
    check.found
}

/// The schemas of a status. The document has classes (`4xx`); of what went wrong at the server it says nothing, so that this
/// must be what any refusal is.
fn answers(facts: &[&Operation], status: u16) -> Vec<Id> {
    let class = if status >= 400 { "4xx" } else { "2xx" };
    let exact = status.to_string();
    let of = |facts: &&Operation| facts.answers.get(&exact).or_else(|| facts.answers.get(class)).copied();
    facts.iter().filter_map(of).collect()
}

/// What is wrong with a request of ours: identifiers in its path, its query, its body.
fn request(operation: &str, arrived: &Arrived, path: &str) -> Vec<Misfit> {
    let facts = FACTS.operation(operation);
    let requests: Vec<_> = facts.iter().filter_map(|facts| facts.request.as_ref()).collect();
    let mut check = Check::new(operation, Side::Request);
    if requests.is_empty() {
        check.no_facts();
        return check.found;
    }
    let in_path: Vec<Id> = requests.iter().filter_map(|request| request.path).collect();
    for id in route::ids(path) {
        check.part("path", &Value::from(id), &in_path);
    }
    let schemas: Vec<Id> = requests.iter().filter_map(|request| request.query).collect();
    let query = Query::parse(arrived.uri.query().unwrap_or(""));
    let members: Map<String, Value> =
        query.pairs().map(|(name, text)| (name.to_owned(), FACTS.parsed(name, text, &schemas))).collect();
    check.part("query", &Value::Object(members), &schemas);
    let schemas: Vec<Id> = requests.iter().filter_map(|request| request.body).collect();
    if !arrived.body.is_empty() {
        let body = serde_json::from_slice(&arrived.body).unwrap_or(Value::Null);
        check.part("body", &body, &schemas);
    } else if requests.iter().any(|request| request.needs_body) {
        check.missing("body");
    }
    check.found
}
