//! The records of a zone: what all hosts' CNAMEs and marks should be, against what stands. Foreign records are left
//! alone, every change and deletion has its proof, and nothing goes while anything could not be read.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use kinds::Key;
use kinds::names::ingress as names;
use serde_json::{Map, Value};

use super::comment::{Template, Variables};
use super::mark::{self, Mark};
use super::notice::Notice;
use super::record::{Aim, LiveRecord, Ownership, Proof, RecordWrite, WantedRecord, tunnel_target};
use super::shrink;
use super::wish::{TunnelName, Wish, Wishes};
use super::zone::{Zone, is_deeper_than_certificate, zone_of};

/// What the records of a zone are decided from, beside those that stand.
#[derive(Clone, Copy)]
pub struct ZoneScope<'a> {
    /// The zone.
    pub zone: &'a Zone,
    /// Every zone of the account, this one included.
    pub zones: &'a [Zone],
    /// What is wanted of all hosts.
    pub wishes: &'a Wishes,
    /// The tunnels that are served here.
    pub tunnels: &'a [TunnelName],
    /// IDs of tunnels that Cloudflare says are deleted, in lower case.
    pub deleted_tunnels: &'a BTreeSet<String>,
    /// Nothing writes no comments.
    pub comments: Option<&'a Template>,
    /// Characters that a comment may have on this zone's plan.
    pub comment_characters_max: usize,
    /// Cloudflare refused a star inside the name of a mark here.
    pub hashes_wildcards: bool,
}

/// What becomes of a host's records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostOutcome {
    /// They are as they should be, once the writes are done.
    Served,
    /// Something foreign stands there, which is left alone.
    Conflict(String),
    /// A DNSRecord object has the host; our mark goes.
    Claimed,
    /// They stay as they stand.
    Frozen,
    /// They go as far as they are ours.
    LetGo {
        /// No Ingress at hand speaks of the host, so nobody asked for this by name.
        is_derived: bool,
    },
    /// They would go, but not everything could be read.
    Waiting,
}

/// A host of the zone, and the writes that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPlan {
    /// In lower case.
    pub host: String,
    /// What becomes of it.
    pub outcome: HostOutcome,
    /// CNAME and mark.
    pub writes: Vec<RecordWrite>,
    /// Whether something of ours stands there.
    pub is_owned: bool,
}

/// Whether so many hosts would go that nobody names that it has to be read again first.
#[must_use]
pub fn needs_second_reading(plans: &[HostPlan]) -> bool {
    let owned = plans.iter().filter(|plan| plan.is_owned).count();
    let is_derived =
        |plan: &&HostPlan| plan.outcome == HostOutcome::LetGo { is_derived: true } && !plan.writes.is_empty();
    shrink::needs_second_reading(owned, plans.iter().filter(is_derived).count())
}

/// What those who name the hosts are told, given the plans of all zones.
#[must_use]
pub fn host_notices(wishes: &Wishes, zones: &[Zone], plans: &[HostPlan]) -> Vec<(Key, Notice)> {
    let served = wishes.hosts.iter().filter(|(_, wish)| matches!(wish, Wish::Serve { .. }));
    let mut notices = Vec::new();
    for (host, _) in served {
        let zone = zone_of(host, zones);
        let conflict = plans.iter().filter(|plan| plan.host == *host).find_map(|plan| match &plan.outcome {
            HostOutcome::Conflict(why) => Some(why.clone()),
            _ => None,
        });
        let host = host.clone();
        let notice = match (zone, conflict) {
            (None, _) => Notice::NoZone { host: host.clone() },
            (Some(_), Some(why)) => Notice::DnsConflict { host: host.clone(), why },
            (Some(zone), None) if is_deeper_than_certificate(&host, zone) => {
                Notice::CertificateDepth { host: host.clone(), zone: zone.name.clone() }
            }
            (Some(_), None) => continue,
        };
        let named_by = wishes.named_by.get(&host).into_iter().flatten();
        notices.extend(named_by.map(|key| (key.clone(), notice.clone())));
    }
    notices
}

/// Plans every host of the zone that is wanted or that has something of ours, in order of their names.
#[must_use]
pub fn plan_zone(scope: &ZoneScope<'_>, live: &[LiveRecord]) -> Vec<HostPlan> {
    let standing = Standing::new(scope, live);
    let wanted = scope.wishes.hosts.keys().filter(|host| scope.is_here(host));
    let hosts: BTreeSet<&String> = wanted.chain(&standing.owned).collect();
    hosts.into_iter().map(|host| Deciding { scope, standing: &standing, host }.plan()).collect()
}

impl ZoneScope<'_> {
    fn is_here(&self, host: &str) -> bool {
        zone_of(host, self.zones).is_some_and(|zone| zone.id == self.zone.id)
    }

    fn is_our_name(&self, name: &str) -> bool {
        self.tunnels.iter().any(|tunnel| tunnel.name == name)
    }

    fn has_old_comment(&self, record: &LiveRecord) -> bool {
        self.tunnels.iter().any(|tunnel| record.comment == names::old_comment(&tunnel.name))
    }
}

/// The records of the zone that can matter to a host.
struct Standing<'a> {
    addresses: BTreeMap<&'a str, Vec<&'a LiveRecord>>,
    marks: BTreeMap<String, Vec<(&'a LiveRecord, Mark)>>,
    owned: BTreeSet<String>,
}

impl<'a> Standing<'a> {
    fn new(scope: &ZoneScope<'_>, live: &'a [LiveRecord]) -> Self {
        let mut standing =
            Self { addresses: BTreeMap::new(), marks: BTreeMap::new(), owned: BTreeSet::new() };
        let mut in_order: Vec<&LiveRecord> = live.iter().collect();
        in_order.sort_by(|one, other| one.id.cmp(&other.id));
        for record in in_order {
            match record.kind.as_str() {
                "CNAME" | "A" | "AAAA" => {
                    let is_old = record.kind == "CNAME" && scope.has_old_comment(record);
                    if is_old && !record.is_claimed {
                        standing.owned.insert(record.name.clone());
                    }
                    standing.addresses.entry(&record.name).or_default().push(record);
                }
                "TXT" if !record.is_claimed => {
                    let Some((host, mark)) = mark::read(&record.name, &record.content, &scope.zone.name)
                    else {
                        continue;
                    };
                    if scope.is_our_name(&mark.tunnel) {
                        standing.owned.insert(host.clone());
                    }
                    standing.marks.entry(host).or_default().push((record, mark));
                }
                _ => {}
            }
        }
        standing
    }
}

struct Deciding<'a> {
    scope: &'a ZoneScope<'a>,
    standing: &'a Standing<'a>,
    host: &'a String,
}

impl<'a> Deciding<'a> {
    fn plan(&self) -> HostPlan {
        let wish = self.scope.wishes.hosts.get(self.host);
        let is_claimed = self.addresses().iter().any(|record| record.is_claimed);
        let (outcome, writes) = match wish {
            Some(Wish::Freeze) => (HostOutcome::Frozen, Vec::new()),
            // An active host is never cleaned up, also where a zone above its own still has records of it.
            Some(Wish::Serve { .. }) if !self.scope.is_here(self.host) => (HostOutcome::Frozen, Vec::new()),
            _ if is_claimed => (HostOutcome::Claimed, self.without_marks()),
            Some(Wish::Serve { tunnel, adopter }) => self.serve(tunnel, adopter.as_ref()),
            _ if !self.scope.wishes.is_complete => (HostOutcome::Waiting, Vec::new()),
            Some(Wish::Retain) => (HostOutcome::LetGo { is_derived: false }, self.without_marks()),
            Some(Wish::LetGo) => (HostOutcome::LetGo { is_derived: false }, self.let_go()),
            None => (HostOutcome::LetGo { is_derived: true }, self.let_go()),
        };
        let is_owned = self.standing.owned.contains(self.host);
        HostPlan { host: self.host.clone(), outcome, writes, is_owned }
    }

    fn addresses(&self) -> &[&'a LiveRecord] {
        self.standing.addresses.get(self.host.as_str()).map_or(&[], Vec::as_slice)
    }

    fn marks(&self) -> &[(&'a LiveRecord, Mark)] {
        self.standing.marks.get(self.host).map_or(&[], Vec::as_slice)
    }

    fn own_marks(&self) -> impl Iterator<Item = &'a LiveRecord> {
        let own = |(_, mark): &&(&'a LiveRecord, Mark)| self.scope.is_our_name(&mark.tunnel);
        self.marks().iter().filter(own).map(|(record, _)| *record)
    }

    fn ownership(&self, cname: &LiveRecord) -> Option<Ownership> {
        let marked = self.own_marks().next().map(|mark| Ownership::Mark(mark.id.clone()));
        marked.or_else(|| self.scope.has_old_comment(cname).then_some(Ownership::OldComment))
    }

    /// Where a CNAME points, if that is at a tunnel of ours or at none that anyone could still use.
    fn aim(&self, cname: &LiveRecord) -> Option<Aim> {
        let id = cname.tunnel()?;
        if self.scope.tunnels.iter().any(|tunnel| tunnel.id.eq_ignore_ascii_case(&id)) {
            return Some(Aim::Ours(id));
        }
        self.scope.deleted_tunnels.contains(&id).then_some(Aim::Deleted(id))
    }

    /// Why the record at an active host may be made ours, or what stands against it.
    fn claim(&self, cname: &LiveRecord, adopter: Option<&Key>) -> Result<Proof, String> {
        let aim = self.aim(cname);
        let is_foreign_tunnel = cname.tunnel().is_some() && aim.is_none();
        let proof = match (self.ownership(cname), &aim) {
            (Some(ownership), _) if !is_foreign_tunnel => Some(Proof::Owned(ownership)),
            (None, Some(Aim::Ours(_))) => Some(Proof::PointsAtUs),
            _ => None,
        };
        proof.or_else(|| adopter.cloned().map(Proof::Adoption)).ok_or_else(|| {
            if is_foreign_tunnel {
                "its CNAME leads to a tunnel that is not served here".to_owned()
            } else {
                "a CNAME that kflare did not make stands there".to_owned()
            }
        })
    }

    fn serve(&self, tunnel: &TunnelName, adopter: Option<&Key>) -> (HostOutcome, Vec<RecordWrite>) {
        let target = tunnel_target(&tunnel.id);
        let wanted = WantedRecord {
            kind: "CNAME",
            name: self.host.clone(),
            content: target.clone(),
            proxied: true,
            comment: self.comment(tunnel, self.host),
        };
        let cname = self.addresses().iter().find(|record| record.kind == "CNAME");
        let mut writes = Vec::new();
        let proof = match cname {
            Some(cname) => match self.claim(cname, adopter) {
                Err(why) => return (HostOutcome::Conflict(why), Vec::new()),
                Ok(proof) => {
                    let points_there = cname.tunnel().as_deref() == Some(&tunnel.id.to_ascii_lowercase());
                    let fields = wanted.difference(cname, points_there);
                    writes.extend(update(cname, fields, &proof));
                    proof
                }
            },
            None => match self.free(adopter) {
                Err(why) => return (HostOutcome::Conflict(why), Vec::new()),
                Ok((proof, removals)) => {
                    writes.extend(removals);
                    writes.push(RecordWrite::Create(wanted));
                    proof
                }
            },
        };
        writes.extend(self.mark(tunnel, &proof));
        (HostOutcome::Served, writes)
    }

    /// Whether a CNAME may be made where none is, and what has to make room for it.
    fn free(&self, adopter: Option<&Key>) -> Result<(Proof, Vec<RecordWrite>), String> {
        let addresses = self.addresses();
        let foreign_mark = self.marks().iter().find(|(_, mark)| !self.scope.is_our_name(&mark.tunnel));
        let owned = self.own_marks().next().map(|mark| Proof::Owned(Ownership::Mark(mark.id.clone())));
        match (adopter, addresses.first(), foreign_mark) {
            (Some(key), ..) => {
                let proof = Proof::Adoption(key.clone());
                let removals = addresses.iter().map(|record| delete(record, proof.clone())).collect();
                Ok((proof, removals))
            }
            (None, Some(address), _) => {
                Err(format!("a record of type {} that kflare did not make stands there", address.kind))
            }
            (None, None, Some((_, mark))) if owned.is_none() => {
                Err(format!("its ownership record names tunnel {:?}, which is not served here", mark.tunnel))
            }
            (None, None, _) => Ok((owned.unwrap_or(Proof::OwnMark), Vec::new())),
        }
    }

    /// The writes that leave exactly one mark of ours.
    fn mark(&self, tunnel: &TunnelName, proof: &Proof) -> Vec<RecordWrite> {
        let hashed = self.scope.hashes_wildcards && self.host.starts_with("*.");
        let name = mark::name(self.host, &self.scope.zone.name, hashed);
        let content = mark::content(&name, self.host, &tunnel.name);
        let comment = self.comment(tunnel, &name);
        let wanted = WantedRecord { kind: "TXT", name, content, proxied: false, comment };
        let fields = |record: &LiveRecord, mark: &Mark| {
            wanted.difference(record, mark.tunnel == tunnel.name && record.name == wanted.name)
        };
        let own = |mark: &Mark| self.scope.is_our_name(&mark.tunnel);
        // Of ours the one that needs least is kept; a stranger's is taken over with the CNAME that it speaks of.
        let best = self
            .marks()
            .iter()
            .min_by_key(|(record, mark)| (!own(mark), fields(record, mark).len(), record.id.clone()));
        let Some((kept, mark)) = best else { return vec![RecordWrite::Create(wanted)] };
        let why = if own(mark) { &Proof::OwnMark } else { proof };
        let others = self.own_marks().filter(|record| record.id != kept.id);
        update(kept, fields(kept, mark), why)
            .into_iter()
            .chain(others.map(|record| delete(record, Proof::OwnMark)))
            .collect()
    }

    fn without_marks(&self) -> Vec<RecordWrite> {
        self.own_marks().map(|record| delete(record, Proof::OwnMark)).collect()
    }

    fn let_go(&self) -> Vec<RecordWrite> {
        let cname = self.addresses().iter().find(|record| record.kind == "CNAME");
        let proven = cname.and_then(|cname| {
            let proof = Proof::Unneeded(self.ownership(cname)?, self.aim(cname)?);
            Some(delete(cname, proof))
        });
        proven.into_iter().chain(self.without_marks()).collect()
    }

    fn comment(&self, tunnel: &TunnelName, name: &str) -> Option<String> {
        let variables = Variables { tunnel_name: &tunnel.name, tunnel_id: &tunnel.id, hostname: name };
        self.scope.comments.map(|template| template.render(variables, self.scope.comment_characters_max))
    }
}

fn update(record: &LiveRecord, fields: Map<String, Value>, proof: &Proof) -> Option<RecordWrite> {
    let LiveRecord { id, kind, name, .. } = record.clone();
    (!fields.is_empty()).then(|| RecordWrite::Update { id, kind, name, fields, proof: proof.clone() })
}

fn delete(record: &LiveRecord, proof: Proof) -> RecordWrite {
    let LiveRecord { id, kind, name, .. } = record.clone();
    RecordWrite::Delete { id, kind, name, proof }
}

impl fmt::Display for HostPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.outcome {
            HostOutcome::Served => write!(f, "{} served", self.host),
            HostOutcome::Conflict(why) => write!(f, "{} conflict: {why}", self.host),
            HostOutcome::Claimed => write!(f, "{} claimed by a DNSRecord", self.host),
            HostOutcome::Frozen => write!(f, "{} stays", self.host),
            HostOutcome::LetGo { is_derived: false } => write!(f, "{} let go", self.host),
            HostOutcome::LetGo { is_derived: true } => write!(f, "{} let go, nobody names it", self.host),
            HostOutcome::Waiting => write!(f, "{} would go, not everything is read", self.host),
        }?;
        self.writes.iter().try_for_each(|one| write!(f, "\n  {one}"))
    }
}
