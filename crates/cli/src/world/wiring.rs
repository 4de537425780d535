//! How the operator is tied to the two worlds: a kube client and a transport, both behind the gate.

use std::sync::Arc;

use super::{Gate, Options, SECRET_NAMESPACE, Side};
use operator::transport::{self, Transport};
use operator::{Config, LeaderConfig};
use plan::policy::Deletion;
use sandbox::clock::Clock;
use sandbox::cloudflare::Cloudflare;
use sandbox::kubernetes::ApiServer;

/// How the operators of a world call themselves in their Lease, each with a number.
const IDENTITY: &str = "sandbox";

/// The base path that the Cloudflare side expects, as the real API has it.
pub(crate) const BASE_PATH: &str = "/client/v4";

pub(super) fn client(kubernetes: &ApiServer, gate: &Gate) -> kube::Client {
    kube::Client::new(gate.before(Side::Kubernetes, kubernetes.service()), "default")
}

pub(crate) fn transport(cloudflare: &Cloudflare, gate: &Gate) -> Transport {
    transport::in_process(gate.before(Side::Cloudflare, cloudflare.service()), BASE_PATH)
}

pub(crate) fn config(options: &Options, clock: &Clock, number: u32) -> Config {
    let clock = clock.clone();
    let mut config = Config::new(Arc::new(move || clock.now()));
    config.seed = options.seed;
    config.drift_check_interval = options.drift_interval;
    config.portions = options.portions;
    if options.retain {
        config.default_deletion = Deletion::Retain;
    }
    config.leader = options.election.then(|| LeaderConfig {
        namespace: SECRET_NAMESPACE.to_owned(),
        name: kinds::names::LEASE.to_owned(),
        identity: format!("{IDENTITY}-{number}"),
    });
    config
}
