//! The flags of `kflare plan`. What they mean is carried out in the modules beside this one.

use std::path::PathBuf;

use clap::builder::BoolishValueParser;
use clap::{Args, ValueEnum};

use crate::commands::run::DeletionPolicy;

/// `kflare plan`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
pub struct PlanArguments {
    /// Manifests to look at: files, directories or - for standard input
    ///
    /// They are laid over the cluster's objects as `kubectl apply` would lay them.
    #[arg(long = "filename", short = 'f', env = "KFLARE_FILENAME", value_name = "PATH")]
    pub filename: Vec<PathBuf>,

    /// Look at what deleting the objects of the manifests would do
    #[arg(long, env = "KFLARE_DELETE", value_parser = BoolishValueParser::new(), conflicts_with = "no_cluster")]
    pub delete: bool,

    /// Show every object of the cluster, not only those of the manifests, what they lead to and what depends on them
    ///
    /// Needs no -f, and then shows what has drifted.
    #[arg(long, env = "KFLARE_ALL", value_parser = BoolishValueParser::new())]
    pub all: bool,

    /// Look at no cluster: only the manifests count, with the token of CLOUDFLARE_API_TOKEN or of their own Secret
    ///
    /// What exists in Cloudflare with the key of a manifest counts as its own. What would be removed is unknown.
    #[arg(long, env = "KFLARE_NO_CLUSTER", value_parser = BoolishValueParser::new(), conflicts_with_all = ["kubeconfig", "context"])]
    pub no_cluster: bool,

    /// The kubeconfig of the cluster; without it KUBECONFIG, then ~/.kube/config, then the pod's service account
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// The context of the kubeconfig; without it the current one
    #[arg(long, env = "KFLARE_CONTEXT", value_name = "NAME")]
    pub context: Option<String>,

    /// The namespace of manifests that name none; without it that of the context, or `default`
    ///
    /// As in kubectl, a manifest that names another one is refused.
    #[arg(long, short = 'n', env = "KFLARE_NAMESPACE", value_name = "NAME")]
    pub namespace: Option<String>,

    /// Where the Cloudflare API is
    #[arg(long, env = "CLOUDFLARE_API_URL", value_name = "URL", default_value = operator::transport::BASE_URL)]
    pub cloudflare_api_url: String,

    /// What `kflare run` does with an object without the annotation kflare.dev/deletion-policy when it is deleted
    #[arg(long, env = "DEFAULT_DELETION_POLICY", value_name = "POLICY", default_value = "delete")]
    pub default_deletion_policy: DeletionPolicy,

    /// How the plan is printed
    #[arg(long, short, env = "KFLARE_OUTPUT", value_name = "FORMAT", default_value = "text")]
    pub output: Output,

    /// Show every request too, and the objects that stay as they are
    #[arg(long, short, env = "KFLARE_VERBOSE", value_parser = BoolishValueParser::new())]
    pub verbose: bool,
}

/// How a plan is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// For people
    Text,
    /// For programs: one JSON object, described in docs/guide/plan.md
    Json,
    /// The same as YAML
    Yaml,
}

/// Why a plan cannot be asked for like this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum PlanUsageError {
    #[error(
        "nothing to look at: name manifests with -f PATH (a file, a directory, or - for standard input), or ask for every \
         object of the cluster with --all"
    )]
    Nothing,
    #[error("--delete looks at what deleting the objects of manifests would do: name them with -f PATH")]
    DeleteWhat,
    #[error(
        "--no-cluster looks at manifests alone: name them with -f PATH (a file, a directory, or - for standard input)"
    )]
    NoClusterNoFiles,
}

impl PlanArguments {
    /// Whether there is something to look at.
    pub(super) fn check(&self) -> Result<(), PlanUsageError> {
        match self {
            Self { filename, .. } if !filename.is_empty() => Ok(()),
            Self { delete: true, .. } => Err(PlanUsageError::DeleteWhat),
            Self { no_cluster: true, .. } => Err(PlanUsageError::NoClusterNoFiles),
            Self { all: true, .. } => Ok(()),
            _ => Err(PlanUsageError::Nothing),
        }
    }
}

const USAGE: &str = "kflare plan -f <PATH>... [OPTIONS]\n       kflare plan --all [OPTIONS]";

const EXAMPLES: &str = "\
Nothing is changed, neither in Kubernetes nor in Cloudflare: kflare plan sends nothing but reads. In the cluster it
needs to list kflare's objects and namespaces and to get the token Secrets; of the token it needs what reads need.

It exits with 0 when there is nothing to do, with 2 when there is, and with 1 when something is in the way: an error,
or an object that cannot become as its manifest says (a conflict, a refusal, a missing parent). A paused object
does not count, nor, without --all, what is held with or without the manifests, such as another team's record.

Examples:
  # what would `kubectl apply -f dns/` do in Cloudflare?
  kflare plan -f dns/

  # and `kubectl delete -f dns/`?
  kflare plan --delete -f dns/

  # what has drifted, over all objects of the cluster?
  kflare plan --all

  # in a pipeline that has no cluster
  CLOUDFLARE_API_TOKEN=... kflare plan --no-cluster -f dns/

  # for a script: what is in the way, and why
  kflare plan -f dns/ -o json | jq '.objects[] | select(.held)'";
