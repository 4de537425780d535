//! The settings of an origin (`originRequest`), of one rule or of all: read as strictly as cloudflared reads them.
//! Keeps only what decides whether a configuration is taken.

use std::net::{Ipv4Addr, Ipv6Addr};

use serde_json::Value;

use super::members::Members;
use super::refusal::{Cause, Expected, Place, Refusal};

/// What `originRequest` says.
#[derive(Clone, Debug, Default)]
pub(super) struct Origin {
    pub(super) bastion: Option<bool>,
    /// A file beside cloudflared.
    pub(super) ca_pool: Option<String>,
    networks: Vec<Network>,
    access: Option<Access>,
}

/// A rule for the addresses that a SOCKS proxy may reach.
#[derive(Clone, Debug)]
struct Network {
    place: Place,
    prefix: Option<String>,
    ports: Vec<i64>,
}

#[derive(Clone, Debug)]
struct Access {
    place: Place,
    required: bool,
    team: bool,
    tags: bool,
}

impl Origin {
    /// Reads every field that cloudflared knows. Unknown ones are nothing to it.
    pub(super) fn read(members: &Members<'_>) -> Result<Self, Refusal> {
        for name in ["connectTimeout", "tlsTimeout", "tcpKeepAlive", "keepAliveTimeout"] {
            members.integer(name, Expected::Seconds)?;
        }
        members.integer("keepAliveConnections", Expected::Integer)?;
        members.natural("proxyPort")?;
        for name in
            ["noHappyEyeballs", "matchSNItoHost", "noTLSVerify", "disableChunkedEncoding", "http2Origin"]
        {
            members.boolean(name)?;
        }
        for name in ["httpHostHeader", "originServerName", "proxyAddress", "proxyType"] {
            members.text(name)?;
        }
        let place = members.place("ipRules");
        let networks = members.list("ipRules")?.iter().enumerate();
        Ok(Self {
            bastion: members.boolean("bastionMode")?,
            ca_pool: members.text("caPool")?.map(str::to_owned),
            networks: networks
                .map(|(index, value)| Network::read(value, place.element(index)))
                .collect::<Result<_, _>>()?,
            access: members
                .object("access")?
                .map(|access| Access::read(&access, members.place("access")))
                .transpose()?,
        })
    }

    /// What cloudflared asks of the rules for addresses when it starts a SOCKS proxy; elsewhere it passes over bad ones.
    pub(super) fn check_networks(&self) -> Result<(), Refusal> {
        self.networks.iter().try_for_each(Network::check)
    }

    pub(super) fn check_access(&self) -> Result<(), Refusal> {
        match &self.access {
            Some(access) if access.required && !access.team && access.tags => {
                Err(access.place.below("teamName").refuse(Cause::AccessWithoutTeam))
            }
            _ => Ok(()),
        }
    }
}

impl Network {
    fn read(value: &Value, place: Place) -> Result<Self, Refusal> {
        let members = Members::read(value, place.clone())?;
        members.boolean("allow")?;
        let prefix = members.text("prefix")?.map(str::to_owned);
        let mut ports = Vec::new();
        for (index, port) in members.list("ports")?.iter().enumerate() {
            // `null` leaves the port what it was: 0.
            let port = if port.is_null() { Some(0) } else { port.as_i64() };
            let place = members.place("ports").element(index);
            ports.push(port.ok_or_else(|| place.refuse(Cause::Type(Expected::Integer)))?);
        }
        Ok(Self { place, prefix, ports })
    }

    fn check(&self) -> Result<(), Refusal> {
        if !self.prefix.as_deref().is_some_and(is_network) {
            return Err(self.place.below("prefix").refuse(Cause::NetworkPrefix));
        }
        match self.ports.iter().position(|port| !(1..=65_535).contains(port)) {
            Some(index) => Err(self.place.below("ports").element(index).refuse(Cause::NetworkPort)),
            None => Ok(()),
        }
    }
}

impl Access {
    fn read(members: &Members<'_>, place: Place) -> Result<Self, Refusal> {
        let required = members.boolean("required")?.unwrap_or_default();
        let team = members.text("teamName")?.is_some_and(|team| !team.is_empty());
        members.text("environment")?;
        let tags = members.list("audTag")?;
        let wrong = tags.iter().position(|tag| !tag.is_string() && !tag.is_null());
        match wrong {
            Some(index) => Err(members.place("audTag").element(index).refuse(Cause::Type(Expected::Text))),
            None => Ok(Self { place, required, team, tags: !tags.is_empty() }),
        }
    }
}

/// As Go's `net.ParseCIDR` takes it: an address, a slash, and as many digits as one likes for the length.
pub(super) fn is_network(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let bits = if address.parse::<Ipv4Addr>().is_ok() {
        32
    } else if address.parse::<Ipv6Addr>().is_ok() {
        128
    } else {
        return false;
    };
    !length.is_empty()
        && length.bytes().all(|byte| byte.is_ascii_digit())
        && length.parse::<u32>().is_ok_and(|length| length <= bits)
}
