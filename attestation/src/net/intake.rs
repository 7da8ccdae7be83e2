//! Takes long answers in pieces, as many at a time as there is room for.

use std::sync::Arc;

use axum::body::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Body;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What everybody may bring at any time.
const SMALL: usize = 1 << 20;

/// How many longer ones are in memory at once: each may be as long as the policy allows.
const LARGE: usize = 2;

/// Where answers wait for room. Short ones never do, so that a peer with a long one is in the way of other long ones
/// only.
#[derive(Clone, Debug)]
pub struct Intake {
    large: Arc<Semaphore>,
}

/// A body that was taken in; a long one keeps its room as long as this is kept.
#[derive(Debug)]
pub struct Taken {
    /// All of it.
    pub bytes: Vec<u8>,
    /// Its room, if it needs any.
    pub room: Option<OwnedSemaphorePermit>,
}

/// Why a body is not taken in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IntakeError {
    /// It is longer than it may be.
    #[error("it is longer than {0} bytes, and is not read on")]
    TooLong(usize),
    /// It broke off.
    #[error("it broke off: {0}")]
    Broken(String),
}

impl Default for Intake {
    fn default() -> Self {
        Intake {
            large: Arc::new(Semaphore::new(LARGE)),
        }
    }
}

impl Intake {
    /// Takes a body in, of at most so many bytes.
    pub async fn take<B>(&self, mut body: B, most: usize) -> Result<Taken, IntakeError>
    where
        B: Body<Data = Bytes> + Unpin,
        B::Error: std::fmt::Display,
    {
        let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
        if announced > most {
            return Err(IntakeError::TooLong(most));
        }
        let mut taken = Taken {
            bytes: Vec::new(),
            room: None,
        };
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| IntakeError::Broken(error.to_string()))?;
            let Ok(data) = frame.into_data() else {
                continue;
            };
            let length = taken.bytes.len().saturating_add(data.len());
            if length > most {
                return Err(IntakeError::TooLong(most));
            }
            if length > SMALL && taken.room.is_none() {
                // Closed by nobody.
                taken.room = self.large.clone().acquire_owned().await.ok();
                // What was announced is room enough: growing would take twice as much.
                let rest = announced.max(length) - taken.bytes.len();
                taken.bytes.reserve_exact(rest);
            }
            taken.bytes.extend_from_slice(&data);
        }
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::Full;
    use hyper::body::Frame;
    use std::convert::Infallible;
    use std::time::Duration;

    fn body(length: usize) -> Full<Bytes> {
        Full::new(Bytes::from(vec![7; length]))
    }

    #[tokio::test]
    async fn what_is_too_long_is_not_taken() {
        let intake = Intake::default();
        let taken = intake.take(body(100), 100).await.unwrap();
        assert_eq!((taken.bytes.len(), taken.room.is_some()), (100, false));
        let refused = intake.take(body(101), 100).await.unwrap_err();
        assert_eq!(refused, IntakeError::TooLong(100));
        // Not announced, and without an end.
        let mut given = 0;
        let pieces = endless(move || {
            given += 1;
            assert!(given < 10, "it is read on");
            Bytes::from(vec![0; 50])
        });
        let refused = intake.take(pieces, 100).await.unwrap_err();
        assert_eq!(refused, IntakeError::TooLong(100));
    }

    /// A body that never ends.
    fn endless(
        piece: impl FnMut() -> Bytes + Unpin,
    ) -> impl Body<Data = Bytes, Error = Infallible> + Unpin {
        struct Endless<F>(F);
        impl<F: FnMut() -> Bytes + Unpin> Body for Endless<F> {
            type Data = Bytes;
            type Error = Infallible;

            fn poll_frame(
                mut self: std::pin::Pin<&mut Self>,
                _: &mut std::task::Context<'_>,
            ) -> std::task::Poll<Option<Result<Frame<Bytes>, Infallible>>> {
                std::task::Poll::Ready(Some(Ok(Frame::data((self.0)()))))
            }
        }
        Endless(piece)
    }

    #[tokio::test(start_paused = true)]
    async fn long_ones_wait_for_each_other_and_short_ones_for_nobody() {
        let intake = Intake::default();
        let most = 8 * SMALL;
        let mut held = Vec::new();
        for _ in 0..LARGE {
            held.push(intake.take(body(2 * SMALL), most).await.unwrap());
        }
        let wait = Duration::from_secs(60);
        let waits = tokio::time::timeout(wait, intake.take(body(2 * SMALL), most)).await;
        assert!(waits.is_err(), "there is no room");
        assert_eq!(
            intake.take(body(SMALL), most).await.unwrap().bytes.len(),
            SMALL
        );
        held.pop();
        let next = tokio::time::timeout(wait, intake.take(body(2 * SMALL), most)).await;
        assert_eq!(next.unwrap().unwrap().bytes.len(), 2 * SMALL);
    }
}
