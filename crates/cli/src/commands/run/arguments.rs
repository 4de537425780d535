//! The flags of `kflare run`: those of the old kflare under their names, and ours.
//! What they mean is carried out in the modules beside this one.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::BoolishValueParser;
use clap::{Args, ValueEnum};

use crate::commands::duration;
use crate::commands::log::{Format, Level};

/// Old flags are accepted with and without a value, as Go has it: `--leader-elect` and `--leader-elect=false`.
const SWITCHES: &str = "Switches of the older kflare";

const LOGGING: &str = "Logging";

/// `kflare run`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct RunArguments {
    /// The kubeconfig of the cluster; without it KUBECONFIG, then ~/.kube/config, then the pod's service account
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// The context of the kubeconfig; without it the current one
    #[arg(long, env = "KFLARE_CONTEXT", value_name = "NAME")]
    pub context: Option<String>,

    /// The namespace of the Lease `a634e97e.kflare.dev`
    ///
    /// By default the pod's own namespace, outside a cluster that of the kubeconfig's context. Whoever holds the Lease
    /// leads and writes, so all operators of one cluster must name the same namespace: two with different ones both lead.
    #[arg(long, env = "NAMESPACE", value_name = "NAME", value_parser = namespace)]
    pub namespace: Option<String>,

    /// Where the Cloudflare API is
    ///
    /// Another address serves a proxy, or a sandbox. The usual proxy variables (HTTPS_PROXY, NO_PROXY) count too.
    #[arg(long, env = "CLOUDFLARE_API_URL", value_name = "URL", default_value = operator::transport::BASE_URL)]
    pub cloudflare_api_url: String,

    /// How often Cloudflare is searched for changes of others, moved by up to a tenth at random; 0 for never
    ///
    /// Without it such a change is found when the object is next looked at, after ten hours at most.
    #[arg(long, env = "DRIFT_CHECK_INTERVAL", value_name = "DURATION", default_value = "0", value_parser = duration::parse)]
    pub drift_check_interval: Duration,

    /// What happens in Cloudflare when an object without the annotation kflare.dev/deletion-policy is deleted
    #[arg(long, env = "DEFAULT_DELETION_POLICY", value_name = "POLICY", default_value = "delete")]
    pub default_deletion_policy: DeletionPolicy,

    /// How long one pass over an object may take, waiting for the call budget not counted
    #[arg(long, env = "RECONCILE_TIMEOUT", value_name = "DURATION", default_value = "5m", value_parser = positive)]
    pub reconcile_timeout: Duration,

    /// Shortens every pause of the operator, for tests that cannot wait; what proves ownership takes its time all the same
    #[arg(long, hide = true, value_name = "FACTOR", default_value = "1", value_parser = factor)]
    pub timings_factor: f64,

    /// Where /metrics is served; 0 for nowhere
    #[arg(long, env = "METRICS_BIND_ADDRESS", value_name = "ADDRESS", default_value = ":8080")]
    pub metrics_bind_address: String,

    /// Where /healthz and /readyz are served; 0 for nowhere
    #[arg(long, env = "HEALTH_PROBE_BIND_ADDRESS", value_name = "ADDRESS", default_value = ":8081")]
    pub health_probe_bind_address: String,

    /// What is logged: error, warn, info, debug, trace; or a number as zap has it (0 info, 1 and 2 debug, more trace)
    #[arg(long, short = 'v', alias = "zap-log-level", env = "LOG_LEVEL", value_name = "LEVEL", default_value = "info", help_heading = LOGGING)]
    pub log_level: Level,

    /// How it is logged; `console` is another word for text
    #[arg(long, alias = "zap-encoder", env = "LOG_FORMAT", value_name = "FORMAT", default_value = "json", help_heading = LOGGING)]
    pub log_format: Format,

    /// Switches of the old kflare.
    #[command(flatten)]
    pub switches: OldSwitches,
}

/// Flags that the older kflare had and that decide nothing any more. They are accepted, so that its manifests work; help
/// names them in a sentence, docs/reference/flags.md one by one.
#[derive(Args, Debug)]
#[command(next_help_heading = SWITCHES)]
pub struct OldSwitches {
    /// Changes nothing: kflare always holds its Lease, so that two never write at once
    #[arg(long, hide_short_help = true, hide_long_help = true, env = "LEADER_ELECT", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true", value_parser = BoolishValueParser::new())]
    pub leader_elect: bool,

    /// Changes nothing: metrics are plain HTTP; put a proxy with TLS before them, or bind them to 127.0.0.1
    #[arg(long, hide_short_help = true, hide_long_help = true, env = "METRICS_SECURE", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true", value_parser = BoolishValueParser::new())]
    pub metrics_secure: bool,

    /// Changes nothing: the endpoints of kflare speak HTTP/1.1
    #[arg(long, hide_short_help = true, hide_long_help = true, env = "ENABLE_HTTP2", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true", value_parser = BoolishValueParser::new())]
    pub enable_http2: bool,

    /// Changes nothing: use --log-format and --log-level
    #[arg(long, hide_short_help = true, hide_long_help = true, env = "ZAP_DEVEL", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true", value_parser = BoolishValueParser::new())]
    pub zap_devel: bool,

    /// Changes nothing: errors say what they come from
    #[arg(
        long,
        hide_short_help = true,
        hide_long_help = true,
        env = "ZAP_STACKTRACE_LEVEL",
        value_name = "LEVEL"
    )]
    pub zap_stacktrace_level: Option<String>,

    /// Changes nothing: times are RFC 3339
    #[arg(
        long,
        hide_short_help = true,
        hide_long_help = true,
        env = "ZAP_TIME_ENCODING",
        value_name = "FORMAT"
    )]
    pub zap_time_encoding: Option<String>,
}

impl OldSwitches {
    /// What to tell those who set one that they may have counted on.
    #[must_use]
    pub fn notices(&self) -> Vec<&'static str> {
        let notices = [
            (
                self.metrics_secure,
                "--metrics-secure changes nothing: metrics are served without TLS and to everyone",
            ),
            (self.enable_http2, "--enable-http2 changes nothing: the endpoints speak HTTP/1.1"),
            (self.zap_devel, "--zap-devel changes nothing: use --log-format and --log-level"),
            (self.zap_stacktrace_level.is_some(), "--zap-stacktrace-level changes nothing"),
            (self.zap_time_encoding.is_some(), "--zap-time-encoding changes nothing: times are RFC 3339"),
        ];
        notices.into_iter().filter(|(is_set, _)| *is_set).map(|(_, notice)| notice).collect()
    }
}

/// The default policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DeletionPolicy {
    /// It is deleted there, too, unless it was adopted
    Delete,
    /// It stays
    Retain,
}

impl From<DeletionPolicy> for plan::policy::Deletion {
    fn from(policy: DeletionPolicy) -> Self {
        match policy {
            DeletionPolicy::Delete => Self::Delete,
            DeletionPolicy::Retain => Self::Retain,
        }
    }
}

/// A timeout of nothing would end every pass before it begins.
fn positive(text: &str) -> Result<Duration, String> {
    let duration = duration::parse(text).map_err(|error| error.to_string())?;
    if duration.is_zero() {
        Err("it must be longer than nothing: write for example 5m".to_owned())
    } else {
        Ok(duration)
    }
}

/// A factor by which pauses become shorter, and never nothing.
fn factor(text: &str) -> Result<f64, String> {
    let fits = |factor: &f64| *factor > 0.0 && *factor <= 1.0;
    text.parse().ok().filter(fits).ok_or_else(|| "it must be above 0 and at most 1".to_owned())
}

/// Longest DNS-1123 label, which a namespace's name is.
const LABEL_MAX: usize = 63;

/// Nothing is as good as not set: charts set it so.
fn namespace(text: &str) -> Result<String, String> {
    let fits = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
    let is_label =
        text.len() <= LABEL_MAX && text.bytes().all(fits) && !text.starts_with('-') && !text.ends_with('-');
    if is_label {
        Ok(text.to_owned())
    } else {
        Err("the name of a namespace has a-z, 0-9 and -, begins and ends with a letter or a digit, and is at most 63 long: \
             write for example kflare-system"
            .to_owned())
    }
}

const EXAMPLES: &str = "\
Every flag can be set by the variable of the environment that is named below it. A flag wins. Durations
are written as in Go: 30s, 5m, 1h30m.

The older kflare's --zap-log-level and --zap-encoder are other names of --log-level and --log-format. Its --leader-elect,
--metrics-secure, --enable-http2, --zap-devel, --zap-stacktrace-level and --zap-time-encoding are accepted and change
nothing.

Examples:
  # in a cluster: with the service account of deploy/rbac
  kflare run --drift-check-interval 30m

  # on your machine, against the cluster of your current context
  kflare run --log-format text --namespace kflare-system

  # beside a sandbox
  kflare sandbox --no-operator --cloudflare-port 8787
  kflare run --kubeconfig ./kflare-sandbox.kubeconfig \\
    --namespace kflare-system \\
    --cloudflare-api-url http://127.0.0.1:8787/client/v4

On SIGTERM or Ctrl-C kflare finishes what it has begun, gives up its Lease and exits with 0; a second signal ends
it at once.";
