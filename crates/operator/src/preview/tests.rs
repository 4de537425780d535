//! That nothing but reads gets out, and that what is foreseen is part of what is read. Whole previews are compared with
//! whole runs by the tests of the command.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use cf_api::error::Cause;
use cf_api::request::{Method, Request as Call};
use cf_api::token::Secret;
use http::{Request, Response};
use jiff::Timestamp;
use kube::Api;
use plan::act::{Part, Target};
use plan::read::What;
use plan::{CredId, Observed, Outcome, Patch, Proof, Read, ReadAnswer, Snapshot, UnitKey, Write};
use serde_json::json;
use tower::util::BoxCloneSyncService;

use super::*;
use crate::gather::Tokens;
use crate::pass_time::PassTime;
use crate::transport::TransportError;

type Sent = Arc<Mutex<Vec<String>>>;

/// A Cloudflare that answers everything, and what it was asked.
fn cloudflare() -> (Transport, Sent) {
    let sent = Sent::default();
    let log = Arc::clone(&sent);
    let service = tower::service_fn(move |request: Request<Bytes>| {
        log.lock().unwrap().push(format!("{} {}", request.method(), request.uri()));
        let body = json!({"success": true, "errors": [], "messages": [], "result": {"id": "a"}});
        async move { Ok::<_, TransportError>(Response::new(Bytes::from(body.to_string()))) }
    });
    (BoxCloneSyncService::new(service), sent)
}

/// A cluster that takes everything, and what it was asked.
fn cluster() -> (Client, Sent) {
    let sent = Sent::default();
    let log = Arc::clone(&sent);
    let service = tower::service_fn(move |request: Request<kube::client::Body>| {
        log.lock().unwrap().push(format!("{} {}", request.method(), request.uri()));
        let object = json!({"metadata": {"name": "www", "namespace": "apps"}}).to_string();
        async move { Ok::<_, tower::BoxError>(Response::new(kube::client::Body::from(object.into_bytes()))) }
    });
    (Client::new(service, "default"), sent)
}

fn cred() -> CredId {
    CredId::new(&Key::new("a", "b"), "c")
}

fn member() -> MemberId {
    let kind = kinds::KINDS.iter().find(|kind| kind.identity.claims).unwrap();
    MemberId::new(kind, Key::new("apps", "www"))
}

fn act(request: plan::Request, write: Write) -> Act {
    let part = Part { member: member(), write, why: Vec::new(), proof: Proof::NothingTouched };
    Act { request, parts: vec![part], send_by: None }
}

fn snapshot() -> Snapshot {
    let kind = kinds::kind(member().kind).unwrap();
    let object = serde_json::from_value(json!({"metadata": {"name": "www", "namespace": "apps"}})).unwrap();
    Snapshot {
        unit: UnitKey::Object(member()),
        members: [(member(), plan::Member::new(kind, object, Class::User))].into(),
        claims: Default::default(),
        listing: Observed::Unread,
        document: Observed::Unread,
        complete: true,
        usage_asked: false,
        refused: Default::default(),
        memory: Default::default(),
        deletion_default: Default::default(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_sender_behind_the_ways_of_a_preview_can_only_read() {
    let ((kubernetes, asked), (transport, called)) = (cluster(), cloudflare());
    let count = read_only::Count::default();
    let config = Config::new(Arc::new(|| Timestamp::UNIX_EPOCH));
    let client = read_only::client(Some(kubernetes), Secrets::default(), Foresight::default());
    let shared = shared(World::default(), &config);
    let transport = read_only::transport(transport, count.clone());
    let context = context(client, transport, &config, &shared, Foresight::default());
    let time = PassTime::start(Duration::from_secs(60), Parked::default());
    let tokens = Tokens::from([(cred(), Secret::parse(b"tokenOfSuitableLengthAndOnlyOfLetters00").unwrap())]);
    for method in [Method::Post, Method::Put, Method::Patch, Method::Delete] {
        let call = Call::new(method, "/zones", &[]).unwrap();
        let act = act(plan::Request::Cloudflare { cred: cred(), call }, Write::Create(json!({})));
        let outcome = context.sender.act(&act, Class::User, &tokens, &time).await;
        assert_eq!(outcome, Outcome::NotSent(Cause::Malformed));
    }
    for target in [Target::Kind(member().kind), Target::Secret] {
        let patch = Patch { target, key: member().key, body: json!({}) };
        let act = act(plan::Request::Kubernetes(patch), Write::Prepare);
        let outcome = context.sender.act(&act, Class::User, &tokens, &time).await;
        assert!(!matches!(outcome, Outcome::Done(_)), "{outcome:?}");
    }
    let kind = kinds::kind(member().kind).unwrap();
    assert!(context.sender.patch_status(kind, &member().key, &json!({})).await.is_err());
    assert_eq!((called.lock().unwrap().len(), asked.lock().unwrap().len(), count.get()), (0, 0, 0));

    let request = Call::new(Method::Get, "/zones", &[]).unwrap();
    let (members, what, class) = (vec![member()], What::Item, Class::User);
    let read = Read { cred: cred(), members, what, request, per_page: None, class };
    let answer = context.sender.read(&read, "", &tokens, &time).await;
    assert_eq!(answer, ReadAnswer::One(json!({"id": "a"})));
    assert_eq!(*called.lock().unwrap(), ["GET /zones"]);
    assert_eq!(count.get(), 1);
}

#[tokio::test]
async fn secrets_of_the_files_stand_before_those_of_the_cluster() {
    type Secrets1 = Api<k8s_openapi::api::core::v1::Secret>;
    let (kubernetes, asked) = cluster();
    let mut secrets = Secrets::default();
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "data": {"token": "dG9rZW4="},
        "metadata": {"name": "mine", "namespace": "apps", "finalizers": ["x"]}});
    secrets.insert(Key::new("apps", "mine"), secret);
    assert_eq!(format!("{secrets:?}"), r#"{Key { namespace: "apps", name: "mine" }}"#);
    let client = read_only::client(Some(kubernetes), secrets.clone(), Foresight::default());
    let api = Secrets1::namespaced(client, "apps");
    assert_eq!(api.get("mine").await.unwrap().data.unwrap()["token"].0, b"token");
    assert_eq!(api.get_metadata("mine").await.unwrap().metadata.finalizers.unwrap(), ["x"]);
    assert!(asked.lock().unwrap().is_empty());
    assert_eq!(api.get("www").await.unwrap().metadata.name.unwrap(), "www");
    assert_eq!(*asked.lock().unwrap(), ["GET /api/v1/namespaces/apps/secrets/www"]);
    let alone = read_only::client(None, secrets, Foresight::default());
    assert!(Secrets1::namespaced(alone, "apps").get_opt("www").await.unwrap().is_none());
}

#[test]
fn what_was_made_changed_and_deleted_is_in_the_next_list() {
    let (foresight, mut snapshot) = (Foresight::default(), snapshot());
    let config = Config::new(Arc::new(|| Timestamp::UNIX_EPOCH));
    let shared = shared(World::default(), &config);
    let live = json!({"id": "changed", "ttl": 1});
    snapshot.members.get_mut(&member()).unwrap().live = Observed::Seen(live, Timestamp::UNIX_EPOCH);
    let call = || Call::new(Method::Post, "/zones", &[]).unwrap();
    for write in [
        Write::Create(json!({"name": "made"})),
        Write::Update("changed".to_owned(), json!({"ttl": 2})),
        Write::Delete("deleted".to_owned()),
    ] {
        foresight.act(
            &snapshot,
            &act(plan::Request::Cloudflare { cred: cred(), call: call() }, write),
            &shared,
        );
    }
    let read = |what, path| {
        let request = Call::new(Method::Get, path, &[]).unwrap();
        Read { cred: cred(), members: vec![member()], what, request, per_page: None, class: Class::User }
    };
    let items = vec![json!({"id": "changed", "ttl": 1}), json!({"id": "deleted"}), json!({"id": "other"})];
    let list = ReadAnswer::Many { items: items.into_iter().collect(), one_page: true };
    let expected = vec![
        json!({"id": "changed", "ttl": 2}),
        json!({"id": "other"}),
        json!({"id": plan::predict::stand_in(&member()), "name": "made"}),
    ];
    assert_eq!(
        foresight.corrected(&snapshot, &read(What::List, "/zones"), list),
        ReadAnswer::Many { items: expected.into_iter().collect(), one_page: true }
    );
    let changed = foresight.answer(&snapshot, &read(What::Item, "/zones/changed"));
    assert_eq!(changed, Some(ReadAnswer::One(json!({"id": "changed", "ttl": 2}))));
    let deleted = foresight.answer(&snapshot, &read(What::Item, "/zones/deleted"));
    assert!(matches!(deleted, Some(ReadAnswer::Failed(_))), "{deleted:?}");
    assert_eq!(foresight.answer(&snapshot, &read(What::Item, "/zones/other")), None);
    assert_eq!(foresight.answer(&snapshot, &read(What::List, "/zones")), None);
}
