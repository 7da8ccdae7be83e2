//! A connection to the API server on which requests and answers get lost.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use axum::http::{Request, Response};
use kube::Client;
use kube::client::{Body, ClientBuilder};
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use tower::{BoxError, Layer, Service};

/// Loses some of what is sent through it; which, follows from a seed.
#[derive(Clone)]
pub(crate) struct Lossy {
    state: Arc<Mutex<u64>>,
    /// How many of a hundred requests never arrive.
    pub(crate) requests: Arc<AtomicU64>,
    /// How many of a hundred answers never arrive, of those that say that the server did what it was asked for.
    pub(crate) answers: Arc<AtomicU64>,
    /// How many were lost, of both.
    pub(crate) lost: Arc<AtomicUsize>,
}

impl Lossy {
    /// One that loses so many of a hundred.
    pub(crate) fn new(seed: u64, requests: u64, answers: u64) -> Self {
        Lossy {
            state: Arc::new(Mutex::new(seed)),
            requests: Arc::new(AtomicU64::new(requests)),
            answers: Arc::new(AtomicU64::new(answers)),
            lost: Arc::default(),
        }
    }

    /// A client that loses.
    pub(crate) async fn client(&self, kubeconfig: &std::path::Path) -> Client {
        let read = Kubeconfig::read_from(kubeconfig).unwrap();
        let options = KubeConfigOptions::default();
        let config = Config::from_custom_kubeconfig(read, &options)
            .await
            .unwrap();
        let builder = ClientBuilder::try_from(config).unwrap();
        builder.with_layer(self).build()
    }

    /// Whether something that gets lost so often gets lost now.
    fn loses(&self, often: &AtomicU64) -> bool {
        let mut state = self.state.lock().unwrap();
        // A step of Knuth's linear congruence; its high bits are good enough for dice.
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) % 100 < often.load(Ordering::SeqCst)
    }

    /// Something was lost.
    fn lose(&self, what: &str) -> BoxError {
        self.lost.fetch_add(1, Ordering::SeqCst);
        let message = format!("the {what} was lost");
        io::Error::new(io::ErrorKind::ConnectionReset, message).into()
    }
}

impl<S> Layer<S> for Lossy {
    type Service = Losing<S>;

    fn layer(&self, inner: S) -> Losing<S> {
        Losing {
            inner,
            lossy: self.clone(),
        }
    }
}

/// A service of which requests and answers get lost.
pub(crate) struct Losing<S> {
    inner: S,
    lossy: Lossy,
}

impl<S, B> Service<Request<Body>> for Losing<S>
where
    S: Service<Request<Body>, Response = Response<B>>,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
    B: Send + 'static,
{
    type Response = Response<B>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<B>, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        if self.lossy.loses(&self.lossy.requests) {
            let lost = self.lossy.lose("request");
            return Box::pin(async { Err(lost) });
        }
        let loses = self.lossy.loses(&self.lossy.answers);
        let lossy = self.lossy.clone();
        let asked = self.inner.call(request);
        Box::pin(async move {
            let answer = asked.await.map_err(Into::into)?;
            match loses && answer.status().is_success() {
                true => Err(lossy.lose("answer")),
                false => Ok(answer),
            }
        })
    }
}
