//! The binary as people type it: what it says on which stream, with which exit code, and what to do next.
//! Opens no socket: everything here ends before the first call. What a call that fails leads to is tested in the crate.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// A directory that goes with the test, in which kflare is called.
struct Desk(PathBuf);

impl Desk {
    fn new(test: &str) -> Self {
        let directory = std::env::temp_dir().join(format!("kflare-{}-typed-{test}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        Self(directory)
    }

    fn with(self, file: &str, text: &str) -> Self {
        fs::write(self.0.join(file), text).unwrap();
        self
    }

    /// Calls kflare without anything of this machine's: no home, no kubeconfig, no variables.
    fn call(&self, line: &str) -> Said {
        self.call_with(line, &[])
    }

    fn call_with(&self, line: &str, variables: &[(&str, &str)]) -> Said {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kflare"));
        command.args(line.split(' ').filter(|word| !word.is_empty())).current_dir(&self.0);
        command.env_clear().env("HOME", &self.0).envs(variables.iter().copied());
        Said::from(command.output().unwrap())
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[derive(Debug)]
struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Said {
    /// An error: its code is 1, standard output is empty, and the texts are in it, in order.
    #[track_caller]
    fn is_error(&self, texts: &[&str]) {
        assert_eq!((self.code, self.out.as_str()), (Some(1), ""), "{self:?}");
        let mut rest = self.err.as_str();
        for text in texts {
            let at = rest.find(text).unwrap_or_else(|| panic!("no {text:?} in {self:?}"));
            rest = &rest[at + text.len()..];
        }
        assert!(!self.err.contains('\u{1b}'), "colours are for terminals: {self:?}");
    }
}

const RECORD: &str = "\
apiVersion: kflare.dev/v1alpha1
kind: DNSRecord
metadata: {name: www}
spec:
  zoneRef: {name: example-com}
  name: www
  type: A
  contnet: 192.0.2.1
";

const ACCOUNT: &str = "\
apiVersion: kflare.dev/v1alpha1
kind: CloudflareAccount
metadata: {name: main}
spec:
  accountID: 0123456789abcdef0123456789abcdef
  tokenSecretRef: {name: cloudflare-token, namespace: kflare-system}
";

#[test]
fn a_plan_of_nothing_names_both_ways_to_ask() {
    Desk::new("nothing").call("plan").is_error(&["error: nothing to look at", "-f PATH", "--all"]);
}

#[test]
fn without_a_cluster_what_can_be_named_is_named() {
    let desk = Desk::new("no-cluster").with("a.yaml", RECORD);
    let next = "\n  next: name a kubeconfig with --kubeconfig or KUBECONFIG";
    desk.call("plan -f a.yaml").is_error(&["error: there is no cluster", next]);
    desk.call("run --log-format text --metrics-bind-address 0 --health-probe-bind-address 0")
        .is_error(&["error: there is no cluster", next]);
}

#[test]
fn why_the_operator_cannot_start_is_one_line_of_json() {
    let said = Desk::new("json").call("run --metrics-bind-address 0 --health-probe-bind-address 0");
    assert_eq!((said.code, said.out.as_str()), (Some(1), ""), "{said:?}");
    let lines: Vec<serde_json::Value> =
        said.err.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 1, "{said:?}");
    assert!(lines[0]["message"].as_str().unwrap().starts_with("there is no cluster"), "{said:?}");
    assert!(lines[0]["next"].as_str().unwrap().contains("--kubeconfig"), "{said:?}");
}

#[test]
fn a_wrong_kubeconfig_is_named_with_its_fault() {
    let kubeconfig = "kind: Config\ncurrent-context: dev\ncontexts:\n- name: dev\n  context: {cluster: c}\n";
    let desk = Desk::new("kubeconfig").with("broken", "{[").with("config", kubeconfig);
    desk.call("plan --all --kubeconfig none").is_error(&["the kubeconfig none: No such file", "\n  next: "]);
    desk.call("plan --all --kubeconfig broken")
        .is_error(&["the kubeconfig broken: it is not YAML", "\n  next: "]);
    desk.call("plan --all --kubeconfig config")
        .is_error(&["names the cluster c, which is not in it", "\n  next: "]);
    desk.call("plan --all --kubeconfig config --context prod")
        .is_error(&["has no context prod; it has dev", "\n  next: name one of those with --context"]);
    desk.call_with("plan --all", &[("KUBECONFIG", "none")])
        .is_error(&["the kubeconfig none: ", "\n  next: "]);
}

#[test]
fn an_unknown_field_is_named_with_file_line_and_what_was_meant() {
    let desk = Desk::new("field").with("a.yaml", RECORD);
    let (place, hint) = (
        "error: a.yaml: document 1 (line 8): DNSRecord",
        "unknown field spec.contnet; did you mean content?",
    );
    desk.call("plan --no-cluster -f a.yaml").is_error(&[place, hint]);
    desk.call("sandbox --once -f a.yaml").is_error(&[place, hint]);
}

#[test]
fn input_without_objects_is_an_error() {
    let desk = Desk::new("no-objects").with("empty.yaml", "");
    for line in ["plan --no-cluster -f empty.yaml", "sandbox --once -f empty.yaml"] {
        desk.call(line).is_error(&["error: no objects in empty.yaml; name files"]);
    }
    // Nothing is on standard input.
    desk.call("plan --no-cluster -f -").is_error(&["error: no objects in -; "]);
}

#[test]
fn what_cannot_be_read_says_what_can() {
    let desk = Desk::new("unread");
    let said = desk.call("plan --no-cluster -f nope.yaml");
    said.is_error(&["error: cannot read nope.yaml: it does not exist: name a file"]);
    assert!(!said.err.contains("os error"), "{said:?}");
    desk.call("plan -f a.yaml b.yaml")
        .is_error(&["unexpected argument 'b.yaml'", "tip: repeat -f for each file"]);
    desk.call("sandbox --once -f https://example.com/a.yaml")
        .is_error(&["URLs are not read: pipe it", "curl"]);
}

#[test]
fn a_missing_token_says_where_it_can_come_from() {
    let desk = Desk::new("token").with("a.yaml", ACCOUNT);
    desk.call("plan --no-cluster -f a.yaml").is_error(&[
        "a.yaml: document 1 (line 1): CloudflareAccount main has no token",
        "CLOUDFLARE_API_TOKEN",
        "Secret kflare-system/cloudflare-token",
    ]);
}

#[test]
fn an_address_that_is_none_is_refused_with_one_that_is() {
    let desk = Desk::new("address").with("a.yaml", ACCOUNT);
    desk.call("plan --no-cluster -f a.yaml --cloudflare-api-url ftp://x")
        .is_error(&["--cloudflare-api-url", "https://api.cloudflare.com/client/v4"]);
}

#[test]
fn help_goes_to_standard_output_and_fits_the_terminal() {
    let desk = Desk::new("help");
    for line in ["--help", "run --help", "plan --help", "sandbox --help", "sandbox sim --help", "help plan"] {
        let said = desk.call_with(line, &[("COLUMNS", "72")]);
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{line}: {said:?}");
        let is_prose = |text: &&str| !text.starts_with("  kflare") && !text.starts_with("  #");
        let long: Vec<&str> =
            said.out.lines().filter(is_prose).filter(|text| text.chars().count() > 80).collect();
        assert_eq!(long, [""; 0], "{line}");
        assert!(said.out.contains("Examples:\n") && !said.out.contains('\u{1b}'), "{line}: {said:?}");
    }
}

#[test]
fn definitions_and_completions_are_printed_for_other_programs() {
    let desk = Desk::new("print");
    let yaml: Vec<serde_json::Value> = serde_saphyr::from_multiple(&desk.call("crds").out).unwrap();
    let json: serde_json::Value = serde_json::from_str(&desk.call("crds -o json").out).unwrap();
    assert_eq!(json["items"].as_array(), Some(&yaml));
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let said = desk.call(&format!("completions {shell}"));
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{shell}: {said:?}");
        assert!(said.out.contains("no-cluster"), "{shell}");
    }
}

#[test]
fn a_sandbox_talks_to_programs_in_json_and_in_yaml() {
    let desk = Desk::new("sandbox");
    let said = desk.call("sandbox --once -o yaml");
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said:?}");
    let events: Vec<serde_json::Value> = serde_saphyr::from_multiple(&said.out).unwrap();
    let last = events.last().unwrap();
    assert_eq!((&last["event"], &last["ready"]), (&"settled".into(), &last["objects"]), "{said:?}");
    let said = desk.call("sandbox --once -o json");
    let lines: Vec<serde_json::Value> =
        said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.last().unwrap()["event"], "settled", "{said:?}");
}
