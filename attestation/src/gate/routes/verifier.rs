//! The verifier's endpoints.

use std::time::Duration;

use axum::Json;
use axum::body::Body as Written;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{delete, get, post};
use serde::Deserialize;

use super::super::endpoint::{Endpoint, endpoint};
use super::super::listing::PodPages;
use super::super::openapi::{Body, json};
use super::super::problem::{JsonBody, Problem, QueryOf};
use super::super::result::{Asked, BINDING, RefusedRegistration};
use super::super::standing::{PodList, WorkerList, WorkerReport};
use super::{
    ASK_VERIFIER, Answer, CONTROL, Done, HANDLER, OPERATOR, READ_TRUST, Shared, Table, running, uid,
};
use crate::evidence::JwkSet;
use crate::protocol::Admission;
use crate::verifier::{
    Changes, EvidenceRecord, KeptEvidence, Pod, PodStatus, StartRequest, StartVerdict,
};

/// How many seconds a request for changes waits at most.
const MAX_WAIT: u64 = 30;

/// The verifier.
pub(super) fn verifier() -> Table {
    vec![
        endpoint!("GET" "/page", CONTROL, "Workers and pods by trust, and what happened last, to look at.",
            Body::None => Body::Text("a page"), get(page)),
        endpoint!("POST" "/v1/verifier/workers", HANDLER, "Takes in a registered worker.",
            json::<Admission>("id, name, address and registration") => Body::None, post(admit)),
        endpoint!("GET" "/v1/verifier/workers/{name}", READ_TRUST,
            "A worker and its pods, with the trust in them.",
            Body::None => json::<WorkerReport>("worker and pods"), get(report)),
        endpoint!("GET" "/v1/verifier/workers", READ_TRUST,
            "All workers, with the trust in them.",
            Body::None => json::<WorkerList>("workers, and the version to watch from"), get(list_workers)),
        endpoint!("GET" "/v1/verifier/agents-key", HANDLER,
            "The digest of the public key that the verifier shows to agents.",
            Body::None => json::<String>("the digest"), get(agents_key)),
        endpoint!("DELETE" "/v1/verifier/workers/{name}", HANDLER, "Forgets a worker and its pods.",
            Body::None => Body::None, delete(forget)),
        endpoint!("DELETE" "/v1/verifier/pods/{uid}", CONTROL, "Forgets a pod that is gone.",
            Body::None => Body::None, delete(remove_pod)),
        endpoint!("POST" "/v1/verifier/workers/{name}/attest", CONTROL,
            "Attests a worker with all its pods, with one quote.",
            Body::None => json::<WorkerReport>("worker and pods"), post(attest_worker))
            .with_query(BINDING),
        endpoint!("POST" "/v1/verifier/pods", CONTROL, "Declares a pod with all its containers.",
            json::<Pod>("the pod") => json::<PodStatus>("the pod and the trust in it"), post(declare)),
        endpoint!("GET" "/v1/verifier/pods", CONTROL,
            "All pods, or those of a worker, with the trust in them.",
            Body::None => json::<PodList>("pods, and the version to watch from"), get(list_pods))
            .with_query(&[("worker", "The name of the worker whose pods are listed.")]),
        endpoint!("GET" "/v1/verifier/changes", CONTROL,
            "What changed after a version, oldest first. A version that is too old is answered with 410: \
             list again, and go on from the version of the list.",
            Body::None => json::<Changes>("changes, and the version to go on from"), get(changes))
            .with_query(&[
                ("since", "The version; of a list, or of the last answer."),
                ("wait", "How many seconds to wait for a change, 30 at most; 0 if absent."),
            ]),
        endpoint!("GET" "/v1/verifier/evidence", OPERATOR,
            "The evidence that is kept for audit, newest first, without the evidence itself.",
            Body::None => json::<Vec<EvidenceRecord>>("a list of records"), get(list_evidence))
            .with_query(&[
                ("worker", "The name of the worker whose evidence is listed."),
                ("before", "Only records with smaller numbers: the next part of a long list."),
            ]),
        endpoint!("GET" "/v1/verifier/evidence/{id}", OPERATOR, "Evidence that is kept for audit, whole.",
            Body::None => json::<KeptEvidence>("request and evidence"), get(evidence)),
        endpoint!("POST" "/v1/verifier/start", CONTROL,
            "Whether a pod may be started: its worker is trusted, and its images are known.",
            json::<StartRequest>("the worker and the images") => json::<StartVerdict>("the verdict"),
            post(start)),
        endpoint!("GET" "/v1/verifier/pods/{uid}", ASK_VERIFIER, "A pod and the trust in it.",
            Body::None => json::<PodStatus>("the pod and the trust in it"), get(pod))
            .with_query(BINDING),
        endpoint!("POST" "/v1/verifier/pods/{uid}/attest", ASK_VERIFIER, "Attests a pod.",
            Body::None => json::<PodStatus>("the pod and the trust in it"), post(attest_pod))
            .with_query(BINDING),
        endpoint!("POST" "/v1/verifier/refusals", HANDLER,
            "Signs the refusal of a registration.",
            json::<RefusedRegistration>("name, code and reason") => json::<String>("the result, a token"),
            post(refusal))
            .with_query(BINDING),
        endpoint!("GET" "/v1/verifier/keys", &[],
            "The public keys by which results are verified (RFC 7517).",
            Body::None => json::<JwkSet>("a JWK Set"), get(keys)),
    ]
}

async fn page(State(gate): Shared) -> Result<Response, Problem> {
    super::super::page::page(running(gate.verifier.as_ref())?)
}

async fn admit(State(gate): Shared, JsonBody(new): JsonBody<Admission>) -> Done {
    running(gate.verifier.as_ref())?.admit(&new)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn agents_key(State(gate): Shared) -> Answer<String> {
    Ok(Json(running(gate.verifier.as_ref())?.agents_key()))
}

/// Which pods are listed.
#[derive(Deserialize)]
struct OfWorker {
    worker: Option<String>,
}

async fn list_pods(
    State(gate): Shared,
    QueryOf(of): QueryOf<OfWorker>,
) -> Result<Response, Problem> {
    let verifier = running(gate.verifier.as_ref())?;
    let pages = PodPages::begin(verifier.clone(), of.worker)?;
    let kind = [(header::CONTENT_TYPE, "application/json")];
    Ok((kind, Written::new(pages)).into_response())
}

/// From where changes are watched, and how long is waited for one.
#[derive(Deserialize)]
struct Since {
    since: u64,
    #[serde(default)]
    wait: u64,
}

async fn changes(State(gate): Shared, QueryOf(from): QueryOf<Since>) -> Answer<Changes> {
    let verifier = running(gate.verifier.as_ref())?;
    let wait = Duration::from_secs(from.wait.min(MAX_WAIT));
    Ok(Json(verifier.changes(from.since, wait).await?))
}

/// Which evidence is listed.
#[derive(Deserialize)]
struct Kept {
    worker: Option<String>,
    before: Option<u64>,
}

async fn list_evidence(
    State(gate): Shared,
    QueryOf(of): QueryOf<Kept>,
) -> Answer<Vec<EvidenceRecord>> {
    let verifier = running(gate.verifier.as_ref())?;
    Ok(Json(verifier.kept(of.worker, of.before).await?))
}

async fn evidence(State(gate): Shared, Path(id): Path<String>) -> Answer<KeptEvidence> {
    let wrong = |_| Problem::bad(format!("`{id}` is not the number of a record"));
    let id = id.parse().map_err(wrong)?;
    let verifier = running(gate.verifier.as_ref())?;
    Ok(Json(verifier.kept_evidence(id).await?))
}

async fn start(State(gate): Shared, JsonBody(pod): JsonBody<StartRequest>) -> Answer<StartVerdict> {
    Ok(Json(
        running(gate.verifier.as_ref())?.may_start(&pod).await?,
    ))
}

async fn list_workers(State(gate): Shared) -> Answer<WorkerList> {
    Ok(Json(running(gate.verifier.as_ref())?.workers()?))
}

async fn report(State(gate): Shared, Path(name): Path<String>) -> Answer<WorkerReport> {
    Ok(Json(running(gate.verifier.as_ref())?.report(&name)?))
}

async fn forget(State(gate): Shared, Path(name): Path<String>) -> Done {
    running(gate.verifier.as_ref())?.remove(&name)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn attest_worker(
    State(gate): Shared,
    Path(name): Path<String>,
    QueryOf(asked): QueryOf<Asked>,
) -> Answer<WorkerReport> {
    let verifier = running(gate.verifier.as_ref())?;
    Ok(Json(verifier.attest_worker(&name, &asked).await?))
}

async fn refusal(
    State(gate): Shared,
    QueryOf(asked): QueryOf<Asked>,
    JsonBody(refused): JsonBody<RefusedRegistration>,
) -> Answer<String> {
    let verifier = running(gate.verifier.as_ref())?;
    Ok(Json(verifier.refused_registration(&refused, &asked)?))
}

async fn keys(State(gate): Shared) -> Answer<JwkSet> {
    Ok(Json(running(gate.verifier.as_ref())?.keys()))
}

async fn declare(State(gate): Shared, JsonBody(pod): JsonBody<Pod>) -> Answer<PodStatus> {
    Ok(Json(running(gate.verifier.as_ref())?.declare(&pod)?))
}

async fn pod(
    State(gate): Shared,
    Path(id): Path<String>,
    QueryOf(asked): QueryOf<Asked>,
) -> Answer<PodStatus> {
    asked.check()?;
    let verifier = running(gate.verifier.as_ref())?;
    Ok(Json(verifier.for_asker(verifier.pod(uid(&id)?)?, &asked)?))
}

async fn remove_pod(State(gate): Shared, Path(id): Path<String>) -> Done {
    running(gate.verifier.as_ref())?.remove_pod(uid(&id)?)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn attest_pod(
    State(gate): Shared,
    Path(id): Path<String>,
    QueryOf(asked): QueryOf<Asked>,
) -> Answer<PodStatus> {
    let verifier = running(gate.verifier.as_ref())?;
    Ok(Json(verifier.attest_pod(uid(&id)?, &asked).await?))
}
