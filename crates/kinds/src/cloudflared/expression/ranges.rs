//! Sets of code points as sorted ranges. Go's characters are numbers up to `U+10FFFF`, surrogates included, so these
//! are not Rust's `char`.

/// The last code point.
pub(super) const LAST: u32 = 0x0010_FFFF;
/// The surrogates: in a class they may be named, in a path they never occur.
pub(super) const SURROGATES: (u32, u32) = (0xD800, 0xDFFF);

/// A set of code points: ranges with both ends in them, sorted, none touching the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ranges(Vec<(u32, u32)>);

impl Ranges {
    pub(super) fn new(ranges: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let mut given: Vec<(u32, u32)> = ranges.into_iter().collect();
        given.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(given.len());
        for (low, high) in given {
            match merged.last_mut() {
                Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
                _ => merged.push((low, high)),
            }
        }
        Self(merged)
    }

    pub(super) fn all() -> Self {
        Self(vec![(0, LAST)])
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        self.0.iter().copied()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The code point, if the set holds one only.
    pub(super) fn single(&self) -> Option<u32> {
        match self.0[..] {
            [(low, high)] if low == high => Some(low),
            _ => None,
        }
    }

    pub(super) fn contains(&self, rune: u32) -> bool {
        let after = self.0.partition_point(|(low, _)| *low <= rune);
        after.checked_sub(1).and_then(|before| self.0.get(before)).is_some_and(|(_, high)| rune <= *high)
    }

    pub(super) fn union(&self, other: &Self) -> Self {
        Self::new(self.iter().chain(other.iter()))
    }

    pub(super) fn negated(&self) -> Self {
        let mut gaps = Vec::with_capacity(self.0.len() + 1);
        let mut next = 0;
        for (low, high) in self.iter() {
            if next < low {
                gaps.push((next, low - 1));
            }
            next = high + 1;
        }
        if next <= LAST {
            gaps.push((next, LAST));
        }
        Self(gaps)
    }

    pub(super) fn intersection(&self, other: &Self) -> Self {
        let mut common = Vec::new();
        for (low, high) in self.iter() {
            let first = other.0.partition_point(|(_, end)| *end < low);
            let meeting = other.0[first..].iter().take_while(|(start, _)| *start <= high);
            common.extend(meeting.map(|(start, end)| (low.max(*start), high.min(*end))));
        }
        Self(common)
    }

    pub(super) fn without(&self, other: &Self) -> Self {
        self.negated().union(other).negated()
    }
}
