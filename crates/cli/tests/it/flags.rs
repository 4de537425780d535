//! docs/reference/flags.md against the definitions of the command line, from which it is made.
//! What the flags do is tested where they are carried out.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use clap::builder::PossibleValue;
use clap::{Arg, ArgAction, Command, CommandFactory};
use cli::commands::Cli;

const HEAD: &str = "\
<!-- Generated from the definitions of the command line by crates/cli/tests/it/flags.rs, do not edit. -->

# Commands and flags

What `--help` says, of every command. A flag wins over its variable of the environment, and a variable that is set to
nothing counts as not set. Durations are written as in Go: `30s`, `5m`, `1h30m`.
";

#[test]
fn the_page_of_flags_is_what_the_command_line_says() {
    let mut page = HEAD.to_owned();
    let mut kflare = Cli::command();
    kflare.build();
    describe(&mut page, &kflare);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/flags.md");
    if env::var_os("UPDATE_GOLDENS").is_some() {
        fs::write(&path, &page).expect("docs/reference/flags.md can be written");
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    let difference = page.lines().zip(committed.lines()).find(|(new, old)| new != old);
    assert!(
        page == committed,
        "docs/reference/flags.md is stale: run UPDATE_GOLDENS=1 cargo test -p cli --test it flags; {difference:?}"
    );
}

fn describe(page: &mut String, command: &Command) {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    let _ = write!(page, "\n## {name}\n\n{about}.\n\n```text\n{usage}\n```\n");
    arguments(page, command);
    if let Some(text) = command.get_after_help() {
        let _ = write!(page, "\n```text\n{text}\n```\n");
    }
    for subcommand in command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help") {
        describe(page, subcommand);
    }
}

/// One table for each heading of the help; what every command has says nothing of this one.
fn arguments(page: &mut String, command: &Command) {
    let is_own = |argument: &&Arg| {
        !matches!(argument.get_action(), ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong)
            && !matches!(argument.get_action(), ArgAction::Version)
            && !argument.is_hide_set()
    };
    let arguments: Vec<_> = command.get_arguments().filter(is_own).collect();
    let mut headings: Vec<Option<&str>> = Vec::new();
    for argument in &arguments {
        if !headings.contains(&argument.get_help_heading()) {
            headings.push(argument.get_help_heading());
        }
    }
    for heading in headings {
        if let Some(heading) = heading {
            let _ = write!(page, "\n**{heading}**\n");
        }
        page.push_str("\n| Flag | Default | Variable | Meaning |\n| --- | --- | --- | --- |\n");
        for argument in arguments.iter().filter(|argument| argument.get_help_heading() == heading) {
            let cells = [spelling(argument), default(argument), variable(argument), meaning(argument)];
            let _ = writeln!(page, "| {} |", cells.join(" | "));
        }
    }
}

/// Whether a value may follow; also true of the switches of Go, which are true without one.
fn takes_values(argument: &Arg) -> bool {
    argument.get_num_args().is_some_and(|count| count.takes_values())
}

fn spelling(argument: &Arg) -> String {
    let shorts = argument.get_short().map(|short| format!("`-{short}`")).into_iter();
    let longs =
        argument.get_long_and_visible_aliases().into_iter().flatten().map(|long| format!("`--{long}`"));
    let mut text: Vec<_> = shorts.chain(longs).collect();
    if takes_values(argument) {
        let names = argument.get_value_names().unwrap_or_default().iter();
        text.extend(names.map(|name| format!("`<{name}>`")));
    }
    let old = argument.get_all_aliases().unwrap_or_default();
    text.extend(old.iter().map(|alias| format!("(also `--{alias}`)")));
    text.join(" ")
}

fn default(argument: &Arg) -> String {
    if argument.is_required_set() {
        return "required".to_owned();
    }
    let values = argument.get_default_values().iter();
    let values: Vec<_> = values.map(|value| format!("`{}`", value.to_string_lossy())).collect();
    if takes_values(argument) { values.join(" ") } else { String::new() }
}

fn variable(argument: &Arg) -> String {
    argument.get_env().map(|name| format!("`{}`", name.to_string_lossy())).unwrap_or_default()
}

/// The help text, the longer one where there is one, and the values that are possible.
fn meaning(argument: &Arg) -> String {
    let help = argument.get_long_help().or_else(|| argument.get_help());
    let help = help.map(ToString::to_string).unwrap_or_default();
    let mut sentences: Vec<_> = help.split("\n\n").map(sentence).collect();
    if takes_values(argument) {
        let values = argument.get_possible_values();
        let values: Vec<_> = values.iter().filter(|value| !value.is_hide_set()).map(possible).collect();
        if !values.is_empty() {
            sentences.push(format!("Possible values: {}.", values.join("; ")));
        }
    }
    sentences.join(" ").replace('|', "\\|")
}

fn sentence(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.ends_with(['.', '!', ':']) { text } else { format!("{text}.") }
}

fn possible(value: &PossibleValue) -> String {
    let meaning = value.get_help().map(|help| format!(" ({help})")).unwrap_or_default();
    format!("`{}`{meaning}", value.get_name())
}
