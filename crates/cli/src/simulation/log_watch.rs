//! Reads along what a run logs, because a secret in a log is a secret shown.
//! Keeps nothing of it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tracing::Level;

use super::checker::SECRET_MARK;

/// A log that only looks for secrets.
#[derive(Clone, Debug, Default)]
struct Log {
    shown: Arc<AtomicBool>,
}

impl io::Write for Log {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        // The formatter writes whole lines.
        let mark = SECRET_MARK.as_bytes();
        if line.windows(mark.len()).any(|part| part == mark) {
            self.shown.store(true, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Does `work` and says whether it logged a secret, at any level down to debug.
pub(super) fn watched<T>(work: impl FnOnce() -> T) -> (T, bool) {
    let log = Log::default();
    let lines = log.clone();
    // As long as there is one subscriber alone, tracing asks whichever thread comes to a line first whether it has any,
    // and remembers the answer for all.
    let _second = tracing::Dispatch::new(tracing::subscriber::NoSubscriber::default());
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(Level::DEBUG)
        .with_ansi(false)
        .without_time()
        .with_writer(move || lines.clone())
        .finish();
    let result = tracing::subscriber::with_default(subscriber, work);
    (result, log.shown.load(Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_in_a_log_is_noticed() {
        assert!(!watched(|| tracing::info!("all is well")).1);
        assert!(watched(|| tracing::debug!(token = crate::world::TOKEN, "sent")).1);
    }
}
