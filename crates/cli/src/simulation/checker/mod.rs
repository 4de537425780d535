//! What must hold in every world, read from raw facts: the two worlds' histories, their request logs and whatever
//! Kubernetes shows. Knows nothing of `plan`.

mod account;
mod exposure;
mod obedience;
mod ownership;
mod reasons;
mod silence;
mod telling;
mod tenants;
mod truth;

#[cfg(test)]
mod tests;

use serde_json::Value;

use super::draw::{Drawn, JUMPS};
use super::facts::Facts;
use crate::world::{World, misfits};
pub(super) use exposure::SECRET_MARK;
pub(super) use silence::Silence;

/// Faults after which a watch may tell nothing, until it is opened anew. Those that name no method hit watches, too.
const HANGS_WATCHES: [&str; 3] = ["watch-stale", "fault kubernetes timeout-", "fault kubernetes slow-body"];

/// Every promise that is broken at any time, in words; none when all is well. The world must keep its history.
#[must_use]
pub fn promises(world: &World) -> Vec<String> {
    always_promised(world, &Facts::of(world))
}

fn always_promised(world: &World, facts: &Facts) -> Vec<String> {
    assert!(world.options().history, "without its history a world shows nothing");
    let mut broken = exposure::exposed(world);
    broken.extend(ownership::foreign_touched(facts));
    broken.extend(telling::regressed(facts));
    broken.extend(telling::repeated_events(facts));
    broken.extend(misfits(&world.cloudflare));
    broken
}

/// Records that were made twice: an identical one beside another, or more at a place than were ever wanted there. Where
/// commits may be late, an extra one may stand for a while.
#[must_use]
pub fn doubled(world: &World, late_commits: bool) -> Vec<String> {
    let facts = Facts::of(world);
    let lists = late_commits.then(|| ownership::lists(world));
    let mut broken = ownership::twins(&facts, lists.as_deref(), world.clock.now());
    broken.extend(ownership::surplus(&facts, late_commits));
    broken
}

/// The same for a drawn world, of which more is promised over all its time.
pub(super) fn drawn_promises(world: &World, drawn: &Drawn) -> Vec<String> {
    let facts = Facts::of(world);
    let mut broken = always_promised(world, &facts);
    let late_commits = drawn.has("fault cf late-commit");
    let lists = late_commits.then(|| ownership::lists(world));
    broken.extend(ownership::twins(&facts, lists.as_deref(), world.clock.now()));
    broken.extend(ownership::surplus(&facts, late_commits || clock_was_wrong(drawn)));
    let watches_hang = watches_may_hang(drawn);
    broken.extend(obedience::disobeyed(&facts, watches_hang));
    broken.extend(telling::turned_while_paused(&facts, watches_hang));
    broken
}

/// Conditions that nothing explains, once all is quiet.
pub(super) fn unexplained(world: &World, has_looked: bool) -> Vec<String> {
    reasons::unexplained(world, &Facts::of(world), has_looked)
}

/// True when a resource cannot go because its zone did: it says so, and how to let it go.
pub(super) fn lost_its_zone(world: &World, object: &Value) -> bool {
    reasons::lost_its_zone(world, object)
}

/// Resources that say Ready and are not.
pub(super) fn lies(world: &World) -> Vec<String> {
    truth::lies(world, &Facts::of(world))
}

/// What is left at Cloudflare when every resource is gone.
pub(super) fn orphans(world: &World, drawn: &Drawn) -> Vec<String> {
    ownership::orphans(&Facts::of(world), world, clock_was_wrong(drawn))
}

fn watches_may_hang(drawn: &Drawn) -> bool {
    HANGS_WATCHES.iter().any(|fault| drawn.has(fault))
}

/// With a clock that is wrong by more than the minutes that a mark allows for, a `created_on` tells nothing.
fn clock_was_wrong(drawn: &Drawn) -> bool {
    JUMPS.iter().any(|jump| drawn.has(jump))
}
