//! The operations of Cloudflare that are used: what the sandbox answers, and which of them kflare asks for. Of the others
//! only the answers are of interest: what somebody else sends may be wrong on purpose.

/// One operation.
pub(super) struct Operation {
    /// Method and path, with `{}` for each identifier.
    pub(super) name: &'static str,
    /// kflare sends such requests, so that they are checked too.
    pub(super) is_asked: bool,
}

const fn asked(name: &'static str) -> Operation {
    Operation { name, is_asked: true }
}

const fn served(name: &'static str) -> Operation {
    Operation { name, is_asked: false }
}

/// In the order of the sandbox's table (crates/sandbox/src/cloudflare/route.rs). A test there compares that table with the
/// facts, and one here the facts with this.
pub(super) const OPERATIONS: &[Operation] = &[
    asked("GET /user/tokens/verify"),
    served("GET /user/tokens/permission_groups"),
    served("GET /user/tokens"),
    served("POST /user/tokens"),
    served("GET /user/tokens/{}"),
    served("PUT /user/tokens/{}"),
    served("DELETE /user/tokens/{}"),
    served("PUT /user/tokens/{}/value"),
    served("GET /user"),
    served("GET /memberships"),
    served("GET /accounts"),
    served("POST /accounts"),
    asked("GET /accounts/{}"),
    served("PUT /accounts/{}"),
    served("DELETE /accounts/{}"),
    asked("GET /accounts/{}/tokens/verify"),
    served("GET /accounts/{}/tokens/permission_groups"),
    served("GET /accounts/{}/tokens"),
    served("POST /accounts/{}/tokens"),
    served("GET /accounts/{}/tokens/{}"),
    served("PUT /accounts/{}/tokens/{}"),
    served("DELETE /accounts/{}/tokens/{}"),
    served("PUT /accounts/{}/tokens/{}/value"),
    served("GET /accounts/{}/dns_records/usage"),
    asked("GET /zones"),
    asked("POST /zones"),
    asked("GET /zones/{}"),
    asked("PATCH /zones/{}"),
    asked("DELETE /zones/{}"),
    served("PUT /zones/{}/activation_check"),
    asked("GET /zones/{}/subscription"),
    asked("POST /zones/{}/subscription"),
    asked("PUT /zones/{}/subscription"),
    served("GET /zones/{}/hold"),
    served("POST /zones/{}/hold"),
    served("PATCH /zones/{}/hold"),
    served("DELETE /zones/{}/hold"),
    served("POST /zones/{}/purge_cache"),
    served("GET /zones/{}/dns_records/export"),
    asked("GET /zones/{}/dns_records/usage"),
    served("GET /zones/{}/dns_records/scan/review"),
    served("POST /zones/{}/dns_records/scan/review"),
    served("POST /zones/{}/dns_records/scan/trigger"),
    served("POST /zones/{}/dns_records/scan"),
    asked("POST /zones/{}/dns_records/batch"),
    served("POST /zones/{}/dns_records/import"),
    asked("GET /zones/{}/dns_records"),
    asked("POST /zones/{}/dns_records"),
    asked("GET /zones/{}/dns_records/{}"),
    asked("PUT /zones/{}/dns_records/{}"),
    asked("PATCH /zones/{}/dns_records/{}"),
    asked("DELETE /zones/{}/dns_records/{}"),
    served("GET /accounts/{}/tunnels"),
    asked("GET /accounts/{}/cfd_tunnel"),
    asked("POST /accounts/{}/cfd_tunnel"),
    asked("GET /accounts/{}/cfd_tunnel/{}"),
    asked("PATCH /accounts/{}/cfd_tunnel/{}"),
    asked("DELETE /accounts/{}/cfd_tunnel/{}"),
    asked("GET /accounts/{}/cfd_tunnel/{}/connections"),
    asked("DELETE /accounts/{}/cfd_tunnel/{}/connections"),
    served("GET /accounts/{}/cfd_tunnel/{}/connectors/{}"),
    asked("GET /accounts/{}/cfd_tunnel/{}/token"),
    served("POST /accounts/{}/cfd_tunnel/{}/management"),
    asked("GET /accounts/{}/cfd_tunnel/{}/configurations"),
    asked("PUT /accounts/{}/cfd_tunnel/{}/configurations"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    #[test]
    fn the_facts_are_of_these_operations_and_of_no_other() {
        let mut listed: Vec<&str> = OPERATIONS.iter().map(|operation| operation.name).collect();
        listed.sort_unstable();
        assert!(listed.windows(2).all(|pair| pair[0] != pair[1]), "one stands twice: {listed:?}");
        // A source may lack an operation, and then the other has it.
        let mut known = BTreeSet::new();
        for name in ["document.json", "sdk.json"] {
            let path = crate::root().join(super::super::HOME).join(name);
            let facts: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
            let operations = facts["operations"].as_object().unwrap();
            assert!(!operations.is_empty(), "{name}");
            known.extend(operations.keys().cloned());
        }
        assert_eq!(known.into_iter().collect::<Vec<_>>(), listed);
    }
}
