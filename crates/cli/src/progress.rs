//! What takes so long: one line on standard error for those who sit before a terminal, redrawn while the work goes on
//! and erased before anything else is printed. Nothing at all anywhere else. What is going on is for the caller to say.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::time::Instant;

use crate::terminal;

/// After this long without a word people wonder whether anything happens.
const PATIENCE: Duration = Duration::from_secs(1);

/// Between two drawings: often enough to look alive.
const TICK: Duration = Duration::from_millis(250);

/// What a terminal that does not tell its width is taken for.
const COLUMNS_UNKNOWN: usize = 80;

/// Begins the line anew, and erases what is left of the one before.
const AGAIN: &str = "\r";
const ERASE_LINE: &str = "\x1b[K";

/// The line, for as long as it is held.
#[derive(Debug, Default)]
pub struct Progress {
    teller: Teller,
    drawing: Option<JoinHandle<()>>,
}

/// Says what is going on. Clones speak of the same work.
#[derive(Clone, Debug, Default)]
pub struct Teller {
    line: Option<Arc<(Mutex<Line>, Condvar)>>,
}

#[derive(Debug, Default)]
struct Line {
    text: String,
    is_drawn: bool,
    has_ended: bool,
}

impl Progress {
    /// Begins to wait with the user, when standard error is a terminal.
    #[must_use]
    pub fn begin(text: &str) -> Self {
        if !terminal::can_redraw(&io::stderr()) {
            return Self::default();
        }
        let line = Arc::new((Mutex::new(Line { text: text.to_owned(), ..Line::default() }), Condvar::new()));
        let shared = Arc::clone(&line);
        // A thread, as what it waits with may block its own. None is no loss.
        let drawing = thread::Builder::new().name("progress".to_owned()).spawn(move || draw(&shared));
        Self { teller: Teller { line: Some(line) }, drawing: drawing.ok() }
    }

    /// Speaks for this work.
    #[must_use]
    pub fn teller(&self) -> Teller {
        self.teller.clone()
    }

    /// Says what is going on now.
    pub fn say(&self, text: impl FnOnce() -> String) {
        self.teller.say(text);
    }

    /// Prints something while the line is out of the way.
    pub fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        let mut held = self.teller.lock();
        if let Some(line) = &mut held {
            line.erase(&mut io::stderr());
        }
        print()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(mut line) = self.teller.lock() {
            line.has_ended = true;
            line.erase(&mut io::stderr());
        }
        if let Some(shared) = &self.teller.line {
            shared.1.notify_all();
        }
        if let Some(drawing) = self.drawing.take() {
            // It draws and does nothing else: were it to panic, nothing would be lost.
            let _ = drawing.join();
        }
    }
}

impl Teller {
    /// Says what is going on now.
    pub fn say(&self, text: impl FnOnce() -> String) {
        if let Some(mut line) = self.lock() {
            line.text = text();
        }
    }

    fn lock(&self) -> Option<MutexGuard<'_, Line>> {
        self.line.as_ref().map(|shared| shared.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Draws the line until the work has ended.
fn draw(shared: &(Mutex<Line>, Condvar)) {
    let began = Instant::now();
    let mut line = shared.0.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let waited = shared.1.wait_timeout_while(line, TICK, |line| !line.has_ended);
        (line, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if line.has_ended {
            return;
        }
        if began.elapsed() >= PATIENCE {
            let columns = terminal::size().map_or(COLUMNS_UNKNOWN, |(columns, _)| columns);
            line.draw(&mut io::stderr(), began.elapsed(), columns);
        }
    }
}

impl Line {
    /// A terminal that is gone is nobody's to be told.
    fn draw(&mut self, out: &mut impl Write, since: Duration, columns: usize) {
        let text = terminal::harmless(&format!("{} · {} s", self.text, since.as_secs())).into_owned();
        // The last column stays empty: a full line makes some terminals wrap.
        let text = terminal::shortened(&text, columns.saturating_sub(1));
        let _ = write!(out, "{AGAIN}{text}{ERASE_LINE}").and_then(|()| out.flush());
        self.is_drawn = true;
    }

    fn erase(&mut self, out: &mut impl Write) {
        if std::mem::take(&mut self.is_drawn) {
            let _ = write!(out, "{AGAIN}{ERASE_LINE}").and_then(|()| out.flush());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_fits_the_terminal_and_goes_without_a_trace() {
        let mut line = Line { text: "asking Cloudflare: 12 calls".to_owned(), ..Line::default() };
        let mut out = Vec::new();
        line.erase(&mut out);
        assert!(out.is_empty(), "what was not drawn is not erased");
        line.draw(&mut out, Duration::from_millis(3_400), 80);
        assert_eq!(String::from_utf8(out).unwrap(), "\rasking Cloudflare: 12 calls · 3 s\x1b[K");
        let mut out = Vec::new();
        line.draw(&mut out, Duration::from_secs(3), 10);
        line.erase(&mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "\rasking C…\x1b[K\r\x1b[K");
    }

    #[test]
    fn where_there_is_no_terminal_nothing_is_even_put_into_words() {
        let progress = Progress::default();
        progress.say(|| panic!("nobody would see it"));
        progress.teller().say(|| panic!("nobody would see it"));
        assert_eq!(progress.aside(|| 7), 7);
    }
}
