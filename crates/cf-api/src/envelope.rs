//! Cloudflare's envelope, read with all the variations that were seen in the field (cloudflare-api.md 1.2,
//! 14).
//!
//! It decides only whether an answer is a success; `messages` are never read, because no decision needs them
//! and they come as null, strings or objects.

use crate::error::{ApiError, ApiMessage, Defect};
use crate::items::Items;
use crate::limits::{
    CHAIN_DEPTH_MAX, ERRORS_MAX, EXCERPT_MAX, EXCERPT_SCAN_MAX, MESSAGE_MAX, RATELIMIT_RESET_MAX, RAY_MAX,
    RETRY_AFTER_MAX,
};
use crate::text;
use http::HeaderMap;
use jiff::Timestamp;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::time::Duration;

/// A success.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// `result`; null for answers without a body (204) and for most deletes.
    pub result: Value,
    /// `result_info` of lists.
    pub page: Option<PageInfo>,
    /// The `Ratelimit` header, for the budget.
    pub ratelimit: Option<RateLimit>,
}

/// A success that is a list, or a page of one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListAnswer {
    /// The items of `result`.
    pub items: Items,
    /// The `id` of each item that has one.
    pub ids: Vec<Option<String>>,
    /// `result_info`.
    pub page: Option<PageInfo>,
}

/// `result_info`, every part of which may be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageInfo {
    /// The page's number, from 1.
    pub page: Option<u64>,
    /// Items per page as the server applied it.
    pub per_page: Option<u64>,
    /// Items of this page.
    pub count: Option<u64>,
    /// Items of the list.
    pub total_count: Option<u64>,
    /// Pages of the list; 0 was seen with items (B157).
    pub total_pages: Option<u64>,
    /// `cursor` or `cursors.after`; never empty.
    pub cursor: Option<String>,
}

/// What a `Ratelimit` header says: of all its policies the one with the least left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// Calls left (`r`).
    pub remaining: u64,
    /// Time until that changes (`t`), at most [`RATELIMIT_RESET_MAX`].
    pub reset: Duration,
}

/// Reads an answer. `now` is needed for a `Retry-After` that is a date. What refusals say of the rate limit
/// is read with [`RateLimit::from_headers`].
///
/// # Errors
/// [`ApiError`] for every refusal, and for every body that isn't an envelope although one was due (B153).
pub fn parse(status: u16, headers: &HeaderMap, body: &[u8], now: Timestamp) -> Result<Answer, ApiError> {
    let result = |result: Option<&RawValue>| match result {
        Some(result) => value(result),
        None => Ok(Value::Null),
    };
    let (result, page) = read(status, headers, body, now, result)?;
    Ok(Answer { result, page, ratelimit: RateLimit::from_headers(headers) })
}

/// Reads an answer that promises a list.
///
/// # Errors
/// As [`parse`], and a transient one for anything but a list: null is no empty list (B153).
pub fn parse_list(
    status: u16,
    headers: &HeaderMap,
    body: &[u8],
    now: Timestamp,
) -> Result<ListAnswer, ApiError> {
    let ((items, ids), page) = read(status, headers, body, now, items)?;
    Ok(ListAnswer { items, ids, page })
}

/// The envelope around a result, which is read once it is known to be one.
fn read<T>(
    status: u16,
    headers: &HeaderMap,
    body: &[u8],
    now: Timestamp,
    result: impl FnOnce(Option<&RawValue>) -> Result<T, Unfit>,
) -> Result<(T, Option<PageInfo>), ApiError> {
    let success = (200..300).contains(&status);
    let error = |errors, defect| ApiError {
        status,
        errors,
        retry_after: retry_after(headers, now),
        ray: ray(headers),
        defect,
    };
    let broken = |unfit| {
        let defect = match unfit {
            Unfit::Broken => Defect::BrokenJson { bytes: body.len() },
            Unfit::Wrong(got) => Defect::WrongResult { wanted: "an array", got },
        };
        error(Vec::new(), Some(defect))
    };
    let envelope = match object(body) {
        _ if status == 204 => Envelope::new(),
        Ok(envelope) => envelope,
        Err(defect) => return Err(error(Vec::new(), Some(defect))),
    };
    let part = |name: &str| envelope.get(name).map(|part| value(part)).transpose().map_err(broken);
    let says = part("success")?.as_ref().and_then(Value::as_bool);
    let errors = messages(part("errors")?.as_ref(), CHAIN_DEPTH_MAX);
    if says == Some(false) || !success && !errors.is_empty() {
        return Err(error(errors, None));
    }
    // Without `success`, a result and no error make a success too; anything else isn't Cloudflare speaking.
    let is_told = says.is_some() || status == 204;
    if !success || !is_told && (!envelope.contains_key("result") || !errors.is_empty()) {
        return Err(error(errors, Some(Defect::NotAnEnvelope)));
    }
    let page = part("result_info")?.as_ref().and_then(PageInfo::read);
    Ok((result(envelope.get("result").copied()).map_err(broken)?, page))
}

/// The members of the envelope, not yet parsed: of a list each item is parsed by itself, so that thousands of them are
/// never there at once.
type Envelope<'b> = BTreeMap<String, &'b RawValue>;

/// Why a part of the envelope can't be used.
enum Unfit {
    Broken,
    /// It is this and not a list.
    Wrong(&'static str),
}

fn value(part: &RawValue) -> Result<Value, Unfit> {
    serde_json::from_str(part.get()).map_err(|_| Unfit::Broken)
}

/// The items of a list, and the `id` of each that has one.
fn items(result: Option<&RawValue>) -> Result<(Items, Vec<Option<String>>), Unfit> {
    let text = result.map_or("null", RawValue::get);
    let Ok(list) = serde_json::from_str::<Vec<&RawValue>>(text) else {
        return Err(match text.as_bytes().first() {
            Some(b'[') => Unfit::Broken,
            Some(b'{') => Unfit::Wrong("an object"),
            Some(b'"') => Unfit::Wrong("a string"),
            Some(b't' | b'f') => Unfit::Wrong("a boolean"),
            Some(b'n') => Unfit::Wrong("null"),
            _ => Unfit::Wrong("a number"),
        });
    };
    let (mut items, mut ids) = (Items::default(), Vec::with_capacity(list.len()));
    for item in list {
        ids.push(value(item)?.get("id").and_then(Value::as_str).map(str::to_owned));
        items.push(item.get());
    }
    Ok((items, ids))
}

impl Answer {
    /// A success with nothing but a result, for predictions and tests.
    pub fn of(result: Value) -> Self {
        Answer { result, page: None, ratelimit: None }
    }
}

impl PageInfo {
    fn read(info: &Value) -> Option<PageInfo> {
        let info = info.as_object()?;
        let number = |name: &str| match info.get(name) {
            Some(Value::Number(number)) => number.as_u64(),
            Some(Value::String(text)) => text.parse().ok(),
            _ => None,
        };
        let after = info.get("cursors").and_then(|cursors| cursors.get("after"));
        let cursor = info.get("cursor").and_then(Value::as_str).or_else(|| after.and_then(Value::as_str));
        Some(PageInfo {
            page: number("page"),
            per_page: number("per_page"),
            count: number("count"),
            total_count: number("total_count"),
            total_pages: number("total_pages"),
            cursor: cursor.filter(|cursor| !cursor.is_empty()).map(str::to_owned),
        })
    }
}

impl RateLimit {
    /// Reads `Ratelimit` headers, which come with every answer, refusals included: `"default";r=50;t=30`.
    /// Members that can't be read are skipped.
    pub fn from_headers(headers: &HeaderMap) -> Option<RateLimit> {
        let values = headers.get_all("ratelimit").iter().filter_map(|value| value.to_str().ok());
        let members = values.flat_map(|value| value.split(','));
        members
            .filter_map(RateLimit::member)
            .min_by_key(|limit| (limit.remaining, std::cmp::Reverse(limit.reset)))
    }

    fn member(member: &str) -> Option<RateLimit> {
        let mut remaining = None;
        let mut reset = None;
        for parameter in member.split(';').skip(1) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            match name.trim() {
                "r" => remaining = value.trim().parse().ok(),
                "t" => reset = value.trim().parse().ok(),
                _ => {}
            }
        }
        let reset = Duration::from_secs(reset?).min(RATELIMIT_RESET_MAX);
        Some(RateLimit { remaining: remaining?, reset })
    }
}

/// The body as a JSON object, or what it is instead.
fn object(body: &[u8]) -> Result<Envelope<'_>, Defect> {
    let start = body.trim_ascii_start();
    if start.is_empty() {
        return Err(Defect::Empty);
    }
    serde_json::from_slice(body).map_err(|_| match serde_json::from_slice::<Value>(body) {
        Ok(_) => Defect::NotAnEnvelope,
        Err(_) if matches!(start.first(), Some(b'{' | b'[' | b'"')) => {
            Defect::BrokenJson { bytes: body.len() }
        }
        Err(_) => Defect::NotJson { excerpt: excerpt(body) },
    })
}

/// The first characters of a body that isn't JSON, without markup.
fn excerpt(body: &[u8]) -> String {
    let head = String::from_utf8_lossy(body.get(..EXCERPT_SCAN_MAX).unwrap_or(body));
    let head = if head.contains('<') { text::of_html(&head) } else { head.into_owned() };
    text::one_line(&head, EXCERPT_MAX)
}

/// `errors` or an `error_chain`: objects, but texts, a single entry and null are read as well.
fn messages(list: Option<&Value>, depth: usize) -> Vec<ApiMessage> {
    if depth == 0 {
        return Vec::new();
    }
    match list {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(entries)) => {
            entries.iter().filter_map(|entry| message(entry, depth)).take(ERRORS_MAX).collect()
        }
        Some(entry) => message(entry, depth).into_iter().collect(),
    }
}

fn message(entry: &Value, depth: usize) -> Option<ApiMessage> {
    if let Some(plain) = entry.as_str() {
        return Some(ApiMessage { message: text::one_line(plain, MESSAGE_MAX), ..ApiMessage::default() });
    }
    let entry = entry.as_object()?;
    let code = match entry.get("code") {
        Some(Value::Number(code)) => code.as_i64(),
        Some(Value::String(code)) => code.parse().ok(),
        _ => None,
    };
    let string =
        |value: Option<&Value>| value.and_then(Value::as_str).map(|s| text::one_line(s, MESSAGE_MAX));
    Some(ApiMessage {
        code: code.filter(|code| *code != 0),
        message: string(entry.get("message")).unwrap_or_default(),
        pointer: string(entry.get("source").and_then(|source| source.get("pointer")))
            .filter(|p| !p.is_empty()),
        chain: messages(entry.get("error_chain"), depth - 1),
    })
}

/// `Retry-After` in seconds, as Cloudflare sends it, or as a date, as proxies may.
fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let value = headers.get(http::header::RETRY_AFTER)?.to_str().ok()?.trim();
    let wait = match value.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            let at = jiff::fmt::rfc2822::parse(value).ok()?.timestamp();
            Duration::try_from(at.duration_since(now)).unwrap_or(Duration::ZERO)
        }
    };
    Some(wait.min(RETRY_AFTER_MAX))
}

fn ray(headers: &HeaderMap) -> Option<String> {
    let ray = headers.get("cf-ray")?.to_str().ok()?;
    let fits = !ray.is_empty()
        && ray.len() <= RAY_MAX
        && ray.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    fits.then(|| ray.to_owned())
}

#[cfg(test)]
mod tests;
