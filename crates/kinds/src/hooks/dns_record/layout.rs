//! The parts of structured records: their names as Cloudflare's `data` has them, their order in a zone file, and what
//! each holds. How a part is compared and sent is for `part`, how a zone file's line is taken apart for `line`.

use super::part::{Form, Part};

/// How a type's text form is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// The parts in their order; the last takes the rest.
    Words,
    /// The same, but the first part may be left out, because Cloudflare's `content` has it at the top level (SRV).
    WordsAfterFirst,
    /// A location (RFC 1876).
    Location,
}

/// What a structured type consists of.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) parts: &'static [Part],
    pub(super) line: Line,
}

/// One octet.
const OCTET: Form = Form::Number(255);
/// Two octets.
const SHORT: Form = Form::Number(65_535);
/// Minutes of a degree.
const MINUTES: Form = Form::Number(59);
/// Seconds of a minute of a degree: thousandths on the wire (RFC 1876, 2), and the bounds of Cloudflare's API.
const SECONDS: Form = Form::Decimal { least: 0.0, most: 59.999, fractions: 1_000.0 };
/// Size and precisions in metres: hundredths on the wire (RFC 1876, 2), and the bounds of Cloudflare's API.
const METRES: Form = Form::Decimal { least: 0.0, most: 90_000_000.0, fractions: 100.0 };
/// Altitude in metres: hundredths above 100 km below the reference spheroid, in 32 bits (RFC 1876, 2).
const ALTITUDE: Form = Form::Decimal { least: -100_000.0, most: 42_849_672.95, fractions: 100.0 };

/// RFC 8659, 4.1.
pub(super) static CAA: Layout = Layout {
    parts: &[
        Part::required("flags", OCTET),
        Part::required("tag", Form::Tag),
        Part::required("value", Form::Text),
    ],
    line: Line::Words,
};

/// RFC 4398, 2.
pub(super) static CERT: Layout = Layout {
    parts: &[
        Part::required("type", SHORT),
        Part::required("key_tag", SHORT),
        Part::required("algorithm", OCTET),
        Part::required("certificate", Form::Base64),
    ],
    line: Line::Words,
};

/// RFC 4034, 2.
pub(super) static DNSKEY: Layout = Layout {
    parts: &[
        Part::required("flags", SHORT),
        Part::required("protocol", OCTET),
        Part::required("algorithm", OCTET),
        Part::required("public_key", Form::Base64),
    ],
    line: Line::Words,
};

/// RFC 4034, 5.
pub(super) static DS: Layout = Layout {
    parts: &[
        Part::required("key_tag", SHORT),
        Part::required("algorithm", OCTET),
        Part::required("digest_type", OCTET),
        Part::required("digest", Form::Hex),
    ],
    line: Line::Words,
};

/// HTTPS and SVCB (RFC 9460, 2). Alias mode (priority 0) has no parameters.
pub(super) static SERVICE_BINDING: Layout = Layout {
    parts: &[
        Part::required("priority", SHORT),
        Part::required("target", Form::Host),
        Part::optional("value", Form::Parameters),
    ],
    line: Line::Words,
};

/// RFC 1876; what may be left out, and that it then counts as 0, is Cloudflare's (case B055).
pub(super) static LOC: Layout = Layout {
    parts: &[
        Part::required("lat_degrees", Form::Number(90)),
        Part::optional("lat_minutes", MINUTES),
        Part::optional("lat_seconds", SECONDS),
        Part::required("lat_direction", Form::Direction(["N", "S"])),
        Part::required("long_degrees", Form::Number(180)),
        Part::optional("long_minutes", MINUTES),
        Part::optional("long_seconds", SECONDS),
        Part::required("long_direction", Form::Direction(["E", "W"])),
        Part::optional("altitude", ALTITUDE),
        Part::optional("size", METRES),
        Part::optional("precision_horz", METRES),
        Part::optional("precision_vert", METRES),
    ],
    line: Line::Location,
};

/// RFC 3403, 4.1: each of the three strings may be empty.
pub(super) static NAPTR: Layout = Layout {
    parts: &[
        Part::required("order", SHORT),
        Part::required("preference", SHORT),
        Part::optional("flags", Form::Flags),
        Part::optional("service", Form::CharacterString),
        Part::optional("regex", Form::CharacterString),
        Part::required("replacement", Form::Host),
    ],
    line: Line::Words,
};

/// SMIMEA and TLSA (RFC 6698, 2.1; RFC 8162, 2).
pub(super) static ASSOCIATION: Layout = Layout {
    parts: &[
        Part::required("usage", OCTET),
        Part::required("selector", OCTET),
        Part::required("matching_type", OCTET),
        Part::required("certificate", Form::Hex),
    ],
    line: Line::Words,
};

/// RFC 2782.
pub(super) static SRV: Layout = Layout {
    parts: &[
        Part::required("priority", SHORT),
        Part::required("weight", SHORT),
        Part::required("port", SHORT),
        Part::required("target", Form::Host),
    ],
    line: Line::WordsAfterFirst,
};

/// RFC 4255, 3.1.
pub(super) static SSHFP: Layout = Layout {
    parts: &[
        Part::required("algorithm", OCTET),
        Part::required("type", OCTET),
        Part::required("fingerprint", Form::Hex),
    ],
    line: Line::Words,
};

/// RFC 7553, 4, without the priority, which Cloudflare has at the top level.
pub(super) static URI: Layout = Layout {
    parts: &[Part::required("weight", SHORT), Part::required("target", Form::Text)],
    line: Line::Words,
};

/// Every layout, to tell a part of another type (case B053) from a name that no type has.
const ALL: [&Layout; 11] =
    [&CAA, &CERT, &DNSKEY, &DS, &SERVICE_BINDING, &LOC, &NAPTR, &ASSOCIATION, &SRV, &SSHFP, &URI];

/// Members of `data` that older answers of Cloudflare's have for SRV beside its parts.
const SRV_NAME_PARTS: [&str; 3] = ["service", "proto", "name"];

/// Whether some type has such a part.
pub(super) fn is_known_part(name: &str) -> bool {
    SRV_NAME_PARTS.contains(&name) || ALL.iter().any(|layout| layout.part(name).is_some())
}

impl Layout {
    /// A part by its name.
    pub(super) fn part(&self, name: &str) -> Option<&'static Part> {
        self.parts.iter().find(|part| part.name == name)
    }

    /// The part that shows that a `data` is this type's: the first text that cannot be left out.
    pub(super) fn mark(&self) -> Option<&'static Part> {
        self.parts.iter().find(|part| part.is_required && !part.form.is_number())
    }

    /// The names of the parts, as messages list them: `flags, tag and value`.
    pub(super) fn names(&self) -> String {
        let names: Vec<&str> = self.parts.iter().map(|part| part.name).collect();
        match names.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
            _ => names.concat(),
        }
    }
}
