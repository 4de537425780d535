//! Where the clients are sent: a sandbox of their own with tokens and neighbours in it, or a real account. What they find
//! there is set in their environment; what they do there is theirs.

use std::cell::Cell;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use super::program::Program;
use crate::product;

/// The only place where a live run goes.
const LIVE: &str = "https://api.cloudflare.com/client/v4";
/// Zones of somebody else, so that every client's list of zones has pages: one of them asks for fifty at a time.
const NEIGHBOURS: usize = 55;
/// How long the sandbox may take to say where it is.
const SERVING_MAX: Duration = Duration::from_secs(60);
/// What a client is told, and must not have from elsewhere.
const SETTINGS: [&str; 10] = [
    "CLOUDFLARE_BASE_URL",
    "CLOUDFLARE_API_TOKEN",
    "CLOUDFLARE_API_KEY",
    "CLOUDFLARE_EMAIL",
    "CLOUDFLARE_API_USER_SERVICE_KEY",
    "CLOUDFLARE_CUSTOM_HEADERS",
    "CLOUDFLARE_ACCOUNT_ID",
    "WITNESS_READ_TOKEN",
    "WITNESS_OWNED_TOKEN",
    "WITNESS_CONTROL",
];

/// Where the clients go.
pub(super) enum Scene {
    Sandbox(Box<Sandbox>),
    Live(Live),
}

/// A running `kflare sandbox --no-operator`.
pub(super) struct Sandbox {
    base_url: String,
    control: String,
    account: String,
    http: reqwest::Client,
    /// Answers that were held to the facts of the API, when somebody asked last.
    checked: Cell<u64>,
    /// Ends with this.
    _process: Child,
    /// What it prints goes somewhere as long as it runs.
    _lines: Lines<BufReader<ChildStdout>>,
}

/// A real account.
pub(super) struct Live {
    zone: String,
    account: String,
    token: String,
}

impl Scene {
    /// A real account. The programs make the zone, and refuse one that is there.
    pub(super) fn live(zone: &str, account: &str) -> anyhow::Result<Self> {
        let token = std::env::var("CLOUDFLARE_API_TOKEN").unwrap_or_default();
        if token.is_empty() {
            bail!(
                "CLOUDFLARE_API_TOKEN is not set; a live run needs a token that may edit zones and their DNS"
            );
        }
        if !zone.contains('.') || zone.contains(['/', ':', ' ']) {
            bail!("--zone: {zone} is no domain");
        }
        println!("makes, fills and deletes the zone {zone} in the account {account}, once for each client");
        Ok(Self::Live(Live { zone: zone.to_owned(), account: account.to_owned(), token }))
    }

    /// A sandbox, in which the zones of others are.
    pub(super) async fn sandbox(root: &Path, kflare: Option<&Path>) -> anyhow::Result<Self> {
        let kflare = product::given_or_built(root, kflare)?;
        let home = root.join("target/clients");
        let mut process = Command::new(kflare)
            .args(["sandbox", "--no-operator", "--output", "json", "--kubeconfig"])
            .arg(home.join("kubeconfig"))
            .args(["--filename", "deploy/samples/cloudflare_account.yaml"])
            .current_dir(root)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .context("cannot start the sandbox")?;
        let output = process.stdout.take().context("the sandbox has no output")?;
        let mut lines = BufReader::new(output).lines();
        let serving = tokio::time::timeout(SERVING_MAX, lines.next_line()).await;
        let line = serving.context("the sandbox does not say where it is")??.context("the sandbox ended")?;
        let event: Value = serde_json::from_str(&line).context("the sandbox does not speak JSON")?;
        let base_url = event["cloudflare"].as_str().with_context(|| format!("no URL in {line}"))?.to_owned();
        let control = format!("{}/_sandbox", base_url.trim_end_matches("/client/v4"));
        let http = reqwest::Client::builder().no_proxy().build()?;
        let state: Value =
            serde_json::from_str(&http.get(format!("{control}/state")).send().await?.text().await?)?;
        let account = state["accounts"][0]["id"].as_str().context("the sandbox has no account")?.to_owned();
        let checked = Cell::new(0);
        let sandbox = Sandbox { base_url, control, account, http, checked, _process: process, _lines: lines };
        sandbox.command("schemas", json!({})).await?;
        for number in 1..=NEIGHBOURS {
            let name = format!("neighbour-{number}.example");
            sandbox.command("zones", json!({ "account_id": sandbox.account, "name": name })).await?;
        }
        Ok(Self::Sandbox(Box::new(sandbox)))
    }

    pub(super) fn base_url(&self) -> &str {
        match self {
            Self::Sandbox(sandbox) => &sandbox.base_url,
            Self::Live(_) => LIVE,
        }
    }

    /// Answers since the last time that are not as the facts of the API say, or that nobody looked at any. What a real account
    /// answers is right.
    pub(super) async fn misfits(&self) -> anyhow::Result<Vec<String>> {
        let Self::Sandbox(sandbox) = self else { return Ok(Vec::new()) };
        let answer = sandbox.http.delete(format!("{}/misfits", sandbox.control)).send().await?;
        let mut misfits: Vec<String> = serde_json::from_str(&answer.text().await?)?;
        let counts = sandbox.http.get(format!("{}/schemas", sandbox.control)).send().await?;
        let counts: Value = serde_json::from_str(&counts.text().await?)?;
        let answers = counts["answers"].as_u64().context("the sandbox does not count what it checks")?;
        if answers == sandbox.checked.replace(answers) {
            misfits.push("no answer was held to the facts of the API".to_owned());
        }
        Ok(misfits)
    }

    /// Makes what the program needs, and tells it.
    pub(super) async fn prepare(&self, program: Program, command: &mut Command) -> anyhow::Result<()> {
        for setting in SETTINGS {
            command.env_remove(setting);
        }
        command.env("CLOUDFLARE_BASE_URL", self.base_url());
        match self {
            Self::Sandbox(sandbox) => sandbox.prepare(program, command).await,
            Self::Live(live) => {
                command.env("CLOUDFLARE_API_TOKEN", &live.token);
                command.env("CLOUDFLARE_ACCOUNT_ID", &live.account);
                command.env("WITNESS_ZONE", &live.zone);
                for setting in ["WITNESS_READ_TOKEN", "WITNESS_OWNED_TOKEN"] {
                    if let Some(token) = std::env::var_os(setting).filter(|token| !token.is_empty()) {
                        command.env(setting, token);
                    }
                }
                Ok(())
            }
        }
    }
}

impl Sandbox {
    /// Each client has a user of its own, and so a rate limit of its own.
    async fn prepare(&self, program: Program, command: &mut Command) -> anyhow::Result<()> {
        let (name, account) = (program.name(), &self.account);
        let all = json!({ "secret": format!("{name}-all"), "account_id": account, "user": name });
        let reads = json!({
            "secret": format!("{name}-reads"), "account_id": account, "user": name,
            "permissions": ["Zone Read", "DNS Read"],
        });
        let owned = json!({ "secret": format!("cfat_{name}"), "account_id": account, "owned": true });
        for (setting, token) in
            [("CLOUDFLARE_API_TOKEN", all), ("WITNESS_READ_TOKEN", reads), ("WITNESS_OWNED_TOKEN", owned)]
        {
            command.env(setting, token["secret"].as_str().unwrap_or_default());
            self.command("tokens", token).await?;
        }
        command.env("CLOUDFLARE_ACCOUNT_ID", account);
        command.env("WITNESS_ZONE", format!("{name}.example"));
        command.env("WITNESS_CONTROL", &self.control);
        command.env("NO_PROXY", "127.0.0.1");
        Ok(())
    }

    async fn command(&self, what: &str, body: Value) -> anyhow::Result<()> {
        let answer = self.http.post(format!("{}/{what}", self.control)).body(body.to_string()).send().await?;
        if !answer.status().is_success() {
            bail!("the sandbox refuses {what}: {}", answer.text().await?);
        }
        Ok(())
    }
}
