//! Each way into a cluster that leads nowhere, and what is said of it.

use std::fs;
use std::path::PathBuf;

use super::*;

/// A kubeconfig in a directory that goes with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(test: &str, text: &str) -> Self {
        let directory = std::env::temp_dir().join(format!("kflare-{}-cluster-{test}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("config"), text).unwrap();
        Self(directory)
    }

    /// What is said, with the path cut to its name, and what to do next.
    fn said(&self, context: Option<&str>) -> (String, String) {
        let path = self.0.join("config");
        let found = crate::scenario::simulate(configuration(Some(&path), context)).unwrap();
        let error = found.unwrap_err();
        let said = error.to_string().replace(&path.display().to_string(), "config");
        (said, error.next().unwrap_or_default())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn kubeconfig(current: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Config\nclusters:\n- name: c\n  cluster: {{server: 'https://cluster.example'}}\n\
         contexts:\n- name: dev\n  context: {{cluster: c}}\n- name: prod\n  context: {{cluster: gone}}\n{current}"
    )
}

#[test]
fn a_kubeconfig_that_is_not_there_is_named() {
    let error =
        crate::scenario::simulate(configuration(Some(Path::new("no/such/file")), None)).unwrap().unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot use the kubeconfig no/such/file: No such file or directory (os error 2)"
    );
    assert!(error.next().is_some_and(|next| next.contains("--kubeconfig")));
}

#[test]
fn a_kubeconfig_that_is_no_yaml_is_told_in_one_line() {
    let (said, next) = Scratch::new("yaml", "{[").said(None);
    assert_eq!(
        said,
        "cannot use the kubeconfig config: it is not YAML, or not a kubeconfig: unclosed bracket '[' at line 1, column 2"
    );
    assert!(next.contains("--kubeconfig or KUBECONFIG"), "{next}");
}

#[test]
fn an_unknown_context_lists_those_that_there_are() {
    let scratch = Scratch::new("context", &kubeconfig(""));
    let (said, next) = scratch.said(Some("stage"));
    assert_eq!(said, "the kubeconfig config has no context stage; it has dev, prod");
    assert_eq!(next, "name one of those with --context");
    let (said, next) = scratch.said(None);
    assert_eq!(said, "the kubeconfig config names no current context; it has dev, prod");
    assert!(next.contains("kubectl config use-context"), "{next}");
    let (said, _) = Scratch::new("no-context", "kind: Config\n").said(None);
    assert_eq!(said, "the kubeconfig config names no current context; there is none in it");
}

#[test]
fn a_context_without_its_cluster_says_which() {
    let (said, _) = Scratch::new("cluster", &kubeconfig("current-context: prod\n")).said(None);
    assert_eq!(
        said,
        "cannot use the kubeconfig config: its context names the cluster gone, which is not in it"
    );
}

#[test]
fn a_proxy_is_for_what_is_neither_here_nor_excepted() {
    let environment =
        Matcher::builder().all("http://proxy.example:3128").no("cluster.internal,10.0.0.0/8").build();
    let direct = |server: &str| is_direct(&server.parse().unwrap(), &environment);
    assert!(!direct("https://cluster.example:6443"));
    for server in [
        "http://127.0.0.1:8001",
        "https://[::1]:6443",
        "https://localhost:6443",
        "https://cluster.internal",
        "https://10.1.2.3:6443",
    ] {
        assert!(direct(server), "{server}");
    }
}

#[test]
fn a_proxy_that_cannot_be_used_is_told_without_its_password() {
    let plain = kubeconfig("current-context: dev\n");
    let proxied =
        plain.replace("cluster.example'", "cluster.example', proxy-url: 'socks5://me:hunter2@proxy.example'");
    let scratch = Scratch::new("proxy", &proxied);
    let path = scratch.0.join("config");
    let connected = crate::scenario::simulate(connect(Some(&path), None)).unwrap();
    let said = connected.map(drop).unwrap_err().to_string();
    assert!(said.contains("its proxy") && !said.contains("hunter2"), "{said}");
}

#[test]
fn a_proxy_of_the_kubeconfig_goes_before_the_environment() {
    let parsed = |text: &str| Kubeconfig::from_yaml(text).unwrap();
    let plain = kubeconfig("current-context: dev\n");
    assert!(!own_proxy(&parsed(&plain), None));
    let proxied = plain.replace("cluster.example'", "cluster.example', proxy-url: 'http://proxy.example'");
    assert!(own_proxy(&parsed(&proxied), None));
    assert!(own_proxy(&parsed(&proxied), Some("dev")) && !own_proxy(&parsed(&proxied), Some("prod")));
}

#[test]
fn an_address_is_told_without_the_password_in_it() {
    let told = |server: &str| address(&server.parse().unwrap());
    assert_eq!(
        told("https://me:hidden@cluster.example:6443/k8s/c1?x=hidden"),
        "https://cluster.example:6443/k8s/c1"
    );
    assert_eq!(told("https://[::1]:6443"), "https://[::1]:6443/");
    assert_eq!(told("http://cluster.example/"), "http://cluster.example/");
    let text = kubeconfig("current-context: dev\n").replace("https://", "https://me:hidden@");
    let scratch = Scratch::new("address", &text);
    let connected = async { connect(Some(&scratch.0.join("config")), None).await.map(|(_, server)| server) };
    let server = crate::scenario::simulate(connected).unwrap().unwrap();
    assert_eq!(server, "https://cluster.example/");
}

#[test]
fn a_command_that_gives_no_credentials_is_not_quoted() {
    let user = "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: sh, \
                args: ['-c', 'echo hidden; exit 3'], env: [{name: KEY, value: hidden}]}";
    let text = kubeconfig("current-context: dev\n")
        .replace("context: {cluster: c}", "context: {cluster: c, user: u}")
        + &format!("users:\n- name: u\n  user:\n    {user}\n");
    let scratch = Scratch::new("exec", &text);
    let connected = crate::scenario::simulate(connect(Some(&scratch.0.join("config")), None)).unwrap();
    let Err(error) = connected else { panic!("there are no credentials") };
    assert!(matches!(error, ClusterError::Credentials { .. }), "{error}");
    assert!(!error.to_string().contains("hidden"), "{error}");
    assert!(error.to_string().contains("exit status: 3"), "{error}");
}
