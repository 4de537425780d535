//! Thousands of records in bad weather: one request in twenty fails, Cloudflare blocks for five minutes, it is away for an
//! hour, the API server restarts. No change is lost, no storm comes of it, nothing grows, and all is done in the time that
//! can be computed. What the weathers are is in `weather`, what stands afterwards is looked at by `judge`.

mod judge;
mod weather;

use std::collections::BTreeMap;
use std::time::Duration;

use cf_api::limits::OWN_LIMIT;
use kinds::names;
use sandbox::cloudflare::{ChangeKind, Plan};
use sandbox::fault::{Fault, Faults};
use sandbox::kubernetes::Status;
use serde_json::{Value, json};

use super::object::is_ready;
use crate::scenario::simulate;
use crate::usage::{self, Usage};
use crate::world::{ACCOUNT_ID, Options, Side, World};

/// Fewer than these fit into a pass, and not every kind of fault would hit one.
pub const RECORDS_MIN: u32 = 1_000;
/// What is promised. More would outlast the faults that are armed.
pub const RECORDS_MAX: u32 = 10_000;

/// One of these is edited in each weather.
const EDITED: usize = 10;
const KIND: &str = "DNSRecord";
const NAMESPACE: &str = "default";
const ZONE: &str = "example-com";
const DOMAIN: &str = "example.com";
/// Between two looks whether a weather is over.
const LOOK: Duration = Duration::from_secs(30);
/// Virtual time in which a world at rest must write nothing.
const IDLE: Duration = Duration::from_secs(600);

/// Why there was no run.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// No runtime.
    #[error("cannot start a runtime")]
    Runtime(#[source] std::io::Error),
    /// The world could not be made, or not be changed.
    #[error("the sandbox refuses an object of the load")]
    Refused(#[from] Status),
}

/// What is to be run.
#[derive(Clone, Copy, Debug)]
pub struct LoadOrder {
    /// Records.
    pub records: u32,
    /// Nothing else goes on in this process, so that its memory is the run's.
    pub is_alone: bool,
}

/// What a run was like.
#[derive(Clone, Debug, Default)]
pub struct LoadRun {
    /// What is broken, in words; nothing when all is well.
    pub broken: Vec<String>,
    /// Calls to Cloudflare.
    pub calls: u64,
    /// The most of them in any window of Cloudflare's limit, those that were refused included.
    pub most_calls: usize,
    /// Requests to Kubernetes.
    pub requests: u64,
    /// To how many requests each fault did something, by whose they were.
    pub hits: BTreeMap<(Side, Fault), u32>,
    /// How each weather ended.
    pub calms: Vec<Calm>,
}

/// How a weather ended.
#[derive(Clone, Debug)]
pub struct Calm {
    /// The weather.
    pub weather: &'static str,
    /// Records that were not Ready when it was over.
    pub waiting: usize,
    /// Virtual time until all was Ready and right, to the next half minute; none when it never was.
    pub after: Option<Duration>,
    /// Memory of the whole process, where it was looked at.
    pub memory: Option<Usage>,
}

/// What is told on the way.
#[derive(Debug)]
pub enum Told<'t> {
    /// What goes on now.
    Doing(String),
    /// A weather is over.
    Calm(&'t Calm),
}

/// Runs every weather in a row. Takes a minute or so in a release build with as many records as are promised.
pub fn run_load(order: LoadOrder, tell: &dyn Fn(Told<'_>)) -> Result<LoadRun, LoadError> {
    let live = async {
        let mut load = Load::begin(order, tell).await?;
        load.drizzle().await?;
        load.calm("one request in twenty fails", 1).await;
        load.expect(load.changes(ChangeKind::Create) == load.count, || {
            "not each record was made once".to_owned()
        });
        load.block().await?;
        load.calm("a block of five minutes", 2).await;
        load.outage().await?;
        load.calm("an hour without Cloudflare", 4).await;
        load.restart().await?;
        load.calm("the API server starts anew", 6).await;
        Ok(load.end())
    };
    simulate(live).map_err(LoadError::Runtime)?
}

/// A run that goes on.
struct Load<'t> {
    world: World,
    zone: String,
    count: usize,
    is_alone: bool,
    tell: &'t dyn Fn(Told<'_>),
    run: LoadRun,
}

impl<'t> Load<'t> {
    /// A running world with an active zone that has room for all.
    async fn begin(order: LoadOrder, tell: &'t dyn Fn(Told<'_>)) -> Result<Self, LoadError> {
        let mut world = World::new(Options::default())?;
        let zone = world.cloudflare.add_zone(ACCOUNT_ID, DOMAIN, Plan::Pro);
        world.cloudflare.activate_zone(&zone);
        let count = usize::try_from(order.records).unwrap_or(usize::MAX);
        let mut switches = world.cloudflare.switches();
        switches.record_quota = Some(count);
        world.cloudflare.set_switches(switches);
        let mut object = resource("Zone", ZONE, &json!({ "name": DOMAIN, "accountRef": { "name": "main" } }));
        object["metadata"]["annotations"] = json!({ names::ADOPTION_POLICY: "adopt-or-create" });
        world.kubernetes.apply(object)?;
        world.start();
        world.settle().await;
        Ok(Self { world, zone, count, is_alone: order.is_alone, tell, run: LoadRun::default() })
    }

    fn doing(&self, text: &str) {
        (self.tell)(Told::Doing(format!("{} records: {text}", self.count)));
    }

    /// What must hold, or the words for what is broken.
    fn expect(&mut self, holds: bool, broken: impl FnOnce() -> String) {
        if !holds {
            self.run.broken.push(broken());
        }
    }

    fn apply_all(&self) -> Result<(), Status> {
        for n in 0..self.count {
            let spec = json!({
                "type": "A",
                "name": format!("h{n}"),
                "content": content(n, 0),
                "zoneRef": { "name": ZONE },
            });
            self.world.kubernetes.apply(resource(KIND, &format!("h{n}"), &spec))?;
        }
        Ok(())
    }

    fn edit(&self, version: usize) -> Result<(), Status> {
        for n in (0..self.count).step_by(EDITED) {
            let patch = json!({ "spec": { "content": content(n, version) } });
            self.world.kubernetes.patch(KIND, Some(NAMESPACE), &format!("h{n}"), patch)?;
        }
        Ok(())
    }

    /// The names of records that are not Ready.
    fn unready(&self) -> Vec<String> {
        let objects = self.world.kubernetes.list(KIND);
        let late = objects.iter().filter(|object| !is_ready(object));
        late.map(|object| object["metadata"]["name"].to_string()).collect()
    }

    /// All is done and right within the time that can be computed, and then nothing is written any more.
    async fn calm(&mut self, weather: &'static str, version: usize) {
        let waiting = self.unready().len();
        let within = weather::calm_within(waiting);
        let (mut passed, mut after) = (Duration::ZERO, None);
        while passed < within {
            self.doing(&format!("{weather}; {waiting} waited, {} min later", passed.as_secs() / 60));
            let step = LOOK.min(within.saturating_sub(passed));
            self.world.advance(step).await;
            passed += step;
            // Once it is calm, it stays so.
            if after.is_none() && self.unready().is_empty() && self.lost(version).is_empty() {
                after = Some(passed);
            }
        }
        let mut broken = self.lost(version);
        let late = self.unready();
        if let Some(first) = late.first() {
            broken.push(format!("{} of {waiting} still wait, first {first}", late.len()));
        }
        broken.extend(self.unbounded());
        let idle = self.world.advance(IDLE).await;
        if idle.writes.total() > 0 {
            broken.push(format!("an idle time made {:?}", idle.writes));
        }
        self.run.broken.extend(broken.into_iter().map(|broken| format!("{weather}: {broken}")));
        self.count_requests();
        let memory = self.is_alone.then(|| usage::of(std::process::id())).flatten();
        usage::forget_peak(std::process::id());
        self.run.calms.push(Calm { weather, waiting, after, memory });
        self.run.calms.last().map(Told::Calm).into_iter().for_each(self.tell);
    }

    /// What holds for all of it.
    fn end(mut self) -> LoadRun {
        let made = self.changes(ChangeKind::Create);
        self.expect(made == self.count, || "a record was made again".to_owned());
        let deleted = self.changes(ChangeKind::Delete);
        self.expect(deleted == 0, || format!("{deleted} records were deleted"));
        let most = self.run.most_calls;
        self.expect(most as u64 <= OWN_LIMIT, || format!("{most} calls to Cloudflare in five minutes"));
        let grown = judge::grown(&self.run.calms);
        self.run.broken.extend(grown);
        let sides = [
            (Side::Cloudflare, self.world.cloudflare.faults()),
            (Side::Kubernetes, self.world.kubernetes.faults()),
        ];
        self.run.hits = sides.into_iter().flat_map(|(side, faults)| hits(side, faults)).collect();
        self.run
    }
}

fn hits(side: Side, faults: &Faults) -> impl Iterator<Item = ((Side, Fault), u32)> {
    let of_kind = move |fault: Fault| ((side, fault), faults.hits(fault));
    Fault::ALL.into_iter().map(of_kind).filter(|(_, hits)| *hits > 0)
}

fn resource(kind: &str, name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": names::API_VERSION,
        "kind": kind,
        "metadata": { "name": name, "namespace": NAMESPACE },
        "spec": spec,
    })
}

fn content(n: usize, version: usize) -> String {
    format!("10.{version}.{}.{}", n / 250, n % 250)
}
