//! `kflare run`: the operator for a cluster, with its endpoints, its election and an orderly end.
//! What it does to objects is the operator's.

mod arguments;

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use kube::Client;
use operator::{Config, LeaderConfig, Operator, health, transport};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

pub use arguments::{DeletionPolicy, OldSwitches, RunArguments};

use super::cluster::ClusterError;
use super::cluster::definitions::Gap;
use super::signals::Ends;
use super::{cloudflare_url, cluster, log, outside};
use crate::terminal;

/// Threads that work, on a machine of any size: one for a pass over thousands of objects, one for all else, above all for
/// the Lease. What takes time are the two APIs, and with each thread more the allocator keeps free memory for its own.
const WORKERS: usize = 2;

/// The exit code of a process that a second signal ended, as shells give it for SIGINT.
const INTERRUPTED: u8 = 130;

/// Runs until a signal, or until the Lease is lost.
///
/// # Errors
/// When it cannot start, with what to do about it.
pub fn execute(arguments: &RunArguments) -> anyhow::Result<ExitCode> {
    log::begin(arguments.log_level, arguments.log_format);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build();
    let runtime = runtime.context("cannot start the runtime")?;
    let outcome = runtime.block_on(run(arguments));
    // A name that is being looked up in the system's resolver cannot be cancelled and must not be waited for.
    runtime.shutdown_background();
    match outcome {
        // Whoever collects JSON must not find a sentence among it, least of all the one that says why nothing runs.
        Err(error)
            if arguments.log_format == log::Format::Json && tracing::enabled!(tracing::Level::ERROR) =>
        {
            tracing::error!(next = super::next(&error), "{}", super::sentence(&error));
            Ok(ExitCode::FAILURE)
        }
        outcome => outcome,
    }
}

async fn run(arguments: &RunArguments) -> anyhow::Result<ExitCode> {
    let mut ends = Ends::listen().context("cannot listen for signals")?;
    for notice in arguments.switches.notices() {
        tracing::warn!("{notice}");
    }
    cloudflare_url::check(&arguments.cloudflare_api_url)?;
    let cloudflare = transport::https(&arguments.cloudflare_api_url)
        .context("--cloudflare-api-url: write for example https://api.cloudflare.com/client/v4")?;
    let metrics = listen(&arguments.metrics_bind_address, "--metrics-bind-address").await?;
    let probes = listen(&arguments.health_probe_bind_address, "--health-probe-bind-address").await?;
    let (kubeconfig, context) = (arguments.kubeconfig.as_deref(), arguments.context.as_deref());
    let (client, server) = cluster::connect(kubeconfig, context).await?;
    let namespace = lease_namespace(arguments, client.default_namespace(), outside::is_in_pod());
    tracing::info!(server = %terminal::harmless(&server), "looking whether the cluster has what is needed");
    tokio::select! {
        looked = look(&client, &server, &namespace) => looked?,
        signal = ends.next() => {
            tracing::info!(signal, "ended before the start");
            return Ok(ExitCode::SUCCESS);
        }
    }
    let config = config(arguments, namespace);
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        server = %terminal::harmless(&server),
        cloudflare = %terminal::harmless(&arguments.cloudflare_api_url),
        lease = config.leader.as_ref().map(|leader| format!("{}/{}", leader.namespace, leader.name)),
        "starting"
    );
    let operator = Operator::start(client, cloudflare, config);
    let (end, ended) = watch::channel(false);
    let mut endpoints = JoinSet::new();
    if let Some(listener) = metrics {
        endpoints.spawn(watched(health::serve(listener, health::metrics(operator.shared()), until(&ended))));
    }
    if let Some(listener) = probes {
        endpoints.spawn(watched(health::serve(listener, health::probes(operator.shared()), until(&ended))));
    }
    tokio::select! {
        () = operator.lost() => Err(anyhow!(
            "the Lease is lost to another, or could not be renewed in time: kflare ends, so that two never write at once; \
             start it again to take part in the next election"
        )),
        signal = ends.next() => {
            tracing::info!(signal, "finishing what has begun; a second signal ends kflare at once");
            let code = shut_down(operator, &mut ends).await;
            // Probes are answered until the end, so that a slow drain does not look like a hang.
            end.send_replace(true);
            Ok(code)
        }
    }
}

/// The namespace of the Lease: the one that is named, else that of the Pod or the kubeconfig. Two kubeconfigs may name
/// two, and so two leaders.
fn lease_namespace(arguments: &RunArguments, default: &str, is_in_pod: bool) -> String {
    if let Some(namespace) = arguments.namespace.clone().filter(|namespace| !namespace.is_empty()) {
        return namespace;
    }
    if !is_in_pod {
        tracing::warn!(
            namespace = %terminal::harmless(default),
            "without --namespace the Lease is in the namespace of the kubeconfig's context: an operator with another one \
             leads and writes at the same time; name the same for all of this cluster, as in --namespace kflare-system"
        );
    }
    default.to_owned()
}

/// Looks whether the cluster has what is needed, and warns of what is missing and does no harm.
async fn look(client: &Client, server: &str, namespace: &str) -> Result<(), ClusterError> {
    let missing = cluster::check(client, server).await?;
    cluster::check_namespace(client, server, namespace).await?;
    if !missing.is_empty() {
        tracing::warn!(
            missing = missing.join(", "),
            "some CustomResourceDefinitions are missing: unless kflare is being removed, apply them with \
             `kflare crds | kubectl apply -f -`"
        );
    }
    let gaps = cluster::definitions::gaps(client, server).await;
    if gaps.iter().any(Gap::is_fatal) {
        return Err(ClusterError::OlderDefinitions(gaps));
    }
    for gap in gaps {
        tracing::warn!(
            older = %gap,
            "a CustomResourceDefinition of the cluster is older than this kflare: what it lacks cannot be set; bring it up to \
             date with `kflare crds | kubectl apply -f -`"
        );
    }
    Ok(())
}

async fn shut_down(operator: Operator, ends: &mut Ends) -> ExitCode {
    tokio::select! {
        () = operator.shutdown() => {
            tracing::info!("ended");
            ExitCode::SUCCESS
        }
        signal = ends.next() => {
            tracing::warn!(signal, "ended at once");
            ExitCode::from(INTERRUPTED)
        }
    }
}

fn config(arguments: &RunArguments, namespace: String) -> Config {
    let random = outside::chance();
    let host = ["POD_NAME", "HOSTNAME"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|host| !host.is_empty()));
    let identity = format!("{}_{random:016x}", host.unwrap_or_else(|| "kflare".to_owned()));
    let mut config = Config::new(Arc::new(outside::now));
    config.seed = random;
    config.timings = config.timings.scaled(arguments.timings_factor);
    config.drift_check_interval = Some(arguments.drift_check_interval).filter(|interval| !interval.is_zero());
    config.default_deletion = arguments.default_deletion_policy.into();
    config.reconcile_timeout = arguments.reconcile_timeout;
    config.leader = Some(LeaderConfig { namespace, name: kinds::names::LEASE.to_owned(), identity });
    config
}

async fn listen(address: &str, flag: &str) -> anyhow::Result<Option<TcpListener>> {
    health::listen(address).await.with_context(|| format!("{flag}: choose another address, or 0 for none"))
}

/// Until the process ends.
fn until(ended: &watch::Receiver<bool>) -> impl Future<Output = ()> + Send + 'static {
    let mut ended = ended.clone();
    async move {
        // The sender goes only when the process does.
        let _ = ended.wait_for(|ended| *ended).await;
    }
}

async fn watched(serving: impl Future<Output = std::io::Result<()>>) {
    if let Err(error) = serving.await {
        tracing::error!(%error, "an endpoint is not served any more");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use clap::Parser;

    use super::*;
    use crate::commands::{Cli, Command};

    /// Notes that something was logged.
    #[derive(Clone, Default)]
    struct Warned(Arc<AtomicBool>);

    impl std::io::Write for Warned {
        fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
            let is_warning = String::from_utf8_lossy(line).contains("WARN");
            self.0.fetch_or(is_warning, Ordering::Relaxed);
            Ok(line.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn namespace_of(line: &str, is_in_pod: bool) -> (String, bool) {
        let Command::Run(arguments) = Cli::try_parse_from(line.split(' ')).unwrap().command else {
            panic!("{line}")
        };
        let warned = Warned::default();
        let lines = warned.clone();
        let subscriber =
            tracing_subscriber::fmt().with_ansi(false).with_writer(move || lines.clone()).finish();
        let namespace = tracing::subscriber::with_default(subscriber, || {
            lease_namespace(&arguments, "default", is_in_pod)
        });
        (namespace, warned.0.load(Ordering::Relaxed))
    }

    #[test]
    fn pauses_can_be_made_shorter_and_neither_longer_nor_nothing() {
        for factor in ["1", "0.001"] {
            assert!(Cli::try_parse_from(["kflare", "run", "--timings-factor", factor]).is_ok());
        }
        for factor in ["0", "1.5", "-1", "NaN", "fast"] {
            let line = ["kflare", "run", &format!("--timings-factor={factor}")];
            assert!(Cli::try_parse_from(line).is_err(), "{factor}");
        }
    }

    #[test]
    fn a_namespace_that_nobody_named_is_warned_of_outside_of_a_pod() {
        assert_eq!(namespace_of("kflare run", false), ("default".to_owned(), true));
        assert_eq!(namespace_of("kflare run", true), ("default".to_owned(), false));
        assert_eq!(namespace_of("kflare run --namespace apps", false), ("apps".to_owned(), false));
    }
}
