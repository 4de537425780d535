//! Worlds in which what others write is hostile: answers of Cloudflare, manifests, Secrets. Whatever it is, no pass panics,
//! every object says what is the matter, and nothing that people are shown steers a terminal or has no bound.
//! That no token is shown is for `secrets`; inputs that nobody thought of are for `cargo xtask fuzz`.

mod answers;
mod manifests;
mod tokens;

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cli::commands::log::{self, Format, Level};
use cli::scenario::simulate;
use cli::terminal::steers;
use cli::world::{Options, World};
use operator::Operator;
use operator::transport::Transport;
use serde_json::{Value, json};

/// What a terminal would obey: colours, its title, lines, NUL, the direction of writing, the one-byte form of an escape.
const STEERING: &str =
    "\u{1b}[31mred\u{1b}]0;title\u{7}\r\nsecond\0\u{202e}esrever\u{2066}\u{2028}\u{9b}1mend";
/// How long a world goes on: past every first back-off.
const WHILE: Duration = Duration::from_secs(900);

/// Kubernetes: bytes of an Event's note, and characters of a condition's message.
const NOTE_BYTES: usize = 1_024;
const MESSAGE_CHARACTERS: usize = 32_768;
/// Kubernetes: bytes of the annotations of one object.
const ANNOTATION_BYTES: usize = 256 * 1_024;
/// A line of a log, its longest part a message of a condition.
const LINE_BYTES: usize = 16 * 1_024;
/// A quarter of an hour of a handful of objects.
const LOG_BYTES: usize = 1_024 * 1_024;
const EVENTS: usize = 40;

/// What a world showed to people.
pub(crate) struct Shown {
    objects: Vec<(&'static str, Value)>,
    events: Vec<Value>,
    metrics: String,
    log: String,
}

/// Lines of a log.
#[derive(Clone, Debug, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Does something and gives what is logged meanwhile, as `kflare run` logs it.
fn logged<T>(level: Level, format: Format, work: impl FnOnce() -> T) -> (T, String) {
    let lines = Lines::default();
    let writer = lines.clone();
    // As long as there is one subscriber alone, tracing asks whichever thread comes to a line first whether it has any.
    let _second = tracing::Dispatch::new(tracing::subscriber::NoSubscriber::default());
    let done = tracing::dispatcher::with_default(&log::to(level, format, move || writer.clone()), work);
    let log = String::from_utf8(lines.0.lock().unwrap().clone()).expect("a log is text");
    (done, log)
}

/// Runs an operator over this way to Cloudflare in a world with these objects. What the API server refuses of them is not
/// there; how many it took is what comes first.
fn watched(format: Format, objects: &[Value], way: impl FnOnce(Transport) -> Transport) -> (usize, Shown) {
    observed(Level::Debug, format, objects, way)
}

/// The same with a log of this level.
pub(crate) fn observed(
    level: Level,
    format: Format,
    objects: &[Value],
    way: impl FnOnce(Transport) -> Transport,
) -> (usize, Shown) {
    let ((taken, mut shown), log) = logged(level, format, || {
        simulate(async {
            let world = World::new(Options::default()).unwrap();
            let taken = objects.iter().filter(|object| is_taken(&world, object)).count();
            let (client, transport, mut config) = world.ways();
            config.drift_check_interval = Some(Duration::from_secs(300));
            let operator = Operator::start(client, way(transport), config);
            tokio::time::sleep(WHILE).await;
            let events = world.kubernetes.list("Event");
            let (objects, metrics) = (world.resources(), operator.metrics().text());
            (taken, Shown { objects, events, metrics, log: String::new() })
        })
        .unwrap()
    });
    shown.log = log;
    (taken, shown)
}

/// Writes an object, as kubectl would unless it is the Secret that is there.
fn is_taken(world: &World, object: &Value) -> bool {
    if object["kind"] != "Secret" {
        return world.kubernetes.apply(object.clone()).is_ok();
    }
    let word = |field: &str| object["metadata"][field].as_str().unwrap();
    let data = json!({"data": object["data"]});
    world.kubernetes.patch("Secret", Some(word("namespace")), word("name"), data).is_ok()
}

impl Shown {
    /// Everything that must hold of it, with the case that it is about.
    fn is_fit(&self, case: &str) {
        for (kind, object) in &self.objects {
            let name = format!("{case}: {kind} {}", object["metadata"]["name"]);
            self.speaks(&name, object);
        }
        assert!(self.events.len() <= EVENTS, "{case}: {} Events", self.events.len());
        for event in &self.events {
            let note = event["message"].as_str().unwrap_or_default();
            assert!(note.len() <= NOTE_BYTES, "{case}: a note of {} bytes", note.len());
            is_harmless(&format!("{case}: an Event"), &text_of(event));
        }
        assert!(self.log.len() <= LOG_BYTES, "{case}: a log of {} bytes", self.log.len());
        for line in self.log.split('\n') {
            assert!(line.len() <= LINE_BYTES, "{case}: a line of {} bytes: {line:.400}", line.len());
            is_harmless(&format!("{case}: a log"), line);
        }
        is_harmless(&format!("{case}: metrics"), &self.metrics.replace('\n', ""));
        let panicked =
            self.metrics.lines().filter(|line| line.contains("_panics_total{") && !line.ends_with(" 0"));
        assert_eq!(panicked.collect::<Vec<_>>(), [""; 0], "{case}: {}", self.log);
        assert!(!self.log.contains("panicked"), "{case}: {}", self.log);
    }

    /// An object says what is the matter with it.
    fn speaks(&self, name: &str, object: &Value) {
        let conditions = object["status"]["conditions"].as_array().map(Vec::as_slice).unwrap_or_default();
        let ready = conditions.iter().find(|condition| condition["type"] == "Ready");
        let ready = ready.unwrap_or_else(|| panic!("{name} says nothing: {}", self.log));
        let word = |field: &str| ready[field].as_str().unwrap_or_default();
        let known = kinds::Reason::ALL.iter().any(|reason| reason.name() == word("reason"));
        assert!(known && !word("message").is_empty(), "{name}: {ready}");
        assert!(word("message").chars().count() <= MESSAGE_CHARACTERS, "{name}: {ready}");
        is_harmless(&format!("{name}: its status"), &text_of(&object["status"]));
        let annotations = object["metadata"]["annotations"].as_object();
        let bytes: usize = annotations
            .into_iter()
            .flatten()
            .map(|(key, value)| key.len() + value.as_str().unwrap_or_default().len())
            .sum();
        assert!(bytes <= ANNOTATION_BYTES, "{name}: {bytes} bytes of annotations");
    }

    /// Everything that people are shown, with where.
    pub(crate) fn places(&self) -> impl Iterator<Item = (String, String)> {
        let objects = self.objects.iter().map(|(kind, object)| ((*kind).to_owned(), text_of(object)));
        let events = self.events.iter().map(|event| ("an Event".to_owned(), text_of(event)));
        let rest = [("the metrics", &self.metrics), ("the log", &self.log)];
        objects.chain(events).chain(rest.map(|(place, text)| (place.to_owned(), text.clone())))
    }

    /// The reason and the message of an object's Ready condition.
    pub(crate) fn ready(&self, kind: &str, name: &str) -> (&str, &str) {
        let found =
            self.objects.iter().find(|(of, object)| *of == kind && object["metadata"]["name"] == name);
        let conditions = &found.unwrap().1["status"]["conditions"];
        let ready =
            conditions.as_array().unwrap().iter().find(|condition| condition["type"] == "Ready").unwrap();
        (ready["reason"].as_str().unwrap(), ready["message"].as_str().unwrap())
    }
}

/// All texts of a value, unescaped.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(text_of).collect::<Vec<_>>().join(" "),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| format!("{name} {}", text_of(value)))
            .collect::<Vec<_>>()
            .join(" "),
        other => other.to_string(),
    }
}

#[track_caller]
fn is_harmless(place: &str, text: &str) {
    if let Some(at) = text.find(steers) {
        let shown: String = text[at..].chars().take(60).collect();
        panic!("{place} steers a terminal with {shown:?}");
    }
}

fn object(kind: &str, name: &str, spec: Value) -> Value {
    json!({
        "apiVersion": "kflare.dev/v1alpha1", "kind": kind, "metadata": {"name": name, "namespace": "default"}, "spec": spec,
    })
}

pub(crate) fn zone() -> Value {
    object("Zone", "example-com", json!({"name": "example.com", "accountRef": {"name": "main"}}))
}

pub(crate) fn record(name: &str, content: &str) -> Value {
    let spec = json!({"zoneRef": {"name": "example-com"}, "name": name, "type": "A", "content": content});
    object("DNSRecord", name, spec)
}
