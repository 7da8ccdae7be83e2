//! The endpoints of the worker handler and of the pod handler.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::routing::{delete, get, post};
use serde::Deserialize;

use super::super::endpoint::{Endpoint, endpoint};
use super::super::openapi::{Body, json};
use super::super::problem::{JsonBody, Problem, QueryOf};
use super::super::result::{Asked, BINDING};
use super::super::workers::{Joined, RegisteredWorker};
use super::{Answer, CONTROL, Done, OPERATOR, Shared, TENANT, Table, running, uid};
use crate::evidence::request::{Request, SignatureHeaders};
use crate::verifier::PodStatus;

/// The worker handler.
pub(super) fn worker_handler() -> Table {
    vec![
        endpoint!("POST" "/v1/registrations", CONTROL, "Registers a worker that joined.",
            json::<Joined>("name and address") => json::<RegisteredWorker>("id and name"), post(register))
        .with_query(BINDING),
        endpoint!("POST" "/v1/registrations/{name}/rotate", OPERATOR,
            "Gives a registered agent a new certificate for the same keys.",
            Body::None => Body::None, post(rotate)),
        endpoint!("DELETE" "/v1/registrations/{name}", CONTROL, "Removes a worker that left.",
            Body::None => Body::None, delete(unregister)),
    ]
}

/// The pod handler. Its requests carry a signature of the tenant (RFC 9421) besides.
pub(super) fn pod_handler() -> Table {
    vec![
        endpoint!("POST" "/v1/tenants/{tenant}/pods/{uid}/attest", TENANT,
            "Attests a tenant's own pod; signed by the tenant.",
            Body::None => json::<PodStatus>("the pod and the trust in it"), post(tenant_attest))
        .with_query(AUDIENCE),
        endpoint!("GET" "/v1/tenants/{tenant}/pods/{uid}", TENANT,
            "A tenant's own pod and the trust in it; signed by the tenant.",
            Body::None => json::<PodStatus>("the pod and the trust in it"), get(tenant_status))
        .with_query(AUDIENCE),
    ]
}

/// The result has the nonce of the tenant's signature.
const AUDIENCE: &[(&str, &str)] = &[(
    "audience",
    "Who reads the result; nobody else accepts it. The tenant, if absent.",
)];

/// Whom a tenant's result is for.
#[derive(Deserialize)]
struct For {
    audience: Option<String>,
}

async fn register(
    State(gate): Shared,
    QueryOf(asked): QueryOf<Asked>,
    JsonBody(joined): JsonBody<Joined>,
) -> Answer<RegisteredWorker> {
    let workers = running(gate.workers.as_ref())?;
    Ok(Json(workers.register(&joined, &asked).await?))
}

async fn rotate(State(gate): Shared, Path(name): Path<String>) -> Done {
    running(gate.workers.as_ref())?.rotate(&name).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn unregister(State(gate): Shared, Path(name): Path<String>) -> Done {
    running(gate.workers.as_ref())?.remove(&name).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn signature(headers: &HeaderMap) -> Result<SignatureHeaders, Problem> {
    let text = |name: &str| {
        headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned)
            .ok_or_else(|| {
                let detail = format!("the request is not signed: `{name}` is missing");
                Problem::new(StatusCode::UNAUTHORIZED, detail)
            })
    };
    Ok(SignatureHeaders {
        content_digest: text("content-digest")?,
        signature_input: text("signature-input")?,
        signature: text("signature")?,
    })
}

fn target(uri: &Uri) -> &str {
    uri.path_and_query().map_or("/", |target| target.as_str())
}

async fn tenant_attest(
    State(gate): Shared,
    Path((tenant, id)): Path<(String, String)>,
    QueryOf(whom): QueryOf<For>,
    uri: Uri,
    headers: HeaderMap,
    body: axum::body::Bytes,
) -> Answer<PodStatus> {
    let request = Request {
        method: "POST",
        target: target(&uri),
        body: &body,
    };
    let pods = running(gate.pods.as_ref())?;
    let signed = signature(&headers)?;
    Ok(Json(
        pods.attest(
            (&tenant, whom.audience.as_deref()),
            uid(&id)?,
            request,
            &signed,
        )
        .await?,
    ))
}

async fn tenant_status(
    State(gate): Shared,
    Path((tenant, id)): Path<(String, String)>,
    QueryOf(whom): QueryOf<For>,
    uri: Uri,
    headers: HeaderMap,
) -> Answer<PodStatus> {
    let request = Request {
        method: "GET",
        target: target(&uri),
        body: &[],
    };
    let pods = running(gate.pods.as_ref())?;
    let signed = signature(&headers)?;
    Ok(Json(
        pods.status(
            (&tenant, whom.audience.as_deref()),
            uid(&id)?,
            request,
            &signed,
        )
        .await?,
    ))
}
