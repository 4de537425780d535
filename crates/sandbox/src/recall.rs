//! What reads were answered a while ago: what a server says that has not heard of the news yet.
//! Which read is answered so, and how old an answer may be, is left to the world that asks.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

/// Answers kept: more reads than a fault is armed for at once.
const KEPT_MAX: usize = 128;
/// Bytes of a body beyond which an answer is not kept: long lists would cost more than they tell.
const BYTES_MAX: usize = 256 * 1024;

/// The last answers to reads, each under its path and query.
#[derive(Debug)]
pub(crate) struct Recall<T>(Mutex<VecDeque<(Timestamp, String, T)>>);

impl<T> Default for Recall<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Recall<T> {
    /// Keeps an answer of so many bytes.
    pub(crate) fn keep(&self, at: Timestamp, read: &str, bytes: usize, answer: &T) {
        if bytes > BYTES_MAX {
            return;
        }
        let mut kept = self.lock();
        if kept.len() == KEPT_MAX {
            kept.pop_front();
        }
        kept.push_back((at, read.to_owned(), answer.clone()));
    }

    /// The oldest answer to this read that was given since then.
    pub(crate) fn oldest(&self, read: &str, since: Timestamp) -> Option<T> {
        let kept = self.lock();
        kept.iter().find(|(at, path, _)| *at >= since && path == read).map(|(_, _, answer)| answer.clone())
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(Timestamp, String, T)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;

    #[test]
    fn the_oldest_answer_that_is_young_enough_is_recalled() {
        let at = |seconds| Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds);
        let recall = Recall::default();
        recall.keep(at(1), "/a", 1, &1);
        recall.keep(at(2), "/a", 1, &2);
        recall.keep(at(3), "/b", BYTES_MAX + 1, &3);
        assert_eq!((recall.oldest("/a", at(0)), recall.oldest("/a", at(2))), (Some(1), Some(2)));
        assert_eq!((recall.oldest("/a", at(3)), recall.oldest("/b", at(0))), (None, None));
        for n in 0..KEPT_MAX {
            recall.keep(at(4), "/c", 1, &n);
        }
        assert_eq!(recall.oldest("/a", at(0)), None, "what is kept is bounded");
    }
}
