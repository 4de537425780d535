//! Two operators beside each other: who leads, and how the other one ends.

use std::time::Duration;

use cli::world::{Options, World};
use operator::{Leadership, Operator};

/// What a replica that does not lead may take to end: nothing holds it but its own tasks.
const ENDS_WITHIN: Duration = Duration::from_secs(1);

#[test]
fn a_replica_that_does_not_lead_ends_at_once_and_starts_nothing() {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let mut world = World::new(Options { election: true, ..Options::default() }).unwrap();
        world.start();
        world.settle().await;
        let (client, transport, mut config) = world.ways();
        if let Some(leader) = &mut config.leader {
            leader.identity = "second".to_owned();
        }
        let second = Operator::start(client, transport, config);
        tokio::time::sleep(Duration::from_secs(30)).await;
        assert_eq!(second.activity().leadership, Some(Leadership::Waiting));
        let ended = tokio::time::timeout(ENDS_WITHIN, second.shutdown()).await;
        assert!(ended.is_ok(), "it waited to lead although it was told to stop");
    });
}
