//! Help as it is printed: prose as wide as the terminal, examples as they are, to be copied.
//! What it says stands beside the flags.

use clap::Command;

use crate::terminal;

/// Columns of help at most: longer lines are hard to follow. Also what a reader that is no terminal gets.
const COLUMNS_MAX: usize = 100;

/// Begins a line that is shown as it is: an example, or a comment on one.
const VERBATIM: &str = "  ";

/// Help of a command without the text below it, as clap lays it out.
const ABOVE: &str = "{before-help}{about-with-newline}\n{usage-heading} {usage}";

/// Columns that help has here: those of the terminal, else of the variable that shells set.
pub(super) fn columns() -> usize {
    let variable = || std::env::var("COLUMNS").ok()?.parse().ok();
    let known = terminal::size().map(|(columns, _)| columns).or_else(variable);
    known.unwrap_or(COLUMNS_MAX).min(COLUMNS_MAX)
}

/// The command and those below it with help for so many columns. clap wraps every line of the text below the flags,
/// examples too; what stands in its template it leaves alone.
pub(super) fn fitted(command: Command, columns: usize) -> Command {
    let header = *command.get_styles().get_header();
    let command = command.term_width(columns).mut_subcommands(|command| fitted(command, columns));
    let Some(below) = command.get_after_help() else { return command };
    let titled = |line: String| match line.ends_with(':') && !line.starts_with(VERBATIM) {
        true => format!("{header}{line}{header:#}"),
        false => line,
    };
    let below: Vec<String> = lines(&below.to_string(), columns).into_iter().map(titled).collect();
    let has_arguments = command.get_arguments().next().is_some() || command.has_subcommands();
    let arguments = if has_arguments { "\n\n{all-args}" } else { "" };
    let template = format!("{ABOVE}{arguments}\n\n{}", below.join("\n"));
    command.help_template(template)
}

/// The text in lines: neighbours that are not verbatim are one paragraph, and wrapped.
fn lines(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut paragraph = String::new();
    for line in text.lines() {
        if line.is_empty() || line.starts_with(VERBATIM) {
            lines.extend(wrapped(&std::mem::take(&mut paragraph), columns));
            lines.push(line.to_owned());
        } else {
            let gap = if paragraph.is_empty() { "" } else { " " };
            paragraph.push_str(gap);
            paragraph.push_str(line);
        }
    }
    lines.extend(wrapped(&paragraph, columns));
    lines
}

/// One paragraph in lines of at most so many columns, unless a single word is longer.
fn wrapped(paragraph: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in paragraph.split_whitespace() {
        match lines.last_mut() {
            Some(line) if terminal::width(line) + 1 + terminal::width(word) <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::super::Cli;
    use super::*;

    /// Every command of the command line by its name, with its long help for so many columns.
    fn helps(columns: usize) -> Vec<(Command, String)> {
        let mut command = fitted(Cli::command(), columns);
        command.build();
        let (mut open, mut helps) = (vec![command], Vec::new());
        while let Some(mut command) = open.pop() {
            let help = command.render_long_help().to_string();
            open.extend(command.get_subcommands().filter(|child| child.get_name() != "help").cloned());
            helps.push((command, help));
        }
        helps
    }

    #[test]
    fn help_is_as_wide_as_the_terminal_and_examples_are_whole() {
        for columns in [60, 80, 100] {
            for (command, help) in helps(columns) {
                let name = command.get_name();
                let source = command.get_after_help().map(ToString::to_string).unwrap_or_default();
                let examples: Vec<&str> = source.lines().filter(|line| line.starts_with(VERBATIM)).collect();
                for example in &examples {
                    assert!(
                        help.lines().any(|line| line == *example),
                        "{name}, {columns}: {example:?}\n{help}"
                    );
                }
                let long = |line: &&str| terminal::width(line) > columns && !examples.contains(line);
                // clap keeps usages and words whole, too.
                let long: Vec<_> =
                    help.lines().filter(long).filter(|line| line.trim().contains(' ')).collect();
                assert!(long.iter().all(|line| line.contains("Usage:")), "{name}, {columns}: {long:#?}");
            }
        }
    }

    #[test]
    fn no_example_is_wider_than_most_terminals() {
        for (command, _) in helps(80) {
            let source = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let wide: Vec<_> =
                source.lines().filter(|line| line.starts_with(VERBATIM) && line.len() > 80).collect();
            assert_eq!(wide, [""; 0], "{}", command.get_name());
            assert!(!source.contains('{'), "{}: braces are the template's", command.get_name());
        }
    }

    #[test]
    fn paragraphs_flow_and_examples_stay() {
        let text =
            "One two\nthree four five.\n\nExamples:\n  # a comment that is longer than it all\n  kflare plan";
        assert_eq!(
            lines(text, 14),
            [
                "One two three",
                "four five.",
                "",
                "Examples:",
                "  # a comment that is longer than it all",
                "  kflare plan"
            ]
        );
        assert_eq!(wrapped("no-word-is-ever-cut at all", 5), ["no-word-is-ever-cut", "at", "all"]);
    }

    #[test]
    fn every_command_teaches_by_example() {
        for (command, help) in helps(80).into_iter().filter(|(command, _)| command.get_name() != "help") {
            let name = command.get_bin_name().unwrap_or_else(|| command.get_name()).to_owned();
            assert!(help.lines().any(|line| line.starts_with(&format!("  {name}"))), "{name}:\n{help}");
        }
    }
}
