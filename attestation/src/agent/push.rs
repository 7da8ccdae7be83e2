//! An agent behind NAT: it comes to the gate, asks what there is to do, and brings the answer.
//!
//! Nothing else differs. Who asks is known by the certificate of the gate, as it is when the gate comes to the
//! agent, and is allowed what it would be allowed then.

use std::sync::Arc;
use std::time::Duration;

use hyper::{Method, StatusCode};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::paths::{ACKNOWLEDGE, CERTIFICATE, CHALLENGE, EVIDENCE, IDENTITY, SUCCESSION};
use super::service::{Agent, Refusal};
use crate::net::{Client, Peer};
use crate::protocol::Succession;

/// How many seconds the gate waits for something to do.
const WAIT: u64 = 25;
/// How long a request may take.
const ANSWER: Duration = Duration::from_secs(60);
/// How long to wait after a failure; doubled each time.
const PAUSE: Duration = Duration::from_secs(1);
/// How long to wait at most: a registration waits for half a minute.
const LONGEST: Duration = Duration::from_secs(4);

/// A gate to come to, or one of its components: `NAME=HOST:PORT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushTarget {
    /// The name in its certificate.
    pub name: String,
    /// Where it listens.
    pub address: String,
}

impl std::str::FromStr for PushTarget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, address) = text.split_once('=').unwrap_or(("gate", text));
        let (host, port) = address.rsplit_once(':').unwrap_or((address, ""));
        if name.is_empty() || host.is_empty() || port.parse::<u16>().is_err() {
            return Err("expected HOST:PORT, or NAME=HOST:PORT".to_owned());
        }
        Ok(PushTarget {
            name: name.to_owned(),
            address: address.to_owned(),
        })
    }
}

/// What the gate wants done.
#[derive(Deserialize)]
struct Task {
    id: Uuid,
    path: String,
    body: Value,
}

/// Comes to a gate again and again, until dropped.
pub async fn push_forever(agent: Arc<Agent>, target: PushTarget) {
    let mut pause = PAUSE;
    loop {
        match push_once(&agent, &target).await {
            Ok(()) => pause = PAUSE,
            Err(reason) => {
                tracing::warn!(
                    gate = target.address,
                    reason,
                    "nothing was asked or answered"
                );
                tokio::time::sleep(pause).await;
                pause = pause.saturating_mul(2).min(LONGEST);
            }
        }
    }
}

/// Asks once, and does what there is to do.
async fn push_once(agent: &Arc<Agent>, target: &PushTarget) -> Result<(), String> {
    let words = |error: &dyn std::fmt::Display| error.to_string();
    // The certificate may have changed since the last time.
    let tls = agent
        .credentials()
        .client()
        .map_err(|error| words(&error))?;
    let client = Client::new(tls, &target.address, &target.name).with_timeout(ANSWER);
    let path = format!("/v1/push/next?wait={WAIT}");
    let asked = client.exchange_with_peer(Method::GET, &path, &[], Vec::new());
    let (status, bytes, peer) = asked.await.map_err(|error| words(&error))?;
    if status != StatusCode::OK {
        let text: String = String::from_utf8_lossy(&bytes).chars().take(300).collect();
        return Err(format!("the gate answered with {status}: {text}"));
    }
    let task: Option<Task> = serde_json::from_slice(&bytes).map_err(|error| words(&error))?;
    let Some(Task { id, path, body }) = task else {
        return Ok(());
    };
    let doing = agent.clone();
    // The TPM is slow and its commands block: apart from the connections.
    let done = tokio::task::spawn_blocking(move || perform(&doing, &peer, &path, body)).await;
    let (status, body) = match done.map_err(|error| words(&error))? {
        Ok(body) => (200, body),
        Err(refusal) => {
            let (status, detail) = (refusal.status(), refusal.to_string());
            tracing::warn!(status, detail, "a task was refused");
            let problem = serde_json::json!({ "detail": detail });
            (status, problem.to_string().into_bytes())
        }
    };
    let path = format!("/v1/push/answers/{id}?status={status}");
    let headers = [("content-type", "application/octet-stream")];
    let answered = client.send(Method::POST, &path, &headers, body).await;
    answered.map(|_| ()).map_err(|error| words(&error))
}

fn perform(agent: &Agent, peer: &Peer, path: &str, body: Value) -> Result<Vec<u8>, Refusal> {
    match path {
        IDENTITY => json(&agent.identify(peer)?),
        CHALLENGE => json(&agent.challenge(peer, &read(body)?)?),
        ACKNOWLEDGE => {
            agent.acknowledge(peer, &read(body)?)?;
            tracing::info!("the worker is registered");
            Ok(Vec::new())
        }
        CERTIFICATE => {
            let NewCertificate { certificate } = read(body)?;
            agent.rotate(peer, certificate)?;
            tracing::info!("the certificate was rotated");
            Ok(Vec::new())
        }
        SUCCESSION => {
            let successions: Vec<Succession> = read(body)?;
            agent.succeed(peer, &successions)?;
            Ok(Vec::new())
        }
        EVIDENCE => agent.attest(peer, &read(body)?),
        other => Err(Refusal::Bad(format!("there is nothing at `{other}`"))),
    }
}

/// A new certificate of an agent.
#[derive(Deserialize)]
struct NewCertificate {
    certificate: String,
}

fn read<T: DeserializeOwned>(body: Value) -> Result<T, Refusal> {
    serde_json::from_value(body).map_err(|error| Refusal::Bad(format!("the request: {error}")))
}

fn json<T: Serialize>(value: &T) -> Result<Vec<u8>, Refusal> {
    serde_json::to_vec(value).map_err(|error| Refusal::Internal(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_is_named_by_its_certificate_and_its_place() {
        let target: PushTarget = "gate.example:30000".parse().unwrap();
        assert_eq!(target.name, "gate");
        let target: PushTarget = "verifier=[::1]:30003".parse().unwrap();
        assert_eq!(target.name, "verifier");
        assert_eq!(target.address, "[::1]:30003");
        for wrong in ["", "host", "host:", "host:x", "=host:1", "name=:1"] {
            assert!(wrong.parse::<PushTarget>().is_err(), "{wrong}");
        }
    }
}
