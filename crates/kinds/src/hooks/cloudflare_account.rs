//! Hooks of CloudflareAccount: an account is named by the ID in its spec, read and never written.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::member;
use crate::table::{Hooks, Invalid, Parents};

/// The hooks of the kind's row.
pub static HOOKS: Hooks = Hooks {
    body,
    canonical,
    key,
    loose_key: key,
    refuses_twins: |_| true,
    unusable: |_| None,
    recheck: |_| None,
    awaits: |_| None,
    refused: |_, _| None,
};

// Never sent: the ID is all that the spec decides, and makes the spec's key the account's.
fn body(spec: &Value, _parents: &Parents<'_>) -> Result<Value, Invalid> {
    Ok(json!({ "id": member::text(spec, "accountID") }))
}

fn canonical(wire: &Value, _parents: &Parents<'_>) -> Value {
    json!({ "id": member::text(wire, "id"), "name": member::text(wire, "name") })
}

fn key(canonical: &Value) -> BTreeMap<&'static str, String> {
    BTreeMap::from([("id", member::text(canonical, "id").to_owned())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_account_that_a_spec_names_is_the_one_with_that_id() {
        let parents = Parents::new();
        let id = "0123456789abcdef0123456789abcdef";
        let wanted = (HOOKS.body)(&json!({ "accountID": id }), &parents)
            .map(|body| (HOOKS.canonical)(&body, &parents));
        let read = (HOOKS.canonical)(&json!({ "id": id, "name": "Main", "settings": {} }), &parents);
        assert_eq!(wanted.map(|wanted| (HOOKS.key)(&wanted)), Ok((HOOKS.key)(&read)));
        assert_eq!(read, json!({ "id": id, "name": "Main" }));
    }

    #[test]
    fn a_wrong_type_in_any_member_is_survived() {
        let parents = Parents::new();
        for hostile in [json!(null), json!(5), json!([]), json!({ "id": 5, "name": [], "accountID": {} })] {
            let form = (HOOKS.canonical)(&hostile, &parents);
            assert_eq!((HOOKS.canonical)(&form, &parents), form);
            let _ =
                ((HOOKS.body)(&hostile, &parents), (HOOKS.key)(&hostile), (HOOKS.refused)(&form, &parents));
        }
    }
}
