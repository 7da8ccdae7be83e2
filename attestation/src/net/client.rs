//! Asks other components over mutual TLS.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::identity::Peer;

/// The largest answer that is read: a measurement log of a worker that was up for very long.
pub const MAX_ANSWER: usize = 256 * 1024 * 1024;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    /// Nobody is there.
    #[error("`{address}` cannot be reached: {reason}")]
    Unreachable {
        /// Where.
        address: String,
        /// Why.
        reason: String,
    },
    /// Whoever is there is not who was meant.
    #[error("`{address}` does not prove to be `{name}`: {reason}")]
    NotTrusted {
        /// Where.
        address: String,
        /// Who was meant.
        name: String,
        /// Why.
        reason: String,
    },
    /// No answer came in time.
    #[error("`{address}` did not answer within {millis} ms")]
    TimedOut {
        /// Where.
        address: String,
        /// The limit.
        millis: u128,
    },
    /// The connection broke.
    #[error("the connection to `{address}` broke: {reason}")]
    Broken {
        /// Where.
        address: String,
        /// How.
        reason: String,
    },
    /// The other side refused.
    #[error("{message} ({status})")]
    Refused {
        /// The status code.
        status: u16,
        /// What it said.
        message: String,
        /// What follows for worker or pod, by its name, if it said so.
        effect: Option<String>,
        /// The code of the reason, if it said so.
        code: Option<String>,
        /// The refusal as a signed result, if it gave one.
        result: Option<String>,
    },
    /// The answer is not what it should be.
    #[error("`{address}` answered with something else than expected: {reason}")]
    Malformed {
        /// Where.
        address: String,
        /// What.
        reason: String,
    },
}

/// One other component.
#[derive(Clone)]
pub struct Client {
    config: Arc<ClientConfig>,
    address: String,
    name: String,
    timeout: Duration,
    attestation_key: Option<Vec<u8>>,
}

/// The text of an error answer.
#[derive(serde::Deserialize)]
struct Problem {
    detail: String,
    #[serde(default)]
    effect: Option<String>,
    #[serde(default)]
    code: Option<String>,
    #[serde(default)]
    result: Option<String>,
}

impl Client {
    /// For the component of some name at an address (`host:port`).
    pub fn new(config: Arc<ClientConfig>, address: &str, name: &str) -> Self {
        Client {
            config,
            address: address.to_owned(),
            name: name.to_owned(),
            timeout: Duration::from_secs(20),
            attestation_key: None,
        }
    }

    /// Insists that the other side's certificate is bound to an attestation key, given by its name.
    #[must_use]
    pub fn bound_to(mut self, attestation_key: Vec<u8>) -> Self {
        self.attestation_key = Some(attestation_key);
        self
    }

    /// With another limit for each request.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Asks with a JSON body and reads a JSON answer.
    pub async fn ask<Q: Serialize, A: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        question: &Q,
    ) -> Result<A, ClientError> {
        let malformed = |error: serde_json::Error| ClientError::Malformed {
            address: self.address.clone(),
            reason: error.to_string(),
        };
        let body = serde_json::to_vec(question).map_err(malformed)?;
        let answer = self
            .send(method, path, &[("content-type", "application/json")], body)
            .await?;
        serde_json::from_slice(&answer).map_err(malformed)
    }

    /// Gets a JSON answer.
    pub async fn get<A: DeserializeOwned>(&self, path: &str) -> Result<A, ClientError> {
        let answer = self.send(Method::GET, path, &[], Vec::new()).await?;
        serde_json::from_slice(&answer).map_err(|error| ClientError::Malformed {
            address: self.address.clone(),
            reason: error.to_string(),
        })
    }

    /// Sends bytes and returns the bytes of a successful answer.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Result<Bytes, ClientError> {
        let (status, bytes) = self.exchange(method, path, headers, body).await?;
        if status.is_success() {
            return Ok(bytes);
        }
        let problem = serde_json::from_slice(&bytes).unwrap_or_else(|_| Problem {
            detail: String::from_utf8_lossy(&bytes).chars().take(300).collect(),
            effect: None,
            code: None,
            result: None,
        });
        Err(ClientError::Refused {
            status: status.as_u16(),
            message: problem.detail,
            effect: problem.effect,
            code: problem.code,
            result: problem.result,
        })
    }

    /// Sends bytes and returns whatever the status and answer are.
    pub async fn exchange(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Result<(StatusCode, Bytes), ClientError> {
        let (status, bytes, _) = self.exchange_with_peer(method, path, headers, body).await?;
        Ok((status, bytes))
    }

    /// As [`exchange`](Self::exchange), and says who answered, by its certificate.
    pub async fn exchange_with_peer(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Result<(StatusCode, Bytes, Peer), ClientError> {
        let exchanged = self.exchange_unlimited(method, path, headers, body);
        match tokio::time::timeout(self.timeout, exchanged).await {
            Ok(answer) => answer,
            Err(_) => Err(ClientError::TimedOut {
                address: self.address.clone(),
                millis: self.timeout.as_millis(),
            }),
        }
    }

    async fn exchange_unlimited(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Result<(StatusCode, Bytes, Peer), ClientError> {
        let address = || self.address.clone();
        let unreachable = |error: std::io::Error| ClientError::Unreachable {
            address: address(),
            reason: error.to_string(),
        };
        let broken = |error: &dyn std::error::Error| ClientError::Broken {
            address: address(),
            reason: error.to_string(),
        };
        let name =
            ServerName::try_from(self.name.clone()).map_err(|error| ClientError::NotTrusted {
                address: address(),
                name: self.name.clone(),
                reason: error.to_string(),
            })?;
        let stream = TcpStream::connect(&self.address)
            .await
            .map_err(unreachable)?;
        stream.set_nodelay(true).map_err(unreachable)?;
        let stream = TlsConnector::from(self.config.clone())
            .connect(name, stream)
            .await
            .map_err(|error| ClientError::NotTrusted {
                address: address(),
                name: self.name.clone(),
                reason: error.to_string(),
            })?;
        let not_trusted = |reason: &str| ClientError::NotTrusted {
            address: address(),
            name: self.name.clone(),
            reason: reason.to_owned(),
        };
        let peer = stream
            .get_ref()
            .1
            .peer_certificates()
            .and_then(|chain| chain.first())
            .and_then(|certificate| Peer::from_certificate(certificate))
            .ok_or_else(|| not_trusted("its certificate cannot be read"))?;
        if let Some(expected) = &self.attestation_key
            && peer.attestation_key.as_ref() != Some(expected)
        {
            let reason = "its certificate is not bound to the registered attestation key";
            return Err(not_trusted(reason));
        }
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| broken(&error))?;
        let driver = tokio::spawn(connection);
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, &self.name);
        if !headers
            .iter()
            .any(|(name, _)| *name == CONTENT_TYPE.as_str())
            && !body.is_empty()
        {
            request = request.header(CONTENT_TYPE, "application/octet-stream");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request
            .body(Full::new(Bytes::from(body)))
            .map_err(|error| broken(&error))?;
        let answer = sender.send_request(request).await;
        let answer = answer.map_err(|error| broken(&error))?;
        let status = answer.status();
        let body = Limited::new(answer.into_body(), MAX_ANSWER).collect().await;
        driver.abort();
        let body = body.map_err(|error| ClientError::Broken {
            address: address(),
            reason: error.to_string(),
        })?;
        Ok((status, body.to_bytes(), peer))
    }
}
