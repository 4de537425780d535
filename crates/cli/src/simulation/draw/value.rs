//! What records say: values of all 21 types, each in as many versions as wanted, and the optional fields around them.
//! Written as people write them; every spelling here is one that Cloudflare's API brings to the same form.

use serde_json::{Value, json};

use super::super::random::Random;

/// The types that most zones are made of.
pub(super) const COMMON: &[&str] = &["A", "AAAA", "CNAME", "TXT", "MX", "SRV", "CAA"];

/// All of them but DS, which needs an NS beside it.
pub(super) const ALL: &[&str] = &[
    "A",
    "AAAA",
    "CAA",
    "CERT",
    "CNAME",
    "DNSKEY",
    "HTTPS",
    "LOC",
    "MX",
    "NAPTR",
    "NS",
    "OPENPGPKEY",
    "PTR",
    "SMIMEA",
    "SRV",
    "SSHFP",
    "SVCB",
    "TLSA",
    "TXT",
    "URI",
];

/// `content` or `data`, and a priority where the type has one.
pub(super) fn of(kind: &str, version: usize) -> Value {
    let n = version + 1;
    let host = if n.is_multiple_of(2) { format!("T{n}.Example.net.") } else { format!("t{n}.example.net") };
    let hex = format!("{n:02x}").repeat(32);
    // Every character of these is one of base64, and the length is a multiple of four.
    let base64 = format!("AQID{n:04}").repeat(6);
    match kind {
        "A" => json!({ "content": format!("192.0.2.{n}") }),
        "AAAA" => json!({ "content": format!("2001:DB8::{n:x}") }),
        "CAA" => {
            json!({ "data": { "flags": 128 * (n % 2), "tag": "issue", "value": format!("ca{n}.example.net") } })
        }
        "CERT" => json!({ "data": { "type": 9, "key_tag": n, "algorithm": 0, "certificate": base64 } }),
        "CNAME" | "NS" | "PTR" => json!({ "content": host }),
        "DNSKEY" => json!({ "data": { "flags": 257, "protocol": 3, "algorithm": 13, "public_key": base64 } }),
        "DS" => json!({ "data": { "key_tag": n, "algorithm": 13, "digest_type": 2, "digest": hex } }),
        "HTTPS" => json!({ "data": { "priority": n, "target": ".", "value": "alpn=\"h3,h2\"" } }),
        "LOC" => json!({ "data": {
            "lat_degrees": n % 90, "lat_minutes": 12, "lat_seconds": 34.5, "lat_direction": "N",
            "long_degrees": n % 180, "long_minutes": 1, "long_seconds": 2, "long_direction": "W",
            "altitude": 10, "size": 1, "precision_horz": 10000, "precision_vert": 10,
        } }),
        "MX" => json!({ "content": host, "priority": n }),
        "NAPTR" => json!({ "data": {
            "order": n, "preference": 10, "flags": "U", "service": "E2U+sip",
            "regex": format!("!^.*$!sip:info{n}@example.net!"), "replacement": ".",
        } }),
        "OPENPGPKEY" => json!({ "content": base64 }),
        "SMIMEA" | "TLSA" => {
            json!({ "data": { "usage": 3, "selector": 1, "matching_type": 1, "certificate": hex } })
        }
        "SRV" => json!({ "data": { "priority": n, "weight": 5, "port": 5060, "target": "sip.example.net" } }),
        "SSHFP" => json!({ "data": { "algorithm": 4, "type": 2, "fingerprint": hex } }),
        "SVCB" => json!({ "data": { "priority": n, "target": host, "value": format!("port=\"{n}\"") } }),
        "URI" => {
            json!({ "data": { "weight": n, "target": format!("https://example.net/{n}") }, "priority": 10 })
        }
        // More than one piece of a TXT has room for (case B037).
        _ if n.is_multiple_of(3) => json!({ "content": format!("long text number {n} ").repeat(20).trim() }),
        _ => json!({ "content": format!("text number {n}") }),
    }
}

/// The optional fields of a record; what is absent is not written.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields {
    ttl: Option<u32>,
    proxied: Option<bool>,
    comment: Option<String>,
    tags: Option<Vec<String>>,
    settings: Option<Value>,
}

impl Fields {
    /// Some fields, such as Cloudflare mostly takes.
    pub(super) fn draw(random: &mut Random, kind: &str) -> Self {
        let mut fields = Self::default();
        for name in ["ttl", "proxied", "comment", "tags", "settings"] {
            if random.chance(15) {
                fields.change(random, kind, name);
            }
        }
        fields
    }

    /// Sets or drops one field.
    pub(super) fn change_any(&mut self, random: &mut Random, kind: &str) {
        let name = random.pick(&["ttl", "proxied", "comment", "comment", "tags", "settings"]).copied();
        self.change(random, kind, name.unwrap_or("ttl"));
    }

    fn change(&mut self, random: &mut Random, kind: &str, name: &str) {
        let number = random.below(5);
        let drops = number == 0;
        let can_be_proxied = matches!(kind, "A" | "AAAA" | "CNAME");
        match name {
            // 30 is too small for all plans but one, and the API server does not know the plan.
            "ttl" => self.ttl = (!drops).then(|| [60, 300, 3_600, 30][number - 1]),
            "proxied" => {
                self.proxied = (!drops && can_be_proxied).then_some(number > 1);
                if self.proxied == Some(true) {
                    self.ttl = None;
                } else {
                    self.settings = None;
                }
            }
            "comment" => self.comment = (!drops).then(|| format!("note {number}")),
            // Free zones have none: then Cloudflare refuses.
            "tags" if random.chance(40) => {
                self.tags = (!drops).then(|| vec![format!("team:t{number}"), "owner".to_owned()]);
            }
            "settings" => self.settings = (!drops).then(|| self.fitting(kind)).flatten(),
            _ => {}
        }
    }

    fn fitting(&self, kind: &str) -> Option<Value> {
        match (kind, self.proxied == Some(true)) {
            ("A" | "AAAA" | "CNAME", true) => Some(json!({ "ipv4Only": true })),
            ("CNAME", false) => Some(json!({ "flattenCname": true })),
            _ => None,
        }
    }

    /// Writes the fields into a spec; a field that is not there is removed by a patch.
    pub(super) fn put(&self, spec: &mut Value) {
        let mut set = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                spec[name] = value;
            }
        };
        set("ttl", self.ttl.map(Value::from));
        set("proxied", self.proxied.map(Value::from));
        set("comment", self.comment.clone().map(Value::from));
        set("tags", self.tags.clone().map(Value::from));
        set("settings", self.settings.clone());
    }

    /// The same as a merge patch of a spec that may have any of them.
    pub(super) fn patch(&self) -> Value {
        let mut spec =
            json!({ "ttl": null, "proxied": null, "comment": null, "tags": null, "settings": null });
        self.put(&mut spec);
        spec
    }
}

#[cfg(test)]
mod tests {
    use sandbox::clock::Clock;
    use sandbox::cloudflare::{Cloudflare, Plan};

    use super::*;

    #[test]
    fn every_value_is_one_that_cloudflare_takes_and_differs_from_the_next() {
        let cloudflare = Cloudflare::new(Clock::starting_at(jiff::Timestamp::UNIX_EPOCH), 1);
        let zone = cloudflare.add_zone("0123456789abcdef0123456789abcdef", "example.com", Plan::Pro);
        cloudflare
            .put_record(&zone, json!({"type": "NS", "name": "ds", "content": "ns.example.net"}))
            .unwrap();
        for kind in ALL.iter().chain(&["DS"]) {
            let stored = |version| {
                let mut body = of(kind, version);
                body["type"] = json!(kind);
                body["name"] = json!(if *kind == "DS" { "ds" } else { "r" });
                let stored = cloudflare.judge_record(&zone, None, &body);
                let stored = stored.unwrap_or_else(|errors| panic!("{kind}: {errors}"));
                (stored["content"].clone(), stored["priority"].clone())
            };
            for version in 0..4 {
                assert_ne!((kind, stored(version)), (kind, stored(version + 1)));
            }
        }
    }
}
