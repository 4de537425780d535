//! When a removal that no object asks for is too large to be believed at once: a reading of the cluster that lost much
//! looks just like that, so it is read again in full before anything goes.

use crate::limits::{DERIVED_DELETES_MIN, DERIVED_DELETES_SHARE};

/// Whether removing so many of what stands needs a second full reading that says the same.
#[must_use]
pub const fn needs_second_reading(standing: usize, derived: usize) -> bool {
    derived >= DERIVED_DELETES_MIN && derived.saturating_mul(DERIVED_DELETES_SHARE) > standing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b184_ten_and_more_than_half_are_read_again() {
        let cases =
            [(9, 9), (10, 10), (19, 10), (20, 10), (21, 10), (100, 50), (100, 51), (0, 0), (5, usize::MAX)];
        let expected = [false, true, true, false, false, false, true, false, true];
        assert_eq!(cases.map(|(standing, derived)| needs_second_reading(standing, derived)), expected);
    }
}
