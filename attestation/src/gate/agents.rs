//! Agents over mutual TLS: those that listen are asked, those that do not come and ask.

use std::sync::Arc;
use std::time::Duration;

use hyper::Method;
use rustls::ClientConfig;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::mailbox::{Mailbox, PUSH, success};
use crate::agent::paths::{ACKNOWLEDGE, CERTIFICATE, CHALLENGE, EVIDENCE, IDENTITY, SUCCESSION};
use crate::net::{Client, ClientError, Intake, Taken};
use crate::protocol::attestation::EVIDENCE_MILLIS;
use crate::protocol::port::{AgentPlace, Agents, Fault, FaultKind};
use crate::protocol::registration::STEP_MILLIS;
use crate::protocol::{
    Acknowledgement, Challenge, EvidenceRequest, Identity, Proof, Received, Succession,
};

/// How often a busy agent is asked again.
const BUSY_ATTEMPTS: u32 = 4;
/// How long to wait before asking a busy agent again; doubled each time.
const BUSY_WAIT: Duration = Duration::from_millis(100);

const STEP: Duration = Duration::from_millis(STEP_MILLIS.unsigned_abs());
const EVIDENCE_TIME: Duration = Duration::from_millis(EVIDENCE_MILLIS.unsigned_abs());

/// No other answer of an agent than evidence is longer: a key with its certificates.
pub(super) const SMALL_ANSWER: usize = 256 * 1024;

/// All agents, as a component reaches them.
#[derive(Clone)]
pub struct GateAgents {
    /// The component's own certificate, for those that listen.
    pub tls: Arc<ClientConfig>,
    /// Where tasks wait for those that do not.
    pub mailbox: Mailbox,
    /// Which keys the verifier had, for agents that know an earlier one.
    pub successions: Arc<[Succession]>,
    /// Where long evidence waits for room.
    pub intake: Intake,
}

/// What an agent is asked.
struct Question<'a, B> {
    method: Method,
    path: &'static str,
    body: &'a B,
    /// The attestation key that its certificate must be bound to.
    bound_to: Option<&'a [u8]>,
    /// How long it may take.
    time: Duration,
    /// How long the answer may be.
    most: usize,
}

impl<'a> Question<'a, Value> {
    fn identity(bound_to: Option<&'a [u8]>) -> Self {
        Question {
            method: Method::GET,
            bound_to,
            ..Question::small(IDENTITY, &Value::Null)
        }
    }
}

impl<'a, B> Question<'a, B> {
    fn small(path: &'static str, body: &'a B) -> Self {
        Question {
            method: Method::POST,
            path,
            body,
            bound_to: None,
            time: STEP,
            most: SMALL_ANSWER,
        }
    }
}

impl GateAgents {
    /// Asks an agent.
    async fn ask(
        &self,
        agent: AgentPlace<'_>,
        question: Question<'_, impl Serialize>,
    ) -> Result<Received, Fault> {
        let Question { path, body, .. } = question;
        if agent.address == PUSH {
            let body = serde_json::to_value(body).map_err(Fault::unavailable)?;
            let (bound_to, limits) = (question.bound_to, (question.time, question.most));
            let asked = self.mailbox.ask(agent.name, path, body, bound_to, limits);
            return success(agent.name, asked.await?);
        }
        let mut client = Client::new(self.tls.clone(), agent.address, agent.name)
            .with_timeout(question.time)
            .up_to(question.most);
        if let Some(key) = question.bound_to {
            client = client.bound_to(key.to_vec());
        }
        let body = match question.method {
            Method::GET => Vec::new(),
            _ => serde_json::to_vec(body).map_err(Fault::unavailable)?,
        };
        let headers = [("content-type", "application/json")];
        let taken = client.take(question.method, path, &headers, body, &self.intake);
        match taken.await {
            Ok(Taken { bytes, room }) => Ok(match room {
                Some(room) => Received::in_room(bytes, room),
                None => bytes.into(),
            }),
            Err(error @ ClientError::Refused { status, .. }) if !matches!(status, 429 | 503) => {
                Err(Fault::new(FaultKind::Refused, error))
            }
            // One that says too much would say it again.
            Err(error @ ClientError::Malformed { .. }) => {
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
        let question = Question::identity(Some(attestation_key));
        read(&self.ask(agent, question).await?)
    }

    /// Gives an agent a new certificate.
    pub async fn certificate(
        &self,
        agent: AgentPlace<'_>,
        attestation_key: &[u8],
        certificate: &str,
    ) -> Result<(), Fault> {
        let body = serde_json::json!({ "certificate": certificate });
        let question = Question {
            bound_to: Some(attestation_key),
            ..Question::small(CERTIFICATE, &body)
        };
        self.ask(agent, question).await.map(|_| ())
    }
}

impl GateAgents {
    /// Tells an agent which key follows the one that it knows; true if it listened.
    async fn succeed(&self, agent: AgentPlace<'_>, bound_to: Option<&[u8]>) -> bool {
        if self.successions.is_empty() {
            return false;
        }
        let known = self.successions.to_vec();
        let question = Question {
            bound_to,
            ..Question::small(SUCCESSION, &known)
        };
        self.ask(agent, question).await.is_ok()
    }
}

fn read<T: DeserializeOwned>(answer: &[u8]) -> Result<T, Fault> {
    serde_json::from_slice(answer)
        .map_err(|error| Fault::new(FaultKind::Refused, format!("the agent's answer: {error}")))
}

impl Agents for GateAgents {
    async fn identity(&self, agent: AgentPlace<'_>) -> Result<Identity, Fault> {
        read(&self.ask(agent, Question::identity(None)).await?)
    }

    async fn challenge(
        &self,
        agent: AgentPlace<'_>,
        challenge: &Challenge,
    ) -> Result<Proof, Fault> {
        let question = Question::small(CHALLENGE, challenge);
        read(&self.ask(agent, question).await?)
    }

    async fn acknowledge(
        &self,
        agent: AgentPlace<'_>,
        acknowledgement: &Acknowledgement,
    ) -> Result<(), Fault> {
        // One that was registered before may know an earlier verifier; another one does not listen.
        self.succeed(agent, None).await;
        let question = Question::small(ACKNOWLEDGE, acknowledgement);
        self.ask(agent, question).await.map(|_| ())
    }

    /// One that is busy is asked again a few times, while its answer still counts.
    async fn evidence(
        &self,
        agent: AgentPlace<'_>,
        attestation_key: &[u8],
        request: &EvidenceRequest,
        most: u64,
    ) -> Result<Received, Fault> {
        let repeated = async {
            let (mut attempt, mut wait, mut told) = (1, BUSY_WAIT, false);
            loop {
                let question = Question {
                    bound_to: Some(attestation_key),
                    time: EVIDENCE_TIME,
                    most: usize::try_from(most).unwrap_or(usize::MAX),
                    ..Question::small(EVIDENCE, request)
                };
                match self.ask(agent, question).await {
                    Err(fault)
                        if fault.kind == FaultKind::Unavailable && attempt < BUSY_ATTEMPTS =>
                    {
                        tokio::time::sleep(wait).await;
                        wait = wait.saturating_mul(2);
                        attempt += 1;
                    }
                    // It may know the key that the verifier had before.
                    Err(fault) if fault.kind == FaultKind::Refused && !told => {
                        told = true;
                        if !self.succeed(agent, Some(attestation_key)).await {
                            return Err(fault);
                        }
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
