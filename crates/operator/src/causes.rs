//! An error and what it comes from, on one line and in words that may be logged. The Kubernetes client puts whole answers,
//! the environment and output of commands, and what it failed to parse into its words: none of that is repeated here.

use std::error::Error;
use std::fmt;

use kube::client::AuthError;
use kube::core::Status;
use kube::runtime::watcher;

/// An error with its causes.
pub struct Causes<'e>(pub &'e (dyn Error + 'static));

impl fmt::Display for Causes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        let mut next = Some(self.0);
        while let Some(error) = next {
            let (words, source) = words(error);
            if !words.is_empty() {
                write!(f, "{separator}{words}")?;
                separator = ": ";
            }
            next = source;
        }
        Ok(())
    }
}

/// What an error comes from in the end: the levels above it say less, at more length.
#[must_use]
pub fn root(error: &(dyn Error + 'static)) -> String {
    let (mut root, mut next) = (String::new(), Some(error));
    while let Some(error) = next {
        let (words, source) = words(error);
        if !words.is_empty() {
            root = words;
        }
        next = source;
    }
    root
}

/// Why there were no credentials, when that is what an error comes from: those that a command renews fail in the middle
/// of a call, and the client knows such a failure for no more than that of some service.
#[must_use]
pub fn lack_of_credentials<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e AuthError> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

/// What an error says itself, and what it comes from, if that says more.
fn words<'e>(error: &'e (dyn Error + 'static)) -> (String, Option<&'e (dyn Error + 'static)>) {
    if let Some(error) = error.downcast_ref::<kube::Error>() {
        return of_client(error);
    }
    if let Some(error) = error.downcast_ref::<watcher::Error>() {
        return match error {
            watcher::Error::InitialListFailed(source) => ("cannot list".to_owned(), Some(source)),
            watcher::Error::WatchStartFailed(source) | watcher::Error::WatchFailed(source) => {
                ("cannot watch".to_owned(), Some(source))
            }
            watcher::Error::WatchError(status) => (said(status), None),
            watcher::Error::NoResourceVersion => (error.to_string(), None),
        };
    }
    if let Some(error) = error.downcast_ref::<AuthError>() {
        return (credentials(error), None);
    }
    (error.to_string(), error.source())
}

fn of_client(error: &kube::Error) -> (String, Option<&(dyn Error + 'static)>) {
    let only = |words: &str| (words.to_owned(), None);
    match error {
        kube::Error::Api(status) => (said(status), None),
        // Their own words are those of their sources.
        kube::Error::Service(source) => (String::new(), Some(&**source)),
        kube::Error::HyperError(source) => (String::new(), Some(source)),
        kube::Error::ReadEvents(source) => (String::new(), Some(source)),
        kube::Error::Auth(source) => (credentials(source), None),
        // It quotes what it could not read.
        kube::Error::SerdeError(source) => {
            let (line, column) = (source.line(), source.column());
            (format!("the answer is not what was asked for (line {line}, column {column})"), None)
        }
        kube::Error::ProxyProtocolUnsupported { .. } | kube::Error::ProxyProtocolDisabled { .. } => {
            only("the proxy is neither http:// nor https://")
        }
        kube::Error::InferConfig(_) | kube::Error::InferKubeconfig(_) => {
            only("the kubeconfig cannot be used")
        }
        other => (other.to_string(), None),
    }
}

/// What the API server said.
fn said(status: &Status) -> String {
    match (status.code, status.reason.as_str()) {
        (0, "") => status.message.clone(),
        (0, reason) => format!("{} ({reason})", status.message),
        (code, "") => format!("{} ({code})", status.message),
        (code, reason) => format!("{} ({code} {reason})", status.message),
    }
}

/// Why there are no credentials. Commands and files that give them are not quoted: the credentials may be among it.
#[must_use]
pub fn credentials(error: &AuthError) -> String {
    match error {
        AuthError::AuthExecRun { out, .. } => {
            format!("the command of the kubeconfig that gives the credentials failed ({})", out.status)
        }
        AuthError::AuthExecParse(_) => {
            "what the command of the kubeconfig printed cannot be read as credentials".to_owned()
        }
        AuthError::AuthExec(_) => {
            "the command or provider of the kubeconfig gave no credentials; run it by hand to see why"
                .to_owned()
        }
        AuthError::ParseTokenKey(_) | AuthError::MalformedTokenExpirationDate(_) => {
            "the kubeconfig's credentials cannot be read".to_owned()
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::{ExitStatus, Output};

    use super::*;
    use crate::bounded::BoundError;

    fn status() -> Status {
        let message = "leases \"a\" is forbidden".to_owned();
        let details = serde_json::from_str(r#"{"name": "dumped"}"#).unwrap();
        Status {
            code: 403,
            reason: "Forbidden".to_owned(),
            message,
            details: Some(details),
            ..Status::default()
        }
    }

    fn shown(error: &(dyn Error + 'static)) -> String {
        Causes(error).to_string()
    }

    #[test]
    fn an_answer_of_the_api_server_is_quoted_and_not_dumped() {
        let said = "leases \"a\" is forbidden (403 Forbidden)";
        let api = || kube::Error::Api(Box::new(status()));
        assert_eq!(shown(&api()), said);
        let wrapped = kube::Error::Service(Box::new(BoundError::Client(api())));
        assert_eq!(shown(&wrapped), format!("the API server cannot be asked: {said}"));
        assert_eq!(shown(&watcher::Error::InitialListFailed(api())), format!("cannot list: {said}"));
        assert_eq!(shown(&watcher::Error::WatchError(Box::new(status()))), said);
    }

    #[test]
    fn what_gave_or_held_credentials_is_not_quoted() {
        let out = |text: &str| {
            Box::new(Output {
                status: ExitStatus::from_raw(3 << 8),
                stdout: text.as_bytes().to_vec(),
                stderr: text.as_bytes().to_vec(),
            })
        };
        let run = || AuthError::AuthExecRun { cmd: "TOKEN=hidden get".to_owned(), out: out("hidden") };
        // When the client is set up, and when the credentials are renewed in the middle of a call.
        let renewed = |error: AuthError| kube::Error::Service(Box::new(error));
        let bounded = |error| kube::Error::Service(Box::new(BoundError::Client(renewed(error))));
        for error in [kube::Error::Auth(run()), renewed(run()), bounded(run())] {
            for text in [shown(&error), root(&error)] {
                assert!(!text.contains("hidden") && !text.contains("104, 105"), "{text}");
                assert!(text.contains("exit status: 3"), "{text}");
            }
            assert!(matches!(lack_of_credentials(&error), Some(AuthError::AuthExecRun { .. })));
        }
        let said = AuthError::AuthExec("hidden".to_owned());
        let date = "hidden".parse::<jiff::Timestamp>().unwrap_err();
        for error in [said, AuthError::MalformedTokenExpirationDate(date)] {
            let error = bounded(error);
            assert!(!shown(&error).contains("hidden") && !root(&error).contains("hidden"), "{error}");
        }
        let read = serde_json::from_str::<bool>("\"hidden\"").unwrap_err();
        assert!(read.to_string().contains("hidden"), "the library does quote it");
        assert!(!shown(&kube::Error::SerdeError(read)).contains("hidden"));
        let proxy_url = Box::new("ftp://me:hidden@proxy/".parse().unwrap());
        assert!(!shown(&kube::Error::ProxyProtocolUnsupported { proxy_url }).contains("hidden"));
    }

    #[test]
    fn other_errors_are_told_with_their_causes() {
        let broken = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
        let text = shown(&kube::Error::ReadEvents(broken));
        assert_eq!(text, std::io::Error::from(std::io::ErrorKind::ConnectionReset).to_string());
    }
}
