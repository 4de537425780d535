//! Which Ingresses are served, and through which tunnel. A class that could not be read selects nobody and releases
//! nobody.

use std::collections::BTreeMap;

use kinds::Key;
use kinds::names::{self, ingress as key};

use super::view::{Ingress, IngressClass};
use crate::snapshot::Lookup;

/// IngressClasses by name.
pub type Classes = BTreeMap<String, Lookup<IngressClass>>;

/// Names that the flags give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassNames<'a> {
    /// What the old annotation must say.
    pub ingress_class: &'a str,
    /// What an IngressClass's `spec.controller` must say.
    pub controller_class: &'a str,
}

/// Whether an Ingress is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// Through the tunnel of the flags.
    Flags,
    /// Through the tunnel of this Tunnel.
    Tunnel(Key),
    /// Not by us: what was served before is released.
    Foreign,
    /// Its class names a Tunnel in a way that leads to none.
    NoTunnel(String),
    /// Nobody can tell now.
    Unknown(String),
}

/// Selects by the old annotation or by the class.
#[must_use]
pub fn select(ingress: &Ingress, classes: &Classes, flags: ClassNames<'_>) -> Selection {
    if ingress.metadata.annotation(key::LEGACY_CLASS) == Some(flags.ingress_class) {
        return Selection::Flags;
    }
    let Some(name) = &ingress.spec.ingress_class_name else { return Selection::Foreign };
    let class = match classes.get(name) {
        Some(Lookup::Found(class)) => class,
        Some(Lookup::Missing) => return Selection::Foreign,
        Some(Lookup::Unknown(why)) => return Selection::Unknown(format!("IngressClass {name}: {why}")),
        Some(Lookup::Unread) | None => {
            return Selection::Unknown(format!("IngressClass {name} is not read yet"));
        }
    };
    if class.spec.controller != flags.controller_class {
        return Selection::Foreign;
    }
    match &class.spec.parameters {
        // Parameters of others said nothing to the old controller either.
        Some(parameters) if parameters.api_group == names::GROUP => {
            if parameters.kind == key::PARAMETERS_KIND
                && !parameters.name.is_empty()
                && !parameters.namespace.is_empty()
            {
                Selection::Tunnel(Key::new(parameters.namespace.clone(), parameters.name.clone()))
            } else {
                Selection::NoTunnel(format!(
                    "spec.parameters of IngressClass {name} must have kind Tunnel, a name and a namespace"
                ))
            }
        }
        _ => Selection::Flags,
    }
}
