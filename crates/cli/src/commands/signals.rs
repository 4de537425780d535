//! The signals that end a process: the first is waited for, the next ends it at once.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Signals that ask a process to end.
#[derive(Debug)]
pub(super) struct Ends {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Ends {
    /// Listens from now on; until then each signal kills the process. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// What the operating system says.
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for the next one and names it.
    pub(super) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.hang_up.recv() => "SIGHUP",
        }
    }
}
