//! Label and field selectors of the sandbox's lists and watches: the first line selects by labels, the second by fields.
//! Whatever they say, they are refused with a Status, or what they select obeys the rules of sets.

use std::collections::BTreeSet;

use bytes::Bytes;
use http::{Method, Request, StatusCode, Uri};
use http_body_util::Full;
use sandbox::clock::Clock;
use sandbox::kubernetes::{ApiServer, KubernetesService};
use serde_json::{Value, json};

use crate::exchange::{cut, in_standing_time, send};
use crate::kubernetes::is_status;

/// Labels of what is selected from.
const LABELS: &[&str] = &[
    "{}",
    r#"{"app": "web"}"#,
    r#"{"app": "web", "tier": "front"}"#,
    r#"{"app": "db", "tier": "back", "n": "5"}"#,
    r#"{"example.com/app": "web", "n": "12"}"#,
    r#"{"app": "", "n": "3"}"#,
];

pub(crate) fn run(input: &[u8]) {
    let (labels, fields) = cut(input, b"\n");
    let (labels, fields) = (String::from_utf8_lossy(labels), String::from_utf8_lossy(fields));
    in_standing_time(|| {
        let mut lists = Lists::new();
        let everything = lists.get("", "").expect("everything can be listed");
        assert_eq!(everything.len(), LABELS.len());
        let by_labels = lists.get(&labels, "");
        let by_fields = lists.get("", &fields);
        let by_both = lists.get(&labels, &fields);
        match (&by_labels, &by_fields) {
            (Some(labelled), Some(fielded)) => {
                let both: Names = labelled.intersection(fielded).cloned().collect();
                assert_eq!(by_both.as_ref(), Some(&both), "both of them");
            }
            _ => assert_eq!(by_both, None, "one of them is refused"),
        }
        if let Some(selected) = &by_labels {
            let twice = format!("{labels},{labels}");
            if !labels.trim().is_empty() {
                assert_eq!(lists.get(&twice, "").as_ref(), Some(selected), "said twice");
            }
            opposite(&mut lists, &labels, selected, &everything);
        }
        if by_both.is_some() {
            assert_eq!(lists.watched(&labels, &fields), by_both, "a watch begins with what a list shows");
        }
    });
}

type Names = BTreeSet<String>;

/// What one requirement selects, and what its opposite does: everything, and nothing twice.
fn opposite(lists: &mut Lists, labels: &str, selected: &Names, everything: &Names) {
    let single =
        !labels.contains(',') || labels.matches('(').count() == 1 && labels.trim_end().ends_with(')');
    let pairs = [("!=", "="), (" notin ", " in "), ("!", "")];
    let Some((no, yes)) = pairs.iter().find(|(no, _)| labels.contains(no)).filter(|_| single) else { return };
    let other = labels.replacen(no, yes, 1);
    // `!a=b` is no requirement, and its opposite would be one.
    let Some(others) = lists.get(&other, "").filter(|_| !(yes.is_empty() && other.contains('='))) else {
        return;
    };
    assert!(selected.is_disjoint(&others), "{labels:?} and {other:?} share something");
    assert_eq!(&(selected | &others), everything, "{labels:?} and {other:?} leave something out");
}

struct Lists(KubernetesService);

impl Lists {
    fn new() -> Self {
        let server = ApiServer::new(Clock::starting_at("2026-11-01T00:00:00Z".parse().expect("a time")), 1);
        for (number, labels) in LABELS.iter().enumerate() {
            let labels: Value = serde_json::from_str(labels).expect("labels");
            let metadata = json!({ "name": format!("m{number}"), "namespace": "default", "labels": labels });
            let object = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata });
            server.apply(object).expect("a ConfigMap");
        }
        Self(server.service())
    }

    /// The names of what is selected; none when the selectors are refused.
    fn get(&mut self, labels: &str, fields: &str) -> Option<Names> {
        let answer = self.ask("", labels, fields)?;
        let list: Value = serde_json::from_slice(&answer).expect("a list");
        Some(list["items"].as_array().expect("items").iter().map(name).collect())
    }

    /// The names of what a watch shows first.
    fn watched(&mut self, labels: &str, fields: &str) -> Option<Names> {
        let answer = self.ask("watch=true&", labels, fields)?;
        let text = String::from_utf8(answer).expect("a watch is text");
        let events = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("an event"));
        Some(events.filter(|event| event["type"] == "ADDED").map(|event| name(&event["object"])).collect())
    }

    fn ask(&mut self, options: &str, labels: &str, fields: &str) -> Option<Vec<u8>> {
        let query = format!("{options}labelSelector={}&fieldSelector={}", encoded(labels), encoded(fields));
        let uri = Uri::try_from(format!("/api/v1/namespaces/default/configmaps?{query}")).ok()?;
        let mut request = Request::new(Full::new(Bytes::new()));
        (*request.method_mut(), *request.uri_mut()) = (Method::GET, uri);
        let answer = send(&mut self.0, request).expect("an answer");
        if answer.status == StatusCode::OK {
            return Some(answer.body);
        }
        assert_eq!(answer.status, StatusCode::BAD_REQUEST);
        is_status(&answer);
        None
    }
}

fn name(object: &Value) -> String {
    object["metadata"]["name"].as_str().expect("a name").to_owned()
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}
