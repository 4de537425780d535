//! Tokens planted wherever one can stand, and looked for in everything that people are shown. What a user writes into a
//! spec or an annotation is read by whoever reads the object, and is no secret of kflare's; what stands in a Secret, in a
//! kubeconfig, in the environment or in the address of a proxy is one.

use std::cell::RefCell;
use std::fs;
use std::process::{Command, Output, Stdio};
use std::sync::{Once, mpsc};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use cli::commands::log::{Format, Level};
use cli::world::TOKEN;
use http::{HeaderMap, Request, Response, header};
use operator::transport::Transport;
use tower::ServiceExt;
use tower::util::BoxCloneSyncService;

use crate::hostile::{observed, record, zone};

/// In everything that is planted.
const PLANTED: &str = "plantedK7secretQ9value";

/// A command of which every call fails takes a moment; the machine may be busy.
const ENDS_WITHIN: Duration = Duration::from_secs(120);

/// A way on which whatever is in the path of `part` is answered by this, which is told the token's header.
fn echoing(
    part: &'static str,
    answer: fn(&str, &Request<Bytes>) -> Response<Bytes>,
) -> impl FnOnce(Transport) -> Transport {
    move |transport| {
        BoxCloneSyncService::new(tower::service_fn(move |request: Request<Bytes>| {
            let transport = transport.clone();
            async move {
                if !request.uri().path().contains(part) {
                    return transport.oneshot(request).await;
                }
                let bearer = bearer(request.headers());
                assert!(bearer.contains(TOKEN), "there is nothing to echo");
                Ok(answer(&bearer, &request))
            }
        }))
    }
}

fn bearer(headers: &HeaderMap) -> String {
    headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
}

fn answered(status: u16, body: String) -> Response<Bytes> {
    Response::builder().status(status).body(Bytes::from(body)).unwrap()
}

type Echo = fn(&str, &Request<Bytes>) -> Response<Bytes>;

/// How servers and proxies give back what they were sent; the last one stops the pass with a bug.
const ECHOES: &[(&str, Echo)] = &[
    ("in a chain", |bearer, _| {
        let body = format!(
            r#"{{"success":false,"errors":[{{"code":6003,"message":"Invalid request headers","error_chain":[{{"code":6111,"message":"Invalid format for Authorization header: {bearer}"}}]}}]}}"#
        );
        answered(400, body)
    }),
    ("in a page", |bearer, _| answered(502, format!("<html><pre>Authorization: {bearer}</pre></html>"))),
    ("in plain text", |bearer, _| answered(403, format!("may not: {bearer}"))),
    ("in a success that is none", |bearer, _| {
        answered(200, format!(r#"{{"success":false,"errors":["{bearer}"]}}"#))
    }),
    ("in a message that is cut within it", |bearer, _| {
        answered(500, format!(r#"{{"success":false,"errors":["{}{bearer}"]}}"#, "x".repeat(470)))
    }),
    ("in JSON that is cut", |bearer, _| answered(200, format!(r#"{{"success":true,"result":"{bearer}"#))),
    ("in a panic", |_, request| panic!("cannot send {request:?}")),
];

thread_local! {
    /// What panics of this thread say, while somebody listens.
    static HEARD: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Does something and gives what panics said meanwhile, as they would on standard error.
fn heard<T>(work: impl FnOnce() -> T) -> (T, String) {
    static LISTENS: Once = Once::new();
    LISTENS.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let listened =
                HEARD.with_borrow_mut(|heard| heard.as_mut().map(|text| text.push_str(&panic.to_string())));
            if listened.is_none() {
                before(panic);
            }
        }));
    });
    HEARD.set(Some(String::new()));
    let done = work();
    (done, HEARD.take().unwrap_or_default())
}

#[test]
fn a_token_that_is_echoed_is_shown_nowhere_not_even_by_a_bug() {
    for (case, echo) in ECHOES {
        for format in [Format::Text, Format::Json] {
            let way = echoing("/zones", *echo);
            let ((_, shown), panics) =
                heard(|| observed(Level::Trace, format, &[zone(), record("www", "192.0.2.1")], way));
            assert_eq!(panics.is_empty(), *case != "in a panic", "{case}: {panics}");
            let (_, message) = shown.ready("Zone", "example-com");
            // A bug and JSON that is cut are told without a word of the answer.
            let is_quoted = !matches!(*case, "in JSON that is cut" | "in a panic");
            assert_eq!(message.contains("[token]"), is_quoted, "{case}: {message}");
            // Six letters of it are too many.
            for (place, text) in shown.places().chain([("a panic".to_owned(), panics)]) {
                assert!(!text.contains(&TOKEN[..6]), "{case}: {place} shows the token: {text}");
                assert!(
                    !text.contains("c2FuZGJveFRva2Vu"),
                    "{case}: {place} shows the token in base64: {text}"
                );
            }
        }
    }
}

/// What a process said until it ended. One that does not end is killed, and the test fails.
fn output_of(line: &str, command: &mut Command) -> Output {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let process = child.id().to_string();
    let (tell, told) = mpsc::sync_channel(1);
    let _ = thread::spawn(move || tell.send(child.wait_with_output()));
    told.recv_timeout(ENDS_WITHIN).map(Result::unwrap).unwrap_or_else(|_| {
        let _ = Command::new("kill").args(["-KILL", &process]).status();
        panic!("`kflare {line}` does not end within {ENDS_WITHIN:?}")
    })
}

/// Calls kflare in a folder of its own with a token in all variables that may hold one, and gives all that it says.
fn said(test: &str, files: &[(&str, &str)], lines: &[&str]) -> Vec<(String, String)> {
    let folder = std::env::temp_dir().join(format!("kflare-{}-shown-{test}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
    let proxy = format!("http://me:{PLANTED}@127.0.0.1:1");
    let said = lines
        .iter()
        .map(|line| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_kflare"));
            command.args(line.split(' ').filter(|word| !word.is_empty())).current_dir(&folder);
            command.env_clear().env("HOME", &folder).env("RUST_BACKTRACE", "1").env("LOG_LEVEL", "trace");
            for name in ["CLOUDFLARE_API_TOKEN", "CF_API_TOKEN", "CLOUDFLARE_API_KEY", "CLOUDFLARE_EMAIL"] {
                command.env(name, PLANTED);
            }
            for name in ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "https_proxy"] {
                command.env(name, &proxy);
            }
            let output = output_of(line, &mut command);
            let text = [output.stdout, output.stderr].concat();
            ((*line).to_owned(), String::from_utf8_lossy(&text).into_owned())
        })
        .collect();
    let _ = fs::remove_dir_all(&folder);
    said
}

#[track_caller]
fn is_nowhere(case: &str, said: &[(String, String)]) {
    for (line, text) in said {
        assert!(!text.is_empty(), "{case}: `kflare {line}` says nothing");
        assert!(!text.contains(PLANTED), "{case}: `kflare {line}` shows the token: {text}");
    }
}

#[test]
fn help_shows_nothing_of_the_environment() {
    let commands =
        ["", "sandbox", "sandbox run", "sandbox sim", "sandbox bench", "run", "plan", "crds", "completions"];
    let lines: Vec<String> = commands
        .iter()
        .flat_map(|command| ["-h", "--help"].map(|flag| format!("{command} {flag}")))
        .collect();
    let lines: Vec<&str> = lines
        .iter()
        .map(String::as_str)
        .chain(["completions bash", "completions zsh", "--version"])
        .collect();
    is_nowhere("help", &said("help", &[], &lines));
}

/// Kubeconfigs with a token where none may stand, or with a mistake beside it.
fn kubeconfigs() -> Vec<(&'static str, String)> {
    let whole = |user: &str, cluster: &str| {
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n\
             clusters: [{{name: c, cluster: {{{cluster}}}}}]\nusers:\n- name: u\n  user: {user}\n"
        )
    };
    let server = "server: 'https://127.0.0.1:1'";
    vec![
        ("users are a token", format!("apiVersion: v1\nkind: Config\nusers: {PLANTED}\n")),
        ("a user is a token", whole(PLANTED, server)),
        ("a token is a list", whole(&format!("{{token: [{PLANTED}]}}"), server)),
        ("a token is of another type", whole(&format!("{{token: !!int {PLANTED}}}"), server)),
        ("a token stands twice", whole(&format!("{{token: {PLANTED}, token: {PLANTED}}}"), server)),
        ("a token before the end", whole(&format!("{{token: {PLANTED}"), server)),
        ("a token with a colon", whole(&format!("\n    token: {PLANTED}: {PLANTED}"), server)),
        (
            "a key that is none",
            whole(&format!("{{client-key-data: {PLANTED}, client-certificate-data: {PLANTED}}}"), server),
        ),
        ("an exec that is a token", whole(&format!("{{exec: {PLANTED}}}"), server)),
        (
            "an unknown provider",
            whole(&format!("{{auth-provider: {{name: x, config: {{access-token: {PLANTED}}}}}}}"), server),
        ),
        ("a server with a password", whole("{}", &format!("server: 'https://me:{PLANTED}@ nowhere'"))),
        ("a server that is none", whole("{}", &format!("server: 'ftp://me:{PLANTED}@nowhere'"))),
        (
            "a proxy of another kind",
            whole("{}", &format!("{server}, proxy-url: 'ftp://me:{PLANTED}@nowhere'")),
        ),
        (
            "a proxy that is none",
            whole("{}", &format!("{server}, proxy-url: 'http://me:{PLANTED}@ nowhere:x'")),
        ),
    ]
}

#[test]
fn a_kubeconfig_with_a_mistake_is_told_without_what_is_in_it() {
    for (case, text) in kubeconfigs() {
        let lines = [
            "plan --all --kubeconfig config",
            "run --kubeconfig config --metrics-bind-address 0 --health-probe-bind-address 0",
        ];
        is_nowhere(case, &said("kubeconfig", &[("config", &text)], &lines));
    }
}

/// Secrets as people write them with a mistake.
fn secrets() -> Vec<(&'static str, String)> {
    let secret = |rest: &str| format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: a}}\n{rest}\n");
    vec![
        ("a colon too many", secret(&format!("stringData:\n  TOKEN: {PLANTED}: {PLANTED}"))),
        ("another type", secret(&format!("stringData: {{TOKEN: !!int {PLANTED}}}"))),
        ("no base64", secret(&format!("data: {{TOKEN: !!binary '{PLANTED}?'}}"))),
        ("a key that stands twice", secret(&format!("stringData: {{TOKEN: {PLANTED}, TOKEN: {PLANTED}}}"))),
        ("a quote that stays open", secret(&format!("stringData: {{TOKEN: \"{PLANTED}}}"))),
        ("a bracket that stays open", secret(&format!("stringData: {{TOKEN: {PLANTED}"))),
        ("an alias", secret(&format!("stringData: {{TOKEN: *{PLANTED}}}"))),
        ("a tab", secret(&format!("stringData:\n\tTOKEN: {PLANTED}"))),
        ("an escape that is none", secret(&format!("stringData: {{TOKEN: \"\\q{PLANTED}\"}}"))),
        ("the token alone", format!("{PLANTED}\n")),
        (
            "JSON that is cut",
            format!(
                r#"{{"apiVersion":"v1","kind":"Secret","metadata":{{"name":"a"}},"stringData":{{"a":"{PLANTED}"#
            ),
        ),
        ("JSON with a comma too many", format!(r#"{{"kind":"Secret","stringData":{{"a":"{PLANTED}",}}}}"#)),
    ]
}

#[test]
fn a_secret_with_a_mistake_is_told_without_what_is_in_it() {
    for (case, text) in secrets() {
        is_nowhere(
            case,
            &said("secret", &[("a.yaml", &text)], &["plan -f a.yaml", "sandbox --once -f a.yaml"]),
        );
    }
}
