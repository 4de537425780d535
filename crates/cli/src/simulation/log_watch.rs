//! Reads along what a run logs, because a secret in a log is a secret shown.
//! Keeps nothing of it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::checker::SECRET_MARK;
use crate::commands::log;

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

/// Does `work` and says whether `kflare run` would have logged a secret, at the level that shows most.
pub(super) fn watched<T>(work: impl FnOnce() -> T) -> (T, bool) {
    let read = Log::default();
    let lines = read.clone();
    // As long as there is one subscriber alone, tracing asks whichever thread comes to a line first whether it has any,
    // and remembers the answer for all.
    let _second = tracing::Dispatch::new(tracing::subscriber::NoSubscriber::default());
    let dispatch = log::to(log::Level::Trace, log::Format::Json, move || lines.clone());
    let result = tracing::dispatcher::with_default(&dispatch, work);
    (result, read.shown.load(Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_in_a_log_is_noticed() {
        assert!(!watched(|| tracing::info!("all is well")).1);
        assert!(watched(|| tracing::debug!(token = crate::world::TOKEN, "sent")).1);
        assert!(watched(|| tracing::trace!(token = crate::world::TOKEN, "sent")).1);
    }

    /// Libraries log headers and bodies at their lower levels, whatever level kflare is set to.
    #[test]
    fn what_libraries_say_below_warnings_is_not_logged() {
        let text = crate::world::TOKEN;
        assert!(!watched(|| tracing::trace!(target: "hyper::proto::h1", "{text}")).1);
        assert!(!watched(|| tracing::debug!(target: "h2::codec::framed_write", "{text}")).1);
        assert!(!watched(|| tracing::info!(target: "rustls::client", "{text}")).1);
    }

    #[test]
    fn an_answer_that_kubernetes_client_cannot_read_is_not_logged() {
        let text = crate::world::TOKEN;
        assert!(!watched(|| tracing::warn!(target: "kube_client::client", "{text}")).1);
        assert!(watched(|| tracing::warn!(target: "kube_client::client::tls", "{text}")).1);
    }
}
