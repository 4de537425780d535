//! What can go wrong on the way into a cluster, in words, and what to do next. The same for every command.

use kube::config::KubeconfigError;
use operator::causes::{Causes, credentials, lack_of_credentials, root};

use super::definitions::Gap;
use super::look::LOOK_MAX;

/// Where our ClusterRole stands, for those who lack it.
const ROLE: &str = "deploy/rbac/manager.yaml";

/// What lets those see our kinds who may view the rest of a cluster.
const VIEW_ROLE: &str = "deploy/rbac/view.yaml";

/// Begins the name of one Secret.
pub(in crate::commands) const SECRET: &str = "Secret ";

/// Where a kubeconfig is looked for when none is named.
pub(super) const DEFAULT_KUBECONFIG: &str = "~/.kube/config";

/// Why there is no way into a cluster, or nothing to do there. Causes are texts: those of the libraries repeat
/// themselves from level to level.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClusterError {
    #[error("cannot use the kubeconfig {path}: {cause}")]
    Kubeconfig { path: String, cause: String },
    #[error("the kubeconfig {path} has no context {context}; {}", contexts(.known))]
    Context { path: String, context: String, known: Vec<String> },
    #[error("the kubeconfig {path} names no current context; {}", contexts(.known))]
    NoContext { path: String, known: Vec<String> },
    #[error(
        "there is no cluster: no kubeconfig at {DEFAULT_KUBECONFIG}, and this is no pod with a service account"
    )]
    NoCluster,
    #[error("cannot set up the client for the API server {server}: {cause}")]
    Client { server: String, cause: String },
    #[error("cannot get the credentials for the API server {server}: {cause}")]
    Credentials { server: String, cause: String },
    #[error("cannot reach the API server {server}: {cause}")]
    Unreachable { server: String, cause: String },
    #[error("the API server {server} is not trusted: {cause}")]
    Certificate { server: String, cause: String },
    #[error("what answers at {server} does not look like a Kubernetes API server: {cause}")]
    NotKubernetes { server: String, cause: String },
    #[error("the API server {server} does not answer within {} s", LOOK_MAX.as_secs())]
    Silent { server: String },
    #[error("the API server {server} does not know who this is (401: {said})")]
    Unauthorized { server: String, said: String },
    #[error("this identity may not read {resource} (403: {said})")]
    Forbidden { resource: String, said: String },
    /// The same for a command that only reads, which needs no more than that.
    #[error("this identity may not read {resource} (403: {said})")]
    NoReader { resource: String, said: String },
    #[error("the cluster does not know {}", .0.join(", "))]
    NoSuchKinds(Vec<String>),
    #[error("the cluster serves {group} in {served} only: this kflare speaks {version}", group = kinds::names::GROUP, version = kinds::names::VERSION)]
    OtherVersion { served: String },
    #[error("CustomResourceDefinitions of the cluster are older than this kflare: {}", gaps(.0))]
    OlderDefinitions(Vec<Gap>),
    #[error("the namespace {0} of the Lease does not exist")]
    NoSuchNamespace(String),
    #[error("the API server lists {0} without end: something is wrong with it, or with what is between")]
    Endless(String),
    #[error("the API server refuses to read {resource} ({code}: {said})")]
    Refused { resource: String, code: u16, said: String },
}

impl ClusterError {
    /// What to do about it.
    pub(in crate::commands) fn next(&self) -> Option<String> {
        let next = match self {
            Self::Kubeconfig { .. } => "mend it, or name another with --kubeconfig or KUBECONFIG".to_owned(),
            Self::Context { .. } => "name one of those with --context".to_owned(),
            Self::NoContext { .. } => {
                "name one with --context, or choose it with `kubectl config use-context NAME`".to_owned()
            }
            Self::NoCluster => {
                "name a kubeconfig with --kubeconfig or KUBECONFIG; `kflare sandbox` needs no cluster".to_owned()
            }
            Self::Client { .. } => "look at the certificates, credentials and proxy of the kubeconfig".to_owned(),
            Self::Credentials { .. } => {
                "does what `users` of the kubeconfig says work, such as the program of its `exec`?".to_owned()
            }
            Self::Unreachable { .. } | Self::Silent { .. } => {
                "is it running, is `server` of the kubeconfig right, and is a proxy needed (HTTPS_PROXY) or in the way \
                 (NO_PROXY)? `kubectl get --raw /readyz` asks it too"
                    .to_owned()
            }
            Self::Certificate { .. } => {
                "`certificate-authority-data` of the kubeconfig must be the CA of this cluster: if the cluster was made \
                 anew, get its kubeconfig again; if `server` is an address, the certificate must name it"
                    .to_owned()
            }
            Self::NotKubernetes { .. } => {
                "is `server` of the kubeconfig right, with http or https, host and port, and is nothing else in between, such \
                 as a proxy? `kubectl get --raw /version` shows what answers"
                    .to_owned()
            }
            Self::Unauthorized { .. } => "renew the credentials of the kubeconfig, by logging in again".to_owned(),
            Self::Forbidden { .. } => format!(
                "use an identity that may, or have an administrator bind the ClusterRole kflare of {ROLE} to this one"
            ),
            Self::NoReader { resource, .. } if resource.starts_with(SECRET) => {
                "have an administrator let this identity get that Secret, with a Role of its namespace".to_owned()
            }
            Self::NoReader { .. } => format!(
                "use an identity that may, or have an administrator bind the ClusterRole view to this one, which with \
                 {VIEW_ROLE} sees kflare's kinds: `kubectl create clusterrolebinding NAME --clusterrole view --user USER`"
            ),
            Self::NoSuchKinds(_) | Self::OtherVersion { .. } => {
                "install the CustomResourceDefinitions of this kflare: `kflare crds | kubectl apply -f -`".to_owned()
            }
            Self::OlderDefinitions(_) => {
                "bring them up to date, which keeps all objects: `kflare crds | kubectl apply -f -`".to_owned()
            }
            Self::NoSuchNamespace(name) => {
                format!("create it with `kubectl create namespace {name}`, or name another with --namespace")
            }
            Self::Endless(_) | Self::Refused { .. } => return None,
        };
        Some(next)
    }

    /// The same for a command that only reads.
    pub(in crate::commands) fn of_reader(self) -> Self {
        match self {
            Self::Forbidden { resource, said } => Self::NoReader { resource, said },
            other => other,
        }
    }

    /// What is wrong with a kubeconfig.
    pub(super) fn of_kubeconfig(path: &str, known: Vec<String>, error: &KubeconfigError) -> Self {
        let path = path.to_owned();
        let cause = match error {
            KubeconfigError::LoadContext(context) => {
                return Self::Context { path, context: context.clone(), known };
            }
            KubeconfigError::CurrentContextNotSet => return Self::NoContext { path, known },
            KubeconfigError::ReadConfig(source, _) => source.to_string(),
            KubeconfigError::Parse(source) => {
                let said = source.without_snippet().to_string();
                let said = said.lines().next().unwrap_or_default();
                format!("it is not YAML, or not a kubeconfig: {}", said)
            }
            KubeconfigError::LoadClusterOfContext(cluster) => {
                format!("its context names the cluster {cluster}, which is not in it")
            }
            KubeconfigError::MissingClusterUrl => "the cluster of its context has no `server`".to_owned(),
            other => other.to_string(),
        };
        Self::Kubeconfig { path, cause }
    }

    /// What keeps the client from being set up. The address of a proxy is never quoted: a password may be in it.
    pub(super) fn of_setup(server: String, error: &kube::Error) -> Self {
        let cause = match error {
            kube::Error::Auth(source) => return Self::Credentials { server, cause: credentials(source) },
            kube::Error::ProxyProtocolUnsupported { .. } | kube::Error::ProxyProtocolDisabled { .. } => {
                "its proxy (`proxy-url` of the kubeconfig, or HTTPS_PROXY) is neither http:// nor https://"
                    .to_owned()
            }
            error => Causes(error).to_string(),
        };
        Self::Client { server, cause }
    }

    /// What it means that there was no answer, or none that could be read.
    pub(super) fn of_exchange(server: &str, error: &kube::Error) -> Self {
        let (server, cause) = (server.to_owned(), root(error));
        if let Some(source) = lack_of_credentials(error) {
            return Self::Credentials { server, cause: credentials(source) };
        }
        match error {
            kube::Error::SerdeError(_) | kube::Error::FromUtf8(_) => {
                Self::NotKubernetes { server, cause: Causes(error).to_string() }
            }
            _ if cause.to_lowercase().contains("certificate") => Self::Certificate { server, cause },
            _ if cause.contains("corrupt message") => Self::NotKubernetes { server, cause },
            _ => Self::Unreachable { server, cause },
        }
    }
}

fn contexts(known: &[String]) -> String {
    match known {
        [] => "there is none in it".to_owned(),
        known => format!("it has {}", known.join(", ")),
    }
}

fn gaps(gaps: &[Gap]) -> String {
    gaps.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
