//! Two operators beside each other, each on a line of its own on which what it sends is written down: clocks that are set,
//! a Lease that hands change, a lead that ends in the middle of a write. A frozen leader is in `cases::replicas`.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use cli::scenario::simulate;
use cli::world::{Options, SECRET_NAMESPACE, World};
use http::{Method, Request, Response};
use jiff::SignedDuration;
use operator::timings::Timings;
use operator::{Leadership, Operator, transport};
use sandbox::clock::Clock;
use sandbox::fault::{Fault, Target};
use serde_json::{Value, json};
use tokio::time::Instant;
use tower::Service;

use crate::cases::{patch, record, unready, zone};

/// SRV records, of which Cloudflare takes a second one that is equal, so that a doubled create shows.
const RECORDS: usize = 6;
/// A Lease lasts 15 s, and who waits for it looks every 2 s or somewhat more.
const TAKES_OVER_WITHIN: Duration = Duration::from_secs(20);
/// The longest wait after a create that was never answered, and a look after it.
const COMES_TO_REST_WITHIN: Duration = Duration::from_secs(600);

/// What one operator sent, and what it cannot reach.
#[derive(Default)]
struct Notes {
    /// Writes, those of the Lease and Events apart.
    sent: Vec<Instant>,
    /// The renewals that succeeded.
    renewed: Vec<Renewal>,
    /// Requests about the Lease are never answered.
    is_lease_lost: bool,
}

/// It counts from its answer on, and lasts from its request on.
#[derive(Clone, Copy)]
struct Renewal {
    sent: Instant,
    answered: Instant,
}

impl Renewal {
    fn deadline(&self) -> Instant {
        self.sent + Timings::default().lease_renew_deadline
    }
}

#[derive(Clone, Default)]
struct Line(Arc<Mutex<Notes>>);

impl Line {
    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Clone)]
struct Noted<S> {
    service: S,
    line: Line,
}

impl<S, B, R> Service<Request<B>> for Noted<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
    R: Send + 'static,
{
    type Response = Response<R>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<R>, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let path = request.uri().path();
        let is_lease = path.contains("/leases");
        let is_write = !matches!(*request.method(), Method::GET | Method::HEAD);
        let now = Instant::now();
        // An Event tells of a status that was written before.
        if is_write && !is_lease && !path.contains("/events") {
            self.line.notes().sent.push(now);
        }
        if is_lease && self.line.notes().is_lease_lost {
            return Box::pin(std::future::pending());
        }
        let (answer, line) = (self.service.call(request), self.line.clone());
        Box::pin(async move {
            let answer = answer.await?;
            if is_lease && is_write && answer.status().is_success() {
                line.notes().renewed.push(Renewal { sent: now, answered: Instant::now() });
            }
            Ok(answer)
        })
    }
}

/// An operator, its line and the clock of its machine.
struct Replica {
    operator: Operator,
    line: Line,
    clock: Clock,
}

impl Replica {
    fn start(world: &World, identity: &str) -> Self {
        let (line, clock) = (Line::default(), Clock::starting_at(world.clock.now()));
        let (_, _, mut config) = world.ways();
        let its = clock.clone();
        config.clock = Arc::new(move || its.now());
        config.leader.as_mut().unwrap().identity = identity.to_owned();
        let kubernetes = Noted { service: world.kubernetes.service(), line: line.clone() };
        let cloudflare = Noted { service: world.cloudflare.service(), line: line.clone() };
        let client = kube::Client::new(kubernetes, "default");
        let operator = Operator::start(client, transport::in_process(cloudflare, "/client/v4"), config);
        Self { operator, line, clock }
    }

    /// Whether it may send now.
    fn leads(&self) -> bool {
        let leadership = self.operator.activity().leadership;
        matches!(leadership, Some(Leadership::Leading(until)) if Instant::now() < until)
    }

    fn sent(&self) -> Vec<Instant> {
        self.line.notes().sent.clone()
    }

    /// Everything was sent within the deadline of a renewal that had succeeded.
    fn assert_within_its_lease(&self, situation: &str) {
        let notes = self.line.notes();
        for sent in &notes.sent {
            let known = notes.renewed.iter().filter(|renewal| renewal.answered <= *sent);
            let deadline = known.map(Renewal::deadline).max();
            assert!(
                deadline.is_some_and(|deadline| *sent < deadline),
                "sent after the deadline: {situation}"
            );
        }
    }
}

/// A world with a zone in order and two operators, of which the first leads.
async fn two() -> (World, Replica, Replica) {
    let world = World::new(Options { election: true, ..Options::default() }).unwrap();
    let first = Replica::start(&world, "first");
    pass(5).await;
    let second = Replica::start(&world, "second");
    world.kubernetes.apply(zone("default", "example-com", "example.com")).unwrap();
    pass(30).await;
    assert_eq!(unready(&world, "Zone"), [""; 0]);
    (world, first, second)
}

async fn pass(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

fn apply_records(world: &World) {
    for n in 0..RECORDS {
        let data = json!({ "priority": 1, "weight": 1, "port": 5060, "target": "sip.example.net" });
        let spec = json!({ "type": "SRV", "name": format!("_s{n}._tcp"), "data": data });
        world.kubernetes.apply(record(&format!("s{n}"), &spec)).unwrap();
    }
}

/// Each record once, all Ready, nothing sent after a deadline, and the lead passed on once at most.
fn assert_right(world: &World, first: &Replica, second: &Replica, situation: &str) {
    let records = world.cloudflare.records_anywhere();
    let mut names: Vec<String> = records.iter().map(|(_, record)| record["name"].to_string()).collect();
    names.sort();
    names.dedup();
    assert_eq!((names.len(), records.len()), (RECORDS, RECORDS), "{situation}");
    assert_eq!(unready(world, "DNSRecord"), [""; 0], "{situation}");
    first.assert_within_its_lease(situation);
    second.assert_within_its_lease(situation);
    let last_of_first = first.sent().last().copied();
    let overlaps = second.sent().iter().any(|sent| Some(*sent) < last_of_first);
    assert!(!overlaps, "both sent by turns: {situation}");
}

#[test]
fn b175_a_clock_that_is_set_changes_no_lead() {
    let hour = SignedDuration::from_hours(1);
    for by in [hour, -hour, hour * 10, -hour * 10] {
        for leaders in [true, false] {
            simulate(async {
                let (world, first, second) = two().await;
                apply_records(&world);
                // In the middle of it.
                tokio::time::sleep(Duration::from_millis(1)).await;
                let clock = if leaders { &first.clock } else { &second.clock };
                clock.jump(by);
                pass(60).await;
                let situation = format!("{by:?}, the leader's: {leaders}");
                for n in 0..RECORDS {
                    patch(&world, &format!("s{n}"), &json!({ "comment": "edited" }));
                }
                tokio::time::sleep(COMES_TO_REST_WITHIN).await;
                assert_right(&world, &first, &second, &situation);
                assert_eq!(second.sent().len(), 0, "{situation}");
                let is_edited = |(_, record): &(String, Value)| record["comment"] == "edited";
                assert!(world.cloudflare.records_anywhere().iter().all(is_edited), "{situation}");
            })
            .unwrap();
        }
    }
}

#[test]
fn b175_a_lead_that_ends_in_the_middle_of_a_write_doubles_nothing() {
    let writes = ["dns_records/batch", "/dnsrecords/s3", "/dnsrecords/s3/status"];
    let faults = [Fault::LateCommit, Fault::TimeoutAfterCommit, Fault::TimeoutBeforeCommit, Fault::SlowBody];
    // Clocks kept by NTP differ by less than the minutes that a mark allows for.
    for (ahead, fault) in [0, 4, -4].into_iter().flat_map(|minutes| faults.map(|fault| (minutes, fault))) {
        for path in writes {
            simulate(async {
                let situation = format!("{fault} at {path}, {ahead} min ahead");
                let (world, first, second) = two().await;
                first.clock.jump(SignedDuration::from_mins(ahead));
                let target = Target { path: Some(path.to_owned()), writes: Some(true), ..Target::default() };
                let side =
                    if path.starts_with('/') { world.kubernetes.faults() } else { world.cloudflare.faults() };
                side.arm(fault, target, 0, 1);
                first.line.notes().is_lease_lost = true;
                apply_records(&world);
                tokio::time::sleep(TAKES_OVER_WITHIN).await;
                assert!(side.is_empty(), "it was in flight: {situation}");
                let deadline = first.line.notes().renewed.last().unwrap().deadline();
                assert!(!second.line.notes().renewed.is_empty(), "nobody took over: {situation}");
                assert!(second.sent().iter().all(|sent| *sent > deadline), "{situation}");
                tokio::time::sleep(COMES_TO_REST_WITHIN).await;
                assert_right(&world, &first, &second, &situation);
            })
            .unwrap();
        }
    }
}

#[test]
fn b175_whatever_hands_do_to_the_lease_nothing_is_doubled_and_the_lead_passes_once() {
    let given = |holder: &str| json!({ "spec": { "holderIdentity": holder } });
    for by_hand in [Some(given("second")), Some(given("stranger")), Some(given("")), None] {
        for milliseconds in [0, 1, 3, 700] {
            simulate(async {
                let situation = format!("{by_hand:?} after {milliseconds} ms");
                let (world, first, second) = two().await;
                apply_records(&world);
                tokio::time::sleep(Duration::from_millis(milliseconds)).await;
                let lease = kinds::names::LEASE;
                let namespace = Some(SECRET_NAMESPACE);
                match by_hand.clone() {
                    Some(patch) => drop(world.kubernetes.patch("Lease", namespace, lease, patch).unwrap()),
                    None => world.kubernetes.delete("Lease", namespace, lease).unwrap(),
                }
                // News for whoever believes to lead, all the time.
                for round in 0..40 {
                    patch(
                        &world,
                        &format!("s{}", round % RECORDS),
                        &json!({ "comment": format!("{round}") }),
                    );
                    pass(1).await;
                    assert!(!(first.leads() && second.leads()), "both lead: {situation}, round {round}");
                }
                tokio::time::sleep(COMES_TO_REST_WITHIN).await;
                assert_right(&world, &first, &second, &situation);
            })
            .unwrap();
        }
    }
}
