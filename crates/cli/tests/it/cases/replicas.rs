//! Two replicas, of which the leader is frozen, as by SIGSTOP. Each lives in a runtime of its own, so that one can stand
//! still while time goes on for the other and for both worlds.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use cli::world::{Options, World};
use http::{Method, Request};
use operator::{Leadership, Operator, transport};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tower::Service;

use super::{is_ready, record, unready, zone};

const FROZEN: Duration = Duration::from_secs(60);
/// A Lease lasts 15 s, and who waits for it looks every 2 s or somewhat more.
const TAKES_OVER_WITHIN: Duration = Duration::from_secs(20);
/// Between two turns of the runtimes.
const STEP: Duration = Duration::from_millis(100);
const LONG_STEP: Duration = Duration::from_secs(1);
/// Records that are made when the leader freezes: SRV, of which Cloudflare takes a second one that is equal.
const RECORDS: usize = 6;
/// The longest wait after a create that was never answered, and a look after it.
const COMES_TO_REST_WITHIN: Duration = Duration::from_secs(400);

/// How long an answer is under way to the leader: time in which it can be frozen.
const ANSWERS_WITHIN: Duration = Duration::from_millis(1);

/// A service that counts writes, those of the Lease and of Events apart, and takes its time to answer.
#[derive(Clone)]
struct Counted<S> {
    service: S,
    writes: Arc<Mutex<Vec<String>>>,
}

impl<S, B> Service<Request<B>> for Counted<S>
where
    S: Service<Request<B>>,
    S::Future: Send + 'static,
    S::Response: Send + 'static,
    S::Error: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let counts = |word| !request.uri().path().contains(word);
        let is_write = !matches!(*request.method(), Method::GET | Method::HEAD);
        // An Event tells of a status that was written before; nobody else writes it.
        if is_write && counts("/leases") && counts("/events") {
            let write = format!("{} {}", request.method(), request.uri().path());
            self.writes.lock().unwrap_or_else(PoisonError::into_inner).push(write);
        }
        let answer = self.service.call(request);
        Box::pin(async move {
            let answer = answer.await;
            tokio::time::sleep(ANSWERS_WITHIN).await;
            answer
        })
    }
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
}

/// The world with one replica in its runtime, and the other one, which leads, in another.
struct Replicas {
    here: Runtime,
    there: Runtime,
    world: World,
    leader: Operator,
    writes: Arc<Mutex<Vec<String>>>,
}

impl Replicas {
    fn new() -> Self {
        let (here, there) = (runtime(), runtime());
        let world =
            here.block_on(async { World::new(Options { election: true, ..Options::default() }) }).unwrap();
        let writes = Arc::default();
        let leader = there.block_on(async { leader(&world, &writes) });
        let mut replicas = Self { here, there, world, leader, writes };
        replicas.both(Duration::from_secs(5), STEP);
        assert!(matches!(replicas.leadership(), Some(Leadership::Leading(_))));
        let Self { here, world, .. } = &mut replicas;
        here.block_on(async { world.start() });
        replicas.world.kubernetes.apply(zone("default", "example-com", "example.com")).unwrap();
        replicas.both(Duration::from_secs(10), STEP);
        assert_eq!(unready(&replicas.world, "Zone"), [""; 0]);
        replicas
    }

    fn leadership(&self) -> Option<Leadership> {
        self.leader.activity().leadership
    }

    fn writes(&self) -> Vec<String> {
        self.writes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Time passes for the world and the second replica alone.
    fn world_alone(&mut self, time: Duration) {
        let world = &mut self.world;
        self.here.block_on(async { world.advance(time).await });
    }

    /// Time passes for everybody, in steps.
    fn both(&mut self, time: Duration, step: Duration) {
        for _ in 0..time.as_millis() / step.as_millis() {
            self.world_alone(step);
            self.there.block_on(async { tokio::time::sleep(step).await });
        }
    }
}

fn leader(world: &World, writes: &Arc<Mutex<Vec<String>>>) -> Operator {
    let (_, _, mut config) = world.ways();
    if let Some(leader) = &mut config.leader {
        leader.identity = "frozen".to_owned();
    }
    let kubernetes = Counted { service: world.kubernetes.service(), writes: Arc::clone(writes) };
    let cloudflare = Counted { service: world.cloudflare.service(), writes: Arc::clone(writes) };
    let client = kube::Client::new(kubernetes, "default");
    Operator::start(client, transport::in_process(cloudflare, "/client/v4"), config)
}

/// Freezes the leader this long after the records were applied, and says how many writes it had sent of them.
fn frozen_after(time: Duration) -> usize {
    let mut replicas = Replicas::new();
    for n in 0..RECORDS {
        let data = json!({ "priority": 1, "weight": 1, "port": 5060, "target": "sip.example.net" });
        let spec = json!({ "type": "SRV", "name": format!("_s{n}._tcp"), "data": data });
        replicas.world.kubernetes.apply(record(&format!("s{n}"), &spec)).unwrap();
    }
    let before = replicas.writes().len();
    replicas.both(time, ANSWERS_WITHIN);
    let (at_freezing, began) = (replicas.writes().len(), replicas.world.writes());

    replicas.world_alone(TAKES_OVER_WITHIN);
    let spec = json!({ "type": "A", "name": "late", "content": "192.0.2.10" });
    replicas.world.kubernetes.apply(record("late", &spec)).unwrap();
    replicas.world_alone(FROZEN - TAKES_OVER_WITHIN);
    let late = replicas.world.kubernetes.get("DNSRecord", Some("default"), "late").unwrap();
    assert!(is_ready(&late), "the second replica did not take over: {late}");
    assert!(replicas.world.writes().since(began).cloudflare > 0);

    replicas.there.block_on(async { tokio::time::advance(FROZEN).await });
    replicas.both(Duration::from_secs(5), STEP);
    replicas.both(COMES_TO_REST_WITHIN, LONG_STEP);
    let later = replicas.writes().split_off(at_freezing);
    assert_eq!(later, [""; 0], "the frozen leader wrote when it went on, after {time:?}");
    assert_eq!(replicas.leadership(), Some(Leadership::Lost), "the frozen leader has to end");
    let mut names: Vec<Value> = replicas
        .world
        .cloudflare
        .records_anywhere()
        .into_iter()
        .map(|(_, record)| record["name"].clone())
        .collect();
    names.sort_by_key(ToString::to_string);
    let all = names.len();
    names.dedup();
    assert_eq!((all, names.len()), (RECORDS + 1, RECORDS + 1), "after {time:?}");
    assert_eq!(unready(&replicas.world, "DNSRecord"), [""; 0], "after {time:?}");
    at_freezing - before
}

#[test]
fn b175_a_frozen_leader_writes_nothing_when_it_goes_on() {
    let written: Vec<usize> = (0..11).map(|n| frozen_after(Duration::from_millis(n))).collect();
    assert!(written.contains(&0) && written.iter().any(|writes| *writes > 2 * RECORDS), "{written:?}");
}
