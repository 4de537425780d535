//! Domain names as Cloudflare stores them: ASCII (punycode), lower case, no final dot. Knows nothing of records.

/// A name in the form that is compared: ASCII, lower case, no final dot. Names that are not valid in IDNA are only
/// lower-cased, so that every text has a canonical form.
#[must_use]
pub fn canonical(name: &str) -> String {
    let ascii = idna::domain_to_ascii(name).unwrap_or_else(|_| name.to_ascii_lowercase());
    ascii.strip_suffix('.').map_or(ascii.clone(), str::to_owned)
}
