//! Plans against the two worlds in memory: what people read, what scripts read, and that runs then do the same.

mod apart;
mod exported;
mod hostile;
mod limits;
mod output;
mod refused;
mod same;

use super::*;
use crate::world::{Options, World};

/// How a plan is asked for.
#[derive(Clone, Copy, Debug)]
struct Ask<'a> {
    manifests: &'a str,
    intent: Intent,
    all: bool,
    no_cluster: bool,
    namespace: Option<&'a str>,
}

impl<'a> Ask<'a> {
    const fn apply(manifests: &'a str) -> Self {
        Self { manifests, intent: Intent::Apply, all: false, no_cluster: false, namespace: None }
    }

    const fn delete(manifests: &'a str) -> Self {
        Self { intent: Intent::Delete, ..Self::apply(manifests) }
    }
}

/// A plan in a world as it is, and as it still is afterwards.
async fn ask(world: &World, ask: Ask<'_>) -> anyhow::Result<Findings> {
    let manifests = manifest::parse("a.yaml", ask.manifests)?;
    let writes = || (world.cloudflare.log().writes(), world.kubernetes.log().writes());
    let before = writes();
    let (client, cloudflare, config) = world.ways();
    let inventory = match ask.no_cluster {
        true => None,
        false => Some(Inventory::read(client, "http://sandbox".to_owned(), &Teller::default()).await?),
    };
    let token = ask.no_cluster.then_some(crate::world::TOKEN);
    let question = Question { manifests, intent: ask.intent, all: ask.all, namespace: ask.namespace, token };
    let found = find(question, inventory.as_ref(), cloudflare, &config, world.clock.now()).await;
    assert_eq!(writes(), before, "a plan writes");
    Ok(found?)
}

/// Runs `test` in a world of its own, in virtual time.
fn in_world<F: AsyncFnOnce(&mut World)>(options: Options, test: F) {
    crate::scenario::simulate(async {
        let mut world = World::new(options).unwrap();
        test(&mut world).await;
    })
    .unwrap();
}

/// Applies documents as kubectl would.
fn apply(world: &World, manifests: &str) {
    for manifest in manifest::parse("a.yaml", manifests).unwrap() {
        world.kubernetes.apply(manifest.object).unwrap();
    }
}

/// Lets the operator do what there is to do, then ends it.
async fn run(world: &mut World) {
    world.start();
    world.settle().await;
    world.crash();
}
