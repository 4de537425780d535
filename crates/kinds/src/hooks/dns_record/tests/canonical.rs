//! Which spellings are one record.

use serde_json::{Value, json};

use super::super::RecordType;
use super::{HOOKS, body_in, canonical, desired, with, zone};

/// What every answer of Cloudflare's has besides the record itself.
fn answered(record: &Value) -> Value {
    let extra = json!({
        "id": "372e67954025e0ba6aaa6d586b9e0b59", "proxiable": true, "meta": {}, "settings": {}, "tags": [],
        "comment": null, "proxied": false, "ttl": 1, "created_on": "2026-01-01T00:00:00Z",
        "modified_on": "2026-01-01T00:00:00Z",
    });
    with(&extra, record)
}

#[track_caller]
fn assert_idle(case: &str, spec: &Value, answer: &Value) {
    assert_eq!(desired(spec), Ok(canonical(&answered(answer))), "{case}");
}

#[test]
fn the_form_has_these_members_and_no_others() {
    let a = json!({ "type": "A", "name": "app.example.com", "content": "192.0.2.10" });
    assert_eq!(
        canonical(&answered(&a)),
        with(&a, &json!({ "ttl": 1, "proxied": false, "comment": null, "tags": [] })),
    );
    let caa = json!({ "type": "CAA", "name": "example.com", "content": "0 issue \"ca.example\"" });
    let members: Vec<String> =
        canonical(&caa).as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    assert_eq!(members, ["comment", "data", "name", "proxied", "tags", "ttl", "type"]);
}

#[test]
fn what_cloudflare_stores_of_a_spec_is_no_drift() {
    let long = "v=DKIM1; k=rsa; p=".to_owned() + &"A".repeat(400);
    let (front, rest) = long.split_at(255);
    for (case, spec, answer) in [
        (
            "b037: a long TXT comes back split",
            json!({ "type": "TXT", "name": "google._domainkey", "content": long }),
            json!({ "type": "TXT", "name": "google._domainkey.example.com", "content": format!("\"{front}\" \"{rest}\"") }),
        ),
        (
            "b037: the user's own split",
            json!({ "type": "TXT", "name": "t", "content": format!("\"{front}\"  \"{rest}\"") }),
            json!({ "type": "TXT", "name": "t.example.com", "content": long }),
        ),
        (
            "b045: a ttl on a proxied record is stored as 1",
            json!({ "type": "A", "name": "app", "content": "192.0.2.10", "proxied": true, "ttl": 300 }),
            json!({ "type": "A", "name": "app.example.com", "content": "192.0.2.10", "proxied": true, "ttl": 1 }),
        ),
        (
            "b060: case and final dots in name and target",
            json!({ "type": "CNAME", "name": "WWW.Example.COM.", "content": "LB.Example.NET." }),
            json!({ "type": "CNAME", "name": "www.example.com", "content": "lb.example.net" }),
        ),
        (
            "4.5: the case of a target is sometimes kept",
            json!({ "type": "MX", "name": "@", "content": "mail.example.net", "priority": 10 }),
            json!({ "type": "MX", "name": "example.com", "content": "Mail.Example.NET.", "priority": 10 }),
        ),
        (
            "b061: the apex",
            json!({ "type": "A", "name": "@", "content": "192.0.2.10" }),
            json!({ "type": "A", "name": "example.com", "content": "192.0.2.10" }),
        ),
        (
            "4.5: IPv6 in its short form",
            json!({ "type": "AAAA", "name": "v6", "content": "2001:0DB8:0000:0000:0000:0000:0000:0010" }),
            json!({ "type": "AAAA", "name": "v6.example.com", "content": "2001:db8::10" }),
        ),
        (
            "b069: an empty comment is stored as none",
            json!({ "type": "A", "name": "app", "content": "192.0.2.10", "comment": "" }),
            json!({ "type": "A", "name": "app.example.com", "content": "192.0.2.10", "comment": null }),
        ),
        (
            "tags are a set whose names have no case",
            json!({ "type": "A", "name": "app", "content": "192.0.2.10", "tags": ["team:Web", "Env:prod", "env:prod"] }),
            json!({ "type": "A", "name": "app.example.com", "content": "192.0.2.10", "tags": ["env:prod", "Team:Web"] }),
        ),
    ] {
        assert_idle(case, &spec, &answer);
    }
}

#[test]
fn b050_the_target_of_a_service_that_is_not_offered_stays_the_root() {
    let spec = json!({ "type": "SRV", "name": "_imap._tcp", "data": { "priority": 0, "weight": 0, "port": 0, "target": "." } });
    let answer = json!({
        "type": "SRV", "name": "_imap._tcp.example.com", "content": "0 0 .", "priority": 0,
        "data": { "name": "_imap._tcp.example.com", "port": 0, "priority": 0, "target": ".", "weight": 0 },
    });
    assert_idle("b050", &spec, &answer);
    assert_eq!(canonical(&answer)["data"]["target"], ".");
}

#[test]
fn b052_caa_is_one_record_by_data_by_content_and_by_flags_as_text() {
    let name = json!({ "type": "CAA", "name": "example.com" });
    for (flags, tag, value) in
        [(128, "issue", "letsencrypt.example"), (0, "iodef", "mailto:sec@example.com"), (0, "issue", ";")]
    {
        let spec =
            json!({ "type": "CAA", "name": "@", "data": { "flags": flags, "tag": tag, "value": value } });
        for wire in [
            json!({ "content": format!("{flags} {tag} \"{value}\"") }),
            json!({ "content": format!("{flags}  {tag}\t{value}") }),
            json!({ "data": { "flags": flags, "tag": tag, "value": value } }),
            json!({ "data": { "flags": flags.to_string(), "tag": tag.to_ascii_uppercase(), "value": value } }),
            json!({ "data": { "flags": flags, "tag": tag, "value": format!("\"{value}\"") } }),
            json!({
                "content": format!("{flags} {tag} \"{value}\""),
                "data": { "flags": f64::from(flags), "tag": tag, "value": value, "lat_minutes": 0, "port": 0 },
            }),
        ] {
            assert_idle("b052", &spec, &with(&name, &wire));
        }
        assert_eq!(
            desired(&spec).map(|record| record["data"].clone()),
            Ok(json!({ "flags": flags, "tag": tag, "value": value })),
        );
    }
}

#[test]
fn srv_is_one_record_by_data_and_by_both_forms_of_content() {
    let spec = json!({
        "type": "SRV", "name": "_sip._tcp",
        "data": { "priority": 10, "weight": 5, "port": 5060, "target": "SIP.example.net." },
    });
    let name = json!({ "type": "SRV", "name": "_sip._tcp.example.com" });
    for wire in [
        json!({ "content": "5 5060 sip.example.net", "priority": 10 }),
        json!({ "content": "5\t5060\tsip.example.net.", "priority": 10 }),
        json!({ "content": "10 5 5060 sip.example.net" }),
        json!({ "content": "5 5060 sip.example.net", "priority": 10, "data": {} }),
        json!({ "priority": 10, "data": { "weight": 5, "port": 5060, "target": "sip.example.net" } }),
        json!({ "data": { "priority": "10", "weight": 5.0, "port": 5060, "target": "sip.example.net", "proto": "_tcp" } }),
    ] {
        assert_idle("srv", &spec, &with(&name, &wire));
    }
}

#[test]
fn b053_members_of_other_types_never_count() {
    let a = json!({ "type": "A", "name": "app.example.com", "content": "192.0.2.10" });
    let noise = json!({ "priority": 0, "data": { "flags": 0, "lat_minutes": 0, "target": "x" }, "private_routing": false });
    assert_eq!(canonical(&with(&a, &noise)), canonical(&a));
    let text = json!({ "type": "TXT", "name": "t.example.com", "content": "x", "ttl": 300 });
    assert_eq!(canonical(&with(&text, &json!({ "proxied": true }))), canonical(&text), "TXT has no proxy");
    let caa = json!({ "type": "CAA", "name": "example.com", "content": "0 issue \";\"" });
    let zeros = json!({ "priority": 0, "data": { "lat_minutes": 0, "port": 0 } });
    assert_eq!(canonical(&with(&caa, &zeros)), canonical(&caa));
}

#[test]
fn b059_unicode_and_punycode_records_are_one() {
    let umlaut = zone("müller.example", "free");
    let keys: Vec<_> =
        ["bücher", "BÜCHER.müller.example", "xn--bcher-kva", "xn--bcher-kva.xn--mller-kva.example."]
            .into_iter()
            .map(|name| body_in(&json!({ "type": "A", "name": name, "content": "192.0.2.10" }), &umlaut))
            .map(|body| body.map(|body| (HOOKS.key)(&canonical(&body))))
            .collect();
    let listed =
        json!({ "type": "A", "name": "xn--bcher-kva.xn--mller-kva.example", "content": "192.0.2.10" });
    for key in keys {
        assert_eq!(key, Ok((HOOKS.key)(&canonical(&listed))));
    }
}

#[test]
fn settings_count_only_when_they_are_not_the_default() {
    let a = json!({ "type": "A", "name": "app.example.com", "content": "192.0.2.10" });
    for settings in [json!({}), json!(null), json!({ "ipv4_only": false }), json!([])] {
        assert_eq!(canonical(&with(&a, &json!({ "settings": settings }))), canonical(&a), "{settings}");
    }
    let only = with(&a, &json!({ "settings": { "ipv4_only": true, "ipv6_only": false } }));
    assert_eq!(canonical(&only)["settings"], json!({ "ipv4_only": true }));
}

#[test]
fn what_differs_to_cloudflare_stays_different() {
    let a = json!({ "type": "A", "name": "app.example.com", "content": "192.0.2.10", "ttl": 300 });
    for other in [
        json!({ "content": "192.0.2.11" }),
        json!({ "content": "192.0.2.010" }),
        json!({ "ttl": 301 }),
        json!({ "ttl": null }),
        json!({ "ttl": "soon" }),
        json!({ "proxied": true }),
        json!({ "comment": "hello" }),
        json!({ "tags": ["a:b"] }),
        json!({ "name": "app.example.net" }),
    ] {
        assert_ne!(canonical(&with(&a, &other)), canonical(&a), "{other}");
    }
    let text =
        |content: &str| canonical(&json!({ "type": "TXT", "name": "t.example.com", "content": content }));
    assert_ne!(text("A b"), text("a b"), "TXT has case");
    assert_ne!(text(r#""a" " b""#), text("ab"), "spaces inside the quotes count");
    assert_ne!(text(r#""\"x\"""#), text(r#""x""#), "escaped quotes count");
}

#[test]
fn b060_a_key_is_name_type_and_what_tells_a_set_apart() {
    for (record, content) in [
        (json!({ "type": "A", "content": "192.0.2.10" }), Some("192.0.2.10")),
        (json!({ "type": "AAAA", "content": "2001:DB8:0::10" }), Some("2001:db8::10")),
        (json!({ "type": "CNAME", "content": "lb.example.net" }), None),
        (json!({ "type": "TXT", "content": "\"v=spf1\" \" -all\"" }), Some("v=spf1 -all")),
        (json!({ "type": "MX", "content": "Mail.example.com.", "priority": 10 }), Some("mail.example.com")),
        (
            json!({ "type": "CAA", "content": "128 issue \"ca.example; x=1\"" }),
            Some("128 issue ca.example; x=1"),
        ),
        (
            json!({ "type": "SRV", "content": "5 5060 sip.example.net", "priority": 1 }),
            Some("1 5 5060 sip.example.net"),
        ),
        (json!({ "type": "LOC", "content": "51 30 12.3 N" }), Some("51 30 12.3 N")),
        (json!({ "type": "LOC", "content": "51 N 0 W 7m" }), Some("51 0 0 N 0 0 0 W 7 0 0 0")),
        (json!({ "type": "URI", "content": "5 \"ftp://a b\"", "priority": 1 }), Some("5 ftp://a b")),
        (json!({ "type": "NAPTR", "content": "1 2 s \"a b\" \"\" x." }), Some("1 2 \"S\" \"a b\" \"\" x")),
        (json!({ "type": "HTTPS", "content": "0 ." }), Some("0 .")),
        (json!({ "type": "SPF", "content": "v=spf1" }), Some("v=spf1")),
        (json!({ "type": "SPF", "data": { "any": 51 } }), Some("{\"any\":51}")),
    ] {
        let record = canonical(&with(&record, &json!({ "name": "WWW.example.com." })));
        let key = (HOOKS.key)(&record);
        assert_eq!(key.get("content").map(String::as_str), content, "{record}");
        let loose = (HOOKS.loose_key)(&record);
        assert_eq!(loose.get("name").map(String::as_str), Some("www.example.com"), "{record}");
        assert_eq!(loose.get("type").map(String::as_str), record["type"].as_str(), "{record}");
        assert_eq!(loose.len(), 2);
        assert!(loose.iter().all(|part| key.iter().any(|other| other == part)), "{record}");
    }
}

#[test]
fn b051_only_types_seen_to_refuse_a_second_need_no_look() {
    let refusing = ["A", "AAAA", "CAA", "CNAME", "MX", "TXT"];
    for (record_type, _) in RecordType::NAMES {
        let record = canonical(&json!({ "type": record_type, "name": "x.example.com" }));
        assert_eq!((HOOKS.refuses_twins)(&record), refusing.contains(record_type), "{record_type}");
    }
    assert!(!(HOOKS.refuses_twins)(&canonical(&json!({ "type": "SPF", "name": "x.example.com" }))));
}

#[test]
fn a_text_that_cannot_be_read_is_no_record_that_can() {
    for (record_type, spec, junk) in [
        ("SRV", json!({ "priority": 0, "weight": 0, "port": 0, "target": "x" }), "x"),
        ("CAA", json!({ "flags": 0, "tag": "issue", "value": "x" }), "issue x"),
        ("DS", json!({ "key_tag": 0, "algorithm": 0, "digest_type": 0, "digest": "ab" }), "ab"),
    ] {
        let wanted = desired(&json!({ "type": record_type, "name": "x", "data": spec }));
        let form = canonical(&json!({ "type": record_type, "name": "x.example.com", "content": junk }));
        assert!(wanted.is_ok_and(|wanted| wanted != form), "{record_type}");
        assert_eq!((form["data"].as_str(), form.get("content")), (Some(junk), None), "one member says it");
        assert_eq!(canonical(&form), form);
    }
}
