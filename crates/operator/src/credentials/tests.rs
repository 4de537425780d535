//! Shared reads of Secrets, and what their content means.

use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use kube::client::Body;
use serde_json::json;
use tokio::time::sleep;

use super::*;

/// `good` in base64, and a text that is no token.
const GOOD: &str = "Z29vZA==";
const SPACED: &str = "YSBi";

fn credentials(count: &Arc<AtomicUsize>) -> Credentials {
    let count = Arc::clone(count);
    let answer = move |_: Request<Body>| {
        let count = Arc::clone(&count);
        async move {
            count.fetch_add(1, Ordering::Relaxed);
            sleep(Duration::from_secs(1)).await;
            let data = json!({"good": GOOD, "spaced": SPACED, "empty": ""});
            let secret =
                json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "t"}, "data": data});
            Ok::<_, kube::Error>(Response::new(Full::new(Bytes::from(secret.to_string()))))
        }
    };
    Credentials::new(Client::new(tower::service_fn(answer), "default"), Duration::from_secs(10), None)
}

fn key() -> Key {
    Key::new("kflare-system", "t")
}

#[tokio::test(start_paused = true)]
async fn who_asks_together_reads_once_and_who_asks_later_reads_anew() {
    let count = Arc::default();
    let credentials = credentials(&count);
    let key = key();
    let began = Instant::now();
    let together = futures::future::join_all((0..10).map(|_| credentials.read(&key, began)));
    let late = async {
        sleep(Duration::from_millis(500)).await;
        credentials.read(&key, Instant::now()).await
    };
    futures::join!(together, late);
    assert_eq!(count.load(Ordering::Relaxed), 2, "a read that began before one asked does not serve him");
    credentials.read(&key, Instant::now()).await;
    assert_eq!(count.load(Ordering::Relaxed), 3, "who asks after a read began is not served by it");
    credentials.read(&key, began).await;
    assert_eq!(count.load(Ordering::Relaxed), 3, "who had asked before is");
    sleep(SECRET_READ_SERVES * 2).await;
    assert!(credentials.recent.lock().unwrap().is_empty(), "nothing is kept");
}

#[tokio::test(start_paused = true)]
async fn what_a_secret_holds_is_said_without_showing_it() {
    let read = credentials(&Arc::default()).read(&key(), Instant::now()).await;
    let of = |entry: &str| credential(&key(), entry, &read).0;
    assert_eq!(of("good"), Credential::Usable(CredId::new(&key(), "good")));
    assert_eq!(of("none"), Credential::KeyMissing(key(), "none".to_owned()));
    assert_eq!(of("empty"), Credential::KeyMissing(key(), "empty".to_owned()));
    let Credential::Malformed(_, why) = of("spaced") else { panic!("{:?}", of("spaced")) };
    assert!(!why.contains("a b"), "{why}");
    assert_eq!(credential(&key(), "good", &SecretRead::Missing).0, Credential::SecretMissing(key()));
}
