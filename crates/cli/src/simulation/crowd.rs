//! Many seeds at once. Runs share nothing, so they go on all cores; what came of each is told in the order of the seeds.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError, mpsc};
use std::thread;

use super::seed::{SeedFailure, SeedRun, run_seed};

/// What came of a seed.
type Outcome = Result<SeedRun, Box<SeedFailure>>;

/// Runs that may be done before the one that is told next: a failing seed is run hundreds of times to make it small.
const AHEAD_PER_THREAD: u64 = 64;

/// How many seeds were told, and who waits for that.
#[derive(Default)]
struct Told {
    count: Mutex<u64>,
    grew: Condvar,
}

impl Told {
    /// Waits until so many are told.
    fn wait_for(&self, count: u64) {
        let told = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.grew.wait_while(told, |told| *told < count));
    }

    fn is_now(&self, count: u64) {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner) = count;
        self.grew.notify_all();
    }
}

/// Runs `count` seeds from `first` on and tells of each, in order; ends early when `tell` fails.
pub fn run_seeds<E>(
    first: u64,
    count: u64,
    mut tell: impl FnMut(u64, Outcome) -> Result<(), E>,
) -> Result<(), E> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let ahead = AHEAD_PER_THREAD * threads as u64;
    let (next, told) = (AtomicU64::new(0), Told::default());
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel(usize::try_from(ahead).unwrap_or(usize::MAX));
        for _ in 0..threads {
            let (sender, next, told) = (sender.clone(), &next, &told);
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    told.wait_for(at.saturating_sub(ahead).min(count));
                    // Nobody listens any more once telling has failed.
                    if at >= count || sender.send((at, caught(first.saturating_add(at)))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut done = 0;
        let mut outcome = Ok(());
        while outcome.is_ok()
            && let Ok((at, run)) = receiver.recv()
        {
            waiting.insert(at, run);
            while outcome.is_ok()
                && let Some(run) = waiting.remove(&done)
            {
                outcome = tell(first.saturating_add(done), run);
                done += 1;
            }
            told.is_now(done);
        }
        // Whoever still waits finds that it is over.
        told.is_now(count);
        outcome
    })
}

/// A run that panics is a failure with its seed's number.
fn caught(seed: u64) -> Outcome {
    catch_unwind(AssertUnwindSafe(|| run_seed(seed))).unwrap_or_else(|_| {
        let problems = vec!["the run panicked: its words stand above".to_owned()];
        Err(Box::new(SeedFailure { seed, problems, script: Vec::new(), is_mended: false }))
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
