//! The scenario language: any text is a script or an error with its line, and a script says again what it said.

use std::path::Path;

use cli::scenario::Script;
use cli::terminal::steers;

/// Longest complaint about one line: it quotes a word or two of it, and the line is short in life.
const COMPLAINT_CHARACTERS: usize = 2_000;

pub(crate) fn run(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let script = match Script::parse("fuzz.txt", Path::new("fuzz"), &text) {
        Ok(script) => script,
        Err(error) => {
            let said = error.to_string();
            assert!(!said.chars().any(|c| c != '\n' && steers(c)), "{said:?} steers a terminal");
            let rest = said.strip_prefix("fuzz.txt:").and_then(|rest| rest.split_once(": "));
            let line = rest.and_then(|(line, _)| line.parse::<usize>().ok());
            let lines = text.lines().count();
            assert!(
                line.is_some_and(|line| (1..=lines).contains(&line)),
                "{said:?} names none of {lines} lines"
            );
            let bound = COMPLAINT_CHARACTERS + text.chars().count() * 2;
            assert!(said.chars().count() <= bound, "{said}");
            return;
        }
    };
    let lines = text.lines().count();
    for step in &script.steps {
        assert!((1..=lines).contains(&step.line), "line {} of {lines}", step.line);
        // What a transcript shows of a step is the step.
        let again = Script::parse("again.txt", Path::new("fuzz"), &step.text).expect("a line that was read");
        let [same] = &again.steps[..] else { panic!("{:?} is {:?}", step.text, again.steps) };
        assert_eq!(format!("{:?}", same.command), format!("{:?}", step.command), "{:?}", step.text);
    }
}
