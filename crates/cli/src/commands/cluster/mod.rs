//! The way into a cluster: which kubeconfig, which context, through which proxy. Every command takes the same.
//! Whether the cluster has what is needed is for `look` and `definitions`.

pub(super) mod definitions;
mod error;
mod look;

use std::path::Path;

use hyper_util::client::proxy::matcher::Matcher;
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};

pub(crate) use self::error::ClusterError;
use self::error::DEFAULT_KUBECONFIG;
pub(super) use self::error::SECRET;
pub(super) use self::look::{check, check_namespace, look};

/// Finds the cluster; its address is given as it may be printed. The client does not retry: what may be repeated is
/// decided by the operator.
pub(crate) async fn connect(
    kubeconfig: Option<&Path>,
    context: Option<&str>,
) -> Result<(Client, String), ClusterError> {
    let mut config = configuration(kubeconfig, context).await?;
    config.default_retry = false;
    let server = address(&config.cluster_url);
    match Client::try_from(config) {
        Ok(client) => Ok((client, server)),
        Err(error) => Err(ClusterError::of_setup(server, &error)),
    }
}

/// Where an API server is, as it may be printed: `server` of a kubeconfig may hold a user and a password.
fn address(server: &http::Uri) -> String {
    let (scheme, host) = (server.scheme_str().unwrap_or_default(), server.host().unwrap_or_default());
    let port = server.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{scheme}://{host}{port}{}", server.path())
}

async fn configuration(kubeconfig: Option<&Path>, context: Option<&str>) -> Result<Config, ClusterError> {
    if let Some(path) = kubeconfig {
        return of_kubeconfig(&path.display().to_string(), Kubeconfig::read_from(path), context).await;
    }
    // A kubeconfig that was named but cannot be used must not lead to another cluster in silence.
    if let Some(paths) = std::env::var_os("KUBECONFIG").filter(|paths| !paths.is_empty()) {
        return of_kubeconfig(&paths.to_string_lossy(), Kubeconfig::read(), context).await;
    }
    let found = Kubeconfig::read();
    let is_absent = matches!(found, Err(KubeconfigError::FindPath | KubeconfigError::ReadConfig(..)));
    match of_kubeconfig(DEFAULT_KUBECONFIG, found, context).await {
        // Only a kubeconfig has contexts: the pod's own account must not stand in for one.
        Err(error) if context.is_none() => match Config::incluster() {
            Ok(config) => Ok(config),
            Err(_) if is_absent => Err(ClusterError::NoCluster),
            Err(_) => Err(error),
        },
        outcome => outcome,
    }
}

async fn of_kubeconfig(
    path: &str,
    found: Result<Kubeconfig, KubeconfigError>,
    context: Option<&str>,
) -> Result<Config, ClusterError> {
    let kubeconfig = found.map_err(|error| ClusterError::of_kubeconfig(path, Vec::new(), &error))?;
    let known = kubeconfig.contexts.iter().map(|context| context.name.clone()).collect();
    let own_proxy = own_proxy(&kubeconfig, context);
    let options = KubeConfigOptions { context: context.map(str::to_owned), ..KubeConfigOptions::default() };
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
    let mut config = config.map_err(|error| ClusterError::of_kubeconfig(path, known, &error))?;
    if !own_proxy && is_direct(&config.cluster_url, &Matcher::from_env()) {
        config.proxy_url = None;
    }
    Ok(config)
}

/// Whether the context's cluster names a proxy, which goes before the environment.
fn own_proxy(kubeconfig: &Kubeconfig, context: Option<&str>) -> bool {
    let Some(name) = context.or(kubeconfig.current_context.as_deref()) else { return false };
    let context = kubeconfig.contexts.iter().find(|known| known.name == name);
    let Some(context) = context.and_then(|known| known.context.as_ref()) else { return false };
    let cluster = kubeconfig.clusters.iter().find(|known| known.name == context.cluster);
    let cluster = cluster.and_then(|known| known.cluster.as_ref());
    cluster.and_then(|cluster| cluster.proxy_url.as_deref()).is_some_and(|url| !url.is_empty())
}

/// Whether the environment asks for no proxy before a server, as kubectl reads it: none for this machine itself, nor
/// for what NO_PROXY names.
fn is_direct(server: &http::Uri, environment: &Matcher) -> bool {
    let host = server.host().unwrap_or_default().trim_matches(['[', ']']);
    let is_loopback = host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    is_loopback || host == "localhost" || environment.intercept(server).is_none()
}

#[cfg(test)]
mod tests;
