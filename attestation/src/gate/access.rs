//! The other components, in this process or over the network.

use std::sync::{Arc, Mutex, PoisonError};

use hyper::Method;
use percent_encoding::{NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::problem::Problem;
use super::registrar::LocalRegistrar;
use super::result::{Asked, RefusedRegistration};
use super::standing::WorkerReport;
use super::verify::Verifier;
use crate::ima::PodUid;
use crate::net::Client;
use crate::protocol::WorkerRecord;
use crate::reference::{ReferenceStore, ReferenceValues, Whitelist};
use crate::tpm::Endorsement;
use crate::verifier::{PodStatus, Trust};

/// A tenant, as the registrar keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TenantRecord {
    /// Its identifier.
    pub id: Uuid,
    /// Its name.
    pub name: String,
    /// Its public key (P-256), in PEM.
    pub public_key: String,
}

/// The registrar.
#[derive(Clone)]
pub enum Registrar {
    /// In this process.
    Local(Arc<LocalRegistrar>),
    /// Elsewhere.
    Remote(Client),
}

pub(super) async fn done(
    client: &Client,
    method: Method,
    path: &str,
    body: Vec<u8>,
) -> Result<(), Problem> {
    let headers = [("content-type", "application/json")];
    client.send(method, path, &headers, body).await?;
    Ok(())
}

pub(super) fn json<T: Serialize>(value: &T) -> Result<Vec<u8>, Problem> {
    serde_json::to_vec(value).map_err(Problem::internal)
}

/// A name as one segment of a path: whatever is in it, it names nothing else.
pub(super) fn segment(name: &str) -> PercentEncode<'_> {
    utf8_percent_encode(name, NON_ALPHANUMERIC)
}

impl Registrar {
    /// A registered worker.
    pub async fn worker(&self, name: &str) -> Result<WorkerRecord, Problem> {
        match self {
            Registrar::Local(local) => local.worker(name),
            Registrar::Remote(client) => Ok(client
                .get(&format!("/v1/workers/{}", segment(name)))
                .await?),
        }
    }

    /// The names of all registered workers.
    pub async fn workers(&self) -> Result<Vec<String>, Problem> {
        let records = match self {
            Registrar::Local(local) => local.workers()?,
            Registrar::Remote(client) => client.get("/v1/workers").await?,
        };
        Ok(records.into_iter().map(|record| record.name).collect())
    }

    /// Whether an endorsement key is vouched for by a known manufacturer.
    pub async fn check_endorsement(&self, endorsement: &Endorsement) -> Result<(), Problem> {
        match self {
            Registrar::Local(local) => local.check_endorsement(endorsement),
            Registrar::Remote(client) => {
                let path = "/v1/endorsement-keys/validate";
                done(client, Method::POST, path, json(endorsement)?).await
            }
        }
    }

    /// A tenant.
    pub async fn tenant(&self, name: &str) -> Result<TenantRecord, Problem> {
        match self {
            Registrar::Local(local) => local.tenant(name),
            Registrar::Remote(client) => Ok(client
                .get(&format!("/v1/tenants/{}", segment(name)))
                .await?),
        }
    }
}

/// The last list that was fetched, and the generation of the values it was made from.
type Fetched = Arc<Mutex<Option<(u64, Arc<Whitelist>)>>>;

/// The reference values.
#[derive(Clone)]
pub enum References {
    /// In this process.
    Local(Arc<ReferenceStore>),
    /// Elsewhere; fetched again whenever they changed.
    Remote(Client, Fetched),
}

impl References {
    /// Values that are kept elsewhere.
    pub fn remote(client: Client) -> Self {
        References::Remote(client, Arc::default())
    }

    /// The list to judge by.
    pub async fn whitelist(&self) -> Result<Arc<Whitelist>, Problem> {
        let (client, fetched) = match self {
            References::Local(store) => return Ok(store.whitelist()?),
            References::Remote(client, fetched) => (client, fetched),
        };
        let generation: u64 = client.get("/v1/reference/generation").await?;
        let known = fetched
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if let Some((at, list)) = known
            && at == generation
        {
            return Ok(list);
        }
        let values: ReferenceValues = client.get("/v1/reference").await?;
        let list = Arc::new(Whitelist::new(&values));
        *fetched.lock().unwrap_or_else(PoisonError::into_inner) = Some((generation, list.clone()));
        Ok(list)
    }
}

/// The verifier.
#[derive(Clone)]
pub enum VerifierAccess {
    /// In this process.
    Local(Arc<Verifier>),
    /// Elsewhere.
    Remote(Client),
}

impl VerifierAccess {
    /// Whether a worker is trusted.
    pub async fn trust(&self, worker: &str) -> Result<Trust, Problem> {
        Ok(match self {
            VerifierAccess::Local(verifier) => verifier.worker_status(worker)?.trust,
            VerifierAccess::Remote(client) => {
                let path = format!("/v1/verifier/workers/{}", segment(worker));
                client.get::<WorkerReport>(&path).await?.worker.trust
            }
        })
    }

    /// The refusal of a registration, signed.
    pub async fn refused(
        &self,
        refused: &RefusedRegistration,
        asked: &Asked,
    ) -> Result<String, Problem> {
        match self {
            VerifierAccess::Local(verifier) => verifier.refused_registration(refused, asked),
            VerifierAccess::Remote(client) => {
                let path = format!("/v1/verifier/refusals{}", asked.query());
                Ok(client.ask(Method::POST, &path, refused).await?)
            }
        }
    }

    /// What is known of a pod.
    pub async fn pod(&self, uid: PodUid, asked: &Asked) -> Result<PodStatus, Problem> {
        match self {
            VerifierAccess::Local(verifier) => verifier.for_asker(verifier.pod(uid)?, asked),
            VerifierAccess::Remote(client) => {
                let path = format!("/v1/verifier/pods/{uid}{}", asked.query());
                Ok(client.get(&path).await?)
            }
        }
    }

    /// Attests a pod.
    pub async fn attest_pod(&self, uid: PodUid, asked: &Asked) -> Result<PodStatus, Problem> {
        match self {
            VerifierAccess::Local(verifier) => verifier.attest_pod(uid, asked).await,
            VerifierAccess::Remote(client) => {
                let path = format!("/v1/verifier/pods/{uid}/attest{}", asked.query());
                Ok(client.ask(Method::POST, &path, &()).await?)
            }
        }
    }
}
