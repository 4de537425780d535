//! `kflare completions`: prints a script that completes the command line of `kflare` in a shell. Installs nothing.

use std::io::{self, Write};

use anyhow::Context;
use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;

use super::Cli;

/// `kflare completions`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct CompletionsArguments {
    /// The shell that reads the script
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

const EXAMPLES: &str = "\
The script goes to standard output. It knows the commands and flags of this very kflare: print it anew after an update.

Examples:
  # bash (with the package bash-completion); counts in the next shell
  mkdir -p ~/.local/share/bash-completion/completions
  kflare completions bash \\
    > ~/.local/share/bash-completion/completions/kflare

  # zsh; before compinit runs, ~/.zshrc must have fpath=(~/.zfunc $fpath)
  mkdir -p ~/.zfunc
  kflare completions zsh > ~/.zfunc/_kflare

  # fish
  mkdir -p ~/.config/fish/completions
  kflare completions fish > ~/.config/fish/completions/kflare.fish

  # elvish
  kflare completions elvish >> ~/.config/elvish/rc.elv

  # PowerShell; counts in the next shell
  kflare completions powershell >> $PROFILE

  # try it in this bash alone
  source <(kflare completions bash)";

/// Prints the script.
///
/// # Errors
/// When nobody reads.
pub fn execute(arguments: &CompletionsArguments) -> anyhow::Result<()> {
    let script = script(arguments.shell, Cli::command());
    io::stdout().lock().write_all(&script).context("cannot write to standard output")
}

/// The generator panics when it cannot write, and to memory it always can.
fn script(shell: Shell, mut command: Command) -> Vec<u8> {
    let mut script = Vec::new();
    let name = command.get_name().to_owned();
    clap_complete::generate(shell, &mut command, name, &mut script);
    script
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    /// The names of a command's subcommands, of theirs, and of the flags of all of them.
    fn words(command: &Command, words: &mut Vec<String>) {
        words.extend(command.get_arguments().filter_map(|flag| flag.get_long().map(str::to_owned)));
        for subcommand in command.get_subcommands() {
            words.push(subcommand.get_name().to_owned());
            self::words(subcommand, words);
        }
    }

    #[test]
    fn the_script_of_every_shell_names_every_command_and_flag() {
        let mut expected = Vec::new();
        words(&Cli::command(), &mut expected);
        for name in ["run", "plan", "completions", "sim", "drift-check-interval"] {
            assert!(expected.iter().any(|word| word == name), "{name} is not in {expected:?}");
        }
        for shell in Shell::value_variants() {
            let script = String::from_utf8(script(*shell, Cli::command())).unwrap();
            let found: Vec<_> =
                script.split(|letter: char| !letter.is_alphanumeric() && letter != '-').collect();
            for word in &expected {
                let is_there =
                    found.iter().any(|found| *found == word || found.strip_prefix("--") == Some(word));
                assert!(is_there, "{shell}: {word}");
            }
        }
    }
}
