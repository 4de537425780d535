//! Answers of whatever stands where Cloudflare should: a status, headers, and bytes that may be an envelope.
//! Never a success out of garbage, and nothing that is shown is long or steers a terminal.

use std::collections::BTreeMap;

use cf_api::envelope::{self, Answer, ListAnswer, RateLimit};
use cf_api::error::{ApiError, ApiMessage};
use cf_api::limits::{
    CHAIN_DEPTH_MAX, ERRORS_MAX, MESSAGE_MAX, PAGES_MAX, RATELIMIT_RESET_MAX, RETRY_AFTER_MAX, TEXT_MAX,
};
use cf_api::page::Pages;
use cf_api::request::{Method, Request};
use jiff::Timestamp;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::exchange::{cut, headed};
use crate::wording::is_fit;

/// When the answers come.
const NOW: Timestamp = Timestamp::constant(1_767_225_600, 0);

/// A status in the first line, then headers, an empty line and the body.
pub(crate) fn run(input: &[u8]) {
    let (status, rest) = cut(input, b"\n");
    let status = std::str::from_utf8(status).ok().and_then(|text| text.parse().ok()).unwrap_or(200);
    let (headers, body) = headed(rest);
    let answer = envelope::parse(status, &headers, body, NOW);
    let list = envelope::parse_list(status, &headers, body, NOW);
    if let Some(limit) = RateLimit::from_headers(&headers) {
        assert!(limit.reset <= RATELIMIT_RESET_MAX);
    }
    match &answer {
        Ok(answer) => is_success(status, body, answer),
        Err(error) => is_shown(error),
    }
    match list {
        Ok(list) => is_list(&list, answer.as_ref().ok()),
        Err(error) => is_shown(&error),
    }
}

/// Reads the body once more, by the words of Cloudflare's documentation.
fn is_success(status: u16, body: &[u8], answer: &Answer) {
    assert!((200..300).contains(&status), "{status} is no success");
    if status == 204 {
        return;
    }
    let parts: BTreeMap<String, Box<RawValue>> =
        serde_json::from_slice(body).expect("a success is an object");
    let part =
        |name: &str| parts.get(name).map(|raw| serde_json::from_str::<Value>(raw.get()).expect("JSON"));
    match part("success") {
        Some(Value::Bool(success)) => assert!(success, "it says that it is none"),
        _ => assert!(parts.contains_key("result"), "neither a word of success nor a result"),
    }
    assert_eq!(answer.result, part("result").unwrap_or_default());
}

fn is_list(list: &ListAnswer, answer: Option<&Answer>) {
    let items: Vec<Value> = list.items.iter().collect();
    assert_eq!(list.items.len(), list.ids.len());
    assert_eq!(items.len(), list.items.len(), "an item is no JSON");
    // What is a list item by item is the same list as a whole, but for one that is nested too deep to be read so.
    if let Some(answer) = answer {
        assert_eq!(answer.result, Value::Array(items));
    }
    let mut pages = Pages::new(Request::new(Method::Get, "/zones", &[]).expect("a route"), 50);
    for _ in 0..=PAGES_MAX {
        match pages.next(list.clone()) {
            Ok(Some(_)) => {}
            Ok(None) | Err(_) => return,
        }
    }
    panic!("a list without an end");
}

fn is_shown(error: &ApiError) {
    is_fit(&error.to_string(), TEXT_MAX);
    assert!(error.retry_after.is_none_or(|wait| wait <= RETRY_AFTER_MAX));
    are_shown(&error.errors, CHAIN_DEPTH_MAX);
}

fn are_shown(messages: &[ApiMessage], depth: usize) {
    assert!(messages.len() <= ERRORS_MAX && (depth > 0 || messages.is_empty()));
    for message in messages {
        is_fit(&message.message, MESSAGE_MAX);
        is_fit(message.pointer.as_deref().unwrap_or_default(), MESSAGE_MAX);
        are_shown(&message.chain, depth - 1);
    }
}
