//! The agent's endpoints.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Extension, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::AgentError;
use super::service::{Agent, Refusal};
use crate::http::Problem;
use crate::http::endpoint::{Endpoint, endpoint, router};
use crate::http::openapi::{Body, json, openapi};
use crate::net::tls::SharedServerConfig;
use crate::net::{Limits, Peer, Role, serve_within};
use crate::protocol::{Acknowledgement, Challenge, EvidenceRequest, Identity, Proof, Succession};

/// No request to an agent is longer.
const MAX_REQUEST: usize = 64 * 1024;

/// How often it is looked whether the certificate still counts.
const RENEW: Duration = Duration::from_secs(60);

/// The media type of evidence: a collection of conceptual messages in CBOR.
const EVIDENCE_TYPE: &str = "application/cmw+cbor";

pub use super::paths::{
    ACKNOWLEDGE, CERTIFICATE, CHALLENGE, EVIDENCE, HEALTH, IDENTITY, OPENAPI, SUCCESSION,
};

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status()).unwrap_or(StatusCode::BAD_REQUEST);
        let detail = self.to_string();
        tracing::warn!(status = status.as_u16(), detail, "a request was refused");
        Problem::new(status, detail).into_response()
    }
}

#[derive(Clone)]
struct Shared {
    agent: Arc<Agent>,
    tls: SharedServerConfig,
}

/// A new certificate of an agent.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewCertificate {
    /// The certificate, for the key the agent has already, in PEM.
    certificate: String,
}

fn parse<T: DeserializeOwned>(body: &Bytes) -> Result<T, Refusal> {
    serde_json::from_slice(body).map_err(|error| Refusal::Bad(format!("the request: {error}")))
}

/// The TPM is slow and its commands block: they run apart from the connections.
async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(_) => Err(Refusal::Internal("the request was not finished".to_owned())),
    }
}

async fn identity(
    State(shared): State<Shared>,
    Extension(peer): Extension<Peer>,
) -> Result<Response, Refusal> {
    let identity = apart(move || shared.agent.identify(&peer)).await?;
    Ok(Json(identity).into_response())
}

async fn challenge(
    State(shared): State<Shared>,
    Extension(peer): Extension<Peer>,
    body: Bytes,
) -> Result<Response, Refusal> {
    let challenge = parse(&body)?;
    let proof = apart(move || shared.agent.challenge(&peer, &challenge)).await?;
    Ok(Json(proof).into_response())
}

async fn acknowledge(
    State(shared): State<Shared>,
    Extension(peer): Extension<Peer>,
    body: Bytes,
) -> Result<Response, Refusal> {
    let message = parse(&body)?;
    let agent = shared.agent.clone();
    apart(move || agent.acknowledge(&peer, &message)).await?;
    shared.renew()?;
    tracing::info!("the worker is registered");
    Ok(StatusCode::NO_CONTENT.into_response())
}

async fn certificate(
    State(shared): State<Shared>,
    Extension(peer): Extension<Peer>,
    body: Bytes,
) -> Result<Response, Refusal> {
    let new: NewCertificate = parse(&body)?;
    let agent = shared.agent.clone();
    apart(move || agent.rotate(&peer, new.certificate)).await?;
    shared.renew()?;
    tracing::info!("the certificate was rotated");
    Ok(StatusCode::NO_CONTENT.into_response())
}

async fn succession(
    State(shared): State<Shared>,
    Extension(peer): Extension<Peer>,
    body: Bytes,
) -> Result<Response, Refusal> {
    let successions: Vec<Succession> = parse(&body)?;
    apart(move || shared.agent.succeed(&peer, &successions)).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

async fn evidence(
    State(shared): State<Shared>,
    Extension(peer): Extension<Peer>,
    body: Bytes,
) -> Result<Response, Refusal> {
    let request = parse(&body)?;
    let evidence = apart(move || shared.agent.attest(&peer, &request)).await?;
    Ok(([(header::CONTENT_TYPE, EVIDENCE_TYPE)], evidence).into_response())
}

impl Shared {
    /// Serves the next connections with the certificate that the agent has now.
    fn renew(&self) -> Result<(), Refusal> {
        let config = self.agent.credentials().server();
        let config = config.map_err(|error| Refusal::Internal(error.to_string()))?;
        self.tls.replace(config);
        Ok(())
    }
}

/// A running agent; it stops when told to, or when this is dropped.
pub struct RunningAgent {
    /// Where it listens.
    pub address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<std::io::Result<()>>,
    agent: Weak<Agent>,
}

impl RunningAgent {
    /// Stops it and waits until it has.
    pub async fn stop(mut self) {
        drop(self.stop.take());
        if let Err(error) = (&mut self.task).await {
            tracing::debug!(%error, "the agent's server did not end cleanly");
        }
    }

    /// Stops it at once, in the middle of whatever it does, as a kill would; returns when nothing is left
    /// of it: its address is free, and so is its TPM.
    pub async fn kill(mut self) {
        self.task.abort();
        // Aborted on purpose: how it ended is known.
        let _ = (&mut self.task).await;
        // A command that the TPM is working on cannot be taken back.
        while self.agent.strong_count() > 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Waits until it stops by itself.
    pub async fn wait(mut self) -> std::io::Result<()> {
        let done = (&mut self.task).await;
        done.unwrap_or_else(|error| Err(std::io::Error::other(error)))
    }
}

/// Every endpoint of an agent. Who may use it is checked once more where it is done.
fn endpoints() -> Vec<Endpoint<Shared>> {
    const HANDLER: &[Role] = &[Role::WorkerHandler];
    const VERIFIER: &[Role] = &[Role::Verifier];
    const ASKING: &[Role] = &[Role::Verifier, Role::WorkerHandler];
    vec![
        endpoint!("GET" IDENTITY, HANDLER, "Who the worker is: keys, certificates, request for its own.",
            Body::None => json::<Identity>("the identity"), get(identity)),
        endpoint!("POST" CHALLENGE, HANDLER, "Proves that its keys are in one TPM; quotes the boot.",
            json::<Challenge>("the challenge") => json::<Proof>("the proof"), post(challenge)),
        endpoint!("POST" ACKNOWLEDGE, HANDLER, "Ends a registration; the agent learns its verifier.",
            json::<Acknowledgement>("the acknowledgement") => Body::None, post(acknowledge)),
        endpoint!("POST" CERTIFICATE, HANDLER, "Takes a new certificate for the agent's key.",
            json::<NewCertificate>("certificate (PEM)") => Body::None, post(certificate)),
        endpoint!("POST" SUCCESSION, ASKING, "Follows its verifier to another key, which the one that it knows signed.",
            json::<Vec<Succession>>("which key follows which") => Body::None, post(succession)),
        endpoint!("POST" EVIDENCE, VERIFIER, "Evidence, for the verifier it was registered with alone.",
            json::<EvidenceRequest>("the request with its nonce")
                => Body::Bytes(EVIDENCE_TYPE, "claims, quote and log"),
            post(evidence)),
        endpoint!("GET" HEALTH, &[], "Whether the agent is alive.",
            Body::None => Body::Text("ok"), get(|| async { "ok\n" })),
        endpoint!("GET" OPENAPI, &[], "This document.",
            Body::None => json::<Map<String, Value>>("an OpenAPI 3.1 document"), get(|| async { Json(document()) })),
    ]
}

/// The OpenAPI document of an agent.
pub fn document() -> Value {
    openapi("Locus agent", &endpoints())
}

/// Serves with another certificate as soon as the one that it serves with has run out.
async fn renew_forever(agent: Weak<Agent>, tls: SharedServerConfig) -> Infallible {
    let mut shown = None;
    loop {
        if let Some(agent) = agent.upgrade() {
            let credentials = agent.credentials();
            if shown.as_ref() != Some(&credentials.certificate)
                && let Ok(config) = credentials.server()
            {
                tls.replace(config);
                shown = Some(credentials.certificate);
            }
        }
        tokio::time::sleep(RENEW).await;
    }
}

/// Starts to serve an agent.
pub async fn start(agent: Agent, listener: TcpListener) -> Result<RunningAgent, AgentError> {
    serve_shared(Arc::new(agent), listener).await
}

/// As [`start`], for an agent that is used elsewhere as well.
pub async fn serve_shared(
    agent: Arc<Agent>,
    listener: TcpListener,
) -> Result<RunningAgent, AgentError> {
    let running = Arc::downgrade(&agent);
    let tls = SharedServerConfig::new(agent.credentials().server()?);
    let shared = Shared {
        agent,
        tls: tls.clone(),
    };
    let router = router(endpoints())
        .layer(DefaultBodyLimit::max(MAX_REQUEST))
        .with_state(shared);
    let address = listener.local_addr().map_err(AgentError::Listen)?;
    let (stop, stopped) = oneshot::channel::<()>();
    let renewing = renew_forever(running.clone(), tls.clone());
    let serving = serve_within(Limits::agent(), listener, tls, router, async move {
        // Told to stop, or nobody is left to tell.
        let _ = stopped.await;
    });
    let task = tokio::spawn(async move {
        tokio::select! {
            served = serving => served,
            never = renewing => match never {},
        }
    });
    Ok(RunningAgent {
        address,
        stop: Some(stop),
        task,
        agent: running,
    })
}
