//! Bodies and connections that must keep moving: who sends or takes a byte now and then is not waited for.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use super::limits::Limits;

/// A moment that moves on with every byte.
#[derive(Clone, Copy)]
struct Pace {
    stall: Duration,
    bytes_per_second: u32,
}

impl Pace {
    fn of(limits: &Limits) -> Self {
        Pace {
            stall: limits.stall,
            bytes_per_second: limits.bytes_per_second.max(1),
        }
    }

    /// Until when the next byte must have moved: on average fast enough, and never stalled.
    fn deadline(self, begun: Instant, moved: u64) -> Instant {
        let nanos = u128::from(moved) * 1_000_000_000 / u128::from(self.bytes_per_second);
        let earned = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        let average = begun + self.stall + earned.min(Duration::from_secs(86_400));
        average.min(Instant::now() + self.stall)
    }
}

/// The body came too slowly.
#[derive(Debug, thiserror::Error)]
#[error("the body of the request came too slowly")]
struct TooSlow;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The body of a request, with its deadline.
pub(super) struct PacedBody {
    inner: Incoming,
    pace: Pace,
    begun: Option<Instant>,
    received: u64,
    sleep: Option<Pin<Box<Sleep>>>,
    late: Arc<AtomicBool>,
}

impl PacedBody {
    /// `late` is set when the body does not come.
    pub(super) fn new(inner: Incoming, limits: &Limits, late: Arc<AtomicBool>) -> Self {
        PacedBody {
            inner,
            pace: Pace::of(limits),
            begun: None,
            received: 0,
            sleep: None,
            late,
        }
    }
}

impl Body for PacedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        match Pin::new(&mut this.inner).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                let length = frame.data_ref().map_or(0, Bytes::len);
                this.received = this.received.saturating_add(length as u64);
                this.sleep = None;
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(other) => Poll::Ready(other.map(|frame| frame.map_err(Into::into))),
            Poll::Pending => {
                let begun = *this.begun.get_or_insert_with(Instant::now);
                let (pace, received) = (this.pace, this.received);
                let sleep = this.sleep.get_or_insert_with(|| {
                    Box::pin(tokio::time::sleep_until(pace.deadline(begun, received)))
                });
                ready!(sleep.as_mut().poll(cx));
                this.late.store(true, Ordering::Relaxed);
                Poll::Ready(Some(Err(TooSlow.into())))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// A connection whose other side must take what it is sent.
pub(super) struct PacedStream<S> {
    inner: S,
    pace: Pace,
    /// Since when the other side has something to take, and how much it took.
    owing: Option<(Instant, u64)>,
    sleep: Option<Pin<Box<Sleep>>>,
    anew: Arc<AtomicBool>,
}

impl<S> PacedStream<S> {
    /// `anew` is set when another answer begins, which has a time of its own. What the other side sends
    /// does not matter: it could always send something.
    pub(super) fn new(inner: S, limits: &Limits, anew: Arc<AtomicBool>) -> Self {
        PacedStream {
            inner,
            pace: Pace::of(limits),
            owing: None,
            sleep: None,
            anew,
        }
    }

    /// Waits for the other side, but not beyond the deadline.
    fn wait<T>(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        let (begun, taken) = *self.owing.get_or_insert_with(|| (Instant::now(), 0));
        let pace = self.pace;
        let sleep = self
            .sleep
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(pace.deadline(begun, taken))));
        ready!(sleep.as_mut().poll(cx));
        let words = "the other side takes its answer too slowly";
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, words)))
    }

    fn took(&mut self, bytes: usize) {
        self.sleep = None;
        if let Some((_, taken)) = &mut self.owing {
            *taken = taken.saturating_add(bytes as u64);
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for PacedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for PacedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.anew.swap(false, Ordering::Relaxed) {
            self.owing = None;
        }
        match Pin::new(&mut self.inner).poll_write(cx, bytes) {
            Poll::Pending => self.wait(cx),
            Poll::Ready(written) => {
                self.took(written.as_ref().copied().unwrap_or(0));
                Poll::Ready(written)
            }
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.inner).poll_flush(cx) {
            Poll::Pending => self.wait(cx),
            done @ Poll::Ready(_) => {
                self.sleep = None;
                done
            }
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.inner).poll_shutdown(cx) {
            Poll::Pending => self.wait(cx),
            done @ Poll::Ready(_) => done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    fn limits(bytes_per_second: u32) -> Limits {
        Limits {
            stall: Duration::from_secs(5),
            bytes_per_second,
            ..Limits::gate()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_takes_nothing_is_not_waited_for() {
        let (near, _far) = tokio::io::duplex(16);
        let mut near = PacedStream::new(near, &limits(1000), Arc::default());
        let error = near.write_all(&[0; 64]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test(start_paused = true)]
    async fn who_takes_a_byte_now_and_then_is_not_waited_for() {
        let (near, mut far) = tokio::io::duplex(16);
        let mut near = PacedStream::new(near, &limits(1000), Arc::default());
        let reader = tokio::spawn(async move {
            let mut taken = 0;
            while far.read_u8().await.is_ok() {
                taken += 1;
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            taken
        });
        let error = near.write_all(&[0; 4096]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(near);
        assert!(reader.await.unwrap() < 32);
    }

    #[tokio::test(start_paused = true)]
    async fn who_takes_what_it_is_sent_has_the_time_it_needs() {
        let (near, mut far) = tokio::io::duplex(64);
        let mut near = PacedStream::new(near, &limits(10), Arc::default());
        let reader = tokio::spawn(async move {
            let mut all = [0; 4096];
            for part in all.chunks_mut(64) {
                far.read_exact(part).await.unwrap();
                tokio::time::sleep(Duration::from_secs(3)).await;
            }
        });
        near.write_all(&[0; 4096]).await.unwrap();
        near.flush().await.unwrap();
        drop(near);
        reader.await.unwrap();
    }
}
