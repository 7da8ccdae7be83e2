//! Asks other components over mutual TLS.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;

use super::identity::Peer;
use super::intake::{Intake, IntakeError, Taken};

/// The largest answer that is read unless a client [says otherwise](Client::up_to): all reference values.
pub const MAX_ANSWER: usize = 256 * 1024 * 1024;

/// How much of the words of another component is passed on: a refused pod may list all that is wrong with it.
const LONGEST_DETAIL: usize = 8_000;

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
    #[error("`{address}` gave an unexpected answer: {reason}")]
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
    most: usize,
}

/// An answer whose body is still to be read.
struct Opened {
    status: StatusCode,
    body: Incoming,
    peer: Peer,
    driver: AbortOnDrop,
}

/// A task that ends with whoever needs it.
struct AbortOnDrop(JoinHandle<Result<(), hyper::Error>>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
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
            most: MAX_ANSWER,
        }
    }

    /// Insists that the other side's certificate is bound to an attestation key, given by its name.
    #[must_use]
    pub fn bound_to(mut self, attestation_key: Vec<u8>) -> Self {
        self.attestation_key = Some(attestation_key);
        self
    }

    /// Reads no longer answers than this.
    #[must_use]
    pub fn up_to(mut self, most: usize) -> Self {
        self.most = most;
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
        Err(refused(status, &bytes))
    }

    /// Sends bytes and takes the bytes of a successful answer in, in pieces and when there is room for them.
    pub async fn take(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
        intake: &Intake,
    ) -> Result<Taken, ClientError> {
        let taken = async {
            let opened = self.open(method, path, headers, body).await?;
            let taken = intake.take(opened.body, self.most).await;
            drop(opened.driver);
            let taken = taken.map_err(|error| match error {
                IntakeError::TooLong(_) => ClientError::Malformed {
                    address: self.address.clone(),
                    reason: error.to_string(),
                },
                IntakeError::Broken(reason) => self.broken(&reason),
            })?;
            if opened.status.is_success() {
                return Ok(taken);
            }
            Err(refused(opened.status, &taken.bytes))
        };
        self.in_time(taken).await
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
        let exchanged = async {
            let opened = self.open(method, path, headers, body).await?;
            let body = Limited::new(opened.body, self.most).collect().await;
            drop(opened.driver);
            let body = body.map_err(|error| self.broken(&error))?;
            Ok((opened.status, body.to_bytes(), opened.peer))
        };
        self.in_time(exchanged).await
    }

    async fn in_time<T>(
        &self,
        work: impl Future<Output = Result<T, ClientError>>,
    ) -> Result<T, ClientError> {
        match tokio::time::timeout(self.timeout, work).await {
            Ok(answer) => answer,
            Err(_) => Err(ClientError::TimedOut {
                address: self.address.clone(),
                millis: self.timeout.as_millis(),
            }),
        }
    }

    fn broken(&self, error: &dyn std::fmt::Display) -> ClientError {
        ClientError::Broken {
            address: self.address.clone(),
            reason: error.to_string(),
        }
    }

    /// Sends a request, and reads the head of its answer.
    async fn open(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Result<Opened, ClientError> {
        let address = || self.address.clone();
        let unreachable = |error: std::io::Error| ClientError::Unreachable {
            address: address(),
            reason: error.to_string(),
        };
        let broken = |error: &dyn std::error::Error| self.broken(&error);
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
        let driver = AbortOnDrop(tokio::spawn(connection));
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
        Ok(Opened {
            status: answer.status(),
            body: answer.into_body(),
            peer,
            driver,
        })
    }
}

fn refused(status: StatusCode, bytes: &[u8]) -> ClientError {
    let problem = serde_json::from_slice(bytes).unwrap_or_else(|_| Problem {
        detail: String::from_utf8_lossy(bytes).chars().take(300).collect(),
        effect: None,
        code: None,
        result: None,
    });
    ClientError::Refused {
        status: status.as_u16(),
        // It is shown and logged, and whoever wrote it may be anybody.
        message: problem.detail.chars().take(LONGEST_DETAIL).collect(),
        effect: problem.effect,
        code: problem.code,
        result: problem.result,
    }
}
