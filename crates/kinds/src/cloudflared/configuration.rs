//! A whole configuration: whether cloudflared takes it, and which rule it finds for a request.

use serde_json::Value;

use super::address::{Address, AddressError};
use super::expression::PathExpression;
use super::hostname::{Hostname, check_hostname, split_port};
use super::members::Members;
use super::origin::Origin;
use super::refusal::{Cause, Expected, Place, RULES_MAX, Refusal};
use super::service::Service;

/// Most instructions that the paths of one configuration may have together: 25 MB of them.
const PROGRAMS_MAX: usize = 1 << 20;

/// A configuration that cloudflared takes, ready to be asked about requests. Nothing is compiled again for those.
#[derive(Debug)]
pub struct Configuration(Vec<Rule>);

#[derive(Debug)]
struct Rule {
    hostname: Option<Hostname>,
    path: Option<PathExpression>,
    /// The file of certificates that cloudflared reads for the rule.
    ca_pool: Option<String>,
}

impl Configuration {
    /// Reads the `config` of Cloudflare's API (`ingress`, `originRequest`, `warp-routing`), as it is handed to
    /// cloudflared.
    ///
    /// # Errors
    /// The first thing for which cloudflared would keep the configuration that it has.
    pub fn read(config: &Value) -> Result<Self, Refusal> {
        let members = Members::read(config, Place::top(""))?;
        let defaults = members.object("originRequest")?.map(|origin| Origin::read(&origin)).transpose()?;
        let defaults = defaults.unwrap_or_default();
        if let Some(routing) = members.object("warp-routing")? {
            routing.integer("connectTimeout", Expected::Seconds)?;
            routing.integer("tcpKeepAlive", Expected::Seconds)?;
            routing.natural("maxActiveFlows")?;
        }
        let rules = members.list("ingress")?;
        let place = members.place("ingress");
        match rules.len() {
            0 => return Err(place.refuse(Cause::NoRules)),
            1..=RULES_MAX => {}
            _ => return Err(place.refuse(Cause::TooManyRules)),
        }
        let mut read = Vec::with_capacity(rules.len());
        let mut size = 0;
        for (index, rule) in rules.iter().enumerate() {
            let rule = Rule::read(rule, index, index + 1 == rules.len(), &defaults)?;
            size += rule.path.as_ref().map_or(0, PathExpression::size);
            if size > PROGRAMS_MAX {
                return Err(Place::rule(index, "path").refuse(Cause::TooLarge));
            }
            read.push(rule);
        }
        Ok(Self(read))
    }

    /// The index of the rule that cloudflared finds for a request: the first that matches. The host may have a port;
    /// it is compared as it stands, so that `A.example.com` is not `a.example.com`. The path is decoded and has no
    /// query. (Requests for cloudflared's own management host never come here.)
    #[must_use]
    pub fn rule_for(&self, host: &str, path: &[u8]) -> usize {
        let host = split_port(host).unwrap_or(host);
        self.0.iter().position(|rule| rule.matches(host, path)).unwrap_or(self.0.len() - 1)
    }

    /// The same for a URL: `https://a.example.com/x%20y`.
    ///
    /// # Errors
    /// That it is no URL.
    pub fn rule_for_url(&self, url: &str) -> Result<usize, AddressError> {
        let address = Address::parse(url)?;
        Ok(self.rule_for(&String::from_utf8_lossy(&address.host), &address.path))
    }

    /// Files that cloudflared reads when it takes the configuration, each with its rule. One that is missing beside
    /// any cloudflared, or holds no certificates, makes that one refuse the configuration: nobody else can tell.
    pub fn certificate_files(&self) -> impl Iterator<Item = (usize, &str)> {
        self.0.iter().enumerate().filter_map(|(index, rule)| Some((index, rule.ca_pool.as_deref()?)))
    }
}

impl Rule {
    fn read(rule: &Value, index: usize, last: bool, defaults: &Origin) -> Result<Self, Refusal> {
        let members = Members::read(rule, Place::rule(index, ""))?;
        let hostname = members.text("hostname")?.unwrap_or_default();
        let path = members.text("path")?.unwrap_or_default();
        let service = members.text("service")?.unwrap_or_default();
        let origin = members.object("originRequest")?.map(|origin| Origin::read(&origin)).transpose()?;
        let origin = origin.unwrap_or_default();

        let bastion = origin.bastion.or(defaults.bastion).unwrap_or_default();
        let service =
            Service::parse(service, bastion).map_err(|cause| members.place("service").refuse(cause))?;
        if service == Service::Socks {
            origin.check_networks()?;
        }
        origin.check_access()?;
        check_hostname(hostname).map_err(|cause| members.place("hostname").refuse(cause))?;
        let hostname = Hostname::of(hostname);
        let catches_all = hostname.is_none() && path.is_empty();
        if last && !catches_all {
            return Err(Place::rule(index, "").refuse(Cause::LastRuleNotCatchAll));
        }
        if !last && catches_all {
            return Err(Place::rule(index, "").refuse(Cause::CatchAllBeforeLast));
        }
        let path = (!path.is_empty()).then(|| PathExpression::parse(path)).transpose();
        let path = path.map_err(|error| members.place("path").refuse(Cause::Path(error)))?;
        let ca_pool = origin.ca_pool.or_else(|| defaults.ca_pool.clone());
        let ca_pool = ca_pool.filter(|file| !file.is_empty() && service == Service::Web);
        Ok(Self { hostname, path, ca_pool })
    }

    fn matches(&self, host: &str, path: &[u8]) -> bool {
        self.hostname.as_ref().is_none_or(|hostname| hostname.matches(host))
            && self.path.as_ref().is_none_or(|expression| expression.matches(path))
    }
}
