//! Requests of any kind to the sandbox's Kubernetes. Every error is a Status, what is refused or only read changes
//! nothing, versions grow, and no object is lost that nobody deleted.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::Full;
use sandbox::clock::Clock;
use sandbox::kubernetes::ApiServer;
use serde_json::{Value, json};

use crate::exchange::{Answer, in_standing_time, requests, send};

/// Everything that is looked at, beside our own kinds.
const KINDS: &[&str] = &[
    "Namespace",
    "ConfigMap",
    "Secret",
    "Service",
    "ServiceAccount",
    "Deployment",
    "Event",
    "Lease",
    "CustomResourceDefinition",
    "CloudflareAccount",
    "Zone",
    "DNSRecord",
];

pub(crate) fn run(input: &[u8]) {
    let requests = requests(input);
    if requests.is_empty() {
        return;
    }
    in_standing_time(|| {
        let server = served();
        let mut service = server.service();
        for request in requests {
            let asked = Asked::of(&request);
            let before = Inventory::of(&server);
            let Some(answer) = send(&mut service, request) else { continue };
            let after = Inventory::of(&server);
            Asked::is_answered(&answer);
            asked.has_kept(&answer, &before, &after);
        }
    });
}

/// A server with our kinds and one of each of them.
fn served() -> ApiServer {
    let server = ApiServer::new(Clock::starting_at("2026-11-01T00:00:00Z".parse().expect("a time")), 1);
    let crds: Vec<Value> =
        kinds::CRDS.iter().map(|crd| serde_json::from_str(crd).expect("a generated definition")).collect();
    server.install_crds(&crds).expect("our definitions");
    let object = |api: &str, kind: &str, name: &str, rest: Value| {
        let mut object = json!({ "apiVersion": api, "kind": kind, "metadata": { "name": name } });
        object
            .as_object_mut()
            .into_iter()
            .for_each(|all| all.extend(rest.as_object().cloned().unwrap_or_default()));
        object
    };
    let of_ours = "kflare.dev/v1alpha1";
    for object in [
        object("v1", "ConfigMap", "a", json!({ "data": { "a": "b" } })),
        object("v1", "Secret", "a", json!({ "stringData": { "a": "b" } })),
        object(
            of_ours,
            "Zone",
            "a",
            json!({ "spec": { "name": "example.com", "accountRef": { "name": "main" } } }),
        ),
        object(
            of_ours,
            "DNSRecord",
            "a",
            json!({ "spec": { "zoneRef": { "name": "a" }, "name": "a", "type": "A", "content": "192.0.2.1" } }),
        ),
    ] {
        server.apply(object).expect("one of our objects");
    }
    server
}

/// Every object by kind, namespace and name, and the version of the last write.
#[derive(PartialEq)]
struct Inventory {
    version: u64,
    objects: BTreeMap<(&'static str, String), Value>,
}

impl Inventory {
    fn of(server: &ApiServer) -> Self {
        let of_kind = |kind: &&'static str| {
            let kind = *kind;
            server.list(kind).into_iter().map(move |object| {
                let word = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
                ((kind, format!("{}/{}", word("namespace"), word("name"))), object)
            })
        };
        let objects = KINDS.iter().flat_map(of_kind).collect();
        Self { version: server.resource_version(), objects }
    }

    /// What of it is not in `other`, or something else of the same name is.
    fn lost_in(&self, other: &Self) -> Vec<&(&'static str, String)> {
        let uid = |object: &Value| object["metadata"]["uid"].clone();
        let is_lost = |key: &&(&'static str, String)| {
            other.objects.get(*key).is_none_or(|there| uid(there) != uid(&self.objects[*key]))
        };
        self.objects.keys().filter(is_lost).collect()
    }

    fn is_anything_going(&self) -> bool {
        self.objects.values().any(|object| object["metadata"]["deletionTimestamp"].is_string())
    }
}

/// What of a request decides what may come of it.
struct Asked {
    line: String,
    method: Method,
    is_dry: bool,
    names_owners: bool,
}

impl Asked {
    fn of(request: &Request<Full<Bytes>>) -> Self {
        let query = request.uri().query().unwrap_or_default();
        let body = format!("{:?}", request.body());
        Self {
            line: format!("{} {}", request.method(), request.uri()),
            method: request.method().clone(),
            is_dry: query.contains("dryRun=All"),
            // What names an owner that is gone is collected at once.
            names_owners: body.contains("ownerReferences"),
        }
    }

    fn is_answered(answer: &Answer) {
        // What no part of the server serves is answered as Go's router does.
        let is_nowhere = answer.status == StatusCode::NOT_FOUND && answer.body == b"404 page not found\n";
        if answer.status.as_u16() >= 400 && !is_nowhere {
            is_status(answer);
        }
    }

    fn has_kept(&self, answer: &Answer, before: &Inventory, after: &Inventory) {
        assert!(after.version >= before.version, "{}: versions shrink", self.line);
        let is_read = matches!(self.method, Method::GET | Method::HEAD);
        if is_read || self.is_dry || answer.status.as_u16() >= 400 {
            assert!(before == after, "{}, answered with {}, changed something", self.line, answer.status);
        }
        for (key, object) in &after.objects {
            let version =
                object["metadata"]["resourceVersion"].as_str().and_then(|text| text.parse::<u64>().ok());
            let version = version.unwrap_or_else(|| panic!("{}: {key:?} has no version", self.line));
            let is_new = before.objects.get(key) != Some(object);
            let bounds = if is_new { before.version + 1..=after.version } else { 0..=before.version };
            assert!(bounds.contains(&version), "{}: {key:?} has version {version}", self.line);
        }
        let may_lose = self.method == Method::DELETE || before.is_anything_going() || self.names_owners;
        let lost = before.lost_in(after);
        assert!(may_lose || lost.is_empty(), "{}: {lost:?} are lost", self.line);
    }
}

/// An error as Kubernetes says it.
pub(crate) fn is_status(answer: &Answer) {
    let text = String::from_utf8_lossy(&answer.body);
    let status: Value = serde_json::from_slice(&answer.body).unwrap_or_else(|_| panic!("no JSON: {text}"));
    assert_eq!((&status["kind"], &status["apiVersion"]), (&json!("Status"), &json!("v1")), "{text}");
    assert_eq!(status["code"], answer.status.as_u16(), "{text}");
    assert_eq!(status["status"], "Failure", "{text}");
    // An error of the server's own code comes without a reason.
    let has_reason = status["reason"].as_str().is_some_and(|reason| !reason.is_empty());
    assert!(has_reason || answer.status == StatusCode::INTERNAL_SERVER_ERROR, "{text}");
    assert!(status["message"].as_str().is_some_and(|message| !message.is_empty()), "{text}");
}
