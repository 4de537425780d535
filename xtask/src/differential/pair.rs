//! The two servers: given our definitions, and asked. How they start is `crate::servers`, what they are asked `sequence`.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, WARNING};
use serde_json::{Value, json};

use super::sequence::{Request, Step};
use crate::servers;

/// How long a server may take to start. The real one takes ten seconds on an idle machine.
const START_MAX: Duration = Duration::from_secs(240);
/// How long one answer may take; a watch of the table ends after a second or two.
const ANSWER_MAX: Duration = Duration::from_secs(60);
/// Between two looks at something that comes by itself.
const LOOK: Duration = Duration::from_millis(100);

/// Who asks: the owner of the fields that are written.
const AGENT: &str = "differential/1";

/// One API server.
#[derive(Debug)]
pub(crate) struct Server {
    base: String,
    authorization: String,
    client: reqwest::Client,
}

/// The real server and ours. They end when this is dropped.
#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) real: Server,
    pub(crate) ours: Server,
    _running: (servers::Real, servers::Sandbox),
}

impl Server {
    fn real(running: &servers::Real) -> anyhow::Result<Self> {
        let authority = running.files.directory.join("certificates/apiserver.crt");
        let authority = std::fs::read(&authority).with_context(|| format!("{}", authority.display()))?;
        Self::new(&running.files.server, &running.files.token, Some(&authority))
    }

    fn ours(running: &servers::Sandbox) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(&running.kubeconfig)?;
        let address = text.lines().find_map(|line| line.trim().strip_prefix("server: "));
        Self::new(address.context("the sandbox's kubeconfig names no server")?.trim_matches('"'), "", None)
    }

    fn new(base: &str, token: &str, authority: Option<&[u8]>) -> anyhow::Result<Self> {
        let mut builder = reqwest::Client::builder()
            .http1_only()
            .user_agent(AGENT)
            .timeout(ANSWER_MAX)
            .no_proxy()
            .no_gzip();
        if let Some(pem) = authority {
            builder = builder.tls_certs_only([reqwest::Certificate::from_pem(pem)?]);
        }
        Ok(Self { base: base.to_owned(), authorization: format!("Bearer {token}"), client: builder.build()? })
    }

    /// The answer: status, media type, warnings, and the body as JSON, as the events of a watch, or as text.
    pub(crate) async fn ask(&self, request: &Request, is_watch: bool) -> anyhow::Result<Value> {
        let url = format!("{}{}", self.base, request.path);
        let method = request.method.parse().with_context(|| format!("the method of {url}"))?;
        let mut asked = self.client.request(method, &url).header(AUTHORIZATION, &self.authorization);
        if let Some(media) = &request.media {
            asked = asked.header(CONTENT_TYPE, media);
        }
        asked = asked.header(ACCEPT, request.accept.as_deref().unwrap_or("application/json"));
        if let Some(body) = &request.body {
            asked = asked.body(body.clone());
        }
        let answer = asked.send().await.with_context(|| url.clone())?;
        let status = answer.status().as_u16();
        let head = answer.headers().clone();
        let text = answer.text().await.with_context(|| format!("the body of {url}"))?;
        let body = if is_watch && status == 200 { events(&text) } else { json_or_text(&text) };
        Ok(
            json!({ "status": status, "type": one(&head, CONTENT_TYPE.as_str()), "warnings": warnings(&head), "body": body }),
        )
    }

    async fn is(&self, path: &str, wanted: u16) -> bool {
        let step = Step { ask: format!("GET {path}"), ..Step::default() };
        let Ok(request) = step.fill("", &[]) else { return false };
        self.ask(&request, false).await.is_ok_and(|answer| answer["status"] == json!(wanted))
    }

    async fn post(&self, path: &str, body: &Value) -> anyhow::Result<()> {
        let step = Step { ask: format!("POST {path}"), body: Some(body.clone()), ..Step::default() };
        let answer = self.ask(&step.fill("", &[])?, false).await?;
        // Ours comes with our definitions.
        if answer["status"] == json!(201) || answer["status"] == json!(409) {
            return Ok(());
        }
        bail!("POST {path}: {answer}")
    }

    /// Waits until a path answers with a status.
    async fn until(&self, path: &str, wanted: u16) -> anyhow::Result<()> {
        let deadline = tokio::time::Instant::now() + START_MAX;
        while !self.is(path, wanted).await {
            if tokio::time::Instant::now() > deadline {
                bail!("{}{path} does not answer {wanted}", self.base);
            }
            tokio::time::sleep(LOOK).await;
        }
        Ok(())
    }
}

fn one(head: &HeaderMap, name: &str) -> String {
    head.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
}

fn warnings(head: &HeaderMap) -> Vec<String> {
    let texts =
        head.get_all(WARNING).iter().map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let mut texts: Vec<String> = texts.collect();
    texts.sort();
    texts
}

fn json_or_text(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| json!(text))
}

/// The events of a watch. Bookmarks come when the server likes, but for the one that ends the initial events.
fn events(text: &str) -> Value {
    let counts = |event: &Value| {
        event["type"] != "BOOKMARK"
            || event["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"] == "true"
    };
    text.lines().map(json_or_text).filter(counts).collect()
}

/// Starts both, the real server's program and a kflare, and installs our definitions in both.
pub(crate) async fn start(root: &Path, [kube_apiserver, kflare]: [&Path; 2]) -> anyhow::Result<Pair> {
    let scratch = root.join("target/differential");
    servers::fresh(&scratch)?;
    let real = servers::start(kube_apiserver, &scratch.join("kubernetes"))?.ready().await?;
    let ours = servers::sandbox(kflare, &root.join("testing/differential/world.yaml"), &scratch).await?;
    let pair = Pair { real: Server::real(&real)?, ours: Server::ours(&ours)?, _running: (real, ours) };
    pair.ours.until("/readyz", 200).await?;
    for server in [&pair.real, &pair.ours] {
        install(root, server).await?;
    }
    pair.await_collector().await?;
    Ok(pair)
}

/// Our definitions, and a wait until they are served.
async fn install(root: &Path, server: &Server) -> anyhow::Result<()> {
    for definition in definitions(root)? {
        server.post("customresourcedefinitions", &definition).await?;
        let text = |pointer: &str| definition.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let (group, plural) = (text("/spec/group"), text("/spec/names/plural"));
        let version = text("/spec/versions/0/name");
        server.until(&format!("/apis/{group}/{version}/{plural}"), 200).await?;
    }
    Ok(())
}

/// The definitions of our kinds, by the names of their files.
pub(crate) fn definitions(root: &Path) -> anyhow::Result<Vec<Value>> {
    let home = root.join("deploy/crds");
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(&home).with_context(|| format!("could not list {}", home.display()))? {
        paths.push(entry?.path());
    }
    paths.sort();
    paths
        .iter()
        .map(|path| {
            let text = std::fs::read_to_string(path)?;
            serde_saphyr::from_str(&text).with_context(|| format!("could not read {}", path.display()))
        })
        .collect()
}

impl Pair {
    /// The real garbage collector learns of new kinds every half minute: waits until it has.
    async fn await_collector(&self) -> anyhow::Result<()> {
        let space = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "collector" } });
        self.real.post("/api/v1/namespaces", &space).await?;
        let orphan = json!({ "apiVersion": "kflare.dev/v1alpha1", "kind": "Zone",
            "metadata": { "name": "orphan", "ownerReferences": [{
                "apiVersion": "kflare.dev/v1alpha1", "kind": "Zone", "name": "nobody",
                "uid": "00000000-0000-4000-8000-000000000000",
            }]},
            "spec": { "name": "example.com", "accountRef": { "name": "main" } },
        });
        let zones = "/apis/kflare.dev/v1alpha1/namespaces/collector/zones";
        self.real.post(zones, &orphan).await?;
        self.real.until(&format!("{zones}/orphan"), 404).await
    }
}
