//! A small world's whole life again, with every fault at every request.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::path::Path;

use cli::simulation::{FaultSweep, Forecast, Gust, WATCHES, faults, forecast, in_order};
use cli::world::Side;

use super::routes;
use crate::citations::root;

/// The scenarios that are swept, and the routes of each, all of them where none is named: together they make every call that
/// kflare makes.
const SCENARIOS: [(&str, &[&str]); 6] = [
    ("life.txt", &[]),
    ("account_token.txt", &["/accounts/{account_id}/tokens/verify"]),
    // Nothing older can be shown to who reads but once.
    ("read_again.txt", &READS),
    ("listed_again.txt", &LISTS),
    ("two_replicas.txt", &LEASES),
    ("not_served.txt", &UNSERVED),
];
const READS: [&str; 5] = [
    "/user/tokens/verify",
    "/accounts/{account_id}",
    "/zones",
    "/zones/{zone_id}/dns_records/usage",
    "/zones/{zone_id}/dns_records/{record_id}",
];
const LISTS: [&str; 5] = [
    "/api/v1/namespaces",
    "/api/v1/secrets",
    "/apis/kflare.dev/v1alpha1/cloudflareaccounts",
    "/apis/kflare.dev/v1alpha1/zones",
    "/apis/kflare.dev/v1alpha1/dnsrecords",
];
const LEASES: [&str; 2] = [
    "/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases",
    "/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{name}",
];
const UNSERVED: [&str; 5] = [
    "/apis",
    "/apis/kflare.dev/v1alpha1",
    "/apis/kflare.dev/v1alpha1/cloudflareaccounts",
    "/apis/kflare.dev/v1alpha1/zones",
    "/apis/kflare.dev/v1alpha1/dnsrecords",
];
/// Set to 1, every fault hits every request, which takes some minutes.
const EVERY: &str = "EVERY";
/// Narrows the sweep to gusts with this in their line, while one is being mended.
const ONLY: &str = "ONLY";
/// Of the moments of watches, which are many and alike, so many with each fault.
const WATCH_MOMENTS: usize = 2;

/// Each fault once at each route: at its first request, the next fault at its second, and so on, so that every request
/// has its turn.
fn thinned(gusts: &[(Gust, String)]) -> Vec<&(Gust, String)> {
    let mut by_route: BTreeMap<_, Vec<&(Gust, String)>> = BTreeMap::new();
    for gust in gusts {
        let (Gust { side, method, fault, .. }, route) = gust;
        by_route.entry((*side, method, route, *fault)).or_default().push(gust);
    }
    by_route.into_values().enumerate().flat_map(|(turn, moments)| shown(turn, &moments)).collect()
}

/// Those of the moments with one fault at one route whose turn it is.
fn shown<'g>(turn: usize, moments: &[&'g (Gust, String)]) -> Vec<&'g (Gust, String)> {
    let count = if moments[0].1 == WATCHES { WATCH_MOMENTS.min(moments.len()) } else { 1 };
    let step = moments.len() / count;
    (0..count).map(|nth| moments[(turn + nth * step) % moments.len()]).collect()
}

fn run(forecast: &Forecast, gusts: &[&(Gust, String)]) -> FaultSweep {
    let mut found = FaultSweep::default();
    let work = |at: u64| {
        let (gust, route) = gusts[usize::try_from(at).unwrap()];
        forecast.run(gust, route).unwrap()
    };
    let told: Result<(), Infallible> = in_order(gusts.len() as u64, work, |_, run| {
        found.extend(run);
        Ok(())
    });
    told.unwrap();
    found
}

fn sweep(scenario: &Path, routes: &[&str]) -> FaultSweep {
    let mut forecast = forecast(scenario).unwrap();
    forecast.gusts.retain(|(_, route)| routes.is_empty() || routes.contains(&route.as_str()));
    let is_set = |name| std::env::var(name).unwrap_or_default();
    let every = is_set(EVERY) == "1";
    let mut gusts = if every { forecast.gusts.iter().collect() } else { thinned(&forecast.gusts) };
    gusts.retain(|(gust, _)| gust.to_string().contains(&is_set(ONLY)));
    run(&forecast, &gusts)
}

/// What of the page's table no run met: every fault at every route.
fn unmet(found: &FaultSweep) -> Vec<String> {
    let mut unmet = Vec::new();
    for (side, method, route) in routes() {
        for fault in faults(side, &method) {
            if !found.met.contains(&(side, method.clone(), route.clone(), fault)) {
                unmet.push(format!("{fault} at {side:?} {method} {route}"));
            }
        }
    }
    unmet
}

/// What is called and not in the page's table.
fn untold(found: &FaultSweep) -> Vec<String> {
    let told: BTreeSet<(Side, String, String)> = routes().into_iter().collect();
    let met: BTreeSet<_> = found.met.iter().map(|(side, method, route, _)| (*side, method, route)).collect();
    met.into_iter()
        .filter(|(side, method, route)| !told.contains(&(*side, (*method).clone(), (*route).clone())))
        .map(|(side, method, route)| format!("{side:?} {method} {route}"))
        .collect()
}

#[test]
fn every_fault_at_every_request_changes_nothing_in_the_end() {
    let mut found = FaultSweep::default();
    for (scenario, routes) in SCENARIOS {
        found.extend(sweep(&root().join("scenarios/weather").join(scenario), routes));
    }
    println!("{} runs", found.runs);
    let failures = &found.failures;
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), found.runs, failures.join("\n"));
    if std::env::var(ONLY).is_err() {
        assert_eq!((unmet(&found), untold(&found)), (vec![], vec![]), "beside the table of routes");
    }
}
