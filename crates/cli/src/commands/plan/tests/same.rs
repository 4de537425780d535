//! What a plan says is what a run then does: over worlds drawn from seeds, the requests that the plan shows and those
//! that the operator sends from the same state are compared one by one. Then a second plan finds nothing to do.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use operator::{Operator, Transport};
use plan::predict::stand_in;
use plan::{Act, Request as Asked};
use serde_json::Value;
use tower::ServiceExt;
use tower::util::BoxCloneSyncService;

use super::*;
use crate::scenario::{Mode, Runner, Script, simulate};
use crate::simulation::draw;

/// Worlds that are compared. Each takes up to 0.2 s.
const SEEDS: u64 = 60;

/// Virtual time for a run: back-offs are done, and what is looked at again is.
const RUN: Duration = Duration::from_secs(400);

/// What makes the two differ for good reasons: what fails, what is late, and what restarts in the middle.
const APART: &[&str] = &["fault", "crash", "start", "jump", "advance"];

type Sent = Arc<Mutex<Vec<String>>>;

#[test]
fn what_a_plan_says_is_what_a_run_then_does() {
    let (mut writes, mut refused) = (0, 0);
    for seed in 0..SEEDS {
        match simulate(compare(seed)).unwrap() {
            Ok(Compared::Same(count)) => writes += count,
            Ok(Compared::Refused) => refused += 1,
            Err(problem) => panic!("seed {seed}: {problem}"),
        }
    }
    assert!(writes > SEEDS, "the worlds are too quiet: {writes} writes");
    assert!(refused * 5 < SEEDS, "too many worlds are not compared: {refused}");
}

#[test]
fn a_tree_from_nothing_is_made_as_it_was_planned() {
    in_world(Options { empty: true, ..Options::default() }, async |world| {
        let tree = output::account()
            + &output::ZONE.replace("accountRef", "plan: pro, accountRef")
            + &output::record("www", "type: A, content: 192.0.2.1, comment: mine, tags: [a:b]")
            + &output::record("txt", "type: TXT, content: \"some text\"");
        let tree: Vec<Value> =
            manifest::parse("a.yaml", &tree).unwrap().into_iter().map(|manifest| manifest.object).collect();
        match same(world, &tree).await {
            // Zone, its plan, two records; finalizer and claim of each object, marks, and the Secret.
            Ok(Compared::Same(requests)) => assert_eq!(requests, 12),
            Ok(Compared::Refused) => panic!("refused"),
            Err(problem) => panic!("{problem}"),
        }
    });
}

/// What came of a comparison.
enum Compared {
    /// So many requests are the same.
    Same(u64),
    /// The manifests or the writes were refused.
    Refused,
}

/// One world.
async fn compare(seed: u64) -> Result<Compared, String> {
    let (runner, withheld) = lived(seed).await?;
    same(&runner.world, &withheld).await
}

/// Compares plan and run of manifests that are not applied yet, and of whatever else there is to do.
async fn same(world: &World, withheld: &[Value]) -> Result<Compared, String> {
    let question: String = withheld.iter().map(|object| format!("{object}\n---\n")).collect();
    let planned = match ask(world, Ask { all: true, ..Ask::apply(&question) }).await {
        Ok(planned) => planned,
        Err(refused) => {
            let applied =
                withheld.iter().try_for_each(|object| world.kubernetes.apply(object.clone()).map(drop));
            return applied
                .err()
                .map(|_| Compared::Refused)
                .ok_or_else(|| format!("the plan is refused, the manifests are not: {refused}"));
        }
    };
    for object in withheld {
        world.kubernetes.apply(object.clone()).map_err(|status| status.message)?;
    }
    let before = world.cloudflare.log().lines().len();
    let sent = carried_out(world).await;
    let lines = world.cloudflare.log().lines();
    if lines[before..].iter().any(|line| line.method != "GET" && line.status >= 400) {
        // What Cloudflare refuses nobody can foresee: a delete of what somebody else has deleted already.
        return Ok(Compared::Refused);
    }
    let mut expected: Vec<String> = planned.acts.iter().flat_map(|act| single(&line(act))).collect();
    let sent = sent.iter().flat_map(|line| single(line));
    let mut found: Vec<String> = sent.map(|line| known(&planned, world, line)).collect();
    expected.sort();
    found.sort();
    if expected != found {
        let missing: Vec<_> = expected.iter().filter(|line| !found.contains(line)).collect();
        let extra: Vec<_> = found.iter().filter(|line| !expected.contains(line)).collect();
        return Err(format!(
            "planned and not sent: {missing:#?}\nsent and not planned: {extra:#?}\n{}",
            text::render(&planned, Style::default())
        ));
    }
    let again = ask(world, Ask { all: true, ..Ask::apply("") }).await.map_err(|error| error.to_string())?;
    if again.acts.is_empty() {
        Ok(Compared::Same(found.len() as u64))
    } else {
        Err(text::render(&again, Style { colour: false, verbose: true }))
    }
}

/// A world after some of what its seed drew, and the manifests that are not applied yet.
async fn lived(seed: u64) -> Result<(Runner, Vec<Value>), String> {
    let drawn = draw(seed);
    let keeps = |word: &&str| !word.starts_with("cf.lag") && !word.starts_with("election");
    let setup = drawn.world.split(' ').filter(keeps).collect::<Vec<_>>().join(" ");
    let lines = drawn.lines.into_iter().filter(|line| !APART.iter().any(|word| line.starts_with(word)));
    let lines: Vec<String> = std::iter::once(setup).chain(lines).collect();
    let script = Script::parse(&format!("seed {seed}"), Path::new(""), &lines.join("\n"));
    let script = script.map_err(|error| error.to_string())?;
    let steps = script.steps.clone();
    let cut = usize::try_from(seed).unwrap_or(0) * 7 % (steps.len() + 1);
    let mut runner = Runner::new(script, Mode { seed, lenient: true, ..Mode::default() })
        .map_err(|error| error.to_string())?;
    let mut withheld: Vec<Value> = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        if index == cut {
            runner.world.settle().await;
            runner.world.crash();
        }
        let manifest =
            step.text.strip_prefix("apply ").and_then(|text| serde_json::from_str::<Value>(text).ok());
        match manifest.filter(|_| index >= cut) {
            Some(object) => {
                withheld.retain(|other| name(other) != name(&object) || other["kind"] != object["kind"]);
                withheld.push(object);
            }
            // What happens to an object after its manifest is applied is for the time after the plan.
            None if withheld.iter().any(|object| step.text.contains(&format!("/{} ", name(object)))) => {}
            None => runner.step(step).await.map_err(|failure| failure.to_string())?,
        }
    }
    if runner.world.is_running() {
        runner.world.settle().await;
        runner.world.crash();
    }
    // Namespaces come first in a plan, too.
    withheld.sort_by_key(|object| object["kind"] != "Namespace");
    Ok((runner, withheld))
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}

/// What a new operator sends from here on until it is at rest: writes to Cloudflare and patches of objects.
async fn carried_out(world: &World) -> Vec<String> {
    let sent = Sent::default();
    let (log, service) = (Arc::clone(&sent), world.kubernetes.service());
    let (open, opened) = tokio::sync::watch::channel(false);
    let kubernetes = tower::service_fn(move |request: Request<kube::client::Body>| {
        let (log, service, mut opened) = (Arc::clone(&log), service.clone(), opened.clone());
        async move {
            opened.wait_for(|opened| *opened).await?;
            let (head, body) = request.into_parts();
            let body = body.collect_bytes().await?;
            let path = head.uri.path();
            if head.method == http::Method::PATCH && !path.ends_with("/status") {
                log.lock().unwrap().push(patch(path, &body));
            }
            let request = Request::from_parts(head, kube::client::Body::from(body));
            service.oneshot(request).await.map_err(tower::BoxError::from)
        }
    });
    let (_, inner, config) = world.ways();
    // What an election writes, and when drift is looked for, no plan shows.
    let config = Config { leader: None, drift_check_interval: None, ..config };
    let log = Arc::clone(&sent);
    let cloudflare: Transport =
        BoxCloneSyncService::new(tower::service_fn(move |request: Request<Bytes>| {
            if request.method() != http::Method::GET {
                let body: Value = serde_json::from_slice(request.body()).unwrap_or_default();
                log.lock().unwrap().push(format!("{} {} {body}", request.method(), request.uri()));
            }
            inner.clone().oneshot(request)
        }));
    let operator = Operator::start(kube::Client::new(kubernetes, "default"), cloudflare, config);
    // A plan is that of an operator which has led for a while: in its first minute it believes no absence.
    while operator.shared().lock().since.take().is_none() {
        tokio::task::yield_now().await;
    }
    open.send_replace(true);
    tokio::time::sleep(RUN).await;
    drop(operator);
    let sent = sent.lock().unwrap();
    sent.clone()
}

/// A patch without the versions and times that only the API server and the clock know.
fn patch(path: &str, body: &[u8]) -> String {
    let mut body: Value = serde_json::from_slice(body).unwrap_or_default();
    let mut parts = path.rsplit('/');
    let (name, plural) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    timeless(&mut body, plural);
    format!("PATCH {plural} {name} {body}")
}

fn timeless(body: &mut Value, plural: &str) {
    let Some(metadata) = body["metadata"].as_object_mut() else { return };
    metadata.remove("resourceVersion");
    if plural == "secrets" {
        metadata.remove("uid");
    }
    let mark = metadata.get_mut("annotations").and_then(|all| all.get_mut(kinds::names::CREATING));
    if let Some(mark) = mark
        && let Some(text) = mark.as_str()
    {
        *mark = text.split(" until ").next().unwrap_or_default().into();
    }
}

/// An act as the recorder would write it.
fn line(act: &Act) -> String {
    match &act.request {
        Asked::Cloudflare { call, .. } => {
            format!("{} {} {}", call.method, call.uri(), call.body.clone().unwrap_or_default())
        }
        Asked::Kubernetes(asked) => {
            let plural = match asked.target {
                plan::act::Target::Kind(name) => kinds::kind(name).map_or("", |kind| kind.plural),
                plan::act::Target::Secret => "secrets",
            };
            patch(&format!("{plural}/{}", asked.key.name), asked.body.to_string().as_bytes())
        }
    }
}

/// The requests of a batch one by one: who rides together depends on who was ready first.
fn single(line: &str) -> Vec<String> {
    let batch = line.split_once("/batch ").and_then(|(path, body)| {
        let body: Value = serde_json::from_str(body).ok()?;
        Some((path.strip_prefix("POST ")?.to_owned(), body))
    });
    let Some((path, body)) = batch else { return vec![line.to_owned()] };
    let part = |method: &str, mut part: Value| match part.as_object_mut().and_then(|part| part.remove("id")) {
        Some(id) if method == "DELETE" => format!("{method} {path}/{} null", id.as_str().unwrap_or_default()),
        Some(id) => format!("{method} {path}/{} {part}", id.as_str().unwrap_or_default()),
        None => format!("{method} {path} {part}"),
    };
    let parts = [("posts", "POST"), ("patches", "PATCH"), ("puts", "PUT"), ("deletes", "DELETE")];
    let all = parts.iter().flat_map(|(name, method)| {
        body[*name].as_array().into_iter().flatten().map(|entry| part(method, entry.clone()))
    });
    all.collect()
}

/// A recorded request with stand-ins for the IDs that were not known before.
fn known(planned: &Findings, world: &World, mut line: String) -> String {
    for object in &planned.objects {
        let member = &object.member;
        let Some(kind) = kinds::kind(member.kind) else { continue };
        let namespace = Some(member.key.namespace.as_str()).filter(|namespace| !namespace.is_empty());
        let Some(stored) = world.kubernetes.get(member.kind, namespace, &member.key.name) else { continue };
        let is_new = planned.acts.iter().any(|act| act_names(act, &stand_in(member)));
        let made = object.has(|deed| matches!(deed, finding::Deed::Create(_)));
        let resource: kinds::Resource = serde_json::from_value(stored).unwrap_or_default();
        if is_new {
            line = line.replace(&resource.metadata.uid, &stand_in(member));
        }
        if let Some(id) = kind.external_id(&resource).filter(|_| made) {
            line = line.replace(id, &stand_in(member));
        }
    }
    line
}

fn act_names(act: &Act, uid: &str) -> bool {
    matches!(&act.request, Asked::Kubernetes(patch) if patch.body["metadata"]["uid"] == uid)
}
