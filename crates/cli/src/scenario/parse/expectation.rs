//! Reads the `expect` command.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::error::Problem;
use super::super::script::{Expectation, ObjectName};
use super::cloudflare::record;
use super::value::{fields_of, loose, number, object_of};
use super::words::Words;
use crate::world::Side;

pub(super) fn read(words: &mut Words) -> Result<Expectation, Problem> {
    let namespace = words.take_namespace()?;
    let first = words.need("what is expected")?;
    match first.as_str() {
        "cf" => cloudflare(words),
        "calls" => calls(words),
        "writes" => Ok(Expectation::Writes(Side::Cloudflare, number(&words.need("the number")?)?)),
        "kubernetes" => {
            let word = words.need("`writes N`")?;
            if word != "writes" {
                return Err(Problem::unknown("count", &word, ["writes"]));
            }
            Ok(Expectation::Writes(Side::Kubernetes, number(&words.need("the number")?)?))
        }
        "events" => {
            let object = object_of(&words.need("KIND/NAME")?, namespace)?;
            let word = words.need("REASON=N")?;
            let Some((reason, count)) = word.split_once('=') else {
                return Err(Problem::Malformed { word, what: "REASON=N, as in `Synced=1`" });
            };
            Ok(Expectation::Events(object, reason.to_owned(), at_most_usize(number(count)?)))
        }
        "finalizers" => match words.need("`none`")?.as_str() {
            "none" => Ok(Expectation::NoFinalizers),
            other => Err(Problem::unknown("number of finalizers", other, ["none"])),
        },
        object => about_object(object_of(object, namespace)?, words),
    }
}

fn about_object(object: ObjectName, words: &mut Words) -> Result<Expectation, Problem> {
    let word = words.need("what is expected of it")?;
    if word == "gone" || word == "exists" {
        return Ok(Expectation::Gone(object, word == "gone"));
    }
    if word.starts_with('/') {
        return match word.split_once('=') {
            Some((pointer, value)) => Ok(Expectation::Field(object, pointer.to_owned(), Some(loose(value)))),
            None => match words.need("`absent` after the pointer")?.as_str() {
                "absent" => Ok(Expectation::Field(object, word, None)),
                other => Err(Problem::unknown("state of a field", other, ["absent"])),
            },
        };
    }
    let Some(status) = word.strip_prefix("Ready=") else {
        return Err(Problem::unknown("expectation", &word, ["Ready=True", "Ready=False", "gone", "exists"]));
    };
    let (mut reason, mut message) = (None, None);
    for word in words.rest() {
        match word.strip_prefix("message~") {
            Some(part) => message = Some(part.to_owned()),
            None if reason.is_none() => reason = Some(word),
            None => return Err(words.surplus(word)),
        }
    }
    Ok(Expectation::Ready { object, status: status.to_owned(), reason, message })
}

fn cloudflare(words: &mut Words) -> Result<Expectation, Problem> {
    let what = words.need("`record` or `zone`")?;
    let name = words.need("the name")?;
    match what.as_str() {
        "record" => {
            let (record, rest) = record(name, words.rest());
            let (count, fields) = counted(rest)?;
            Ok(Expectation::Record { record, count, fields })
        }
        "zone" => {
            let (count, fields) = counted(words.rest())?;
            Ok(Expectation::Zone { name, count, fields })
        }
        _ => Err(Problem::unknown("object", &what, ["record", "zone"])),
    }
}

/// `absent`, `count=N` and fields.
fn counted(words: Vec<String>) -> Result<(Option<usize>, BTreeMap<String, Value>), Problem> {
    let mut count = None;
    let mut rest = Vec::new();
    for word in words {
        match word.strip_prefix("count=") {
            _ if word == "absent" => count = Some(0),
            Some(text) => count = Some(at_most_usize(number(text)?)),
            None => rest.push(word),
        }
    }
    Ok((count, fields_of(rest)?))
}

fn calls(words: &mut Words) -> Result<Expectation, Problem> {
    let method = words.need("the method")?;
    let word = words.need("ROUTE=N")?;
    let Some((route, count)) = word.rsplit_once('=') else {
        return Err(Problem::Malformed { word, what: "ROUTE=N, as in `/zones=1`" });
    };
    Ok(Expectation::Calls { method, route: super::value::target(route)?, count: number(count)? })
}

fn at_most_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
