//! The registrar's endpoints, version 1, free of any transport.
//!
//! The endpoints of the source document with their actions in the method instead of the path, and
//! with who may call them. A request that fails has a status of its own, never a success with an error
//! inside.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::store::{CaKind, NewWorker, Registrar, RegistrarError, Tenant, Worker};
use crate::clock::Timestamp;

/// Who may call an endpoint, by the certificate of the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// A person who administers the cluster.
    Administrator,
    /// The part that registers workers.
    WorkerHandler,
    /// The part that takes tenants' requests.
    PodHandler,
    /// The part that verifies evidence.
    Verifier,
}

/// An endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The method.
    pub method: &'static str,
    /// The path; parts in braces are parameters.
    pub path: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// Who may call it.
    pub callers: &'static [Caller],
}

use Caller::{Administrator, PodHandler, Verifier, WorkerHandler};

/// Every endpoint.
pub const ROUTES: &[Route] = &[
    Route {
        method: "POST",
        path: "/v1/tenants",
        summary: "Enrols a tenant with its public key",
        callers: &[Administrator],
    },
    Route {
        method: "GET",
        path: "/v1/tenants",
        summary: "Lists the tenants, or the one of a name",
        callers: &[Administrator, PodHandler],
    },
    Route {
        method: "DELETE",
        path: "/v1/tenants/{id}",
        summary: "Removes a tenant",
        callers: &[Administrator],
    },
    Route {
        method: "POST",
        path: "/v1/tenants/verify",
        summary: "Verifies the signature on a tenant's request",
        callers: &[PodHandler],
    },
    Route {
        method: "POST",
        path: "/v1/workers",
        summary: "Registers a worker that has proven itself",
        callers: &[WorkerHandler],
    },
    Route {
        method: "GET",
        path: "/v1/workers",
        summary: "Lists the workers, or the one of a host name",
        callers: &[Administrator, WorkerHandler, PodHandler, Verifier],
    },
    Route {
        method: "DELETE",
        path: "/v1/workers/{id}",
        summary: "Removes a worker",
        callers: &[Administrator, WorkerHandler],
    },
    Route {
        method: "POST",
        path: "/v1/endorsement-keys/validate",
        summary: "Validates an EK certificate up to a manufacturer's root",
        callers: &[WorkerHandler],
    },
    Route {
        method: "POST",
        path: "/v1/manufacturers",
        summary: "Adds a manufacturer of TPMs",
        callers: &[Administrator],
    },
    Route {
        method: "GET",
        path: "/v1/manufacturers",
        summary: "Lists the manufacturers",
        callers: &[Administrator],
    },
    Route {
        method: "DELETE",
        path: "/v1/manufacturers/{id}",
        summary: "Removes a manufacturer and its certificates",
        callers: &[Administrator],
    },
    Route {
        method: "POST",
        path: "/v1/manufacturers/{id}/certificates",
        summary: "Adds a root or intermediate certificate",
        callers: &[Administrator],
    },
    Route {
        method: "POST",
        path: "/v1/manufacturers/{id}/revocation-lists",
        summary: "Adds a revocation list",
        callers: &[Administrator],
    },
];

/// Enrols a tenant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreateTenant {
    /// Its name.
    pub name: String,
    /// Its public key: P-256, PEM.
    pub public_key: String,
}

/// Adds a manufacturer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreateManufacturer {
    /// The TCG's identifier, such as `id:49465800`.
    pub id: String,
    /// Its name.
    pub name: String,
}

/// Adds a certificate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddCertificate {
    /// What it is.
    pub kind: CaKind,
    /// The certificate, PEM.
    pub certificate: String,
}

/// A worker, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerView {
    /// Its identifier.
    pub id: Uuid,
    /// Its host name.
    pub name: String,
    /// The operating system it booted.
    pub os: String,
    /// The digest of its EK certificate.
    pub ek_certificate: String,
    /// When it was registered.
    pub registered: Timestamp,
}

impl From<&Worker> for WorkerView {
    fn from(worker: &Worker) -> Self {
        WorkerView {
            id: worker.id,
            name: worker.with.name.clone(),
            os: worker.with.os.clone(),
            ek_certificate: crate::digest::HashAlg::Sha256
                .hash(&[&worker.with.ek_certificate])
                .to_string(),
            registered: worker.registered,
        }
    }
}

/// An error, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorView {
    /// What is wrong.
    pub error: String,
}

/// The HTTP status of a failure.
pub fn status_of(error: &RegistrarError) -> u16 {
    match error {
        RegistrarError::NotFound { .. } => 404,
        RegistrarError::Exists { .. } => 409,
        RegistrarError::Key
        | RegistrarError::Certificate(_)
        | RegistrarError::Revocation(_)
        | RegistrarError::Ek(_) => 422,
        RegistrarError::Database(_) | RegistrarError::Unreadable(_) => 500,
    }
}

impl Registrar {
    /// `POST /v1/tenants`.
    pub fn enrol(&self, request: &CreateTenant, now: Timestamp) -> Result<Tenant, RegistrarError> {
        self.create_tenant(&request.name, &request.public_key, now)
    }

    /// `POST /v1/workers`.
    pub fn register(
        &self,
        id: Uuid,
        with: NewWorker,
        now: Timestamp,
    ) -> Result<WorkerView, RegistrarError> {
        Ok(WorkerView::from(&self.put_worker(id, with, now)?))
    }

    /// `POST /v1/manufacturers/{id}/certificates`: the certificates in the PEM text.
    pub fn add_certificates_pem(
        &self,
        manufacturer: &str,
        request: &AddCertificate,
    ) -> Result<usize, RegistrarError> {
        let malformed = |error: der::Error| {
            RegistrarError::Certificate(super::CertificateError::Malformed(error.to_string()))
        };
        let certificates = x509_cert::Certificate::load_pem_chain(request.certificate.as_bytes())
            .map_err(malformed)?;
        let mut added = 0;
        for certificate in certificates {
            let der = der::Encode::to_der(&certificate).map_err(malformed)?;
            match self.add_certificate(manufacturer, request.kind, &der) {
                Ok(_) => added += 1,
                // What is there already is as good as added.
                Err(RegistrarError::Exists { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(added)
    }
}
