//! What a spec sends, and what in it can never work.

use serde_json::{Value, json};

use super::{HOOKS, body, body_in, desired, with, zone};
use crate::table::Parents;

#[test]
fn a_body_has_every_field_that_the_spec_decides_and_no_other() {
    for (spec, expected) in [
        (
            json!({ "zoneRef": { "name": "example-com" }, "type": "A", "name": "www", "content": "192.0.2.10" }),
            json!({ "type": "A", "name": "www.example.com", "content": "192.0.2.10", "ttl": 1, "proxied": false }),
        ),
        (
            json!({ "type": "CNAME", "name": "WWW.Example.COM.", "content": "LB.Example.NET.", "proxied": true, "ttl": 300 }),
            json!({ "type": "CNAME", "name": "www.example.com", "content": "lb.example.net", "ttl": 1, "proxied": true }),
        ),
        (
            json!({ "type": "CNAME", "name": "www", "content": "@" }),
            json!({ "type": "CNAME", "name": "www.example.com", "content": "example.com", "ttl": 1, "proxied": false }),
        ),
        (
            json!({ "type": "MX", "name": "@", "content": "mail.example.net.", "priority": 0, "ttl": 3600 }),
            json!({ "type": "MX", "name": "example.com", "content": "mail.example.net", "priority": 0, "ttl": 3600 }),
        ),
        (
            json!({ "type": "MX", "name": "@", "content": ".", "priority": 0 }),
            json!({ "type": "MX", "name": "example.com", "content": ".", "priority": 0, "ttl": 1 }),
        ),
        (
            json!({ "type": "TXT", "name": "t", "content": "x", "comment": "why", "tags": ["Team:web"], "proxied": false }),
            json!({ "type": "TXT", "name": "t.example.com", "content": "x", "ttl": 1, "comment": "why", "tags": ["Team:web"] }),
        ),
        (
            json!({ "type": "CAA", "name": "@", "data": { "flags": "128", "tag": "Issue", "value": ";", "port": 0 } }),
            json!({ "type": "CAA", "name": "example.com", "data": { "flags": 128, "tag": "issue", "value": ";" }, "ttl": 1 }),
        ),
        (
            json!({ "type": "CAA", "name": "@", "content": "0 issue \"ca.example\"" }),
            json!({ "type": "CAA", "name": "example.com", "data": { "flags": 0, "tag": "issue", "value": "ca.example" }, "ttl": 1 }),
        ),
        (
            json!({ "type": "SRV", "name": "_sip._tcp", "priority": 10, "content": "5 5060 sip.example.net" }),
            json!({
                "type": "SRV", "name": "_sip._tcp.example.com", "ttl": 1,
                "data": { "priority": 10, "weight": 5, "port": 5060, "target": "sip.example.net" },
            }),
        ),
    ] {
        assert_eq!(body(&spec), Ok(expected), "{spec}");
    }
}

#[test]
fn b061_an_absolute_name_of_another_zone_is_refused_and_a_relative_one_is_shown_in_full() {
    let spec = |name: &str| json!({ "type": "A", "name": name, "content": "192.0.2.10" });
    let named = |name: &str| body(&spec(name)).map(|body| body["name"].clone());
    assert_eq!(named("app.example.net"), Ok(json!("app.example.net.example.com")));
    let refused = named("app.example.net.").err().map(|invalid| invalid.to_string()).unwrap_or_default();
    assert!(
        refused.starts_with("spec.name: ") && refused.contains("outside the zone \"example.com\""),
        "{refused}"
    );
}

#[test]
fn a_record_without_its_zone_is_refused() {
    let spec = json!({ "type": "A", "name": "www", "content": "192.0.2.10" });
    assert_eq!(
        (HOOKS.body)(&spec, &Parents::new()).map_err(|invalid| invalid.field),
        Err("zoneRef".to_owned())
    );
    assert_eq!(body_in(&spec, &zone("", "free")).map_err(|invalid| invalid.field), Err("zoneRef".to_owned()));
}

#[track_caller]
fn assert_invalid(base: &Value, cases: &[(Value, &str)]) {
    assert!(body(base).is_ok(), "the base must be in order: {:?}", body(base));
    for (members, field) in cases {
        let spec = with(base, members);
        assert_eq!(desired(&spec), Err((*field).to_owned()), "{spec}");
        let problem = body(&spec).err().map(|invalid| invalid.problem).unwrap_or_default();
        assert!(problem.len() > 20, "{spec}: says what to do: {problem}");
    }
}

#[test]
fn b046_b067_what_no_record_can_have_names_its_field() {
    assert_invalid(
        &json!({ "type": "A", "name": "app", "content": "192.0.2.10" }),
        &[
            (json!({ "type": "SPF" }), "type"),
            (json!({ "type": null }), "type"),
            (json!({ "name": "" }), "name"),
            (json!({ "name": "a..b" }), "name"),
            (json!({ "name": "xn--zzzzzz99" }), "name"),
            (json!({ "name": "a b" }), "name"),
            (json!({ "name": "a".repeat(64) }), "name"),
            (json!({ "content": null }), "content"),
            (json!({ "content": "1.1" }), "content"),
            (json!({ "content": "192.0.2.010" }), "content"),
            (json!({ "content": "2001:db8::10" }), "content"),
            (json!({ "content": "lb.example.net" }), "content"),
            (json!({ "ttl": 0 }), "ttl"),
            (json!({ "ttl": 29 }), "ttl"),
            (json!({ "ttl": 86_401 }), "ttl"),
            (json!({ "ttl": "soon" }), "ttl"),
            (json!({ "comment": "two\nlines" }), "comment"),
            (json!({ "comment": 5 }), "comment"),
            (json!({ "tags": "team:web" }), "tags"),
            (json!({ "tags": ["team web:x"] }), "tags"),
            (json!({ "tags": [":x"] }), "tags"),
            (json!({ "tags": [5] }), "tags"),
        ],
    );
    assert_invalid(
        &json!({ "type": "AAAA", "name": "app", "content": "2001:db8::10" }),
        &[
            (json!({ "content": "192.0.2.10" }), "content"),
            (json!({ "content": "[2001:db8::10]" }), "content"),
            (json!({ "content": "fe80::1%eth0" }), "content"),
        ],
    );
    assert_invalid(
        &json!({ "type": "TXT", "name": "t", "content": "x" }),
        &[
            (json!({ "content": "" }), "content"),
            (json!({ "content": "\"open" }), "content"),
            (json!({ "content": "x\n" }), "content"),
            (json!({ "content": "A".repeat(4_100) }), "content"),
            (json!({ "proxied": true }), "proxied"),
        ],
    );
}

#[test]
fn b063_what_no_target_can_be_names_its_field() {
    assert_invalid(
        &json!({ "type": "CNAME", "name": "app", "content": "lb.example.net" }),
        &[
            (json!({ "content": "*.example.net" }), "content"),
            (json!({ "content": "." }), "content"),
            (json!({ "content": "a..example.net" }), "content"),
            (json!({ "content": "https://lb.example.net" }), "content"),
            (json!({ "content": "lb.example.net:443" }), "content"),
            (json!({ "content": "lb example net" }), "content"),
        ],
    );
    assert_invalid(
        &json!({ "type": "MX", "name": "@", "content": "mail.example.net", "priority": 10 }),
        &[
            (json!({ "priority": null }), "priority"),
            (json!({ "priority": 65_536 }), "priority"),
            (json!({ "priority": "high" }), "priority"),
            (json!({ "content": "10 mail.example.net" }), "content"),
            (json!({ "content": "mail.example.net/x" }), "content"),
            (json!({ "proxied": true }), "proxied"),
        ],
    );
}

#[test]
fn b050_b052_missing_and_impossible_parts_name_their_place() {
    let caa = |data: Value| json!({ "data": data });
    assert_invalid(
        &json!({ "type": "CAA", "name": "@", "data": { "flags": 0, "tag": "issue", "value": "ca.example" } }),
        &[
            (caa(json!(null)), "data"),
            (caa(json!("0 issue ca.example")), "data"),
            (caa(json!({})), "data.flags"),
            (caa(json!({ "flags": 256, "tag": "issue", "value": ";" })), "data.flags"),
            (caa(json!({ "flags": 0, "value": ";" })), "data.tag"),
            (caa(json!({ "flags": 0, "tag": "is sue", "value": ";" })), "data.tag"),
            (caa(json!({ "flags": 0, "tag": "issue" })), "data.value"),
            (caa(json!({ "flags": 0, "tag": "issue", "value": "a\n" })), "data.value"),
            (caa(json!({ "flags": 0, "tag": "issue", "value": "say \"hi\"" })), "data.value"),
            (json!({ "content": "0 issue ca.example" }), "content"),
            (json!({ "data": null, "content": "issue" }), "content"),
            (json!({ "data": null, "content": "x issue ca.example" }), "content"),
        ],
    );
    let srv = |members: Value| json!({ "data": with(&json!({ "priority": 0, "weight": 0, "port": 0, "target": "." }), &members) });
    assert_invalid(
        &json!({ "type": "SRV", "name": "_imap._tcp", "data": srv(json!({}))["data"] }),
        &[
            (srv(json!({ "priority": null })), "data.priority"),
            (srv(json!({ "weight": 65_536 })), "data.weight"),
            (srv(json!({ "port": -1 })), "data.port"),
            (srv(json!({ "target": "" })), "data.target"),
            (srv(json!({ "target": "*.example.net" })), "data.target"),
            (json!({ "data": null, "content": "5 5060 sip.example.net" }), "content"),
        ],
    );
}

#[test]
fn b053_data_has_the_types_own_parts_and_every_one_of_them() {
    let loc = json!({ "lat_degrees": 51, "lat_direction": "n", "long_degrees": 0, "long_direction": "W", "port": 0, "name": "x" });
    let sent = body(&json!({ "type": "LOC", "name": "loc", "data": loc })).map(|body| body["data"].clone());
    assert_eq!(
        sent,
        Ok(json!({
            "lat_degrees": 51, "lat_minutes": 0, "lat_seconds": 0, "lat_direction": "N",
            "long_degrees": 0, "long_minutes": 0, "long_seconds": 0, "long_direction": "W",
            "altitude": 0, "size": 0, "precision_horz": 0, "precision_vert": 0,
        }))
    );
    let uri = json!({ "type": "URI", "name": "u", "priority": 7, "content": "5 \"https://example.net\"" });
    assert_eq!(
        body(&uri),
        Ok(json!({
            "type": "URI", "name": "u.example.com", "priority": 7, "ttl": 1,
            "data": { "weight": 5, "target": "https://example.net" },
        }))
    );
    let slip =
        desired(&json!({ "type": "LOC", "name": "loc", "data": with(&loc, &json!({ "latMinutes": 30 })) }));
    assert_eq!(slip, Err("data.latMinutes".to_owned()), "a name that no type has is a slip");
}

/// A type with a data that is in order, and what none of its parts can be, all as JSON.
const PARTS: &[(&str, &str, &str)] = &[
    (
        "CERT",
        r#"{"type": 1, "key_tag": 2, "algorithm": 3, "certificate": "AQID"}"#,
        r#"[{"type": 65536}, {"algorithm": 256}, {"certificate": "-----BEGIN"}, {"certificate": 5}]"#,
    ),
    (
        "DNSKEY",
        r#"{"flags": 257, "protocol": 3, "algorithm": 13, "public_key": "AQID"}"#,
        r#"[{"protocol": "three"}, {"public_key": "A"}]"#,
    ),
    (
        "DS",
        r#"{"key_tag": 1, "algorithm": 13, "digest_type": 2, "digest": "abcd"}"#,
        r#"[{"digest": "abc"}, {"digest": "0xab"}, {"digest": ""}, {"key_tag": 1.5}]"#,
    ),
    (
        "HTTPS",
        r#"{"priority": 1, "target": ".", "value": "alpn=h3"}"#,
        r#"[{"target": "*.example.net"}, {"target": null}, {"value": "alpn=\"h3"}, {"value": "port=no"}]"#,
    ),
    (
        "LOC",
        r#"{"lat_degrees": 1, "lat_direction": "N", "long_degrees": 2, "long_direction": "E"}"#,
        r#"[{"lat_degrees": 91}, {"lat_seconds": 60}, {"lat_direction": "E"}, {"long_degrees": 181},
            {"long_minutes": 60}, {"altitude": -100001}, {"size": "wide"}, {"precision_horz": -1}]"#,
    ),
    (
        "NAPTR",
        r#"{"order": 1, "preference": 2, "replacement": "."}"#,
        r#"[{"flags": "S!"}, {"regex": "say \"hi\""}, {"replacement": ""}, {"preference": null}]"#,
    ),
    (
        "SSHFP",
        r#"{"algorithm": 4, "type": 2, "fingerprint": "abcd"}"#,
        r#"[{"fingerprint": "SHA256:abcd"}, {"type": null}]"#,
    ),
    (
        "SVCB",
        r#"{"priority": 0, "target": "svc.example.net"}"#,
        r#"[{"priority": -1}, {"target": "https://x"}]"#,
    ),
    (
        "TLSA",
        r#"{"usage": 3, "selector": 1, "matching_type": 1, "certificate": "abcd"}"#,
        r#"[{"usage": 256}, {"selector": null}, {"certificate": "xyz"}]"#,
    ),
    (
        "URI",
        r#"{"weight": 1, "target": "https://example.net"}"#,
        r#"[{"weight": 65536}, {"target": "a\"b"}]"#,
    ),
];

#[test]
fn what_no_part_can_be_names_its_place() {
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    for (record_type, data, wrong) in PARTS {
        let data = read(data);
        let base = json!({ "type": record_type, "name": "x", "data": data, "priority": 1 });
        for members in read(wrong).as_array().unwrap() {
            let part = members.as_object().and_then(|members| members.keys().next()).unwrap();
            assert_invalid(&base, &[(json!({ "data": with(&data, members) }), &format!("data.{part}"))]);
        }
        assert_invalid(&base, &[(json!({ "data": null, "content": "nothing like it" }), "content")]);
    }
    let naptr =
        json!({ "type": "NAPTR", "name": "x", "data": { "order": 1, "preference": 2, "replacement": "." } });
    let long = with(&naptr["data"], &json!({ "service": "a".repeat(256) }));
    assert_invalid(&naptr, &[(json!({ "data": long }), "data.service")]);
}

#[test]
fn what_no_content_can_be_names_its_place() {
    for (record_type, content, wrong) in [
        ("NS", "ns1.example.net", "."),
        ("PTR", "host.example.net", "*.example.net"),
        ("OPENPGPKEY", "AQID", "-----BEGIN PGP PUBLIC KEY BLOCK-----"),
    ] {
        let base = json!({ "type": record_type, "name": "x", "content": content });
        let data = json!({ "data": { "target": "x" } });
        assert_invalid(&base, &[(json!({ "content": wrong }), "content"), (data, "data")]);
    }
    let uri = json!({ "type": "URI", "name": "x", "content": "1 x", "priority": 1 });
    assert_invalid(&uri, &[(json!({ "priority": null }), "priority")]);
}

#[test]
fn settings_go_out_as_cloudflare_names_them_where_they_can_be() {
    let a = json!({ "type": "A", "name": "app", "content": "192.0.2.10", "proxied": true });
    let sent = |settings: Value| {
        body(&with(&a, &json!({ "settings": settings }))).map(|body| body["settings"].clone())
    };
    assert_eq!(sent(json!({ "ipv4Only": true })), Ok(json!({ "ipv4_only": true })));
    assert_eq!(sent(json!({ "ipv6Only": false })), Ok(json!({ "ipv6_only": false })));
    assert_eq!(sent(json!({})), Ok(json!({})), "an empty one turns all of them off");
    assert_eq!(sent(json!(null)), Ok(Value::Null));
    assert_eq!(sent(json!({ "ipv4Only": true, "flattenCname": false })), Ok(json!({ "ipv4_only": true })));
    let text = json!({ "type": "TXT", "name": "t", "content": "x", "settings": { "ipv4Only": false } });
    assert_eq!(body(&text).map(|body| body.get("settings").cloned()), Ok(None), "a type that has none");
    let settings = |value: Value| json!({ "settings": value });
    assert_invalid(
        &a,
        &[
            (settings(json!({ "ipv4Only": true, "ipv6Only": true })), "settings.ipv4Only"),
            (settings(json!({ "ipv4Only": "yes" })), "settings.ipv4Only"),
            (settings(json!({ "flattenCname": true })), "settings.flattenCname"),
            (json!({ "proxied": false, "settings": { "ipv6Only": true } }), "settings.ipv6Only"),
        ],
    );
    let cname = json!({ "type": "CNAME", "name": "app", "content": "lb.example.net", "settings": { "flattenCname": true } });
    assert_invalid(&cname, &[(json!({ "proxied": true }), "settings.flattenCname")]);
}
