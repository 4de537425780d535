//! A kind that the cluster does not serve, because its CustomResourceDefinition is gone or was never there: it has no
//! objects, and whatever waits for a list of them would wait for ever. A 404 is no proof of that (V3): an API server that
//! is starting does not know all kinds yet, and a proxy before it finds no page at all. Neither are many: what the API
//! server says of all that it serves has to lack the kind, too.

use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{APIGroupList, APIResourceList};
use kinds::{Kind, names};
use kube::Client;
use kube::runtime::watcher;
use tokio::time::Instant;

/// The group of the definitions themselves: who serves it is an API server that knows of definitions.
const DEFINITIONS: &str = "apiextensions.k8s.io";

/// For how long a kind has not been served, without a word to the contrary in between.
#[derive(Debug, Default)]
pub struct Unserved {
    since: Option<Instant>,
    /// It was proved.
    pub proved: bool,
}

impl Unserved {
    /// A list or watch failed now. True when only [`is_undiscovered`] is left to prove it: the kind was not served
    /// so long ago either, and no other answer came in between.
    pub fn failed(&mut self, error: &watcher::Error, now: Instant, long: Duration) -> bool {
        if !is_unserved(error) {
            *self = Self::default();
            return false;
        }
        let since = *self.since.get_or_insert(now);
        !self.proved && now.saturating_duration_since(since) >= long
    }

    /// What the API server serves was looked at. Where it does not lack the kind, the proof begins anew.
    pub fn discovered(&mut self, lacks_kind: bool) {
        *self = if lacks_kind { Self { proved: true, ..*self } } else { Self::default() };
    }
}

/// The cluster knows no such kind, or something on the way to it knows no such path.
pub fn is_unserved(error: &watcher::Error) -> bool {
    matches!(
        error,
        watcher::Error::InitialListFailed(kube::Error::Api(status))
            | watcher::Error::WatchStartFailed(kube::Error::Api(status)) if status.code == 404
    )
}

/// The API server says what it serves, and the kind is not among it. Every identity may ask.
pub async fn is_undiscovered(client: &Client, kind: &Kind) -> bool {
    match client.list_api_group_resources(names::API_VERSION).await {
        Ok(served) => lacks_resource(&served, kind),
        // Without definitions in our version there is no such list.
        Err(kube::Error::Api(status)) if status.code == 404 => {
            client.list_api_groups().await.is_ok_and(|served| lacks_version(&served))
        }
        Err(_) => false,
    }
}

fn lacks_resource(served: &APIResourceList, kind: &Kind) -> bool {
    served.group_version == names::API_VERSION
        && served.resources.iter().all(|resource| resource.name != kind.plural)
}

fn lacks_version(served: &APIGroupList) -> bool {
    let named = |name: &'static str| served.groups.iter().filter(move |group| group.name == name);
    let mut versions = named(names::GROUP).flat_map(|group| &group.versions);
    named(DEFINITIONS).next().is_some() && versions.all(|version| version.version != names::VERSION)
}

#[cfg(test)]
mod tests {
    use kube::core::Status;
    use serde_json::json;

    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn answered(code: u16) -> watcher::Error {
        watcher::Error::InitialListFailed(kube::Error::Api(Box::new(Status { code, ..Status::default() })))
    }

    /// What each of these failures proves, at these seconds.
    fn proofs(failures: &[(u64, u16)]) -> Vec<bool> {
        let (mut unserved, start) = (Unserved::default(), Instant::now());
        failures
            .iter()
            .map(|(at, code)| {
                let proves = unserved.failed(&answered(*code), start + Duration::from_secs(*at), MINUTE);
                if proves {
                    unserved.discovered(true);
                }
                proves
            })
            .collect()
    }

    #[test]
    fn a_kind_is_not_served_when_a_minute_later_it_still_is_not() {
        assert_eq!(proofs(&[(0, 404), (59, 404), (60, 404), (90, 404)]), [false, false, true, false]);
    }

    #[test]
    fn any_other_answer_begins_the_proof_anew() {
        assert_eq!(
            proofs(&[(0, 404), (30, 503), (70, 404), (129, 404), (130, 404)]),
            [false, false, false, false, true]
        );
        assert_eq!(proofs(&[(0, 403), (61, 403)]), [false, false]);
    }

    #[test]
    fn a_kind_that_the_api_server_says_it_serves_is_not_proved_absent_a_moment_later() {
        let (mut unserved, start) = (Unserved::default(), Instant::now());
        let mut failed = |second: u64| {
            let is_due = unserved.failed(&answered(404), start + Duration::from_secs(second), MINUTE);
            if is_due {
                unserved.discovered(false);
            }
            (is_due, unserved.proved)
        };
        assert_eq!(
            [0, 60, 61, 120, 121].map(&mut failed).map(|(is_due, _)| is_due),
            [false, true, false, false, true]
        );
        assert!(!failed(122).1);
    }

    #[test]
    fn only_a_list_of_what_is_served_can_lack_a_kind() {
        let zone = kinds::kind("Zone").unwrap();
        let resources = |text: &str| lacks_resource(&serde_json::from_str(text).unwrap(), zone);
        assert!(!resources("{}"), "anything may have answered that");
        assert!(resources(r#"{"groupVersion": "kflare.dev/v1alpha1", "resources": []}"#));
        let with = r#"{"groupVersion": "kflare.dev/v1alpha1",
            "resources": [{"name": "zones", "singularName": "zone", "kind": "Zone", "namespaced": true, "verbs": []}]}"#;
        assert!(!resources(with));
        let groups = |names: &[&str]| {
            let group = |name: &&str| json!({"name": name, "versions": [{"groupVersion": format!("{name}/v1alpha1"), "version": "v1alpha1"}]});
            let groups: Vec<_> = names.iter().map(group).collect();
            lacks_version(&serde_json::from_value(json!({ "groups": groups })).unwrap())
        };
        assert!(!groups(&[]), "anything may have answered that");
        assert!(groups(&["apiextensions.k8s.io"]));
        assert!(!groups(&["apiextensions.k8s.io", "kflare.dev"]));
    }
}
