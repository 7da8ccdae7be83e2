//! The registrar in this process.

use std::sync::Arc;

use uuid::Uuid;

use super::access::TenantRecord;
use super::problem::Problem;
use crate::clock::Clock;
use crate::protocol::{Outstanding, WorkerRecord};
use crate::registrar::api::CreateTenant;
use crate::registrar::{EkKey, Registrar, RegistrarError, Tenant, Worker};
use crate::tpm::{Endorsement, Public, PublicKey};

impl From<RegistrarError> for Problem {
    fn from(error: RegistrarError) -> Self {
        let status = crate::registrar::api::status_of(&error);
        let status = axum::http::StatusCode::from_u16(status)
            .unwrap_or(axum::http::StatusCode::INTERNAL_SERVER_ERROR);
        Problem::new(status, error)
    }
}

/// The registrar and the time.
pub struct LocalRegistrar {
    registrar: Registrar,
    clock: Arc<dyn Clock>,
}

impl LocalRegistrar {
    /// With the time.
    pub fn new(registrar: Registrar, clock: Arc<dyn Clock>) -> Self {
        LocalRegistrar { registrar, clock }
    }

    /// The registrar itself.
    pub fn inner(&self) -> &Registrar {
        &self.registrar
    }

    /// A registered worker.
    pub fn worker(&self, name: &str) -> Result<WorkerRecord, Problem> {
        let worker = self
            .registrar
            .worker_by_name(name)?
            .ok_or_else(|| Problem::not_found(format!("there is no worker `{name}`")))?;
        Ok(record_of(worker))
    }

    /// All registered workers.
    pub fn workers(&self) -> Result<Vec<WorkerRecord>, Problem> {
        let workers = self.registrar.workers()?;
        Ok(workers.into_iter().map(record_of).collect())
    }

    /// Notes a worker that proved itself.
    pub fn propose(&self, registration: Uuid, record: &WorkerRecord) -> Result<(), Problem> {
        let now = self.clock.now();
        Ok(self.registrar.propose(registration, record, now)?)
    }

    /// Takes a proposal back.
    pub fn withdraw(&self, registration: Uuid) -> Result<(), Problem> {
        Ok(self.registrar.withdraw(registration)?)
    }

    /// Notes that a proposal is to be completed.
    pub fn accept(&self, registration: Uuid) -> Result<(), Problem> {
        Ok(self.registrar.accept(registration)?)
    }

    /// Makes an accepted proposal the registered worker.
    pub fn confirm(&self, registration: Uuid) -> Result<(), Problem> {
        Ok(self.registrar.confirm(registration, self.clock.now())?)
    }

    /// Notes that a worker is removed.
    pub fn begin_removal(&self, name: &str) -> Result<(), Problem> {
        Ok(self.registrar.begin_removal(name, self.clock.now())?)
    }

    /// Takes the note away that a worker is removed.
    pub fn finish_removal(&self, name: &str) -> Result<(), Problem> {
        Ok(self.registrar.finish_removal(name)?)
    }

    /// What has to be completed.
    pub fn outstanding(&self) -> Result<Outstanding, Problem> {
        Ok(self.registrar.outstanding()?)
    }

    /// Whether an endorsement key is vouched for by a known manufacturer, and is the one in the
    /// certificate.
    pub fn check_endorsement(&self, endorsement: &Endorsement) -> Result<(), Problem> {
        let public = Public::parse(&endorsement.public).map_err(Problem::bad)?;
        let identity = self.registrar.validate_ek(
            &endorsement.certificate,
            &endorsement.chain,
            self.clock.now(),
        )?;
        if !same_key(&identity.key, &public.key) {
            return Err(Problem::new(
                axum::http::StatusCode::UNPROCESSABLE_ENTITY,
                "the certificate is for another key than the endorsement key",
            ));
        }
        if identity.tpm.is_software() {
            tracing::warn!(
                manufacturer = identity.tpm.manufacturer,
                "A SOFTWARE TPM WAS ACCEPTED: it protects nothing against its own machine"
            );
        }
        Ok(())
    }

    /// A tenant.
    pub fn tenant(&self, name: &str) -> Result<TenantRecord, Problem> {
        let tenant = self
            .registrar
            .tenant_by_name(name)?
            .ok_or_else(|| Problem::not_found(format!("there is no tenant `{name}`")))?;
        Ok(tenant_of(tenant))
    }

    /// All tenants.
    pub fn tenants(&self) -> Result<Vec<TenantRecord>, Problem> {
        let tenants = self.registrar.tenants()?;
        Ok(tenants.into_iter().map(tenant_of).collect())
    }

    /// Enrols a tenant.
    pub fn enrol(&self, new: &CreateTenant) -> Result<TenantRecord, Problem> {
        let now = self.clock.now();
        let tenant = self
            .registrar
            .create_tenant(&new.name, &new.public_key, now)?;
        Ok(tenant_of(tenant))
    }
}

fn record_of(worker: Worker) -> WorkerRecord {
    WorkerRecord {
        id: worker.id,
        name: worker.with.name,
        os: worker.with.os,
        ak_public: worker.with.ak_public,
        ek_public: worker.with.ek_public,
        ek_certificate: worker.with.ek_certificate,
        ek_others: worker.with.ek_others,
        ek_listed: false,
        address: worker.with.address,
        tls_key: worker.with.tls_key.unwrap_or_default(),
        templates: worker.with.templates,
    }
}

fn tenant_of(tenant: Tenant) -> TenantRecord {
    TenantRecord {
        id: tenant.id,
        name: tenant.name,
        public_key: tenant.public_key,
    }
}

fn same_key(certified: &EkKey, public: &PublicKey) -> bool {
    match public {
        PublicKey::Rsa { modulus } => certified.is_rsa(modulus, 65537),
        PublicKey::Ecc { curve, x, y } => certified.is_ec(curve.bits(), x, y),
    }
}
