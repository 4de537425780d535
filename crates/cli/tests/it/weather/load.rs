//! Thousands of records in bad weather: one request in twenty fails, Cloudflare blocks for five minutes, it is away for an
//! hour, the API server restarts. No change is lost, no storm comes of it, nothing grows, and all is done in the time that
//! can be computed.

use std::collections::VecDeque;
use std::time::Duration;

use cf_api::limits::{OWN_LIMIT, RATE_WINDOW};
use cli::scenario::simulate;
use cli::world::{Options, World};
use jiff::{SignedDuration, Timestamp};
use operator::timings::Timings;
use sandbox::fault::{Fault, Faults, Target};
use serde_json::json;

use crate::cases::{changes, patch, record, unready, with_zone};

/// Records; `RECORDS=10000` takes them up to what is promised, best in a release build. A thousand are more than a pass
/// holds at once.
const RECORDS: usize = 1_000;
const ENV: &str = "RECORDS";
/// One of these is edited in each weather.
const EDITED: usize = 10;
/// One request in so many fails.
const ONE_IN: u32 = 20;
/// Requests of each side among which some are chosen to fail.
const REQUESTS: u32 = 40_000;

/// Cloudflare's block after an excess.
const BLOCK: Duration = Duration::from_secs(300);
const OUTAGE: Duration = Duration::from_secs(3_600);
/// An API server that starts anew.
const RESTART: Duration = Duration::from_secs(60);

fn records() -> usize {
    std::env::var(ENV).ok().and_then(|count| count.parse().ok()).unwrap_or(RECORDS)
}

/// When the weather is over: a back-off is at most five minutes and a tenth, a refused token is tried again after ten; what
/// may be late is looked at again after four and a half. Each record that waits may take a look of its own, as fast as the
/// call budget allows.
fn calm_within(waiting: usize) -> Duration {
    let again = Timings::default().backoff_max.mul_f64(1.1).max(plan::limits::REFUSED_CREDENTIALS_RECHECK);
    let windows = waiting.div_ceil(usize::try_from(OWN_LIMIT).unwrap());
    let looks = RATE_WINDOW * u32::try_from(windows).unwrap();
    again + plan::limits::CREATE_MAY_LAND + plan::limits::READS_MAY_LAG + looks
}

fn apply_all(world: &World, count: usize) {
    for n in 0..count {
        let spec = json!({ "type": "A", "name": format!("h{n}"), "content": content(n, 0) });
        world.kubernetes.apply(record(&format!("h{n}"), &spec)).unwrap();
    }
}

fn content(n: usize, version: usize) -> String {
    format!("10.{version}.{}.{}", n / 250, n % 250)
}

fn edit(world: &World, count: usize, version: usize) {
    for n in (0..count).step_by(EDITED) {
        patch(world, &format!("h{n}"), &json!({ "content": content(n, version) }));
    }
}

/// What Cloudflare has that no spec says, and the other way round.
fn lost(world: &World, zone: &str, count: usize, version: usize) -> Vec<String> {
    let mut stands: Vec<(String, String)> = world
        .cloudflare
        .records(zone)
        .iter()
        .map(|record| {
            let text = |field: &str| record[field].as_str().unwrap_or_default().to_owned();
            (text("name"), text("content"))
        })
        .collect();
    stands.sort();
    let wanted = |n: usize| {
        (format!("h{n}.example.com"), content(n, if n.is_multiple_of(EDITED) { version } else { 0 }))
    };
    let mut all: Vec<(String, String)> = (0..count).map(wanted).collect();
    all.sort();
    let differing = stands.iter().filter(|record| all.binary_search(record).is_err());
    let mut lost: Vec<String> = differing.map(|record| format!("{record:?} stands")).collect();
    if stands.len() != count {
        lost.push(format!("{} records stand for {count}", stands.len()));
    }
    lost
}

/// The most calls in any window of Cloudflare's limit, those that were refused included.
fn most_calls(world: &World, since: Timestamp) -> usize {
    let mut window = VecDeque::new();
    let span = SignedDuration::try_from(RATE_WINDOW).unwrap();
    let mut most = 0;
    for line in world.cloudflare.log().lines().into_iter().filter(|line| line.at >= since) {
        window.push_back(line.at);
        while window.front().is_some_and(|first| line.at.duration_since(*first) >= span) {
            window.pop_front();
        }
        most = most.max(window.len());
    }
    most
}

fn calls(world: &World) -> u64 {
    world.cloudflare.log().total()
}

/// Arms faults at one in [`ONE_IN`] requests, each kind in turn.
fn one_in_twenty(faults: &Faults, kinds: &[Fault]) {
    let mut random: u32 = 1;
    for at in 0..REQUESTS / ONE_IN {
        // Numerical Recipes' generator: where in its twenty a fault hits.
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let kind = kinds[at as usize % kinds.len()];
        // What was hit before has not counted for those behind it.
        let skip = at * (ONE_IN - 1) + (random >> 16) % ONE_IN;
        faults.arm(kind, Target::default(), skip, 1);
    }
}

/// What the operator holds is counted by objects and units, not by what happened to them.
fn assert_bounded(world: &World, count: usize, weather: &str) {
    let operator = world.operator().unwrap();
    let held = operator.shared().lock().cache.all("DNSRecord").count();
    assert_eq!(held, count, "{weather}");
    let activity = operator.activity();
    assert_eq!((activity.ready, activity.running, activity.held), (0, 0, 0), "{weather}: {activity:?}");
    // At most one timer for each object and each unit.
    let timers: usize = activity.delayed.values().map(|(timers, _)| timers).sum();
    assert!(timers <= count + 8, "{weather}: {activity:?}");
}

/// All is done and right, and then nothing is written any more.
async fn assert_calm(world: &mut World, zone: &str, count: usize, version: usize, weather: &str) {
    let waiting = unready(world, "DNSRecord").len();
    world.advance(calm_within(waiting)).await;
    let late = unready(world, "DNSRecord");
    assert!(late.is_empty(), "{weather}: {} of {waiting} still wait, first {}", late.len(), late[0]);
    assert_eq!(lost(world, zone, count, version), [""; 0], "{weather}");
    assert_bounded(world, count, weather);
    let writes = world.writes();
    world.advance(Duration::from_secs(600)).await;
    assert_eq!(world.writes(), writes, "{weather}");
}

/// Ways in which one request in twenty fails.
const AT_CLOUDFLARE: [Fault; 7] = [
    Fault::InternalError,
    Fault::BadGateway,
    Fault::TooManyRequests,
    Fault::ResetAfterCommit,
    Fault::TimeoutAfterCommit,
    Fault::GatewayTimeout,
    Fault::CutBody,
];
const AT_KUBERNETES: [Fault; 6] = [
    Fault::InternalError,
    Fault::WriteConflict,
    Fault::TooManyRequests,
    Fault::ResetAfterCommit,
    Fault::GatewayTimeout,
    Fault::Unavailable,
];

/// A weather in which some kind of fault never came would hold nothing of it.
fn assert_all_hit(faults: &Faults, kinds: &[Fault]) {
    let hits: Vec<(&str, u32)> = kinds.iter().map(|kind| (kind.name(), faults.hits(*kind))).collect();
    println!("{hits:?}");
    assert!(hits.iter().all(|(_, hits)| *hits > 0), "{hits:?}");
}

/// All records are made and some edited while one request in twenty fails, on both sides.
async fn drizzle(world: &mut World, count: usize) {
    one_in_twenty(world.cloudflare.faults(), &AT_CLOUDFLARE);
    one_in_twenty(world.kubernetes.faults(), &AT_KUBERNETES);
    apply_all(world, count);
    world.settle().await;
    edit(world, count, 1);
    world.settle().await;
    assert_all_hit(world.cloudflare.faults(), &AT_CLOUDFLARE);
    assert_all_hit(world.kubernetes.faults(), &AT_KUBERNETES);
    world.cloudflare.faults().clear();
    world.kubernetes.faults().clear();
}

/// Cloudflare refuses every call for five minutes.
async fn block(world: &mut World, count: usize) {
    let before = calls(world);
    world.cloudflare.faults().arm(Fault::TooManyRequestsBare, Target::default(), 0, u32::MAX);
    edit(world, count, 2);
    world.advance(BLOCK).await;
    world.cloudflare.faults().clear();
    let (refused, most) = (calls(world) - before, operator::limits::CALLS_AT_ONCE as u64);
    assert!((1..=most).contains(&refused), "calls in the block: {refused}");
}

/// Cloudflare is away for an hour, and edits go on.
async fn outage(world: &mut World, count: usize) {
    let before = calls(world);
    world.cloudflare.faults().arm(Fault::Unavailable, Target::default(), 0, u32::MAX);
    edit(world, count, 3);
    world.advance(OUTAGE / 2).await;
    edit(world, count, 4);
    world.advance(OUTAGE / 2).await;
    world.cloudflare.faults().clear();
    let tried = calls(world) - before;
    // Each edited record is tried ten times in the first five minutes of a round of edits, then every five. What fails
    // together comes back apart, so that a slow pass gets on; but one call serves all whose time has come.
    let per_round = 10 + OUTAGE.as_secs() / Timings::default().backoff_max.as_secs();
    let tries = count.div_ceil(EDITED) as u64 * per_round * 2;
    assert!(tried * 4 <= tries, "calls in an hour without Cloudflare: {tried} for {tries} tries");
}

/// The API server starts anew: watches break, lists fail for a while, and its events are forgotten.
async fn restart(world: &mut World, count: usize) {
    edit(world, count, 5);
    let kubernetes = world.kubernetes.clone();
    let watches = Target { method: Some("WATCH".to_owned()), ..Target::default() };
    kubernetes.faults().arm(Fault::WatchCut, watches, 0, 8);
    kubernetes.faults().arm(Fault::Unavailable, Target::default(), 0, u32::MAX);
    kubernetes.compact();
    let before = kubernetes.log().total();
    world.advance(RESTART).await;
    let asked = kubernetes.log().total() - before;
    kubernetes.faults().clear();
    // Five watches that come back after 1, 2, 4, … 30 s; and of those that were edited each twice at most.
    let (of_watches, of_edits) = (5 * 8, count.div_ceil(EDITED) as u64 * 2);
    assert!(asked <= of_watches + of_edits, "requests to an API server that is away: {asked}");
    edit(world, count, 6);
}

#[test]
fn thousands_of_records_come_through_every_weather() {
    simulate(async {
        let count = records();
        let (mut world, zone) = with_zone(Options::default()).await;
        let mut switches = world.cloudflare.switches();
        switches.record_quota = Some(count);
        world.cloudflare.set_switches(switches);
        let began = world.clock.now();

        drizzle(&mut world, count).await;
        assert_calm(&mut world, &zone, count, 1, "one request in twenty fails").await;
        assert_eq!(changes(&world, 0).get("Create").copied(), Some(count), "each was made once");
        block(&mut world, count).await;
        assert_calm(&mut world, &zone, count, 2, "a block of five minutes").await;
        outage(&mut world, count).await;
        assert_calm(&mut world, &zone, count, 4, "an hour without Cloudflare").await;
        restart(&mut world, count).await;
        assert_calm(&mut world, &zone, count, 6, "the API server starts anew").await;
        assert_eq!(changes(&world, 0).get("Create").copied(), Some(count), "and nothing was made again");
        assert_eq!(changes(&world, 0).get("Delete"), None);

        let most = most_calls(&world, began);
        println!("{count} records: {most} calls in five minutes at most, {} in all", calls(&world));
        println!("{} requests to Kubernetes", world.kubernetes.log().total());
        assert!(most as u64 <= OWN_LIMIT, "{most} calls in five minutes");
    })
    .unwrap();
}
