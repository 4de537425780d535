//! The image of an object of Cloudflare's: a digest of all that a create decides or leaves at its default.
//! Two objects of one image cannot be told apart by anything but who made them, which Cloudflare does not tell.

use kinds::Kind;
use kinds::table::Parents;
use serde_json::Value;

use crate::context::{Context, Desired};
use crate::difference::{create_body, without_own_calls};
use crate::snapshot::Member;

/// FNV-1a of 64 bits (Fowler, Noll, Vo): the same in every version, since marks carry its results from one process to
/// the next. It guards against accidents; whoever may write in the zone needs no collision to do harm.
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

/// The digits of an image.
pub(crate) const DIGITS: usize = 16;

/// The image of an object, or of a body of ours. What has a call of its own is no part of it: no create decides it.
pub(crate) fn image(kind: &Kind, wire: &Value, parents: &Parents<'_>) -> String {
    let canonical = (kind.hooks.canonical)(wire, parents);
    let mut hash = OFFSET;
    feed(&mut hash, &without_own_calls(kind, &canonical));
    format!("{hash:0DIGITS$x}")
}

/// The image of what a member's create would make now.
pub(crate) fn image_of_create(member: &Member, context: &Context<'_>, desired: &Desired) -> String {
    let body = create_body(member.kind, &desired.body, context.parent);
    image(member.kind, &body, &context.parents)
}

/// Members in the order of their names, each value with its kind and length before it, so that no two values read alike.
fn feed(hash: &mut u64, value: &Value) {
    match value {
        Value::Object(members) => {
            let mut names: Vec<&String> = members.keys().collect();
            names.sort_unstable();
            text(hash, 'o', &names.len().to_string());
            for name in names {
                text(hash, 'k', name);
                feed(hash, members.get(name).unwrap_or(&Value::Null));
            }
        }
        Value::Array(items) => {
            text(hash, 'a', &items.len().to_string());
            items.iter().for_each(|item| feed(hash, item));
        }
        Value::String(value) => text(hash, 's', value),
        Value::Null | Value::Bool(_) | Value::Number(_) => text(hash, 'v', &value.to_string()),
    }
}

fn text(hash: &mut u64, kind: char, text: &str) {
    for byte in format!("{kind}{}:{text}", text.len()).bytes() {
        *hash = (*hash ^ u64::from(byte)).wrapping_mul(PRIME);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(wire: Value) -> String {
        image(kinds::kind("DNSRecord").unwrap(), &wire, &Parents::new())
    }

    #[test]
    fn what_cloudflare_adds_and_how_it_spells_changes_no_image() {
        let sent = json!({"type": "CNAME", "name": "www.example.com", "content": "A.example.net.", "ttl": 1});
        let shown = json!({
            "id": "r1", "type": "CNAME", "name": "www.example.com", "content": "a.example.net", "ttl": 1,
            "proxied": false, "proxiable": true, "comment": null, "tags": [], "settings": {},
            "created_on": "2026-01-01T00:00:00Z",
        });
        assert_eq!(of(sent), of(shown));
    }

    #[test]
    fn what_a_create_leaves_at_its_default_is_part_of_the_image() {
        let made = json!({"type": "A", "name": "a.example.com", "content": "192.0.2.1", "ttl": 1});
        for (field, value) in [
            ("ttl", json!(300)),
            ("proxied", json!(true)),
            ("comment", json!("theirs")),
            ("tags", json!(["team:web"])),
            ("settings", json!({"ipv4_only": true})),
            ("private_routing", json!(true)),
            ("content", json!("192.0.2.2")),
        ] {
            let mut other = made.clone();
            other[field] = value;
            assert_ne!(of(made.clone()), of(other), "{field}");
        }
    }

    #[test]
    fn no_two_values_read_alike() {
        let images: std::collections::BTreeSet<u64> =
            [json!([["a"], "b"]), json!([["a", "b"]]), json!({"a": "b"}), json!(["a", 1]), json!(["a", "1"])]
                .iter()
                .map(|value| {
                    let mut hash = OFFSET;
                    feed(&mut hash, value);
                    hash
                })
                .collect();
        assert_eq!(images.len(), 5);
    }
}
