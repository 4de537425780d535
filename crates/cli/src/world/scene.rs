//! What stands in both worlds before anything happens.

use std::time::Duration;

use operator::Portions;
use sandbox::cloudflare::{Cloudflare, Switches, Token};
use sandbox::kubernetes::{ApiServer, Status};
use serde_json::{Value, json};

/// The Cloudflare account, the one that the samples name.
pub const ACCOUNT_ID: &str = "0123456789abcdef0123456789abcdef";
/// How Cloudflare calls it.
pub const ACCOUNT_NAME: &str = "Sandbox";
/// The API token. It is of the form of real ones, and no output may ever show it.
pub const TOKEN: &str = "sandboxTokenThatNoOutputMayEverShow00000";
/// Where the samples keep it.
pub const SECRET_NAMESPACE: &str = "kflare-system";
/// Its Secret.
pub const SECRET_NAME: &str = "cloudflare-token";
/// The key in the Secret.
pub const TOKEN_KEY: &str = "CF_API_TOKEN";

/// How a world is made.
#[derive(Clone, Debug)]
pub struct Options {
    /// Decides every ID, name and jitter.
    pub seed: u64,
    /// Without the token Secret and the CloudflareAccount `main`.
    pub empty: bool,
    /// How Cloudflare behaves where its documentation is silent.
    pub switches: Switches,
    /// The operator's drift check interval.
    pub drift_interval: Option<Duration>,
    /// Objects without a `deletion-policy` stay in Cloudflare.
    pub retain: bool,
    /// The operator elects a leader, and so writes a Lease.
    pub election: bool,
    /// Operators that run beside each other; more than one need an election.
    pub replicas: u8,
    /// Kubernetes keeps every version of every object.
    pub history: bool,
    /// Kubernetes says in `managedFields` who set a field, which people with kubectl see and the operator never reads.
    pub owners: bool,
    /// How passes of the operator take in the members of a large unit.
    pub portions: Portions,
    /// Whatever goes to Cloudflare and back is held against the facts of the real API. It costs time that only tests have.
    pub schemas: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 1,
            empty: false,
            switches: Switches::default(),
            drift_interval: None,
            retain: false,
            election: false,
            replicas: 1,
            history: false,
            owners: false,
            portions: Portions::default(),
            schemas: cfg!(debug_assertions),
        }
    }
}

pub(super) fn set(kubernetes: &ApiServer, cloudflare: &Cloudflare, options: &Options) -> Result<(), Status> {
    let crds: Vec<Value> = kinds::CRDS.iter().filter_map(|crd| serde_json::from_str(crd).ok()).collect();
    if !options.owners {
        kubernetes.forget_owners();
    }
    kubernetes.install_crds(&crds)?;
    if options.history {
        kubernetes.keep_history();
    }
    if options.schemas {
        cloudflare.hold_to_schemas();
    }
    furnish(cloudflare);
    objects(options).into_iter().try_for_each(|object| kubernetes.apply(object).map(drop))
}

/// The account and the token that every Cloudflare here begins with.
pub(crate) fn furnish(cloudflare: &Cloudflare) {
    cloudflare.add_account(ACCOUNT_ID, ACCOUNT_NAME);
    cloudflare.add_token(TOKEN, Token::all(ACCOUNT_ID));
}

/// What stands in Kubernetes.
pub(crate) fn objects(options: &Options) -> Vec<Value> {
    let mut objects = vec![namespace()];
    if !options.empty {
        objects.extend([secret(), account()]);
    }
    objects
}

fn namespace() -> Value {
    json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": SECRET_NAMESPACE } })
}

fn secret() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": { "name": SECRET_NAME, "namespace": SECRET_NAMESPACE },
        "stringData": { TOKEN_KEY: TOKEN },
    })
}

fn account() -> Value {
    json!({
        "apiVersion": kinds::names::API_VERSION,
        "kind": "CloudflareAccount",
        "metadata": { "name": "main" },
        "spec": {
            "accountID": ACCOUNT_ID,
            "tokenSecretRef": { "name": SECRET_NAME, "namespace": SECRET_NAMESPACE },
        },
    })
}
