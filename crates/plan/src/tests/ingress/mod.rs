//! Ingresses through a tunnel: tables of what comes of them, and properties that hold of whatever comes.

mod annotations;
mod class;
mod dns;
mod harness;
mod hostile;
mod kept;
mod letting_go;
mod paths;
mod property;
mod rules;
mod takeover;
mod zone;
