//! Annotations of ours in manifests that do not do what they seem to: a slip in a name or in a value. kflare itself says
//! nothing of them, as it would of an unknown field.

use kinds::names;

use crate::commands::sandbox::manifest::Manifest;
use crate::nearest::nearest;

/// The values that an annotation takes.
struct Values {
    annotation: &'static str,
    known: &'static [&'static str],
    /// Others that plainly ask for nothing.
    plain: &'static [&'static str],
    /// What another value does.
    other: &'static str,
}

const VALUES: &[Values] = &[
    Values {
        annotation: names::PAUSED,
        known: &["true"],
        plain: &["false"],
        other: "counts as none, and nothing is paused",
    },
    Values { annotation: names::ADOPTED, known: &["true"], plain: &["false"], other: "counts as none" },
    Values {
        annotation: names::ADOPTION_POLICY,
        known: &["adopt", "adopt-or-create"],
        plain: &[],
        other: "is refused where there is something to adopt",
    },
    Values {
        annotation: names::DELETION_POLICY,
        known: &["delete", "retain"],
        plain: &[],
        other: "is refused once the resource is deleted, and nothing is deleted then",
    },
];

/// What is said of the annotations of a manifest.
pub(super) fn notes(manifest: &Manifest) -> Vec<String> {
    let annotations = manifest.object["metadata"]["annotations"].as_object().into_iter().flatten();
    let text = annotations.filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)));
    let said = text.filter_map(|(name, value)| Some((name, slip(name).or_else(|| odd(name, value))?)));
    said.map(|(name, said)| {
        let place = manifest.place_of(["metadata", "annotations", name].into_iter());
        format!("{}: {}: annotation {name} {said}", place.short(), manifest.title())
    })
    .collect()
}

/// A name that is none of ours and seems to be.
fn slip(name: &str) -> Option<String> {
    let (domain, word) = name.split_once('/')?;
    if names::ANNOTATIONS.contains(&name) || nearest(domain, [names::GROUP]).is_none() {
        return None;
    }
    let known: Vec<&str> =
        names::ANNOTATIONS.iter().filter_map(|known| Some(known.split_once('/')?.1)).collect();
    let meant = match nearest(word, known.iter().copied()) {
        Some(meant) => format!("did you mean {}/{meant}?", names::GROUP),
        None => format!("of {}/ there are {}", names::GROUP, known.join(", ")),
    };
    Some(format!("is unknown and does nothing ({meant})"))
}

/// A value that the annotation does not take.
fn odd(name: &str, value: &str) -> Option<String> {
    if value.is_empty() && names::ANNOTATIONS.contains(&name) {
        return Some("is empty, which counts as none".to_owned());
    }
    let values = VALUES.iter().find(|values| values.annotation == name)?;
    if values.known.iter().chain(values.plain).any(|known| *known == value) {
        return None;
    }
    let meant: Vec<String> = match nearest(value, values.known.iter().copied()) {
        Some(meant) => vec![format!("{meant:?}")],
        None => values.known.iter().map(|known| format!("{known:?}")).collect(),
    };
    Some(format!("is {value:?}, which {}; write {}", values.other, meant.join(" or ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::sandbox::manifest;

    #[test]
    fn slips_in_names_and_values_are_told_with_their_lines() {
        let text = "\
apiVersion: kflare.dev/v1alpha1
kind: DNSRecord
metadata:
  name: www
  annotations:
    example.com/deletion-polcy: retain
    kflare.dev/deletion-polcy: retain
    kflare.de/paused: \"true\"
    kflare.dev/note: mine
    kflare.dev/paused: \"yes\"
    kflare.dev/adopt-id: \"\"
    kflare.dev/deletion-policy: retian
    kflare.dev/adoption-policy: adopt
    kflare.dev/adopted: \"false\"
    kflare.dev/reconcile-at: anything
";
        let manifests = manifest::parse("a.yaml", text).unwrap();
        let mut said = notes(&manifests[0]);
        said.sort();
        let of = |line: usize, rest: &str| format!("a.yaml:{line}: DNSRecord www: annotation kflare.{rest}");
        let mut expected = [
            of(
                7,
                "dev/deletion-polcy is unknown and does nothing (did you mean kflare.dev/deletion-policy?)",
            ),
            of(8, "de/paused is unknown and does nothing (did you mean kflare.dev/paused?)"),
            of(
                9,
                "dev/note is unknown and does nothing (of kflare.dev/ there are paused, adoption-policy, adopt-id, adopted, \
                 deletion-policy, reconcile-at, creating, deleting)",
            ),
            of(10, "dev/paused is \"yes\", which counts as none, and nothing is paused; write \"true\""),
            of(11, "dev/adopt-id is empty, which counts as none"),
            of(
                12,
                "dev/deletion-policy is \"retian\", which is refused once the resource is deleted, and nothing is deleted \
                 then; write \"retain\"",
            ),
        ];
        expected.sort();
        assert_eq!(said, expected);
    }
}
