//! Writes the generated files, or names those that are stale. What is in them is kindgen's business.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use kindgen::{File, Project, tree};

/// Everything that is generated.
pub(crate) fn files(root: &Path) -> Result<Vec<File>> {
    let sources = tree::sources(root).context("could not read kinds/*.toml")?;
    let project = Project::load(&sources)?;
    Ok(kindgen::generate(&project))
}

/// Writes what differs and removes what no table makes any more.
pub(crate) fn write(root: &Path) -> Result<()> {
    let files = files(root)?;
    for path in tree::stale(root, &files)? {
        let target = root.join(&path);
        let Some(file) = files.iter().find(|file| file.path == path) else {
            fs::remove_file(&target).with_context(|| format!("could not remove {path}"))?;
            println!("removed {path}");
            continue;
        };
        if let Some(home) = target.parent() {
            fs::create_dir_all(home).with_context(|| format!("could not make the directory of {path}"))?;
        }
        fs::write(&target, &file.text).with_context(|| format!("could not write {path}"))?;
        println!("wrote {path}");
    }
    Ok(())
}

/// Fails with the names of stale files.
pub(crate) fn check(root: &Path) -> Result<()> {
    let stale = tree::stale(root, &files(root)?)?;
    if !stale.is_empty() {
        bail!("stale; run `cargo xtask codegen` and commit:\n  {}", stale.join("\n  "));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use kinds::{CRDS, KINDS, Reason, kind, names};

    use super::*;

    fn project() -> Project {
        Project::load(&tree::sources(&crate::root()).expect("kinds/ can be read"))
            .expect("the tables are in order")
    }

    #[test]
    fn the_tables_and_the_names_agree() {
        let manager = project().manager;
        assert_eq!((manager.group.as_str(), manager.version.as_str()), (names::GROUP, names::VERSION));
        let names_of = |resource: &str| {
            let about =
                |rule: &&kindgen::table::AccessRule| rule.resources.iter().any(|name| name == resource);
            let rules = manager.namespaced_rules.iter().filter(about);
            rules.flat_map(|rule| rule.names.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names_of("leases"), [names::LEASE]);
        assert_eq!(names_of("namespaces"), [manager.namespace.as_str()]);
    }

    #[test]
    fn the_list_of_reasons_is_read_as_rust_reads_it() {
        let read: Vec<_> =
            project().reasons.into_iter().map(|reason| (reason.name, reason.retry, reason.doc)).collect();
        let list = Reason::ALL.iter();
        let list = list.map(|reason| {
            (reason.name().to_owned(), format!("{:?}", reason.retry()), reason.doc().trim().to_owned())
        });
        assert_eq!(read, list.collect::<Vec<_>>());
    }

    #[test]
    fn pages_link_to_reasons_that_there_are() {
        for file in files(&crate::root()).expect("the tables are in order") {
            for name in file.text.split("](reasons.md#").skip(1).filter_map(|rest| rest.split(')').next()) {
                assert!(
                    Reason::ALL.iter().any(|reason| reason.name().to_lowercase() == name),
                    "{}: {name}",
                    file.path
                );
            }
        }
    }

    #[test]
    fn rows_stand_parents_first_with_their_definitions() {
        for (index, (row, crd)) in KINDS.iter().zip(CRDS).enumerate() {
            assert!(crd.contains(&format!("\"kind\": \"{}\"", row.name)), "{}", row.name);
            assert!(crd.contains(&format!("\"name\": \"{}.{}\"", row.plural, names::GROUP)), "{}", row.name);
            for reference in row.references {
                let before = KINDS[..index].iter().any(|other| other.name == reference.kind);
                assert!(before, "{} stands before its {}", row.name, reference.kind);
            }
            assert!(kind(row.name).is_some());
        }
        assert_eq!(KINDS.len(), CRDS.len());
    }
}
