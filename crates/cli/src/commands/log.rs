//! Logs on standard error, as JSON or as text. Which events there are is decided where things happen.

use std::io::{self, Write};
use std::str::FromStr;

use clap::ValueEnum;
use tracing::Dispatch;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::util::SubscriberInitExt;

use crate::terminal;

/// Our own crates, which the level is for. Libraries stay at their warnings: at more some of them log headers.
const OURS: &[&str] = &["cli", "kflare", "operator", "plan", "kinds", "cf_api", "sandbox"];

/// Say of every refused request what the operator says, too, and with more sense of which refusals matter. They print
/// answers of the API server as they came, that of a Secret which ends in the middle, too.
const REPEATED: &[&str] = &["kube_client::client", "kube_runtime::watcher"];

/// Of those, what prints no answer and is said by nobody else: certificates that cannot be read again.
const NOT_REPEATED: &[&str] = &["kube_client::client::tls"];

/// How logs look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One JSON object a line
    Json,
    /// For people
    #[value(alias = "console")]
    Text,
}

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Nothing.
    Off,
    /// Errors.
    Error,
    /// Warnings and worse.
    Warn,
    /// Changes and worse.
    Info,
    /// Every call.
    Debug,
    /// Everything.
    Trace,
}

/// Not a level.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write off, error, warn, info, debug, trace, or a number from 0 (info) to 9 (trace)")]
pub struct UnknownLevel;

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(text: &str) -> Result<Self, UnknownLevel> {
        Ok(match text.to_ascii_lowercase().as_str() {
            "off" => Self::Off,
            // zap's levels above error.
            "error" | "dpanic" | "panic" | "fatal" => Self::Error,
            "warn" | "warning" => Self::Warn,
            "info" | "0" => Self::Info,
            "debug" | "1" | "2" => Self::Debug,
            "trace" | "3" | "4" | "5" | "6" | "7" | "8" | "9" => Self::Trace,
            _ => return Err(UnknownLevel),
        })
    }
}

impl Level {
    const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }

    fn filter(self) -> EnvFilter {
        let libraries = if self == Self::Off || self == Self::Error { self } else { Self::Warn };
        let ours = OURS.iter().map(|name| format!(",{name}={}", self.name()));
        let repeated = REPEATED.iter().map(|name| format!(",{name}=off"));
        let others = NOT_REPEATED.iter().map(|name| format!(",{name}={}", libraries.name()));
        EnvFilter::new(format!(
            "{}{}",
            libraries.name(),
            repeated.chain(others).chain(ours).collect::<String>()
        ))
    }
}

/// Sends logs to standard error from now on. A second call changes nothing.
pub fn begin(level: Level, format: Format) {
    // It fails when logs have begun already, as in tests.
    let _ = to(level, format, io::stderr).try_init();
}

/// Logs to where `sink` says.
pub fn to<S: Write + 'static>(
    level: Level,
    format: Format,
    sink: impl Fn() -> S + Send + Sync + 'static,
) -> Dispatch {
    let logs = tracing_subscriber::fmt().with_env_filter(level.filter());
    // Without colours every control character in a line is someone else's, and none gets through.
    let logs = logs.with_ansi(false).with_writer(move || Harmless(sink()));
    match format {
        Format::Json => logs.json().flatten_event(true).with_current_span(true).with_span_list(false).into(),
        Format::Text => logs.with_target(false).into(),
    }
}

/// A sink without control characters.
struct Harmless<S>(S);

impl<S: Write> Write for Harmless<S> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        let text = text.strip_suffix('\n').unwrap_or(&text);
        self.0.write_all(format!("{}\n", terminal::harmless(text)).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_read_as_zap_reads_them() {
        let cases = [
            ("info", Level::Info),
            ("0", Level::Info),
            ("DEBUG", Level::Debug),
            ("1", Level::Debug),
            ("3", Level::Trace),
            ("panic", Level::Error),
            ("off", Level::Off),
        ];
        for (text, level) in cases {
            assert_eq!(text.parse(), Ok(level), "{text}");
        }
        assert_eq!("loud".parse::<Level>(), Err(UnknownLevel));
        assert_eq!("".parse::<Level>(), Err(UnknownLevel));
    }

    #[test]
    fn libraries_never_say_more_than_warnings_and_dump_no_answers() {
        let filter = Level::Trace.filter().to_string();
        assert!(REPEATED.iter().all(|name| filter.contains(&format!("{name}=off"))), "{filter}");
        assert_eq!(filter.split(',').find(|part| !part.contains('=')), Some("warn"));
    }
}
