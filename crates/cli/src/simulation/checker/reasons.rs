//! Resources that are not Ready: the reason that they tell is one that the facts explain.

use kinds::names;
use serde_json::Value;

use super::super::facts::{Facts, full_name, named_ids};
use super::super::object::{annotation, is_going, is_ready, key, label as label_of, path, ready, text};
use super::account::{self, Held};
use super::{tenants, truth};
use crate::world::World;

/// True when the resource is left alone.
pub(super) fn is_paused(object: &Value) -> bool {
    annotation(object, names::PAUSED) == "true"
}

/// Resources with a condition that nothing explains. Without a look at Cloudflare (`has_looked`) only what Kubernetes
/// itself shows is judged: nobody tells kflare of what others do at Cloudflare.
pub(super) fn unexplained(world: &World, facts: &Facts, has_looked: bool) -> Vec<String> {
    let mut broken = Vec::new();
    for (kind, object) in world.resources() {
        let (status, reason, message) = ready(&object);
        let scene = Scene { world, facts, kind, object: &object };
        if status == "True" && reason != "Paused" || scene.is_explained(reason, message, has_looked) {
            continue;
        }
        let (namespace, name) = key(&object);
        broken.push(format!("{kind} {namespace}/{name} stays {status} {reason}: {message}"));
    }
    broken
}

/// A resource and what is around it.
struct Scene<'s> {
    world: &'s World,
    facts: &'s Facts,
    kind: &'static str,
    object: &'s Value,
}

impl Scene<'_> {
    fn is_explained(&self, reason: &str, message: &str, has_looked: bool) -> bool {
        match reason {
            // Nothing was done for it yet, and nothing will be.
            "" => is_paused(self.object),
            "Paused" => is_paused(self.object),
            "AccountNotFound" => self.zone_object().is_none_or(|zone| self.account(&zone).is_none()),
            "AccountNotReady" => {
                self.zone_object().and_then(|zone| self.account(&zone)).is_some_and(|a| !is_ready(&a))
            }
            "ZoneNotFound" => self.zone_object().is_none(),
            "ZoneNotReady" => self.zone_object().is_some_and(|zone| !is_ready(&zone) || has_no_id(&zone)),
            "SecretNotFound" => self.held() == Some(Held::NoSecret),
            "TokenKeyMissing" => self.held() == Some(Held::NoToken),
            "NamespaceNotAllowed" => self.is_kept_out(),
            "InvalidAdoptionPolicy" => {
                !["", "adopt", "adopt-or-create"].contains(&annotation(self.object, names::ADOPTION_POLICY))
            }
            "InvalidDeletionPolicy" => {
                is_going(self.object)
                    && !["", "delete", "retain"].contains(&annotation(self.object, names::DELETION_POLICY))
            }
            "InUse" => is_going(self.object) && (self.has_children() || self.is_shared()),
            // These are about Cloudflare.
            _ if !has_looked => reason != "InternalError",
            "InvalidToken" => {
                self.account_object().and_then(|account| account::problem(self.world, &account)).is_some()
            }
            "AlreadyExists" => self.others_at_place() > 0 || self.zones_of_name() > 0,
            "RecordConflict" => self.has_rival(),
            "NotFound" => self.adopts_by_id() || self.has_nothing_to_adopt(),
            "AdoptionAmbiguous" => self.others_at_place() > 1 || self.zones_of_name() > 1,
            "AdoptionMismatch" => self.adopts_by_id() || self.is_mislabelled(),
            "InvalidSpec" => self.adopts_by_id() || self.is_refused(message),
            "TerminalError" => self.is_refused(message),
            "APIError" => self.waits_for_ns(message),
            _ => false,
        }
    }

    fn zone_object(&self) -> Option<Value> {
        if self.kind != "DNSRecord" {
            return (self.kind == "Zone").then(|| self.object.clone());
        }
        let (namespace, _) = key(self.object);
        self.world.kubernetes.get("Zone", Some(&namespace), text(self.object, "/spec/zoneRef/name"))
    }

    fn account(&self, zone: &Value) -> Option<Value> {
        self.world.kubernetes.get("CloudflareAccount", None, text(zone, "/spec/accountRef/name"))
    }

    fn account_object(&self) -> Option<Value> {
        match self.kind {
            "CloudflareAccount" => Some(self.object.clone()),
            _ => self.zone_object().and_then(|zone| self.account(&zone)),
        }
    }

    fn held(&self) -> Option<Held> {
        self.account_object().map(|account| account::held(self.world, &account))
    }

    fn is_kept_out(&self) -> bool {
        let (namespace, _) = key(self.object);
        let account = self.zone_object().and_then(|zone| self.account(&zone));
        account.is_some_and(|account| {
            !tenants::is_allowed(self.facts, &account, &namespace, self.world.clock.now())
        })
    }

    fn has_children(&self) -> bool {
        let (namespace, name) = key(self.object);
        self.world.resources().iter().any(|(kind, other)| match self.kind {
            "Zone" => {
                *kind == "DNSRecord"
                    && text(other, "/metadata/namespace") == namespace
                    && text(other, "/spec/zoneRef/name") == name
            }
            _ => *kind == "Zone" && text(other, "/spec/accountRef/name") == name,
        })
    }

    /// Another Zone stands for the same zone, which goes with the last of them.
    fn is_shared(&self) -> bool {
        let (own, uid) = (named_ids(self.kind, self.object), text(self.object, "/metadata/uid"));
        let zones = self.world.kubernetes.list("Zone");
        let mut others = zones.iter().filter(|zone| text(zone, "/metadata/uid") != uid);
        self.kind == "Zone" && others.any(|zone| named_ids("Zone", zone).iter().any(|id| own.contains(id)))
    }

    fn adopts_by_id(&self) -> bool {
        !annotation(self.object, names::ADOPT_ID).is_empty()
    }

    /// It is to adopt, and nothing stands at its place that nobody else holds.
    fn has_nothing_to_adopt(&self) -> bool {
        let adopts = annotation(self.object, names::ADOPTION_POLICY) == "adopt";
        adopts && self.zones_of_name() == 0 && !self.records_here().iter().any(|record| self.is_free(record))
    }

    /// A record of the resource's type that no resource holds.
    fn is_free(&self, record: &Value) -> bool {
        let id = text(record, "/id");
        let now = self.world.clock.now();
        let mut others = self.facts.of_kind("DNSRecord").filter_map(|life| life.at(now));
        record["type"] == self.object["spec"]["type"]
            && !others.any(|other| named_ids("DNSRecord", other).contains(&id))
    }

    /// Its label names something that is not what the spec says, or nothing.
    fn is_mislabelled(&self) -> bool {
        let label = kinds::kind(self.kind).and_then(|kind| kind.identity.label).unwrap_or_default();
        let named = label_of(self.object, label);
        let place = self.place().map(|(_, name)| name);
        let records = self.world.cloudflare.records_anywhere().into_iter().map(|(_, record)| record);
        let found = records.chain(self.world.cloudflare.zones()).find(|object| text(object, "/id") == named);
        let wanted =
            if self.kind == "Zone" { Some(text(self.object, "/spec/name").to_owned()) } else { place };
        !named.is_empty()
            && found.is_none_or(|found| {
                Some(text(&found, "/name")) != wanted.as_deref()
                    || self.kind == "DNSRecord" && found["type"] != self.object["spec"]["type"]
            })
    }

    /// The zone at Cloudflare, and the name that the record has there.
    fn place(&self) -> Option<(String, String)> {
        let zone = self.zone_object()?;
        let domain = text(&zone, "/spec/name").to_lowercase();
        let id = text(&zone, "/status/cloudflareMetadata/zoneID").to_owned();
        Some((id, full_name(text(self.object, "/spec/name"), &domain)))
    }

    /// Records at the resource's name.
    fn records_here(&self) -> Vec<Value> {
        let Some((zone, name)) = self.place().filter(|_| self.kind == "DNSRecord") else { return Vec::new() };
        let records = self.world.cloudflare.records(&zone).into_iter();
        records.filter(|record| record["name"] == name).collect()
    }

    /// How many of them are not its own: of its type, or in the way of it.
    fn others_at_place(&self) -> usize {
        let own = named_ids(self.kind, self.object);
        self.records_here().iter().filter(|record| !own.contains(&text(record, "/id"))).count()
    }

    /// Zones of the resource's name that are not its own.
    fn zones_of_name(&self) -> usize {
        let own = named_ids(self.kind, self.object);
        let zones = self.world.cloudflare.zones();
        let name = &self.object["spec"]["name"];
        zones.iter().filter(|zone| zone["name"] == *name && !own.contains(&text(zone, "/id"))).count()
    }

    /// Another resource that names what this one names, or that holds, at its place, what this one would make.
    fn has_rival(&self) -> bool {
        let uid = text(self.object, "/metadata/uid");
        let mut named = named_ids(self.kind, self.object);
        named.push(annotation(self.object, names::ADOPT_ID));
        let here = self.records_here();
        named.extend(here.iter().filter(|record| self.would_be(record)).map(|record| text(record, "/id")));
        let now = self.world.clock.now();
        self.facts.of_kind("DNSRecord").filter_map(|life| life.at(now)).any(|other| {
            let shares = named_ids("DNSRecord", other).iter().any(|id| named.contains(id));
            text(other, "/metadata/uid") != uid && shares
        })
    }

    /// True when this record is what Cloudflare would make of the spec, or why it would make nothing.
    fn would_be(&self, record: &Value) -> bool {
        let Some((zone, _)) = self.place() else { return false };
        match self.world.cloudflare.judge_record(&zone, None, &truth::body(&self.object["spec"])) {
            Ok(wanted) => ["type", "content"].iter().all(|field| wanted[field] == record[field]),
            Err(_) => true,
        }
    }

    /// True when Cloudflare would refuse it now, too.
    fn is_refused(&self, message: &str) -> bool {
        let zones = self.world.cloudflare.zones();
        let find = |id: &str| zones.iter().find(|zone| zone["id"] == id);
        match self.kind {
            "DNSRecord" => {
                let Some((zone, _)) = self.place() else { return false };
                let records = self.world.cloudflare.records(&zone);
                let own = named_ids(self.kind, self.object)
                    .into_iter()
                    .find(|id| records.iter().any(|record| record["id"] == **id));
                find(&zone).is_none()
                    || self
                        .world
                        .cloudflare
                        .judge_record(&zone, own, &truth::body(&self.object["spec"]))
                        .is_err()
            }
            // A zone that is gone looks like one that the token may not see.
            "Zone" => {
                let id = named_ids(self.kind, self.object).into_iter().next().unwrap_or_default();
                find(id).is_none_or(|zone| zone["status"] == "moved")
                    || path(self.object, "/spec/plan").is_some() && message.contains("plan")
            }
            _ => false,
        }
    }

    /// A DS record needs an NS of its name, which may come.
    fn waits_for_ns(&self, message: &str) -> bool {
        message.contains("NS record") && self.is_refused(message)
    }
}

fn has_no_id(zone: &Value) -> bool {
    text(zone, "/status/cloudflareMetadata/zoneID").is_empty()
}

/// True when a resource is going, its zone is not there any more, and it tells how to let it go all the same.
pub(super) fn lost_its_zone(world: &World, object: &Value) -> bool {
    let (_, reason, message) = ready(object);
    let (namespace, _) = key(object);
    let parent = world.kubernetes.get("Zone", Some(&namespace), text(object, "/spec/zoneRef/name"));
    let zone = if text(object, "/kind") == "Zone" { Some(object) } else { parent.as_ref() };
    let named = zone.map(|zone| named_ids("Zone", zone)).unwrap_or_default();
    let zones = world.cloudflare.zones();
    let is_lost = named.iter().any(|id| !zones.iter().any(|zone| zone["id"] == **id));
    is_lost && reason == "TerminalError" && message.contains(names::DELETION_POLICY)
}
