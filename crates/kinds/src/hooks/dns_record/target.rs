//! Host names that records point to (CNAME, MX, NS, PTR, SRV and others): one spelling to compare, and what can be one. Which name a
//! target may not be (its own record's, an address) is for the refusals.

use crate::hooks::domain_name;

/// The root, as a target: "no such service" for SRV (RFC 2782, case B050), "no mail" for MX (RFC 7505), the record's
/// own name for HTTPS and SVCB (RFC 9460, 2.5), no replacement for NAPTR (RFC 3403, 4.1).
const ROOT: &str = ".";
/// The zone's own name, as in zone files.
const APEX: &str = "@";

/// What a record type takes as its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// Any domain name (CNAME, PTR): zone delegation of reverse names uses `/` (RFC 2317).
    Domain,
    /// A host's name: letters, digits, hyphens and, in practice, underscores.
    Host,
    /// The same, or the root.
    HostOrRoot,
}

/// A target in the form that is compared; the root stays the root.
pub(super) fn canonical(target: &str) -> String {
    if target == ROOT { ROOT.to_owned() } else { domain_name::canonical(target) }
}

/// A user's target as it is sent, or what is wrong with it. `@` stands for the zone.
pub(super) fn outgoing(written: &str, zone: &str, naming: Naming) -> Result<String, String> {
    match written {
        "" => return Err("is empty; write the name of a host, such as lb.example.net".to_owned()),
        APEX => return Ok(zone.to_owned()),
        ROOT if naming == Naming::HostOrRoot => return Ok(ROOT.to_owned()),
        _ => {}
    }
    let name = domain_name::parse(written).map_err(|error| error.to_string())?;
    let wildcard = name.split('.').any(|label| label == "*");
    if wildcard {
        return Err(format!(
            "{name:?} is a wildcard, which cannot be a target; name one host (Cloudflare: 9007)"
        ));
    }
    match name.chars().find(|character| !naming.allows(*character)) {
        Some(character) => Err(format!(
            "{name:?} has a {character:?} in it; write the name of a host alone, such as lb.example.net, without \
             scheme, port, path or priority"
        )),
        None => Ok(name),
    }
}

impl Naming {
    fn allows(self, character: char) -> bool {
        match self {
            Self::Domain => !matches!(character, ':' | '@' | '"' | '*' | '?' | '#'),
            Self::Host | Self::HostOrRoot => {
                character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.')
            }
        }
    }
}
