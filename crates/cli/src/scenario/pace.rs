//! How fast a scenario goes in real time: as fast as its pauses together take a bearable time, and no faster than pauses
//! can shrink beside requests that take what they take. Which scenarios cannot be had in real time at all is said here.

use std::time::Duration;

use super::script::{Command, Script, Step};
use crate::world::Side;

/// The pauses of one scenario together, where they can be made so short.
const BEARABLE: Duration = Duration::from_secs(4);

/// The least that pauses are shortened to: with it a back-off of a second is a tenth, still above a request.
const FACTOR_MAX: f64 = 0.1;

/// The most: the eleven hours in which every object is looked at once are eight seconds. With less, what it takes to make
/// an object would be hours of the scenario.
const FACTOR_MIN: f64 = 1.0 / 5_000.0;

/// The shortest pause between two drift checks: whoever looks whether all is at rest must find a moment between them.
const DRIFT_MIN: Duration = Duration::from_secs(2);

/// The pauses of one scenario together, when they are as short as they can be. Longer ones want virtual time.
const PAUSES_MAX: Duration = Duration::from_secs(30);

impl Script {
    /// All pauses that it orders.
    #[must_use]
    pub fn advances(&self) -> Duration {
        let pause = |step: &Step| match step.command {
            Command::Advance(by) => by,
            _ => Duration::ZERO,
        };
        self.steps.iter().map(pause).sum()
    }

    /// By how much durations are scaled in real time.
    #[must_use]
    pub fn factor(&self) -> f64 {
        let wanted = BEARABLE.as_secs_f64() / self.advances().as_secs_f64().max(f64::MIN_POSITIVE);
        let drift = self.setup.drift.unwrap_or(Duration::MAX).as_secs_f64();
        wanted.max(DRIFT_MIN.as_secs_f64() / drift).clamp(FACTOR_MIN, FACTOR_MAX)
    }

    /// What a real API server and a real clock cannot do.
    #[must_use]
    pub fn beyond_reality(&self) -> Option<String> {
        if self.advances().mul_f64(FACTOR_MIN) > PAUSES_MAX {
            return Some(format!("pauses of {} hours", self.advances().as_secs() / 3_600));
        }
        self.steps.iter().find(|step| is_beyond(&step.command)).map(|step| step.text.clone())
    }

    /// True when it edits twice while an operator may already be at work on the first.
    #[must_use]
    pub fn edits_in_one_moment(&self) -> bool {
        self.steps.windows(2).any(|pair| pair.iter().all(|step| is_edit(&step.command)))
    }

    /// True when it has a command whose meaning can hang on time that is not scaled, or on the moment of a request.
    #[must_use]
    pub fn hangs_on_time(&self) -> bool {
        self.steps.iter().any(|step| {
            matches!(step.command, Command::Advance(_) | Command::Fault(_) | Command::Crash(Some(_)))
        })
    }
}

/// A change of Kubernetes by a user.
const fn is_edit(command: &Command) -> bool {
    matches!(
        command,
        Command::Apply(_)
            | Command::ApplyInline(_)
            | Command::Delete(_)
            | Command::Patch(..)
            | Command::PatchStatus(..)
            | Command::Annotate(..)
    )
}

fn is_beyond(command: &Command) -> bool {
    match command {
        Command::Jump { .. } | Command::Compact => true,
        Command::Fault(order) => order.side == Side::Kubernetes,
        Command::Crash(Some(point)) => point.whose != Some(Side::Cloudflare),
        // The operator's own account is in it.
        Command::Delete(object) => {
            object.resource.kind == "Namespace" && object.name == crate::world::SECRET_NAMESPACE
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn script(text: &str) -> Script {
        Script::parse("t.txt", Path::new(""), text).unwrap()
    }

    #[test]
    fn pauses_are_as_short_as_is_bearable() {
        assert!((script("settle").factor() - FACTOR_MAX).abs() < f64::EPSILON);
        let hour = script("advance 20m\nadvance 40m");
        assert_eq!(hour.advances().mul_f64(hour.factor()), BEARABLE);
        let drifting = script("world drift=10m\nadvance 1h");
        assert_eq!(Duration::from_secs(600).mul_f64(drifting.factor()), DRIFT_MIN);
    }

    #[test]
    fn what_cannot_be_had_in_real_time_is_named() {
        let beyond = |text| script(text).beyond_reality();
        for text in
            ["jump 1h", "compact", "fault kubernetes 500 1", "crash at write 2", "delete ns/kflare-system"]
        {
            assert_eq!(beyond(text).as_deref(), Some(text));
        }
        assert!(beyond("advance 90h").is_some());
        for text in [
            "world replicas=2\nsettle",
            "advance 24h",
            "fault cf 500 1",
            "crash at cf write 2",
            "crash",
            "delete ns/apps",
        ] {
            assert_eq!(beyond(text), None);
        }
    }
}
