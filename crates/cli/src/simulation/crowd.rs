//! Many runs at once. They share nothing, so they go on all cores; what came of each is told in their order.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

use super::seed::{SeedFailure, SeedRun, run_seed};

/// Runs that may be done before the one that is told next: a failing seed is run hundreds of times to make it small.
const AHEAD_PER_THREAD: u64 = 64;

/// How many runs were told, and who waits for that.
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

/// What came of a seed.
type Outcome = Result<SeedRun, Box<SeedFailure>>;

/// Runs `count` seeds from `first` on and tells of each, in order; ends early when `tell` fails.
pub fn run_seeds<E>(
    first: u64,
    count: u64,
    mut tell: impl FnMut(u64, Outcome) -> Result<(), E>,
) -> Result<(), E> {
    let seed = |at: u64| first.saturating_add(at);
    in_order(count, |at| caught(seed(at)), |at, outcome| tell(seed(at), outcome))
}

/// Does `work` for each number below `count` on all cores and tells what came of it, in order; ends early when `tell`
/// fails. Panics when a run does.
pub fn in_order<R: Send, E>(
    count: u64,
    work: impl Fn(u64) -> R + Sync,
    mut tell: impl FnMut(u64, R) -> Result<(), E>,
) -> Result<(), E> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let ahead = AHEAD_PER_THREAD * threads as u64;
    let (next, told) = (AtomicU64::new(0), Told::default());
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel(usize::try_from(ahead).unwrap_or(usize::MAX));
        for _ in 0..threads {
            let (sender, next, told, work) = (sender.clone(), &next, &told, &work);
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    told.wait_for(at.saturating_sub(ahead).min(count));
                    // Nobody listens any more once telling has failed.
                    let run = || catch_unwind(AssertUnwindSafe(|| work(at)));
                    if at >= count || sender.send((at, run())).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let outcome = tell_in_order(receiver, &mut tell, &told);
        // Whoever still waits finds that it is over.
        told.is_now(count);
        outcome.unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// Tells of each run when all before it are told; ends early with the panic of one, or when telling fails.
fn tell_in_order<R, E>(
    runs: Receiver<(u64, thread::Result<R>)>,
    tell: &mut impl FnMut(u64, R) -> Result<(), E>,
    told: &Told,
) -> thread::Result<Result<(), E>> {
    let mut waiting = BTreeMap::new();
    let mut done = 0;
    for (at, run) in runs {
        waiting.insert(at, run?);
        while let Some(run) = waiting.remove(&done) {
            if let Err(error) = tell(done, run) {
                return Ok(Err(error));
            }
            done += 1;
        }
        told.is_now(done);
    }
    Ok(Ok(()))
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

    #[test]
    fn a_run_that_panics_ends_the_others() {
        let work = |at| assert_ne!(at, 3, "three is too many");
        let run = || in_order(100_000, work, |_, ()| Ok::<(), ()>(()));
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
    }
}
