//! How fast a scenario goes in real time: as fast as its pauses together take a bearable time, and no faster than pauses
//! can shrink beside requests that take what they take. Which scenarios cannot be had in real time at all is said here.

use std::time::Duration;

use super::script::{Command, Script, Step};
use crate::world::Side;

/// The pauses of one scenario together, where they can be made so short.
const BEARABLE: Duration = Duration::from_secs(8);

/// The least that pauses are shortened to: with it a back-off of a second is a tenth, still above a request.
const FACTOR_MAX: f64 = 0.1;

/// The most: the eleven hours in which every object is looked at once are as long as is bearable. Requests, which are not
/// scaled by as much, still fit between two looks.
const FACTOR_MIN: f64 = 1.0 / 5_000.0;

/// The pauses of one scenario together, when they are as short as they can be. Longer ones want virtual time.
const PAUSES_MAX: Duration = Duration::from_secs(32);

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
        wanted.clamp(FACTOR_MIN, FACTOR_MAX)
    }

    /// What a real API server and a real clock cannot do.
    #[must_use]
    pub fn beyond_reality(&self) -> Option<String> {
        if self.setup.replicas > 1 {
            return Some("replicas".to_owned());
        }
        if self.advances().mul_f64(FACTOR_MIN) > PAUSES_MAX {
            return Some(format!("pauses of {} hours", self.advances().as_secs() / 3_600));
        }
        self.steps.iter().find(|step| is_beyond(&step.command)).map(|step| step.text.clone())
    }

    /// True when it has a command whose meaning can hang on time that is not scaled, or on the moment of a request.
    #[must_use]
    pub fn hangs_on_time(&self) -> bool {
        self.steps.iter().any(|step| {
            matches!(step.command, Command::Advance(_) | Command::Fault(_) | Command::Crash(Some(_)))
        })
    }
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
