//! The registrar in this process.

use std::sync::Arc;

use super::access::{TenantRecord, WorkerRecord};
use super::problem::Problem;
use crate::clock::Clock;
use crate::registrar::api::CreateTenant;
use crate::registrar::{EkKey, NewWorker, Registrar, RegistrarError, Tenant, Worker};
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

    /// Stores a worker that proved itself. The same worker may register again; its name, its keys and
    /// its identifier are nobody else's.
    pub fn store_worker(&self, record: &WorkerRecord) -> Result<(), Problem> {
        let with = NewWorker {
            name: record.name.clone(),
            ak_public: record.ak_public.clone(),
            ek_public: record.ek_public.clone(),
            ek_certificate: record.ek_certificate.clone(),
            tls_key: Some(record.tls_key.clone()),
            os: record.os.clone(),
            address: record.address.clone(),
        };
        self.registrar
            .put_worker(record.id, with, self.clock.now())?;
        Ok(())
    }

    /// Removes a worker.
    pub fn remove_worker(&self, name: &str) -> Result<(), Problem> {
        let worker = self.worker(name)?;
        Ok(self.registrar.delete_worker(worker.id)?)
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
        address: worker.with.address,
        tls_key: worker.with.tls_key.unwrap_or_default(),
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
