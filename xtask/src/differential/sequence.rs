//! Sequences of requests as data: how they are read, what their placeholders stand for, and how one is printed so that
//! it can be put into the table. Leaves sending to `servers`.

use anyhow::{Context as _, bail};
use serde::Deserialize;
use serde_json::{Value, json};

/// A name that is a situation, and what is asked, in order, in a namespace that nobody else uses.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sequence {
    pub(crate) name: String,
    pub(crate) requests: Vec<Step>,
}

/// One request.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    /// Method and path. A path without a slash at its start begins with a plural: `PUT zones/a/status?dryRun=All`.
    #[serde(rename = "do")]
    pub(crate) ask: String,
    /// A body, sent as JSON. `apiVersion` and `kind` of the plural stand for what it leaves out.
    #[serde(default)]
    pub(crate) body: Option<Value>,
    /// A body as it is.
    #[serde(default)]
    pub(crate) text: Option<String>,
    /// Content type: `json`, `merge`, `strategic`, `apply`, or in full.
    #[serde(default, rename = "type")]
    pub(crate) media: Option<String>,
    #[serde(default)]
    pub(crate) accept: Option<String>,
    /// A controller of the real cluster needs a moment: ask until the answers agree.
    #[serde(default)]
    pub(crate) eventually: bool,
}

/// A request whose placeholders are filled in.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) media: Option<String>,
    pub(crate) accept: Option<String>,
    pub(crate) body: Option<String>,
}

/// Plural, where it is served, whether in namespaces, and its kind.
const RESOURCES: &[(&str, &str, bool, &str)] = &[
    ("configmaps", "v1", true, "ConfigMap"),
    ("secrets", "v1", true, "Secret"),
    ("services", "v1", true, "Service"),
    ("serviceaccounts", "v1", true, "ServiceAccount"),
    ("events", "v1", true, "Event"),
    ("namespaces", "v1", false, "Namespace"),
    ("leases", "coordination.k8s.io/v1", true, "Lease"),
    ("deployments", "apps/v1", true, "Deployment"),
    ("ingresses", "networking.k8s.io/v1", true, "Ingress"),
    ("ingressclasses", "networking.k8s.io/v1", false, "IngressClass"),
    ("roles", "rbac.authorization.k8s.io/v1", true, "Role"),
    ("rolebindings", "rbac.authorization.k8s.io/v1", true, "RoleBinding"),
    ("clusterroles", "rbac.authorization.k8s.io/v1", false, "ClusterRole"),
    ("clusterrolebindings", "rbac.authorization.k8s.io/v1", false, "ClusterRoleBinding"),
    ("customresourcedefinitions", "apiextensions.k8s.io/v1", false, "CustomResourceDefinition"),
    ("cloudflareaccounts", "kflare.dev/v1alpha1", false, "CloudflareAccount"),
    ("zones", "kflare.dev/v1alpha1", true, "Zone"),
    ("dnsrecords", "kflare.dev/v1alpha1", true, "DNSRecord"),
];

/// Reads a file of the table.
pub(crate) fn parse(text: &str) -> anyhow::Result<Vec<Sequence>> {
    Ok(serde_saphyr::from_str(text)?)
}

impl Step {
    /// Method, and path as it is written.
    pub(crate) fn split(&self) -> (&str, &str) {
        self.ask.split_once(' ').unwrap_or((&self.ask, ""))
    }

    /// The plural that a short path begins with.
    fn resource(&self) -> Option<&'static (&'static str, &'static str, bool, &'static str)> {
        let plural = self.split().1.split(['/', '?']).next().unwrap_or_default();
        RESOURCES.iter().find(|(known, ..)| *known == plural)
    }

    /// Whether it asks for events.
    pub(crate) fn is_watch(&self) -> bool {
        self.ask.contains("watch=true") || self.ask.contains("watch=1")
    }

    /// Fills the placeholders: `{ns}` is the sequence's namespace and part of the names of what is in none, `{fill:9}`
    /// nine letters, `{2/metadata/uid}` what the second request was answered there.
    pub(crate) fn fill(&self, namespace: &str, answers: &[Value]) -> anyhow::Result<Request> {
        let (method, short) = self.split();
        let path = match (short.starts_with('/'), self.resource()) {
            (true, _) => short.to_owned(),
            (false, Some((plural, api, namespaced, _))) => {
                let root = if api.contains('/') { "apis" } else { "api" };
                let place = if *namespaced { format!("namespaces/{namespace}/") } else { String::new() };
                format!("/{root}/{api}/{place}{plural}{}", short.strip_prefix(plural).unwrap_or_default())
            }
            (false, None) => bail!("no resource is called as in {:?}", self.ask),
        };
        let body = match (&self.body, &self.text) {
            (Some(body), None) => Some(self.typed(body, method).to_string()),
            (None, Some(text)) => Some(text.clone()),
            (None, None) => None,
            (Some(_), Some(_)) => bail!("a request has a body or a text, not both: {:?}", self.ask),
        };
        let put = |text: &str| substitute(text, namespace, answers);
        let media = self.media.as_deref().map(|media| match media {
            "json" => "application/json-patch+json".to_owned(),
            "merge" => "application/merge-patch+json".to_owned(),
            "strategic" => "application/strategic-merge-patch+json".to_owned(),
            "apply" => "application/apply-patch+yaml".to_owned(),
            other => other.to_owned(),
        });
        let media = media.or_else(|| body.as_ref().map(|_| "application/json".to_owned()));
        Ok(Request {
            method: method.to_owned(),
            path: put(&path)?,
            media,
            accept: self.accept.clone(),
            body: body.as_deref().map(put).transpose()?,
        })
    }

    fn typed(&self, body: &Value, method: &str) -> Value {
        let mut body = body.clone();
        let Some((_, api, _, kind)) = self.resource().filter(|_| matches!(method, "POST" | "PUT")) else {
            return body;
        };
        if let Some(fields) = body.as_object_mut()
            && !fields.contains_key("kind")
            && !fields.contains_key("apiVersion")
        {
            fields.insert("apiVersion".to_owned(), json!(api));
            fields.insert("kind".to_owned(), json!(kind));
        }
        body
    }

    /// The numbers of the requests whose answers this one needs.
    pub(crate) fn needs(&self) -> Vec<usize> {
        let body = self.body.as_ref().map(ToString::to_string).unwrap_or_default();
        let texts = [self.ask.as_str(), body.as_str(), self.text.as_deref().unwrap_or_default()];
        texts
            .iter()
            .flat_map(|text| holes(text))
            .filter_map(|hole| hole.reference().map(|(at, _)| at))
            .collect()
    }

    /// The same request when the requests before it have other numbers.
    pub(crate) fn renumbered(&self, number: &dyn Fn(usize) -> usize) -> Self {
        let renumber = |text: &str| {
            let mut out = String::new();
            let mut rest = text;
            while let Some(hole) = holes(rest).into_iter().find(|hole| hole.reference().is_some()) {
                let (at, pointer) = hole.reference().unwrap_or_default();
                out.push_str(&rest[..hole.start]);
                out.push_str(&format!("{{{}{pointer}}}", number(at)));
                rest = &rest[hole.start + hole.inner.len() + 2..];
            }
            out + rest
        };
        let body = self.body.as_ref().map(|body| {
            let text = renumber(&body.to_string());
            serde_json::from_str(&text).unwrap_or_else(|_| body.clone())
        });
        Self { ask: renumber(&self.ask), body, text: self.text.as_deref().map(renumber), ..self.clone() }
    }
}

/// A placeholder in a text.
struct Hole<'t> {
    start: usize,
    inner: &'t str,
}

impl<'t> Hole<'t> {
    /// The number of a request and a pointer into its answer.
    fn reference(&self) -> Option<(usize, &'t str)> {
        let slash = self.inner.find('/')?;
        let at = self.inner.get(..slash)?.parse().ok()?;
        Some((at, &self.inner[slash..]))
    }

    fn is_known(&self) -> bool {
        self.inner == "ns" || self.inner.starts_with("fill:") || self.reference().is_some()
    }
}

fn holes(text: &str) -> Vec<Hole<'_>> {
    let mut found = Vec::new();
    for (start, _) in text.match_indices('{') {
        let Some(end) = text[start..].find('}') else { continue };
        let hole = Hole { start, inner: &text[start + 1..start + end] };
        if hole.is_known() {
            found.push(hole);
        }
    }
    found
}

fn substitute(text: &str, namespace: &str, answers: &[Value]) -> anyhow::Result<String> {
    let mut out = String::new();
    let mut at = 0;
    for hole in holes(text) {
        out.push_str(&text[at..hole.start]);
        at = hole.start + hole.inner.len() + 2;
        if hole.inner == "ns" {
            out.push_str(namespace);
        } else if let Some(count) = hole.inner.strip_prefix("fill:") {
            out.push_str(&"a".repeat(count.parse().context("{fill:…} needs a number")?));
        } else if let Some((number, pointer)) = hole.reference() {
            let answer = number.checked_sub(1).and_then(|index| answers.get(index));
            match answer.and_then(|answer| answer.pointer(pointer)) {
                Some(Value::String(found)) => out.push_str(found),
                Some(found) => out.push_str(&found.to_string()),
                // Both servers are asked for the same nonsense, unless only one had no answer to give.
                None => out.push_str("nothing"),
            }
        }
    }
    Ok(out + &text[at..])
}

impl Sequence {
    /// The sequence as an entry of the table.
    pub(crate) fn to_yaml(&self) -> String {
        let quoted = |text: &str| Value::String(text.to_owned()).to_string();
        let mut out = format!("- name: {}\n  requests:\n", quoted(&self.name));
        for step in &self.requests {
            out.push_str(&format!("  - do: {}\n", quoted(&step.ask)));
            for (key, text) in [("type", &step.media), ("accept", &step.accept), ("text", &step.text)] {
                if let Some(text) = text {
                    out.push_str(&format!("    {key}: {}\n", quoted(text)));
                }
            }
            if let Some(body) = &step.body {
                out.push_str(&format!("    body: {body}\n"));
            }
            if step.eventually {
                out.push_str("    eventually: true\n");
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_from_the_answers_of_the_same_server() {
        let step = Step {
            ask: "PUT zones/a?x={1/metadata/uid}".to_owned(),
            body: Some(
                json!({ "metadata": { "resourceVersion": "{1/metadata/resourceVersion}", "name": "{fill:3}" } }),
            ),
            ..Step::default()
        };
        let answer = json!({ "metadata": { "uid": "u", "resourceVersion": "7" } });
        let request = step.fill("q1", &[answer]).unwrap();
        assert_eq!(request.path, "/apis/kflare.dev/v1alpha1/namespaces/q1/zones/a?x=u");
        let body: Value = serde_json::from_str(&request.body.unwrap()).unwrap();
        assert_eq!(body["metadata"], json!({ "resourceVersion": "7", "name": "aaa" }));
        assert_eq!(body["kind"], "Zone");
    }

    #[test]
    fn what_is_printed_can_be_read_again() {
        let text = "- name: \"a: b\"\n  requests:\n  - do: \"POST zones\"\n    body: {\"a\":[1,null]}\n    eventually: true\n";
        let read = parse(text).unwrap();
        assert_eq!(read[0].to_yaml(), text);
    }

    #[test]
    fn references_follow_the_requests_that_they_name() {
        let step = Step { ask: "GET zones?a={3/x}&b={4/y}".to_owned(), ..Step::default() };
        assert_eq!(step.needs(), [3, 4]);
        assert_eq!(step.renumbered(&|at| at - 1).ask, "GET zones?a={2/x}&b={3/y}");
    }
}
