//! What the server says of itself: groups, versions and resources in the legacy and the aggregated form,
//! its version, and the reviews that kubectl asks for. Leaves schemas to `openapi`.

use http::StatusCode;
use serde_json::{Value, json};

use super::answer::Answer;
use super::document;
use super::resource::{Endpoint, Registry, Resource, api_version};
use super::scale::is_scaled;
use super::service::Call;
use super::status::Status;

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const VERBS: [&str; 8] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
/// The same of a custom resource, in the order in which the server lists them.
const CUSTOM_VERBS: [&str; 8] =
    ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
/// The name of everyone here.
const USER: &str = "sandbox";

/// Kinds that are asked for and not stored: group, version, kind, plural.
const REVIEWS: &[(&str, &str, &str, &str)] = &[
    ("authentication.k8s.io", "v1", "SelfSubjectReview", "selfsubjectreviews"),
    ("authorization.k8s.io", "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews"),
    ("authorization.k8s.io", "v1", "SelfSubjectRulesReview", "selfsubjectrulesreviews"),
];

/// Answers the paths that belong to no resource.
pub(crate) fn answer(registry: &Registry, call: &Call, words: &[&str]) -> Result<Answer, Status> {
    let aggregated = call.accept.contains("as=APIGroupDiscoveryList") && call.accept.contains("v=v2");
    match (call.method.as_str(), words) {
        ("POST", ["apis", group, version, plural]) => review(call, group, version, plural),
        ("GET" | "HEAD", []) => Ok(Answer::json(&json!({ "paths": paths(registry) }))),
        ("GET" | "HEAD", ["version"]) => Ok(Answer::json(&version())),
        ("GET" | "HEAD", ["api"]) if aggregated => Ok(aggregated_list(registry, |group| group.is_empty())),
        ("GET" | "HEAD", ["apis"]) if aggregated => Ok(aggregated_list(registry, |group| !group.is_empty())),
        ("GET" | "HEAD", ["api"]) => Ok(Answer::json(&json!({
            "kind": "APIVersions", "versions": ["v1"],
            "serverAddressByClientCIDRs": [],
        }))),
        ("GET" | "HEAD", ["apis"]) => {
            let groups: Vec<Value> =
                groups(registry).into_iter().map(|(name, versions)| group(&name, &versions)).collect();
            Ok(Answer::json(&json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": groups })))
        }
        ("GET" | "HEAD", ["apis", name]) => groups(registry)
            .into_iter()
            .find(|(known, _)| known == name)
            .map(|(name, versions)| {
                let mut group = group(&name, &versions);
                group["kind"] = json!("APIGroup");
                group["apiVersion"] = json!("v1");
                Answer::json(&group)
            })
            .ok_or_else(Status::no_such_resource),
        ("GET" | "HEAD", ["api", version]) => resource_list(registry, "", version),
        ("GET" | "HEAD", ["apis", group, version]) => resource_list(registry, group, version),
        _ => Err(Status::no_such_resource()),
    }
}

fn verbs(resource: &Resource) -> [&'static str; 8] {
    if resource.built_in.is_some() { VERBS } else { CUSTOM_VERBS }
}

/// Named groups with their versions, reviews included.
fn groups(registry: &Registry) -> Vec<(String, Vec<String>)> {
    let mut groups = registry.groups();
    groups.remove("");
    for (group, version, _, _) in REVIEWS {
        groups.insert((*group).to_owned(), vec![(*version).to_owned()]);
    }
    groups.into_iter().collect()
}

fn group(name: &str, versions: &[String]) -> Value {
    let version =
        |version: &String| json!({ "groupVersion": format!("{name}/{version}"), "version": version });
    let all: Vec<Value> = versions.iter().map(version).collect();
    json!({ "name": name, "versions": all, "preferredVersion": all.first() })
}

fn paths(registry: &Registry) -> Vec<String> {
    let mut paths = vec!["/api".to_owned(), "/api/v1".to_owned(), "/apis".to_owned()];
    for (group, versions) in groups(registry) {
        paths.push(format!("/apis/{group}"));
        paths.extend(versions.iter().map(|version| format!("/apis/{group}/{version}")));
    }
    paths.extend(["/healthz", "/livez", "/openapi/v3", "/readyz", "/version"].map(str::to_owned));
    paths
}

/// 1.33: kubectl accepts servers one minor version away, and the clients that matter are 1.32 to 1.34. The
/// texts of errors follow 1.34, which prints values as JSON.
fn version() -> Value {
    json!({
        "major": "1", "minor": "33", "gitVersion": "v1.33.0+sandbox", "gitCommit": "", "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z", "goVersion": "", "compiler": "", "platform": "linux/amd64",
    })
}

fn resource_list(registry: &Registry, group: &str, version: &str) -> Result<Answer, Status> {
    let mut resources = Vec::new();
    for endpoint in registry.in_group_version(group, version) {
        let resource = &endpoint.resource;
        let mut entry = json!({
            "name": resource.plural, "singularName": resource.singular, "namespaced": resource.namespaced,
            "kind": resource.kind, "verbs": verbs(resource),
            // The hash of a storage version is opaque to clients.
            "storageVersionHash": "",
        });
        if !resource.short_names.is_empty() {
            entry["shortNames"] = json!(resource.short_names);
        }
        if !resource.categories.is_empty() {
            entry["categories"] = json!(resource.categories);
        }
        resources.push(entry);
        if is_scaled(&endpoint) {
            resources.push(json!({
                "name": format!("{}/scale", resource.plural), "singularName": "",
                "namespaced": resource.namespaced, "group": "autoscaling", "version": "v1", "kind": "Scale",
                "verbs": ["get", "patch", "update"],
            }));
        }
        if endpoint.has_status() {
            resources.push(json!({
                "name": format!("{}/status", resource.plural), "singularName": "",
                "namespaced": resource.namespaced, "kind": resource.kind, "verbs": ["get", "patch", "update"],
            }));
        }
    }
    for (_, _, kind, plural) in reviews_of(group, version) {
        resources.push(json!({
            "name": plural, "singularName": kind.to_lowercase(), "namespaced": false, "kind": kind, "verbs": ["create"],
        }));
    }
    if resources.is_empty() {
        return Err(Status::no_such_resource());
    }
    Ok(Answer::json(&json!({
        "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": api_version(group, version),
        "resources": resources,
    })))
}

/// True for the path of a review.
pub(crate) fn is_review(words: &[&str]) -> bool {
    matches!(words, ["apis", group, version, plural]
        if reviews_of(group, version).any(|(_, _, _, known)| known == plural))
}

fn reviews_of<'a>(
    group: &'a str,
    version: &'a str,
) -> impl Iterator<Item = &'static (&'static str, &'static str, &'static str, &'static str)> + 'a {
    REVIEWS.iter().filter(move |(of, at, _, _)| *of == group && *at == version)
}

fn aggregated_list(registry: &Registry, wanted: impl Fn(&str) -> bool) -> Answer {
    let mut all = groups(registry);
    all.insert(0, (String::new(), vec!["v1".to_owned()]));
    let items: Vec<Value> = all
        .into_iter()
        .filter(|(group, _)| wanted(group))
        .map(|(group, versions)| {
            let versions: Vec<Value> =
                versions.iter().map(|version| aggregated_version(registry, &group, version)).collect();
            let metadata = if group.is_empty() { json!({}) } else { json!({ "name": group }) };
            json!({ "metadata": metadata, "versions": versions })
        })
        .collect();
    let list = json!({
        "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items,
    });
    Answer { media_type: Some(AGGREGATED), ..Answer::json(&list) }
}

fn aggregated_version(registry: &Registry, group: &str, version: &str) -> Value {
    let kind = |kind: &str| json!({ "group": group, "version": version, "kind": kind });
    let resource = |endpoint: Endpoint| {
        let resource = &endpoint.resource;
        let mut entry = json!({
            "resource": resource.plural, "responseKind": kind(&resource.kind),
            "scope": if resource.namespaced { "Namespaced" } else { "Cluster" },
            "singularResource": resource.singular, "verbs": verbs(resource),
        });
        if !resource.short_names.is_empty() {
            entry["shortNames"] = json!(resource.short_names);
        }
        if !resource.categories.is_empty() {
            entry["categories"] = json!(resource.categories);
        }
        let mut subresources = Vec::new();
        if is_scaled(&endpoint) {
            let scale = json!({ "group": "autoscaling", "version": "v1", "kind": "Scale" });
            subresources.push(
                json!({ "subresource": "scale", "responseKind": scale, "verbs": ["get", "patch", "update"] }),
            );
        }
        if endpoint.has_status() {
            subresources.push(json!({
                "subresource": "status", "responseKind": kind(&resource.kind), "verbs": ["get", "patch", "update"],
            }));
        }
        if !subresources.is_empty() {
            entry["subresources"] = json!(subresources);
        }
        entry
    };
    let stored = registry.in_group_version(group, version).into_iter().map(resource);
    let asked = reviews_of(group, version).map(|(_, _, name, plural)| {
        json!({
            "resource": plural, "responseKind": kind(name), "scope": "Cluster",
            "singularResource": name.to_lowercase(), "verbs": ["create"],
        })
    });
    let resources: Vec<Value> = stored.chain(asked).collect();
    json!({ "version": version, "freshness": "Current", "resources": resources })
}

/// Everyone may do everything, and is `sandbox`.
fn review(call: &Call, group: &str, version: &str, plural: &str) -> Result<Answer, Status> {
    let Some((_, _, kind, _)) = reviews_of(group, version).find(|(_, _, _, name)| *name == plural) else {
        return Err(Status::no_such_resource());
    };
    let mut body = document::parse(&call.content_type, &call.body)?.value;
    if !body.is_object() {
        return Err(Status::bad_request(format!("the body is not a {kind}")));
    }
    body["status"] = match *kind {
        "SelfSubjectReview" => json!({ "userInfo": { "username": USER, "groups": ["system:masters"] } }),
        "SelfSubjectAccessReview" => json!({ "allowed": true }),
        _ => json!({
            "incomplete": false,
            "resourceRules": [{ "verbs": ["*"], "apiGroups": ["*"], "resources": ["*"] }],
            "nonResourceRules": [{ "verbs": ["*"], "nonResourceURLs": ["*"] }],
        }),
    };
    body["kind"] = json!(kind);
    body["apiVersion"] = json!(api_version(group, version));
    Ok(Answer { code: StatusCode::CREATED, ..Answer::json(&body) })
}
