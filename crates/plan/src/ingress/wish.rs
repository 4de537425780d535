//! What all Ingresses together want of the records of each host. Who serves a host counts for more than who holds it,
//! and that for more than who lets it go.

use std::collections::{BTreeMap, BTreeSet};

use kinds::Key;

use super::exposure::{Exposed, Standing};

/// A tunnel, as records name it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TunnelName {
    /// Cloudflare's ID, which the CNAME points at.
    pub id: String,
    /// Its name, which the mark holds.
    pub name: String,
}

/// What is wanted of a host's records. Later ones count for more.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wish {
    /// They go, since everyone who names the host is being deleted or leaves its DNS to others.
    LetGo,
    /// The mark goes and the CNAME stays.
    Retain,
    /// They stay as they stand.
    Freeze,
    /// They lead to this tunnel.
    Serve {
        /// The tunnel.
        tunnel: TunnelName,
        /// Who allows that a foreign record is taken over.
        adopter: Option<Key>,
    },
}

/// What is wanted of the hosts, by host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// Hosts in lower case; one that is not here is nobody's.
    pub hosts: BTreeMap<String, Wish>,
    /// Who names each of them, oldest first: whoever is told what becomes of it.
    pub named_by: BTreeMap<String, Vec<Key>>,
    /// Whether every Ingress could be read. If not, nothing goes (V3).
    pub is_complete: bool,
}

/// The wishes of Ingresses, each with the tunnel that it goes through, and of the rules that stay for held ones.
#[must_use]
pub fn wishes(all: &[(&Exposed, &TunnelName)], kept_hosts: &BTreeSet<String>) -> Wishes {
    let mut oldest_first = all.to_vec();
    oldest_first.sort_by(|one, other| one.0.owner.cmp(&other.0.owner));
    let mut wishes = Wishes { is_complete: true, ..Wishes::default() };
    for (exposed, tunnel) in oldest_first {
        let Some(hosts) = &exposed.hosts else {
            wishes.is_complete = false;
            continue;
        };
        for host in hosts {
            wishes.named_by.entry(host.clone()).or_default().push(exposed.owner.key.clone());
            wishes.add(host, wish(exposed, tunnel));
        }
    }
    for host in kept_hosts {
        wishes.add(host, Wish::Freeze);
    }
    wishes
}

fn wish(exposed: &Exposed, tunnel: &TunnelName) -> Wish {
    match &exposed.standing {
        Standing::Held(_) => Wish::Freeze,
        Standing::Going if exposed.retains => Wish::Retain,
        Standing::Going => Wish::LetGo,
        Standing::Served => match &exposed.wishes {
            Some(wishes) if wishes.manages_dns => Wish::Serve {
                tunnel: tunnel.clone(),
                adopter: wishes.adopts.then(|| exposed.owner.key.clone()),
            },
            Some(_) => Wish::LetGo,
            None => Wish::Freeze,
        },
    }
}

impl Wishes {
    /// Of two who serve a host the older one's tunnel counts, and either may allow a take-over.
    fn add(&mut self, host: &str, wish: Wish) {
        let stronger = match (self.hosts.remove(host), wish) {
            (Some(Wish::Serve { tunnel, adopter }), Wish::Serve { adopter: other, .. }) => {
                Wish::Serve { tunnel, adopter: adopter.or(other) }
            }
            (Some(standing), wish) => standing.max(wish),
            (None, wish) => wish,
        };
        self.hosts.insert(host.to_owned(), stronger);
    }
}
