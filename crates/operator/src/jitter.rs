//! Deterministic spread: the same seed, key and attempt give the same factor, so that a run can be repeated (V12).

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

/// `duration` times a factor from `1 - spread` to `1 + spread`, drawn from (seed, key, attempt).
#[must_use]
pub fn spread(duration: Duration, spread: f64, seed: u64, key: &impl Hash, attempt: u64) -> Duration {
    duration.mul_f64(1.0 - spread + 2.0 * spread * unit(seed, key, attempt))
}

/// A number in [0, 1).
fn unit(seed: u64, key: &impl Hash, attempt: u64) -> f64 {
    // `DefaultHasher::new` has fixed keys: equal in every process of one build, which is all that replays need.
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    let mixed = splitmix(seed ^ splitmix(hasher.finish() ^ splitmix(attempt)));
    // The upper 53 bits, which a double holds exactly.
    (mixed >> 11) as f64 / (1_u64 << 53) as f64
}

/// One step of the splitmix64 generator (Steele, Lea, Flood 2014).
#[must_use]
pub fn splitmix(state: u64) -> u64 {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_stays_within_its_bounds_and_repeats() {
        let hour = Duration::from_secs(3_600);
        for attempt in 0..1_000 {
            let drawn = spread(hour, 0.1, 7, &"zone", attempt);
            assert!(drawn >= hour.mul_f64(0.9) && drawn <= hour.mul_f64(1.1), "{attempt}: {drawn:?}");
            assert_eq!(drawn, spread(hour, 0.1, 7, &"zone", attempt));
        }
        assert_ne!(spread(hour, 0.1, 7, &"zone", 1), spread(hour, 0.1, 8, &"zone", 1));
    }
}
