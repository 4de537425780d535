//! Every name on the wire between kflare and Kubernetes, built from one prefix (invariant V8).
//! Reasons have a module of their own; names that only one kind has (its claim label) stand in its table.

pub mod ingress;

/// The domain that all of our names start with, and our API group.
pub const GROUP: &str = "kflare.dev";
/// The one served version.
pub const VERSION: &str = "v1alpha1";
/// `apiVersion` of every kind of ours.
pub const API_VERSION: &str = "kflare.dev/v1alpha1";

/// Kept until the Cloudflare object is deleted or released.
pub const FINALIZER: &str = "kflare.dev/finalizer";
/// On a token Secret, while a CloudflareAccount references it.
pub const TOKEN_PROTECTION_FINALIZER: &str = "kflare.dev/token-protection";

/// `"true"` leaves the resource alone.
pub const PAUSED: &str = "kflare.dev/paused";
/// `adopt` or `adopt-or-create`.
pub const ADOPTION_POLICY: &str = "kflare.dev/adoption-policy";
/// The ID of the object to adopt where the key is ambiguous.
pub const ADOPT_ID: &str = "kflare.dev/adopt-id";
/// `"true"` on a resource whose object kflare did not create.
pub const ADOPTED: &str = "kflare.dev/adopted";
/// `delete` or `retain`.
pub const DELETION_POLICY: &str = "kflare.dev/deletion-policy";
/// Any change of it, as of any metadata, has the resource looked at: kflare itself never reads it.
pub const RECONCILE_AT: &str = "kflare.dev/reconcile-at";
/// Written just before a create: what we are about to make, and until when the request may take effect.
pub const CREATING: &str = "kflare.dev/creating";
/// Written just before the delete of an object that reads as forbidden once it is gone: its ID. Only with it does a
/// later refusal, and a look-up that shows nothing, prove that our own delete was carried out.
pub const DELETING: &str = "kflare.dev/deleting";

/// Every annotation: those that people write first, then kflare's own marks.
pub const ANNOTATIONS: &[&str] =
    &[PAUSED, ADOPTION_POLICY, ADOPT_ID, ADOPTED, DELETION_POLICY, RECONCILE_AT, CREATING, DELETING];

/// What the samples have where a token belongs.
pub const TOKEN_PLACEHOLDER: &str = "replace-with-an-API-token-of-your-account";

/// The field manager of every write of ours.
pub const FIELD_MANAGER: &str = "kflare";
/// The controller that Events name.
pub const EVENT_CONTROLLER: &str = "kflare.dev/kflare";
/// The one condition type.
pub const READY: &str = "Ready";
/// The Lease that elects the leader.
pub const LEASE: &str = "a634e97e.kflare.dev";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_keys_start_with_our_domain_and_differ() {
        let keys = [&[FINALIZER, TOKEN_PROTECTION_FINALIZER], ANNOTATIONS].concat();
        let distinct: std::collections::BTreeSet<_> = keys.iter().collect();
        assert_eq!(distinct.len(), keys.len());
        assert!(keys.iter().all(|key| key.strip_prefix(GROUP).is_some_and(|rest| rest.starts_with('/'))));
    }
}
