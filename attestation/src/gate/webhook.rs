//! Tells others of changes of trust: a POST to a URL for every change, in order, at least once.
//!
//! How far each URL was told is stored with the changes, so that a restart loses nothing.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde::Serialize;
use sha2::Sha256;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use zeroize::Zeroizing;

use super::verify::Verifier;
use crate::digest::encode_hex;
use crate::verifier::{Change, Changes, StoreError};

/// How long one delivery may take.
const DELIVERY: Duration = Duration::from_secs(10);
/// How long to wait before the first repetition; doubled each time.
const PAUSE: Duration = Duration::from_millis(500);
/// How long to wait at most.
const LONGEST: Duration = Duration::from_secs(60);
/// How long to wait for a change before looking again.
const WAIT: Duration = Duration::from_secs(30);

/// Why a webhook cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WebhookError {
    /// The URL.
    #[error("`{url}` is not a URL for a webhook: {reason}")]
    Url {
        /// Which.
        url: String,
        /// Why.
        reason: &'static str,
    },
    /// The certificates.
    #[error("the certificates for webhooks cannot be used: {0}")]
    Roots(String),
}

/// What webhooks are to be told, and how.
#[derive(Clone, Debug, Default)]
pub struct WebhookConfig {
    /// The URLs: `https://...`, or `http://...` on this machine.
    pub urls: Vec<String>,
    /// The certificates that servers of `https` URLs are verified with, in PEM.
    pub roots: Option<String>,
    /// A secret that deliveries are signed with (HMAC-SHA-256).
    pub secret: Option<Zeroizing<Vec<u8>>>,
}

/// Somebody who is told.
pub struct Webhook {
    url: String,
    host: String,
    port: u16,
    target: String,
    tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
    secret: Option<Zeroizing<Vec<u8>>>,
}

/// What is delivered.
#[derive(Debug, Serialize)]
struct Delivery<'a> {
    /// The version of the last change of this delivery.
    version: u64,
    /// Whether earlier changes were forgotten before they could be delivered: list workers and pods again.
    missed: bool,
    /// The changes, oldest first.
    changes: &'a [Change],
}

impl WebhookConfig {
    /// Reads the URLs.
    pub fn open(&self) -> Result<Vec<Webhook>, WebhookError> {
        self.urls.iter().map(|url| self.webhook(url)).collect()
    }

    fn webhook(&self, url: &str) -> Result<Webhook, WebhookError> {
        let wrong = |reason| WebhookError::Url {
            url: url.to_owned(),
            reason,
        };
        let uri: Uri = url.parse().map_err(|_| wrong("it cannot be read"))?;
        let host = uri.host().ok_or_else(|| wrong("it does not name a host"))?;
        let host = host
            .trim_start_matches('[')
            .trim_end_matches(']')
            .to_owned();
        let tls = match uri.scheme_str() {
            Some("https") => {
                let name = ServerName::try_from(host.clone());
                Some((
                    self.tls()?,
                    name.map_err(|_| wrong("its host cannot be verified"))?,
                ))
            }
            Some("http") if is_here(&host) => None,
            Some("http") => return Err(wrong("plain HTTP is for this machine only, use https")),
            _ => return Err(wrong("it begins with neither https:// nor http://")),
        };
        let port = if tls.is_some() { 443 } else { 80 };
        Ok(Webhook {
            url: url.to_owned(),
            port: uri.port_u16().unwrap_or(port),
            target: uri
                .path_and_query()
                .map_or_else(|| "/".to_owned(), ToString::to_string),
            host,
            tls,
            secret: self.secret.clone(),
        })
    }

    fn tls(&self) -> Result<Arc<ClientConfig>, WebhookError> {
        let wrong = |error: &dyn std::fmt::Display| WebhookError::Roots(error.to_string());
        let mut roots = RootCertStore::empty();
        let pem = self.roots.as_deref().unwrap_or_default();
        for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
            let certificate = certificate.map_err(|error| wrong(&error))?;
            roots.add(certificate).map_err(|error| wrong(&error))?;
        }
        if roots.is_empty() {
            return Err(wrong(&"give them with --webhook-ca"));
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| wrong(&error))?;
        Ok(Arc::new(
            config.with_root_certificates(roots).with_no_client_auth(),
        ))
    }
}

fn is_here(host: &str) -> bool {
    let address = host.parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// Tells a webhook of every change, until dropped.
pub async fn tell_forever(verifier: Arc<Verifier>, webhook: Webhook) {
    let mut pause = PAUSE;
    let about = format!("webhook/{}", webhook.url);
    loop {
        // Of several gates one tells: what was told is in their store, so that the next goes on there.
        if !verifier.is_first(&about) {
            tokio::time::sleep(PAUSE).await;
            continue;
        }
        match tell_once(&verifier, &webhook).await {
            Ok(()) => pause = PAUSE,
            Err(reason) => {
                tracing::warn!(url = webhook.url, reason, "a webhook was not told");
                tokio::time::sleep(pause).await;
                pause = pause.saturating_mul(2).min(LONGEST);
            }
        }
    }
}

async fn tell_once(verifier: &Verifier, webhook: &Webhook) -> Result<(), String> {
    let words = |error: StoreError| error.to_string();
    let since = verifier.store().told(&webhook.url).map_err(words)?;
    let (found, missed) = match verifier.changes(since, WAIT).await {
        Ok(found) => (found, false),
        // That something was missed is told before anything else: until it is, the gap stays, also over a restart.
        Err(problem) if problem.status == axum::http::StatusCode::GONE => {
            let version = verifier.store().version().map_err(words)?;
            let changes = Vec::new();
            (Changes { version, changes }, true)
        }
        Err(problem) => return Err(problem.detail),
    };
    if found.changes.is_empty() && !missed {
        return Ok(());
    }
    let delivery = Delivery {
        version: found.version,
        missed,
        changes: &found.changes,
    };
    let body = serde_json::to_vec(&delivery).map_err(|error| error.to_string())?;
    match tokio::time::timeout(DELIVERY, webhook.deliver(body)).await {
        Ok(delivered) => delivered?,
        Err(_) => return Err("it did not answer in time".to_owned()),
    }
    let mut store = verifier.store();
    store.tell(&webhook.url, found.version).map_err(words)
}

impl Webhook {
    async fn deliver(&self, body: Vec<u8>) -> Result<(), String> {
        let words = |error: &dyn std::fmt::Display| error.to_string();
        let stream = TcpStream::connect((self.host.as_str(), self.port))
            .await
            .map_err(|error| words(&error))?;
        match &self.tls {
            None => self.post(stream, body).await,
            Some((config, name)) => {
                let connector = TlsConnector::from(config.clone());
                let stream = connector.connect(name.clone(), stream).await;
                self.post(stream.map_err(|error| words(&error))?, body)
                    .await
            }
        }
    }

    async fn post<S>(&self, stream: S, body: Vec<u8>) -> Result<(), String>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let words = |error: &dyn std::fmt::Display| error.to_string();
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| words(&error))?;
        let driver = tokio::spawn(connection);
        let mut request = Request::post(&self.target)
            .header(HOST, format!("{}:{}", self.host, self.port))
            .header(CONTENT_TYPE, "application/json");
        if let Some(secret) = &self.secret {
            request = request.header("locus-signature", signature(secret, &body));
        }
        let request = request
            .body(Full::new(Bytes::from(body)))
            .map_err(|error| words(&error))?;
        let answer = sender.send_request(request).await;
        driver.abort();
        let status = answer.map_err(|error| words(&error))?.status();
        if status.is_success() {
            return Ok(());
        }
        Err(format!("it answered with {status}"))
    }
}

/// The signature of a delivery, as the receiver computes it.
fn signature(secret: &[u8], body: &[u8]) -> String {
    // An HMAC key may have any length.
    let Ok(mut mac) = <Hmac<Sha256>>::new_from_slice(secret) else {
        return String::new();
    };
    mac.update(body);
    format!("sha256={}", encode_hex(&mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_urls_that_can_be_verified_or_are_here_are_taken() {
        let config = |url: &str| WebhookConfig {
            urls: vec![url.to_owned()],
            ..WebhookConfig::default()
        };
        for good in [
            "http://127.0.0.1:8080/hook?x=1",
            "http://localhost/",
            "http://[::1]:1",
        ] {
            assert!(config(good).open().is_ok(), "{good}");
        }
        for (bad, reason) in [
            ("http://example.org/", "this machine only"),
            ("http://10.0.0.1/", "this machine only"),
            ("ftp://127.0.0.1/", "neither https"),
            ("127.0.0.1:80", "neither https"),
            ("/hook", "does not name a host"),
            ("https://example.org/", "--webhook-ca"),
        ] {
            let error = config(bad).open().err().unwrap().to_string();
            assert!(error.contains(reason), "{bad}: {error}");
        }
    }

    /// RFC 4231, test case 2.
    #[test]
    fn deliveries_are_signed() {
        assert_eq!(
            signature(b"Jefe", b"what do ya want for nothing?"),
            "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }
}
