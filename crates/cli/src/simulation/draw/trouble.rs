//! What goes wrong: faults of both APIs, crashes, clocks that are set.

use super::{Drawing, Group};

/// Faults of the Cloudflare side, in groups that a world has or has not.
const CLOUDFLARE_FAULTS: &[&[&str]] = &[
    &["429", "429 2", "429 5"],
    &["500", "502", "503", "500 3"],
    &["timeout-before-commit", "timeout-after-commit"],
    &["reset-before-commit", "reset-after-commit", "slow-body"],
    &["late-commit POST", "late-commit PATCH", "late-commit DELETE"],
    &["401", "403", "401 3", "403 3"],
    &["429-bare", "504", "page", "cut-body", "504 POST", "cut-body POST"],
    &["stale-read GET", "stale-read 3 GET", "stale-read GET at /dns_records", "stale-read GET at /zones"],
];

/// Faults of the Kubernetes side.
const KUBERNETES_FAULTS: &[&[&str]] = &[
    &["write-conflict PATCH", "write-conflict 3 PATCH"],
    &["500", "502", "503", "429", "500 5"],
    &[
        "timeout-before-commit",
        "timeout-after-commit",
        "reset-before-commit",
        "reset-after-commit",
        "slow-body",
    ],
    &["watch-cut WATCH", "watch-gap WATCH", "watch-late WATCH", "watch-late 5 WATCH"],
    &["watch-stale WATCH at dnsrecords", "watch-stale WATCH at zones", "watch-stale WATCH at secrets"],
    &["late-commit PATCH"],
    &["401", "403", "401 3", "403 3"],
    &["429-bare", "504", "page", "cut-body", "504 PATCH", "cut-body PATCH"],
    &["stale-read GET", "stale-read 3 GET", "stale-read GET at dnsrecords", "stale-read GET at secrets"],
];

/// Clocks kept by NTP differ by less than the minutes that a mark allows for.
const SMALL_JUMPS: &[&str] = &["jump 4m", "jump -4m", "jump 30s", "jump -30s"];
/// Clocks that are wrong by more.
pub(in super::super) const JUMPS: &[&str] = &["jump 1h", "jump -30m", "jump 10h", "jump -10h"];

impl Drawing {
    pub(super) fn draw_faults(&mut self) {
        if !self.has(Group::Faults) {
            return;
        }
        for (side, groups) in [("cf", CLOUDFLARE_FAULTS), ("kubernetes", KUBERNETES_FAULTS)] {
            for group in groups {
                if self.random.chance(35) {
                    self.faults.extend(group.iter().map(|fault| (side, *fault)));
                }
            }
        }
    }

    pub(super) fn fault(&mut self) {
        let faults = self.faults.clone();
        match self.random.pick(&faults) {
            Some((side, fault)) => {
                let after = self.random.below(5);
                self.line(format!("fault {side} {fault} after {after}"));
            }
            None => self.line("compact"),
        }
    }

    pub(super) fn crash(&mut self) {
        if self.random.chance(40) {
            self.line("crash");
        } else {
            let (write, side) = (1 + self.random.below(6), ["before", "after"][self.random.below(2)]);
            self.line(format!("crash at write {write} {side}"));
            self.time();
        }
        if self.random.chance(40) {
            self.time();
        }
        self.line("start");
    }

    pub(super) fn jump(&mut self) {
        let jumps = if self.random.chance(70) { SMALL_JUMPS } else { JUMPS };
        let jump = self.random.pick(jumps).copied().unwrap_or("jump 1h");
        self.line(jump);
    }
}

#[cfg(test)]
mod tests {
    use sandbox::fault::Fault;

    use super::*;

    #[test]
    fn every_fault_is_drawn_on_every_side_that_has_it() {
        let drawn = |groups: &[&[&str]], fault: Fault| {
            groups.concat().iter().any(|line| line.split(' ').next() == Some(fault.name()))
        };
        for fault in Fault::ALL {
            assert!(drawn(KUBERNETES_FAULTS, fault), "{fault} at Kubernetes");
            assert_eq!(drawn(CLOUDFLARE_FAULTS, fault), !fault.is_of_kubernetes(), "{fault} at Cloudflare");
        }
    }
}
