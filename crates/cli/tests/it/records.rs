//! The record hooks and the schema against the sandbox, which was written from the APIs' documentation alone: what it
//! stores of a body of ours is what we wanted, what we hold for one record it refuses to store twice, the rules of the
//! schema say what they are for, and what goes over the wire fits the facts of the real API. How a record comes to be is
//! for the scenarios.

#[path = "../../../kinds/src/hooks/dns_record/tests/random.rs"]
mod random;

use bytes::Bytes;
use futures::FutureExt as _;
use http::{Method, Request, header};
use kinds::table::{Hooks, Parents};
use kinds::{Resource, kind};
use operator::transport::{Transport, in_process};
use sandbox::clock::Clock;
use sandbox::cloudflare::{Cloudflare, Plan, Switches, Token};
use sandbox::kubernetes::ApiServer;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use self::random::{Random, Sample, TYPES, ZONE};

/// Records of each type and world.
const ROUNDS: usize = 25;
/// Cloudflare's codes for a record that exists.
const EXISTS: [u64; 3] = [81_053, 81_057, 81_058];

/// The base path of the real API.
const BASE_PATH: &str = "/client/v4";
/// The account that the zone is in, and its token.
const ACCOUNT: &str = "0123456789abcdef0123456789abcdef";
const TOKEN: &str = "witnessTokenOfTheFormOfRealOnes000000000";

/// A zone at the sandbox, and what the hooks see of it.
struct Witness {
    cloudflare: Cloudflare,
    transport: Transport,
    zone_id: String,
    zone: Resource,
    hooks: Hooks,
}

impl Witness {
    fn new(switches: Switches) -> Self {
        let clock = Clock::starting_at("2026-11-01T00:00:00Z".parse().expect("a time"));
        let cloudflare = Cloudflare::with_switches(clock, 1, switches);
        cloudflare.hold_to_schemas();
        cloudflare.add_account(ACCOUNT, "Witness");
        cloudflare.add_token(TOKEN, Token::all(ACCOUNT));
        let zone_id = cloudflare.add_zone(ACCOUNT, ZONE, Plan::Enterprise);
        let transport = in_process(cloudflare.service(), BASE_PATH);
        let zone = Resource {
            spec: json!({ "name": ZONE }),
            status: json!({ "cloudflareMetadata": { "zoneID": zone_id, "plan": "enterprise" } }),
            ..Resource::default()
        };
        Self { cloudflare, transport, zone_id, zone, hooks: kind("DNSRecord").expect("the kind").hooks }
    }

    fn parents(&self) -> Parents<'_> {
        Parents::from([("zoneRef", &self.zone)])
    }

    fn body(&self, spec: &Value) -> Value {
        (self.hooks.body)(spec, &self.parents()).unwrap_or_else(|invalid| panic!("{spec}: {invalid}"))
    }

    fn canonical(&self, wire: &Value) -> Value {
        (self.hooks.canonical)(wire, &self.parents())
    }

    fn key(&self, spec: &Value) -> Vec<String> {
        (self.hooks.key)(&self.canonical(&self.body(spec))).into_values().collect()
    }

    /// The record as the sandbox shows it, once kflare has made it.
    fn made(&self, body: &Value) -> Result<(String, Value), Vec<u64>> {
        self.made_by("kflare/test", body)
    }

    /// The same, made by whoever this is.
    fn made_by(&self, agent: &str, body: &Value) -> Result<(String, Value), Vec<u64>> {
        let path = format!("/zones/{}/dns_records", self.zone_id);
        let answer = self.ask(agent, Method::POST, &path, body.to_string());
        let Some(id) = answer["result"]["id"].as_str() else {
            let errors = answer["errors"].as_array().expect("a refusal has errors");
            return Err(errors.iter().filter_map(|error| error["code"].as_u64()).collect());
        };
        let listed = self.ask(agent, Method::GET, &path, String::new());
        let shown = listed["result"].as_array().expect("a list").iter().find(|record| record["id"] == id);
        Ok((id.to_owned(), shown.expect("what was made is there").clone()))
    }

    /// Over the wire, where whatever the facts of the real API do not know is a fault.
    fn ask(&self, agent: &str, method: Method, path: &str, body: String) -> Value {
        let request = Request::builder().method(method).uri(path).header(header::USER_AGENT, agent);
        let request = request.header(header::AUTHORIZATION, format!("Bearer {TOKEN}"));
        let sent = body.clone();
        let request = request.body(Bytes::from(body)).unwrap();
        let answer = self.transport.clone().oneshot(request).now_or_never().expect("it waits for nothing");
        let misfits = self.cloudflare.take_misfits();
        assert!(misfits.is_empty(), "{sent}: {}", misfits[0]);
        serde_json::from_slice(answer.unwrap().body()).unwrap()
    }

    fn remove(&self, id: &str) {
        assert!(self.cloudflare.remove_record(&self.zone_id, id));
    }

    /// What a DS needs beside it.
    fn delegate(&self, sample: &Sample) -> Option<String> {
        let name = sample.spec["name"].as_str().expect("a name");
        let ns = json!({ "type": "NS", "name": name, "content": "ns1.example.net" });
        (sample.spec["type"] == "DS").then(|| self.made_by("curl/8", &ns).expect("an NS").0)
    }
}

fn worlds() -> Vec<Switches> {
    let plain = Switches { rate_limit: false, ..Switches::default() };
    let bare = Switches { txt_quoted: false, lower_case_targets: false, ..plain.clone() };
    vec![plain, bare]
}

fn for_every_sample(mut check: impl FnMut(&Witness, &Sample)) {
    for switches in worlds() {
        let witness = Witness::new(switches);
        let mut random = Random(3);
        for round in 0..ROUNDS {
            for record_type in TYPES {
                let sample = random.sample(record_type, &format!("r{round}"));
                let ns = witness.delegate(&sample);
                check(&witness, &sample);
                if let Some(ns) = ns {
                    witness.remove(&ns);
                }
            }
        }
        assert!(witness.cloudflare.checked().answers > 0, "nothing was held to the facts");
    }
}

#[test]
fn what_is_stored_of_any_spelling_is_what_we_want() {
    for_every_sample(|witness, sample| {
        let wanted = witness.canonical(&witness.body(&sample.spec));
        for spec in sample.spellings.iter().chain([&sample.spec]) {
            let (id, shown) =
                witness.made(&witness.body(spec)).unwrap_or_else(|codes| panic!("{spec}: {codes:?}"));
            assert_eq!(witness.canonical(&shown), wanted, "{spec} is stored as {shown}");
            assert!(witness.cloudflare.checked().requests > 0, "no request was held to the facts");
            witness.remove(&id);
        }
        for spec in sample.others.iter().chain(&sample.changed) {
            let body = witness.body(spec);
            // Another name has no delegation.
            let Ok((id, shown)) = witness.made(&body) else {
                assert_eq!(spec["type"], "DS", "{spec}");
                continue;
            };
            assert_eq!(witness.canonical(&shown), witness.canonical(&body), "{spec} is stored as {shown}");
            assert_ne!(witness.canonical(&shown), wanted, "{spec}");
            witness.remove(&id);
        }
    });
}

#[test]
fn what_others_spell_in_their_own_way_is_no_drift() {
    let mut stored = 0;
    for_every_sample(|witness, sample| {
        let wanted = witness.canonical(&witness.body(&sample.spec));
        for spec in &sample.spellings {
            // As someone else sends it; what the API takes in another spelling it may keep in it.
            let Ok((id, shown)) = witness.made_by("curl/8", spec) else { continue };
            stored += 1;
            assert_eq!(witness.canonical(&shown), wanted, "{spec} is stored as {shown}");
            witness.remove(&id);
        }
    });
    assert!(stored > ROUNDS * TYPES.len() * 4, "only {stored} spellings were taken");
}

#[test]
fn what_has_an_equal_key_is_refused_where_we_count_on_it() {
    for_every_sample(|witness, sample| {
        let wanted = witness.canonical(&witness.body(&sample.spec));
        if !(witness.hooks.refuses_twins)(&wanted) {
            return;
        }
        let (id, _) = witness.made(&witness.body(&sample.spec)).unwrap();
        for spec in sample.spellings.iter().chain(&sample.changed).chain([&sample.spec]) {
            assert_eq!(witness.key(spec), witness.key(&sample.spec), "{spec}");
            // The strings of a TXT go out as its user wrote them: to some readers they are a list.
            let is_quoted = spec["content"].as_str().is_some_and(|content| content.starts_with('"'));
            if spec["type"] == "TXT" && is_quoted {
                continue;
            }
            let refused = witness.made(&witness.body(spec)).map(|(id, _)| id);
            let codes = refused.as_ref().err().map(Vec::as_slice).unwrap_or_default();
            assert!(codes.iter().any(|code| EXISTS.contains(code)), "{spec}: {refused:?}");
        }
        for spec in &sample.others {
            let (other, _) =
                witness.made(&witness.body(spec)).unwrap_or_else(|codes| panic!("{spec}: {codes:?}"));
            witness.remove(&other);
        }
        witness.remove(&id);
    });
}

/// An API server with our kinds, which answers what is wrong with a record.
struct Schema(ApiServer);

impl Schema {
    fn new() -> Self {
        let clock = Clock::starting_at("2026-11-01T00:00:00Z".parse().expect("a time"));
        let server = ApiServer::new(clock, 1);
        let crds: Vec<Value> =
            kinds::CRDS.iter().map(|crd| serde_json::from_str(crd).expect("a generated CRD")).collect();
        server.install_crds(&crds).expect("the CRDs");
        Self(server)
    }

    fn refusal(&self, spec: &Value) -> Option<String> {
        let mut spec = spec.clone();
        spec["zoneRef"] = json!({ "name": "example-com" });
        let metadata = json!({ "name": "record", "namespace": "default" });
        let object = json!({
            "apiVersion": "kflare.dev/v1alpha1", "kind": "DNSRecord", "metadata": metadata, "spec": spec,
        });
        let refused = self.0.apply_strictly(object).err().map(|status| status.message);
        if refused.is_none() {
            self.0.delete("dnsrecords", Some("default"), "record").expect("what was applied is there");
        }
        refused
    }
}

#[test]
fn records_of_every_type_pass_the_schema() {
    let schema = Schema::new();
    let mut random = Random(4);
    for record_type in TYPES {
        let sample = random.sample(record_type, "www");
        for spec in sample.others.iter().chain(&sample.changed).chain([&sample.spec]) {
            assert_eq!(schema.refusal(spec), None, "{spec}");
        }
    }
}

#[test]
fn the_schema_refuses_what_no_record_can_have_and_says_the_fix() {
    let schema = Schema::new();
    for (spec, message) in [
        (json!({ "type": "A" }), "content, data: set exactly one of the two"),
        (json!({ "type": "DS", "content": "1 13 2 ab", "data": {} }), "content, data: set exactly one"),
        (json!({ "type": "NS", "data": { "target": "x" } }), "data: A, AAAA, CNAME, MX, NS, OPENPGPKEY, PTR"),
        (json!({ "type": "SPF", "content": "x" }), "spec.type"),
        (json!({ "type": "MX", "content": "mx.example.net" }), "priority: MX and URI records need it"),
        (json!({ "type": "URI", "content": "1 x" }), "priority: MX and URI records need it"),
        (json!({ "type": "SRV", "content": "1 2 x", "priority": 1 }), "priority: only MX and URI records"),
        (json!({ "type": "PTR", "content": "*.example.net" }), "content: a target cannot be a wildcard"),
        (
            json!({ "type": "NS", "content": "ns1.example.net", "proxied": true }),
            "proxied: only A, AAAA and CNAME",
        ),
        (
            json!({ "type": "A", "content": "192.0.2.1", "proxied": true, "ttl": 60 }),
            "ttl: a proxied record's TTL",
        ),
        (json!({ "type": "A", "content": "192.0.2.1", "ttl": 29 }), "ttl: must be 1 (automatic) or from 30"),
        (
            json!({ "type": "A", "content": "192.0.2.1", "settings": { "ipv4Only": true } }),
            "settings: ipv4Only and ipv6Only need a proxied record",
        ),
        (
            json!({ "type": "A", "content": "192.0.2.1", "proxied": true, "settings": { "ipv4Only": true, "ipv6Only": true } }),
            "settings: ipv4Only and ipv6Only exclude each other",
        ),
        (
            json!({ "type": "CNAME", "content": "x.example.net", "proxied": true, "settings": { "flattenCname": true } }),
            "settings: flattenCname is for CNAME records that are not proxied",
        ),
        (
            json!({ "type": "TXT", "content": "x", "settings": { "flattenCname": true } }),
            "settings: flattenCname",
        ),
        (json!({ "type": "A", "content": "192.0.2.1", "settings": { "ipv4only": true } }), "ipv4only"),
    ] {
        let mut named = spec.clone();
        named["name"] = json!("www");
        let refusal = schema.refusal(&named).unwrap_or_default();
        assert!(refusal.contains(message), "{named}: {refusal}");
    }
}
