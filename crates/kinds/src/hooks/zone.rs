//! Hooks of Zone: one domain, whatever its spelling. The account is put into the create's body by the route, and the
//! plan is changed by a call of its own; both stand in the table.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::domain_name;
use super::member::{self, invalid};
use crate::table::{Hooks, Invalid, Parents};

/// The hooks of the kind's row. Cloudflare refuses a second zone of one name in any account (1061).
pub static HOOKS: Hooks = Hooks {
    body,
    canonical,
    key,
    loose_key: key,
    refuses_twins: |_| true,
    unusable,
    recheck,
    awaits: |_| None,
    refused: |_, _| None,
};

/// What Cloudflare makes of a zone whose type nobody names.
const TYPE_DEFAULT: &str = "full";

// The plan is part of the body only when the user names one: it is what the spec decides, at its wire place.
fn body(spec: &Value, _parents: &Parents<'_>) -> Result<Value, Invalid> {
    let name =
        domain_name::parse(member::text(spec, "name")).map_err(|error| invalid("name", error.to_string()))?;
    let mut body = json!({ "name": name, "type": zone_type(spec) });
    if let Some(plan) = spec.get("plan").and_then(Value::as_str) {
        body["plan"] = json!({ "legacy_id": plan });
    }
    Ok(body)
}

// Cloudflare lists some zones in Unicode and some in punycode (case B059).
fn canonical(wire: &Value, _parents: &Parents<'_>) -> Value {
    let text_or_null = |pointer| wire.pointer(pointer).filter(|value| value.is_string()).cloned();
    json!({
        "name": domain_name::canonical(member::text(wire, "name")),
        "type": zone_type(wire),
        "plan": { "legacy_id": text_or_null("/plan/legacy_id") },
        "account": { "id": text_or_null("/account/id") },
    })
}

fn key(canonical: &Value) -> BTreeMap<&'static str, String> {
    BTreeMap::from([("name", member::text(canonical, "name").to_owned())])
}

/// A zone whose domain was moved to other name servers, or that is on its way out, serves nobody (case B155).
fn unusable(wire: &Value) -> Option<String> {
    let status = member::text(wire, "status");
    matches!(status, "moved" | "deleted" | "deactivated").then(|| {
        format!("Cloudflare says that the zone is {status}: its domain no longer points at Cloudflare's name servers")
    })
}

/// A new zone is initialised within moments.
const INITIALIZING_RECHECK: Duration = Duration::from_secs(5);
/// Cloudflare looks for a pending zone's name servers at the registrar every few hours; people who have just set them
/// want to see it sooner than at the next resync.
const PENDING_RECHECK: Duration = Duration::from_secs(600);

fn recheck(wire: &Value) -> Option<Duration> {
    match member::text(wire, "status") {
        "initializing" => Some(INITIALIZING_RECHECK),
        "pending" => Some(PENDING_RECHECK),
        _ => None,
    }
}

fn zone_type(zone: &Value) -> &str {
    match member::text(zone, "type") {
        "" => TYPE_DEFAULT,
        named => named,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_that_is_not_active_yet_is_looked_at_again() {
        assert_eq!((HOOKS.recheck)(&json!({"status": "initializing"})), Some(INITIALIZING_RECHECK));
        assert_eq!((HOOKS.recheck)(&json!({"status": "pending"})), Some(PENDING_RECHECK));
        assert_eq!((HOOKS.recheck)(&json!({"status": "active"})), None);
    }

    #[test]
    fn b155_a_moved_zone_cannot_serve_and_a_pending_one_can() {
        assert!((HOOKS.unusable)(&json!({"name": "example.com", "status": "moved"})).is_some());
        assert_eq!((HOOKS.unusable)(&json!({"name": "example.com", "status": "pending"})), None);
        assert_eq!((HOOKS.unusable)(&json!({"status": 7})), None);
    }

    fn canonical(wire: &Value) -> Value {
        (HOOKS.canonical)(wire, &Parents::new())
    }

    fn body(spec: &Value) -> Result<Value, Invalid> {
        (HOOKS.body)(spec, &Parents::new())
    }

    #[test]
    fn b059_a_zone_is_found_by_its_unicode_and_by_its_punycode_name() {
        for (written, listed) in [
            ("müller.example", "xn--mller-kva.example"),
            ("xn--mller-kva.example", "müller.example"),
            ("MÜLLER.example.", "Müller.example"),
            ("Example.COM.", "example.com"),
        ] {
            let wanted = body(&json!({ "name": written })).map(|body| canonical(&body));
            let found = canonical(&json!({ "name": listed, "type": "full", "status": "active" }));
            assert_eq!(wanted.as_ref(), Ok(&found), "{written}");
            let key = (HOOKS.key)(&found);
            assert!(
                key.get("name").is_some_and(|name| name.is_ascii()),
                "look-ups use the ASCII form: {key:?}"
            );
            assert_eq!(canonical(&found), found, "{written}: idempotent");
        }
    }

    #[test]
    fn the_body_holds_what_the_spec_decides() {
        assert_eq!(
            body(&json!({ "name": "Example.com", "accountRef": { "name": "main" } })),
            Ok(json!({ "name": "example.com", "type": "full" })),
        );
        assert_eq!(
            body(&json!({ "name": "example.com", "type": "partial", "plan": "pro" })),
            Ok(json!({ "name": "example.com", "type": "partial", "plan": { "legacy_id": "pro" } })),
        );
        for name in [json!("a..example"), json!("xn--zzzzzz99.example"), json!(""), json!(null), json!(5)] {
            assert_eq!(
                body(&json!({ "name": name })).map_err(|invalid| invalid.field),
                Err("name".to_owned()),
                "{name}"
            );
        }
    }

    #[test]
    fn b155_zones_of_one_name_are_told_apart_by_their_account() {
        let zone = |account: &str| canonical(&json!({ "name": "example.com", "account": { "id": account } }));
        assert_ne!(zone("acc-1"), zone("acc-2"));
        assert_eq!((HOOKS.key)(&zone("acc-1")), (HOOKS.key)(&zone("acc-2")));
        assert_eq!(zone("acc-1")["account"]["id"], "acc-1");
    }

    #[test]
    fn a_wrong_type_in_any_member_is_survived() {
        let whole = json!({ "name": "example.com", "type": "full", "plan": { "legacy_id": "pro" }, "account": { "id": "a" } });
        for hostile in
            [json!(null), json!(1e308), json!("\u{0}…ü"), json!([[]]), json!({ "id": {}, "legacy_id": [] })]
        {
            for member in ["name", "type", "plan", "account"] {
                let mut zone = whole.clone();
                zone[member] = hostile.clone();
                let form = canonical(&zone);
                assert_eq!(canonical(&form), form, "{zone}");
                let _ = (body(&zone), (HOOKS.key)(&zone), (HOOKS.refused)(&form, &Parents::new()));
            }
            assert_eq!(canonical(&canonical(&hostile)), canonical(&hostile));
        }
    }
}
