//! Plan tables: a small world in YAML, the stages that come of it, and their twin: the same world afterwards, in which
//! nothing is left to do.

mod account;
mod adoption;
mod crash;
mod document;
mod harness;
mod ingress;
mod ownership;
mod predict;
mod quota;
mod record;
mod refusal;
mod sharing;
mod zone;
