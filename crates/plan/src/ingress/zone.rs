//! The zone of a host: the longest one that holds it, at the borders of labels (contract I7).

/// A zone that the token can see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    /// Cloudflare's ID.
    pub id: String,
    /// In lower case.
    pub name: String,
}

/// The zone that a host's records belong to.
#[must_use]
pub fn zone_of<'z>(host: &str, zones: &'z [Zone]) -> Option<&'z Zone> {
    let holds = |zone: &&Zone| below(host, &zone.name).is_some();
    zones.iter().filter(holds).max_by_key(|zone| (zone.name.len(), &zone.id))
}

/// Whether the universal certificate of the zone leaves this host out: it covers the zone's name and one level.
#[must_use]
pub fn is_deeper_than_certificate(host: &str, zone: &Zone) -> bool {
    below(host, &zone.name).is_some_and(|rest| rest.trim_end_matches('.').contains('.'))
}

/// What stands before the zone's name, with the dot between them.
fn below<'h>(host: &'h str, zone: &str) -> Option<&'h str> {
    let rest = host.strip_suffix(zone)?;
    (!zone.is_empty() && (rest.is_empty() || rest.ends_with('.'))).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zones(names: &[&str]) -> Vec<Zone> {
        names.iter().map(|name| Zone { id: format!("id-{name}"), name: (*name).to_owned() }).collect()
    }

    #[test]
    fn b018_a_zone_ends_at_a_label_and_the_longest_one_counts() {
        for order in [
            ["example.com", "dev.example.com", "myexample.com"],
            ["myexample.com", "dev.example.com", "example.com"],
        ] {
            let zones = zones(&order);
            let of = |host| zone_of(host, &zones).map(|zone| zone.name.as_str());
            assert_eq!(of("test.myexample.com"), Some("myexample.com"));
            assert_eq!(of("app.dev.example.com"), Some("dev.example.com"));
            assert_eq!(of("dev.example.com"), Some("dev.example.com"));
            assert_eq!(of("*.dev.example.com"), Some("dev.example.com"));
            assert_eq!(of("*.example.com"), Some("example.com"));
            assert_eq!(of("example.com"), Some("example.com"));
            assert_eq!(of("paperless.example.usa"), None);
            assert_eq!(of("com"), None);
        }
        assert_eq!(zone_of("example.com", &zones(&[""])), None);
    }

    #[test]
    fn b036_certificates_reach_one_level() {
        let zone = &zones(&["example.com"])[0];
        let deep =
            ["test.dev.example.com", "*.dev.example.com", "dev.example.com", "*.example.com", "example.com"];
        assert_eq!(
            deep.map(|host| is_deeper_than_certificate(host, zone)),
            [true, true, false, false, false]
        );
    }
}
