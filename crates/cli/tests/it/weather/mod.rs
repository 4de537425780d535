//! Bad weather: every fault at every request, two replicas, backups that come back, outages with thousands of objects.
//! What holds what is the page docs/reference/weather.md, which is read here.

mod load;
mod replicas;
mod sweep;

use std::collections::BTreeSet;
use std::fs;

use cli::world::Side;
use sandbox::fault::Fault;

use crate::citations::{Known, Row, cited, root, rows};

const PAGE: &str = "docs/reference/weather.md";

/// Scenarios that were written for this page.
const SCENARIOS: &str = "scenarios/weather";

/// The routes of the page's table: whose, which method, which route.
fn routes() -> Vec<(Side, String, String)> {
    let of_row = |row: &Row| {
        let (method, route) = row.number().trim_matches('`').split_once(' ')?;
        let is_kubernetes = route.starts_with("/api") || method == "WATCH";
        let side = if is_kubernetes { Side::Kubernetes } else { Side::Cloudflare };
        Some((side, method.to_owned(), route.to_owned()))
    };
    rows(PAGE).iter().filter(|row| row.number().starts_with('`')).filter_map(of_row).collect()
}

/// The placeholders of a route do not count, only where they are.
fn shape(route: &str) -> String {
    let part = |part: &str| if part.starts_with('{') { "{}".to_owned() } else { part.to_owned() };
    route.split('/').map(part).collect::<Vec<_>>().join("/")
}

#[test]
fn every_row_of_the_weather_names_tests_that_exist() {
    let known = Known::of_the_workspace();
    let is_route = |row: &&Row| row.number().starts_with('`') && row.number().contains(' ');
    let all = rows(PAGE);
    let complaints: Vec<String> =
        all.iter().filter(|row| !is_route(row)).flat_map(|row| known.complaints(row, false)).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    let page = fs::read_to_string(root().join(PAGE)).expect(PAGE);
    let named: BTreeSet<&str> = cited(&page).into_iter().collect();
    for entry in fs::read_dir(root().join(SCENARIOS)).expect(SCENARIOS) {
        let name = entry.expect("an entry of a folder").file_name().to_string_lossy().into_owned();
        let scenario = format!("weather/{name}");
        assert!(!name.ends_with(".txt") || named.contains(scenario.as_str()), "no row cites {scenario}");
    }
}

#[test]
fn every_fault_has_its_row() {
    let all = rows(PAGE);
    let of_faults = all.iter().map(|row| row.number().trim_matches('`')).filter(|word| !word.contains(' '));
    let told: Vec<&str> = of_faults.filter(|word| word.parse::<Fault>().is_ok()).collect();
    assert_eq!(told, Fault::ALL.map(Fault::name));
}

#[test]
fn every_route_of_every_kind_is_in_the_table() {
    let told: BTreeSet<String> = routes().iter().map(|(_, _, route)| shape(route)).collect();
    let mut missing = Vec::new();
    for kind in kinds::KINDS {
        let routes = &kind.routes;
        let batch = routes.batch.iter().map(|batch| batch.path);
        let own_calls = kind.fields.iter().filter_map(|field| field.own_call.as_ref()).map(|call| call.path);
        // What users name by its ID is never listed.
        let collection = (!kind.identity.status.is_empty()).then_some(routes.collection);
        let all = collection.into_iter().chain([routes.item]).chain(batch).chain(own_calls);
        missing.extend(all.filter(|route| !route.is_empty() && !told.contains(&shape(route))));
    }
    assert_eq!(missing, [""; 0]);
}
