//! The flags of `kflare sandbox` and its subcommands. What they mean is carried out in the modules beside this one.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{BoolishValueParser, RangedU64ValueParser};
use clap::{Args, Subcommand, ValueEnum};
use sandbox::cloudflare::Plan;

use super::reporter::Output;
use crate::commands::duration;
use crate::commands::log::Level;
use crate::simulation::{RECORDS_MAX, RECORDS_MIN};

/// `kflare sandbox`.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub struct SandboxArguments {
    /// What to do instead of serving.
    #[command(subcommand)]
    pub command: Option<SandboxCommand>,
    /// How to serve.
    #[command(flatten)]
    pub serve: ServeArguments,
}

/// How a sandbox is served.
#[derive(Args, Debug)]
pub struct ServeArguments {
    /// Manifests to apply: files, directories or - for standard input; without it the samples
    ///
    /// A file may hold several documents. Namespaces that they name and that do not exist are created. The accounts of their
    /// CloudflareAccounts, and the tokens of the Secrets that those name, exist in the simulated Cloudflare: manifests work as
    /// they are, if the Secrets with the tokens are among the files.
    #[arg(long = "filename", short = 'f', env = "KFLARE_FILENAME", value_name = "PATH")]
    pub filename: Vec<PathBuf>,

    /// End when everything has settled: with 0 when every object is Ready, else with 1; nothing is served
    #[arg(long, env = "KFLARE_ONCE", value_parser = BoolishValueParser::new(), conflicts_with = "no_operator")]
    pub once: bool,

    /// How long --once waits for everything to settle
    #[arg(long, env = "KFLARE_TIMEOUT", value_name = "DURATION", default_value = "5m", value_parser = duration::parse)]
    pub timeout: Duration,

    /// Serve the two worlds alone, for `kflare run` beside them
    #[arg(long, env = "KFLARE_NO_OPERATOR", value_parser = BoolishValueParser::new())]
    pub no_operator: bool,

    /// The port of the simulated Kubernetes on 127.0.0.1; 0 for any that is free
    #[arg(long, env = "KFLARE_KUBERNETES_PORT", value_name = "PORT", default_value_t = 0)]
    pub kubernetes_port: u16,

    /// The port of the simulated Cloudflare on 127.0.0.1; 0 for any that is free
    #[arg(long, env = "KFLARE_CLOUDFLARE_PORT", value_name = "PORT", default_value_t = 0)]
    pub cloudflare_port: u16,

    /// The kubeconfig to write; it is removed at the end, and a file that no sandbox wrote is never replaced
    #[arg(
        long,
        env = "KFLARE_KUBECONFIG",
        value_name = "FILE",
        default_value = "./kflare-sandbox.kubeconfig"
    )]
    pub kubeconfig: PathBuf,

    /// Decides every ID and every jitter
    #[arg(long, env = "KFLARE_SEED", value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,

    /// The plan of new zones, which decides quotas and the size of batches
    #[arg(long, env = "KFLARE_PLAN", value_name = "PLAN", default_value = "free")]
    pub plan: PlanName,

    /// How results are printed
    #[arg(long, short, env = "KFLARE_OUTPUT", value_name = "FORMAT", default_value = "text")]
    pub output: Output,

    /// What the operator logs on standard error; best with 2>FILE, as it disturbs a live table
    #[arg(long, env = "KFLARE_LOG_LEVEL", value_name = "LEVEL", default_value = "off")]
    pub log_level: Level,
}

/// Plans of zones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PlanName {
    /// 200 records a zone, batches of 200
    Free,
    /// 3,500 records a zone, batches of 3,500
    Pro,
    /// 3,500 records a zone, batches of 3,500
    Business,
    /// A million records a zone, batches of 3,500
    Enterprise,
}

impl From<PlanName> for Plan {
    fn from(name: PlanName) -> Self {
        match name {
            PlanName::Free => Self::Free,
            PlanName::Pro => Self::Pro,
            PlanName::Business => Self::Business,
            PlanName::Enterprise => Self::Enterprise,
        }
    }
}

/// What a sandbox can do besides serving.
#[derive(Subcommand, Debug)]
pub enum SandboxCommand {
    /// Runs scenarios: text files that say what happens and what must come of it
    Run(ScenarioArguments),
    /// Runs worlds drawn from seeds: manifests, edits, faults and crashes at random, then checks what users were promised
    Sim(SeedArguments),
    /// Runs thousands of records through bad weather: faults, a block, an outage, a restart; then checks what users were promised
    Load(LoadArguments),
    /// Measures how many calls, how much time and how much memory it takes; minutes, best with a release build
    Bench(BenchArguments),
}

/// `kflare sandbox bench`.
#[derive(Args, Debug)]
#[command(after_help = BENCH_EXAMPLES)]
pub struct BenchArguments {
    /// What to measure; all of it when nothing is named.
    #[arg(value_name = "ROW", help = rows_help())]
    pub rows: Vec<String>,

    /// Numbers of records, for the curve; the targets are measured with the largest of them
    #[arg(long, env = "KFLARE_BENCH_SIZES", value_name = "NUMBERS", value_delimiter = ',', value_parser = record_count(), default_values_t = [10, 100, 1_000, 10_000])]
    pub sizes: Vec<u32>,

    /// How results are printed
    #[arg(long, short, env = "KFLARE_OUTPUT", value_name = "FORMAT", default_value = "text")]
    pub output: Output,

    /// The folder of an API server, as testing/kube-apiserver lays it out: it is measured beside that one
    #[arg(long, hide = true, value_name = "FOLDER", requires = "roles")]
    pub cluster: Option<PathBuf>,

    /// The manifest of the operator's account and roles there
    #[arg(long, hide = true, value_name = "FILE", requires = "cluster")]
    pub roles: Option<PathBuf>,
}

/// One record at least, and what a zone may hold at most.
fn record_count() -> RangedU64ValueParser<u32> {
    RangedU64ValueParser::new().range(1..=1_000_000)
}

fn rows_help() -> String {
    let names = crate::bench::ROWS.join(", ");
    format!("What to measure: {names}; all of it when nothing is named")
}

/// `kflare sandbox sim`.
#[derive(Args, Debug)]
#[command(after_help = SEED_EXAMPLES)]
pub struct SeedArguments {
    /// How many seeds to run
    #[arg(long, env = "KFLARE_SEEDS", value_name = "NUMBER", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..))]
    pub seeds: u64,

    /// The first of them
    #[arg(long, env = "KFLARE_SEED", value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,

    /// Name the seeds that come out right, too
    #[arg(long, env = "KFLARE_EACH", value_parser = BoolishValueParser::new())]
    pub each: bool,
}

/// `kflare sandbox load`.
#[derive(Args, Debug)]
#[command(after_help = LOAD_EXAMPLES)]
pub struct LoadArguments {
    /// How many records: from 1,000, more than fit into one pass, to the 10,000 that are promised
    #[arg(long, env = "KFLARE_LOAD_RECORDS", value_name = "NUMBER", default_value_t = RECORDS_MAX, value_parser = RangedU64ValueParser::<u32>::new().range(u64::from(RECORDS_MIN)..=u64::from(RECORDS_MAX)))]
    pub records: u32,
}

/// `kflare sandbox run`.
#[derive(Args, Debug)]
#[command(after_help = SCENARIO_EXAMPLES)]
pub struct ScenarioArguments {
    /// Scenarios, or directories of them
    #[arg(required = true, value_name = "SCENARIO")]
    pub scenarios: Vec<PathBuf>,

    /// Decides every ID and every jitter
    #[arg(long, env = "KFLARE_SEED", value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,

    /// Folders of API servers, as testing/kube-apiserver lays them out: scenarios run there, in real time
    #[arg(long, hide = true, value_name = "FOLDER", requires = "roles")]
    pub cluster: Vec<PathBuf>,

    /// The manifest of the operator's account and roles there
    #[arg(long, hide = true, value_name = "FILE", requires = "cluster")]
    pub roles: Option<PathBuf>,

    /// Only scenarios with this in their path
    #[arg(long, hide = true, value_name = "PART")]
    pub only: Option<String>,

    /// Print no transcripts, only what came of each scenario
    #[arg(long, short, env = "KFLARE_QUIET", value_parser = BoolishValueParser::new())]
    pub quiet: bool,
}

const EXAMPLES: &str = "\
Both worlds live in this process and end with it. Their API servers listen on 127.0.0.1 alone.

Examples:
  # an account, a zone and three records become Ready; use kubectl and curl
  kflare sandbox

  # your own manifests, as a test: 0 when every object is Ready
  kflare sandbox -f manifests/ --once

  # the operator as a process of its own, to be killed and started again
  kflare sandbox --no-operator

  # for programs: one JSON object a line, with `event` serving, turned, gone,
  # settled or retrying
  kflare sandbox -o json

  # something happens at Cloudflare behind kflare's back
  kflare sandbox --cloudflare-port 8787
  curl -s http://127.0.0.1:8787/_sandbox/state
  curl -s -X DELETE http://127.0.0.1:8787/_sandbox/zones/ZONE/dns_records/RECORD";

const SCENARIO_EXAMPLES: &str = "\
A scenario is a text file: apply, settle, cf, fault, crash, patch, delete, advance, expect. Time in it is virtual:
hours pass in milliseconds, and the same seed gives the same run.

Examples:
  kflare sandbox run scenarios/dns_record/ttl_drift.txt
  kflare sandbox run scenarios --quiet";

const BENCH_EXAMPLES: &str = "\
`kflare run` is measured as a process of its own. It exits with 1 when a target is missed; one for a time is marked as
LATE and fails nothing, since the machine may be busy.

Examples:
  kflare sandbox bench
  kflare sandbox bench idle create
  kflare sandbox bench curve --sizes 10,100 -o json";

const SEED_EXAMPLES: &str = "\
The same seed gives the same run, request by request. What fails is made as small as it can be and printed as a
scenario. It exits with 1 when a seed fails.

Examples:
  kflare sandbox sim --seeds 200
  kflare sandbox sim --seed 4711 --seeds 1";

const LOAD_EXAMPLES: &str = "\
Four weathers, one after the other: one request in twenty fails while all records are made, Cloudflare blocks for five
minutes, it is away for an hour, the API server starts anew. In each some records are edited. Time is virtual: hours pass
in a minute, best with a release build. After each weather it says when all was right again and what the process held in
memory, both worlds with it. It exits with 1 when a promise is broken.

Examples:
  kflare sandbox load
  kflare sandbox load --records 1000";
