//! Reads the `cf` command: changes in Cloudflare behind kflare's back.

use super::super::error::Problem;
use super::super::script::{CloudflareEdit, RecordName};
use super::value::fields_of;
use super::words::Words;

const VERBS: [&str; 4] = ["create", "set", "delete", "token"];

pub(super) fn edit(words: &mut Words) -> Result<CloudflareEdit, Problem> {
    let verb = words.need("what happens")?;
    if verb == "token" {
        return token(words);
    }
    if !VERBS.contains(&&*verb) {
        return Err(Problem::unknown("change", &verb, VERBS));
    }
    let what = words.need("`record` or `zone`")?;
    let name = words.need("the name")?;
    match (verb.as_str(), what.as_str()) {
        ("create", "record") => {
            let kind = words.need("the type")?;
            let record = RecordName { name, kind: Some(kind) };
            Ok(CloudflareEdit::CreateRecord(record, fields_of(words.rest())?))
        }
        ("set", "record") => {
            let (record, fields) = record(name, words.rest());
            Ok(CloudflareEdit::SetRecord(record, fields_of(fields)?))
        }
        ("delete", "record") => {
            let (record, surplus) = record(name, words.rest());
            match surplus.into_iter().next() {
                None => Ok(CloudflareEdit::DeleteRecord(record)),
                Some(word) => Err(words.surplus(word)),
            }
        }
        ("create", "zone") => Ok(CloudflareEdit::CreateZone(name, fields_of(words.rest())?)),
        ("set", "zone") => Ok(CloudflareEdit::SetZone(name, fields_of(words.rest())?)),
        ("delete", "zone") => Ok(CloudflareEdit::DeleteZone(name)),
        _ => Err(Problem::unknown("object", &what, ["record", "zone"])),
    }
}

/// A name, the type if it follows, and the words after it.
pub(super) fn record(name: String, mut rest: Vec<String>) -> (RecordName, Vec<String>) {
    let is_type = |word: &String| word.bytes().all(|letter| letter.is_ascii_uppercase());
    let kind = if rest.first().is_some_and(is_type) { Some(rest.remove(0)) } else { None };
    (RecordName { name, kind }, rest)
}

fn token(words: &mut Words) -> Result<CloudflareEdit, Problem> {
    const STATES: [&str; 3] = ["active", "disabled", "expired"];
    let word = words.need("what happens to the token")?;
    match word.as_str() {
        "issue" => {
            let secret = words.need("the secret")?;
            Ok(CloudflareEdit::IssueToken(secret, fields_of(words.rest())?))
        }
        "permissions" => {
            let list = words.need("the permissions, separated by commas")?;
            let permissions = list.split(',').map(|permission| permission.trim().to_owned()).collect();
            Ok(CloudflareEdit::TokenPermissions(permissions))
        }
        state if STATES.contains(&state) => Ok(CloudflareEdit::TokenStatus(words.next(), word)),
        _ => Err(Problem::unknown(
            "state of a token",
            &word,
            ["issue", "permissions"].into_iter().chain(STATES),
        )),
    }
}
