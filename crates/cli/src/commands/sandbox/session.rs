//! One sandbox from its first object to Ctrl-C: sets the scene, serves, watches it come to rest, tells the reporter.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use sandbox::serve::{self, Served};
use serde_json::json;
use tokio::time::{Instant, MissedTickBehavior};

use super::arguments::ServeArguments;
use super::inventory::Calls;
use super::kubeconfig::KubeconfigFile;
use super::manifest::{self, Manifest};
use super::registration;
use super::reporter::{Reporter, Rest};
use super::row::{self, Row};
use super::welcome::{self, Welcome};
use crate::commands::outside;
use crate::commands::refusal::Refusal;
use crate::commands::signals::Ends;
use crate::progress::Progress;
use crate::world::{Options, SECRET_NAMESPACE, World};

/// Between two looks at the worlds: short enough to look live, long enough to cost nothing.
const LOOK: Duration = Duration::from_millis(100);

/// Looks in a row that find nothing to do. One may fall between an answer and what it leads to.
const QUIET_LOOKS: u32 = 3;

/// After so long without a change something that is still tried again and again counts as at rest, so that one
/// failing object does not keep the others from being reported.
const UNCHANGED_MAX: Duration = Duration::from_secs(10);

/// Refusals of the API server that are printed at once; more would scroll the first away.
const REFUSALS_SHOWN: usize = 10;

/// What is said of output that nobody takes.
const UNWRITTEN: &str = "cannot write to standard output";

/// What is served, for as long as it is held.
struct Serving {
    _kubernetes: Served,
    _cloudflare: Served,
    _kubeconfig: KubeconfigFile,
}

/// Runs a sandbox to its end.
pub(super) async fn run(arguments: &ServeArguments) -> anyhow::Result<ExitCode> {
    let mut ends = Ends::listen().context("cannot listen for signals")?;
    let files = &arguments.filename;
    let mut manifests = if files.is_empty() { manifest::samples() } else { manifest::read(files) }?;
    let options = Options { seed: arguments.seed, empty: true, owners: true, ..Options::default() };
    let mut world = {
        let progress = Progress::begin("making the worlds");
        let world =
            World::starting_at(outside::now(), options).context("the sandbox refuses its first objects")?;
        registration::register(&world.cloudflare, &manifests, arguments.plan.into());
        registration::replace_placeholder(&mut manifests);
        apply(&world, &manifests, &progress)?;
        if arguments.no_operator {
            // For the Lease of an operator that runs as it would for a cluster.
            create_namespace(&world, SECRET_NAMESPACE);
        }
        world
    };
    let mut reporter = Reporter::new(arguments.output);
    let serving =
        if arguments.once { None } else { Some(serve(arguments, &world, &manifests, &mut reporter).await?) };
    if !arguments.no_operator {
        world.start();
    }
    let code = follow(arguments, &world, &mut reporter, &mut ends).await?;
    drop(serving);
    Ok(code)
}

/// Applies namespaces first, then the rest in order, and names everything that is refused.
fn apply(world: &World, manifests: &[Manifest], progress: &Progress) -> anyhow::Result<()> {
    let mut refusals = Vec::new();
    let (namespaces, others): (Vec<_>, Vec<_>) =
        manifests.iter().partition(|manifest| manifest.object["kind"] == "Namespace");
    for (done, manifest) in namespaces.into_iter().chain(others).enumerate() {
        progress.say(|| format!("applying manifests: {done} of {}", manifests.len()));
        if let Some(namespace) = manifest.object["metadata"]["namespace"].as_str() {
            create_namespace(world, namespace);
        }
        if let Err(status) = world.kubernetes.apply_strictly(manifest.object.clone()) {
            let refusal = Refusal::read(manifest, &status).to_string();
            refusals.extend(refusal.lines().map(str::to_owned));
        }
    }
    let more = refusals.len().saturating_sub(REFUSALS_SHOWN);
    refusals.truncate(REFUSALS_SHOWN);
    match refusals.as_slice() {
        [] => Ok(()),
        shown if more > 0 => Err(anyhow!("{}\nand {more} more", shown.join("\n"))),
        shown => Err(anyhow!("{}", shown.join("\n"))),
    }
}

/// Manifests are often applied to namespaces that something else makes.
fn create_namespace(world: &World, name: &str) {
    if world.kubernetes.get("Namespace", None, name).is_none() {
        let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } });
        // A name that is refused is refused again for the object in it, with its place.
        let _ = world.kubernetes.apply(namespace);
    }
}

async fn serve(
    arguments: &ServeArguments,
    world: &World,
    manifests: &[Manifest],
    reporter: &mut Reporter,
) -> anyhow::Result<Serving> {
    let kubernetes = serve::on_loopback(arguments.kubernetes_port, world.kubernetes.service())
        .await
        .context("--kubernetes-port: choose another port, or 0 for any")?;
    let cloudflare = serve::on_loopback(arguments.cloudflare_port, world.cloudflare.service())
        .await
        .context("--cloudflare-port: choose another port, or 0 for any")?;
    let kubeconfig = world.kubernetes.kubeconfig(kubernetes.address);
    let kubeconfig = KubeconfigFile::write(&arguments.kubeconfig, &kubeconfig)?;
    let program = std::env::args().next().unwrap_or_else(|| "kflare".to_owned());
    let welcome = Welcome {
        kubernetes: kubernetes.address,
        cloudflare: cloudflare.address,
        // The user's other terminal may be in another directory.
        kubeconfig: std::path::absolute(kubeconfig.path()).unwrap_or_else(|_| kubeconfig.path().to_owned()),
        token: welcome::token_line(manifests),
        run_with: arguments.no_operator.then_some(program),
    };
    reporter.welcome(&welcome)?;
    Ok(Serving { _kubernetes: kubernetes, _cloudflare: cloudflare, _kubeconfig: kubeconfig })
}

/// Where the worlds stand between two looks.
struct Watch {
    rows: Vec<Row>,
    version: u64,
    /// Writes that Cloudflare has seen: a changed record need not show in any row.
    writes: u64,
    quiet_looks: u32,
    /// Since when something has been going on.
    busy_since: Instant,
    changed_at: Instant,
    /// The last look found something new.
    turned: bool,
    /// The present state has been reported.
    reported: bool,
}

impl Watch {
    fn new() -> Self {
        let now = Instant::now();
        Self {
            rows: Vec::new(),
            version: 0,
            writes: 0,
            quiet_looks: 0,
            busy_since: now,
            changed_at: now,
            turned: false,
            reported: false,
        }
    }

    /// Looks again. Rows are read only after a write: ten thousand of them are not free.
    fn look(&mut self, world: &World) {
        let version = world.kubernetes.resource_version();
        let mut changed = false;
        if version != self.version {
            self.version = version;
            let rows = row::all(world);
            changed = rows != self.rows;
            self.rows = rows;
        }
        let writes = world.cloudflare.log().writes();
        changed |= writes != self.writes;
        self.writes = writes;
        self.turned = changed;
        if changed {
            self.changed_at = Instant::now();
        }
        if changed && self.reported {
            self.busy_since = self.changed_at;
            self.reported = false;
        }
        self.quiet_looks = if world.is_quiet() { self.quiet_looks + 1 } else { 0 };
    }

    fn rest(&self) -> Option<Rest> {
        if self.quiet_looks >= QUIET_LOOKS {
            Some(Rest::Settled)
        } else if self.changed_at.elapsed() >= UNCHANGED_MAX {
            Some(Rest::Retrying)
        } else {
            None
        }
    }
}

async fn follow(
    arguments: &ServeArguments,
    world: &World,
    reporter: &mut Reporter,
    ends: &mut Ends,
) -> anyhow::Result<ExitCode> {
    let mut watch = Watch::new();
    let mut looks = tokio::time::interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            signal = ends.next() => {
                reporter.remark(&format!("{signal}: ended, and everything with it")).context(UNWRITTEN)?;
                let unfinished = arguments.once;
                return Ok(if unfinished { ExitCode::FAILURE } else { ExitCode::SUCCESS });
            }
            _ = looks.tick() => {}
        }
        watch.look(world);
        if !watch.reported && (watch.turned || reporter.is_live()) {
            let calls = Calls::of(&world.cloudflare);
            reporter.progress(&watch.rows, calls, watch.busy_since.elapsed()).context(UNWRITTEN)?;
        }
        if arguments.once {
            let is_late = watch.busy_since.elapsed() >= arguments.timeout;
            let settled = watch.rest() == Some(Rest::Settled);
            if settled || is_late {
                let rest = if settled { Rest::Settled } else { Rest::Retrying };
                reporter.rest(rest, &watch.rows, &world.cloudflare).context(UNWRITTEN)?;
                return verdict(&watch.rows);
            }
        } else if let Some(rest) = watch.rest().filter(|_| !watch.reported && !arguments.no_operator) {
            reporter.rest(rest, &watch.rows, &world.cloudflare).context(UNWRITTEN)?;
            watch.reported = true;
        }
    }
}

/// Success when every object is Ready.
fn verdict(rows: &[Row]) -> anyhow::Result<ExitCode> {
    let unready: Vec<String> = rows.iter().filter(|row| !row.is_ready()).map(Row::sentence).collect();
    if unready.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    bail!("{} of {} objects are not Ready:\n{}", unready.len(), rows.len(), unready.join("\n"))
}

#[cfg(test)]
mod tests {
    use sandbox::cloudflare::Plan;

    use super::*;
    use crate::scenario::simulate;

    fn world() -> World {
        World::new(Options { empty: true, ..Options::default() }).unwrap()
    }

    /// What a user has: an account and a token of their own, in a namespace that something else makes.
    const OWN: &str = "
apiVersion: v1
kind: Secret
metadata: {name: token, namespace: app}
stringData: {TOKEN: a-token-of-my-own}
---
apiVersion: kflare.dev/v1alpha1
kind: CloudflareAccount
metadata: {name: prod}
spec:
  accountID: fedcba9876543210fedcba9876543210
  tokenSecretRef: {name: token, namespace: app, key: TOKEN}
---
apiVersion: kflare.dev/v1alpha1
kind: Zone
metadata: {name: org, namespace: app}
spec: {name: example.org, accountRef: {name: prod}}
---
apiVersion: kflare.dev/v1alpha1
kind: DNSRecord
metadata: {name: www, namespace: app}
spec: {zoneRef: {name: org}, name: www, type: A, content: 192.0.2.1}
";

    #[test]
    fn any_manifest_works_as_it_is() {
        let rows = simulate(async {
            let mut world = world();
            let manifests = manifest::parse("own.yaml", OWN).unwrap();
            registration::register(&world.cloudflare, &manifests, Plan::Pro);
            apply(&world, &manifests, &Progress::default()).unwrap();
            world.start();
            world.settle().await;
            assert_eq!(world.cloudflare.zones()[0]["plan"]["legacy_id"], "pro");
            row::all(&world)
        });
        let rows = rows.unwrap();
        assert_eq!(rows.len(), 3);
        assert!(verdict(&rows).is_ok(), "{rows:#?}");
    }

    #[test]
    fn the_token_of_the_samples_is_not_to_blame_for_an_account_that_does_not_exist() {
        let condition = simulate(async {
            let mut world = world();
            let mut manifests = manifest::samples().unwrap();
            registration::register(&world.cloudflare, &manifests, Plan::Free);
            registration::replace_placeholder(&mut manifests);
            apply(&world, &manifests, &Progress::default()).unwrap();
            let account = manifests.iter().find(|manifest| manifest.object["kind"] == "CloudflareAccount");
            let mut wrong = account.unwrap().object.clone();
            wrong["metadata"]["name"] = json!("wrong");
            wrong["spec"]["accountID"] = json!("11111111111111111111111111111111");
            world.kubernetes.apply(wrong).unwrap();
            world.start();
            world.settle().await;
            let of =
                |name: &str| world.kubernetes.get("CloudflareAccount", None, name).unwrap()["status"].clone();
            (of("main")["conditions"][0].clone(), of("wrong")["conditions"][0].clone())
        });
        let (right, wrong) = condition.unwrap();
        assert_eq!(right["status"], "True", "{right}");
        assert_eq!(wrong["status"], "False", "{wrong}");
        assert!(!wrong["message"].as_str().unwrap().contains("placeholder"), "{wrong}");
    }

    #[test]
    fn what_is_refused_is_named_with_its_place() {
        let text = format!("{OWN}---\napiVersion: v1\nkind: Sekret\nmetadata: {{name: x}}\n");
        let text = text.replace("content: 192.0.2.1", "content: 192.0.2.1, tll: 300");
        let refused = simulate(async {
            apply(&world(), &manifest::parse("own.yaml", &text).unwrap(), &Progress::default())
        });
        let refused = refused.unwrap().unwrap_err().to_string();
        let lines: Vec<_> = refused.lines().collect();
        assert_eq!(lines.len(), 2, "{refused}");
        assert_eq!(
            lines[0],
            "own.yaml: document 4 (line 22): DNSRecord app/www: unknown field spec.tll; did you mean ttl?"
        );
        assert_eq!(lines[1], "own.yaml: document 5 (line 25): there is no kind Sekret in v1 here");
    }

    #[test]
    fn what_is_not_ready_is_listed_with_its_reason() {
        let rows = simulate(async {
            let mut world = world();
            let orphan = OWN.split("---").last().unwrap_or_default();
            apply(&world, &manifest::parse("own.yaml", orphan).unwrap(), &Progress::default()).unwrap();
            world.start();
            world.settle().await;
            row::all(&world)
        });
        let error = verdict(&rows.unwrap()).unwrap_err().to_string();
        assert_eq!(
            error,
            "1 of 1 objects are not Ready:\nDNSRecord app/www: Ready=False ZoneNotFound: Zone app/org does not exist: \
             create it, or correct spec.zoneRef"
        );
    }
}
