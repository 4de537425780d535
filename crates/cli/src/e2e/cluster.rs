//! A real API server, as its administrator sees it: what kflare needs is installed, objects are changed as a user would.
//! Knows nothing of the operator's process.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Client, Error};
use sandbox::kubernetes::ApiServer;
use serde_json::Value;
use tokio::time::Instant;

use crate::commands;
use crate::scenario::ObjectName;
use crate::world::SECRET_NAMESPACE;

/// How long new definitions may take to be served: the API server learns of them within a second or two.
const SERVED_MAX: Duration = Duration::from_secs(60);

/// The ServiceAccount that deploy/rbac makes for the operator.
pub(super) const ACCOUNT: &str = "kflare";

/// Between two looks at what takes a moment.
pub(super) const LOOK: Duration = Duration::from_millis(50);

/// How long the token of the operator's account lasts: far above a run, and below the server's default bound.
const TOKEN_SECONDS: i64 = 4 * 3_600;

/// A real API server.
#[derive(Clone)]
pub(crate) struct Cluster {
    pub(super) client: Client,
    folder: PathBuf,
}

impl Cluster {
    /// The server whose files lie in a folder, as testing/kube-apiserver lays them out.
    pub(crate) async fn open(folder: &Path) -> anyhow::Result<Self> {
        let (client, _) = commands::cluster::connect(Some(&folder.join("kubeconfig")), None).await?;
        Ok(Self { client, folder: folder.to_owned() })
    }

    /// What it says its version is.
    pub(crate) async fn version(&self) -> Option<String> {
        Some(self.client.apiserver_version().await.ok()?.git_version)
    }

    /// A file of its folder.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The API server's audit log.
    pub(crate) fn audit_log(&self) -> PathBuf {
        self.file("audit.log")
    }

    /// The kubeconfig of the operator's own account.
    pub(crate) fn account(&self) -> PathBuf {
        self.file("account")
    }

    /// What an administrator does before the operator runs: definitions, roles, and the account that they are bound to.
    pub(crate) async fn install(&self, roles: &str) -> anyhow::Result<()> {
        for definition in kinds::CRDS {
            let definition: Value = serde_json::from_str(definition).context("a definition is no JSON")?;
            self.put(definition).await.map_err(anyhow::Error::msg).context("a definition is refused")?;
        }
        let roles: Vec<Value> = serde_saphyr::from_multiple(roles).context("the roles cannot be read")?;
        for role in roles {
            self.put(role).await.map_err(anyhow::Error::msg).context("a role is refused")?;
        }
        let began = Instant::now();
        for kind in kinds::KINDS {
            while let Err(message) = self.list(kind.name).await {
                if began.elapsed() > SERVED_MAX {
                    bail!("{} is not served: {message}", kind.name);
                }
                tokio::time::sleep(LOOK).await;
            }
        }
        self.write_account().await
    }

    async fn write_account(&self) -> anyhow::Result<()> {
        let accounts: Api<ServiceAccount> = Api::namespaced(self.client.clone(), SECRET_NAMESPACE);
        let spec =
            TokenRequestSpec { expiration_seconds: Some(TOKEN_SECONDS), ..TokenRequestSpec::default() };
        let asked = TokenRequest { spec, ..TokenRequest::default() };
        let made = accounts.create_token_request(ACCOUNT, &PostParams::default(), &asked).await?;
        let token = made.status.context("the API server gives no token")?.token;
        let admin = std::fs::read_to_string(self.file("kubeconfig"))?;
        let server = admin.lines().find_map(|line| line.split("server: \"").nth(1)?.split('"').next());
        let server = server.context("the administrator's kubeconfig names no server")?;
        let authority = self.file("certificates/apiserver.crt");
        let text = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: kflare\n\
             contexts: [{{name: kflare, context: {{cluster: test, user: kflare}}}}]\n\
             clusters: [{{name: test, cluster: {{server: {server:?}, certificate-authority: {authority:?}}}}}]\n\
             users: [{{name: kflare, user: {{token: {token:?}}}}}]\n"
        );
        std::fs::write(self.account(), text).context("cannot write the account's kubeconfig")
    }

    /// Creates or changes an object as `kubectl apply` does, which remembers what it set.
    pub(crate) async fn apply(&self, object: Value) -> Result<(), String> {
        let (api, name) = self.place_of(&object)?;
        let found = api.get_opt(&name).await.map_err(said)?.map(value).transpose()?;
        let wanted = ApiServer::client_side_apply(found.as_ref(), object);
        self.write(&api, &name, found.is_some(), wanted).await
    }

    /// Creates an object, or merges it into the one that is there.
    async fn put(&self, object: Value) -> Result<(), String> {
        let (api, name) = self.place_of(&object)?;
        let is_there = api.get_opt(&name).await.map_err(said)?.is_some();
        self.write(&api, &name, is_there, object).await
    }

    async fn write(
        &self,
        api: &Api<DynamicObject>,
        name: &str,
        is_there: bool,
        wanted: Value,
    ) -> Result<(), String> {
        if is_there {
            return api
                .patch(name, &PatchParams::default(), &Patch::Merge(wanted))
                .await
                .map(drop)
                .map_err(said);
        }
        let object: DynamicObject = serde_json::from_value(wanted).map_err(|error| error.to_string())?;
        api.create(&PostParams::default(), &object).await.map(drop).map_err(said)
    }

    /// Asks for an object's deletion.
    pub(crate) async fn delete(&self, object: &ObjectName) -> Result<(), String> {
        self.of(object).delete(&object.name, &DeleteParams::default()).await.map(drop).map_err(said)
    }

    /// Merges a patch into an object.
    pub(crate) async fn patch(&self, object: &ObjectName, patch: Value) -> Result<(), String> {
        let patch = Patch::Merge(patch);
        self.of(object).patch(&object.name, &PatchParams::default(), &patch).await.map(drop).map_err(said)
    }

    /// Merges a patch into an object's status.
    pub(super) async fn patch_status(&self, object: &ObjectName, patch: Value) -> Result<(), String> {
        let patch = Patch::Merge(serde_json::json!({ "status": patch }));
        let api = self.of(object);
        api.patch_status(&object.name, &PatchParams::default(), &patch).await.map(drop).map_err(said)
    }

    /// An object, if there is one.
    pub(super) async fn find(&self, object: &ObjectName) -> Result<Option<Value>, String> {
        self.of(object).get_opt(&object.name).await.map_err(said)?.map(value).transpose()
    }

    /// All objects of a kind.
    pub(crate) async fn list(&self, kind: &str) -> Result<Vec<Value>, String> {
        let listed = self.everywhere(kind).list(&ListParams::default()).await.map_err(said)?;
        listed.items.into_iter().map(value).collect()
    }

    /// All objects of a kind in all namespaces.
    pub(super) fn everywhere(&self, kind: &str) -> Api<DynamicObject> {
        Api::all_with(self.client.clone(), &resource(&api_version(kind), kind))
    }

    /// The objects of a kind in a namespace, or all where it is empty.
    pub(super) fn within(&self, kind: &str, namespace: &str) -> Api<DynamicObject> {
        let resource = resource(&api_version(kind), kind);
        match namespace {
            "" => Api::all_with(self.client.clone(), &resource),
            namespace => Api::namespaced_with(self.client.clone(), namespace, &resource),
        }
    }

    fn of(&self, object: &ObjectName) -> Api<DynamicObject> {
        self.within(&object.resource.kind, &object.namespace)
    }

    /// Where a manifest's object is, and its name. As for kubectl, no namespace means `default`.
    fn place_of(&self, object: &Value) -> Result<(Api<DynamicObject>, String), String> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (api_version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
        let resource = resource(&api_version, &kind);
        let namespace = match text(&object["metadata"]["namespace"]) {
            namespace if namespace.is_empty() => "default".to_owned(),
            namespace => namespace,
        };
        let api = if CLUSTER_WIDE.contains(&kind.as_str()) {
            Api::all_with(self.client.clone(), &resource)
        } else {
            Api::namespaced_with(self.client.clone(), &namespace, &resource)
        };
        Ok((api, text(&object["metadata"]["name"])))
    }
}

/// Kinds in no namespace, of those that scenarios and roles hold.
const CLUSTER_WIDE: &[&str] =
    &["Namespace", "CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding", "CloudflareAccount"];

/// The version that a kind is spoken of in.
fn api_version(kind: &str) -> String {
    match kind {
        "Lease" => "coordination.k8s.io/v1".to_owned(),
        "CustomResourceDefinition" => "apiextensions.k8s.io/v1".to_owned(),
        "Event" => "events.k8s.io/v1".to_owned(),
        kind if kinds::kind(kind).is_some() => kinds::names::API_VERSION.to_owned(),
        _ => "v1".to_owned(),
    }
}

fn resource(api_version: &str, kind: &str) -> ApiResource {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    // So it is for all kinds that are spoken of here.
    let plural = format!("{}s", kind.to_lowercase());
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, version, kind), &plural)
}

fn value(object: DynamicObject) -> Result<Value, String> {
    serde_json::to_value(object).map_err(|error| error.to_string())
}

/// What the API server says.
pub(super) fn said(error: Error) -> String {
    match error {
        Error::Api(status) => status.message.clone(),
        error => error.to_string(),
    }
}
