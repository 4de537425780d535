//! The query string: decoded pairs, and the paging parameters with a list's bounds.
//! Filters are left to each list.

use super::envelope::{ApiErrors, PageInfo};
use super::gateway::Gateway;
use super::switches::TooLarge;

/// Decoded parameters in the order they came.
#[derive(Clone, Debug, Default)]
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    pub(super) fn parse(raw: &str) -> Self {
        let pairs = raw.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(key), decoded(value))
        });
        Self(pairs.collect())
    }

    /// The first value of a parameter.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    pub(super) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }
}

/// Percent decoding that never fails: what is no escape stays as it is, what is no UTF-8 is replaced.
pub(super) fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let escape = bytes
            .get(at + 1..at + 3)
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            .and_then(|digits| std::str::from_utf8(digits).ok());
        match (byte, escape.and_then(|digits| u8::from_str_radix(digits, 16).ok())) {
            (b'%', Some(escaped)) => {
                out.push(escaped);
                at += 3;
            }
            (b'+', _) => {
                out.push(b' ');
                at += 1;
            }
            _ => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// A list's bounds of `per_page`.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageBounds {
    pub(super) default: u64,
    pub(super) min: u64,
    pub(super) max: u64,
}

/// Cloudflare API docs: zones, accounts, memberships and tokens.
pub(super) const SHORT_LIST: PageBounds = PageBounds { default: 20, min: 5, max: 50 };
/// Cloudflare API docs: DNS records.
pub(super) const RECORD_LIST: PageBounds = PageBounds { default: 100, min: 1, max: 5_000_000 };

/// Which part of a list is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Page {
    page: u64,
    per_page: u64,
}

impl Page {
    pub(super) fn of(query: &Query, bounds: PageBounds, too_large: TooLarge) -> Result<Self, ApiErrors> {
        let refusal = Gateway::Paging { field: "per_page", min: bounds.min, max: bounds.max };
        let per_page = match query.get("per_page").map(str::parse::<u64>) {
            None => bounds.default,
            Some(Ok(size)) if size > bounds.max && too_large == TooLarge::Cap => bounds.max,
            Some(Ok(size)) if (bounds.min..=bounds.max).contains(&size) => size,
            Some(_) => return Err(refusal.into()),
        };
        let page = match query.get("page").map(str::parse::<u64>) {
            None => 1,
            Some(Ok(page)) if page >= 1 => page,
            Some(_) => return Err(Gateway::Paging { field: "page", min: 1, max: u64::MAX }.into()),
        };
        Ok(Self { page, per_page })
    }

    /// The rows of this page; past the end there are none.
    pub(super) fn cut<'a, T>(&self, rows: &'a [T]) -> (&'a [T], PageInfo) {
        let total = rows.len() as u64;
        let start = (self.page - 1).saturating_mul(self.per_page).min(total);
        let end = start.saturating_add(self.per_page).min(total);
        let part = usize::try_from(start)
            .ok()
            .zip(usize::try_from(end).ok())
            .and_then(|(start, end)| rows.get(start..end))
            .unwrap_or_default();
        let info = PageInfo {
            page: self.page,
            per_page: self.per_page,
            count: part.len() as u64,
            total_count: total,
            total_pages: total.div_ceil(self.per_page),
        };
        (part, info)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_escapes_stay_or_are_replaced() {
        for (raw, wanted) in [
            ("a%20b+c", "a b c"),
            ("%", "%"),
            ("%4", "%4"),
            ("%zz", "%zz"),
            ("%ff", "\u{fffd}"),
            ("%C3%BC", "ü"),
            ("%é", "%é"),
            ("%%41", "%A"),
        ] {
            assert_eq!(decoded(raw), wanted, "{raw}");
        }
    }

    #[test]
    fn b157_a_page_past_the_end_is_empty_and_totals_stay() {
        let rows: Vec<u32> = (0..45).collect();
        for (query, count) in [("", 20), ("page=3", 5), ("page=4", 0), ("page=18446744073709551615", 0)] {
            let page = Page::of(&Query::parse(query), SHORT_LIST, TooLarge::Refuse).unwrap();
            let (part, info) = page.cut(&rows);
            assert_eq!(
                (part.len(), info.count, info.total_count, info.total_pages),
                (count, count as u64, 45, 3)
            );
        }
    }

    #[test]
    fn sizes_outside_the_bounds_are_refused_or_capped() {
        for (query, refuse, cap) in [
            ("per_page=50", Some(50), Some(50)),
            ("per_page=51", None, Some(50)),
            ("per_page=4", None, None),
            ("per_page=x", None, None),
            ("per_page=-1", None, None),
            ("per_page=", None, None),
        ] {
            let size = |too_large| {
                Page::of(&Query::parse(query), SHORT_LIST, too_large).ok().map(|page| page.per_page)
            };
            assert_eq!((size(TooLarge::Refuse), size(TooLarge::Cap)), (refuse, cap), "{query}");
        }
    }
}
