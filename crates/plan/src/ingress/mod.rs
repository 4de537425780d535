//! Serving Ingresses through a tunnel, as pure functions: from Ingresses, Services and classes to exposures, to the
//! ordered rules of the tunnel, and to the records of the hosts.
//!
//! ```text
//! select   which Ingresses, through which tunnel
//! expose   one Ingress -> hosts, paths, what each leads to, what became of each
//! assemble all of them, and the live rules -> the rules of the tunnel, in order
//! change   the live configuration, and the rules -> what to write
//! wishes   all of them -> what is wanted of the records of each host
//! plan_zone the records of a zone, and the wishes -> what to write, each with its proof
//! ```

pub mod annotations;
pub mod backend;
pub mod class;
pub mod comment;
pub mod dns;
mod duration;
pub mod exposure;
mod host;
mod kept;
pub mod mark;
pub mod notice;
mod order;
pub mod path;
pub mod record;
pub mod rules;
pub mod shrink;
pub mod view;
pub mod wish;
pub mod zone;

pub use class::{Selection, select};
pub use exposure::{Exposed, Surroundings, expose};
pub use notice::Notice;
pub use rules::{Change, Rule, assemble, change};
pub use shrink::needs_second_reading;
