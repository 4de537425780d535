//! What Cloudflare would refuse of a record that is well formed.

use serde_json::{Value, json};

use super::{refused, with};

fn field(spec: &Value, plan: &str) -> Option<String> {
    refused(spec, plan).map(|invalid| invalid.field)
}

#[test]
fn b074_b046_limits_are_those_of_the_zones_plan() {
    let a = json!({ "type": "A", "name": "app", "content": "192.0.2.10" });
    let tags =
        |count: usize| json!({ "tags": (0..count).map(|tag| format!("t{tag}:x")).collect::<Vec<_>>() });
    let comment = |characters: usize| json!({ "comment": "ü".repeat(characters) });
    for (members, refusing) in [
        (comment(100), vec![]),
        (comment(101), vec!["free", "partners_free"]),
        (comment(500), vec!["free", "partners_free"]),
        (comment(501), vec!["free", "partners_free", "pro", "business", "partners_pro", "enterprise"]),
        (tags(0), vec![]),
        (tags(1), vec!["free", "partners_free"]),
        (tags(20), vec!["free", "partners_free"]),
        (tags(21), vec!["free", "partners_free", "pro", "business", "partners_pro", "enterprise"]),
        (json!({ "ttl": 1 }), vec![]),
        (json!({ "ttl": 60 }), vec![]),
        (json!({ "ttl": 30 }), vec!["free", "partners_free", "pro", "business", "partners_pro"]),
        (json!({ "ttl": 30, "proxied": true }), vec![]),
    ] {
        for plan in
            ["free", "partners_free", "pro", "business", "partners_pro", "enterprise", "", "something new"]
        {
            let refused = field(&with(&a, &members), plan);
            assert_eq!(refused.is_some(), refusing.contains(&plan), "{members} on {plan:?}: {refused:?}");
            assert!(refused.is_none_or(|field| members.get(&field).is_some()), "{members} on {plan:?}");
        }
    }
}

#[test]
fn b065_an_address_that_the_proxy_cannot_reach_is_refused_only_when_proxied() {
    for (content, unreachable) in [
        ("10.0.0.5", true),
        ("172.31.255.255", true),
        ("172.32.0.1", false),
        ("192.168.1.1", true),
        ("127.0.0.1", true),
        ("169.254.1.1", true),
        ("100.64.0.1", true),
        ("100.128.0.1", false),
        ("0.0.0.0", true),
        ("224.0.0.1", true),
        ("255.255.255.255", true),
        ("1.1.1.1", true),
        ("1.1.2.1", false),
        ("192.0.2.10", false),
        ("223.255.255.255", false),
        ("fd00::5", true),
        ("fe80::1", true),
        ("::1", true),
        ("::", true),
        ("ff02::1", true),
        ("::ffff:10.0.0.5", true),
        ("::ffff:192.0.2.10", false),
        ("2001:db8::10", false),
    ] {
        let record_type = if content.contains(':') { "AAAA" } else { "A" };
        let spec = json!({ "type": record_type, "name": "lan", "content": content });
        for plan in ["free", ""] {
            let proxied = field(&with(&spec, &json!({ "proxied": true })), plan);
            assert_eq!(proxied.as_deref(), unreachable.then_some("content"), "{content}");
            assert_eq!(field(&spec, plan), None, "{content}, unproxied");
        }
    }
}

#[test]
fn b063_a_target_that_no_record_can_have_is_refused() {
    for (spec, expected) in [
        (json!({ "type": "CNAME", "name": "app", "content": "APP.example.com." }), Some("content")),
        (json!({ "type": "CNAME", "name": "@", "content": "@" }), Some("content")),
        (json!({ "type": "CNAME", "name": "app", "content": "192.0.2.10" }), Some("content")),
        (json!({ "type": "CNAME", "name": "app", "content": "lb.example.net" }), None),
        (json!({ "type": "MX", "name": "@", "content": "192.0.2.10", "priority": 1 }), Some("content")),
        (json!({ "type": "MX", "name": "mail", "content": "mail.example.com", "priority": 1 }), None),
        (json!({ "type": "MX", "name": "@", "content": ".", "priority": 0 }), None),
        (json!({ "type": "SRV", "name": "_x._tcp", "content": "1 1 1 192.0.2.10" }), Some("data.target")),
        (json!({ "type": "SRV", "name": "_x._tcp", "content": "1 1 1 ." }), None),
        (json!({ "type": "TXT", "name": "t", "content": "10.0.0.5" }), None),
    ] {
        assert_eq!(field(&spec, "").as_deref(), expected, "{spec}");
    }
}

#[test]
fn a_record_holds_4096_bytes_on_the_wire() {
    let hex = |bytes: usize| json!({ "type": "TLSA", "name": "t", "data": { "usage": 3, "selector": 0, "matching_type": 0, "certificate": "ab".repeat(bytes) } });
    assert_eq!(field(&hex(4_093), "free"), None, "three octets before it");
    assert_eq!(field(&hex(4_094), "free").as_deref(), Some("data.certificate"));
    let base64 =
        |groups: usize| json!({ "type": "OPENPGPKEY", "name": "k", "content": "AQID".repeat(groups) });
    assert_eq!(field(&base64(1_365), "free"), None, "4,095 bytes");
    assert_eq!(field(&base64(1_366), "free").as_deref(), Some("content"));
    let uri = |bytes: usize| json!({ "type": "URI", "name": "u", "priority": 1, "data": { "weight": 1, "target": "a".repeat(bytes) } });
    assert_eq!(field(&uri(4_000), "free"), None);
    assert_eq!(field(&uri(4_096), "free").as_deref(), Some("data.target"));
}

#[test]
fn a_name_server_and_a_pointer_name_hosts() {
    for record_type in ["NS", "PTR"] {
        let spec = json!({ "type": record_type, "name": "x", "content": "192.0.2.10" });
        assert_eq!(field(&spec, "").as_deref(), Some("content"), "{record_type}");
    }
}
