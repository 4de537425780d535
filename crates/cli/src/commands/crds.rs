//! `kflare crds`: prints the CustomResourceDefinitions. Applies nothing.

use std::io::{self, Write};

use anyhow::Context;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::form;

/// The generated YAML, in the order of [`kinds::CRDS`].
const YAML: &[&str] = &[
    include_str!("../../../../deploy/crds/cloudflareaccounts.yaml"),
    include_str!("../../../../deploy/crds/zones.yaml"),
    include_str!("../../../../deploy/crds/dnsrecords.yaml"),
];

/// `kflare crds`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct CrdsArguments {
    /// How they are printed
    #[arg(long, short, env = "KFLARE_OUTPUT", value_name = "FORMAT", default_value = "yaml")]
    pub output: Output,
}

/// How CRDs are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// YAML documents
    // Where a variable asks all commands for text, this is it.
    #[value(alias = "text")]
    Yaml,
    /// One JSON List
    Json,
}

const EXAMPLES: &str = "\
Examples:
  # installs or updates them in the cluster of your current context
  kflare crds | kubectl apply -f -

  # what would change
  kflare crds | kubectl diff -f -

Deleting a CustomResourceDefinition deletes all objects of its kind, and with them what they stand for in Cloudflare.";

/// Prints them.
///
/// # Errors
/// When nobody reads.
pub fn execute(arguments: &CrdsArguments) -> anyhow::Result<()> {
    let text = match arguments.output {
        Output::Yaml => YAML.join("---\n"),
        Output::Json => form::json(&list()?),
    };
    io::stdout().lock().write_all(text.as_bytes()).context("cannot write to standard output")
}

fn list() -> anyhow::Result<Value> {
    let items: Result<Vec<Value>, _> = kinds::CRDS.iter().map(|crd| serde_json::from_str(crd)).collect();
    let items = items.context("a generated CustomResourceDefinition is not JSON: please report this")?;
    Ok(json!({ "apiVersion": "v1", "kind": "List", "items": items }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_those_of_the_kinds() {
        let yaml: Vec<Value> = serde_saphyr::from_multiple(&YAML.join("---\n")).unwrap();
        assert_eq!(list().unwrap()["items"], Value::Array(yaml));
    }
}
