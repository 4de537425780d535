//! What bounds an exchange over a real connection, in virtual time: servers on the loopback that fall silent.
//! Time stands still while a server does its part, because that is a task which blocks.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Once;

use tokio::net::TcpSocket;
use tokio::time::Instant;

use super::*;
use crate::causes::Causes;

/// What a server would have to say before a body that has more to come.
const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{";

fn provider() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
}

fn get() -> Request<Bytes> {
    Request::get("/zones").body(Bytes::new()).unwrap()
}

/// A server that does `part` with the first connection, and keeps it open.
#[expect(clippy::disallowed_methods, reason = "time has to stand still while the servers do their part")]
fn server(
    part: impl FnOnce(&mut TcpStream) + Send + 'static,
) -> (String, tokio::task::JoinHandle<TcpStream>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let serving = tokio::task::spawn_blocking(move || {
        let (mut connection, _) = listener.accept().unwrap();
        part(&mut connection);
        connection
    });
    (address, serving)
}

fn read_head(connection: &mut TcpStream) {
    let mut lines = BufReader::new(connection).lines();
    while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
}

/// Asks; how it failed and after how long.
async fn failure(transport: Transport) -> (TransportError, Duration) {
    let began = Instant::now();
    let error = transport.oneshot(get()).await.unwrap_err();
    (error, began.elapsed())
}

#[track_caller]
fn took(elapsed: Duration, bound: u64) {
    let bound = Duration::from_secs(bound);
    assert!(elapsed >= bound && elapsed < bound + Duration::from_secs(1), "{elapsed:?} instead of {bound:?}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_does_not_begin_is_given_up_after_a_minute() {
    provider();
    let (address, serving) = server(read_head);
    let (error, elapsed) = failure(https(&format!("http://{address}")).unwrap()).await;
    assert_eq!(error.cause, Cause::Timeout);
    took(elapsed, 60);
    drop(serving.await);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_does_not_end_is_given_up_after_two_minutes() {
    provider();
    let (address, serving) = server(|connection| {
        read_head(connection);
        connection.write_all(HEAD).unwrap();
    });
    let (error, elapsed) = failure(https(&format!("http://{address}")).unwrap()).await;
    assert_eq!(error.cause, Cause::Timeout);
    took(elapsed, 120);
    drop(serving.await);
}

#[tokio::test(start_paused = true)]
async fn a_tls_handshake_may_take_ten_seconds() {
    provider();
    let (address, serving) = server(|connection| {
        connection.read_exact(&mut [0; 5]).unwrap();
    });
    let (error, elapsed) = failure(https(&format!("https://{address}")).unwrap()).await;
    assert_eq!(error.cause, Cause::Connect);
    assert!(Causes(&error).to_string().contains("handshake"), "{}", Causes(&error));
    took(elapsed, 10);
    drop(serving.await);
}

#[tokio::test(start_paused = true)]
async fn dialling_may_take_thirty_seconds() {
    provider();
    // Whoever comes after the first in this queue is not answered.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(0).unwrap();
    let address = listener.local_addr().unwrap();
    let _first = TcpStream::connect(address).unwrap();
    let (error, elapsed) = failure(https(&format!("https://{address}")).unwrap()).await;
    assert_eq!(error.cause, Cause::Connect);
    took(elapsed, 30);
}

/// Kinds of HTTP/2 frames.
const SETTINGS: u8 = 4;
const PING: u8 = 6;

/// The kinds of the frames that have arrived and are not answers.
fn frames(connection: &mut TcpStream) -> Vec<u8> {
    connection.set_nonblocking(true).unwrap();
    let mut bytes = Vec::new();
    // It ends with an error: there is no more yet.
    let _ = connection.read_to_end(&mut bytes);
    let mut kinds = Vec::new();
    let mut rest = bytes.as_slice();
    while let [a, b, c, kind, flags, _, _, _, _, after @ ..] = rest {
        let length = usize::from(*a) << 16 | usize::from(*b) << 8 | usize::from(*c);
        if flags & 1 == 0 || *kind != SETTINGS {
            kinds.push(*kind);
        }
        rest = after.get(length..).unwrap_or_default();
    }
    kinds
}

#[tokio::test(start_paused = true)]
async fn a_quiet_http2_connection_is_pinged_after_thirty_seconds_and_closed_after_fifteen_more() {
    provider();
    let (address, serving) = server(|connection| {
        connection.read_exact(&mut [0; b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".len()]).unwrap();
        connection.write_all(&[0, 0, 0, SETTINGS, 0, 0, 0, 0, 0]).unwrap();
    });
    let client = bounded(connect::tls().unwrap()).http2_prior_knowledge().build().unwrap();
    let (error, elapsed) = failure(over(client, format!("http://{address}"))).await;
    assert_eq!(error.cause, Cause::Timeout);
    took(elapsed, 45);
    let kinds = frames(&mut serving.await.unwrap());
    assert_eq!(kinds.iter().filter(|kind| **kind == PING).count(), 1, "{kinds:?}");
}

/// Set for the process that the test below starts.
const CHILD: &str = "KFLARE_TEST_CHILD";

#[tokio::test]
async fn the_standard_proxy_variables_are_honoured() {
    provider();
    if std::env::var_os(CHILD).is_some() {
        let _ = https(BASE_URL).unwrap().oneshot(get()).await;
        return;
    }
    let (address, serving) = server(|connection| {
        let mut line = String::new();
        BufReader::new(&mut *connection).read_line(&mut line).unwrap();
        assert_eq!(line, "CONNECT api.cloudflare.com:443 HTTP/1.1\r\n");
        connection.write_all(b"HTTP/1.1 502 Bad Gateway\r\n\r\n").unwrap();
    });
    // A process of its own: the variables of this one belong to all tests.
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "transport::tests::the_standard_proxy_variables_are_honoured"])
        .envs([(CHILD, "1"), ("HTTPS_PROXY", &format!("http://{address}"))])
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .output();
    // A server that nobody asked would wait for ever.
    let _ = TcpStream::connect(&address);
    serving.await.unwrap();
    assert!(child.unwrap().status.success());
}
