//! The components as the drivers of the protocols see them.

use std::sync::Arc;

use hyper::{Method, StatusCode};
use uuid::Uuid;

use super::access::{References, Registrar, VerifierAccess, done, json, segment};
use super::problem::Problem;
use crate::protocol::port::{Admissions, Fault, FaultKind, Registrations, Values};
use crate::protocol::{Admission, Outstanding, WorkerRecord};
use crate::reference::Whitelist;
use crate::tpm::Endorsement;

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Self {
        let kind = match problem.status {
            StatusCode::NOT_FOUND => FaultKind::NotFound,
            StatusCode::CONFLICT => FaultKind::Conflict,
            StatusCode::TOO_MANY_REQUESTS => FaultKind::Unavailable,
            status if status.is_client_error() => FaultKind::Refused,
            _ => FaultKind::Unavailable,
        };
        Fault::new(kind, problem.detail)
    }
}

impl From<Fault> for Problem {
    fn from(fault: Fault) -> Self {
        let status = match fault.kind {
            FaultKind::NotFound => StatusCode::NOT_FOUND,
            FaultKind::Conflict => StatusCode::CONFLICT,
            FaultKind::Refused => StatusCode::UNPROCESSABLE_ENTITY,
            FaultKind::Unavailable => StatusCode::BAD_GATEWAY,
        };
        Problem::new(status, fault.detail)
    }
}

impl Registrations for Registrar {
    async fn check_endorsement(&self, endorsement: &Endorsement) -> Result<(), Fault> {
        Ok(Registrar::check_endorsement(self, endorsement).await?)
    }

    async fn propose(&self, registration: Uuid, worker: &WorkerRecord) -> Result<(), Fault> {
        match self {
            Registrar::Local(local) => local.propose(registration, worker)?,
            Registrar::Remote(client) => {
                let path = format!("/v1/proposals/{registration}");
                done(client, Method::PUT, &path, json(worker)?).await?;
            }
        }
        Ok(())
    }

    async fn withdraw(&self, registration: Uuid) -> Result<(), Fault> {
        match self {
            Registrar::Local(local) => local.withdraw(registration)?,
            Registrar::Remote(client) => {
                let path = format!("/v1/proposals/{registration}");
                done(client, Method::DELETE, &path, Vec::new()).await?;
            }
        }
        Ok(())
    }

    async fn accept(&self, registration: Uuid) -> Result<(), Fault> {
        match self {
            Registrar::Local(local) => local.accept(registration)?,
            Registrar::Remote(client) => {
                let path = format!("/v1/proposals/{registration}/accept");
                done(client, Method::POST, &path, Vec::new()).await?;
            }
        }
        Ok(())
    }

    async fn confirm(&self, registration: Uuid) -> Result<(), Fault> {
        match self {
            Registrar::Local(local) => local.confirm(registration)?,
            Registrar::Remote(client) => {
                let path = format!("/v1/proposals/{registration}/confirm");
                done(client, Method::POST, &path, Vec::new()).await?;
            }
        }
        Ok(())
    }

    async fn begin_removal(&self, name: &str) -> Result<(), Fault> {
        match self {
            Registrar::Local(local) => local.begin_removal(name)?,
            Registrar::Remote(client) => {
                let path = format!("/v1/workers/{}", segment(name));
                done(client, Method::DELETE, &path, Vec::new()).await?;
            }
        }
        Ok(())
    }

    async fn finish_removal(&self, name: &str) -> Result<(), Fault> {
        match self {
            Registrar::Local(local) => local.finish_removal(name)?,
            Registrar::Remote(client) => {
                let path = format!("/v1/removals/{}", segment(name));
                done(client, Method::DELETE, &path, Vec::new()).await?;
            }
        }
        Ok(())
    }

    async fn outstanding(&self) -> Result<Outstanding, Fault> {
        Ok(match self {
            Registrar::Local(local) => local.outstanding()?,
            Registrar::Remote(client) => {
                client.get("/v1/outstanding").await.map_err(Problem::from)?
            }
        })
    }

    async fn worker(&self, name: &str) -> Result<WorkerRecord, Fault> {
        Ok(Registrar::worker(self, name).await?)
    }
}

impl Admissions for VerifierAccess {
    async fn key(&self) -> Result<String, Fault> {
        Ok(match self {
            VerifierAccess::Local(verifier) => verifier.agents_key(),
            VerifierAccess::Remote(client) => client
                .get("/v1/verifier/agents-key")
                .await
                .map_err(Problem::from)?,
        })
    }

    async fn admit(&self, worker: &Admission) -> Result<(), Fault> {
        match self {
            VerifierAccess::Local(verifier) => verifier.admit(worker)?,
            VerifierAccess::Remote(client) => {
                let body = json(worker)?;
                done(client, Method::POST, "/v1/verifier/workers", body).await?;
            }
        }
        Ok(())
    }

    async fn forget(&self, name: &str) -> Result<(), Fault> {
        match self {
            VerifierAccess::Local(verifier) => verifier.remove(name)?,
            VerifierAccess::Remote(client) => {
                let path = format!("/v1/verifier/workers/{}", segment(name));
                done(client, Method::DELETE, &path, Vec::new()).await?;
            }
        }
        Ok(())
    }
}

impl Values for References {
    async fn whitelist(&self) -> Result<Arc<Whitelist>, Fault> {
        Ok(References::whitelist(self).await?)
    }
}
