//! Serves HTTP over mutual TLS; each request knows who sent it.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt as _;

use super::identity::Peer;
use super::tls::SharedServerConfig;

/// How long a handshake or the head of a request may take.
const HEAD: Duration = Duration::from_secs(5);
/// How many connections may be open at once.
const CONNECTIONS: usize = 512;
/// How long open connections may finish after the server was told to stop.
const DRAIN: Duration = Duration::from_secs(3);

/// Serves until `stop` is ready; then lets open requests finish for a moment.
pub async fn serve(
    listener: TcpListener,
    tls: SharedServerConfig,
    router: Router,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let slots = Arc::new(Semaphore::new(CONNECTIONS));
    let mut open = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            () = &mut stop => break,
            accepted = listener.accept() => accepted,
            Some(_) = open.join_next(), if !open.is_empty() => continue,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of descriptors, or a connection reset before it was accepted: both pass.
                tracing::warn!(%error, "no connection could be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let Ok(slot) = slots.clone().try_acquire_owned() else {
            tracing::warn!("too many connections; one was closed");
            continue;
        };
        let (tls, router) = (tls.clone(), router.clone());
        open.spawn(async move {
            connection(stream, tls, router).await;
            drop(slot);
        });
    }
    drop(listener);
    let drained = tokio::time::timeout(DRAIN, async { while open.join_next().await.is_some() {} });
    if drained.await.is_err() {
        tracing::warn!("connections were closed before they finished");
    }
    Ok(())
}

async fn connection(stream: TcpStream, tls: SharedServerConfig, router: Router) {
    // Without this, small answers wait for the other side's acknowledgement.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection was lost");
        return;
    }
    let acceptor = TlsAcceptor::from(tls.current());
    let stream = match tokio::time::timeout(HEAD, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => {
            tracing::warn!(%error, "a TLS handshake failed");
            return;
        }
        Err(_) => {
            tracing::warn!("a TLS handshake took too long");
            return;
        }
    };
    let peer = stream
        .get_ref()
        .1
        .peer_certificates()
        .and_then(|chain| chain.first())
        .and_then(|certificate| Peer::from_certificate(certificate));
    let Some(peer) = peer else {
        tracing::warn!("a client's certificate could not be read");
        return;
    };
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer.clone());
        router.clone().oneshot(request.map(Body::new))
    });
    let served = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(64 * 1024)
        .serve_connection(TokioIo::new(stream), service)
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, "a connection ended early");
    }
}
