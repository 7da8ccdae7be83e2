//! The verifier's endpoints.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{delete, get, post};

use super::super::access::Admission;
use super::super::endpoint::{Endpoint, endpoint};
use super::super::openapi::{Body, json};
use super::super::problem::JsonBody;
use super::super::standing::WorkerReport;
use super::{
    ASK_VERIFIER, Answer, Done, HANDLER, OPERATOR, READ_WORKERS, Shared, Table, running, uid,
};
use crate::verifier::{Pod, PodStatus, WorkerStatus};

/// The verifier.
pub(super) fn verifier() -> Table {
    vec![
        endpoint!("POST" "/v1/verifier/workers", HANDLER, "Takes in a registered worker.",
            json::<Admission>("id, name and address") => Body::None, post(admit)),
        endpoint!("GET" "/v1/verifier/workers/{name}", READ_WORKERS,
            "A worker and its pods, with the trust in them.",
            Body::None => json::<WorkerReport>("worker and pods"), get(report)),
        endpoint!("GET" "/v1/verifier/workers", READ_WORKERS,
            "All workers, with the trust in them.",
            Body::None => json::<Vec<WorkerStatus>>("a list of workers"), get(list_workers)),
        endpoint!("DELETE" "/v1/verifier/workers/{name}", HANDLER, "Forgets a worker and its pods.",
            Body::None => Body::None, delete(forget)),
        endpoint!("DELETE" "/v1/verifier/pods/{uid}", OPERATOR, "Forgets a pod that is gone.",
            Body::None => Body::None, delete(remove_pod)),
        endpoint!("POST" "/v1/verifier/workers/{name}/attest", OPERATOR,
            "Attests a worker with all its pods, with one quote.",
            Body::None => json::<WorkerReport>("worker and pods"), post(attest_worker)),
        endpoint!("POST" "/v1/verifier/pods", OPERATOR, "Declares a pod with all its containers.",
            json::<Pod>("the pod") => json::<PodStatus>("the pod and the trust in it"), post(declare)),
        endpoint!("GET" "/v1/verifier/pods/{uid}", ASK_VERIFIER, "A pod and the trust in it.",
            Body::None => json::<PodStatus>("the pod and the trust in it"), get(pod)),
        endpoint!("POST" "/v1/verifier/pods/{uid}/attest", ASK_VERIFIER, "Attests a pod.",
            Body::None => json::<PodStatus>("the pod and the trust in it"), post(attest_pod)),
    ]
}

async fn admit(State(gate): Shared, JsonBody(new): JsonBody<Admission>) -> Done {
    running(gate.verifier.as_ref())?.admit(new.id, &new.name, &new.address)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn list_workers(State(gate): Shared) -> Answer<Vec<WorkerStatus>> {
    Ok(Json(running(gate.verifier.as_ref())?.workers()?))
}

async fn report(State(gate): Shared, Path(name): Path<String>) -> Answer<WorkerReport> {
    Ok(Json(running(gate.verifier.as_ref())?.report(&name)?))
}

async fn forget(State(gate): Shared, Path(name): Path<String>) -> Done {
    running(gate.verifier.as_ref())?.remove(&name)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn attest_worker(State(gate): Shared, Path(name): Path<String>) -> Answer<WorkerReport> {
    let verifier = running(gate.verifier.as_ref())?;
    Ok(Json(verifier.attest_worker(&name).await?))
}

async fn declare(State(gate): Shared, JsonBody(pod): JsonBody<Pod>) -> Answer<PodStatus> {
    Ok(Json(running(gate.verifier.as_ref())?.declare(&pod)?))
}

async fn pod(State(gate): Shared, Path(id): Path<String>) -> Answer<PodStatus> {
    Ok(Json(running(gate.verifier.as_ref())?.pod(uid(&id)?)?))
}

async fn remove_pod(State(gate): Shared, Path(id): Path<String>) -> Done {
    running(gate.verifier.as_ref())?.remove_pod(uid(&id)?)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn attest_pod(State(gate): Shared, Path(id): Path<String>) -> Answer<PodStatus> {
    let verifier = running(gate.verifier.as_ref())?;
    Ok(Json(verifier.attest_pod(uid(&id)?).await?))
}
