//! Plans of zones: what they cost, and the limits that depend on them.
//! Changing a zone's plan is left to the subscription and the zone's PATCH.

use serde_json::{Value, json};

/// A zone's plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Plan {
    /// Free.
    #[default]
    Free,
    /// Pro.
    Pro,
    /// Business.
    Business,
    /// Enterprise.
    Enterprise,
}

impl Plan {
    /// Every plan, the smallest first.
    pub const ALL: [Self; 4] = [Self::Free, Self::Pro, Self::Business, Self::Enterprise];

    /// The word on the wire (`legacy_id`, `rate_plan.id`).
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Pro => "pro",
            Self::Business => "business",
            Self::Enterprise => "enterprise",
        }
    }

    /// The plan of a rate plan (cloudflare API docs: free, lite, pro, pro_plus, business, enterprise,
    /// partners_*).
    #[must_use]
    pub fn of_rate_plan(id: &str) -> Option<Self> {
        match id.strip_prefix("partners_").unwrap_or(id) {
            "free" | "lite" => Some(Self::Free),
            "pro" | "pro_plus" => Some(Self::Pro),
            "business" => Some(Self::Business),
            "enterprise" | "ent" => Some(Self::Enterprise),
            _ => None,
        }
    }

    pub(super) fn of_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|plan| plan.id() == id)
    }

    /// Cloudflare API docs give the Free plan's id; the others are ids of this world.
    const fn id(self) -> &'static str {
        match self {
            Self::Free => "0feeeeeeeeeeeeeeeeeeeeeeeeeeeeee",
            Self::Pro => "b1a577b577b577b577b577b577b577b1",
            Self::Business => "b2a577b577b577b577b577b577b577b2",
            Self::Enterprise => "94f3b7b768b0458b56d2cac4fe5ec0f9",
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Free => "Free Website",
            Self::Pro => "Pro Website",
            Self::Business => "Business Website",
            Self::Enterprise => "Enterprise Website",
        }
    }

    /// Dollars a month; Enterprise is by contract.
    pub(super) const fn price(self) -> u32 {
        match self {
            Self::Free | Self::Enterprise => 0,
            Self::Pro => 25,
            Self::Business => 250,
        }
    }

    pub(super) const fn frequency(self) -> &'static str {
        match self {
            Self::Free => "",
            _ => "monthly",
        }
    }

    pub(super) fn object(self) -> Value {
        json!({
            "id": self.id(),
            "name": self.title(),
            "price": self.price(),
            "currency": "USD",
            "frequency": self.frequency(),
            "is_subscribed": true,
            "can_subscribe": false,
            "legacy_id": self.name(),
            "legacy_discount": false,
            "externally_managed": false,
        })
    }

    /// DNS records of a zone. Cloudflare DNS docs: Free 200 for zones created since 2024-09-01, Pro and
    /// Business 3,500; Enterprise by contract, up to a million per account.
    pub(super) const fn record_quota(self) -> usize {
        match self {
            Self::Free => 200,
            Self::Pro | Self::Business => 3_500,
            Self::Enterprise => 1_000_000,
        }
    }

    /// Cloudflare DNS docs: operations of one batch, 200 on Free and 3,500 on the others.
    pub(super) const fn batch_max(self) -> usize {
        match self {
            Self::Free => 200,
            _ => 3_500,
        }
    }

    /// Cloudflare DNS docs: characters of a comment.
    pub(super) const fn comment_max(self) -> usize {
        match self {
            Self::Free => 100,
            _ => 500,
        }
    }

    /// Cloudflare DNS docs: tags of a record; none on Free.
    pub(super) const fn tag_quota(self) -> usize {
        match self {
            Self::Free => 0,
            _ => 20,
        }
    }

    /// Cloudflare API docs: the smallest TTL besides 1.
    pub(super) const fn ttl_min(self) -> u64 {
        match self {
            Self::Enterprise => 30,
            _ => 60,
        }
    }

    /// Page rules, which the zone object's `meta` tells (Free 3; the paid numbers are the documented ones).
    pub(super) const fn page_rules(self) -> u32 {
        match self {
            Self::Free => 3,
            Self::Pro => 20,
            Self::Business => 50,
            Self::Enterprise => 125,
        }
    }

    /// Cloudflare docs: an activation check once in five minutes, on Free once an hour.
    pub(super) const fn activation_check_s(self) -> i64 {
        match self {
            Self::Free => 3_600,
            _ => 300,
        }
    }
}
