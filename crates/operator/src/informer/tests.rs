//! Watches of a kind that comes and goes, in virtual time.

use std::collections::VecDeque;
use std::sync::Mutex;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use kube::client::Body;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::*;
use crate::cache::Cache;
use crate::metrics::Metrics;
use crate::queue::Queue;

const SECOND: Duration = Duration::from_secs(1);

type Answer = UnsyncBoxBody<Bytes, kube::Error>;

/// What the API server answers to lists and watches of a kind.
#[derive(Debug, Default)]
struct Answers {
    /// The names of its objects; absent while it is not served.
    objects: Option<Vec<&'static str>>,
    /// What else finds no page for any path.
    is_proxy: bool,
    /// The next watches are refused with these statuses.
    refused_watches: VecDeque<u16>,
    lists: usize,
}

/// An API server, and an informer of Zones that watches it.
struct Cluster {
    answers: Arc<Mutex<Answers>>,
    shared: Arc<Shared>,
    _informer: JoinSet<()>,
}

impl Cluster {
    fn start(answers: Answers) -> Self {
        let answers = Arc::new(Mutex::new(answers));
        let server = Arc::clone(&answers);
        let service = tower::service_fn(move |request: Request<Body>| {
            let answer = answer(&mut server.lock().unwrap(), request.uri());
            std::future::ready(Ok::<_, kube::Error>(answer))
        });
        let (kind, timings) = (kinds::kind("Zone").unwrap(), Timings::default());
        let queue = Queue::new(timings.clone(), 0, None);
        let shared = Arc::new(Shared::new(Cache::new(kinds::KINDS), queue, Arc::new(Metrics::default())));
        let mut informer = JoinSet::new();
        let client = Client::new(service, "default");
        informer.spawn(watch_kind(client, kind, Arc::clone(&shared), timings, 0));
        Self { answers, shared, _informer: informer }
    }

    fn serve(&self, objects: Option<Vec<&'static str>>) {
        self.answers.lock().unwrap().objects = objects;
    }

    /// The names of the Zones that the caches hold; none while they have not been listed.
    fn known(&self) -> Option<Vec<String>> {
        let state = self.shared.lock();
        let is_listed = !matches!(
            state.cache.get("Zone", &Key::new("default", "none")),
            plan::snapshot::Lookup::Unknown(_)
        );
        is_listed.then(|| state.cache.all("Zone").map(|member| member.key.name).collect())
    }
}

fn answer(answers: &mut Answers, uri: &http::Uri) -> Response<Answer> {
    let query = uri.query().unwrap_or_default();
    let with = |code: u16, body: Value| {
        let body = Full::new(Bytes::from(body.to_string())).map_err(|never| match never {}).boxed_unsync();
        let mut response = Response::new(body);
        *response.status_mut() = StatusCode::from_u16(code).unwrap();
        response
    };
    let refused = |code: u16| with(code, json!({"kind": "Status", "status": "Failure", "code": code}));
    if answers.is_proxy {
        return with(404, json!("404 page not found"));
    }
    match uri.path() {
        "/apis/kflare.dev/v1alpha1" => return refused(404),
        "/apis" => {
            let group = json!({"name": "apiextensions.k8s.io", "versions": []});
            return with(200, json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": [group]}));
        }
        _ => {}
    }
    let is_watch = query.contains("watch=true");
    answers.lists += usize::from(!is_watch);
    let Some(objects) = &answers.objects else { return refused(404) };
    if !is_watch {
        let item = |name: &&str| json!({"metadata": {"name": name, "namespace": "default", "uid": name, "resourceVersion": "1"}});
        let items: Vec<Value> = objects.iter().map(item).collect();
        return with(200, json!({"metadata": {"resourceVersion": "1"}, "items": items}));
    }
    match answers.refused_watches.pop_front() {
        Some(code) => refused(code),
        // Nothing happens.
        None => {
            let events = futures::stream::pending::<Result<http_body::Frame<Bytes>, kube::Error>>();
            Response::new(StreamBody::new(events).boxed_unsync())
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_is_not_served_counts_as_listed_after_a_minute_and_comes_when_it_is_served() {
    let cluster = Cluster::start(Answers::default());
    tokio::time::sleep(59 * SECOND).await;
    assert_eq!(cluster.known(), None, "an API server that starts may not know it yet");
    tokio::time::sleep(60 * SECOND).await;
    assert_eq!(cluster.known(), Some(vec![]));
    cluster.serve(Some(vec!["example-com"]));
    tokio::time::sleep(60 * SECOND).await;
    assert_eq!(cluster.known(), Some(vec!["example-com".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn a_proxy_that_finds_no_page_proves_nothing() {
    let cluster = Cluster::start(Answers { is_proxy: true, ..Answers::default() });
    tokio::time::sleep(600 * SECOND).await;
    assert_eq!(cluster.known(), None, "who knows what there is behind it");
    cluster.answers.lock().unwrap().is_proxy = false;
    tokio::time::sleep(150 * SECOND).await;
    assert_eq!(cluster.known(), Some(vec![]));
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_is_not_served_for_a_moment_keeps_its_objects() {
    let cluster = Cluster::start(Answers { objects: Some(vec!["example-com"]), ..Answers::default() });
    tokio::time::sleep(SECOND).await;
    cluster.serve(None);
    // The watch ends after five minutes; the next one is refused.
    tokio::time::sleep(330 * SECOND).await;
    assert!(cluster.answers.lock().unwrap().lists > 1, "it was refused");
    assert_eq!(cluster.known(), Some(vec!["example-com".to_owned()]));
    cluster.serve(Some(vec!["example-com"]));
    tokio::time::sleep(300 * SECOND).await;
    assert_eq!(cluster.known(), Some(vec!["example-com".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn two_refusals_with_a_quiet_watch_between_them_prove_nothing() {
    let refused_watches = VecDeque::from([404]);
    let objects = Some(vec!["example-com"]);
    let cluster = Cluster::start(Answers { objects, refused_watches, ..Answers::default() });
    tokio::time::sleep(120 * SECOND).await;
    assert_eq!(
        cluster.answers.lock().unwrap().lists,
        2,
        "it is listed again, which tells whether it is served"
    );
    cluster.answers.lock().unwrap().refused_watches.push_back(404);
    tokio::time::sleep(300 * SECOND).await;
    assert_eq!(cluster.answers.lock().unwrap().lists, 3);
    assert_eq!(cluster.known(), Some(vec!["example-com".to_owned()]));
}
