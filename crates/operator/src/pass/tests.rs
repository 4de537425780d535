//! What a pass makes of members of which it knows little.

use bytes::Bytes;
use http::{Request as HttpRequest, Response};
use kinds::Key;
use kube::Client;
use kube::client::Body;
use tokio::time::Instant;
use tower::util::BoxCloneSyncService;

use super::*;
use crate::cache::Cache;
use crate::cloudflare::Cloudflare;
use crate::leader::Lease;
use crate::preview::Foresight;
use crate::queue::{Due, Queue};
use crate::timings::Timings;
use crate::transport::TransportError;

/// A pass over these caches, with nothing to ask around it.
fn context(cache: Cache) -> Context {
    let unreachable = tower::service_fn(|_: HttpRequest<Bytes>| async {
        Err::<Response<Bytes>, _>(TransportError { cause: Cause::Connect, source: None })
    });
    let nobody = tower::service_fn(|_: HttpRequest<Body>| async {
        Err::<Response<Body>, tower::BoxError>("there is no cluster".into())
    });
    let timings = Timings::default();
    let clock: Clock = Arc::new(|| Timestamp::UNIX_EPOCH);
    let shared = Arc::new(Shared::new(cache, Queue::new(timings.clone(), 0, None), Arc::default()));
    let kubernetes = Client::new(nobody, "default");
    let (metrics, limit) = (Arc::clone(&shared.metrics), timings.kubernetes_request);
    let transport = BoxCloneSyncService::new(unreachable);
    let lease = Lease::unneeded();
    let cloudflare = Cloudflare::new(transport, Arc::clone(&clock), metrics, limit, lease.clone());
    Context {
        shared,
        credentials: Credentials::new(kubernetes.clone(), limit, None),
        sender: Arc::new(Sender { cloudflare, kubernetes, kubernetes_timeout: limit, lease }),
        effects: Effects::Foreseen(Foresight::default()),
        clock,
        reconcile_timeout: limit,
        default_deletion: plan::policy::Deletion::default(),
        parked: Parked::default(),
        portions: Portions::default(),
    }
}

/// When a pass over a record that its caches do not show looks at it again.
async fn next(cache: Cache) -> Vec<Again> {
    let member = MemberId { kind: "DNSRecord", key: Key::new("default", "www") };
    let due = Due { class: cf_api::budget::Class::User, asked: Instant::now() };
    let unit = UnitKey::Children { kind: "DNSRecord", parent: "zone".to_owned() };
    let slice = Slice { unit, members: BTreeMap::from([(member, due)]), complete: false };
    run(&context(cache), &slice).await.into_iter().map(|(_, again)| again).collect()
}

#[test]
fn a_unit_counts_for_the_kind_of_its_members() {
    let unit = UnitKey::Children { kind: "DNSRecord", parent: "zone".to_owned() };
    assert_eq!(controller(&unit), "DNSRecord");
}

#[tokio::test(start_paused = true)]
async fn only_a_member_that_is_known_to_be_gone_is_forgotten() {
    let mut cache = Cache::new(kinds::KINDS);
    assert_eq!(next(cache).await, [Again::Fault(None)], "its kind was not listed");
    cache = Cache::new(kinds::KINDS);
    cache.listed(kinds::kind("DNSRecord").unwrap(), &std::collections::BTreeSet::new());
    assert_eq!(next(cache).await, [Again::Forget]);
}
