//! The registrar's endpoints.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{delete, get, post, put};

use super::super::access::TenantRecord;
use super::super::endpoint::{Endpoint, endpoint};
use super::super::openapi::{Body, json};
use super::super::problem::JsonBody;
use super::{
    Answer, Done, HANDLER, OPERATOR, READ_TENANTS, READ_WORKERS, Shared, Table, registration,
    running,
};
use crate::digest::Digest;
use crate::protocol::{Outstanding, WorkerRecord};
use crate::registrar::api::{AddCertificate, AddRevocationList, CreateManufacturer, CreateTenant};
use crate::registrar::{Manufacturer, StoredCertificate};
use crate::tpm::Endorsement;

/// All roots of a manufacturer, or its longest revocation list.
const CERTIFICATES: usize = 4 * 1024 * 1024;

/// The registrar.
pub(super) fn registrar() -> Table {
    vec![
        endpoint!("POST" "/v1/tenants", OPERATOR, "Enrols a tenant with its public key.",
            json::<CreateTenant>("name and public_key (P-256, PEM)") => json::<TenantRecord>("the tenant"),
            post(create_tenant)),
        endpoint!("GET" "/v1/tenants", READ_TENANTS, "All tenants.",
            Body::None => json::<Vec<TenantRecord>>("a list of tenants"), get(tenants)),
        endpoint!("GET" "/v1/tenants/{name}", READ_TENANTS, "A tenant.",
            Body::None => json::<TenantRecord>("the tenant"), get(tenant)),
        endpoint!("DELETE" "/v1/tenants/{name}", OPERATOR, "Removes a tenant.",
            Body::None => Body::None, delete(remove_tenant)),
        endpoint!("PUT" "/v1/proposals/{registration}", HANDLER,
            "Notes a worker that proved itself; it is not registered yet.",
            json::<WorkerRecord>("the worker's record") => Body::None, put(propose)),
        endpoint!("DELETE" "/v1/proposals/{registration}", HANDLER, "Takes a proposal back.",
            Body::None => Body::None, delete(withdraw)),
        endpoint!("POST" "/v1/proposals/{registration}/accept", HANDLER,
            "Notes that the agent was acknowledged: the proposal is to be completed.",
            Body::None => Body::None, post(accept)),
        endpoint!("POST" "/v1/proposals/{registration}/confirm", HANDLER,
            "Makes an accepted proposal the registered worker.",
            Body::None => Body::None, post(confirm)),
        endpoint!("GET" "/v1/outstanding", HANDLER,
            "Registrations and removals that were begun and have to be completed.",
            Body::None => json::<Outstanding>("accepted registrations, and names of removed workers"),
            get(outstanding)),
        endpoint!("DELETE" "/v1/removals/{name}", HANDLER, "Takes the note away that a worker is removed.",
            Body::None => Body::None, delete(finish_removal)),
        endpoint!("GET" "/v1/workers", READ_WORKERS, "All registered workers.",
            Body::None => json::<Vec<WorkerRecord>>("a list of the workers' records"), get(workers)),
        endpoint!("GET" "/v1/workers/{name}", READ_WORKERS, "A registered worker.",
            Body::None => json::<WorkerRecord>("the worker's record"), get(worker)),
        endpoint!("DELETE" "/v1/workers/{name}", HANDLER,
            "Removes a worker, and notes that the verifier has to forget it.",
            Body::None => Body::None, delete(remove_worker)),
        endpoint!("POST" "/v1/endorsement-keys/validate", HANDLER,
            "Validates an endorsement key up to a manufacturer's root.",
            json::<Endorsement>("the endorsement key with certificate and chain") => Body::None,
            post(validate)),
        endpoint!("POST" "/v1/manufacturers", OPERATOR, "Adds a manufacturer of TPMs.",
            json::<CreateManufacturer>("id (such as id:49465800) and name") => json::<Manufacturer>("the manufacturer"),
            post(add_manufacturer)),
        endpoint!("GET" "/v1/manufacturers", OPERATOR, "All manufacturers.",
            Body::None => json::<Vec<Manufacturer>>("a list of manufacturers"), get(manufacturers)),
        endpoint!("DELETE" "/v1/manufacturers/{id}", OPERATOR,
            "Removes a manufacturer and its certificates.",
            Body::None => Body::None, delete(remove_manufacturer)),
        endpoint!("POST" "/v1/manufacturers/{id}/certificates", OPERATOR,
            "Adds a root or intermediate certificate.",
            json::<AddCertificate>("kind (root or intermediate) and certificate (PEM)") => json::<usize>("how many were new"),
            post(add_certificate))
            .up_to(CERTIFICATES),
        endpoint!("GET" "/v1/manufacturers/{id}/certificates", OPERATOR,
            "The certificates of a manufacturer.",
            Body::None => json::<Vec<StoredCertificate>>("a list of digests with their kinds"), get(certificates)),
        endpoint!("DELETE" "/v1/certificates/{digest}", OPERATOR,
            "Removes a certificate of a manufacturer.",
            Body::None => Body::None, delete(remove_certificate)),
        endpoint!("POST" "/v1/manufacturers/{id}/revocation-lists", OPERATOR,
            "Adds a revocation list of a manufacturer.",
            json::<AddRevocationList>("revocation_list (PEM)") => json::<Digest>("the digest it is known by"),
            post(add_revocation_list))
            .up_to(CERTIFICATES),
        endpoint!("DELETE" "/v1/revocation-lists/{digest}", OPERATOR,
            "Removes a revocation list, when a newer one has taken its place.",
            Body::None => Body::None, delete(remove_revocation_list)),
    ]
}

async fn create_tenant(
    State(gate): Shared,
    JsonBody(new): JsonBody<CreateTenant>,
) -> Answer<TenantRecord> {
    Ok(Json(running(gate.registrar.as_ref())?.enrol(&new)?))
}

async fn tenants(State(gate): Shared) -> Answer<Vec<TenantRecord>> {
    Ok(Json(running(gate.registrar.as_ref())?.tenants()?))
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

async fn propose(
    State(gate): Shared,
    Path(id): Path<String>,
    JsonBody(record): JsonBody<WorkerRecord>,
) -> Done {
    running(gate.registrar.as_ref())?.propose(registration(&id)?, &record)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn withdraw(State(gate): Shared, Path(id): Path<String>) -> Done {
    running(gate.registrar.as_ref())?.withdraw(registration(&id)?)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn accept(State(gate): Shared, Path(id): Path<String>) -> Done {
    running(gate.registrar.as_ref())?.accept(registration(&id)?)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn confirm(State(gate): Shared, Path(id): Path<String>) -> Done {
    running(gate.registrar.as_ref())?.confirm(registration(&id)?)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn outstanding(State(gate): Shared) -> Answer<Outstanding> {
    Ok(Json(running(gate.registrar.as_ref())?.outstanding()?))
}

async fn finish_removal(State(gate): Shared, Path(name): Path<String>) -> Done {
    running(gate.registrar.as_ref())?.finish_removal(&name)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn workers(State(gate): Shared) -> Answer<Vec<WorkerRecord>> {
    Ok(Json(running(gate.registrar.as_ref())?.workers()?))
}

async fn worker(State(gate): Shared, Path(name): Path<String>) -> Answer<WorkerRecord> {
    Ok(Json(running(gate.registrar.as_ref())?.worker(&name)?))
}

async fn remove_worker(State(gate): Shared, Path(name): Path<String>) -> Done {
    running(gate.registrar.as_ref())?.begin_removal(&name)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn validate(State(gate): Shared, JsonBody(endorsement): JsonBody<Endorsement>) -> Done {
    running(gate.registrar.as_ref())?.check_endorsement(&endorsement)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn add_manufacturer(
    State(gate): Shared,
    JsonBody(new): JsonBody<CreateManufacturer>,
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
    JsonBody(new): JsonBody<AddCertificate>,
) -> Answer<usize> {
    let registrar = running(gate.registrar.as_ref())?.inner();
    Ok(Json(registrar.add_certificates_pem(&id, &new)?))
}

async fn certificates(
    State(gate): Shared,
    Path(id): Path<String>,
) -> Answer<Vec<StoredCertificate>> {
    let registrar = running(gate.registrar.as_ref())?.inner();
    Ok(Json(registrar.certificates(&id)?))
}

async fn remove_certificate(State(gate): Shared, Path(digest): Path<String>) -> Done {
    running(gate.registrar.as_ref())?
        .inner()
        .delete_certificate(&digest)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn add_revocation_list(
    State(gate): Shared,
    Path(id): Path<String>,
    JsonBody(new): JsonBody<AddRevocationList>,
) -> Answer<String> {
    let registrar = running(gate.registrar.as_ref())?.inner();
    Ok(Json(registrar.add_revocation_list_pem(&id, &new)?))
}

async fn remove_revocation_list(State(gate): Shared, Path(digest): Path<String>) -> Done {
    running(gate.registrar.as_ref())?
        .inner()
        .delete_revocation_list(&digest)?;
    Ok(StatusCode::NO_CONTENT)
}
