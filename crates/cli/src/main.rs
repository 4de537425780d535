//! `kflare`: see the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::commands::main()
}
