//! The line between the operator and the two worlds: counts its writes, and cuts it off at one of them.
//! Knows nothing of what a request means beyond its method; faults of the worlds are theirs.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use http::{Method, Request};
use tokio::sync::Notify;
use tower::Service;

/// Which world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The Kubernetes API.
    Kubernetes,
    /// The Cloudflare API.
    Cloudflare,
}

/// Whether the write at which the operator dies is still carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CrashSide {
    /// It never arrives.
    Before,
    /// It is carried out, and nobody hears of it.
    After,
}

/// A write at which the operator dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CrashPoint {
    /// Counted from 1, the next write.
    pub write: u64,
    /// Whose writes count; absent: those to both.
    pub whose: Option<Side>,
    /// Before or after it is carried out.
    pub side: CrashSide,
}

/// Writes of the operator, the Lease's apart: those only tell that it lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Writes {
    /// To Kubernetes.
    pub kubernetes: u64,
    /// To Cloudflare.
    pub cloudflare: u64,
}

impl Writes {
    /// To both.
    #[must_use]
    pub const fn total(self) -> u64 {
        self.kubernetes + self.cloudflare
    }

    /// Those of both counts.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            kubernetes: self.kubernetes + other.kubernetes,
            cloudflare: self.cloudflare + other.cloudflare,
        }
    }

    /// Those to one side, or to both.
    #[must_use]
    pub const fn of(self, whose: Option<Side>) -> u64 {
        match whose {
            None => self.total(),
            Some(Side::Kubernetes) => self.kubernetes,
            Some(Side::Cloudflare) => self.cloudflare,
        }
    }

    /// Those since an earlier count.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self {
            kubernetes: self.kubernetes - earlier.kubernetes,
            cloudflare: self.cloudflare - earlier.cloudflare,
        }
    }
}

#[derive(Debug, Default)]
struct Inner {
    writes: Writes,
    /// The number of the write, counted over all, at which the gate closes.
    armed: Option<CrashPoint>,
    closed: bool,
}

/// The gate of one operator; each has its own. Clones are the same gate.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    inner: Arc<Mutex<Inner>>,
    fell: Arc<Notify>,
}

enum Passage {
    Open,
    /// The last request that passes.
    Last,
    Closed,
}

impl Gate {
    /// Cuts the operator off: what it sends from now on is never answered.
    pub fn close(&self) {
        self.lock().closed = true;
    }

    /// True after [`Gate::close`] or an armed write.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Closes at a write.
    pub fn arm(&self, point: CrashPoint) {
        let mut inner = self.lock();
        let write = inner.writes.of(point.whose) + point.write;
        inner.armed = Some(CrashPoint { write, ..point });
    }

    /// Forgets the armed write.
    pub fn disarm(&self) {
        self.lock().armed = None;
    }

    /// The writes so far.
    #[must_use]
    pub fn writes(&self) -> Writes {
        self.lock().writes
    }

    /// Ends when an armed write closes the gate.
    pub async fn fallen(&self) {
        self.fell.notified().await;
    }

    /// A service behind the gate.
    pub fn before<S>(&self, side: Side, service: S) -> Gated<S> {
        Gated { gate: self.clone(), side, service }
    }

    fn enter(&self, side: Side, is_write: bool) -> Passage {
        let mut inner = self.lock();
        if inner.closed {
            return Passage::Closed;
        }
        if !is_write {
            return Passage::Open;
        }
        match side {
            Side::Kubernetes => inner.writes.kubernetes += 1,
            Side::Cloudflare => inner.writes.cloudflare += 1,
        }
        let is_reached = |point: &CrashPoint| {
            point.whose.is_none_or(|whose| whose == side) && point.write <= inner.writes.of(point.whose)
        };
        let Some(point) = inner.armed.filter(is_reached) else { return Passage::Open };
        inner.armed = None;
        inner.closed = true;
        self.fell.notify_one();
        match point.side {
            CrashSide::Before => Passage::Closed,
            CrashSide::After => Passage::Last,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A service behind a gate.
#[derive(Clone, Debug)]
pub struct Gated<S> {
    gate: Gate,
    side: Side,
    service: S,
}

impl<S, B> Service<Request<B>> for Gated<S>
where
    S: Service<Request<B>>,
    S::Future: Send + 'static,
    S::Response: Send + 'static,
    S::Error: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let is_lease = request.uri().path().contains("/leases");
        let is_write = !matches!(*request.method(), Method::GET | Method::HEAD) && !is_lease;
        match self.gate.enter(self.side, is_write) {
            Passage::Open => Box::pin(self.service.call(request)),
            Passage::Closed => Box::pin(std::future::pending()),
            Passage::Last => {
                let mut carried_out = Box::pin(self.service.call(request));
                Box::pin(async move {
                    // Both worlds carry a request out when they are first polled. Its answer is lost: a fault may
                    // even keep it from ever coming.
                    let _ = futures::poll!(carried_out.as_mut());
                    std::future::pending().await
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicU64, Ordering};

    use futures::FutureExt;

    use super::*;

    #[derive(Clone, Default)]
    struct Counter(Arc<AtomicU64>);

    impl Service<Request<()>> for Counter {
        type Response = u64;
        type Error = Infallible;
        type Future = std::future::Ready<Result<u64, Infallible>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, _: Request<()>) -> Self::Future {
            std::future::ready(Ok(self.0.fetch_add(1, Ordering::Relaxed) + 1))
        }
    }

    fn send(gated: &mut Gated<Counter>, method: Method, path: &str) -> Option<u64> {
        let request = Request::builder().method(method).uri(path).body(()).unwrap();
        gated.call(request).now_or_never().map(Result::unwrap)
    }

    fn crash(side: CrashSide, whose: Option<Side>) -> (u64, Writes) {
        let (gate, counter) = (Gate::default(), Counter::default());
        let mut kubernetes = gate.before(Side::Kubernetes, counter.clone());
        let mut gated = gate.before(Side::Cloudflare, counter.clone());
        gate.arm(CrashPoint { write: 2, whose, side });
        assert_eq!(send(&mut gated, Method::POST, "/a"), Some(1));
        assert_eq!(send(&mut gated, Method::GET, "/a"), Some(2));
        assert_eq!(send(&mut gated, Method::POST, "/apis/x/leases/y"), Some(3));
        if whose.is_some() {
            assert_eq!(send(&mut kubernetes, Method::PATCH, "/apis/x"), Some(4));
        }
        assert_eq!(send(&mut gated, Method::POST, "/a"), None);
        assert_eq!(send(&mut gated, Method::GET, "/a"), None);
        (counter.0.load(Ordering::Relaxed), gate.writes())
    }

    #[test]
    fn the_armed_write_is_the_last_and_is_carried_out_or_not() {
        let writes = Writes { kubernetes: 0, cloudflare: 2 };
        assert_eq!(crash(CrashSide::Before, None), (3, writes));
        assert_eq!(crash(CrashSide::After, None), (4, writes));
        let writes = Writes { kubernetes: 1, ..writes };
        assert_eq!(crash(CrashSide::Before, Some(Side::Cloudflare)), (4, writes));
        assert_eq!(crash(CrashSide::After, Some(Side::Cloudflare)), (5, writes));
    }
}
