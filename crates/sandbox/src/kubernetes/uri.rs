//! Paths and queries: percent-decoding, parameters, and which resource a path means. Leaves the answer to
//! `answer`.

use std::collections::BTreeMap;

use super::discovery;
use super::resource::{Endpoint, Registry, ResourceId};
use super::store::Key;

/// The parameters of a query; the last of a name counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query(BTreeMap<String, String>);

impl Query {
    pub(crate) fn parse(query: &str) -> Self {
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        Self(
            pairs
                .map(|pair| {
                    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                    (decode(&name.replace('+', " ")), decode(&value.replace('+', " ")))
                })
                .collect(),
        )
    }

    /// The value of a parameter; empty when it is absent.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// A parameter that is a switch.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| value != "0" && !value.eq_ignore_ascii_case("false"))
    }
}

/// Undoes percent-encoding; what is not valid stays as it is.
fn decode(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What a path means.
#[derive(Clone, Debug)]
pub(crate) enum Route {
    /// All objects, or those of one namespace.
    Collection { endpoint: Endpoint, namespace: Option<String> },
    /// One object, or a subresource of it.
    Object { endpoint: Endpoint, key: Key, subresource: Option<String> },
    /// A path of the server itself: discovery, health, reviews.
    Server(Vec<String>),
}

impl Route {
    /// The resource, when the path is a collection's.
    pub(crate) fn collection(&self) -> Option<ResourceId> {
        match self {
            Self::Collection { endpoint, .. } => Some(endpoint.resource.id),
            Self::Object { .. } | Self::Server(_) => None,
        }
    }

    /// The resource that the path is about, if any.
    pub(crate) fn resource(&self) -> Option<ResourceId> {
        match self {
            Self::Collection { endpoint, .. } | Self::Object { endpoint, .. } => Some(endpoint.resource.id),
            Self::Server(_) => None,
        }
    }
}

/// A route and its template for the log.
pub(crate) struct Routed {
    pub(crate) route: Route,
    pub(crate) template: String,
}

/// Finds the resource of a path; paths that name none are the server's own.
pub(crate) fn route(registry: &Registry, path: &str) -> Routed {
    let parts: Vec<String> = path.split('/').filter(|part| !part.is_empty()).map(decode).collect();
    let words: Vec<&str> = parts.iter().map(String::as_str).collect();
    let found = match words.as_slice() {
        ["api", version, rest @ ..] => resource_route(registry, "", version, rest),
        ["apis", group, version, rest @ ..] => resource_route(registry, group, version, rest),
        _ => None,
    };
    let Some((route, tail)) = found else {
        // Paths that nothing serves share one template: the log's counters stay bounded.
        let served = words.len() < 4 || words.first() == Some(&"openapi") || discovery::is_review(&words);
        let template = if served { path.to_owned() } else { "/{unserved}".to_owned() };
        return Routed { route: Route::Server(parts), template };
    };
    let head = if words.first() == Some(&"api") { words.get(..2) } else { words.get(..3) };
    let template = format!("/{}/{tail}", head.unwrap_or_default().join("/"));
    Routed { route, template }
}

fn resource_route(registry: &Registry, group: &str, version: &str, rest: &[&str]) -> Option<(Route, String)> {
    let endpoint = |plural: &str| registry.endpoint(group, version, plural);
    let (plural, namespace, tail) = match rest {
        // Namespaces themselves look like the prefix of everything else.
        ["namespaces"] => ("namespaces", None, &[][..]),
        ["namespaces", name] => ("namespaces", None, std::slice::from_ref(name)),
        ["namespaces", _, "status" | "finalize"] if group.is_empty() => ("namespaces", None, &rest[1..]),
        ["namespaces", namespace, plural, tail @ ..] => (*plural, Some((*namespace).to_owned()), tail),
        [plural, tail @ ..] => (*plural, None, tail),
        [] => return None,
    };
    let endpoint = endpoint(plural)?;
    let prefix = if namespace.is_some() { "namespaces/{namespace}/" } else { "" };
    let (route, suffix) = match tail {
        [] => {
            if namespace.is_some() && !endpoint.resource.namespaced {
                return None;
            }
            (Route::Collection { endpoint, namespace }, String::new())
        }
        [name, subresource @ ..] if subresource.len() < 2 => {
            if namespace.is_some() != endpoint.resource.namespaced {
                return None;
            }
            let key = Key::new(namespace.as_deref(), name);
            let subresource = subresource.first().map(|&subresource| subresource.to_owned());
            let suffix = subresource.as_ref().map(|name| format!("/{name}")).unwrap_or_default();
            (Route::Object { endpoint, key, subresource }, format!("/{{name}}{suffix}"))
        }
        _ => return None,
    };
    Some((route, format!("{prefix}{plural}{suffix}")))
}

#[cfg(test)]
mod tests {
    use super::super::builtins;
    use super::*;

    #[test]
    fn paths_are_logged_with_placeholders() {
        let registry = builtins::registry();
        for (path, template) in [
            ("/api/v1/namespaces/a/secrets/b", "/api/v1/namespaces/{namespace}/secrets/{name}"),
            ("/api/v1/namespaces/a", "/api/v1/namespaces/{name}"),
            ("/apis/apps/v1/deployments", "/apis/apps/v1/deployments"),
            (
                "/apis/apps/v1/namespaces/a/deployments/b/status",
                "/apis/apps/v1/namespaces/{namespace}/deployments/{name}/status",
            ),
            ("/healthz", "/healthz"),
        ] {
            assert_eq!(route(&registry, path).template, template);
        }
    }

    #[test]
    fn queries_are_decoded() {
        let query = Query::parse("labelSelector=a%3Db%2Cc&watch=true&fieldSelector=metadata.name%3Dx+y");
        assert_eq!(query.get("labelSelector"), "a=b,c");
        assert_eq!(query.get("fieldSelector"), "metadata.name=x y");
        assert!(query.flag("watch"));
    }
}
