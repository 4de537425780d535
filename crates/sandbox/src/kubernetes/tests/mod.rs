//! Situations: what clients and users do, and what the server answers. All in process, with paused time.

mod applying;
mod built_in;
mod deleting;
mod hostile;
mod reading;
mod watching;
mod workloads;
mod writing;

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use tower::Service;

use super::ApiServer;
use crate::clock::Clock;

const RECORDS: &str = "/apis/kflare.dev/v1alpha1/namespaces/default/dnsrecords";
const MERGE: &str = "application/merge-patch+json";

/// What came back.
#[derive(Debug)]
struct Got {
    code: u16,
    body: Value,
    headers: http::HeaderMap,
}

impl Got {
    fn message(&self) -> &str {
        self.body["message"].as_str().unwrap_or_default()
    }
}

/// A server that serves DNSRecords.
fn server() -> ApiServer {
    let server = ApiServer::new(Clock::starting_at("2026-01-01T00:00:00Z".parse().unwrap()), 7);
    server.install_crds(&[definition()]).unwrap();
    server
}

fn definition() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": "dnsrecords.kflare.dev" },
        "spec": {
            "group": "kflare.dev", "scope": "Namespaced",
            "names": { "kind": "DNSRecord", "plural": "dnsrecords", "shortNames": ["dnsr"], "categories": ["kflare"] },
            "versions": [{
                "name": "v1alpha1", "served": true, "storage": true, "subresources": { "status": {} },
                "selectableFields": [{ "jsonPath": ".spec.type" }],
                "additionalPrinterColumns": [
                    { "name": "Type", "type": "string", "jsonPath": ".spec.type" },
                    { "name": "TTL", "type": "integer", "jsonPath": ".spec.ttl", "priority": 1 },
                    { "name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp" },
                ],
                "schema": { "openAPIV3Schema": {
                    "type": "object",
                    "properties": {
                        "spec": { "type": "object", "required": ["type"], "properties": {
                            "type": { "type": "string" },
                            "content": { "type": "string" },
                            "ttl": { "type": "integer", "minimum": 1 },
                        }},
                        "status": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
                    },
                }},
            }],
        },
    })
}

fn record(name: &str) -> Value {
    json!({
        "apiVersion": "kflare.dev/v1alpha1", "kind": "DNSRecord", "metadata": { "name": name, "namespace": "default" },
        "spec": { "type": "A", "content": "192.0.2.1" },
    })
}

async fn send(server: &ApiServer, request: Request<Full<Bytes>>) -> Got {
    let response = server.service().call(request).await.unwrap();
    let (head, body) = response.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    let body = serde_json::from_slice(&bytes).unwrap_or_else(|_| json!(String::from_utf8_lossy(&bytes)));
    Got { code: head.status.as_u16(), body, headers: head.headers }
}

async fn ask(server: &ApiServer, method: Method, path: &str, content_type: &str, body: &Value) -> Got {
    let bytes = if body.is_null() { Bytes::new() } else { Bytes::from(body.to_string()) };
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", content_type)
        .body(Full::new(bytes))
        .unwrap();
    send(server, request).await
}

async fn get(server: &ApiServer, path: &str) -> Got {
    ask(server, Method::GET, path, "", &Value::Null).await
}

async fn get_as(server: &ApiServer, path: &str, accept: &str) -> Got {
    let request = Request::builder().uri(path).header("accept", accept).body(Full::default()).unwrap();
    send(server, request).await
}

async fn post(server: &ApiServer, path: &str, body: &Value) -> Got {
    ask(server, Method::POST, path, "application/json", body).await
}

async fn put(server: &ApiServer, path: &str, body: &Value) -> Got {
    ask(server, Method::PUT, path, "application/json", body).await
}

async fn merge(server: &ApiServer, path: &str, body: &Value) -> Got {
    ask(server, Method::PATCH, path, MERGE, body).await
}

async fn delete(server: &ApiServer, path: &str, body: &Value) -> Got {
    ask(server, Method::DELETE, path, "application/json", body).await
}
