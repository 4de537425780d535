//! Many seeds at once. Runs share nothing, so they go on all cores; what came of each is told in the order of the seeds.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

use super::seed::{SeedFailure, SeedRun, run_seed};

/// What came of a seed.
type Outcome = Result<SeedRun, Box<SeedFailure>>;

/// Runs that may be done before the one that is told next: a failing seed is run hundreds of times to make it small.
const AHEAD_PER_THREAD: usize = 64;

/// Runs `count` seeds from `first` on and tells of each, in order; ends early when `tell` fails.
pub fn run_seeds<E>(
    first: u64,
    count: u64,
    mut tell: impl FnMut(u64, Outcome) -> Result<(), E>,
) -> Result<(), E> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let next = AtomicU64::new(0);
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel(threads * AHEAD_PER_THREAD);
        for _ in 0..threads {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    // Nobody listens any more once telling has failed.
                    if at >= count || sender.send((at, run_seed(first.saturating_add(at)))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut told = 0;
        for (at, outcome) in receiver {
            waiting.insert(at, outcome);
            while let Some(outcome) = waiting.remove(&told) {
                tell(first.saturating_add(told), outcome)?;
                told += 1;
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_told_in_order() {
        let mut told = Vec::new();
        let done: Result<(), ()> = run_seeds(7, 5, |seed, _| {
            told.push(seed);
            Ok(())
        });
        assert_eq!((told, done), (vec![7, 8, 9, 10, 11], Ok(())));
        assert_eq!(run_seeds(1, 5, |_, _| Err("stop")), Err("stop"));
    }
}
