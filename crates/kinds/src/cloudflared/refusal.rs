//! Why cloudflared would not take a configuration: where, what, and what to do about it. One refusal freezes every host
//! of the tunnel at the last configuration that was taken.

use std::fmt;

use super::address::AddressError;
use super::expression::ExpressionError;

/// What stands in the way of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {cause}")]
pub struct Refusal {
    /// Which part of the configuration.
    pub place: Place,
    /// What is wrong there, and how to mend it.
    pub cause: Cause,
}

/// A part of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The index of the rule, from 0; none for what is said of all of them.
    pub rule: Option<usize>,
    /// The field within the rule, or within the configuration: `originRequest.connectTimeout`.
    pub field: String,
}

/// What keeps cloudflared from taking a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// No rules at all: the one thing that does worse than being refused.
    #[error(
        "there is no rule, and cloudflared takes an empty list and breaks at the first request; add a last rule without hostname and path, such as `http_status:404`"
    )]
    NoRules,
    /// The last rule has a hostname or a path.
    #[error(
        "the last rule must match everything; add one without hostname and path, such as `http_status:404`"
    )]
    LastRuleNotCatchAll,
    /// Another than the last rule has neither.
    #[error(
        "a rule without hostname and path matches everything, and only the last one may; move it to the end, or give it a hostname or a path"
    )]
    CatchAllBeforeLast,
    /// `a.example.com:443`, or `https://…`.
    #[error("a hostname has no port and no scheme; write the name alone")]
    HostnameWithPort,
    /// `a.*.example.com`.
    #[error(
        "a hostname has at most one `*`, and that as its first character; write `*.example.com` for all names below"
    )]
    HostnameWildcard,
    /// A path that Go's regular expressions do not take.
    #[error("the path is no expression that cloudflared takes: {0}")]
    Path(ExpressionError),
    /// `http_status:99`.
    #[error("`http_status:` is followed by a number from 100 to 999, as in `http_status:404`")]
    Status,
    /// A service that is no URL.
    #[error("the service is no URL: {0}")]
    Address(AddressError),
    /// `svc:80`.
    #[error("the service has no scheme or no host; write it as `http://host:port`")]
    AddressIncomplete,
    /// `http://svc:80/x`.
    #[error(
        "a service has no path: requests keep the one they came with; remove what follows the host and port, a final `/` too"
    )]
    AddressWithPath,
    /// A SOCKS proxy's rule without a prefix, or with one that is none.
    #[error("a rule for addresses needs a network, as in `192.0.2.0/24` or `2001:db8::/32`")]
    NetworkPrefix,
    /// A SOCKS proxy's rule with a port that is none.
    #[error("a port is a number from 1 to 65535")]
    NetworkPort,
    /// Access with tags and without a team.
    #[error("Access is required and has `audTag`; give it the `teamName` as well")]
    AccessWithoutTeam,
    /// Not what Go's JSON reads into the field.
    #[error("this must be {0}")]
    Type(Expected),
    /// Two spellings of one field. Go's JSON does not look at case, and which one counts depends on their order.
    #[error("cloudflared reads {0:?} and {1:?} as one field; keep one of them")]
    SameField(String, String),
    /// More rules than are looked at.
    #[error("there are more than {RULES_MAX} rules; kflare does not check more")]
    TooManyRules,
    /// More expressions than are kept.
    #[error(
        "the paths up to this one are too large once their repetitions are written out; kflare does not check more"
    )]
    TooLarge,
}

/// Most rules that are looked at: as many as fit in an object of Kubernetes, with some words each.
pub const RULES_MAX: usize = 20_000;

/// What a field takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Expected {
    /// `{…}`.
    #[error("an object")]
    Object,
    /// `[…]`.
    #[error("a list")]
    List,
    /// `"…"`.
    #[error("a text")]
    Text,
    /// `true` or `false`.
    #[error("`true` or `false`, without quotes")]
    Boolean,
    /// A number of 64 bits.
    #[error("a whole number, without quotes or a decimal point")]
    Integer,
    /// The same, and not below 0.
    #[error("a whole number that is not negative, without quotes or a decimal point")]
    Natural,
    /// A duration.
    #[error("a whole number of seconds, without a unit")]
    Seconds,
}

impl Refusal {
    /// cloudflared takes the configuration and then breaks, instead of keeping the last one.
    #[must_use]
    pub fn crashes(&self) -> bool {
        self.cause == Cause::NoRules
    }

    /// Nothing that cloudflared says: a limit of ours, beyond which we do not know what it would do.
    #[must_use]
    pub fn is_unsure(&self) -> bool {
        use ExpressionError::{TooDeep, TooLarge, TooLong};
        matches!(
            self.cause,
            Cause::SameField(..)
                | Cause::TooManyRules
                | Cause::TooLarge
                | Cause::Path(TooDeep | TooLarge | TooLong)
        )
    }
}

impl Place {
    /// A field of the configuration itself.
    pub(super) fn top(field: &str) -> Self {
        Self { rule: None, field: field.to_owned() }
    }

    /// A field of a rule.
    pub(super) fn rule(index: usize, field: &str) -> Self {
        Self { rule: Some(index), field: field.to_owned() }
    }

    /// A field within this one.
    pub(super) fn below(&self, field: &str) -> Self {
        let dot = if self.field.is_empty() { "" } else { "." };
        Self { rule: self.rule, field: format!("{}{dot}{field}", self.field) }
    }

    /// An element of this list.
    pub(super) fn element(&self, index: usize) -> Self {
        Self { rule: self.rule, field: format!("{}[{index}]", self.field) }
    }

    pub(super) fn refuse(&self, cause: Cause) -> Refusal {
        Refusal { place: self.clone(), cause }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rule {
            Some(index) if self.field.is_empty() => write!(f, "ingress[{index}]"),
            Some(index) => write!(f, "ingress[{index}].{}", self.field),
            None if self.field.is_empty() => f.write_str("the configuration"),
            None => f.write_str(&self.field),
        }
    }
}
