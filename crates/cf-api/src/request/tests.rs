use super::{Method, PathError, Request, path};
use crate::limits::PATH_ARG_MAX;
use serde_json::{Value, json};

const RECORD: &str = "/zones/{zone_id}/dns_records/{record_id}";

#[test]
fn b150_a_request_with_an_unusable_identifier_cannot_be_built() {
    let empty = |name| PathError::Empty { route: RECORD, name };
    let malformed = |name| PathError::Malformed { route: RECORD, name };
    let long = "a".repeat(PATH_ARG_MAX + 1);
    let table = [
        ("zone without an id yet", ["", "r"], empty("zone_id")),
        ("record without an id", ["z", ""], empty("record_id")),
        ("only white space", ["z", " \n"], empty("record_id")),
        ("another path", ["z", "../zones"], malformed("record_id")),
        ("dot segment", ["..", "r"], malformed("zone_id")),
        ("a query", ["z", "r?x=1"], malformed("record_id")),
        ("a template", ["{zone_id}", "r"], malformed("zone_id")),
        ("a line break at the end", ["z\n", "r"], malformed("zone_id")),
        ("encoded slash", ["z", "a%2fb"], malformed("record_id")),
        ("beyond ASCII", ["z", "é"], malformed("record_id")),
        ("too long", ["z", &long], malformed("record_id")),
    ];
    for (situation, args, wanted) in table {
        assert_eq!(path(RECORD, &args), Err(wanted), "{situation}");
    }
}

#[test]
fn arguments_and_placeholders_are_counted() {
    let count = |wanted, got| Err(PathError::Count { route: RECORD, wanted, got });
    assert_eq!(path(RECORD, &["z"]), count(2, 1));
    assert_eq!(path(RECORD, &["z", "r", "x"]), count(2, 3));
    assert_eq!(path("/user/tokens/verify", &[]), Ok("/user/tokens/verify".to_owned()));
}

#[test]
fn names_are_encoded_as_one_segment() {
    const KEY: &str = "/accounts/{account_id}/workers/scripts/{script_name}/secrets";
    let table = [
        ("my-worker_1", "my-worker_1"),
        ("a/b", "a%2Fb"),
        ("a?b#c", "a%3Fb%23c"),
        ("100%", "100%25"),
        ("grün", "gr%C3%BCn"),
        ("two words", "two%20words"),
        ("a..b", "a..b"),
    ];
    for (name, wanted) in table {
        assert_eq!(path(KEY, &["acc", name]), Ok(format!("/accounts/acc/workers/scripts/{wanted}/secrets")));
    }
    for name in ["..", ".", " a", "a\u{7}", "a\u{202e}b"] {
        assert!(path(KEY, &["acc", name]).is_err(), "{name:?}");
    }
}

#[test]
fn a_request_prints_on_one_line() {
    let patch = Request::new(Method::Patch, RECORD, &["z1", "r1"]).unwrap().body(json!({ "ttl": 300 }));
    assert_eq!(patch.to_string(), "PATCH /zones/z1/dns_records/r1 {\"ttl\":300}");
    let hostile = patch.body(json!({ "content": "a\nb\u{1b}[2J\u{9b}\u{202e}\u{e0001}é" }));
    let line = hostile.to_string();
    let wanted = r#"{"content":"a\nb\u001b[2J\u009b\u202e\udb40\udc01é"}"#;
    assert_eq!(line, format!("PATCH /zones/z1/dns_records/r1 {wanted}"));
    assert_eq!(serde_json::from_str::<Value>(wanted).ok(), hostile.body);
}

#[test]
fn a_query_is_encoded_and_kept_in_order() {
    let list = Request::new(Method::Get, "/zones", &[])
        .unwrap()
        .query("name", "a b&c=d.example")
        .query("account.id", "acc")
        .set_query("page", "2")
        .set_query("name", "é");
    assert_eq!(list.uri(), "/zones?name=%C3%A9&account.id=acc&page=2");
    assert_eq!(list.query("tag", "a:b&c").uri(), "/zones?name=%C3%A9&account.id=acc&page=2&tag=a%3Ab%26c");
}

#[test]
fn only_get_is_no_write() {
    for method in [Method::Get, Method::Post, Method::Put, Method::Patch, Method::Delete] {
        let request = Request::new(method, "/zones", &[]).unwrap();
        assert_eq!(request.is_write(), method != Method::Get);
        assert_eq!(http::Method::from(method).as_str(), method.as_str());
        assert_eq!(serde_json::to_value(method).unwrap(), method.as_str());
    }
}
