//! The election against a store of one Lease, in virtual time.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use jiff::Timestamp;
use kube::client::Body;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::*;

/// A Lease with the API server's rules for versions, which can be out of reach.
#[derive(Clone, Default)]
struct Store {
    lease: Arc<Mutex<Option<Value>>>,
    down: Arc<AtomicBool>,
}

impl Store {
    fn client(&self) -> Client {
        let store = self.clone();
        let answer = move |request: Request<Body>| {
            let store = store.clone();
            async move {
                if store.down.load(Ordering::Relaxed) {
                    std::future::pending::<()>().await;
                }
                let method = request.method().as_str().to_owned();
                let body = request.into_body().collect().await?.to_bytes();
                let (status, value) =
                    store.answer(&method, serde_json::from_slice(&body).unwrap_or_default());
                let body = Full::new(bytes::Bytes::from(value.to_string()));
                Ok::<_, kube::Error>(Response::builder().status(status).body(body).unwrap())
            }
        };
        Client::new(tower::service_fn(answer), "default")
    }

    fn answer(&self, method: &str, mut sent: Value) -> (StatusCode, Value) {
        let status = |code: u16, reason: &str| {
            let value = json!({"kind": "Status", "status": "Failure", "code": code, "reason": reason});
            (StatusCode::from_u16(code).unwrap(), value)
        };
        let mut lease = self.lease.lock().unwrap();
        let version = |lease: &Value| lease["metadata"]["resourceVersion"].as_str().map(str::to_owned);
        match (method, lease.clone()) {
            ("GET", Some(lease)) => (StatusCode::OK, lease),
            ("GET", None) => status(404, "NotFound"),
            ("POST", Some(_)) => status(409, "AlreadyExists"),
            ("PUT", Some(known)) if version(&known) != version(&sent) => status(409, "Conflict"),
            (_, known) => {
                let next =
                    known.as_ref().and_then(&version).and_then(|v| v.parse().ok()).unwrap_or(0_u64) + 1;
                sent["metadata"]["resourceVersion"] = json!(next.to_string());
                *lease = Some(sent.clone());
                (StatusCode::OK, sent)
            }
        }
    }

    fn holder(&self) -> String {
        let lease = self.lease.lock().unwrap();
        lease
            .as_ref()
            .and_then(|lease| lease["spec"]["holderIdentity"].as_str())
            .unwrap_or_default()
            .to_owned()
    }
}

struct Running {
    lease: Lease,
    /// Ends with the value.
    task: JoinSet<()>,
}

fn config(identity: &str) -> LeaderConfig {
    LeaderConfig { namespace: "kflare-system".into(), name: "lease".into(), identity: identity.into() }
}

fn clock() -> Clock {
    Arc::new(|| Timestamp::UNIX_EPOCH)
}

fn candidate(store: &Store, identity: &str) -> Running {
    let (told, leadership) = watch::channel(Leadership::Waiting);
    let metrics = Arc::new(Metrics::default());
    let (config, timings) = (config(identity), Timings::default());
    let candidate = Candidate::new(store.client(), config, timings, clock(), 7, metrics, told);
    let mut task = JoinSet::new();
    task.spawn(candidate.run());
    Running { lease: Lease::of(leadership), task }
}

async fn pass(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

#[tokio::test(start_paused = true)]
async fn the_first_leads_and_the_second_waits_until_the_first_is_silent() {
    let store = Store::default();
    let mut first = candidate(&store, "first");
    pass(1).await;
    let second = candidate(&store, "second");
    pass(600).await;
    assert!(first.lease.may_send() && !second.lease.may_send());
    first.task.abort_all();
    pass(9).await;
    assert!(!second.lease.may_send(), "the lease lasts");
    pass(10).await;
    assert!(second.lease.may_send() && !first.lease.may_send());
    assert_eq!(store.holder(), "second");
    assert_eq!(store.lease.lock().unwrap().as_ref().unwrap()["spec"]["leaseTransitions"], json!(1));
}

#[tokio::test(start_paused = true)]
async fn at_no_instant_may_two_send() {
    let store = Store::default();
    let (first, second) = (candidate(&store, "first"), candidate(&store, "second"));
    pass(5).await;
    for step in 0..1_200 {
        // The API server is away for 12 of every 60 s: longer than the renew deadline, shorter than the lease.
        store.down.store(step % 240 > 190, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(250)).await;
        assert!(!(first.lease.may_send() && second.lease.may_send()), "step {step}");
    }
}

#[tokio::test(start_paused = true)]
async fn whatever_hands_do_to_the_lease_at_no_instant_may_two_send() {
    let to = |holder: &str| json!({ "holderIdentity": holder, "leaseDurationSeconds": 15 });
    let shortened = json!({ "holderIdentity": "first", "leaseDurationSeconds": 1, "renewTime": null });
    for by_hand in
        [Some(to("second")), Some(to("stranger")), Some(to("")), Some(json!({})), None, Some(shortened)]
    {
        // At any moment between two renewals, and while the leader cannot look.
        for (after, is_cut) in [(0, false), (700, false), (1_900, false), (1_900, true)] {
            let store = Store::default();
            let mut first = candidate(&store, "first");
            pass(1).await;
            let mut second = candidate(&store, "second");
            tokio::time::sleep(Duration::from_millis(4_000 + after)).await;
            assert!(first.lease.may_send());
            let version =
                store.lease.lock().unwrap().as_ref().unwrap()["metadata"]["resourceVersion"].clone();
            *store.lease.lock().unwrap() = by_hand.clone().map(|spec| {
                let version = version.as_str().unwrap().parse::<u64>().unwrap() + 1;
                json!({ "metadata": { "name": "lease", "resourceVersion": version.to_string() }, "spec": spec })
            });
            if is_cut {
                // The leader is out of reach: its own deadline has to stop it.
                first.task.abort_all();
            }
            for step in 0..400 {
                tokio::time::sleep(Duration::from_millis(100)).await;
                let both = first.lease.may_send() && second.lease.may_send();
                assert!(!both, "{by_hand:?} after {after} ms, cut {is_cut}, step {step}");
            }
            let is_led = first.lease.may_send() || second.lease.may_send();
            assert!(is_led, "nobody leads: {by_hand:?} after {after} ms, cut {is_cut}");
            second.task.abort_all();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn who_cannot_renew_stops_in_time_and_says_so() {
    let store = Store::default();
    let mut only = candidate(&store, "only");
    pass(5).await;
    assert!(only.lease.may_send());
    store.down.store(true, Ordering::Relaxed);
    pass(11).await;
    assert!(!only.lease.may_send());
    only.lease.lost().await;
    only.task.join_next().await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_is_released_is_taken_at_once() {
    let store = Store::default();
    let mut first = candidate(&store, "first");
    pass(5).await;
    let second = candidate(&store, "second");
    first.task.abort_all();
    let limit = Duration::from_secs(5);
    release(store.client(), &config("second"), &clock(), limit).await;
    assert_eq!(store.holder(), "first", "nobody gives up what is another's");
    release(store.client(), &config("first"), &clock(), limit).await;
    assert_eq!(store.holder(), "");
    pass(3).await;
    assert!(second.lease.may_send());
}

#[tokio::test(start_paused = true)]
async fn without_election_everybody_leads() {
    let lease = Lease::unneeded();
    lease.won().await;
    assert!(lease.may_send());
    let lost = timeout(Duration::from_secs(3_600), lease.lost()).await;
    assert!(lost.is_err());
}
