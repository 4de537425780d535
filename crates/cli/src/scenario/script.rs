//! A scenario as data: what each line says. Reading lines is `parse`, doing what they say is `run`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use sandbox::fault::Fault;
use serde_json::Value;

use crate::world::{CrashPoint, ResourceType, Side};

/// A scenario.
#[derive(Clone, Debug)]
pub struct Script {
    /// How it is called in messages: the file's name.
    pub name: String,
    /// Where the files that it applies lie.
    pub folder: PathBuf,
    /// What the world is like at the start.
    pub setup: Setup,
    /// The line that says so, with its number; none when the world is the usual one.
    pub world: Option<(usize, String)>,
    /// Why it cannot be run beside a real API server, in real time.
    pub only_virtual: Option<String>,
    /// Why a crash at any of its writes may change its end.
    pub unswept: Option<String>,
    /// What happens.
    pub steps: Vec<Step>,
}

impl Script {
    /// True when it says itself when the operator dies or is started.
    #[must_use]
    pub fn orders_crashes(&self) -> bool {
        self.steps.iter().any(|step| matches!(step.command, Command::Crash(_) | Command::Start))
    }
}

/// One line.
#[derive(Clone, Debug)]
pub struct Step {
    /// Counted from 1.
    pub line: usize,
    /// The line without its comment.
    pub text: String,
    /// What it says.
    pub command: Command,
}

/// What the `world` line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Without the token Secret and the CloudflareAccount `main`.
    pub empty: bool,
    /// The operator's drift check interval.
    pub drift: Option<Duration>,
    /// What happens without a `deletion-policy` annotation: retain (true) or delete.
    pub retain: bool,
    /// The operator elects a leader, so it writes a Lease.
    pub election: bool,
    /// Operators that run beside each other, of which one leads.
    pub replicas: u8,
    /// The scenario is run again with a crash at each write; off where it orders its own.
    pub sweep: bool,
    /// Switches of the Cloudflare side, by name.
    pub switches: BTreeMap<String, String>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            empty: false,
            drift: None,
            retain: false,
            election: false,
            replicas: 1,
            sweep: true,
            switches: BTreeMap::new(),
        }
    }
}

/// An object in Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectName {
    /// Its resource.
    pub resource: &'static ResourceType,
    /// Empty for cluster-wide objects.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// DNS records of one name, and perhaps of one type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordName {
    /// Full, perhaps with a final dot, or below the only zone; `@` is that zone itself.
    pub name: String,
    /// Absent: any type.
    pub kind: Option<String>,
}

/// Where in an object a record's ID is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pointing {
    /// An annotation with this key.
    Annotation(String),
    /// A label with this key.
    Label(String),
}

/// One command.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Creates or replaces the objects of these files.
    Apply(Vec<String>),
    /// Creates or replaces this object.
    ApplyInline(Value),
    /// Asks for an object's deletion.
    Delete(ObjectName),
    /// Runs until no work is due; perhaps with so many writes to Cloudflare.
    Settle {
        /// Writes that must reach Cloudflare.
        writes: Option<u64>,
    },
    /// Changes Cloudflare behind kflare's back.
    Cloudflare(CloudflareEdit),
    /// Arms a fault.
    Fault(FaultOrder),
    /// Disarms all faults.
    FaultClear,
    /// Kills the operator: now, or at its n-th write from now on.
    Crash(Option<CrashPoint>),
    /// Starts an operator.
    Start,
    /// A merge patch of an object.
    Patch(ObjectName, Value),
    /// A merge patch of an object's status.
    PatchStatus(ObjectName, Value),
    /// Sets an annotation or a label to the ID of a record in Cloudflare.
    Point(ObjectName, Pointing, RecordName),
    /// Sets or, without a value, removes an annotation.
    Annotate(ObjectName, String, Option<String>),
    /// Lets time pass.
    Advance(Duration),
    /// Sets the clock of the operator's machine by hand.
    Jump {
        /// How far.
        by: Duration,
        /// Back instead of forward.
        back: bool,
    },
    /// Forgets the events of the Kubernetes API, as a compaction does.
    Compact,
    /// Prints what the operator would do for an object now, and for what hangs together with it.
    Plan(ObjectName),
    /// Checks something.
    Expect(Expectation),
}

/// A change behind kflare's back.
#[derive(Clone, Debug, PartialEq)]
pub enum CloudflareEdit {
    /// A record of somebody else.
    CreateRecord(RecordName, BTreeMap<String, Value>),
    /// Fields of all records of a name and type.
    SetRecord(RecordName, BTreeMap<String, Value>),
    /// Deletes all records of a name and type.
    DeleteRecord(RecordName),
    /// A zone of somebody else.
    CreateZone(String, BTreeMap<String, Value>),
    /// `status` or `plan` of a zone.
    SetZone(String, BTreeMap<String, Value>),
    /// Deletes a zone.
    DeleteZone(String),
    /// Makes an API token with this secret, or changes what it may do: all, but for the given `permissions`, `zone` or
    /// `owner`.
    IssueToken(String, BTreeMap<String, Value>),
    /// The status of a token: active, disabled, expired; absent for the first token.
    TokenStatus(Option<String>, String),
    /// The only permissions of the first token.
    TokenPermissions(Vec<String>),
}

/// A fault and whom it hits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultOrder {
    /// Whose requests.
    pub side: Side,
    /// What goes wrong.
    pub fault: Fault,
    /// How many requests are hit.
    pub times: u32,
    /// Only requests with this method.
    pub method: Option<String>,
    /// Only paths with this in them.
    pub path: Option<String>,
    /// Matching requests that pass before.
    pub after: u32,
}

/// What must be so.
#[derive(Clone, Debug, PartialEq)]
pub enum Expectation {
    /// The Ready condition of an object.
    Ready {
        /// Which.
        object: ObjectName,
        /// `True`, `False` or `Unknown`.
        status: String,
        /// The reason, if it matters.
        reason: Option<String>,
        /// A part of the message.
        message: Option<String>,
    },
    /// The object does not exist, or (false) exists.
    Gone(ObjectName, bool),
    /// A field by JSON pointer has this value; none: it is absent.
    Field(ObjectName, String, Option<Value>),
    /// Records in Cloudflare: how many, each with these fields.
    Record {
        /// Which.
        record: RecordName,
        /// How many; absent: at least one.
        count: Option<usize>,
        /// What each holds.
        fields: BTreeMap<String, Value>,
    },
    /// Zones in Cloudflare of this name.
    Zone {
        /// Its name.
        name: String,
        /// How many; absent: at least one.
        count: Option<usize>,
        /// What each holds.
        fields: BTreeMap<String, Value>,
    },
    /// Requests of the operator during the last `settle` or `advance`.
    Calls {
        /// The method.
        method: String,
        /// The route with placeholders.
        route: String,
        /// How many.
        count: u64,
    },
    /// Writes during the last `settle` or `advance`.
    Writes(Side, u64),
    /// Events with this reason about an object.
    Events(ObjectName, String, usize),
    /// No object carries a finalizer of kflare.
    NoFinalizers,
}
