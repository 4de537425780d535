//! What a resource's annotations ask for: pausing, adopting, keeping. Parsing only; acting is for the lifecycle.

use kinds::{Kind, Reason, Resource, names};

use crate::hold::Hold;

/// Where a status remembers the object that was taken over.
pub(crate) const ADOPTED_ID: &str = "/adoptedID";

/// What to do with an object that exists and that kflare did not make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adoption {
    /// Leave it alone.
    Never,
    /// Take it over; it must exist.
    Adopt,
    /// Take it over, or create it.
    AdoptOrCreate,
}

/// What to do with the object when its resource goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deletion {
    /// Delete what kflare made, keep what it adopted.
    #[default]
    Delete,
    /// Keep it.
    Retain,
}

/// True when the resource is to be left alone. Any value but `"true"` counts as none (seed: Pausing a resource).
#[must_use]
pub fn is_paused(resource: &Resource) -> bool {
    resource.annotation(names::PAUSED) == Some("true")
}

/// The adoption policy; `adopt-id` alone means `adopt` (contract K13).
pub fn adoption(resource: &Resource) -> Result<Adoption, Hold> {
    match resource.annotation(names::ADOPTION_POLICY) {
        None if resource.annotation(names::ADOPT_ID).is_some() => Ok(Adoption::Adopt),
        None => Ok(Adoption::Never),
        Some("adopt") => Ok(Adoption::Adopt),
        Some("adopt-or-create") => Ok(Adoption::AdoptOrCreate),
        Some(other) => Err(Hold::new(
            Reason::InvalidAdoptionPolicy,
            format!(
                "annotation {} is {other:?}; use \"adopt\" or \"adopt-or-create\", or remove it",
                names::ADOPTION_POLICY
            ),
        )),
    }
}

/// True when the object stays in Cloudflare after its resource is gone: the annotation decides, else what was
/// adopted stays, else the default of the manager.
pub fn keeps_object(kind: &Kind, resource: &Resource, default: Deletion) -> Result<bool, Hold> {
    match resource.annotation(names::DELETION_POLICY) {
        Some("delete") => Ok(false),
        Some("retain") => Ok(true),
        None => Ok(is_adopted(kind, resource) || default == Deletion::Retain),
        Some(other) => Err(Hold::new(
            Reason::InvalidDeletionPolicy,
            format!(
                "annotation {} is {other:?}; use \"delete\" or \"retain\", or remove it; until then nothing is deleted",
                names::DELETION_POLICY
            ),
        )),
    }
}

/// True when the resource's object was taken over, as far as anything that names one says.
#[must_use]
pub fn is_adopted(kind: &Kind, resource: &Resource) -> bool {
    let named = [kind.external_id(resource), resource.status_str(kind.identity.status)];
    named.into_iter().flatten().any(|external| took_over(resource, external))
}

/// True when the resource took over this object. The status remembers which one it was: what replaces a manifest as a
/// whole takes annotations away, and a backup brings back annotations without a status.
pub(crate) fn took_over(resource: &Resource, external: &str) -> bool {
    resource.status_str(ADOPTED_ID) == Some(external) || resource.annotation(names::ADOPTED) == Some("true")
}
