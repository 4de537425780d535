//! What can be wrong with a script, and what can go wrong while it runs: always with file, line, word and a fix.
//! Printing is left to the caller.

use std::path::PathBuf;

use crate::nearest::nearest;

/// A script that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The file is missing or unreadable.
    #[error("cannot read the scenario {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The operating system's word.
        source: std::io::Error,
    },
    /// A line that is not in the language.
    #[error("{file}:{line}: {problem}")]
    Line {
        /// The script's name.
        file: String,
        /// Counted from 1.
        line: usize,
        /// What is wrong, with the word and the fix.
        problem: Problem,
    },
}

/// What is wrong with one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A word that should be one of a closed list.
    #[error("unknown {what} {word:?}; {}known are {known}", meant(.nearest))]
    Unknown {
        /// What the word should be.
        what: &'static str,
        /// The word.
        word: String,
        /// The known word that was probably meant.
        nearest: Option<String>,
        /// All known words.
        known: String,
    },
    /// The line ends too early.
    #[error("{command}: {what} is missing; write `{usage}`")]
    Missing {
        /// The command.
        command: &'static str,
        /// What should stand there.
        what: &'static str,
        /// How the command is written.
        usage: &'static str,
    },
    /// A word that means nothing there.
    #[error("{command}: {word:?} has no meaning here; write `{usage}`")]
    Surplus {
        /// The command.
        command: &'static str,
        /// The word.
        word: String,
        /// How the command is written.
        usage: &'static str,
    },
    /// A word that does not have its form.
    #[error("{word:?} is not {what}")]
    Malformed {
        /// The word.
        word: String,
        /// The form it should have, with an example.
        what: &'static str,
    },
    /// A quote that is never closed.
    #[error("the quote that opens in {word:?} is never closed; add a `\"`")]
    OpenQuote {
        /// The text from the quote on.
        word: String,
    },
    /// `world` after the first command.
    #[error("`world` describes the start, so it must be the first command; move it up")]
    LateWorld,
}

fn meant(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|word| format!("did you mean {word:?}? ")).unwrap_or_default()
}

impl Problem {
    /// An unknown word, with the nearest of the known ones.
    pub(super) fn unknown<'a>(
        what: &'static str,
        word: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        let nearest = nearest(word, known.iter().copied());
        Self::Unknown {
            what,
            word: word.to_owned(),
            nearest: nearest.map(str::to_owned),
            known: known.join(", "),
        }
    }
}

/// A step of a scenario that could not be done, or whose expectation was not met.
#[derive(Debug, thiserror::Error)]
#[error("{file}:{line}: `{text}`: {message}")]
pub struct Failure {
    /// The script's name.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// The line.
    pub text: String,
    /// What was found instead.
    pub message: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_offered() {
        let problem = Problem::unknown("command", "setle", ["apply", "settle", "delete"]);
        assert_eq!(
            problem.to_string(),
            "unknown command \"setle\"; did you mean \"settle\"? known are apply, settle, delete"
        );
        let problem = Problem::unknown("command", "apiVersion:", ["apply", "point"]);
        assert_eq!(problem.to_string(), "unknown command \"apiVersion:\"; known are apply, point");
    }
}
