//! Every endpoint of the gate, role by role.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{delete, get, post, put};

use super::access::{Admission, TenantRecord, WorkerRecord};
use super::endpoint::{Body, Endpoint};
use super::metrics::Metrics;
use super::pods::PodHandler;
use super::problem::Problem;
use super::registrar::LocalRegistrar;
use super::verify::{Verifier, WorkerReport};
use super::workers::{Joined, RegisteredWorker, WorkerHandler};
use crate::clock::Clock;
use crate::evidence::request::{Request, SignatureHeaders};
use crate::ima::PodUid;
use crate::net::Role;
use crate::reference::{
    FileSet, HostReference, ImageReference, Kind, OsReference, ReferenceStore, ReferenceValues,
    RuntimeReference,
};
use crate::registrar::Manufacturer;
use crate::registrar::api::{AddCertificate, CreateManufacturer, CreateTenant};
use crate::tpm::Endorsement;
use crate::verifier::{Pod, PodStatus, Trust, WorkerStatus};

/// The components that run in this process.
pub struct Gate {
    /// The registrar.
    pub registrar: Option<Arc<LocalRegistrar>>,
    /// The reference values.
    pub references: Option<Arc<ReferenceStore>>,
    /// The verifier.
    pub verifier: Option<Arc<Verifier>>,
    /// The worker handler.
    pub workers: Option<Arc<WorkerHandler>>,
    /// The pod handler.
    pub pods: Option<PodHandler>,
    /// What is counted.
    pub metrics: Arc<Metrics>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The OpenAPI document.
    pub document: serde_json::Value,
}

type Shared = State<Arc<Gate>>;
type Answer<T> = Result<Json<T>, Problem>;
type Done = Result<StatusCode, Problem>;

fn running<T>(component: Option<&T>) -> Result<&T, Problem> {
    component.ok_or_else(|| Problem::not_found("this component runs elsewhere"))
}

fn uid(text: &str) -> Result<PodUid, Problem> {
    PodUid::parse(text.as_bytes()).ok_or_else(|| Problem::bad(format!("`{text}` is no UID")))
}

const OPERATOR: &[Role] = &[Role::Operator];
const HANDLER: &[Role] = &[Role::WorkerHandler];
const READ_WORKERS: &[Role] = &[Role::Operator, Role::WorkerHandler, Role::Verifier];
const READ_TENANTS: &[Role] = &[Role::Operator, Role::PodHandler];
const READ_VALUES: &[Role] = &[Role::Operator, Role::Verifier, Role::WorkerHandler];
const ASK_VERIFIER: &[Role] = &[Role::Operator, Role::PodHandler];
const TENANT: &[Role] = &[Role::Tenant];

macro_rules! endpoint {
    ($method:literal $path:literal, $roles:expr, $summary:literal, $request:expr => $response:expr, $handler:expr) => {
        Endpoint {
            method: $method,
            path: $path,
            roles: $roles,
            summary: $summary,
            request: $request,
            response: $response,
            handler: $handler,
        }
    };
}

/// What every process has: health, metrics, and this document.
pub fn common() -> Vec<Endpoint<Arc<Gate>>> {
    vec![
        endpoint!("GET" "/healthz", &[], "Whether the process is alive.",
            Body::None => Body::Text("ok"), get(|| async { "ok\n" })),
        endpoint!("GET" "/readyz", &[], "Whether its databases answer.",
            Body::None => Body::Text("ready"), get(ready)),
        endpoint!("GET" "/metrics", OPERATOR, "Counters and timings for Prometheus.",
            Body::None => Body::Text("metrics"), get(metrics)),
        endpoint!("GET" "/openapi.json", &[], "This document.",
            Body::None => Body::Json("an OpenAPI 3.1 document"), get(document)),
    ]
}

/// The registrar.
pub fn registrar() -> Vec<Endpoint<Arc<Gate>>> {
    vec![
        endpoint!("POST" "/v1/tenants", OPERATOR, "Enrols a tenant with its public key.",
            Body::Json("name and public_key (P-256, PEM)") => Body::Json("the tenant"),
            post(create_tenant)),
        endpoint!("GET" "/v1/tenants/{name}", READ_TENANTS, "A tenant.",
            Body::None => Body::Json("the tenant"), get(tenant)),
        endpoint!("DELETE" "/v1/tenants/{name}", OPERATOR, "Removes a tenant.",
            Body::None => Body::None, delete(remove_tenant)),
        endpoint!("POST" "/v1/workers", HANDLER, "Stores a worker that proved itself.",
            Body::Json("the worker's record") => Body::None, post(store_worker)),
        endpoint!("GET" "/v1/workers/{name}", READ_WORKERS, "A registered worker.",
            Body::None => Body::Json("the worker's record"), get(worker)),
        endpoint!("DELETE" "/v1/workers/{name}", HANDLER, "Removes a worker.",
            Body::None => Body::None, delete(remove_worker)),
        endpoint!("POST" "/v1/endorsement-keys/validate", HANDLER,
            "Validates an endorsement key up to a manufacturer's root.",
            Body::Json("the endorsement key with certificate and chain") => Body::None,
            post(validate)),
        endpoint!("POST" "/v1/manufacturers", OPERATOR, "Adds a manufacturer of TPMs.",
            Body::Json("id (such as id:49465800) and name") => Body::Json("the manufacturer"),
            post(add_manufacturer)),
        endpoint!("GET" "/v1/manufacturers", OPERATOR, "All manufacturers.",
            Body::None => Body::Json("a list of manufacturers"), get(manufacturers)),
        endpoint!("DELETE" "/v1/manufacturers/{id}", OPERATOR,
            "Removes a manufacturer and its certificates.",
            Body::None => Body::None, delete(remove_manufacturer)),
        endpoint!("POST" "/v1/manufacturers/{id}/certificates", OPERATOR,
            "Adds a root or intermediate certificate.",
            Body::Json("kind (root or intermediate) and certificate (PEM)") => Body::Json("how many"),
            post(add_certificate)),
    ]
}

/// The reference values.
pub fn reference() -> Vec<Endpoint<Arc<Gate>>> {
    vec![
        endpoint!("GET" "/v1/reference", READ_VALUES, "All reference values.",
            Body::None => Body::Json("operating systems, images, runtimes and hosts"), get(values)),
        endpoint!("GET" "/v1/reference/generation", READ_VALUES,
            "A number that changes with every change of the values.",
            Body::None => Body::Json("the number"), get(generation)),
        endpoint!("PUT" "/v1/reference/os/{name}", OPERATOR,
            "Sets the accepted boot aggregates of an operating system.",
            Body::Json("boot_aggregates") => Body::None, put(put_os)),
        endpoint!("PUT" "/v1/reference/images/{name}", OPERATOR,
            "Sets digests and files of an image.",
            Body::Json("digests and files") => Body::None, put(put_image)),
        endpoint!("DELETE" "/v1/reference/os/{name}", OPERATOR, "Removes an operating system.",
            Body::None => Body::None, delete(remove_os)),
        endpoint!("DELETE" "/v1/reference/images/{name}", OPERATOR, "Removes an image.",
            Body::None => Body::None, delete(remove_image)),
        endpoint!("DELETE" "/v1/reference/runtimes/{name}", OPERATOR,
            "Removes a container runtime.",
            Body::None => Body::None, delete(remove_runtime)),
        endpoint!("DELETE" "/v1/reference/hosts/{name}", OPERATOR, "Removes a root file system.",
            Body::None => Body::None, delete(remove_host)),
        endpoint!("POST" "/v1/reference/images/{name}/files", OPERATOR,
            "Adds files to an image.",
            Body::Json("files with their digests") => Body::None, post(add_files)),
        endpoint!("PUT" "/v1/reference/runtimes/{name}", OPERATOR,
            "Sets the files of a container runtime.",
            Body::Json("files") => Body::None, put(put_runtime)),
        endpoint!("PUT" "/v1/reference/hosts/{name}", OPERATOR,
            "Sets the files of a worker's root file system.",
            Body::Json("files") => Body::None, put(put_host)),
    ]
}

/// The verifier.
pub fn verifier() -> Vec<Endpoint<Arc<Gate>>> {
    vec![
        endpoint!("POST" "/v1/verifier/workers", HANDLER, "Takes in a registered worker.",
            Body::Json("id, name and address") => Body::None, post(admit)),
        endpoint!("GET" "/v1/verifier/workers/{name}", READ_WORKERS,
            "A worker and its pods, with the trust in them.",
            Body::None => Body::Json("worker and pods"), get(report)),
        endpoint!("GET" "/v1/verifier/workers", READ_WORKERS,
            "All workers, with the trust in them.",
            Body::None => Body::Json("a list of workers"), get(list_workers)),
        endpoint!("DELETE" "/v1/verifier/workers/{name}", HANDLER, "Forgets a worker and its pods.",
            Body::None => Body::None, delete(forget)),
        endpoint!("DELETE" "/v1/verifier/pods/{uid}", OPERATOR, "Forgets a pod that is gone.",
            Body::None => Body::None, delete(remove_pod)),
        endpoint!("POST" "/v1/verifier/workers/{name}/attest", OPERATOR,
            "Attests a worker with all its pods, with one quote.",
            Body::None => Body::Json("worker and pods"), post(attest_worker)),
        endpoint!("POST" "/v1/verifier/pods", OPERATOR, "Declares a pod with all its containers.",
            Body::Json("the pod") => Body::Json("the pod and the trust in it"), post(declare)),
        endpoint!("GET" "/v1/verifier/pods/{uid}", ASK_VERIFIER, "A pod and the trust in it.",
            Body::None => Body::Json("the pod and the trust in it"), get(pod)),
        endpoint!("POST" "/v1/verifier/pods/{uid}/attest", ASK_VERIFIER, "Attests a pod.",
            Body::None => Body::Json("the pod and the trust in it"), post(attest_pod)),
    ]
}

/// The worker handler.
pub fn worker_handler() -> Vec<Endpoint<Arc<Gate>>> {
    vec![
        endpoint!("POST" "/v1/registrations", OPERATOR, "Registers a worker that joined.",
            Body::Json("name and address") => Body::Json("id and name"), post(register)),
        endpoint!("POST" "/v1/registrations/{name}/rotate", OPERATOR,
            "Gives a registered agent a new certificate for the same keys.",
            Body::None => Body::None, post(rotate)),
        endpoint!("DELETE" "/v1/registrations/{name}", OPERATOR, "Removes a worker that left.",
            Body::None => Body::None, delete(unregister)),
    ]
}

/// The pod handler. Its requests carry a signature of the tenant (RFC 9421) besides.
pub fn pod_handler() -> Vec<Endpoint<Arc<Gate>>> {
    vec![
        endpoint!("POST" "/v1/tenants/{tenant}/pods/{uid}/attest", TENANT,
            "Attests a tenant's own pod; signed by the tenant.",
            Body::None => Body::Json("the pod and the trust in it"), post(tenant_attest)),
        endpoint!("GET" "/v1/tenants/{tenant}/pods/{uid}", TENANT,
            "A tenant's own pod and the trust in it; signed by the tenant.",
            Body::None => Body::Json("the pod and the trust in it"), get(tenant_status)),
    ]
}

async fn ready(State(gate): Shared) -> Result<&'static str, Problem> {
    if let Some(verifier) = &gate.verifier {
        verifier.store().workers()?;
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
        let mut count: BTreeMap<(&str, Trust), u64> = BTreeMap::new();
        for worker in verifier.store().workers()? {
            *count.entry(("workers", worker.trust)).or_default() += 1;
        }
        for pod in verifier.store().pods(None)? {
            *count.entry(("pods", pod.trust)).or_default() += 1;
        }
        gauges.extend(
            count
                .into_iter()
                .map(|((name, trust), number)| (name, trust.name(), number)),
        );
    }
    let text = gate.metrics.render(&gauges);
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}

async fn document(State(gate): Shared) -> Json<serde_json::Value> {
    Json(gate.document.clone())
}

async fn create_tenant(State(gate): Shared, Json(new): Json<CreateTenant>) -> Answer<TenantRecord> {
    let registrar = running(gate.registrar.as_ref())?;
    let tenant = registrar.inner().enrol(&new, gate.clock.now())?;
    Ok(Json(TenantRecord {
        id: tenant.id,
        name: tenant.name,
        public_key: tenant.public_key,
    }))
}

async fn tenant(State(gate): Shared, Path(name): Path<String>) -> Answer<TenantRecord> {
    Ok(Json(running(gate.registrar.as_ref())?.tenant(&name)?))
}

async fn remove_tenant(State(gate): Shared, Path(name): Path<String>) -> Done {
    let registrar = running(gate.registrar.as_ref())?;
    registrar
        .inner()
        .delete_tenant(registrar.tenant(&name)?.id)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn store_worker(State(gate): Shared, Json(record): Json<WorkerRecord>) -> Done {
    running(gate.registrar.as_ref())?.store_worker(&record)?;
    Ok(StatusCode::CREATED)
}

async fn worker(State(gate): Shared, Path(name): Path<String>) -> Answer<WorkerRecord> {
    Ok(Json(running(gate.registrar.as_ref())?.worker(&name)?))
}

async fn remove_worker(State(gate): Shared, Path(name): Path<String>) -> Done {
    running(gate.registrar.as_ref())?.remove_worker(&name)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn validate(State(gate): Shared, Json(endorsement): Json<Endorsement>) -> Done {
    running(gate.registrar.as_ref())?.check_endorsement(&endorsement)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn add_manufacturer(
    State(gate): Shared,
    Json(new): Json<CreateManufacturer>,
) -> Answer<Manufacturer> {
    let registrar = running(gate.registrar.as_ref())?.inner();
    Ok(Json(registrar.create_manufacturer(&new.id, &new.name)?))
}

async fn manufacturers(State(gate): Shared) -> Answer<Vec<Manufacturer>> {
    Ok(Json(
        running(gate.registrar.as_ref())?.inner().manufacturers()?,
    ))
}

async fn remove_manufacturer(State(gate): Shared, Path(id): Path<String>) -> Done {
    running(gate.registrar.as_ref())?
        .inner()
        .delete_manufacturer(&id)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn add_certificate(
    State(gate): Shared,
    Path(id): Path<String>,
    Json(new): Json<AddCertificate>,
) -> Answer<usize> {
    let registrar = running(gate.registrar.as_ref())?.inner();
    Ok(Json(registrar.add_certificates_pem(&id, &new)?))
}

async fn values(State(gate): Shared) -> Answer<ReferenceValues> {
    Ok(Json(running(gate.references.as_ref())?.values()?))
}

async fn generation(State(gate): Shared) -> Answer<u64> {
    Ok(Json(running(gate.references.as_ref())?.generation()?))
}

async fn put_os(
    State(gate): Shared,
    Path(name): Path<String>,
    Json(value): Json<OsReference>,
) -> Done {
    running(gate.references.as_ref())?.put_os(&name, &value)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn put_image(
    State(gate): Shared,
    Path(name): Path<String>,
    Json(value): Json<ImageReference>,
) -> Done {
    running(gate.references.as_ref())?.put_image(&name, &value)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn add_files(
    State(gate): Shared,
    Path(name): Path<String>,
    Json(files): Json<FileSet>,
) -> Done {
    running(gate.references.as_ref())?.add_image_files(&name, &files)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn put_runtime(
    State(gate): Shared,
    Path(name): Path<String>,
    Json(value): Json<RuntimeReference>,
) -> Done {
    running(gate.references.as_ref())?.put_runtime(&name, &value)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn put_host(
    State(gate): Shared,
    Path(name): Path<String>,
    Json(value): Json<HostReference>,
) -> Done {
    running(gate.references.as_ref())?.put_host(&name, &value)?;
    Ok(StatusCode::NO_CONTENT)
}

fn remove_value(gate: &Gate, kind: Kind, name: &str) -> Done {
    running(gate.references.as_ref())?.remove(kind, name)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn remove_os(State(gate): Shared, Path(name): Path<String>) -> Done {
    remove_value(&gate, Kind::Os, &name)
}

async fn remove_image(State(gate): Shared, Path(name): Path<String>) -> Done {
    remove_value(&gate, Kind::Image, &name)
}

async fn remove_runtime(State(gate): Shared, Path(name): Path<String>) -> Done {
    remove_value(&gate, Kind::Runtime, &name)
}

async fn remove_host(State(gate): Shared, Path(name): Path<String>) -> Done {
    remove_value(&gate, Kind::Host, &name)
}

async fn admit(State(gate): Shared, Json(new): Json<Admission>) -> Done {
    running(gate.verifier.as_ref())?.admit(new.id, &new.name, &new.address)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn list_workers(State(gate): Shared) -> Answer<Vec<WorkerStatus>> {
    Ok(Json(running(gate.verifier.as_ref())?.store().workers()?))
}

async fn report(State(gate): Shared, Path(name): Path<String>) -> Answer<WorkerReport> {
    let store = running(gate.verifier.as_ref())?.store();
    Ok(Json(WorkerReport {
        worker: store.worker(&name)?,
        pods: store.pods(Some(&name))?,
    }))
}

async fn forget(State(gate): Shared, Path(name): Path<String>) -> Done {
    running(gate.verifier.as_ref())?.remove(&name)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn attest_worker(State(gate): Shared, Path(name): Path<String>) -> Answer<WorkerReport> {
    let verifier = running(gate.verifier.as_ref())?;
    Ok(Json(verifier.attest_worker(&name).await?))
}

async fn declare(State(gate): Shared, Json(pod): Json<Pod>) -> Answer<PodStatus> {
    Ok(Json(running(gate.verifier.as_ref())?.declare(&pod)?))
}

async fn pod(State(gate): Shared, Path(id): Path<String>) -> Answer<PodStatus> {
    Ok(Json(
        running(gate.verifier.as_ref())?.store().pod(uid(&id)?)?,
    ))
}

async fn remove_pod(State(gate): Shared, Path(id): Path<String>) -> Done {
    running(gate.verifier.as_ref())?
        .store()
        .remove_pod(uid(&id)?)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn attest_pod(State(gate): Shared, Path(id): Path<String>) -> Answer<PodStatus> {
    let verifier = running(gate.verifier.as_ref())?;
    Ok(Json(verifier.attest_pod(uid(&id)?).await?))
}

async fn register(State(gate): Shared, Json(joined): Json<Joined>) -> Answer<RegisteredWorker> {
    Ok(Json(
        running(gate.workers.as_ref())?.register(&joined).await?,
    ))
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
        pods.attest(&tenant, uid(&id)?, request, &signed).await?,
    ))
}

async fn tenant_status(
    State(gate): Shared,
    Path((tenant, id)): Path<(String, String)>,
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
        pods.status(&tenant, uid(&id)?, request, &signed).await?,
    ))
}
