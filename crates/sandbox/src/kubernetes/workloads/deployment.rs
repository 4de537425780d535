//! Deployments: the ReplicaSet of the current template grows and the others shrink, within the bounds of the strategy.
//! One step at a time, as the real controller does. Leaves the status to `status`.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::admit::Part;
use super::super::builtins::BuiltIn;
use super::super::delete::DeleteOptions;
use super::super::store::{Place, Stored};
use super::super::write::Writer;
use super::proportion::{bounds, share};
use super::revision::{self, DESIRED};
use super::{DEPLOYMENT, number};

/// A ReplicaSet and where it is.
pub(super) type Set = (Place, Arc<Stored>);

/// A Deployment, the ReplicaSet of its template, and those of former templates.
pub(super) struct Fleet {
    pub(super) deployment: Arc<Stored>,
    pub(super) new: Option<Set>,
    pub(super) old: Vec<Set>,
}

impl Fleet {
    fn wanted(&self) -> i64 {
        number(&self.deployment.value["spec"]["replicas"])
    }

    fn sets(&self) -> impl Iterator<Item = &Set> {
        self.new.iter().chain(&self.old)
    }

    fn total(&self) -> i64 {
        self.sets().map(size).sum()
    }

    fn most(&self) -> i64 {
        self.wanted() + bounds(&self.deployment.value).surge
    }
}

fn size(set: &Set) -> i64 {
    number(&set.1.value["spec"]["replicas"])
}

impl Writer<'_> {
    pub(super) fn sync_deployment(&mut self, place: &Place, deployment: &Arc<Stored>) {
        let mut fleet = self.fleet(deployment);
        if !deployment.is_terminating() {
            let is_paused = deployment.value["spec"]["paused"] == true;
            if is_paused || is_scaled_by_hand(&fleet) {
                self.scale_fleet(&fleet);
            } else {
                self.roll(place, &mut fleet);
            }
        }
        let Some(deployment) = self.state.find(place.0, &place.1).cloned() else { return };
        let fleet = self.fleet(&deployment);
        self.report_deployment(place, &fleet);
    }

    fn fleet(&self, deployment: &Arc<Stored>) -> Fleet {
        let mut old = self.controlled(deployment, BuiltIn::ReplicaSet);
        let at = old.iter().position(|(_, set)| revision::is_of(&set.value, &deployment.value));
        let new = at.map(|at| old.remove(at));
        Fleet { deployment: Arc::clone(deployment), new, old }
    }

    fn roll(&mut self, place: &Place, fleet: &mut Fleet) {
        let recreates = fleet.deployment.value["spec"]["strategy"]["type"] == "Recreate";
        if recreates {
            let running: Vec<Set> = fleet.old.iter().filter(|set| size(set) > 0).cloned().collect();
            for set in &running {
                self.resize(fleet, set, 0);
            }
            if !running.is_empty() {
                return;
            }
        }
        self.ensure_revision(place, fleet);
        let Some(new) = fleet.new.clone() else { return };
        let target = new_size(fleet, size(&new));
        if target != size(&new) {
            self.resize(fleet, &new, target);
            return;
        }
        if !self.shrink_old(fleet) {
            self.clean_up(fleet);
        }
    }

    /// Makes the ReplicaSet of the current template, or gives the one from before the number of the newest.
    fn ensure_revision(&mut self, place: &Place, fleet: &mut Fleet) {
        let last = fleet.old.iter().map(|(_, set)| revision::of(&set.value)).max().unwrap_or_default();
        let revision = match &fleet.new {
            Some((at, set)) => {
                let revision = revision::of(&set.value).max(last + 1);
                let mut value = set.value.clone();
                revision::annotate(&mut value, &fleet.deployment.value, revision);
                if value != set.value {
                    self.change(at, Part::Main, value);
                }
                revision
            }
            None => {
                let replicas = new_size(fleet, 0);
                let set = revision::new_set(&fleet.deployment, replicas, fleet.most(), last + 1);
                let Some(sets) = self.kind("apps/v1", "ReplicaSet") else { return };
                if let Some(made) = self.make(&sets, set).filter(|_| replicas > 0) {
                    let name = made.value["metadata"]["name"].as_str().unwrap_or_default();
                    let text = format!("Scaled up replica set {name} from 0 to {replicas}");
                    self.event(&fleet.deployment.clone(), DEPLOYMENT, "ScalingReplicaSet", &text);
                }
                last + 1
            }
        };
        if revision::of(&fleet.deployment.value) != revision {
            let mut value = fleet.deployment.value.clone();
            value["metadata"]["annotations"][revision::REVISION] = json!(revision.to_string());
            self.change(place, Part::Main, value);
        }
        if let Some(deployment) = self.state.find(place.0, &place.1).cloned() {
            *fleet = self.fleet(&deployment);
        }
    }

    /// Takes Pods from former templates. Those that are not ready go first, and none ever is. True when some went.
    fn shrink_old(&mut self, fleet: &Fleet) -> bool {
        let wanted = fleet.wanted();
        let in_old: i64 = fleet.old.iter().map(size).sum();
        let in_new = fleet.new.as_ref().map(size).unwrap_or_default();
        let least = wanted - bounds(&fleet.deployment.value).unavailable;
        let mut room = fleet.total() - least - in_new;
        if in_old == 0 || room <= 0 {
            return false;
        }
        for set in fleet.old.iter().filter(|set| size(set) > 0) {
            let gone = room.min(size(set));
            if gone > 0 {
                self.resize(fleet, set, size(set) - gone);
                room -= gone;
            }
        }
        true
    }

    /// Forgets revisions beyond the limit, oldest first.
    fn clean_up(&mut self, fleet: &Fleet) {
        let limit = number(&fleet.deployment.value["spec"]["revisionHistoryLimit"]);
        let limit = usize::try_from(limit).unwrap_or_default();
        let is_idle = |set: &&Set| size(set) == 0 && number(&set.1.value["status"]["replicas"]) == 0;
        let surplus = fleet.old.len().saturating_sub(limit);
        let mut oldest: Vec<&Set> = fleet.old.iter().collect();
        oldest.sort_by_key(|(_, set)| revision::of(&set.value));
        for (place, _) in oldest.into_iter().take(surplus).filter(is_idle) {
            if let Some(endpoint) = self.endpoint(place.0) {
                let _ = self.mark_or_remove(&endpoint, &place.1, &DeleteOptions::default());
            }
        }
    }

    /// Shares a new number of replicas among the ReplicaSets that have some.
    fn scale_fleet(&mut self, fleet: &Fleet) {
        let wanted = fleet.wanted();
        let mut active: Vec<Set> = fleet.sets().filter(|set| size(set) > 0).cloned().collect();
        let newest = fleet.new.clone().or_else(|| fleet.old.last().cloned());
        if active.len() < 2 {
            if let Some(set) = active.pop().or(newest) {
                self.resize(fleet, &set, wanted);
            }
            return;
        }
        let allowed = if wanted > 0 { fleet.most() } else { 0 };
        let change = allowed - fleet.total();
        // Larger ones first; of equal ones the newer grows first, and the older shrinks first.
        active.sort_by_key(|set| {
            let revision = revision::of(&set.1.value);
            (-size(set), if change > 0 { -revision } else { revision })
        });
        let mut shared = 0;
        let mut sizes: Vec<(Set, i64)> = Vec::new();
        for set in active {
            let part = share(&set.1.value, &fleet.deployment.value, change, shared);
            shared += part;
            let size = size(&set) + part;
            sizes.push((set, size));
        }
        if let Some((_, size)) = sizes.first_mut() {
            *size = (*size + change - shared).max(0);
        }
        for (set, size) in sizes {
            self.resize(fleet, &set, size);
        }
    }

    /// Gives a ReplicaSet another size, and says so.
    fn resize(&mut self, fleet: &Fleet, (place, set): &Set, replicas: i64) {
        let before = number(&set.value["spec"]["replicas"]);
        let mut value: Value = set.value.clone();
        value["spec"]["replicas"] = json!(replicas);
        revision::set_sizes(&mut value, fleet.wanted(), fleet.most());
        if value == set.value {
            return;
        }
        self.change(place, Part::Main, value);
        if before != replicas {
            let way = if replicas > before { "up" } else { "down" };
            let text = format!("Scaled {way} replica set {} from {before} to {replicas}", place.1.name);
            self.event(&fleet.deployment.clone(), DEPLOYMENT, "ScalingReplicaSet", &text);
        }
    }
}

/// True when the number of replicas changed, and not the template.
fn is_scaled_by_hand(fleet: &Fleet) -> bool {
    let active = fleet.sets().filter(|set| size(set) > 0);
    let mut remembered = active.map(|(_, set)| revision::annotation(&set.value, DESIRED));
    remembered.any(|desired| desired != fleet.wanted())
}

/// How large the ReplicaSet of the current template may be.
fn new_size(fleet: &Fleet, now: i64) -> i64 {
    let wanted = fleet.wanted();
    if fleet.deployment.value["spec"]["strategy"]["type"] == "Recreate" || now > wanted {
        return wanted;
    }
    let room = fleet.most() - fleet.total();
    if room <= 0 { now } else { now + room.min(wanted - now) }
}
