//! Records in any spelling: the hooks' canonical form against the sandbox's own model of what Cloudflare stores. Each line
//! is a record as JSON. What the sandbox stores as one record has one canonical form, what it stores as two has two. What
//! goes over the wire for it fits the facts of the real API.

use bytes::Bytes;
use http::{Method, Request, header};
use http_body_util::Full;
use kinds::table::{Hooks, Parents};
use kinds::{Kind, Resource, kind};
use plan::context::Desired;
use plan::difference::differences;
use sandbox::clock::Clock;
use sandbox::cloudflare::{Cloudflare, Plan, Switches, Token};
use serde_json::{Value, json};

use crate::exchange::{fits, in_standing_time, send};

/// The zone that the records are in.
const ZONE: &str = "example.com";
/// The account that the zone is in, and its token.
const ACCOUNT: &str = "0123456789abcdef0123456789abcdef";
const TOKEN: &str = "fuzzTokenThatIsOfTheFormOfRealOnes000000";
/// How kflare names itself: its requests are checked, those of others are theirs.
const OURS: &str = "kflare/fuzz";
const THEIRS: &str = "curl/8";
/// Records of one input: each is compared with each.
const RECORDS_MAX: usize = 4;
/// Cloudflare's codes for a record that exists; the last is also that of a name taken by an address.
const EXISTS: [u32; 3] = [81_057, 81_058, 81_053];
/// What differs between two answers about one record, or follows from the rest.
const INCIDENTAL: [&str; 7] =
    ["id", "created_on", "modified_on", "comment_modified_on", "tags_modified_on", "meta", "proxiable"];

pub(crate) fn run(input: &[u8]) {
    let lines = input.split(|byte| *byte == b'\n').take(RECORDS_MAX);
    let specs: Vec<Value> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
    in_standing_time(|| {
        let witness = Witness::new();
        let records: Vec<Record> = specs.iter().filter_map(|spec| witness.record(spec)).collect();
        for (at, one) in records.iter().enumerate() {
            for other in &records[at..] {
                witness.compare(one, other);
            }
        }
    });
}

/// A zone at the sandbox, and what the hooks see of it.
struct Witness {
    cloudflare: Cloudflare,
    zone_id: String,
    zone: Resource,
    kind: &'static Kind,
    hooks: Hooks,
}

/// A record that both sides take.
struct Record {
    body: Value,
    canonical: Value,
    /// What the sandbox makes of it.
    stored: Value,
}

impl Witness {
    fn new() -> Self {
        let clock = Clock::starting_at("2026-11-01T00:00:00Z".parse().expect("a time"));
        let switches = Switches { ds_needs_ns: false, rate_limit: false, ..Switches::default() };
        let cloudflare = Cloudflare::with_switches(clock, 1, switches);
        cloudflare.hold_to_schemas();
        cloudflare.add_account(ACCOUNT, "Witness");
        cloudflare.add_token(TOKEN, Token::all(ACCOUNT));
        let zone_id = cloudflare.add_zone(ACCOUNT, ZONE, Plan::Enterprise);
        let zone = Resource {
            spec: json!({ "name": ZONE }),
            status: json!({ "cloudflareMetadata": { "zoneID": zone_id, "plan": "enterprise" } }),
            ..Resource::default()
        };
        let kind = kind("DNSRecord").expect("the kind");
        Self { cloudflare, zone_id, zone, kind, hooks: kind.hooks }
    }

    fn parents(&self) -> Parents<'_> {
        Parents::from([("zoneRef", &self.zone)])
    }

    /// The canonical form, which is that of itself.
    fn canonical(&self, wire: &Value) -> Value {
        let canonical = (self.hooks.canonical)(wire, &self.parents());
        let again = (self.hooks.canonical)(&canonical, &self.parents());
        assert_eq!(again, canonical, "the canonical form of {wire} has another one");
        // Pure functions of any JSON, which have nothing to panic about.
        let _ = (self.hooks.key)(&canonical);
        let _ = (self.hooks.refused)(&canonical, &self.parents());
        canonical
    }

    /// The record, if both sides take it; what is stored of it is what was wanted.
    fn record(&self, spec: &Value) -> Option<Record> {
        self.canonical(spec);
        let body = (self.hooks.body)(spec, &self.parents()).ok()?;
        let canonical = self.canonical(&body);
        let stored = self.judged(&body).ok()?;
        assert_eq!(self.canonical(&stored), canonical, "{spec} is stored as {stored}");
        self.is_at_rest(spec, &body, &stored);
        self.fits(OURS, &body);
        // As someone else sends it; the API may keep another spelling of it, and it is no drift. A spec's settings have
        // names of their own.
        if let Some(theirs) = self.judged(spec).ok().filter(|_| spec["settings"].is_null()) {
            assert_eq!(self.canonical(&theirs), canonical, "{spec} of someone else is stored as {theirs}");
            self.fits(THEIRS, spec);
        }
        // What is read can be written, and is then the same.
        let again = self.judged(&written_back(&stored));
        let again = again.unwrap_or_else(|codes| panic!("{stored} is refused: {codes:?}"));
        assert_eq!(essence(&again), essence(&stored), "written back");
        Some(Record { body, canonical, stored })
    }

    fn judged(&self, body: &Value) -> Result<Value, Vec<u32>> {
        self.cloudflare
            .judge_record(&self.zone_id, None, body)
            .map_err(|errors| errors.errors.iter().map(|error| error.code).collect())
    }

    /// Made, listed and deleted over the wire.
    fn fits(&self, agent: &str, body: &Value) {
        let path = format!("/zones/{}/dns_records", self.zone_id);
        let made = self.ask(agent, Method::POST, &path, body.to_string());
        let id = made["result"]["id"].as_str().unwrap_or_else(|| panic!("{body}: {made}")).to_owned();
        self.ask(agent, Method::GET, &path, String::new());
        self.ask(agent, Method::DELETE, &format!("{path}/{id}"), String::new());
        fits(&body.to_string(), &self.cloudflare);
    }

    fn ask(&self, agent: &str, method: Method, path: &str, body: String) -> Value {
        let request = Request::builder().method(method).uri(path).header(header::USER_AGENT, agent);
        let request = request.header(header::AUTHORIZATION, format!("Bearer {TOKEN}"));
        let request = request.body(Full::new(Bytes::from(body))).expect("a request");
        let answer = send(&mut self.cloudflare.service(), request).expect("an answer");
        serde_json::from_slice(&answer.body).expect("JSON")
    }

    /// A record that is stored as its spec says is not written again.
    fn is_at_rest(&self, spec: &Value, body: &Value, stored: &Value) {
        let canonical = self.canonical(body);
        let key_parts = (self.hooks.key)(&canonical);
        let desired = Desired {
            body: body.clone(),
            refuses_twins: (self.hooks.refuses_twins)(&canonical),
            canonical,
            key: String::new(),
            key_parts,
            loose_key: String::new(),
        };
        let resource = Resource { spec: spec.clone(), ..Resource::default() };
        let found = differences(self.kind, &resource, &desired, stored, &self.parents());
        assert!(found.is_empty(), "{spec}, stored as {stored}, would be changed: {found:?}");
    }

    /// Equal to both sides, or to none.
    fn compare(&self, one: &Record, other: &Record) {
        let (ours, theirs) =
            (one.canonical == other.canonical, essence(&one.stored) == essence(&other.stored));
        assert_eq!(ours, theirs, "{} and {}: equal to us and to the sandbox", one.stored, other.stored);
        let id = self.cloudflare.put_record(&self.zone_id, one.body.clone()).expect("it was taken before");
        let beside = self.judged(&other.body);
        let both_are = |name: &str| one.stored["type"] == name && other.stored["type"] == name;
        let exists = if both_are("CNAME") { &EXISTS[..] } else { &EXISTS[..2] };
        let is_twin = beside.is_err_and(|codes| codes.iter().any(|code| exists.contains(code)));
        let same_key = (self.hooks.key)(&one.canonical) == (self.hooks.key)(&other.canonical);
        // To the API two ways to part a TXT into strings are two contents.
        let is_parted_otherwise = ours && one.stored["content"] != other.stored["content"];
        if (self.hooks.refuses_twins)(&one.canonical) && !is_parted_otherwise {
            assert_eq!(
                same_key, is_twin,
                "{} and {}: one key, and refused as existing",
                one.stored, other.stored
            );
        } else {
            assert!(same_key || !is_twin, "{} and {} are one to the sandbox", one.stored, other.stored);
        }
        assert!(self.cloudflare.remove_record(&self.zone_id, &id));
    }
}

/// What is read of a record as it is written: of two forms of what it says, one.
fn written_back(answer: &Value) -> Value {
    let mut body = answer.clone();
    if let Some(members) = body.as_object_mut().filter(|members| members.contains_key("data")) {
        members.remove("content");
    }
    body
}

/// The strings of a TXT put together, as DNS defines what it says (RFC 1035, 5.1): quotes part them, a backslash takes the
/// meaning of what follows.
fn said(content: &str) -> Vec<u8> {
    let (mut said, mut letters) = (Vec::new(), content.bytes().peekable());
    let mut within = false;
    while let Some(letter) = letters.next() {
        match letter {
            b'"' => within = !within,
            b'\\' => match letters.next() {
                Some(digit @ b'0'..=b'9') => {
                    let more =
                        [letters.next(), letters.next()].map(|next| u16::from(next.unwrap_or(b'0') - b'0'));
                    let number = u16::from(digit - b'0') * 100 + more[0] * 10 + more[1];
                    said.push(u8::try_from(number).expect("the sandbox took it"));
                }
                other => said.extend(other),
            },
            letter if within => said.push(letter),
            _ => {}
        }
    }
    said
}

/// What an answer says of the record itself: tags are a set, and case is nothing in their names.
fn essence(answer: &Value) -> Value {
    let mut essence = answer.clone();
    let Some(members) = essence.as_object_mut() else { return essence };
    INCIDENTAL.iter().for_each(|name| drop(members.remove(*name)));
    if members.get("type").is_some_and(|kind| kind == "TXT") {
        let content = members["content"].as_str().unwrap_or_default();
        members.insert("content".to_owned(), json!(said(content)));
    }
    if let Some(Value::Array(tags)) = members.get_mut("tags") {
        let name = |tag: &Value| match tag.as_str().unwrap_or_default().split_once(':') {
            Some((name, value)) => json!(format!("{}:{value}", name.to_ascii_lowercase())),
            None => tag.as_str().unwrap_or_default().to_ascii_lowercase().into(),
        };
        let mut set: Vec<Value> = tags.iter().map(name).collect();
        set.sort_by_key(Value::to_string);
        set.dedup();
        *tags = set;
    }
    essence
}
