//! Every endpoint of the gate, role by role.

mod handlers;
mod push;
mod reference;
mod registrar;
mod verifier;

use handlers::{pod_handler, worker_handler};
use push::push;
use reference::reference;
use registrar::registrar;
use verifier::verifier;

use std::path::PathBuf;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use serde_json::{Map, Value};

use super::endpoint::{Endpoint, endpoint};
use super::mailbox::Mailbox;
use super::metrics::Metrics;
use super::openapi::{Body, json};
use super::pods::PodHandler;
use super::problem::Problem;
use super::registrar::LocalRegistrar;
use super::verify::Verifier;
use super::workers::WorkerHandler;
use crate::clock::Clock;
use crate::evidence::jws::TokenKey;
use crate::ima::PodUid;
use crate::net::{Intake, Role};
use crate::reference::ReferenceStore;

/// The components that run in this process.
pub struct Gate {
    /// The registrar.
    pub registrar: Option<Arc<LocalRegistrar>>,
    /// The reference values.
    pub references: Option<Arc<ReferenceStore>>,
    /// The folder of public keys whose signed reference values are taken.
    pub reference_keys: PathBuf,
    /// The key that signs reference values for other places.
    pub reference_signer: Option<TokenKey>,
    /// The verifier.
    pub verifier: Option<Arc<Verifier>>,
    /// The worker handler.
    pub workers: Option<Arc<WorkerHandler>>,
    /// The pod handler.
    pub pods: Option<PodHandler>,
    /// What agents that come by themselves are to do.
    pub mailbox: Mailbox,
    /// Where long answers of theirs wait for room.
    pub intake: Intake,
    /// What is counted.
    pub metrics: Arc<Metrics>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The OpenAPI document.
    pub document: Value,
}

type Shared = State<Arc<Gate>>;
type Answer<T> = Result<Json<T>, Problem>;
type Done = Result<StatusCode, Problem>;
type Table = Vec<Endpoint<Arc<Gate>>>;

fn running<T>(component: Option<&T>) -> Result<&T, Problem> {
    component.ok_or_else(|| Problem::not_found("this component runs elsewhere"))
}

fn registration(text: &str) -> Result<uuid::Uuid, Problem> {
    text.parse()
        .map_err(|_| Problem::bad(format!("`{text}` is not a UUID")))
}

fn uid(text: &str) -> Result<PodUid, Problem> {
    PodUid::parse(text.as_bytes())
        .ok_or_else(|| Problem::bad(format!("`{text}` is not the UID of a pod")))
}

const OPERATOR: &[Role] = &[Role::Operator];
const HANDLER: &[Role] = &[Role::WorkerHandler];
const READ_WORKERS: &[Role] = &[Role::Operator, Role::WorkerHandler, Role::Verifier];
const READ_TENANTS: &[Role] = &[Role::Operator, Role::PodHandler];
const READ_VALUES: &[Role] = &[Role::Operator, Role::Verifier, Role::WorkerHandler];
const ASK_VERIFIER: &[Role] = &[Role::Operator, Role::Controller, Role::PodHandler];
const CONTROL: &[Role] = &[Role::Operator, Role::Controller];
const OBSERVE: &[Role] = &[Role::Operator, Role::Controller, Role::Observer];
const READ_TRUST: &[Role] = &[
    Role::Operator,
    Role::Controller,
    Role::WorkerHandler,
    Role::Verifier,
];
const AGENT: &[Role] = &[Role::Agent];
const TENANT: &[Role] = &[Role::Tenant];

/// The endpoints of a process with some components.
pub fn endpoints(roles: &[Role]) -> Table {
    let tables: [(Role, fn() -> Table); 5] = [
        (Role::Registrar, registrar),
        (Role::Reference, reference),
        (Role::Verifier, verifier),
        (Role::WorkerHandler, worker_handler),
        (Role::PodHandler, pod_handler),
    ];
    let here = tables.iter().filter(|(role, _)| roles.contains(role));
    let mut endpoints = common();
    endpoints.extend(here.flat_map(|(_, table)| table()));
    // Whoever asks agents is asked by those that cannot be reached.
    if roles.contains(&Role::Verifier) || roles.contains(&Role::WorkerHandler) {
        endpoints.extend(push());
    }
    endpoints
}

/// What is for everybody, with a certificate or without: health, and the keys by which results are verified.
pub fn open_endpoints(roles: &[Role]) -> Table {
    let open = ["/healthz", "/readyz", "/v1/verifier/keys"];
    let mut endpoints = endpoints(roles);
    endpoints.retain(|endpoint| open.contains(&endpoint.path) && endpoint.roles.is_empty());
    endpoints
}

/// What every process has: health, metrics, and this document.
fn common() -> Table {
    vec![
        endpoint!("GET" "/healthz", &[], "Whether the process is alive.",
            Body::None => Body::Text("ok"), get(|| async { "ok\n" })),
        endpoint!("GET" "/readyz", &[], "Whether its databases answer.",
            Body::None => Body::Text("ready"), get(ready)),
        endpoint!("GET" "/metrics", OBSERVE, "Counters and timings for Prometheus.",
            Body::None => Body::Text("metrics"), get(metrics)),
        endpoint!("GET" "/openapi.json", &[], "This document.",
            Body::None => json::<Map<String, Value>>("an OpenAPI 3.1 document"), get(document)),
    ]
}

async fn ready(State(gate): Shared) -> Result<&'static str, Problem> {
    if let Some(verifier) = &gate.verifier {
        verifier.store().version()?;
        if let Some(why) = verifier.sharing().and_then(|sharing| sharing.unready()) {
            return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, why));
        }
    }
    if let Some(registrar) = &gate.registrar {
        registrar.inner().manufacturers()?;
    }
    if let Some(references) = &gate.references {
        references.generation()?;
    }
    Ok("ready\n")
}

async fn metrics(State(gate): Shared) -> Result<Response, Problem> {
    let mut gauges = Vec::new();
    if let Some(verifier) = &gate.verifier {
        for (name, trust, number) in verifier.counts()? {
            gauges.push((name, trust.name(), number));
        }
    }
    let text = gate.metrics.render(&gauges);
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}

async fn document(State(gate): Shared) -> Json<Value> {
    Json(gate.document.clone())
}
