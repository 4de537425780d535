//! Questions to an API server before anything begins, and what their failures mean.
//! Looks once, so that a mistake is a sentence and not a loop of log lines.

use std::time::Duration;

use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::Client;
use kube::api::{Api, DynamicObject, ListParams};
use kube::core::Status;
use kube::discovery::ApiResource;

use super::definitions;
use super::error::ClusterError;

/// One question before the start. A server that needs longer would make a poor cluster for the operator, too.
pub(super) const LOOK_MAX: Duration = Duration::from_secs(20);

/// What every API server shows to everyone who can log in.
const VERSION: &str = "/version";

/// The reason of a status that the library made itself.
const NO_STATUS: &str = "Failed to parse error data";

/// What an API server, too, answers in plain words: a path that it does not have, and too many requests.
const PLAIN: [u16; 2] = [404, 429];

/// Characters of an API server's refusal that are shown.
const SAID_CHARACTERS: usize = 1_000;

/// Characters of somebody else's answer that are shown: enough to recognise a page by.
const ANSWER_SHOWN: usize = 60;

/// Lists one object of everything that the operator watches. Gives the kinds that the cluster does not know, unless it
/// knows none: whoever removes kflare may delete one definition before the objects of another are gone.
pub(in crate::commands) async fn check(client: &Client, server: &str) -> Result<Vec<String>, ClusterError> {
    let mut missing = Vec::new();
    for kind in kinds::KINDS {
        let resource = ApiResource {
            group: kinds::names::GROUP.to_owned(),
            version: kinds::names::VERSION.to_owned(),
            api_version: kinds::names::API_VERSION.to_owned(),
            kind: kind.name.to_owned(),
            plural: kind.plural.to_owned(),
        };
        let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
        let name = format!("{}.{}", kind.plural, kinds::names::GROUP);
        match look(server, name, api.list_metadata(&one())).await {
            Ok(_) => {}
            Err(ClusterError::NoSuchKinds(names)) => missing.extend(names),
            Err(error) => return Err(error),
        }
    }
    if missing.len() == kinds::KINDS.len() {
        return Err(definitions::absent(client, server, missing).await);
    }
    // Never with their data.
    drop(look(server, "secrets".to_owned(), Api::<Secret>::all(client.clone()).list_metadata(&one())).await?);
    let namespaces = Api::<Namespace>::all(client.clone());
    look(server, "namespaces".to_owned(), namespaces.list_metadata(&one())).await.map(|_| missing)
}

/// The namespace of the Lease must be there: without it no election is ever won, and nothing would be written.
pub(in crate::commands) async fn check_namespace(
    client: &Client,
    server: &str,
    name: &str,
) -> Result<(), ClusterError> {
    let namespaces = Api::<Namespace>::all(client.clone());
    match look(server, format!("namespace {name}"), namespaces.get_metadata_opt(name)).await {
        Ok(None) => Err(ClusterError::NoSuchNamespace(name.to_owned())),
        // Roles of one's own may lack `get`, which nothing else needs.
        Ok(Some(_)) | Err(ClusterError::Forbidden { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

fn one() -> ListParams {
    ListParams::default().limit(1)
}

/// One question, and what its failure means.
pub(in crate::commands) async fn look<T>(
    server: &str,
    resource: String,
    list: impl Future<Output = kube::Result<T>>,
) -> Result<T, ClusterError> {
    let server = || server.to_owned();
    match tokio::time::timeout(LOOK_MAX, list).await {
        Err(_) => Err(ClusterError::Silent { server: server() }),
        Ok(Ok(found)) => Ok(found),
        Ok(Err(kube::Error::Api(status))) => Err(refusal(server(), resource, &status)),
        Ok(Err(error)) => Err(ClusterError::of_exchange(&server(), &error)),
    }
}

/// Whether what answers is an API server, as far as can be told: anything else may say of a path that there is none.
pub(super) async fn is_kubernetes(client: &Client) -> Result<(), String> {
    let Ok(request) = http::Request::get(VERSION).body(Vec::new()) else { return Ok(()) };
    match tokio::time::timeout(LOOK_MAX, client.request::<serde_json::Value>(request)).await {
        Ok(Ok(found)) if found["gitVersion"].is_string() => Ok(()),
        Ok(Ok(_) | Err(kube::Error::SerdeError(_) | kube::Error::FromUtf8(_))) => {
            Err(format!("{VERSION} holds no version of Kubernetes"))
        }
        Ok(Err(kube::Error::Api(status))) if !is_of_kubernetes(&status) => Err(strange(&status)),
        // Whoever may not see the version sees an API server nevertheless.
        Ok(Err(_)) | Err(_) => Ok(()),
    }
}

/// Whether a refusal is an API server's own. The library makes a status out of every answer that is none.
fn is_of_kubernetes(status: &Status) -> bool {
    status.status.is_some() && status.code != 0 && status.reason != NO_STATUS
}

/// What somebody else answered, as far as it fits a sentence.
fn strange(status: &Status) -> String {
    let line = status.message.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    if status.code == 0 {
        return "its refusal is no status of Kubernetes".to_owned();
    }
    let code = status.code;
    if line.is_empty() {
        return format!("it answers {code} without a status of Kubernetes");
    }
    let shown: String = line.chars().take(ANSWER_SHOWN).collect();
    let more = if shown.len() < line.len() { "…" } else { "" };
    format!("it answers {code} without a status of Kubernetes: {shown}{more}")
}

fn refusal(server: String, resource: String, status: &Status) -> ClusterError {
    if !is_of_kubernetes(status) && !PLAIN.contains(&status.code) {
        return ClusterError::NotKubernetes { server, cause: strange(status) };
    }
    let said = cf_api::text::one_line(&status.message, SAID_CHARACTERS);
    match status.code {
        401 => ClusterError::Unauthorized { server, said },
        403 => ClusterError::Forbidden { resource, said },
        404 => ClusterError::NoSuchKinds(vec![resource]),
        code => ClusterError::Refused { resource, code, said },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::simulate;
    use crate::world::{Options, World};

    /// What is said of an answer, and what to do next.
    fn said(code: u16) -> (String, String) {
        let status = Status::failure("no", "Reason").with_code(code);
        let error = refusal("http://x".to_owned(), "zones.kflare.dev".to_owned(), &status);
        (error.to_string(), error.next().unwrap_or_default())
    }

    /// A cluster without these kinds, and what the look before the start says of it.
    fn checked(without: &[&kinds::Kind]) -> Result<Vec<String>, ClusterError> {
        let looked = simulate(async {
            let world = World::new(Options { empty: true, ..Options::default() }).unwrap();
            for kind in without {
                let name = format!("{}.{}", kind.plural, kinds::names::GROUP);
                world.kubernetes.delete("CustomResourceDefinition", None, &name).unwrap();
            }
            check(&world.ways().0, "http://x").await
        });
        looked.unwrap()
    }

    #[test]
    fn an_uninstall_that_has_begun_can_be_finished() {
        assert_eq!(checked(&[]).unwrap(), Vec::<String>::new());
        let (one, all) = (&kinds::KINDS[..1], kinds::KINDS);
        let gone = format!("{}.{}", one[0].plural, kinds::names::GROUP);
        assert_eq!(checked(one).unwrap(), [gone]);
        let error = checked(all).unwrap_err();
        assert!(matches!(error, ClusterError::NoSuchKinds(_)), "{error}");
    }

    #[test]
    fn the_namespace_of_the_lease_must_be_there() {
        let looked = simulate(async {
            let world = World::new(Options { empty: true, ..Options::default() }).unwrap();
            let client = world.ways().0;
            (
                check_namespace(&client, "http://x", "default").await,
                check_namespace(&client, "http://x", "nowhere").await,
            )
        });
        let (there, missing) = looked.unwrap();
        assert!(there.is_ok(), "{there:?}");
        let next = missing.unwrap_err().next().unwrap_or_default();
        assert!(next.contains("`kubectl create namespace nowhere`"), "{next}");
    }

    #[test]
    fn every_refusal_says_what_to_do() {
        assert!(said(401).1.contains("renew the credentials"), "{:?}", said(401));
        assert_eq!(said(403).0, "this identity may not read zones.kflare.dev (403: no)");
        assert!(said(403).1.contains("deploy/rbac/manager.yaml"), "{:?}", said(403));
        assert_eq!(said(404).0, "the cluster does not know zones.kflare.dev");
        assert!(said(404).1.contains("`kflare crds | kubectl apply -f -`"), "{:?}", said(404));
        assert!(said(503).0.contains("503: no"), "{:?}", said(503));
        let busy = Status::failure("Too many requests", NO_STATUS).with_code(429);
        let busy = refusal("http://x".to_owned(), "zones".to_owned(), &busy);
        assert!(matches!(busy, ClusterError::Refused { code: 429, .. }), "{busy}");
    }

    /// What is said when this is all that a server ever answers.
    fn said_of(code: u16, body: &'static str) -> (String, String) {
        let service = tower::service_fn(move |_: http::Request<kube::client::Body>| async move {
            let answer = http::Response::builder()
                .status(code)
                .body(kube::client::Body::from(body.as_bytes().to_vec()));
            answer.map_err(tower::BoxError::from)
        });
        let looked = simulate(async { check(&Client::new(service, "default"), "http://x").await });
        let error = looked.unwrap().unwrap_err();
        (error.to_string(), error.next().unwrap_or_default())
    }

    #[test]
    fn what_is_no_api_server_is_told_from_one_without_our_kinds() {
        for (code, body, cause) in [
            (
                404,
                "<html><head>\n<title>404 Not Found",
                "it answers 404 without a status of Kubernetes: <html><head>",
            ),
            (404, "{\"detail\": \"Not Found\"}", "its refusal is no status of Kubernetes"),
            (404, "", "it answers 404 without a status of Kubernetes"),
            (
                502,
                "<html>Bad Gateway</html>",
                "it answers 502 without a status of Kubernetes: <html>Bad Gateway</html>",
            ),
            (401, "Unauthorized", "it answers 401 without a status of Kubernetes: Unauthorized"),
            (200, "<html>", "the answer is not what was asked for"),
        ] {
            let (said, next) = said_of(code, body);
            let expected =
                format!("what answers at http://x does not look like a Kubernetes API server: {cause}");
            assert!(said.starts_with(&expected), "{code} {body}: {said}");
            assert!(next.contains("`server` of the kubeconfig") && !next.contains("crds"), "{next}");
        }
    }

    #[test]
    fn who_only_reads_is_told_of_a_role_that_only_reads() {
        let of = |resource: &str| {
            let forbidden = ClusterError::Forbidden { resource: resource.to_owned(), said: "no".to_owned() };
            let error = forbidden.of_reader();
            assert_eq!(error.to_string(), format!("this identity may not read {resource} (403: no)"));
            error.next().unwrap_or_default()
        };
        let next = of("zones.kflare.dev");
        assert!(next.contains("deploy/rbac/view.yaml") && !next.contains("manager.yaml"), "{next}");
        let next = of("Secret a/b");
        assert!(next.contains("Role of its namespace") && !next.contains("manager.yaml"), "{next}");
    }

    #[test]
    fn an_answer_that_does_not_come_is_told_from_one_that_is_not_trusted() {
        let exchange = |error: kube::Error| {
            let error = ClusterError::of_exchange("https://x/", &error);
            (error.to_string(), error.next().unwrap_or_default())
        };
        let service = |text: &str| kube::Error::Service(text.into());
        let (said, next) = exchange(service("Connection refused (os error 111)"));
        assert_eq!(said, "cannot reach the API server https://x/: Connection refused (os error 111)");
        assert!(next.contains("HTTPS_PROXY") && next.contains("is it running"), "{next}");
        let (said, next) = exchange(service("invalid peer certificate: UnknownIssuer"));
        assert_eq!(said, "the API server https://x/ is not trusted: invalid peer certificate: UnknownIssuer");
        assert!(next.contains("certificate-authority-data"), "{next}");
        let html = serde_json::from_str::<serde_json::Value>("<html>").unwrap_err();
        let (said, next) = exchange(kube::Error::SerdeError(html));
        assert!(
            said.starts_with("what answers at https://x/ does not look like a Kubernetes API server: "),
            "{said}"
        );
        assert!(next.contains("proxy"), "{next}");
        let renewal = kube::client::AuthError::AuthExec("hidden".to_owned());
        let (said, next) = exchange(kube::Error::Service(Box::new(renewal)));
        assert!(said.starts_with("cannot get the credentials") && !said.contains("hidden"), "{said}");
        assert!(next.contains("`users` of the kubeconfig"), "{next}");
        let silent = simulate(look::<()>("https://x/", "zones".to_owned(), std::future::pending()));
        let silent = silent.unwrap().unwrap_err();
        assert_eq!(silent.to_string(), "the API server https://x/ does not answer within 20 s");
        assert!(silent.next().is_some());
    }
}
