//! What must hold of any JSON: no hook panics, the canonical form is a fixed point, and what Cloudflare stores of
//! our body is what we want.

use serde_json::{Map, Value, json};

use super::super::RecordType;
use super::random::{Random, TYPES};
use super::{HOOKS, body, canonical, with, zone};
use crate::table::Parents;

/// Rounds of made-up input; enough that each pair of awkward pieces meets many times, in well under a second.
const ROUNDS: u64 = 20_000;

/// Pieces that texts are made of: what the parsers branch on, and what breaks naive ones.
const PIECES: &[&str] = &[
    "a",
    "B",
    "7",
    ".",
    "..",
    "@",
    "*",
    "-",
    "_",
    "xn--",
    "xn--bcher-kva",
    "ü",
    "ß",
    "İ",
    "。",
    "א",
    "\u{200D}",
    "\u{AD}",
    "…",
    "\"",
    "\\",
    "\\\"",
    "\\1",
    "\\195",
    "\\999",
    "\" \"",
    " ",
    "\t",
    "\n",
    "\0",
    "\u{7f}",
    "é",
    "10 ",
    "51 30 12.3 N ",
    "alpn=",
    "1e9",
    "inf",
    "AQ=",
    "0 issue ",
    "1 2 3 ",
    "192.0.2.10",
    "::1",
    "2001:DB8::",
    "example.com",
    "/",
    ":",
    ";",
    "#",
    "{}",
];
/// Types that no record has.
const STRANGE_TYPES: [&str; 3] = ["SPF", "txt", ""];
const MEMBERS: &[&str] = &[
    "type", "name", "content", "data", "ttl", "proxied", "priority", "comment", "tags", "settings", "zoneRef",
];

/// Every type, the strange ones too.
fn types() -> Vec<&'static str> {
    TYPES.into_iter().chain(STRANGE_TYPES).collect()
}

/// The parts of a type.
fn parts(record_type: &str) -> Vec<&'static str> {
    let layout = RecordType::of(&json!({ "type": record_type })).and_then(RecordType::layout);
    layout.into_iter().flat_map(|layout| layout.parts).map(|part| part.name).collect()
}

impl Random {
    fn text(&mut self) -> String {
        (0..self.below(6)).map(|_| self.one(PIECES)).collect()
    }

    fn scalar(&mut self) -> Value {
        match self.below(9) {
            0 => Value::Null,
            1 => json!(self.below(2) == 0),
            2 => json!(self.below(70_000)),
            3 => json!(-1),
            4 => json!(self.one(&[1.0, 10.5, 1e300, -0.0])),
            5 => json!(u64::MAX),
            _ => json!(self.text()),
        }
    }

    fn object(&mut self, members: &[&str]) -> Value {
        let count = self.below(members.len() + 1);
        Value::Object(
            (0..count).map(|_| (self.one(members).to_owned(), self.scalar())).collect::<Map<_, _>>(),
        )
    }

    fn any(&mut self) -> Value {
        match self.below(8) {
            0 => json!([self.scalar(), self.text()]),
            1 | 2 => {
                let record_type = self.one(&TYPES);
                self.object(&parts(record_type))
            }
            3 => json!({ "ipv4_only": self.scalar() }),
            _ => self.scalar(),
        }
    }

    fn record(&mut self) -> Value {
        let mut record = json!({ "type": self.one(&types()), "name": self.text(), "content": self.text() });
        for _ in 0..self.below(MEMBERS.len()) {
            let member = self.one(MEMBERS);
            if member != "type" || self.below(8) == 0 {
                record[member] = self.any();
            }
        }
        record
    }

    /// A spec that is mostly in order, with awkward texts where a type takes any.
    fn spec(&mut self) -> Value {
        let number = |random: &mut Self| random.below(256);
        let host = self.one(&[
            "LB.example.net.",
            "mail",
            "@",
            ".",
            "bücher.example",
            "a_b.example.net",
            "192.0.2.10",
        ]);
        let value = self.text();
        let srv = [number(self), number(self), number(self)];
        let members = match self.below(9) {
            0 => json!({ "type": "A", "content": format!("192.0.2.{}", number(self)) }),
            1 => json!({ "type": "AAAA", "content": format!("2001:0DB8::{:04X}:0", number(self)) }),
            2 => json!({ "type": "CNAME", "content": host }),
            3 => json!({ "type": "MX", "content": host, "priority": number(self) }),
            4 => json!({ "type": "CAA", "data": { "flags": number(self), "tag": "Issue", "value": value } }),
            5 => json!({ "type": "CAA", "content": format!("{} iodef {value}", number(self)) }),
            6 => {
                json!({ "type": "SRV", "data": { "priority": srv[0], "weight": srv[1], "port": srv[2], "target": host } })
            }
            7 => json!({ "type": "SRV", "content": format!("{} {} {} {host}", srv[0], srv[1], srv[2]) }),
            _ => json!({ "type": "TXT", "content": value.repeat(1 + self.below(60)) }),
        };
        let base = json!({
            "name": self.one(&["@", "www", "*", "WWW.Example.com.", "app.example.net", "bücher", "_sip._tcp"]),
            "ttl": self.one(&[json!(null), json!(1), json!(300), json!(3600.0)].each_ref()),
            "proxied": self.below(4) == 0,
            "comment": self.one(&[json!(null), json!(""), json!("why")].each_ref()),
            "tags": self.one(&[json!(null), json!([]), json!(["b:2", "A:1", "a:1"])].each_ref()),
        });
        with(&base, &members)
    }
}

/// Every hook once; the canonical form.
fn through_all_hooks(record: &Value) -> Value {
    let zone = zone("example.com", "free");
    let parents = Parents::from([("zoneRef", &zone)]);
    let _ = (HOOKS.body)(record, &parents);
    let form = (HOOKS.canonical)(record, &parents);
    let _ = (HOOKS.key)(&form);
    let _ = (HOOKS.loose_key)(&form);
    let _ = (HOOKS.refuses_twins)(&form);
    let _ = (HOOKS.refused)(&form, &parents);
    let _ = ((HOOKS.key)(record), (HOOKS.loose_key)(record), (HOOKS.refused)(record, &parents));
    form
}

/// What Cloudflare answers to a body of ours, as far as it changes it.
fn stored(body: &Value) -> Value {
    let text = |member: &str| body[member].as_str().unwrap_or_default();
    let mut answer =
        with(&json!({ "id": "r1", "proxied": false, "tags": [], "meta": {}, "settings": {} }), body);
    let data = &body["data"];
    match text("type") {
        "TXT" if !text("content").starts_with('"') => answer["content"] = json!(in_strings(text("content"))),
        "CAA" => {
            let value = data["value"].as_str().unwrap_or_default().replace('\\', "\\\\").replace('"', "\\\"");
            answer["content"] =
                json!(format!("{} {} \"{value}\"", data["flags"], data["tag"].as_str().unwrap_or_default()));
        }
        "SRV" => {
            let target = data["target"].as_str().unwrap_or_default();
            answer["content"] = json!(format!("{} {} {target}", data["weight"], data["port"]));
            answer["priority"] = data["priority"].clone();
        }
        _ => {}
    }
    if text("comment").is_empty() {
        answer["comment"] = Value::Null;
    }
    answer
}

fn in_strings(plain: &str) -> String {
    let strings: Vec<String> =
        plain.as_bytes().chunks(255).map(|chunk| format!("\"{}\"", String::from_utf8_lossy(chunk))).collect();
    strings.join(" ")
}

#[test]
fn any_input_passes_all_hooks_and_its_form_is_a_fixed_point() {
    let mut random = Random(1);
    for round in 0..ROUNDS {
        let record = random.record();
        let form = through_all_hooks(&record);
        assert_eq!(canonical(&form), form, "round {round}: {record}");
    }
}

#[test]
fn what_cloudflare_stores_of_any_body_is_what_we_want() {
    let mut random = Random(2);
    let mut valid = 0;
    for round in 0..ROUNDS {
        let spec = random.spec();
        let Ok(body) = body(&spec) else { continue };
        valid += 1;
        let wanted = canonical(&body);
        assert_eq!(canonical(&stored(&body)), wanted, "round {round}: {spec}");
        if wanted["data"].is_object() {
            let mut content_alone = stored(&body);
            content_alone["data"] = Value::Null;
            assert_eq!(canonical(&content_alone), wanted, "round {round}, without data: {spec}");
        }
    }
    assert!(valid > ROUNDS / 3, "only {valid} specs were in order");
}

#[test]
fn a_wrong_type_in_any_member_is_survived() {
    let whole = json!({
        "type": "SRV", "name": "_a._tcp", "content": "1 2 3 x", "ttl": 1, "proxied": true, "priority": 1, "comment": "c",
        "tags": ["a:b"], "settings": { "ipv4_only": true }, "zoneRef": { "name": "z" },
        "data": { "priority": 1, "weight": 2, "port": 3, "target": "x", "flags": 0, "tag": "issue", "value": ";",
                  "lat_direction": "N", "replacement": ".", "certificate": "AQ", "digest": "ab", "public_key": "AQ" },
    });
    let hostile = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1e308),
        json!(u64::MAX),
        json!(""),
        json!("\"\\"),
        json!("a".repeat(100_000)),
        json!("ü".repeat(100_000)),
        json!(".".repeat(100_000)),
        json!("\\".repeat(100_000)),
        json!([]),
        json!([[[]]]),
        json!({}),
        json!({ "type": { "type": [] } }),
    ];
    for record_type in types() {
        for value in &hostile {
            let base = with(&whole, &json!({ "type": record_type }));
            for member in MEMBERS {
                let record = with(&base, &json!({ *member: value }));
                let form = through_all_hooks(&record);
                assert_eq!(canonical(&form), form, "{record_type} {member}");
            }
            for part in parts(record_type) {
                let data = with(&base["data"], &json!({ part: value }));
                let form = through_all_hooks(&with(&base, &json!({ "data": data })));
                assert_eq!(canonical(&form), form, "{record_type} data.{part}");
            }
            let form = through_all_hooks(value);
            assert_eq!(canonical(&form), form, "in place of a record");
        }
    }
}
