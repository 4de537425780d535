//! What a sandbox tells those who use it: where things are, and commands to begin with.
//! Holds no secret: the lines it prints read the token where the user keeps it.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::manifest::Manifest;
use crate::terminal::Tone;
use crate::world::{SECRET_NAMESPACE, TOKEN_KEY};

/// Below which the simulated API lies, as the real one does.
pub(super) const API_PATH: &str = "/client/v4";

/// What is served.
#[derive(Clone, Debug)]
pub(super) struct Welcome {
    /// The simulated Kubernetes.
    pub(super) kubernetes: SocketAddr,
    /// The simulated Cloudflare.
    pub(super) cloudflare: SocketAddr,
    /// The kubeconfig.
    pub(super) kubeconfig: PathBuf,
    /// The line that prints the token, if a manifest says where it is.
    pub(super) token: Option<String>,
    /// How this program was called, when it is to be called again to run the operator.
    pub(super) run_with: Option<String>,
}

impl Welcome {
    /// For people.
    pub(super) fn text(&self, colour: bool) -> String {
        let strong = |text: &str| Tone::Strong.paint(text, colour);
        let kubeconfig = quoted(&self.kubeconfig.display().to_string());
        let base = self.cloudflare_url();
        let mut text = format!(
            "A simulated Kubernetes and a simulated Cloudflare, until Ctrl-C.\n\n{}\n  export KUBECONFIG={kubeconfig}\n  \
             export CLOUDFLARE_API_URL={base}   # so that kflare plan asks this Cloudflare\n  kubectl get {} -A\n  kubectl describe {} -A\n",
            strong("In another terminal"),
            plurals().join(","),
            kinds::KINDS.last().map_or("all", |kind| kind.singular),
        );
        text.push_str(&format!("\n{}\n", strong("The Cloudflare API")));
        match &self.token {
            Some(token) => {
                text.push_str(&format!("  curl -s -H \"Authorization: Bearer $({token})\" {base}/zones\n"))
            }
            None => text.push_str(&format!("  {base}\n")),
        }
        text.push_str(&format!(
            "  curl -s http://{}/_sandbox/state   # all of it, no token needed\n",
            self.cloudflare
        ));
        if let Some(program) = &self.run_with {
            text.push_str(&format!(
                "\n{}\n  {} run --kubeconfig {kubeconfig} --cloudflare-api-url {base} \\\n    --namespace {SECRET_NAMESPACE} --log-format text --metrics-bind-address 0 --health-probe-bind-address 0\n",
                strong("The operator, in another terminal"),
                quoted(program),
            ));
        }
        text
    }

    /// For programs.
    pub(super) fn facts(&self) -> Value {
        json!({
            "event": "serving",
            "kubernetes": format!("http://{}", self.kubernetes),
            "cloudflare": self.cloudflare_url(),
            "kubeconfig": self.kubeconfig.display().to_string(),
        })
    }

    fn cloudflare_url(&self) -> String {
        format!("http://{}{API_PATH}", self.cloudflare)
    }
}

fn plurals() -> Vec<&'static str> {
    kinds::KINDS.iter().map(|kind| kind.plural).collect()
}

/// The kubectl line that prints the token of the first account.
pub(super) fn token_line(manifests: &[Manifest]) -> Option<String> {
    let account = manifests
        .iter()
        .map(|manifest| &manifest.object)
        .find(|object| object["kind"] == "CloudflareAccount")?;
    let field = |name: &str| account["spec"]["tokenSecretRef"][name].as_str();
    let (namespace, name) = (field("namespace")?, field("name")?);
    let key = field("key").unwrap_or(TOKEN_KEY);
    let template = quoted(&format!("{{{{index .data \"{key}\" | base64decode}}}}"));
    Some(format!("kubectl get secret -n {} {} -o go-template={template}", quoted(namespace), quoted(name)))
}

/// A word as a shell takes it literally.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@%+,=".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    let harmless = crate::terminal::harmless(word);
    format!("'{}'", harmless.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::manifest;
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("./a-b.yaml"), "./a-b.yaml");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's; rm $x"), r"'it'\''s; rm $x'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn the_welcome_names_everything_and_no_secret() {
        let welcome = Welcome {
            kubernetes: SocketAddr::from(([127, 0, 0, 1], 1)),
            cloudflare: SocketAddr::from(([127, 0, 0, 1], 2)),
            kubeconfig: PathBuf::from("/tmp/it is/kflare-sandbox.kubeconfig"),
            token: token_line(&manifest::samples().unwrap()),
            run_with: Some("kflare".to_owned()),
        };
        expect![[r#"
            A simulated Kubernetes and a simulated Cloudflare, until Ctrl-C.

            In another terminal
              export KUBECONFIG='/tmp/it is/kflare-sandbox.kubeconfig'
              export CLOUDFLARE_API_URL=http://127.0.0.1:2/client/v4   # so that kflare plan asks this Cloudflare
              kubectl get cloudflareaccounts,zones,dnsrecords -A
              kubectl describe dnsrecord -A

            The Cloudflare API
              curl -s -H "Authorization: Bearer $(kubectl get secret -n kflare-system cloudflare-token -o go-template='{{index .data "CF_API_TOKEN" | base64decode}}')" http://127.0.0.1:2/client/v4/zones
              curl -s http://127.0.0.1:2/_sandbox/state   # all of it, no token needed

            The operator, in another terminal
              kflare run --kubeconfig '/tmp/it is/kflare-sandbox.kubeconfig' --cloudflare-api-url http://127.0.0.1:2/client/v4 \
                --namespace kflare-system --log-format text --metrics-bind-address 0 --health-probe-bind-address 0
        "#]]
        .assert_eq(&welcome.text(false));
    }
}
