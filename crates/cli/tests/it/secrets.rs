//! What an operator asks the API server about Secrets: their metadata to watch, one whole when a pass needs its token.
//! That nothing of them is shown to anybody is in `shown`.

mod shown;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use cli::scenario::simulate;
use cli::world::{Options, World};
use http::{HeaderMap, Method, Request, header};
use kube::client::Body;
use operator::Operator;
use serde_json::{Value, json};
use tower::ServiceExt;

/// How a client says that it wants no more than metadata.
const METADATA: &str = "as=PartialObjectMetadata";
/// The Secret that a world begins with.
const TOKEN: &str = "/api/v1/namespaces/kflare-system/secrets/cloudflare-token";

/// A request about Secrets: its method, path, and whether its answer holds more than metadata.
type Asked = (Method, String, bool);

/// An operator, and what it asked about Secrets.
struct Watched {
    world: World,
    operator: Operator,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Watched {
    fn start() -> Self {
        let world = World::new(Options::default()).unwrap();
        let (_, transport, config) = world.ways();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (service, log) = (world.kubernetes.service(), Arc::clone(&asked));
        let noting = tower::service_fn(move |request: Request<Body>| {
            if request.uri().path().contains("/secrets") {
                let is_whole = !accepts(request.headers()).contains(METADATA);
                let path = request.uri().path().to_owned();
                log.lock().unwrap().push((request.method().clone(), path, is_whole));
            }
            service.clone().oneshot(request)
        });
        let client = kube::Client::new(noting, "default");
        let operator = Operator::start(client, transport, config);
        Self { world, operator, asked }
    }

    fn apply(&self, objects: &[Value]) {
        for object in objects {
            self.world.kubernetes.apply(object.clone()).unwrap();
        }
    }

    fn annotate(&self, kind: &str, name: &str, annotations: Value) {
        let namespace = (kind != "CloudflareAccount").then_some("default");
        let patch = json!({"metadata": {"annotations": annotations}});
        self.world.kubernetes.patch(kind, namespace, name, patch).unwrap();
    }

    /// What was asked until nothing is due any more.
    async fn asks(&self) -> Vec<Asked> {
        tokio::time::sleep(Duration::from_secs(20)).await;
        assert!(self.operator.activity().is_quiet());
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

fn accepts(headers: &HeaderMap) -> String {
    headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
}

fn tree() -> [Value; 2] {
    let api = "kflare.dev/v1alpha1";
    [
        json!({
            "apiVersion": api, "kind": "Zone", "metadata": {"name": "example-com", "namespace": "default"},
            "spec": {"name": "example.com", "accountRef": {"name": "main"}},
        }),
        json!({
            "apiVersion": api, "kind": "DNSRecord", "metadata": {"name": "www", "namespace": "default"},
            "spec": {"zoneRef": {"name": "example-com"}, "name": "www", "type": "A", "content": "192.0.2.10"},
        }),
    ]
}

fn whole(asked: &[Asked]) -> Vec<&str> {
    asked.iter().filter(|(_, _, is_whole)| *is_whole).map(|(_, path, _)| path.as_str()).collect()
}

#[test]
fn secrets_are_watched_by_their_metadata_and_a_token_is_read_for_each_pass() {
    simulate(async {
        let watched = Watched::start();
        watched.apply(&tree());
        let asked = watched.asks().await;
        let listed = |asked: &&Asked| asked.1.ends_with("/secrets");
        assert!(asked.iter().filter(listed).count() >= 2, "a list and a watch: {asked:?}");
        // Neither the watch nor a write brings what is in a Secret.
        assert!(
            asked.iter().all(|(method, path, is_whole)| !is_whole || method == Method::GET && path == TOKEN)
        );
        assert!(!whole(&asked).is_empty());
        let zone = watched.world.cloudflare.zones().remove(0);
        watched.world.cloudflare.activate_zone(zone["id"].as_str().unwrap());
        watched.annotate("Zone", "example-com", json!({"kflare.dev/reconcile-at": "1"}));
        watched.asks().await;
        tokio::time::sleep(Duration::from_secs(3_600)).await;
        assert_eq!(whole(&watched.asks().await), [""; 0], "without a pass no token is needed");
        for time in ["1", "2"] {
            watched.annotate("DNSRecord", "www", json!({"kflare.dev/reconcile-at": time}));
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        assert_eq!(whole(&watched.asks().await), [TOKEN; 2], "what an earlier pass read is not kept");
    })
    .unwrap();
}

#[test]
fn a_paused_resource_reads_no_credentials() {
    simulate(async {
        let watched = Watched::start();
        watched.apply(&tree());
        watched.asks().await;
        for (kind, name) in [("CloudflareAccount", "main"), ("Zone", "example-com"), ("DNSRecord", "www")] {
            watched.annotate(kind, name, json!({"kflare.dev/paused": "true"}));
            watched.asks().await;
            watched.annotate(kind, name, json!({"kflare.dev/reconcile-at": "1"}));
            assert_eq!(watched.asks().await, [], "{kind}");
        }
    })
    .unwrap();
}
