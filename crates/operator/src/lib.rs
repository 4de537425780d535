//! Every effect of kflare: watches, the work queue, gathering, sending, status, Events, leader election, metrics.
//! Never decides: what to read, write and report is said by `plan`.

pub mod ages;
pub mod bounded;
pub mod cache;
pub mod causes;
pub mod cloudflare;
pub mod credentials;
pub mod dispatcher;
pub mod drift;
pub mod effects;
pub mod events;
pub mod gather;
pub mod health;
pub mod informer;
pub mod jitter;
pub mod leader;
pub mod limits;
pub mod memories;
pub mod metrics;
pub mod object;
pub mod operator;
pub mod pass;
pub mod pass_time;
pub mod preview;
pub mod queue;
pub mod refusals;
pub mod routing;
pub mod send;
pub mod sightings;
pub mod state;
pub mod status;
pub mod timings;
pub mod transport;
pub mod unserved;

pub use cloudflare::Clock;
pub use leader::{LeaderConfig, Leadership};
pub use operator::{Activity, Config, Operator};
pub use pass::Portions;
pub use timings::Timings;
pub use transport::Transport;
