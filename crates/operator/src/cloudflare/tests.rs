//! What is promised about the time of a call: nothing is sent late, however long it waited for its place.

use http::{Request as HttpRequest, Response};
use jiff::SignedDuration;
use serde_json::json;
use tokio::task::JoinSet;
use tower::util::BoxCloneSyncService;

use cf_api::limits::ADDRESS_LIMIT;
use cf_api::request::Method;

use super::*;
use crate::limits::CALLS_AT_ONCE;
use crate::pass_time::Parked;
use crate::transport::TransportError;

const SECOND: Duration = Duration::from_secs(1);
const TOKEN: &[u8] = b"tokenOfSuitableLengthAndOnlyOfLetters00";

/// When each request was sent, in seconds from the start, by its method.
type Log = Arc<Mutex<Vec<(http::Method, Duration)>>>;

/// A Cloudflare that takes this long for every answer, and the log of what it was asked.
fn slow(answers_after: Duration, clock: Clock) -> (Arc<Cloudflare>, Log) {
    let (began, log) = (Instant::now(), Log::default());
    let told = Arc::clone(&log);
    let service = tower::service_fn(move |request: HttpRequest<Bytes>| {
        told.lock().unwrap().push((request.method().clone(), began.elapsed()));
        async move {
            tokio::time::sleep(answers_after).await;
            let body = json!({"success": true, "errors": [], "messages": [], "result": {"id": "a"}});
            Ok::<_, TransportError>(Response::new(Bytes::from(body.to_string())))
        }
    });
    let transport = BoxCloneSyncService::new(service);
    let timeout = 120 * SECOND;
    let cloudflare = Cloudflare::new(transport, clock, Arc::default(), timeout, Lease::unneeded());
    (Arc::new(cloudflare), log)
}

fn clock() -> Clock {
    let began = Instant::now();
    Arc::new(move || Timestamp::UNIX_EPOCH + SignedDuration::try_from(began.elapsed()).unwrap())
}

/// Takes every place that a token has, and one more round of them.
fn crowd(cloudflare: &Arc<Cloudflare>, calls: usize) -> JoinSet<()> {
    let mut crowd = JoinSet::new();
    for _ in 0..calls {
        let cloudflare = Arc::clone(cloudflare);
        crowd.spawn(async move {
            let time = PassTime::start(300 * SECOND, Parked::default());
            let _ = call(&cloudflare, Method::Get, &time, None).await;
        });
    }
    crowd
}

async fn call(
    cloudflare: &Cloudflare,
    method: Method,
    time: &PassTime,
    send_by: Option<Timestamp>,
) -> Result<Answer, CallError> {
    call_with(TOKEN, cloudflare, method, time, send_by).await
}

async fn call_with(
    token: &[u8],
    cloudflare: &Cloudflare,
    method: Method,
    time: &PassTime,
    send_by: Option<Timestamp>,
) -> Result<Answer, CallError> {
    let secret = Secret::parse(token).unwrap();
    let request = Request::new(method, "/zones", &[]).unwrap();
    cloudflare.call(&secret, &request, Terms { class: Class::User, time, send_by }).await
}

fn posts(log: &Log) -> usize {
    log.lock().unwrap().iter().filter(|(method, _)| method == http::Method::POST).count()
}

#[tokio::test(start_paused = true)]
async fn a_create_whose_mark_ran_out_while_it_waited_for_a_place_is_not_sent() {
    let (cloudflare, log) = slow(100 * SECOND, clock());
    let _crowd = crowd(&cloudflare, 3 * CALLS_AT_ONCE);
    tokio::time::sleep(SECOND).await;
    let time = PassTime::start(300 * SECOND, Parked::default());
    let began = Instant::now();
    let send_by = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(120);
    let answer = call(&cloudflare, Method::Post, &time, Some(send_by)).await;
    assert_eq!(answer, Err(CallError::NoAnswer(Cause::BudgetExhausted)));
    assert!(began.elapsed() < 120 * SECOND, "it is given up when its time is over: {:?}", began.elapsed());
    assert_eq!(posts(&log), 0);
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_pass_is_over_leaves_the_queue_for_a_place() {
    let (cloudflare, log) = slow(100 * SECOND, clock());
    let _crowd = crowd(&cloudflare, 3 * CALLS_AT_ONCE);
    tokio::time::sleep(SECOND).await;
    let time = PassTime::start(10 * SECOND, Parked::default());
    let answer = call(&cloudflare, Method::Post, &time, None).await;
    assert_eq!(answer, Err(CallError::NoAnswer(Cause::OutOfTime)));
    assert!(time.is_over());
    assert_eq!(posts(&log), 0);
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_set_back_grants_a_create_no_more_time() {
    let began = Instant::now();
    // An hour back after the first minute.
    let clock: Clock = Arc::new(move || {
        let now = SignedDuration::try_from(began.elapsed()).unwrap();
        let back = if now > SignedDuration::from_secs(60) {
            SignedDuration::from_hours(1)
        } else {
            SignedDuration::ZERO
        };
        Timestamp::UNIX_EPOCH + now - back
    });
    let (cloudflare, log) = slow(100 * SECOND, clock);
    let _crowd = crowd(&cloudflare, 3 * CALLS_AT_ONCE);
    tokio::time::sleep(SECOND).await;
    let time = PassTime::start(300 * SECOND, Parked::default());
    let send_by = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(120);
    let answer = call(&cloudflare, Method::Post, &time, Some(send_by)).await;
    assert_eq!(answer, Err(CallError::NoAnswer(Cause::BudgetExhausted)));
    assert_eq!(posts(&log), 0);
}

/// A token of its own for each number.
fn token(number: usize) -> Vec<u8> {
    format!("tokenOfSuitableLengthAndOnlyOfLetters{number:03}").into_bytes()
}

#[tokio::test(start_paused = true)]
async fn many_tokens_together_keep_to_what_one_address_may_send() {
    let (cloudflare, log) = slow(Duration::ZERO, clock());
    let mut calls = JoinSet::new();
    for number in 0..400 {
        let cloudflare = Arc::clone(&cloudflare);
        calls.spawn(async move {
            let time = PassTime::start(300 * SECOND, Parked::default());
            call_with(&token(number), &cloudflare, Method::Get, &time, None).await.unwrap();
        });
    }
    calls.join_all().await;
    let log = log.lock().unwrap();
    assert_eq!(log.len(), 400);
    for (_, from) in log.iter() {
        let within = log.iter().filter(|(_, at)| at >= from && *at < *from + SECOND).count();
        assert!((within as u64) < ADDRESS_LIMIT, "{within} calls in the second from {from:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_that_was_replaced_is_forgotten() {
    let (cloudflare, _) = slow(Duration::ZERO, clock());
    for number in 0..10 {
        let time = PassTime::start(300 * SECOND, Parked::default());
        call_with(&token(number), &cloudflare, Method::Get, &time, None).await.unwrap();
        tokio::time::sleep(TOKEN_KEPT / 2).await;
    }
    assert_eq!(lock(&cloudflare.tokens).len(), 2, "the last one, and one that was in use a moment ago");
}
