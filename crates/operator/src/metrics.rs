//! Metrics under the names that controller-runtime's dashboards use (contract K10), and our own.
//! Counts what it is told; labels come from closed sets, never from objects' names.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, prometheus_text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use tokio::time::Instant;

use crate::limits::METRICS_BYTES;
use crate::queue::{Depth, Why};

/// Seconds; the buckets of controller-runtime.
const RECONCILE_SECONDS: [f64; 16] =
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0];

/// What `rest_client_requests_total` names as its host: there is one API server, wherever it is.
const API_SERVER: &str = "kubernetes";

/// The one work queue's name.
const QUEUE: &str = "kflare";

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Controller {
    controller: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Result {
    controller: &'static str,
    result: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Name {
    name: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Call {
    method: &'static str,
    route: &'static str,
    code: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KubernetesCall {
    code: String,
    method: String,
    host: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Kind {
    kind: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct When {
    when: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Method {
    method: &'static str,
}

#[derive(Clone, Debug)]
struct Buckets(fn() -> Histogram);

impl MetricConstructor<Histogram> for Buckets {
    fn new_metric(&self) -> Histogram {
        (self.0)()
    }
}

type Histograms<L> = Family<L, Histogram, Buckets>;
type Seconds = Gauge<f64, AtomicU64>;

/// When the passes that run began; as many as may run at once.
#[derive(Debug, Default)]
struct Running {
    began: BTreeMap<u64, Instant>,
    next: u64,
}

/// A pass that runs, for [`Metrics::pass_ended`].
#[derive(Debug)]
pub struct RunningPass {
    controller: &'static str,
    number: u64,
}

fn reconcile_histogram() -> Histogram {
    Histogram::new(RECONCILE_SECONDS)
}

fn queue_histogram() -> Histogram {
    // client-go's: 1e-8 s, twelve times tenfold.
    Histogram::new(exponential_buckets(1e-8, 10.0, 12))
}

/// How a pass ended, as controller-runtime says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All members are in order or wait for a change.
    Success,
    /// At least one member failed.
    Error,
    /// At least one member is looked at again at once.
    Requeue,
    /// At least one member is looked at again after a time.
    RequeueAfter,
}

/// All metrics of one operator.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    reconciles: Family<Result, Counter>,
    errors: Family<Controller, Counter>,
    panics: Family<Controller, Counter>,
    timeouts: Family<Controller, Counter>,
    terminal: Family<Controller, Counter>,
    concurrency: Family<Controller, Gauge>,
    reconcile_seconds: Histograms<Controller>,
    active: Family<Controller, Gauge>,
    depth: Family<Name, Gauge>,
    adds: Family<Name, Counter>,
    retries: Family<Name, Counter>,
    waited: Histograms<Name>,
    worked: Histograms<Name>,
    unfinished: Family<Name, Seconds>,
    longest: Family<Name, Seconds>,
    running: Mutex<Running>,
    leader: Family<Name, Gauge>,
    calls: Family<Call, Counter>,
    call_seconds: Histograms<Method>,
    throttled: Counter<f64, AtomicU64>,
    events: Counter,
    events_lost: Counter,
    watch_failures: Family<Kind, Counter>,
    cached: Gauge,
    cached_bytes: Gauge,
    synced: Gauge,
    due: Family<When, Gauge>,
    drift_lag: Seconds,
    drift_asked: Seconds,
    drift_held: Seconds,
    kubernetes: Family<KubernetesCall, Counter>,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut metrics = Self {
            registry: Registry::default(),
            reconciles: Family::default(),
            errors: Family::default(),
            panics: Family::default(),
            timeouts: Family::default(),
            terminal: Family::default(),
            concurrency: Family::default(),
            reconcile_seconds: Family::new_with_constructor(Buckets(reconcile_histogram)),
            active: Family::default(),
            depth: Family::default(),
            adds: Family::default(),
            retries: Family::default(),
            waited: Family::new_with_constructor(Buckets(queue_histogram)),
            worked: Family::new_with_constructor(Buckets(queue_histogram)),
            unfinished: Family::default(),
            longest: Family::default(),
            running: Mutex::default(),
            leader: Family::default(),
            calls: Family::default(),
            call_seconds: Family::new_with_constructor(Buckets(reconcile_histogram)),
            throttled: Counter::default(),
            events: Counter::default(),
            events_lost: Counter::default(),
            watch_failures: Family::default(),
            cached: Gauge::default(),
            cached_bytes: Gauge::default(),
            synced: Gauge::default(),
            due: Family::default(),
            drift_lag: Gauge::default(),
            drift_asked: Gauge::default(),
            drift_held: Gauge::default(),
            kubernetes: Family::default(),
        };
        metrics.register_controller();
        metrics.register_queue();
        metrics.register_own();
        metrics
    }
}

impl Metrics {
    // The registry appends `_total` to counters itself.
    fn register_controller(&mut self) {
        let prefix = "controller_runtime_reconcile";
        let registry = &mut self.registry;
        registry.register(prefix, "Passes per controller and result", self.reconciles.clone());
        registry.register(format!("{prefix}_errors"), "Passes that failed", self.errors.clone());
        registry.register(format!("{prefix}_panics"), "Passes that panicked", self.panics.clone());
        registry.register(format!("{prefix}_timeouts"), "Passes that ran out of time", self.timeouts.clone());
        let seconds = self.reconcile_seconds.clone();
        registry.register(format!("{prefix}_time_seconds"), "Duration of a pass", seconds);
        let active = self.active.clone();
        registry.register("controller_runtime_active_workers", "Passes that run", active);
        let terminal = "controller_runtime_terminal_reconcile_errors";
        registry.register(terminal, "Passes with a TerminalError", self.terminal.clone());
        let concurrency = "controller_runtime_max_concurrent_reconciles";
        registry.register(concurrency, "Passes that may run at once", self.concurrency.clone());
        registry.register("leader_election_master_status", "1 while this process leads", self.leader.clone());
    }

    fn register_queue(&mut self) {
        let registry = &mut self.registry;
        registry.register("workqueue_depth", "Units that could run", self.depth.clone());
        registry.register("workqueue_adds", "Members that became due", self.adds.clone());
        registry.register("workqueue_retries", "Members tried again after a failure", self.retries.clone());
        let waited = self.waited.clone();
        registry.register("workqueue_queue_duration_seconds", "From due to running", waited);
        registry.register("workqueue_work_duration_seconds", "Duration of a pass", self.worked.clone());
        let unfinished = "Time that the running passes have taken so far, together";
        registry.register("workqueue_unfinished_work_seconds", unfinished, self.unfinished.clone());
        let longest = "Time that the longest running pass has taken so far";
        registry.register("workqueue_longest_running_processor_seconds", longest, self.longest.clone());
    }

    fn register_own(&mut self) {
        let registry = &mut self.registry;
        registry.register(
            "kflare_cloudflare_requests",
            "Calls to Cloudflare; code 0 means no answer",
            self.calls.clone(),
        );
        registry.register(
            "kflare_cloudflare_request_seconds",
            "Duration of a call to Cloudflare",
            self.call_seconds.clone(),
        );
        registry.register(
            "kflare_cloudflare_throttled_seconds",
            "Time that calls waited for the budget",
            self.throttled.clone(),
        );
        registry.register("kflare_events", "Events written", self.events.clone());
        let lost = self.events_lost.clone();
        registry.register("kflare_events_lost", "Events dropped or refused", lost);
        registry.register(
            "kflare_watch_failures",
            "Watches and lists that failed",
            self.watch_failures.clone(),
        );
        registry.register(
            "kflare_drift_lag_seconds",
            "How late the last drift check began",
            self.drift_lag.clone(),
        );
        let asked = "The drift interval that was asked for";
        registry.register("kflare_drift_interval_seconds", asked, self.drift_asked.clone());
        let held = "The shortest drift interval that the budget of every token can pay for";
        registry.register("kflare_drift_interval_held_seconds", held, self.drift_held.clone());
        registry.register(
            "rest_client_requests",
            "Calls to Kubernetes; code 0 means no answer",
            self.kubernetes.clone(),
        );
        registry.register("kflare_cache_objects", "Objects in the cache", self.cached.clone());
        registry.register(
            "kflare_cache_bytes",
            "Bytes of the objects in the cache",
            self.cached_bytes.clone(),
        );
        registry.register("kflare_cache_synced", "1 when every list has been read once", self.synced.clone());
        registry.register("kflare_due", "What is due now or later, by when and why", self.due.clone());
    }

    /// The text format of Prometheus.
    #[must_use]
    pub fn text(&self) -> String {
        self.measure_running();
        let mut text = String::with_capacity(METRICS_BYTES);
        // Writing to a string cannot fail.
        let _ = prometheus_text::encode(&mut text, &self.registry);
        text
    }

    fn measure_running(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let took = running.began.values().map(|began| began.elapsed().as_secs_f64());
        let name = Name { name: QUEUE };
        self.unfinished.get_or_create(&name).set(took.clone().sum());
        self.longest.get_or_create(&name).set(took.fold(0.0, f64::max));
    }

    /// How many passes may run at once, over units of any kind.
    pub fn concurrency(&self, controller: &'static str, passes: usize) {
        let passes = i64::try_from(passes).unwrap_or(i64::MAX);
        self.concurrency.get_or_create(&Controller { controller }).set(passes);
    }

    /// A pass over a unit of this kind begins.
    pub fn pass_began(&self, controller: &'static str, waited: Duration, is_drift: bool) -> RunningPass {
        if is_drift {
            self.drift_lag.set(waited.as_secs_f64());
        }
        self.active.get_or_create(&Controller { controller }).inc();
        self.waited.get_or_create(&Name { name: QUEUE }).observe(waited.as_secs_f64());
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.next += 1;
        let number = running.next;
        running.began.insert(number, Instant::now());
        RunningPass { controller, number }
    }

    /// A pass ended.
    pub fn pass_ended(&self, pass: &RunningPass, ended: Ended) {
        let RunningPass { controller, number } = *pass;
        let began = self.running.lock().unwrap_or_else(PoisonError::into_inner).began.remove(&number);
        let took = began.map(|began| began.elapsed()).unwrap_or_default();
        let label = Controller { controller };
        self.active.get_or_create(&label).dec();
        let result = match ended {
            Ended::Success => "success",
            Ended::Error => "error",
            Ended::Requeue => "requeue",
            Ended::RequeueAfter => "requeue_after",
        };
        self.reconciles.get_or_create(&Result { controller, result }).inc();
        if ended == Ended::Error {
            self.errors.get_or_create(&label).inc();
        }
        self.reconcile_seconds.get_or_create(&label).observe(took.as_secs_f64());
        self.worked.get_or_create(&Name { name: QUEUE }).observe(took.as_secs_f64());
    }

    /// A pass panicked.
    pub fn pass_panicked(&self, controller: &'static str) {
        self.panics.get_or_create(&Controller { controller }).inc();
    }

    /// A pass ended with a member that Cloudflare will refuse until something changes.
    pub fn pass_was_terminal(&self, controller: &'static str) {
        self.terminal.get_or_create(&Controller { controller }).inc();
    }

    /// A pass ran out of time.
    pub fn pass_timed_out(&self, controller: &'static str) {
        self.timeouts.get_or_create(&Controller { controller }).inc();
    }

    /// The queue's state after a change.
    pub fn queue(&self, ready: usize, added: usize, retried: usize) {
        let name = Name { name: QUEUE };
        self.depth.get_or_create(&name).set(i64::try_from(ready).unwrap_or(i64::MAX));
        self.adds.get_or_create(&name).inc_by(added as u64);
        self.retries.get_or_create(&name).inc_by(retried as u64);
    }

    /// What is due, and whether every list has been read once.
    pub fn due(&self, depth: &Depth, synced: bool) {
        self.synced.set(i64::from(synced));
        let set = |when: &'static str, count: usize| {
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            self.due.get_or_create(&When { when }).set(count);
        };
        set("ready", depth.ready);
        set("running", depth.running);
        set("held", depth.held);
        for why in Why::ALL {
            set(why.name(), depth.delayed.get(&why).map_or(0, |(count, _)| *count));
        }
    }

    /// Whether this process leads.
    pub fn leads(&self, name: &'static str, leads: bool) {
        self.leader.get_or_create(&Name { name }).set(i64::from(leads));
    }

    /// A call to Cloudflare ended; status 0 when there was no answer.
    pub fn called(&self, method: &'static str, route: &'static str, status: u16, took: Duration) {
        self.calls.get_or_create(&Call { method, route, code: status.to_string() }).inc();
        self.call_seconds.get_or_create(&Method { method }).observe(took.as_secs_f64());
    }

    /// A call to Kubernetes ended; status 0 when there was no answer.
    pub fn kubernetes_called(&self, method: &http::Method, status: u16) {
        let (code, method) = (status.to_string(), method.as_str().to_owned());
        self.kubernetes.get_or_create(&KubernetesCall { code, method, host: API_SERVER }).inc();
    }

    /// A call waited for the budget.
    pub fn throttled(&self, waited: Duration) {
        self.throttled.inc_by(waited.as_secs_f64());
    }

    /// An Event was written.
    pub fn event_written(&self) {
        self.events.inc();
    }

    /// An Event was dropped, or Kubernetes refused it.
    pub fn event_lost(&self) {
        self.events_lost.inc();
    }

    /// A watch or a list failed.
    pub fn watch_failed(&self, kind: &'static str) {
        self.watch_failures.get_or_create(&Kind { kind }).inc();
    }

    /// The drift interval that was asked for, and the shortest that the budgets can pay for.
    pub fn drift_interval(&self, asked: Duration, held: Duration) {
        self.drift_asked.set(asked.as_secs_f64());
        self.drift_held.set(held.as_secs_f64());
    }

    /// What the caches hold.
    pub fn cached(&self, objects: usize, bytes: usize) {
        self.cached.set(i64::try_from(objects).unwrap_or(i64::MAX));
        self.cached_bytes.set(i64::try_from(bytes).unwrap_or(i64::MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_runs_is_measured_while_it_runs() {
        let metrics = Metrics::default();
        let first = metrics.pass_began("Zone", Duration::ZERO, false);
        tokio::time::advance(Duration::from_secs(3)).await;
        let second = metrics.pass_began("Zone", Duration::ZERO, false);
        tokio::time::advance(Duration::from_secs(1)).await;
        let says = |wanted: &str| {
            let text = metrics.text();
            assert!(text.contains(wanted), "{wanted} is not in\n{text}");
        };
        says("workqueue_unfinished_work_seconds{name=\"kflare\"} 5.0");
        says("workqueue_longest_running_processor_seconds{name=\"kflare\"} 4.0");
        metrics.pass_ended(&first, Ended::Success);
        says("workqueue_unfinished_work_seconds{name=\"kflare\"} 1.0");
        metrics.pass_ended(&second, Ended::Success);
        says("workqueue_longest_running_processor_seconds{name=\"kflare\"} 0.0");
    }

    #[test]
    fn the_names_that_dashboards_use_are_there() {
        let metrics = Metrics::default();
        metrics.concurrency("Zone", 8);
        metrics.pass_was_terminal("Zone");
        let pass = metrics.pass_began("Zone", Duration::ZERO, false);
        metrics.pass_ended(&pass, Ended::Error);
        metrics.pass_timed_out("Zone");
        metrics.queue(1, 1, 1);
        let delayed = [(Why::Retry, (3, Instant::now()))].into();
        metrics.due(&Depth { running: 2, delayed, ..Depth::default() }, true);
        metrics.called("GET", "/zones", 200, Duration::ZERO);
        let text = metrics.text();
        for name in [
            "controller_runtime_reconcile_total{controller=\"Zone\",result=\"error\"} 1",
            "controller_runtime_reconcile_errors_total{controller=\"Zone\"} 1",
            "controller_runtime_reconcile_timeouts_total{controller=\"Zone\"} 1",
            "controller_runtime_reconcile_time_seconds_bucket",
            "controller_runtime_active_workers{controller=\"Zone\"} 0",
            "workqueue_depth{name=\"kflare\"} 1",
            "controller_runtime_max_concurrent_reconciles{controller=\"Zone\"} 8",
            "controller_runtime_terminal_reconcile_errors_total{controller=\"Zone\"} 1",
            "kflare_cloudflare_request_seconds_count{method=\"GET\"} 1",
            "workqueue_adds_total",
            "workqueue_retries_total",
            "kflare_cloudflare_requests_total{method=\"GET\",route=\"/zones\",code=\"200\"} 1",
            "kflare_cache_synced 1",
            "kflare_due{when=\"running\"} 2",
            "kflare_due{when=\"retry\"} 3",
            "kflare_due{when=\"resync\"} 0",
        ] {
            assert!(text.contains(name), "{name} is not in\n{text}");
        }
    }
}
