//! Hostile answers: bodies that are no envelope, envelopes that say too much, and successes whose fields are something else.

use bytes::Bytes;
use cli::commands::log::Format;
use http::{Request, Response};
use operator::transport::Transport;
use serde_json::{Value, json};
use tower::ServiceExt;
use tower::util::BoxCloneSyncService;

use super::{STEERING, record, watched, zone};

/// Bytes of what is too long.
const MEGABYTE: usize = 1_024 * 1_024;

/// Everything with this in its path is answered so, other calls as ever.
fn answering(part: &'static str, status: u16, body: Vec<u8>) -> impl FnOnce(Transport) -> Transport {
    let body = Bytes::from(body);
    move |transport| {
        BoxCloneSyncService::new(tower::service_fn(move |request: Request<Bytes>| {
            let (transport, body) = (transport.clone(), body.clone());
            async move {
                if !request.uri().path().contains(part) {
                    return transport.oneshot(request).await;
                }
                let answer = Response::builder().status(status).header("retry-after", "999999999999");
                let answer =
                    answer.header("cf-ray", "8f2a\u{9b}31m-FRA").header("ratelimit", ";;r=x,;r=1;t=1e9");
                Ok(answer.body(body).unwrap())
            }
        }))
    }
}

/// Answers in which every member of this name is something else.
fn replacing(member: &'static str, value: Value) -> impl FnOnce(Transport) -> Transport {
    move |transport| {
        BoxCloneSyncService::new(tower::service_fn(move |request: Request<Bytes>| {
            let (transport, value) = (transport.clone(), value.clone());
            async move {
                let (head, body) = transport.oneshot(request).await?.into_parts();
                let Ok(mut answer) = serde_json::from_slice::<Value>(&body) else {
                    return Ok(Response::from_parts(head, body));
                };
                replace(&mut answer["result"], member, &value);
                Ok(Response::from_parts(head, Bytes::from(answer.to_string())))
            }
        }))
    }
}

fn replace(within: &mut Value, member: &str, by: &Value) {
    match within {
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, member, by)),
        Value::Object(members) => members.iter_mut().for_each(|(name, value)| {
            if name == member {
                *value = by.clone();
            } else {
                replace(value, member, by);
            }
        }),
        _ => {}
    }
}

fn nested(depth: usize) -> String {
    format!("{}{}", "[".repeat(depth), "]".repeat(depth))
}

/// A refusal with this message.
fn refusal(message: &str) -> Vec<u8> {
    json!({"success": false, "errors": [{"code": 1004, "message": message}], "result": null})
        .to_string()
        .into_bytes()
}

fn bodies() -> Vec<(&'static str, Vec<u8>)> {
    let chain =
        (0..40).fold(json!([]), |chain, n| json!([{"code": n, "message": STEERING, "error_chain": chain}]));
    let deep = |before: &str, after: &str| format!("{before}{}{after}", nested(10_000)).into_bytes();
    let many: Vec<Value> =
        (0..20_000).map(|n| json!({"code": n, "message": format!("no. {n} {STEERING}")})).collect();
    vec![
        ("escapes in a message", refusal(STEERING)),
        ("a megabyte of a message", refusal(&"x".repeat(MEGABYTE))),
        ("a megabyte of escapes", refusal(&STEERING.repeat(MEGABYTE / STEERING.len()))),
        ("twenty thousand errors", json!({"success": false, "errors": many}).to_string().into_bytes()),
        ("a chain without end", json!({"success": false, "errors": chain}).to_string().into_bytes()),
        (
            "a message of bytes",
            b"{\"success\":false,\"errors\":[{\"code\":1,\"message\":\"\xff\xfe\xc3\x28\"}]}".to_vec(),
        ),
        ("bytes", (0..=255).cycle().take(4_096).collect()),
        ("ten thousand levels", deep("{\"success\":true,\"result\":", "}")),
        ("errors in ten thousand levels", deep("{\"success\":false,\"errors\":", "}")),
        ("levels alone", "[".repeat(10_000).into_bytes()),
        (
            "a page with escapes",
            format!("<html><title>{STEERING}</title>{}", "<b>".repeat(MEGABYTE / 3)).into_bytes(),
        ),
        ("escapes alone", STEERING.as_bytes().to_vec()),
        ("nothing", Vec::new()),
    ]
}

#[test]
fn whatever_cloudflare_refuses_with_is_told_in_a_harmless_line() {
    for (at, (case, body)) in bodies().into_iter().enumerate() {
        let status = [400, 500, 403, 429, 404, 200][at % 6];
        let format = if at % 2 == 0 { Format::Json } else { Format::Text };
        let way = answering("/dns_records", status, body);
        let (_, shown) = watched(format, &[zone(), record("www", "192.0.2.1")], way);
        shown.is_fit(&format!("{case}, {status}"));
        let (reason, message) = shown.ready("DNSRecord", "www");
        assert_ne!(reason, "Synced", "{case}: {message}");
    }
}

#[test]
fn a_cloudflare_that_refuses_everything_so_leaves_every_object_with_a_reason() {
    for (status, body) in [(403, refusal(STEERING)), (502, STEERING.repeat(10_000).into_bytes())] {
        let way = answering("/", status, body);
        let (_, shown) = watched(Format::Text, &[zone(), record("www", "192.0.2.1")], way);
        shown.is_fit(&format!("everything, {status}"));
        assert_ne!(shown.ready("CloudflareAccount", "main").0, "Validated");
    }
}

/// Members of answers that are compared, kept in a status or put into a sentence.
const MEMBERS: &[&str] = &[
    "id",
    "name",
    "type",
    "status",
    "name_servers",
    "content",
    "comment",
    "tags",
    "ttl",
    "proxiable",
    "settings",
    "plan",
    "paused",
    "verification_key",
    "original_name_servers",
    "modified_on",
    "account",
    "meta",
];

#[test]
fn a_success_whose_fields_are_something_else_is_shown_in_a_harmless_way() {
    let long = "x".repeat(MEGABYTE / 4);
    let values =
        [json!(STEERING), json!(long), json!([STEERING, {"a": STEERING}]), json!(-1e300), Value::Null];
    for (at, member) in MEMBERS.iter().enumerate() {
        // Each member meets two of the values.
        for value in [&values[at % values.len()], &values[(at + 2) % values.len()]] {
            let objects = [zone(), record("www", "192.0.2.1")];
            let (_, shown) = watched(Format::Json, &objects, replacing(member, value.clone()));
            let value: String = value.to_string().chars().take(40).collect();
            shown.is_fit(&format!("{member} is {value}"));
        }
    }
}
