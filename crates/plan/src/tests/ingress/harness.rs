//! A small world in YAML and what comes of it as text: `{name: apps/web, rules: [{host: h, paths: [Prefix / web-a:80]}]}`
//! is an Ingress, `apps/web-a: [80]` a Service. What a table leaves out is a Service web-a, web-b or web-c in apps.

use std::collections::BTreeMap;

use expect_test::Expect;
use kinds::cloudflared::{Configuration, PathExpression};
use kinds::{Key, names};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::ingress::backend::Services;
use crate::ingress::rules::Assembled;
use crate::ingress::view::Service;
use crate::ingress::{Exposed, Surroundings, assemble, change, expose, rules};
use crate::snapshot::Lookup;

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(super) struct World {
    ingresses: Vec<Short>,
    /// `missing`, `unknown`, a list of ports or a spec.
    services: BTreeMap<String, Value>,
    pub(super) live: Vec<Value>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Short {
    name: String,
    /// Younger ones have larger numbers.
    age: u32,
    annotations: BTreeMap<String, String>,
    deleting: bool,
    default: Option<String>,
    tls: bool,
    rules: Vec<ShortRule>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct ShortRule {
    host: Option<String>,
    paths: Option<Vec<String>>,
}

impl World {
    pub(super) fn read(yaml: &str) -> Self {
        serde_saphyr::from_str(yaml).unwrap()
    }

    pub(super) fn objects(&self) -> Vec<Value> {
        self.ingresses.iter().map(Short::object).collect()
    }

    fn services(&self) -> Services {
        let standing = ["web-a", "web-b", "web-c"].map(|name| (Key::new("apps", name), found(json!([80]))));
        let mut services = Services::from(standing);
        for (name, what) in &self.services {
            let found = match what {
                Value::String(word) if word == "missing" => Lookup::Missing,
                Value::String(word) if word == "unknown" => Lookup::Unknown("timed out".to_owned()),
                other => found(other.clone()),
            };
            services.insert(key(name), found);
        }
        services
    }

    pub(super) fn exposed(&self) -> Vec<Exposed> {
        let services = self.services();
        let around =
            Surroundings { services: &services, cluster_domain: "cluster.local", compiles: &compiles };
        self.objects().iter().map(|object| expose(object, &around)).collect()
    }
}

pub(super) fn compiles(expression: &str) -> Result<(), String> {
    PathExpression::parse(expression).map(drop).map_err(|error| error.to_string())
}

pub(super) fn key(text: &str) -> Key {
    let (namespace, name) = text.split_once('/').unwrap();
    Key::new(namespace, name)
}

fn found(what: Value) -> Lookup<Service> {
    let port = |port: &Value| match port {
        Value::Number(number) => json!({"port": number, "targetPort": 8080}),
        named => named.clone(),
    };
    let spec = match what {
        Value::Array(ports) => json!({"ports": ports.iter().map(port).collect::<Value>()}),
        spec => spec,
    };
    Lookup::Found(Service::read(&json!({ "spec": spec })).unwrap())
}

impl Short {
    fn object(&self) -> Value {
        let Key { namespace, name } = key(&self.name);
        let annotations: BTreeMap<String, &String> =
            self.annotations.iter().map(|(name, value)| (full_annotation(name), value)).collect();
        let rules: Vec<Value> = self.rules.iter().map(ShortRule::object).collect();
        let mut object = json!({
            "metadata": {
                "namespace": namespace,
                "name": name,
                "creationTimestamp": format!("2026-01-01T00:00:{:02}Z", self.age),
                "annotations": annotations,
            },
            "spec": {"ingressClassName": "cloudflare-tunnel", "rules": rules},
        });
        if self.deleting {
            object["metadata"]["deletionTimestamp"] = json!("2026-02-01T00:00:00Z");
        }
        if self.tls {
            object["spec"]["tls"] = json!([{"hosts": ["elsewhere.example.net"], "secretName": "tls"}]);
        }
        if let Some(default) = &self.default {
            object["spec"]["defaultBackend"] = backend(default);
        }
        object
    }
}

fn full_annotation(short: &str) -> String {
    match short.strip_prefix("own/") {
        Some(own) => format!("{}/{own}", names::GROUP),
        None => names::ingress::BACKEND_PROTOCOL.replace("backend-protocol", short),
    }
}

impl ShortRule {
    fn object(&self) -> Value {
        let path = |line: &String| {
            let words: Vec<&str> = line.split(' ').collect();
            let (kind, path, to) = (words[0], words[1], words[2]);
            json!({"pathType": kind, "path": if path == "-" { "" } else { path }, "backend": backend(to)})
        };
        let mut rule = json!({});
        if let Some(host) = &self.host {
            rule["host"] = json!(host);
        }
        if let Some(paths) = &self.paths {
            rule["http"] = json!({"paths": paths.iter().map(path).collect::<Vec<_>>()});
        }
        rule
    }
}

fn backend(to: &str) -> Value {
    let Some((service, port)) = to.split_once(':') else {
        return json!({"resource": {"kind": to, "name": to}});
    };
    let port = match port.parse::<i64>() {
        Ok(number) => json!({"number": number}),
        Err(_) => json!({"name": port}),
    };
    json!({"service": {"name": service, "port": port}})
}

/// Everything that is said and done, one line each.
pub(super) fn told(exposed: &[Exposed], assembled: &Assembled) -> String {
    let mut lines: Vec<String> = assembled.rules.iter().map(ToString::to_string).collect();
    let own = exposed.iter().flat_map(|one| one.notices.iter().map(|notice| (&one.owner.key, notice)));
    let others = assembled.notices.iter().map(|(key, notice)| (key, notice));
    lines.extend(own.chain(others).map(|(key, notice)| {
        let kind = if notice.is_normal() { "Normal" } else { "Warning" };
        format!("{key} {kind} {}: {notice}", notice.reason())
    }));
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Compares what comes of a world, that connectors take it, and that the same comes of it in any order and once more of its own result.
pub(super) fn check(yaml: &str, expected: &Expect) {
    let world = World::read(yaml);
    let mut exposed = world.exposed();
    let assembled = assemble(&exposed, &world.live, "cluster.local");
    expected.assert_eq(&told(&exposed, &assembled));
    let now: Vec<Value> = assembled.rules.iter().map(rules::Rule::to_json).collect();
    let config = json!({ "ingress": now });
    Configuration::read(&config).unwrap();
    exposed.reverse();
    let again = assemble(&exposed, &now, "cluster.local");
    let change = change(&Lookup::Found(config), &again.rules);
    assert_eq!(change, rules::Change::Nothing, "a second look writes again");
}
