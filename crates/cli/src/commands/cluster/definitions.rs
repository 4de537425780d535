//! Whether the CustomResourceDefinitions of a cluster have all that this kflare reads and writes. A field that the API
//! server does not know it drops without a word, which for a status means that the same is written again and again.
//! Asks the API server's own descriptions of itself, which everyone may read who can log in; newer ones are no gap.

use std::fmt;

use kinds::names;
use kube::Client;
use serde_json::Value;

use super::error::ClusterError;
use super::look::{is_kubernetes, look};

/// Missing parts that are named; more would hide what is to be done.
const PARTS_SHOWN: usize = 5;

/// Where the API server says which parts an object has whose fields it does not check.
const FREE: &str = "x-kubernetes-preserve-unknown-fields";

/// A CustomResourceDefinition that lacks something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    definition: String,
    /// Paths of fields, values of fields, subresources.
    missing: Vec<String>,
    /// The operator could not keep what it has to remember.
    is_fatal: bool,
}

impl Gap {
    /// True when the operator cannot work with it.
    pub(in crate::commands) fn is_fatal(&self) -> bool {
        self.is_fatal
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: Vec<&str> = self.missing.iter().take(PARTS_SHOWN).map(String::as_str).collect();
        write!(f, "{} lacks {}", self.definition, shown.join(", "))?;
        match self.missing.len() - shown.len() {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// What the definitions of a cluster lack. Nothing, when the API server does not describe itself: then the objects
/// themselves will show.
pub(in crate::commands) async fn gaps(client: &Client, server: &str) -> Vec<Gap> {
    let resources = get(client, server, &format!("/apis/{}", names::API_VERSION)).await;
    let described = get(client, server, &format!("/openapi/v3/apis/{}", names::API_VERSION)).await;
    let ours = kinds::CRDS.iter().filter_map(|crd| serde_json::from_str::<Value>(crd).ok());
    ours.filter_map(|crd| gap(&crd, resources.as_ref(), described.as_ref())).collect()
}

/// What to say of definitions that the API server does not have in our version.
pub(in crate::commands) async fn absent(client: &Client, server: &str, missing: Vec<String>) -> ClusterError {
    let found = get(client, server, &format!("/apis/{}", names::GROUP)).await;
    if found.is_none()
        && let Err(cause) = is_kubernetes(client).await
    {
        return ClusterError::NotKubernetes { server: server.to_owned(), cause };
    }
    let group = found.unwrap_or_default();
    let versions = group["versions"].as_array().into_iter().flatten();
    let served: Vec<&str> = versions.filter_map(|version| version["version"].as_str()).collect();
    if served.is_empty() || served.contains(&names::VERSION) {
        ClusterError::NoSuchKinds(missing)
    } else {
        ClusterError::OtherVersion { served: served.join(", ") }
    }
}

async fn get(client: &Client, server: &str, path: &str) -> Option<Value> {
    let request = http::Request::get(path).body(Vec::new()).ok()?;
    match look(server, path.to_owned(), client.request(request)).await {
        Ok(found) => Some(found),
        Err(error) => {
            tracing::debug!(%error, path, "the API server does not describe itself");
            None
        }
    }
}

/// What one definition lacks. `None` also for one that is not there at all, which whoever lists its objects finds out.
fn gap(ours: &Value, resources: Option<&Value>, described: Option<&Value>) -> Option<Gap> {
    let word = |pointer: &str| ours.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let (kind, plural) = (word("/spec/names/kind"), word("/spec/names/plural"));
    let mut missing = Vec::new();
    if let Some(resources) = resources.and_then(|list| list["resources"].as_array()) {
        let has = |name: &str| resources.iter().any(|resource| resource["name"] == name);
        if has(plural) && !has(&format!("{plural}/status")) {
            missing.push("the subresource status".to_owned());
        }
    }
    let mut is_fatal = !missing.is_empty();
    if let Some(theirs) = described.and_then(|document| schema(document, kind)) {
        let ours = &ours["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
        for part in ["spec", "status"] {
            let known = missing.len();
            compare(&ours["properties"][part], &theirs["properties"][part], part, &mut missing);
            is_fatal |= part == "status" && missing.len() > known;
        }
    }
    (!missing.is_empty()).then(|| Gap { definition: word("/metadata/name").to_owned(), missing, is_fatal })
}

/// The schema of a kind in a description of its group and version.
fn schema<'d>(document: &'d Value, kind: &str) -> Option<&'d Value> {
    let is_kind = |schema: &&Value| {
        let named = schema["x-kubernetes-group-version-kind"].as_array();
        named.into_iter().flatten().any(|name| name["group"] == names::GROUP && name["kind"] == kind)
    };
    document["components"]["schemas"].as_object()?.values().find(is_kind)
}

/// Adds the paths that our schema has and theirs has not, and the values.
fn compare(ours: &Value, theirs: &Value, path: &str, missing: &mut Vec<String>) {
    if theirs[FREE] == true {
        return;
    }
    if theirs.is_null() {
        missing.push(path.to_owned());
        return;
    }
    if !ours["items"].is_null() {
        compare(&ours["items"], &theirs["items"], path, missing);
    }
    if let (Some(ours), Some(theirs)) = (ours["enum"].as_array(), theirs["enum"].as_array()) {
        let unknown = ours.iter().filter(|value| !theirs.contains(value));
        missing.extend(unknown.map(|value| format!("{path}: {}", value.as_str().unwrap_or_default())));
    }
    for (name, field) in ours["properties"].as_object().into_iter().flatten() {
        compare(field, &theirs["properties"][name], &format!("{path}.{name}"), missing);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::scenario::simulate;
    use crate::world::{Options, World};

    /// The gaps of a cluster whose definitions were changed before they were installed.
    fn of_cluster(change: fn(&mut Value)) -> (Vec<Gap>, ClusterError) {
        let looked = simulate(async {
            let empty = sandbox::kubernetes::ApiServer::new(
                sandbox::clock::Clock::starting_at(jiff::Timestamp::UNIX_EPOCH),
                1,
            );
            let mut crds: Vec<Value> =
                kinds::CRDS.iter().map(|crd| serde_json::from_str(crd).unwrap()).collect();
            crds.iter_mut().for_each(change);
            empty.install_crds(&crds).unwrap();
            let client = Client::new(empty.service(), "default");
            (
                gaps(&client, "http://x").await,
                absent(&client, "http://x", vec!["zones.kflare.dev".to_owned()]).await,
            )
        });
        looked.unwrap()
    }

    fn version(crd: &mut Value) -> &mut Value {
        &mut crd["spec"]["versions"][0]
    }

    fn properties<'c>(crd: &'c mut Value, part: &str) -> &'c mut serde_json::Map<String, Value> {
        let schema = &mut version(crd)["schema"]["openAPIV3Schema"];
        schema["properties"][part]["properties"].as_object_mut().unwrap()
    }

    #[test]
    fn the_definitions_of_this_kflare_lack_nothing() {
        let looked = simulate(async {
            let world = World::new(Options { empty: true, ..Options::default() }).unwrap();
            gaps(&world.ways().0, "http://x").await
        });
        assert_eq!(looked.unwrap(), []);
    }

    #[test]
    fn a_field_of_the_spec_that_is_missing_is_named_and_no_reason_not_to_start() {
        let (gaps, _) = of_cluster(|crd| {
            if crd["spec"]["names"]["kind"] == "DNSRecord" {
                properties(crd, "spec").remove("tags");
            }
        });
        let said: Vec<String> = gaps.iter().map(ToString::to_string).collect();
        assert_eq!(said, ["dnsrecords.kflare.dev lacks spec.tags"]);
        assert!(!gaps[0].is_fatal());
    }

    #[test]
    fn a_status_that_cannot_be_kept_is_fatal() {
        let (gaps, _) = of_cluster(|crd| {
            if crd["spec"]["names"]["kind"] == "DNSRecord" {
                properties(crd, "status").remove("appliedFields");
            }
            if crd["spec"]["names"]["kind"] == "Zone" {
                version(crd)["subresources"] = json!({});
            }
        });
        let said: Vec<String> = gaps.iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [
                "zones.kflare.dev lacks the subresource status",
                "dnsrecords.kflare.dev lacks status.appliedFields"
            ]
        );
        assert!(gaps.iter().all(Gap::is_fatal));
    }

    #[test]
    fn another_version_is_told_from_none() {
        let (_, error) = of_cluster(|crd| version(crd)["name"] = json!("v1beta1"));
        assert!(matches!(&error, ClusterError::OtherVersion { served } if served == "v1beta1"), "{error}");
        let (_, error) = of_cluster(|_| {});
        assert!(matches!(error, ClusterError::NoSuchKinds(_)), "{error}");
    }

    #[test]
    fn values_and_items_are_compared_and_what_is_free_is_not() {
        let compared = |ours: Value, theirs: Value| {
            let mut missing = Vec::new();
            compare(&ours, &theirs, "spec", &mut missing);
            missing
        };
        let ours =
            json!({"properties": {"a": {"enum": ["A", "B"]}, "l": {"items": {"properties": {"x": {}}}}}});
        let theirs =
            json!({"properties": {"a": {"enum": ["A"]}, "l": {"items": {"properties": {}}}, "new": {}}});
        assert_eq!(compared(ours.clone(), theirs), ["spec.a: B", "spec.l.x"]);
        assert_eq!(compared(ours.clone(), json!({ FREE: true })), [""; 0]);
        let gap = Gap {
            definition: "d".to_owned(),
            missing: (1..=7).map(|n| n.to_string()).collect(),
            is_fatal: false,
        };
        assert_eq!(gap.to_string(), "d lacks 1, 2, 3, 4, 5 and 2 more");
    }
}
