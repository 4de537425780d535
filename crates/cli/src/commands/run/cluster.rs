//! The way into the cluster: which kubeconfig, and whether what the operator needs is there and allowed.
//! Looks once before the start, so that a mistake is a sentence and not a loop of log lines.

use std::path::Path;
use std::time::Duration;

use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::api::{Api, DynamicObject, ListParams};
use kube::config::{InferConfigError, KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::core::Status;
use kube::discovery::ApiResource;
use kube::{Client, Config};

/// One question before the start. A server that needs longer would make a poor cluster for the operator, too.
const LOOK_MAX: Duration = Duration::from_secs(20);

/// Where our ClusterRole stands, for those who lack it.
const ROLE: &str = "deploy/rbac/manager.yaml";

/// Why the operator cannot start.
#[derive(Debug, thiserror::Error)]
pub(in crate::commands) enum ClusterError {
    #[error("cannot use the kubeconfig {path}: name another with --kubeconfig")]
    Kubeconfig { path: String, source: Box<KubeconfigError> },
    #[error("cannot use the context {context}: `kubectl config get-contexts` lists those that there are")]
    Context { context: String, source: Box<KubeconfigError> },
    #[error("there is no cluster: name a kubeconfig with --kubeconfig or KUBECONFIG, or run in a pod")]
    NoCluster(#[source] Box<InferConfigError>),
    #[error(
        "cannot set up the Kubernetes client for {server}: look at certificates and credentials of the kubeconfig"
    )]
    Client { server: String, source: Box<kube::Error> },
    #[error("cannot reach the API server {server}: is it running, and is `server` of the kubeconfig right?")]
    Unreachable { server: String, source: Box<kube::Error> },
    #[error("the API server {server} does not answer within {} s: is the network in between all right?", LOOK_MAX.as_secs())]
    Silent { server: String },
    #[error(
        "the API server {server} does not know who this is (401: {said}): renew the credentials of the kubeconfig"
    )]
    Unauthorized { server: String, said: String },
    #[error("this identity may not list {resource} in all namespaces (403: {said}): apply {role} and bind its ClusterRole", role = ROLE)]
    Forbidden { resource: String, said: String },
    #[error(
        "the cluster does not know {0}: apply the CustomResourceDefinitions with `kflare crds | kubectl apply -f -`"
    )]
    NoSuchKind(String),
    #[error(
        "the namespace {0} of the Lease does not exist: create it with `kubectl create namespace {0}`, or name another with \
         --namespace"
    )]
    NoSuchNamespace(String),
    #[error("the API server lists {0} without end: something is wrong with it, or with what is between")]
    Endless(String),
    #[error("the API server refuses to list {resource} ({code}: {said})")]
    Refused { resource: String, code: u16, said: String },
}

/// Finds the cluster. The client does not retry: what may be repeated is decided by the operator.
pub(in crate::commands) async fn connect(
    kubeconfig: Option<&Path>,
    context: Option<&str>,
) -> Result<(Client, Config), ClusterError> {
    let options = KubeConfigOptions { context: context.map(str::to_owned), ..KubeConfigOptions::default() };
    let mut config = match kubeconfig {
        Some(path) => {
            let failed = |source: KubeconfigError| ClusterError::Kubeconfig {
                path: path.display().to_string(),
                source: Box::new(source),
            };
            let kubeconfig = Kubeconfig::read_from(path).map_err(failed)?;
            Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(failed)?
        }
        None => inferred(&options).await?,
    };
    config.default_retry = false;
    let server = config.cluster_url.to_string();
    let client = Client::try_from(config.clone());
    let client = client.map_err(|source| ClusterError::Client { server, source: Box::new(source) })?;
    Ok((client, config))
}

async fn inferred(options: &KubeConfigOptions) -> Result<Config, ClusterError> {
    // A kubeconfig that was named but cannot be used must not lead to another cluster in silence.
    if let Some(paths) = std::env::var_os("KUBECONFIG").filter(|paths| !paths.is_empty()) {
        let config = Config::from_kubeconfig(options).await;
        let path = paths.to_string_lossy().into_owned();
        return config.map_err(|source| ClusterError::Kubeconfig { path, source: Box::new(source) });
    }
    if let Some(context) = &options.context {
        // Only a kubeconfig has contexts: the pod's own account must not stand in for one.
        let config = Config::from_kubeconfig(options).await;
        let context = context.clone();
        return config.map_err(|source| ClusterError::Context { context, source: Box::new(source) });
    }
    Config::infer().await.map_err(|source| ClusterError::NoCluster(Box::new(source)))
}

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
            Err(ClusterError::NoSuchKind(name)) => missing.push(name),
            Err(error) => return Err(error),
        }
    }
    if missing.len() == kinds::KINDS.len() {
        return Err(ClusterError::NoSuchKind(missing.join(", ")));
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
        Ok(Err(source)) => Err(ClusterError::Unreachable { server: server(), source: Box::new(source) }),
    }
}

fn refusal(server: String, resource: String, status: &Status) -> ClusterError {
    let said = status.message.clone();
    match status.code {
        401 => ClusterError::Unauthorized { server, said },
        403 => ClusterError::Forbidden { resource, said },
        404 => ClusterError::NoSuchKind(resource),
        code => ClusterError::Refused { resource, code, said },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::simulate;
    use crate::world::{Options, World};

    fn said(code: u16) -> String {
        let status = Status { code, message: "no".to_owned(), ..Status::default() };
        refusal("http://x".to_owned(), "zones.kflare.dev".to_owned(), &status).to_string()
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
        assert!(matches!(error, ClusterError::NoSuchKind(_)), "{error}");
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
        let missing = missing.unwrap_err().to_string();
        assert!(missing.contains("`kubectl create namespace nowhere`"), "{missing}");
    }

    #[test]
    fn every_refusal_says_what_to_do() {
        assert!(said(401).contains("renew the credentials"), "{}", said(401));
        assert!(said(403).contains("may not list zones.kflare.dev"), "{}", said(403));
        assert!(said(403).contains(ROLE), "{}", said(403));
        assert!(said(404).contains("kflare crds | kubectl apply -f -"), "{}", said(404));
        assert!(said(503).contains("503: no"), "{}", said(503));
    }
}
