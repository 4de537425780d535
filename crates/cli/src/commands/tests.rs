//! What the command line accepts and refuses.

use std::path::PathBuf;
use std::time::Duration;

use super::*;

fn read(line: &str) -> Result<Cli, String> {
    Cli::try_parse_from(line.split(' ')).map_err(|error| error.to_string())
}

fn run(line: &str) -> run::RunArguments {
    match read(line).unwrap().command {
        Command::Run(arguments) => *arguments,
        other => panic!("{other:?}"),
    }
}

fn serve(line: &str) -> sandbox::ServeArguments {
    match read(line).unwrap().command {
        Command::Sandbox(arguments) if arguments.command.is_none() => arguments.serve,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_definitions_hold_together() {
    Cli::command().debug_assert();
}

#[test]
fn every_flag_has_a_variable() {
    // KUBECONFIG is a list of files and is read by the client itself.
    let exempt = ["help", "version", "kubeconfig", "scenarios", "rows", "shell"];
    let mut commands = vec![Cli::command()];
    while let Some(command) = commands.pop() {
        // A hidden flag is for tests: no variable that lies about shall set it for an operator.
        let is_for_users =
            |argument: &&Arg| !argument.is_hide_set() && !exempt.contains(&argument.get_id().as_str());
        for argument in command.get_arguments().filter(is_for_users) {
            assert!(argument.get_env().is_some(), "{} {}", command.get_name(), argument.get_id());
        }
        commands.extend(command.get_subcommands().cloned());
    }
}

#[test]
fn run_takes_the_defaults_of_the_old_kflare() {
    let arguments = run("kflare run");
    assert_eq!(arguments.metrics_bind_address, ":8080");
    assert_eq!(arguments.health_probe_bind_address, ":8081");
    assert_eq!(arguments.reconcile_timeout, Duration::from_secs(300));
    assert_eq!(arguments.drift_check_interval, Duration::ZERO);
    assert_eq!(arguments.default_deletion_policy, run::DeletionPolicy::Delete);
    assert_eq!(arguments.cloudflare_api_url, "https://api.cloudflare.com/client/v4");
    assert_eq!(arguments.log_format, log::Format::Json);
    assert!(arguments.switches.notices().is_empty());
}

#[test]
fn run_takes_the_flags_of_the_old_kflare() {
    let arguments =
        run("kflare run --leader-elect --metrics-secure=false --enable-http2 --zap-log-level=debug \
                         --zap-encoder=console --metrics-bind-address=0 --drift-check-interval=1h30m");
    assert!(arguments.switches.leader_elect && !arguments.switches.metrics_secure);
    assert_eq!(
        arguments.switches.notices(),
        ["--enable-http2 changes nothing: the endpoints speak HTTP/1.1"]
    );
    assert_eq!((arguments.log_level, arguments.log_format), (log::Level::Debug, log::Format::Text));
    assert_eq!(arguments.drift_check_interval, Duration::from_secs(5_400));
    assert!(!run("kflare run --leader-elect=false").switches.leader_elect);
    assert_eq!(run("kflare run -v 3").log_level, log::Level::Trace);
    // Go's flags: the last one counts.
    assert_eq!(run("kflare run -v 3 -v 0").log_level, log::Level::Info);
}

#[test]
fn wrong_values_say_what_is_right() {
    let cases = [
        ("kflare run --drift-check-interval 5", "write for example 5s or 5m"),
        ("kflare run --reconcile-timeout 0", "must be longer than nothing"),
        ("kflare run --default-deletion-policy keep", "[possible values: delete, retain]"),
        ("kflare run --log-level loud", "write off, error, warn"),
        ("kflare run --metrics-bind-adress :1", "--metrics-bind-address"),
        ("kflare run --namespace Bad_Name!", "write for example kflare-system"),
        ("kflare run --namespace=-a", "write for example kflare-system"),
        ("kflare sandbox --plan huge", "[possible values: free, pro, business, enterprise]"),
        ("kflare sandbox --once --no-operator", "cannot be used with"),
        ("kflare sandbox run", "<SCENARIO>"),
        ("kflare sandbx", "sandbox"),
    ];
    for (line, expected) in cases {
        let error = read(line).unwrap_err();
        assert!(error.contains(expected), "{line}: {error}");
    }
}

#[test]
fn a_sandbox_serves_unless_told_otherwise() {
    let arguments = serve("kflare sandbox -f a.yaml -f b --seed 7 --plan enterprise");
    assert_eq!(arguments.filename, [PathBuf::from("a.yaml"), PathBuf::from("b")]);
    assert_eq!((arguments.seed, arguments.plan), (7, sandbox::PlanName::Enterprise));
    assert_eq!(arguments.kubeconfig, PathBuf::from("./kflare-sandbox.kubeconfig"));
    assert_eq!(arguments.output, sandbox::Output::Text);
    match read("kflare sandbox run a.txt dir").unwrap().command {
        Command::Sandbox(arguments) => {
            let Some(sandbox::SandboxCommand::Run(arguments)) = arguments.command else {
                panic!("{arguments:?}")
            };
            assert_eq!(arguments.scenarios.len(), 2);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn only_commands_whose_exit_code_is_no_answer_may_go_unread() {
    let answers = |line: &str| read(line).unwrap().command.answers();
    for line in ["kflare sandbox --once", "kflare sandbox sim", "kflare plan -f a.yaml", "kflare run"] {
        assert!(answers(line), "{line}");
    }
    for line in ["kflare sandbox", "kflare crds", "kflare completions bash"] {
        assert!(!answers(line), "{line}");
    }
    let closed = io::Error::from(io::ErrorKind::BrokenPipe);
    assert!(is_unread(&anyhow::Error::new(closed).context("cannot write to standard output")));
    assert!(!is_unread(&anyhow::anyhow!("1 of 1 objects are not Ready")));
}

#[test]
fn help_tells_no_value_of_the_environment() {
    let mut command = without_empty_variables(Cli::command());
    command.build();
    for command in command.get_subcommands() {
        for argument in command.get_arguments().filter(|argument| argument.get_env().is_some()) {
            assert!(argument.is_hide_env_values_set(), "{} {}", command.get_name(), argument.get_id());
        }
    }
}

#[test]
fn one_variable_asks_every_command_for_its_output() {
    for line in ["kflare crds", "kflare plan --all", "kflare sandbox"] {
        for form in ["text", "json", "yaml"] {
            assert!(read(&format!("{line} -o {form}")).is_ok(), "{line} -o {form}");
        }
    }
}

#[test]
fn an_error_is_followed_by_what_to_do() {
    let error = anyhow::Error::new(ClusterError::NoCluster);
    assert!(next(&error).is_some_and(|next| next.contains("--kubeconfig or KUBECONFIG")));
    assert_eq!(next(&anyhow::anyhow!("1 of 1 objects are not Ready")), None);
}

#[test]
fn a_namespace_is_a_label_or_nothing() {
    assert_eq!(run("kflare run --namespace kflare-system").namespace.as_deref(), Some("kflare-system"));
    assert_eq!(run("kflare run --namespace=").namespace.as_deref(), Some(""));
    assert!(read(&format!("kflare run --namespace {}", "a".repeat(64))).is_err());
}
