//! `kflare plan`: what the operator would do once manifests are applied, or deleted. Changes nothing: it sends reads.
//! What is done is `operator::preview`'s to find out, by the passes that `kflare run` makes.

mod admission;
mod annotations;
mod apart;
mod arguments;
mod calls;
mod exported;
mod finding;
mod inventory;
mod json;
mod notes;
mod overlay;
#[cfg(test)]
mod tests;
mod text;

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use jiff::Timestamp;
use kinds::Key;
use operator::preview::{Scope, preview};
use operator::{Config, Transport, transport};
use plan::MemberId;

#[cfg(test)]
pub(super) use admission::Admission;
pub use arguments::{Output, PlanArguments};
pub(super) use calls::CloudflareUnreachable;

use self::calls::Calls;
use self::finding::Findings;
use self::inventory::Inventory;
use self::overlay::{Intent, Layer, OverlayError};
use self::text::Style;
use super::sandbox::manifest::{self, Manifest};
use super::{cluster, form, log, outside};
use crate::progress::{Progress, Teller};
use crate::scenario::ObjectName;
use crate::terminal;

/// The exit code when there is something to do, and nothing in its way.
const CHANGES: u8 = 2;

/// The exit code when something is in the way.
const OBSTRUCTED: u8 = 1;

/// Holds the token where there is no cluster. Not a flag: what is on a command line, everyone can read.
const TOKEN: &str = "CLOUDFLARE_API_TOKEN";

/// Prints the plan.
///
/// # Errors
/// When it cannot be found out, with what to do about it.
pub fn execute(arguments: &PlanArguments) -> anyhow::Result<ExitCode> {
    arguments.check()?;
    log::begin(log::Level::Error, log::Format::Text);
    let runtime = tokio::runtime::Runtime::new().context("cannot start the runtime")?;
    let progress = Progress::begin("reading manifests");
    let findings = runtime.block_on(plan(arguments, &progress));
    drop(progress);
    // A name that is being looked up in the system's resolver cannot be cancelled and must not be waited for.
    runtime.shutdown_background();
    let findings = findings?;
    let text = match arguments.output {
        Output::Text => {
            let colour = terminal::wants_colour(&io::stdout());
            text::render(&findings, Style { colour, verbose: arguments.verbose })
        }
        Output::Json => form::json(&json::render(&findings)),
        Output::Yaml => form::yaml(&json::render(&findings))?,
    };
    io::stdout().lock().write_all(text.as_bytes()).context("cannot write to standard output")?;
    Ok(exit_code(&findings))
}

fn exit_code(findings: &Findings) -> ExitCode {
    if findings.is_obstructed() {
        ExitCode::from(OBSTRUCTED)
    } else if findings.acts.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(CHANGES)
    }
}

async fn plan(arguments: &PlanArguments, progress: &Progress) -> anyhow::Result<Findings> {
    let manifests = manifest::read(&arguments.filename)?;
    let cloudflare = transport::https(&arguments.cloudflare_api_url)
        .context("--cloudflare-api-url: write for example https://api.cloudflare.com/client/v4")?;
    let inventory = if arguments.no_cluster {
        None
    } else {
        let (kubeconfig, context) = (arguments.kubeconfig.as_deref(), arguments.context.as_deref());
        let (client, server) = cluster::connect(kubeconfig, context).await?;
        progress.say(|| format!("asking the API server {server}"));
        Some(Inventory::read(client, server, &progress.teller()).await?)
    };
    progress.say(|| format!("laying {} manifests over what there is", manifests.len()));
    let token = std::env::var(TOKEN).ok().filter(|token| !token.is_empty());
    let mut config = Config::new(Arc::new(outside::now));
    config.default_deletion = arguments.default_deletion_policy.into();
    let question = Question {
        manifests,
        intent: if arguments.delete { Intent::Delete } else { Intent::Apply },
        all: arguments.all,
        namespace: arguments.namespace.as_deref(),
        token: token.as_deref(),
    };
    let calls = Arc::new(Calls::default());
    let watched = calls.watch(cloudflare, progress.teller());
    let findings = find(question, inventory.as_ref(), watched, &config, outside::now()).await;
    let findings = findings.map_err(|error| match error {
        // So that whoever prints it finds what to do next.
        OverlayError::Cluster(error) => anyhow::Error::new(error),
        error => anyhow::Error::new(error),
    })?;
    calls.check(&arguments.cloudflare_api_url)?;
    Ok(findings)
}

/// What an operator would do now for an object and what hangs together with it, as text.
///
/// # Errors
/// When Kubernetes cannot be read.
pub(crate) async fn within(
    (client, cloudflare, config): (kube::Client, Transport, Config),
    now: Timestamp,
    object: &ObjectName,
) -> anyhow::Result<String> {
    let inventory = Inventory::read(client, "the sandbox".to_owned(), &Teller::default()).await?;
    let mut overlay = Layer::new(Some(&inventory), now)?.over(Vec::new(), Intent::Apply, None).await?;
    let kind = kinds::kind(&object.resource.kind)
        .with_context(|| format!("no plan is made for a {}", object.resource.kind))?;
    let member = MemberId::new(kind, Key::new(object.namespace.clone(), object.name.clone()));
    let scope = Scope::Around([member].into());
    let before = std::mem::take(&mut overlay.world);
    let preview = preview(Some(inventory.client.clone()), cloudflare, before, &scope, &config).await;
    Ok(text::changes(&Findings::of(preview, &overlay), Style::default()))
}

/// What is asked.
struct Question<'q> {
    manifests: Vec<Manifest>,
    intent: Intent,
    /// Every object of the cluster is looked at.
    all: bool,
    /// That of the manifests.
    namespace: Option<&'q str>,
    /// Stands for the tokens that no Secret holds.
    token: Option<&'q str>,
}

/// Finds out what would be done.
async fn find(
    question: Question<'_>,
    inventory: Option<&Inventory>,
    cloudflare: Transport,
    config: &Config,
    now: Timestamp,
) -> Result<Findings, OverlayError> {
    let layer = Layer::new(inventory, now)?.within(question.namespace);
    let mut overlay = layer.over(question.manifests, question.intent, question.token).await?;
    let scope =
        if question.all { Scope::Everything } else { Scope::Around(overlay.named.keys().cloned().collect()) };
    let concerned = apart::concerned(&overlay);
    let world = std::mem::take(&mut overlay.world);
    let client = inventory.map(|inventory| inventory.client.clone());
    let found = preview(client.clone(), cloudflare.clone(), world, &scope, config).await;
    let mut findings = Findings::of(found, &overlay);
    let others = apart::others(&findings, &concerned);
    if !question.all && inventory.is_some() && !others.is_empty() {
        let mut before = Layer::new(inventory, now)?.over(Vec::new(), Intent::Apply, None).await?;
        let world = std::mem::take(&mut before.world);
        let found = preview(client, cloudflare, world, &Scope::Around(others.clone()), config).await;
        apart::set_apart(&mut findings, &others, Findings::of(found, &before));
    }
    Ok(findings)
}
