//! Cuts a line into words: blanks separate, double quotes hold together, `#` begins a comment.
//! Knows nothing of what the words mean.

use super::super::error::Problem;

/// The words of a line, taken one by one.
#[derive(Debug)]
pub(super) struct Words {
    words: std::vec::IntoIter<String>,
    command: &'static str,
    usage: &'static str,
}

impl Words {
    pub(super) fn new(words: Vec<String>) -> Self {
        Self { words: words.into_iter(), command: "", usage: "" }
    }

    /// Which command is being read, for messages.
    pub(super) fn set_command(&mut self, command: &'static str, usage: &'static str) {
        (self.command, self.usage) = (command, usage);
    }

    pub(super) fn next(&mut self) -> Option<String> {
        self.words.next()
    }

    /// The next word, which must be there.
    pub(super) fn need(&mut self, what: &'static str) -> Result<String, Problem> {
        self.next().ok_or(Problem::Missing { command: self.command, what, usage: self.usage })
    }

    /// Everything that is left.
    pub(super) fn rest(&mut self) -> Vec<String> {
        self.words.by_ref().collect()
    }

    /// Takes `-n NAMESPACE` out of what is left.
    pub(super) fn take_namespace(&mut self) -> Result<Option<String>, Problem> {
        let mut rest = self.rest();
        let found = rest.iter().position(|word| word == "-n");
        let namespace = match found {
            Some(at) if at + 1 < rest.len() => {
                rest.remove(at);
                Some(rest.remove(at))
            }
            Some(_) => {
                return Err(Problem::Missing {
                    command: self.command,
                    what: "the namespace after -n",
                    usage: self.usage,
                });
            }
            None => None,
        };
        self.words = rest.into_iter();
        Ok(namespace)
    }

    /// What nobody asked for.
    pub(super) fn surplus(&self, word: String) -> Problem {
        Problem::Surplus { command: self.command, word, usage: self.usage }
    }

    /// The line must end here.
    pub(super) fn end(&mut self) -> Result<(), Problem> {
        match self.next() {
            None => Ok(()),
            Some(word) => Err(self.surplus(word)),
        }
    }
}

/// Cuts a line, and says how many bytes of it are no comment. In quotes, `\"` and `\\` stand for `"` and `\`.
pub(super) fn cut(line: &str) -> Result<(Vec<String>, usize), Problem> {
    let mut words = Vec::new();
    let mut letters = line.chars().peekable();
    loop {
        while letters.next_if(|letter| letter.is_whitespace()).is_some() {}
        match letters.peek() {
            None => return Ok((words, line.len())),
            Some('#') => return Ok((words, line.len() - letters.collect::<String>().len())),
            Some(_) => {}
        }
        let mut word = String::new();
        while let Some(letter) = letters.next_if(|letter| !letter.is_whitespace()) {
            if letter == '"' { quoted(&mut letters, &mut word)? } else { word.push(letter) }
        }
        words.push(word);
    }
}

fn quoted(letters: &mut impl Iterator<Item = char>, word: &mut String) -> Result<(), Problem> {
    let opened = word.len();
    loop {
        match letters.next() {
            Some('"') => return Ok(()),
            Some('\\') => match letters.next() {
                Some(escaped @ ('"' | '\\')) => word.push(escaped),
                Some(other) => word.extend(['\\', other]),
                None => {}
            },
            Some(letter) => word.push(letter),
            None => return Err(Problem::OpenQuote { word: word[opened..].to_owned() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(line: &str) -> Vec<String> {
        cut(line).unwrap().0
    }

    #[test]
    fn words_quotes_and_comments() {
        assert_eq!(
            words_of(r#"expect a  message~"two words" content="\"x\"" # why"#),
            ["expect", "a", "message~two words", r#"content="x""#]
        );
        assert_eq!(words_of("  # only a comment"), Vec::<String>::new());
        assert_eq!(words_of("a#b"), ["a#b"]);
        assert_eq!(cut(r#"a "b c"#), Err(Problem::OpenQuote { word: "b c".into() }));
    }
}
