//! Tests of the API through its service, by situation.
//! Each file has the situations of one product.

mod dns_batch;
mod dns_lists;
mod dns_records;
mod faults;
mod gateway;
mod hostile;
mod schemas;
mod tunnel_configurations;
mod tunnels;
mod zones;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use jiff::Timestamp;
use serde_json::Value;
use tower::ServiceExt;

use super::{Cloudflare, Plan, Token};
use crate::clock::Clock;
use crate::fault::ConnectionReset;

const ACCOUNT: &str = "0123456789abcdef0123456789abcdef";
const SECRET: &str = "cfut_everything";

/// A world with one account, a token that may do everything, and the zone example.com.
struct Scene {
    cloudflare: Cloudflare,
    zone: String,
    secret: String,
    /// How the client names itself; empty: not at all.
    agent: &'static str,
}

struct Got {
    status: u16,
    headers: http::HeaderMap,
    text: String,
    json: Value,
}

impl Got {
    /// The code of the first error, 0 without one.
    fn code(&self) -> u64 {
        self.json.pointer("/errors/0/code").and_then(Value::as_u64).unwrap_or(0)
    }

    fn result(&self) -> &Value {
        &self.json["result"]
    }

    fn id(&self) -> String {
        self.result()["id"].as_str().unwrap().to_owned()
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

impl Scene {
    fn new(plan: Plan) -> Self {
        let epoch: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let cloudflare = Cloudflare::new(Clock::starting_at(epoch), 7);
        cloudflare.hold_to_schemas();
        cloudflare.add_account(ACCOUNT, "Acme");
        cloudflare.add_token(SECRET, Token::all(ACCOUNT));
        let zone = cloudflare.add_zone(ACCOUNT, "example.com", plan);
        Self { cloudflare, zone, secret: SECRET.to_owned(), agent: "" }
    }

    fn records_path(&self) -> String {
        format!("/zones/{}/dns_records", self.zone)
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Result<Got, ConnectionReset> {
        let response = self.cloudflare.service().oneshot(request).await?;
        let (parts, body) = response.into_parts();
        let text = String::from_utf8(body.collect().await?.to_bytes().to_vec()).unwrap();
        let json = serde_json::from_str(&text).unwrap_or(Value::Null);
        let misfits: Vec<String> = self.cloudflare.take_misfits().iter().map(ToString::to_string).collect();
        assert!(misfits.is_empty(), "{}", misfits.join("\n"));
        Ok(Got { status: parts.status.as_u16(), headers: parts.headers, text, json })
    }

    fn request(&self, method: &str, path: &str, body: Bytes) -> Request<Full<Bytes>> {
        let mut request = Request::builder().method(method).uri(format!("/client/v4{path}"));
        if !self.secret.is_empty() {
            request = request.header("authorization", format!("Bearer {}", self.secret));
        }
        if !self.agent.is_empty() {
            request = request.header("user-agent", self.agent);
        }
        if !body.is_empty() {
            request = request.header("content-type", "application/json");
        }
        request.body(Full::new(body)).unwrap()
    }

    async fn ask(&self, method: &str, path: &str, body: Value) -> Got {
        let body = if body.is_null() { Bytes::new() } else { Bytes::from(body.to_string()) };
        self.send(self.request(method, path, body)).await.unwrap()
    }

    async fn get(&self, path: &str) -> Got {
        self.ask("GET", path, Value::Null).await
    }

    /// POST of a record.
    async fn post(&self, body: Value) -> Got {
        self.ask("POST", &self.records_path(), body).await
    }
}
