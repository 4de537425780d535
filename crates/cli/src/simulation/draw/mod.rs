//! From a seed to a world and what happens in it: who is there, what people and strangers do, what goes wrong; written
//! as a scenario. What must come of it is the checkers' business.

mod cast;
mod dashboard;
mod people;
mod trouble;
mod value;

use self::cast::{Account, Record, Zone};
use super::random::Random;
pub(super) use cast::{SECOND_TOKEN, THIRD_TOKEN, secret_manifest};
pub(super) use trouble::JUMPS;

/// Things that happen after the first manifests.
const EVENTS_MAX: usize = 30;

/// In how many of 100 worlds a group is. A world with everything at once only ever finds the loudest bug (swarm
/// testing: Groce and others, 2012).
const GROUP_CHANCE: usize = 30;

/// A world and what happens in it.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The seed.
    pub seed: u64,
    /// The `world` line.
    pub world: String,
    /// The commands, each a line of the scenario language.
    pub lines: Vec<String>,
    /// What is wrong in Kubernetes when all is over (a broken Secret, a pause) is mended before the world is judged.
    pub is_mended: bool,
}

impl Drawn {
    /// True when a line, or the world's, has this in it.
    #[must_use]
    pub fn has(&self, what: &str) -> bool {
        self.world.contains(what) || self.lines.iter().any(|line| line.contains(what))
    }
}

/// Draws a world.
#[must_use]
pub fn draw(seed: u64) -> Drawn {
    let mut drawing = Drawing { random: Random::new(seed), ..Drawing::default() };
    let world = drawing.world();
    drawing.draw_groups();
    drawing.draw_cast();
    drawing.begin();
    for _ in 0..4 + drawing.random.below(EVENTS_MAX) {
        drawing.event();
    }
    Drawn { seed, world, is_mended: drawing.random.chance(60), lines: drawing.lines }
}

/// What can happen in a world, in groups that it has or has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    /// Specs change: values, and optional fields that are set and dropped again.
    Edits,
    /// Adoption policies and `adopt-id`, right and wrong.
    Adoption,
    /// Deletion policies, right and wrong.
    Keeping,
    /// Records, zones and accounts are paused.
    Pausing,
    /// `allowedNamespaces` and the labels of namespaces.
    Tenants,
    /// People remove labels, statuses and finalizers by hand.
    Tampering,
    /// Secrets are rotated and broken.
    Secrets,
    /// Tokens are disabled, and lose permissions.
    Tokens,
    /// Zones are moved, deleted and made in the dashboard.
    ZoneDesk,
    /// Records are made by others.
    Strangers,
    /// Records are edited and deleted by others.
    Desk,
    /// Objects are deleted, and mostly made anew.
    Deletions,
    /// The operator is killed.
    Crashes,
    /// Clocks are set.
    Jumps,
    /// The APIs fail.
    Faults,
}

const GROUPS: &[Group] = &[
    Group::Adoption,
    Group::Keeping,
    Group::Pausing,
    Group::Tenants,
    Group::Tampering,
    Group::Secrets,
    Group::Tokens,
    Group::ZoneDesk,
    Group::Strangers,
    Group::Desk,
    Group::Deletions,
    Group::Crashes,
    Group::Jumps,
    Group::Faults,
];

#[derive(Default)]
struct Drawing {
    random: Random,
    groups: Vec<Group>,
    faults: Vec<(&'static str, &'static str)>,
    accounts: Vec<Account>,
    zones: Vec<Zone>,
    records: Vec<Record>,
    lines: Vec<String>,
}

impl Drawing {
    fn world(&mut self) -> String {
        // A zone that only initializes would change its status once more while nothing is to be written.
        let mut words = vec!["world", "cf.initializing=off"];
        let mut add = |percent, word| {
            if self.random.chance(percent) {
                words.push(word);
            }
        };
        add(40, "drift=10m");
        add(20, "election=on");
        add(15, "replicas=2");
        add(10, "deletion=retain");
        add(30, "cf.culprit=pointer");
        add(30, "cf.identical=81057");
        add(30, "cf.coexistence=specific");
        add(30, "cf.txt-quoted=off");
        add(20, "cf.lag=2s");
        add(20, "cf.rate-limit-code=971");
        words.join(" ")
    }

    fn draw_groups(&mut self) {
        self.groups = vec![Group::Edits];
        for group in GROUPS {
            if self.random.chance(GROUP_CHANCE) {
                self.groups.push(*group);
            }
        }
        self.draw_faults();
    }

    fn has(&self, group: Group) -> bool {
        self.groups.contains(&group)
    }

    fn line(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    /// The first manifests, in any order: children may come before their parents.
    fn begin(&mut self) {
        for name in ["apps", "team"] {
            self.line(format!("apply {}", cast::namespace_manifest(name)));
        }
        let mut lines = self.manifests();
        while !lines.is_empty() {
            let next = self.random.below(lines.len());
            self.lines.push(lines.swap_remove(next));
            if self.random.chance(12) {
                self.time();
            }
        }
    }

    fn time(&mut self) {
        const TIMES: &[&str] =
            &["settle", "settle", "advance 100ms", "advance 2s", "advance 20s", "advance 90s", "advance 12m"];
        let time = self.random.pick(TIMES).copied().unwrap_or("settle");
        self.line(time);
    }

    fn event(&mut self) {
        if self.random.chance(25) {
            return self.time();
        }
        let groups = self.groups.clone();
        match self.random.pick(&groups).copied().unwrap_or(Group::Edits) {
            Group::Edits => self.edit(),
            Group::Adoption => self.ask_for_adoption(),
            Group::Keeping => self.say_what_stays(),
            Group::Pausing => self.pause(),
            Group::Tenants => self.admit_tenants(),
            Group::Tampering => self.tamper(),
            Group::Secrets => self.change_secret(),
            Group::Tokens => self.change_token(),
            Group::ZoneDesk => self.change_zone(),
            Group::Strangers => self.make_record(),
            Group::Desk => self.change_record(),
            Group::Deletions => self.delete(),
            Group::Crashes => self.crash(),
            Group::Jumps => self.jump(),
            Group::Faults => self.fault(),
        }
    }

    /// The place of one of the records.
    fn any_record(&mut self) -> usize {
        self.random.below(self.records.len())
    }
}
