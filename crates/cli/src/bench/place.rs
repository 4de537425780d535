//! Where a bench takes place: the sandbox's Kubernetes or a real API server, and the sandbox's Cloudflare, over loopback
//! HTTP. Objects are changed and requests counted here; the operator's process is `running`.

use std::cell::RefCell;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::{StreamExt, TryStreamExt, stream};
use sandbox::clock::Clock;
use sandbox::cloudflare::{Cloudflare, Switches};
use sandbox::kubernetes::ApiServer;
use sandbox::serve::{self, Served};
use serde_json::{Value, json};

use super::BenchError;
use super::counts::Counts;
use crate::commands::outside;
use crate::e2e::{Audit, Cluster};
use crate::scenario::ObjectName;
use crate::world::{ACCOUNT_ID, Options, ResourceType, World, scene, wiring};

/// Requests to a real server at a time while a scene is set: what keeps two processors busy.
const AT_A_TIME: usize = 16;

/// Which API server a bench is for.
#[derive(Clone, Copy, Debug)]
pub enum Server<'s> {
    /// The sandbox's, in memory.
    Sandbox,
    /// A real one.
    Real {
        /// Its folder, as testing/kube-apiserver lays it out.
        folder: &'s Path,
        /// The manifest of the operator's account and roles.
        roles: &'s str,
    },
}

/// A Kubernetes and a Cloudflare with an account, and no operator.
pub(super) struct Place {
    kubernetes: Kubernetes,
    pub(super) cloudflare: Cloudflare,
    cloudflare_at: SocketAddr,
    _served: Vec<Served>,
    scratch: Scratch,
}

enum Kubernetes {
    Sandbox { server: ApiServer, kubeconfig: PathBuf },
    Real { cluster: Box<Cluster>, audit: RefCell<Box<Audit>> },
}

impl Place {
    /// A new one. On a real server everything of ours goes first.
    pub(super) async fn new(server: Server<'_>) -> Result<Self, BenchError> {
        // Zones are at rest at once: one that only initializes would change its status once more.
        let switches = Switches { zone_status_initializing: false, ..Switches::default() };
        // Objects come as an API server sends them, owners of fields and all, which a third of their bytes may be.
        let options = Options { switches, owners: true, ..Options::default() };
        let scratch = Scratch::new().map_err(BenchError::Scratch)?;
        let mut all = Vec::new();
        let (kubernetes, cloudflare) = match server {
            Server::Sandbox => {
                let World { kubernetes, cloudflare, .. } = World::starting_at(outside::now(), options)?;
                let served = serve::on_loopback(0, kubernetes.service()).await?;
                let kubeconfig = scratch.0.join("kubeconfig");
                let text = kubernetes.kubeconfig(served.address);
                fs::write(&kubeconfig, text).map_err(BenchError::Scratch)?;
                all.push(served);
                (Kubernetes::Sandbox { server: kubernetes, kubeconfig }, cloudflare)
            }
            Server::Real { folder, roles } => {
                let clock = Clock::starting_at(outside::now());
                let cloudflare = Cloudflare::with_switches(clock, options.seed, options.switches.clone());
                scene::furnish(&cloudflare);
                let cluster = Cluster::open(folder).await.map_err(BenchError::Cluster)?;
                cluster.install(roles).await.map_err(BenchError::Cluster)?;
                cluster.clear().await.map_err(BenchError::Refused)?;
                for object in scene::objects(&options) {
                    cluster.apply(object).await.map_err(BenchError::Refused)?;
                }
                let audit = RefCell::new(Box::new(Audit::from_now(cluster.audit_log())));
                (Kubernetes::Real { cluster: Box::new(cluster), audit }, cloudflare)
            }
        };
        let served = serve::on_loopback(0, cloudflare.service()).await?;
        let cloudflare_at = served.address;
        all.push(served);
        Ok(Self { kubernetes, cloudflare, cloudflare_at, _served: all, scratch })
    }

    /// New zones are Enterprise zones, which hold any number of records.
    pub(super) fn enterprise(self) -> Self {
        self.cloudflare.set_enterprise(ACCOUNT_ID);
        self
    }

    /// Whether it is the sandbox, for which times have targets, and whose watches can be made to begin anew.
    pub(super) fn is_sandbox(&self) -> bool {
        matches!(self.kubernetes, Kubernetes::Sandbox { .. })
    }

    /// What leads the operator here.
    pub(super) fn kubeconfig(&self) -> PathBuf {
        match &self.kubernetes {
            Kubernetes::Sandbox { kubeconfig, .. } => kubeconfig.clone(),
            Kubernetes::Real { cluster, .. } => cluster.account(),
        }
    }

    /// Where the operator finds Cloudflare.
    pub(super) fn cloudflare_url(&self) -> String {
        format!("http://{}{}", self.cloudflare_at, wiring::BASE_PATH)
    }

    /// Where the operator's process logs.
    pub(super) fn log(&self) -> PathBuf {
        self.scratch.0.join("operator.log")
    }

    /// What the operator asked for so far.
    pub(super) fn counts(&self) -> Result<Counts, BenchError> {
        let counts = Counts::cloudflare(&self.cloudflare.log().counts());
        match &self.kubernetes {
            Kubernetes::Sandbox { server, .. } => Ok(counts.and_sandbox(&server.log().counts())),
            Kubernetes::Real { audit, .. } => {
                let mut audit = audit.borrow_mut();
                audit.read_on().map_err(BenchError::Audit)?;
                Ok(counts.and_audit(&audit.asked))
            }
        }
    }

    /// Creates objects, or changes them, as users do.
    pub(super) async fn apply(&self, objects: Vec<Value>) -> Result<(), BenchError> {
        match &self.kubernetes {
            Kubernetes::Sandbox { server, .. } => {
                objects.into_iter().try_for_each(|object| server.apply(object).map(drop))?;
                Ok(())
            }
            Kubernetes::Real { cluster, .. } => {
                let applied = stream::iter(objects).map(|object| cluster.apply(object));
                let applied = applied.buffer_unordered(AT_A_TIME).try_collect();
                applied.await.map_err(BenchError::Refused)
            }
        }
    }

    /// Merges a patch into some objects of a kind.
    pub(super) async fn patch(
        &self,
        kind: &'static str,
        names: Vec<String>,
        patch: &Value,
    ) -> Result<(), BenchError> {
        match &self.kubernetes {
            Kubernetes::Sandbox { server, .. } => {
                for name in names {
                    server.patch(kind, None, &name, patch.clone())?;
                }
                Ok(())
            }
            Kubernetes::Real { cluster, .. } => {
                let patched = stream::iter(names).map(async |name| {
                    let object = object_name(kind, name).ok_or_else(|| format!("no kind {kind}"))?;
                    cluster.patch(&object, patch.clone()).await
                });
                patched.buffer_unordered(AT_A_TIME).try_collect().await.map_err(BenchError::Refused)
            }
        }
    }

    /// Asks for the deletion of records.
    pub(super) async fn delete_records(&self, names: Vec<String>) -> Result<(), BenchError> {
        match &self.kubernetes {
            Kubernetes::Sandbox { server, .. } => {
                for name in names {
                    server.delete("DNSRecord", None, &name)?;
                }
                Ok(())
            }
            Kubernetes::Real { cluster, .. } => {
                let deleted = stream::iter(names).map(async |name| {
                    let object = object_name("DNSRecord", name).ok_or("no kind DNSRecord")?;
                    cluster.delete(&object).await
                });
                deleted.buffer_unordered(AT_A_TIME).try_collect().await.map_err(BenchError::Refused)
            }
        }
    }

    /// All objects of a kind.
    pub(super) async fn list(&self, kind: &str) -> Result<Vec<Value>, BenchError> {
        match &self.kubernetes {
            Kubernetes::Sandbox { server, .. } => Ok(server.list(kind)),
            Kubernetes::Real { cluster, .. } => cluster.list(kind).await.map_err(BenchError::Refused),
        }
    }

    /// Makes the version that a kind's watch has seen too old, and lets the watch know. Only the sandbox can.
    pub(super) fn expire(&self, kind: &str, name: &str) -> Result<(), BenchError> {
        let Kubernetes::Sandbox { server, .. } = &self.kubernetes else { return Ok(()) };
        // Something that the watch does not see: it may have just seen all there is.
        server.apply(json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "bench" } }))?;
        server.compact();
        let touch = json!({ "metadata": { "annotations": { "bench": "touched" } } });
        server.patch(kind, None, name, touch)?;
        Ok(())
    }

    /// What the API server calls itself.
    pub(super) async fn name(&self) -> String {
        match &self.kubernetes {
            Kubernetes::Sandbox { .. } => "the sandbox".to_owned(),
            Kubernetes::Real { cluster, .. } => match cluster.version().await {
                Some(version) => format!("kube-apiserver {version}"),
                None => "a real API server".to_owned(),
            },
        }
    }
}

fn object_name(kind: &str, name: String) -> Option<ObjectName> {
    let resource = ResourceType::named(kind)?;
    let namespace = if kind == "CloudflareAccount" { "" } else { "default" };
    Some(ObjectName { resource, namespace: namespace.to_owned(), name })
}

/// A directory that goes when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> std::io::Result<Self> {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("kflare-bench-{}-{number}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        fs::create_dir(&directory)?;
        Ok(Self(directory))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
