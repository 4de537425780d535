//! Spellings of records of every type: equal exactly when Cloudflare treats them as one.

use serde_json::{Value, json};

use super::random::{Random, TYPES, ZONE};
use super::{HOOKS, body, canonical, desired, with};

/// Records of each type; enough that each way to write a part meets the others.
const ROUNDS: usize = 60;

fn key(spec: &Value) -> Vec<String> {
    let form = body(spec).map(|body| canonical(&body)).unwrap_or_else(|invalid| panic!("{spec}: {invalid}"));
    (HOOKS.key)(&form).into_values().collect()
}

/// A spec as an answer of Cloudflare's might spell it: with the full name and with whatever comes beside it.
fn answered(spec: &Value) -> Value {
    let label = spec["name"].as_str().unwrap_or_default().split('.').next().unwrap_or_default();
    let name = format!("{label}.{ZONE}");
    with(
        &json!({ "id": "r1", "proxied": false, "tags": [], "comment": null, "settings": {}, "meta": {} }),
        &with(spec, &json!({ "name": name })),
    )
}

#[test]
fn every_spelling_of_any_record_is_the_same_and_every_change_is_not() {
    let mut random = Random(7);
    for round in 0..ROUNDS {
        for record_type in TYPES {
            let sample = random.sample(record_type, "www");
            let wanted = desired(&sample.spec);
            assert!(wanted.is_ok(), "{record_type} {round}: {wanted:?}: {}", sample.spec);
            let wanted = wanted.unwrap_or_default();
            assert_eq!(canonical(&wanted), wanted, "idempotent: {}", sample.spec);
            assert_eq!(canonical(&answered(&sample.spec)), wanted, "as an answer: {}", sample.spec);
            for spelling in &sample.spellings {
                assert_eq!(desired(spelling).as_ref(), Ok(&wanted), "{} is {spelling}", sample.spec);
                assert_eq!(canonical(&answered(spelling)), wanted, "as an answer: {spelling}");
            }
            for other in &sample.others {
                assert_ne!(desired(other).as_ref(), Ok(&wanted), "{} is not {other}", sample.spec);
                assert_ne!(key(other), key(&sample.spec), "{} is not {other}", sample.spec);
            }
            for changed in &sample.changed {
                assert_ne!(desired(changed).as_ref(), Ok(&wanted), "{} is not {changed}", sample.spec);
                assert_eq!(key(changed), key(&sample.spec), "still the same record: {changed}");
            }
        }
    }
}

#[test]
fn specs_of_one_record_send_one_body() {
    let mut random = Random(8);
    for _ in 0..ROUNDS {
        // The strings of a TXT stay as its user split them.
        for record_type in TYPES.into_iter().filter(|record_type| *record_type != "TXT") {
            let sample = random.sample(record_type, "www");
            let sent = body(&sample.spec).map(|body| (body["data"].clone(), body["content"].clone()));
            for spelling in &sample.spellings {
                let other = body(spelling).map(|body| (body["data"].clone(), body["content"].clone()));
                assert_eq!(other, sent, "{} as {spelling}", sample.spec);
            }
        }
    }
}

/// Type, two spellings, and whether they are one record. A spelling is a content or, in braces, a data; for MX and
/// URI its first number is the priority.
const SPELLINGS: &[(&str, &str, &str, bool)] = &[
    ("A", "192.0.2.10", "192.0.2.11", false),
    ("AAAA", "2001:db8::10", "2001:DB8:0:0::0010", true),
    ("AAAA", "2001:db8::10", "2001:db8::1", false),
    ("CAA", r#"0 issue "ca.example""#, r#"{"flags": "0", "tag": "ISSUE", "value": "ca.example"}"#, true),
    ("CAA", "0 issue ca.example", "128 issue ca.example", false),
    ("CAA", "0 issue ca.example", "0 issuewild ca.example", false),
    ("CERT", "1 2 3 AQ ID", r#"{"type": 1, "key_tag": 2, "algorithm": 3, "certificate": "AQID"}"#, true),
    ("CERT", "1 2 3 AQID", "1 2 3 aqid", false),
    ("CNAME", "LB.example.net.", "lb.example.net", true),
    ("CNAME", "lb.example.net", "lb.example.org", false),
    ("DNSKEY", "257 3 13 AQ==", "257 3 13 A Q", true),
    ("DNSKEY", "257 3 13 AQ==", "256 3 13 AQ==", false),
    ("DS", "1 13 2 01234567abcdef", "1\t13\t2\t0123 4567 ABCDEF", true),
    ("DS", "1 13 2 01234567abcdef", "1 13 4 01234567abcdef", false),
    (
        "HTTPS",
        "1 . alpn=h3 port=84",
        r#"{"priority": 1, "target": ".", "value": "port=\"84\" alpn=\"h3\""}"#,
        true,
    ),
    ("HTTPS", "0 www.example.net.", r#"{"priority": 0, "target": "www.example.net", "value": ""}"#, true),
    ("HTTPS", "1 . alpn=h3,h2", "1 . alpn=h2,h3", false),
    ("HTTPS", "1 . alpn=h3", "1 . alpn=h3 no-default-alpn", false),
    (
        "LOC",
        "51 30 12.3 N 0 7 39.5 W -2.5m 10m 10m 2m",
        "IN LOC 51 30 12.300 N 0 7 39.5 w -2.50 10 10 2",
        true,
    ),
    ("LOC", "51 N 0 W 0", "51 0 0.0 N 0 0 0 W 0.00m 0m 0m 0m", true),
    ("LOC", "51 N 0 W 2m", "51 N 0 W -2m", false),
    ("LOC", "51 N 0 W 2m", "51 S 0 W 2m", false),
    ("MX", "1 Mail.example.net.", "1 mail.example.net", true),
    ("MX", "1 mail.example.net", "2 mail.example.net", false),
    (
        "NAPTR",
        r#"1 2 "s" "SIP+D2U" "!^.*$!sip:\\1!" ."#,
        r#"{"order": 1, "preference": 2, "flags": "S", "service": "SIP+D2U", "regex": "!^.*$!sip:\\1!", "replacement": "."}"#,
        true,
    ),
    (
        "NAPTR",
        r#"1 2 "" "" "" _sip._tcp.example.net."#,
        r#"{"order": 1, "preference": 2, "replacement": "_sip._TCP.example.net"}"#,
        true,
    ),
    ("NAPTR", r#"1 2 "S" "x y" "" a."#, r#"1 2 "S" "x" "y" a."#, false),
    ("NS", "NS1.example.net.", "ns1.example.net", true),
    ("NS", "ns1.example.net", "ns2.example.net", false),
    ("OPENPGPKEY", "AQID BA==", "AQIDBA", true),
    ("OPENPGPKEY", "AQID", "AQIE", false),
    ("PTR", "Host.example.net.", "host.example.net", true),
    ("PTR", "host.example.net", "guest.example.net", false),
    ("SMIMEA", "3 0 0 AB CD", "3 0 0 abcd", true),
    ("SMIMEA", "3 0 0 abcd", "3 0 1 abcd", false),
    (
        "SRV",
        "1 2 3 sip.example.net.",
        r#"{"priority": 1, "weight": "2", "port": 3.0, "target": "SIP.example.net"}"#,
        true,
    ),
    ("SRV", "1 2 3 sip.example.net", "1 2 3 .", false),
    ("SSHFP", "4 2 ABCD", r#"{"algorithm": 4, "type": 2, "fingerprint": "ab cd"}"#, true),
    ("SSHFP", "4 2 abcd", "4 1 abcd", false),
    ("SVCB", "1 a.example.net. ipv6hint=2001:DB8::1", r#"1 a.example.net ipv6hint="2001:db8:0::1""#, true),
    ("SVCB", "1 a.example.net", "2 a.example.net", false),
    ("TLSA", "3 1 1 ABCD", "3 1 1 ab cd", true),
    ("TLSA", "3 1 1 abcd", "3 1 1 abce", false),
    ("TXT", r#""a" "b""#, "ab", true),
    ("TXT", "a b", "a  b", false),
    ("URI", r#"1 5 "https://example.net/a""#, r#"1 {"weight": 5, "target": "https://example.net/a"}"#, true),
    ("URI", "1 5 https://example.net/a", "1 5 https://example.net/A", false),
    ("URI", "1 5 https://example.net/a", "2 5 https://example.net/a", false),
];

fn spelled(record_type: &str, spelling: &str) -> Result<Value, String> {
    let mut spec = json!({ "type": record_type, "name": "www" });
    let mut value = spelling;
    if let ("MX" | "URI", Some((priority, rest))) = (record_type, spelling.split_once(' ')) {
        spec["priority"] = json!(priority.parse::<u16>().map_err(|error| error.to_string())?);
        value = rest;
    }
    let data = serde_json::from_str::<Value>(value).ok().filter(Value::is_object);
    let member = if data.is_some() { "data" } else { "content" };
    spec[member] = data.unwrap_or_else(|| json!(value));
    desired(&spec)
}

#[test]
fn two_spellings_are_equal_exactly_when_they_are_one_record() {
    for (record_type, one, other, equal) in SPELLINGS {
        let (left, right) = (spelled(record_type, one), spelled(record_type, other));
        assert!(left.is_ok() && right.is_ok(), "{record_type} {one} {other}: {left:?} {right:?}");
        assert_eq!(left == right, *equal, "{record_type} {one} {other}: {left:?} {right:?}");
    }
    let covered = |name: &str| SPELLINGS.iter().any(|(record_type, ..)| *record_type == name);
    assert!(TYPES.into_iter().all(covered));
}

#[test]
fn b055_when_content_and_data_disagree_data_counts() {
    // As an answer of the API was seen to do.
    let data = json!({
        "lat_degrees": 53, "lat_minutes": 13, "lat_seconds": 10, "lat_direction": "N", "long_degrees": 2,
        "long_minutes": 18, "long_seconds": 26, "long_direction": "W", "altitude": 20, "size": 10,
        "precision_horz": 1000, "precision_vert": 2,
    });
    let spec = json!({ "type": "LOC", "name": "loc", "data": data });
    let answer = json!({
        "type": "LOC", "name": "loc.example.com", "data": data,
        "content": "IN LOC 53 14 10 N 2 18 26 W 20m 10m 1000m 2m",
    });
    assert_eq!(desired(&spec), Ok(canonical(&answer)));
}

#[test]
fn b055_what_the_wire_does_not_keep_does_not_count() {
    let at = |seconds: Value, altitude: Value| {
        let data = json!({
            "lat_degrees": 0, "lat_seconds": seconds, "lat_direction": "N", "long_degrees": 0, "long_direction": "W",
            "altitude": altitude,
        });
        desired(&json!({ "type": "LOC", "name": "loc", "data": data }))
    };
    let base = at(json!(12.3), json!(-2.5));
    assert!(base.is_ok());
    assert_eq!(at(json!("12.300"), json!(-2.50)), base);
    assert_eq!(
        at(json!(12.300_04), json!("-2.5004")),
        base,
        "thousandths of a second, hundredths of a metre"
    );
    assert_ne!(at(json!(12.301), json!(-2.5)), base);
    assert_ne!(at(json!(12.3), json!(-2.51)), base);
}
