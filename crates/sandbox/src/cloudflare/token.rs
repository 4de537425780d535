//! API tokens: whose they are, what they may do and where.
//! Finding the token of a request and refusing it is left to [`super::access`].

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;

/// A permission group of a token. An `Edit` group includes reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Permission {
    /// Read accounts.
    AccountSettingsRead,
    /// Rename accounts and change their settings.
    AccountSettingsEdit,
    /// Read the account's own tokens.
    AccountTokensRead,
    /// Manage the account's own tokens.
    AccountTokensEdit,
    /// Read a user's tokens.
    UserTokensRead,
    /// Manage a user's tokens.
    UserTokensEdit,
    /// Read the user's details.
    UserDetailsRead,
    /// Read the user's memberships.
    MembershipsRead,
    /// Read plans and subscriptions.
    BillingRead,
    /// Change plans.
    BillingEdit,
    /// Read zones.
    ZoneRead,
    /// Create, change and delete zones.
    ZoneEdit,
    /// Read records.
    DnsRead,
    /// Change records.
    DnsEdit,
    /// Purge the cache.
    CachePurge,
    /// Read tunnels, their configurations and tokens.
    TunnelRead,
    /// Create, configure and delete tunnels.
    TunnelEdit,
}

impl Permission {
    /// Every permission that this world knows.
    pub const ALL: [Self; 17] = [
        Self::AccountSettingsRead,
        Self::AccountSettingsEdit,
        Self::AccountTokensRead,
        Self::AccountTokensEdit,
        Self::UserTokensRead,
        Self::UserTokensEdit,
        Self::UserDetailsRead,
        Self::MembershipsRead,
        Self::BillingRead,
        Self::BillingEdit,
        Self::ZoneRead,
        Self::ZoneEdit,
        Self::DnsRead,
        Self::DnsEdit,
        Self::CachePurge,
        Self::TunnelRead,
        Self::TunnelEdit,
    ];

    /// The name that the dashboard shows.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AccountSettingsRead => "Account Settings Read",
            Self::AccountSettingsEdit => "Account Settings Edit",
            Self::AccountTokensRead => "Account API Tokens Read",
            Self::AccountTokensEdit => "Account API Tokens Edit",
            Self::UserTokensRead => "API Tokens Read",
            Self::UserTokensEdit => "API Tokens Edit",
            Self::UserDetailsRead => "User Details Read",
            Self::MembershipsRead => "Memberships Read",
            Self::BillingRead => "Billing Read",
            Self::BillingEdit => "Billing Edit",
            Self::ZoneRead => "Zone Read",
            Self::ZoneEdit => "Zone Edit",
            Self::DnsRead => "DNS Read",
            Self::DnsEdit => "DNS Edit",
            Self::CachePurge => "Cache Purge",
            Self::TunnelRead => "Cloudflare Tunnel Read",
            Self::TunnelEdit => "Cloudflare Tunnel Edit",
        }
    }

    /// What the permission is granted on, as permission groups say it.
    #[must_use]
    pub const fn scope(self) -> &'static str {
        match self {
            Self::AccountSettingsRead
            | Self::AccountSettingsEdit
            | Self::AccountTokensRead
            | Self::AccountTokensEdit
            | Self::BillingRead
            | Self::BillingEdit
            | Self::TunnelRead
            | Self::TunnelEdit => "com.cloudflare.api.account",
            Self::UserTokensRead | Self::UserTokensEdit | Self::UserDetailsRead | Self::MembershipsRead => {
                "com.cloudflare.api.user"
            }
            Self::ZoneRead | Self::ZoneEdit | Self::DnsRead | Self::DnsEdit | Self::CachePurge => {
                "com.cloudflare.api.account.zone"
            }
        }
    }

    /// Where the dashboard lists it.
    pub(super) const fn category(self) -> &'static str {
        match self {
            Self::ZoneRead | Self::ZoneEdit | Self::DnsRead | Self::DnsEdit => "dns_and_zones",
            Self::CachePurge => "cache_and_performance",
            Self::TunnelRead | Self::TunnelEdit => "cloudflare_one_and_zero_trust",
            _ => "account_and_billing",
        }
    }

    /// The group that includes this one: reading is part of editing.
    const fn within(self) -> Option<Self> {
        match self {
            Self::AccountSettingsRead => Some(Self::AccountSettingsEdit),
            Self::AccountTokensRead => Some(Self::AccountTokensEdit),
            Self::UserTokensRead => Some(Self::UserTokensEdit),
            Self::BillingRead => Some(Self::BillingEdit),
            Self::ZoneRead => Some(Self::ZoneEdit),
            Self::DnsRead => Some(Self::DnsEdit),
            Self::TunnelRead => Some(Self::TunnelEdit),
            _ => None,
        }
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A permission's name that is not one of [`Permission::ALL`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown permission {name:?}; known are {}", Permission::ALL.map(Permission::name).join(", "))]
pub struct UnknownPermission {
    name: String,
}

impl FromStr for Permission {
    type Err = UnknownPermission;

    /// Takes the dashboard's word `Edit` and the API's word `Write` for the same group.
    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let wanted = name.replace(" Write", " Edit");
        Self::ALL
            .into_iter()
            .find(|permission| permission.name().eq_ignore_ascii_case(&wanted))
            .ok_or_else(|| UnknownPermission { name: name.to_owned() })
    }
}

/// Whose token it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A person's token; all tokens of one user share a rate limit.
    User {
        /// The user's id or any name for it.
        user: String,
    },
    /// An account-owned token (`cfat_…`).
    Account {
        /// The account that owns it.
        account_id: String,
    },
}

/// Which accounts or zones a token reaches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// All of them.
    #[default]
    All,
    /// Only these ids.
    Only(BTreeSet<String>),
}

impl Scope {
    pub(super) fn holds(&self, id: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(ids) => ids.contains(id),
        }
    }
}

/// What was last done to a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TokenStatus {
    /// Usable.
    #[default]
    Active,
    /// Switched off by its owner.
    Disabled,
    /// Past its end, whatever `expires_on` says.
    Expired,
}

impl TokenStatus {
    /// The word on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Disabled => "disabled",
            Self::Expired => "expired",
        }
    }
}

/// A token without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Whose it is.
    pub kind: TokenKind,
    /// What it may do.
    pub permissions: BTreeSet<Permission>,
    /// In which accounts.
    pub accounts: Scope,
    /// On which zones of these accounts.
    pub zones: Scope,
    /// What was last done to it.
    pub status: TokenStatus,
    /// When it ends.
    pub expires_on: Option<Timestamp>,
    /// When it begins.
    pub not_before: Option<Timestamp>,
}

impl Token {
    /// A user's token with every permission on one account and all its zones.
    #[must_use]
    pub fn all(account_id: &str) -> Self {
        Self {
            kind: TokenKind::User { user: "user-1".to_owned() },
            permissions: Permission::ALL.into(),
            accounts: Scope::Only([account_id.to_owned()].into()),
            zones: Scope::All,
            status: TokenStatus::Active,
            expires_on: None,
            not_before: None,
        }
    }

    /// An account-owned token with every permission on that account; its secret should begin with `cfat_`.
    #[must_use]
    pub fn account_owned(account_id: &str) -> Self {
        Self { kind: TokenKind::Account { account_id: account_id.to_owned() }, ..Self::all(account_id) }
    }

    /// The same with only these permissions.
    #[must_use]
    pub fn with_permissions(mut self, permissions: impl IntoIterator<Item = Permission>) -> Self {
        self.permissions = permissions.into_iter().collect();
        self
    }

    pub(super) fn grants(&self, permission: Permission) -> bool {
        self.permissions.contains(&permission)
            || permission.within().is_some_and(|wider| self.permissions.contains(&wider))
    }

    pub(super) fn reaches_account(&self, account_id: &str) -> bool {
        let own = match &self.kind {
            TokenKind::User { .. } => true,
            TokenKind::Account { account_id: owner } => owner == account_id,
        };
        own && self.accounts.holds(account_id)
    }

    pub(super) fn status_at(&self, now: Timestamp) -> TokenStatus {
        match self.status {
            TokenStatus::Active if self.expires_on.is_some_and(|end| end <= now) => TokenStatus::Expired,
            status => status,
        }
    }

    pub(super) fn is_usable_at(&self, now: Timestamp) -> bool {
        self.status_at(now) == TokenStatus::Active && self.not_before.is_none_or(|begin| begin <= now)
    }
}
