//! Serves HTTP over mutual TLS; each request knows who sent it, and nobody can take the server from others.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use hyper::body::Incoming;
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt as _;

use super::identity::Peer;
use super::limits::{Limits, Places};
use super::pace::{PacedBody, PacedStream};
use super::tls::SharedServerConfig;

/// How long open connections may finish after the server was told to stop.
const DRAIN: Duration = Duration::from_secs(3);
/// How long a peer is listened to only to be told that there is no place for it.
const REFUSAL: Duration = Duration::from_secs(1);
/// How many peers are told so at once; the others see their connection closed.
const REFUSALS: usize = 32;
/// The most that is read of the head of a request.
const MAX_HEAD: usize = 64 * 1024;

/// Serves within the limits of a gate until `stop` is ready; then lets open requests finish for a moment.
pub async fn serve(
    listener: TcpListener,
    tls: SharedServerConfig,
    router: Router,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    serve_within(Limits::gate(), listener, tls, router, stop).await
}

/// Serves within limits until `stop` is ready; then lets open requests finish for a moment.
pub async fn serve_within(
    limits: Limits,
    listener: TcpListener,
    tls: SharedServerConfig,
    router: Router,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    serve_as(false, limits, listener, tls, router, stop).await
}

/// Serves whoever connects, with a certificate or without, until `stop` is ready. The router must have nothing in
/// it that is not for everybody.
pub async fn serve_everybody(
    listener: TcpListener,
    tls: SharedServerConfig,
    router: Router,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    serve_everybody_within(Limits::everybody(), listener, tls, router, stop).await
}

/// The same within limits.
pub async fn serve_everybody_within(
    limits: Limits,
    listener: TcpListener,
    tls: SharedServerConfig,
    router: Router,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    serve_as(true, limits, listener, tls, router, stop).await
}

async fn serve_as(
    anonymous: bool,
    limits: Limits,
    listener: TcpListener,
    tls: SharedServerConfig,
    router: Router,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let server = Server {
        anonymous,
        places: Places::new(limits),
        refusals: Arc::new(Semaphore::new(REFUSALS)),
        tls,
        router,
    };
    accept(listener, stop, move |stream, from| {
        connection(server.clone(), stream, from)
    })
    .await
}

async fn accept<C: Future<Output = ()> + Send + 'static>(
    listener: TcpListener,
    stop: impl Future<Output = ()>,
    mut connection: impl FnMut(TcpStream, SocketAddr) -> C,
) -> io::Result<()> {
    let mut open = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            () = &mut stop => break,
            accepted = listener.accept() => accepted,
            Some(_) = open.join_next(), if !open.is_empty() => continue,
        };
        match accepted {
            Ok((stream, from)) => {
                open.spawn(connection(stream, from));
            }
            Err(error) => {
                // Out of descriptors, or a connection reset before it was accepted: both pass.
                tracing::warn!(%error, "no connection could be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
    drop(listener);
    let drained = tokio::time::timeout(DRAIN, async { while open.join_next().await.is_some() {} });
    if drained.await.is_err() {
        tracing::warn!("connections were closed before they finished");
    }
    Ok(())
}

#[derive(Clone)]
struct Server {
    /// Whether clients without a certificate are served.
    anonymous: bool,
    places: Places,
    refusals: Arc<Semaphore>,
    tls: SharedServerConfig,
    router: Router,
}

async fn connection(server: Server, stream: TcpStream, from: SocketAddr) {
    // Without this, small answers wait for the other side's acknowledgement.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection was lost");
        return;
    }
    let limits = server.places.limits();
    let anew = Arc::new(AtomicBool::new(false));
    let stream = PacedStream::new(stream, limits, anew.clone());
    let (shaking, given_up) = server.places.shake_hands(from.ip());
    let acceptor = TlsAcceptor::from(server.tls.current());
    let shaken = tokio::select! {
        shaken = tokio::time::timeout(limits.handshake, acceptor.accept(stream)) => shaken,
        // Never told, only dropped.
        _ = given_up => {
            tracing::debug!(%from, "a TLS handshake made room for others");
            return;
        }
    };
    drop(shaking);
    let stream = match shaken {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => {
            tracing::info!(%from, %error, "a TLS handshake failed");
            return;
        }
        Err(_) => {
            tracing::info!(%from, "a TLS handshake took too long");
            return;
        }
    };
    let certificates = stream.get_ref().1.peer_certificates();
    let peer = match certificates.and_then(|chain| chain.first()) {
        Some(certificate) => Peer::from_certificate(certificate),
        // Limits are for each address.
        None => server.anonymous.then(|| Peer {
            key: from.ip().to_string(),
            ..Peer::default()
        }),
    };
    let Some(peer) = peer else {
        tracing::warn!(%from, "a client's certificate could not be read");
        return;
    };
    let place = match server.places.open(&peer, from.ip()) {
        Ok(place) => place,
        Err(why) => {
            tracing::debug!(%from, peer = peer.label(), %why, "a connection was refused");
            let Ok(_told) = server.refusals.try_acquire() else {
                return;
            };
            let refused = speak(stream, limits, anew, |_| async move {
                closing(StatusCode::SERVICE_UNAVAILABLE, &why.to_string())
            });
            // Whoever does not listen in time is not told.
            let _ = tokio::time::timeout(REFUSAL, refused).await;
            return;
        }
    };
    let this = server.clone();
    speak(stream, limits, anew, move |request| {
        respond(this.clone(), peer.clone(), request)
    })
    .await;
    drop(place);
}

/// Speaks HTTP until the other side is done or too slow.
async fn speak<S, F>(
    stream: S,
    limits: &Limits,
    anew: Arc<AtomicBool>,
    respond: impl Fn(Request<Incoming>) -> F,
) where
    S: AsyncRead + AsyncWrite + Unpin,
    F: Future<Output = Response>,
{
    let service = service_fn(move |request: Request<Incoming>| {
        anew.store(true, Ordering::Relaxed);
        let response = respond(request);
        async { Ok::<_, Infallible>(response.await) }
    });
    let served = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        .max_buf_size(MAX_HEAD)
        .serve_connection(TokioIo::new(stream), service)
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, "a connection ended early");
    }
}

async fn respond(server: Server, peer: Peer, mut request: Request<Incoming>) -> Response {
    let Server { places, router, .. } = server;
    if !places.may_ask(&peer) {
        tracing::debug!(peer = peer.label(), "a peer asked too often");
        let words = "too many requests with this certificate; ask again later";
        return problem(StatusCode::TOO_MANY_REQUESTS, words);
    }
    request.extensions_mut().insert(peer);
    let late = Arc::new(AtomicBool::new(false));
    let paced = |body| Body::new(PacedBody::new(body, places.limits(), late.clone()));
    let response = answer(router, request.map(paced)).await;
    if late.load(Ordering::Relaxed) {
        let words = "the body of the request came too slowly";
        return closing(StatusCode::REQUEST_TIMEOUT, words);
    }
    response
}

async fn answer(router: Router, request: Request<Body>) -> Response {
    match router.oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

/// A problem (RFC 9457) that the server itself has with a request.
fn problem(status: StatusCode, detail: &str) -> Response {
    let body = serde_json::json!({
        "type": "about:blank",
        "status": status.as_u16(),
        "title": status.canonical_reason().unwrap_or("error"),
        "detail": detail,
        "effect": null,
        "code": null,
    });
    let mut response = (status, body.to_string()).into_response();
    let kind = HeaderValue::from_static("application/problem+json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// A problem after which the connection is closed.
fn closing(status: StatusCode, detail: &str) -> Response {
    let mut response = problem(status, detail);
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(CONNECTION, close);
    response
}
