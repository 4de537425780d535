//! What the production stages make of the toy tables, as files under `testdata/golden`.
//! `UPDATE_EXPECT=1 cargo test -p kindgen` writes them anew; read the diff.

use std::collections::BTreeSet;
use std::path::Path;

use expect_test::expect_file;

use super::toy;
use crate::{Project, generate};

#[test]
fn toy_tables_give_the_golden_files() {
    let project = Project::load(&toy()).expect("the toy is in order");
    let mut names = BTreeSet::new();
    // The JSON of a CRD says what its YAML says: `schema` tests hold the two together.
    for file in generate(&project).into_iter().filter(|file| !file.path.ends_with(".json")) {
        let name = file.path.replace('/', "+");
        assert!(file.text.lines().count() <= 200, "{name}: a golden nobody reads; make the toy smaller");
        expect_file![format!("../../testdata/golden/{name}")].assert_eq(&file.text);
        names.insert(name);
    }
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/golden");
    for entry in std::fs::read_dir(home).expect("there are goldens") {
        let name = entry.expect("a file").file_name().to_string_lossy().into_owned();
        assert!(names.contains(&name), "no stage makes {name} any more; remove it");
    }
}

#[test]
fn the_order_of_the_files_does_not_matter() {
    let mut turned = toy();
    turned.swap(1, 2);
    let rows = |sources: &[_]| {
        let project = Project::load(sources).expect("the toy is in order");
        project.kinds.iter().map(|kind| kind.table.kind.clone()).collect::<Vec<_>>()
    };
    assert_eq!(rows(&turned), ["Shelf", "RedWidget"], "parents first");
    assert_eq!(rows(&toy()), rows(&turned));
}
