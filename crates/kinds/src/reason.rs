//! The one closed list of reasons a user can read: in a condition, an Event, a metric or the reference page.
//! Says what a reason means and how it is retried; when it applies is for `plan` to decide.

use serde::Serialize;

/// How a state of an object is looked at again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Retry {
    /// It is in order: drift checks and the resync only.
    None,
    /// It waits for something else: woken by that thing's watch, and once a minute to be safe.
    Wait,
    /// It waits for something in Cloudflare, of which no watch tells: looked at after a minute and then less and less
    /// often, and at once when another resource changes what it waits for.
    Look,
    /// Nothing helps until the spec, the credentials or the world change: the resync only.
    Rejected,
    /// It is tried again with growing back-off.
    Fault,
}

macro_rules! reasons {
    ($($(#[doc = $doc:literal])+ $name:ident => $retry:ident,)+) => {
        /// Why an object's `Ready` condition is what it is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        pub enum Reason { $($(#[doc = $doc])+ $name,)+ }

        impl Reason {
            /// Every reason, in the order of the reference page.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The reason as conditions, Events and metrics show it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => stringify!($name),)+ }
            }

            /// What it means, for the reference page.
            #[must_use]
            pub const fn doc(self) -> &'static str {
                match self { $(Self::$name => concat!($($doc,)+),)+ }
            }

            /// How it is retried.
            #[must_use]
            pub const fn retry(self) -> Retry {
                match self { $(Self::$name => Retry::$retry,)+ }
            }
        }
    };
}

reasons! {
    /// Cloudflare's object is as the spec says.
    Synced => None,
    /// The account's token works and the account can be read.
    Validated => None,
    /// The resource carries `kflare.dev/paused: "true"` and is left alone.
    Paused => None,
    /// Only an Event on a CloudflareAccount, never `Ready`: the call budget cannot pay for the drift interval. Its note says
    /// which interval it holds.
    DriftBehind => None,
    /// The CloudflareAccount that the resource leads to does not exist.
    AccountNotFound => Wait,
    /// The CloudflareAccount that the resource leads to is not Ready.
    AccountNotReady => Wait,
    /// The token Secret does not exist.
    SecretNotFound => Wait,
    /// The token Secret has no such key, or the key is empty.
    TokenKeyMissing => Wait,
    /// The token is not one that Cloudflare could accept, or Cloudflare refused it.
    InvalidToken => Rejected,
    /// The resource's namespace is not among the account's `spec.allowedNamespaces`.
    NamespaceNotAllowed => Rejected,
    /// The Zone does not exist.
    ZoneNotFound => Wait,
    /// The Zone is not Ready or has no ID yet.
    ZoneNotReady => Wait,
    /// The resource is being deleted and waits for the resources that still need it.
    InUse => Wait,
    /// An object with the resource's key exists, kflare did not make it, and no adoption policy is set.
    AlreadyExists => Rejected,
    /// Another resource claims the record.
    RecordConflict => Look,
    /// The adoption policy is `adopt` and there is no object to adopt.
    NotFound => Look,
    /// Several objects could be adopted; `kflare.dev/adopt-id` names one.
    AdoptionAmbiguous => Rejected,
    /// The object to adopt has another parent or another immutable key.
    AdoptionMismatch => Rejected,
    /// The value of `kflare.dev/adoption-policy` is not one of the known ones.
    InvalidAdoptionPolicy => Rejected,
    /// The value of `kflare.dev/deletion-policy` is not one of the known ones; nothing is deleted meanwhile.
    InvalidDeletionPolicy => Rejected,
    /// The spec cannot be turned into a request; the message names the field.
    InvalidSpec => Rejected,
    /// Cloudflare refused, and will refuse again until something changes; the message ends with its text and code.
    TerminalError => Rejected,
    /// A transient failure of an API or the network; it is tried again with growing back-off.
    APIError => Fault,
    /// A bug in kflare: the reconcile panicked; please report it.
    InternalError => Fault,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_a_valid_condition_reason_with_a_doc_line() {
        for reason in Reason::ALL {
            assert!(reason.name().chars().all(|c| c.is_ascii_alphanumeric()), "{reason:?}");
            assert!(reason.doc().trim().len() > 20, "{reason:?} needs a doc line");
        }
    }
}
