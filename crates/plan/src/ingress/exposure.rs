//! From one Ingress to what it exposes: hosts and paths, what each leads to, and what became of each path. One path's
//! failure is that path's alone; what cannot be told at all holds the whole Ingress, whose rules then stay as they are.

use std::collections::BTreeSet;
use std::fmt;

use jiff::Timestamp;
use kinds::{Key, names};
use serde_json::Value;

use super::annotations::{OriginSettings, Wishes, retains};
use super::backend::{Resolved, Services, UNAVAILABLE, Unavailable, resolve};
use super::host;
use super::notice::Notice;
use super::path::{Compiles, Path, PathRefusal};
use super::view::{Backend, Ingress, Metadata, PathEntry};

/// What an exposure is computed from, beside the Ingress.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The Services that Ingresses name.
    pub services: &'a Services,
    /// `cluster.local`, mostly.
    pub cluster_domain: &'a str,
    /// Whether connectors take an expression.
    pub compiles: Compiles<'a>,
}

/// Whose something is: older ones win.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner {
    /// When the Ingress was made.
    pub created: Timestamp,
    /// The Ingress.
    pub key: Key,
}

/// What may be done with an Ingress's part of the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is served.
    Served,
    /// It is being deleted: its rules and records go.
    Going,
    /// Its rules and records stay as they stand.
    Held(Held),
}

/// Why an Ingress is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    /// It carries `kflare.dev/paused: "true"`.
    Paused,
    /// It has a bad annotation.
    BadAnnotation,
    /// It cannot be read, nor can anyone tell which hosts it names.
    Unreadable,
    /// A Service that it names, or its class, could not be read.
    LookupFailed,
}

/// One host and path, and what it leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exposure {
    /// Nothing stands for every host.
    pub host: Option<String>,
    /// The path of the Ingress.
    pub path: Path,
    /// What the rule carries as its path.
    pub expression: Option<String>,
    /// A URL, or [`UNAVAILABLE`].
    pub service: String,
    /// Settings of the origin.
    pub origin: OriginSettings,
}

/// Where everything goes that no rule takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastResort {
    /// A URL, or [`UNAVAILABLE`].
    pub service: String,
    /// Settings of the origin.
    pub origin: OriginSettings,
}

/// What became of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathOutcome {
    /// It leads to this URL.
    Leads(String),
    /// It answers 503.
    Unavailable(Unavailable),
    /// It gets no rule.
    Refused(PathRefusal),
    /// It cannot be told; what stands stays.
    Unknown(String),
}

/// A path of an Ingress with its outcome, in the order of the manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathReport {
    /// As written.
    pub host: String,
    /// As written.
    pub path: String,
    /// What became of it.
    pub outcome: PathOutcome,
}

/// Names beside those of its own namespace that an Ingress may lead to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outside {
    /// These ExternalNames.
    Names(BTreeSet<String>),
    /// Not all of its Services could be read.
    Unknown,
}

/// An Ingress and all that comes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exposed {
    /// Whose all this is.
    pub owner: Owner,
    /// What may be done.
    pub standing: Standing,
    /// Every host that its rules name, with paths; nothing when nobody can tell.
    pub hosts: Option<BTreeSet<String>>,
    /// What its annotations ask for; nothing when they are bad.
    pub wishes: Option<Wishes>,
    /// Whether its CNAMEs stay when it goes.
    pub retains: bool,
    /// Where it may lead.
    pub outside: Outside,
    /// What became of each path.
    pub paths: Vec<PathReport>,
    /// What it is told.
    pub notices: Vec<Notice>,
    exposures: Vec<Exposure>,
    last_resort: Option<LastResort>,
}

impl Exposed {
    /// What it exposes, now that it may.
    pub fn served(&self) -> &[Exposure] {
        if self.standing == Standing::Served { &self.exposures } else { &[] }
    }

    /// The default backend, now that it may have one.
    pub fn served_last(&self) -> Option<&LastResort> {
        self.last_resort.as_ref().filter(|_| self.standing == Standing::Served)
    }

    /// What it speaks of, whether it is served or not.
    pub(super) fn named(&self) -> &[Exposure] {
        &self.exposures
    }

    /// Whether it names a default backend, served or not.
    pub(super) const fn names_last(&self) -> bool {
        self.last_resort.is_some()
    }

    /// Whether its rules and records stay as they stand.
    pub const fn is_held(&self) -> bool {
        matches!(self.standing, Standing::Held(_))
    }

    /// The same Ingress, held since its class cannot be told.
    #[must_use]
    pub fn without_class(mut self, why: String) -> Self {
        if self.standing != Standing::Held(Held::Paused) {
            self.standing = Standing::Held(Held::LookupFailed);
            self.notices.push(Notice::LookupFailed(why));
        }
        self
    }
}

/// What an Ingress of this JSON exposes.
#[must_use]
pub fn expose(object: &Value, around: &Surroundings<'_>) -> Exposed {
    match Ingress::read(object) {
        Ok(ingress) => Exposing::new(&ingress, around).done(),
        Err(error) => {
            let metadata = Metadata::salvage(object);
            Exposed {
                owner: owner(&metadata),
                standing: Standing::Held(Held::Unreadable),
                hosts: None,
                wishes: None,
                retains: false,
                outside: Outside::Unknown,
                paths: Vec::new(),
                notices: vec![Notice::Unreadable(error.to_string())],
                exposures: Vec::new(),
                last_resort: None,
            }
        }
    }
}

fn owner(metadata: &Metadata) -> Owner {
    Owner { created: metadata.created(), key: metadata.key() }
}

/// An Ingress on its way to what it exposes.
struct Exposing<'a> {
    ingress: &'a Ingress,
    around: &'a Surroundings<'a>,
    wishes: Wishes,
    unknown: Option<String>,
    exposed: Exposed,
}

impl<'a> Exposing<'a> {
    fn new(ingress: &'a Ingress, around: &'a Surroundings<'a>) -> Self {
        let metadata = &ingress.metadata;
        let wishes = Wishes::of(metadata);
        let retains = retains(metadata);
        let standing = match &wishes {
            _ if metadata.annotation(names::PAUSED) == Some("true") => Standing::Held(Held::Paused),
            _ if metadata.is_going() && retains.is_ok() => Standing::Going,
            Err(_) => Standing::Held(Held::BadAnnotation),
            Ok(_) => Standing::Served,
        };
        let mut notices = Vec::new();
        if ingress.has_tls() && standing == Standing::Served {
            notices.push(Notice::TlsIgnored);
        }
        if let (Err(error), Standing::Held(Held::BadAnnotation)) = (&wishes, &standing) {
            notices.push(Notice::BadAnnotation(error.clone()));
        }
        let exposed = Exposed {
            owner: owner(metadata),
            standing,
            hosts: Some(BTreeSet::new()),
            wishes: wishes.clone().ok(),
            retains: retains == Ok(true),
            outside: Outside::Names(BTreeSet::new()),
            paths: Vec::new(),
            notices,
            exposures: Vec::new(),
            last_resort: None,
        };
        // Bad annotations leave open what is served, but not which hosts and paths the Ingress speaks of.
        let wishes = wishes.unwrap_or_else(|_| Wishes::plain());
        Self { ingress, around, wishes, unknown: None, exposed }
    }

    fn done(mut self) -> Exposed {
        for rule in &self.ingress.spec.rules {
            let host = host::read(&rule.host);
            let Some(http) = &rule.http else {
                self.notice(Notice::RuleSkipped { host: rule.host.clone() });
                continue;
            };
            if host.is_none() && !rule.host.is_empty() {
                self.notice(Notice::HostRefused { host: rule.host.clone() });
                continue;
            }
            if let (Some(host), Some(hosts)) = (&host, &mut self.exposed.hosts) {
                hosts.insert(host.clone());
            }
            for entry in &http.paths {
                self.path(&rule.host, host.as_deref(), entry);
            }
        }
        if let Some(backend) = &self.ingress.spec.default_backend {
            self.default_backend(backend);
        }
        if let Some(why) = self.unknown {
            self.exposed.outside = Outside::Unknown;
            if self.exposed.standing == Standing::Served {
                self.exposed.standing = Standing::Held(Held::LookupFailed);
                self.exposed.notices.push(Notice::LookupFailed(why));
            }
        }
        self.exposed
    }

    fn path(&mut self, written_host: &str, host: Option<&str>, entry: &PathEntry) {
        let outcome = match Path::read(&entry.path_type, &entry.path, self.around.compiles) {
            Err(why) => {
                let (host, path) = (written_host.to_owned(), entry.path.clone());
                self.notice(Notice::PathRefused { host, path, why: why.clone() });
                PathOutcome::Refused(why)
            }
            Ok((path, note)) => {
                if let Some(note) = note {
                    let (host, path) = (written_host.to_owned(), entry.path.clone());
                    self.notice(Notice::PathNote { host, path, note });
                }
                let outcome = self.backend(&entry.backend);
                self.say_unavailable(written_host, &entry.path, &outcome);
                if let Some(service) = service_of(&outcome) {
                    self.expose(host, path, service);
                }
                outcome
            }
        };
        let (host, path) = (written_host.to_owned(), entry.path.clone());
        self.exposed.paths.push(PathReport { host, path, outcome });
    }

    fn expose(&mut self, host: Option<&str>, path: Path, service: String) {
        let is_http = matches!(self.wishes.scheme.as_str(), "http" | "https");
        let expression = if is_http { path.expression() } else { None };
        let origin = self.origin_of(&service);
        if host.is_none() && expression.is_none() {
            // A rule for everything is a default backend by another name; the field itself comes last and counts.
            self.exposed.last_resort = Some(LastResort { service, origin });
            return;
        }
        let host = host.map(str::to_owned);
        self.exposed.exposures.push(Exposure { host, path, expression, service, origin });
    }

    fn default_backend(&mut self, backend: &Backend) {
        let outcome = self.backend(backend);
        if let PathOutcome::Unavailable(why) = &outcome {
            self.notice(Notice::DefaultUnavailable(why.clone()));
        }
        if let Some(service) = service_of(&outcome) {
            let origin = self.origin_of(&service);
            self.exposed.last_resort = Some(LastResort { service, origin });
        }
    }

    fn backend(&mut self, backend: &Backend) -> PathOutcome {
        let namespace = &self.exposed.owner.key.namespace;
        match resolve(namespace, backend, self.around.services, self.around.cluster_domain) {
            Resolved::Unavailable(why) => PathOutcome::Unavailable(why),
            Resolved::Unknown(why) => {
                self.unknown.get_or_insert_with(|| why.clone());
                PathOutcome::Unknown(why)
            }
            Resolved::Reached { host, port, looks_like_tls } => {
                if looks_like_tls && self.wishes.scheme == "http" {
                    let service = backend.service.as_ref().map(|service| service.name.clone());
                    self.notice(Notice::PlainHttp { service: service.unwrap_or_default(), port });
                }
                let url = format!("{}://{host}:{port}", self.wishes.scheme);
                if let Outside::Names(names) = &mut self.exposed.outside {
                    names.insert(host);
                }
                PathOutcome::Leads(url)
            }
        }
    }

    fn say_unavailable(&mut self, host: &str, path: &str, outcome: &PathOutcome) {
        if let PathOutcome::Unavailable(why) = outcome {
            let (host, path) = (host.to_owned(), path.to_owned());
            self.notice(Notice::PathUnavailable { host, path, why: why.clone() });
        }
    }

    fn origin_of(&self, service: &str) -> OriginSettings {
        if service == UNAVAILABLE { OriginSettings::default() } else { self.wishes.origin.clone() }
    }

    /// Each thing is said once, and of what goes away only what concerns the object itself.
    fn notice(&mut self, notice: Notice) {
        let is_served = self.exposed.standing == Standing::Served;
        if is_served && !self.exposed.notices.contains(&notice) {
            self.exposed.notices.push(notice);
        }
    }
}

/// What a rule of this outcome leads to. A path that cannot be told still is one that the Ingress speaks of; nothing
/// is served of such an Ingress.
fn service_of(outcome: &PathOutcome) -> Option<String> {
    match outcome {
        PathOutcome::Leads(url) => Some(url.clone()),
        PathOutcome::Unavailable(_) | PathOutcome::Unknown(_) => Some(UNAVAILABLE.to_owned()),
        PathOutcome::Refused(_) => None,
    }
}

impl fmt::Display for PathOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Leads(url) => write!(f, "-> {url}"),
            Self::Unavailable(why) => write!(f, "503: {why}"),
            Self::Refused(why) => write!(f, "left out: {why}"),
            Self::Unknown(why) => write!(f, "unknown, what stands stays: {why}"),
        }
    }
}
