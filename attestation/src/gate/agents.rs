//! Agents over mutual TLS: those that listen are asked, those that do not come and ask.

use std::sync::Arc;
use std::time::Duration;

use hyper::Method;
use rustls::ClientConfig;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::mailbox::{Mailbox, PUSH, success};
use crate::agent::paths::{ACKNOWLEDGE, CERTIFICATE, CHALLENGE, EVIDENCE, IDENTITY};
use crate::net::{Client, ClientError};
use crate::protocol::attestation::EVIDENCE_MILLIS;
use crate::protocol::port::{AgentPlace, Agents, Fault, FaultKind};
use crate::protocol::registration::STEP_MILLIS;
use crate::protocol::{Acknowledgement, Challenge, EvidenceRequest, Identity, Proof};

/// How often a busy agent is asked again.
const BUSY_ATTEMPTS: u32 = 4;
/// How long to wait before asking a busy agent again; doubled each time.
const BUSY_WAIT: Duration = Duration::from_millis(100);

const STEP: Duration = Duration::from_millis(STEP_MILLIS.unsigned_abs());
const EVIDENCE_TIME: Duration = Duration::from_millis(EVIDENCE_MILLIS.unsigned_abs());

/// All agents, as a component reaches them.
#[derive(Clone)]
pub struct GateAgents {
    /// The component's own certificate, for those that listen.
    pub tls: Arc<ClientConfig>,
    /// Where tasks wait for those that do not.
    pub mailbox: Mailbox,
}

impl GateAgents {
    /// Asks an agent; if its certificate must be bound to an attestation key, only one that is.
    async fn ask(
        &self,
        agent: AgentPlace<'_>,
        (method, path): (Method, &str),
        body: &impl Serialize,
        bound_to: Option<&[u8]>,
        limit: Duration,
    ) -> Result<Vec<u8>, Fault> {
        if agent.address == PUSH {
            let body = serde_json::to_value(body).map_err(Fault::unavailable)?;
            let asked = self.mailbox.ask(agent.name, path, body, bound_to, limit);
            return success(agent.name, asked.await?);
        }
        let mut client =
            Client::new(self.tls.clone(), agent.address, agent.name).with_timeout(limit);
        if let Some(key) = bound_to {
            client = client.bound_to(key.to_vec());
        }
        let body = match method {
            Method::GET => Vec::new(),
            _ => serde_json::to_vec(body).map_err(Fault::unavailable)?,
        };
        let headers = [("content-type", "application/json")];
        match client.send(method, path, &headers, body).await {
            Ok(bytes) => Ok(bytes.to_vec()),
            Err(error @ ClientError::Refused { status, .. }) if !matches!(status, 429 | 503) => {
                Err(Fault::new(FaultKind::Refused, error))
            }
            Err(error) => Err(Fault::unavailable(error)),
        }
    }

    /// Who an agent says it is, with a certificate that is bound to an attestation key.
    pub async fn bound_identity(
        &self,
        agent: AgentPlace<'_>,
        attestation_key: &[u8],
    ) -> Result<Identity, Fault> {
        let ask = (Method::GET, IDENTITY);
        let bound = Some(attestation_key);
        read(&self.ask(agent, ask, &Value::Null, bound, STEP).await?)
    }

    /// Gives an agent a new certificate.
    pub async fn certificate(
        &self,
        agent: AgentPlace<'_>,
        attestation_key: &[u8],
        certificate: &str,
    ) -> Result<(), Fault> {
        let body = serde_json::json!({ "certificate": certificate });
        let ask = (Method::POST, CERTIFICATE);
        let given = self.ask(agent, ask, &body, Some(attestation_key), STEP);
        given.await.map(|_| ())
    }
}

fn read<T: DeserializeOwned>(answer: &[u8]) -> Result<T, Fault> {
    serde_json::from_slice(answer)
        .map_err(|error| Fault::new(FaultKind::Refused, format!("the agent's answer: {error}")))
}

impl Agents for GateAgents {
    async fn identity(&self, agent: AgentPlace<'_>) -> Result<Identity, Fault> {
        let ask = (Method::GET, IDENTITY);
        read(&self.ask(agent, ask, &Value::Null, None, STEP).await?)
    }

    async fn challenge(
        &self,
        agent: AgentPlace<'_>,
        challenge: &Challenge,
    ) -> Result<Proof, Fault> {
        let ask = (Method::POST, CHALLENGE);
        read(&self.ask(agent, ask, challenge, None, STEP).await?)
    }

    async fn acknowledge(
        &self,
        agent: AgentPlace<'_>,
        acknowledgement: &Acknowledgement,
    ) -> Result<(), Fault> {
        let ask = (Method::POST, ACKNOWLEDGE);
        let sent = self.ask(agent, ask, acknowledgement, None, STEP).await;
        sent.map(|_| ())
    }

    /// One that is busy is asked again a few times, while its answer still counts.
    async fn evidence(
        &self,
        agent: AgentPlace<'_>,
        attestation_key: &[u8],
        request: &EvidenceRequest,
    ) -> Result<Vec<u8>, Fault> {
        let bound = Some(attestation_key);
        let repeated = async {
            let (mut attempt, mut wait) = (1, BUSY_WAIT);
            loop {
                let ask = (Method::POST, EVIDENCE);
                match self.ask(agent, ask, request, bound, EVIDENCE_TIME).await {
                    Err(fault)
                        if fault.kind == FaultKind::Unavailable && attempt < BUSY_ATTEMPTS =>
                    {
                        tokio::time::sleep(wait).await;
                        wait = wait.saturating_mul(2);
                        attempt += 1;
                    }
                    other => return other,
                }
            }
        };
        let answered = tokio::time::timeout(EVIDENCE_TIME, repeated).await;
        answered.unwrap_or_else(|_| {
            Err(Fault::unavailable(format!(
                "`{}` did not answer within {} ms",
                agent.address,
                EVIDENCE_TIME.as_millis()
            )))
        })
    }
}
