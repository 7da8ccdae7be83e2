//! The other components, in this process or over the network.

use std::sync::{Arc, Mutex, PoisonError};

use hyper::Method;
use percent_encoding::{NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::problem::Problem;
use super::registrar::LocalRegistrar;
use super::verify::Verifier;
use crate::ima::PodUid;
use crate::net::Client;
use crate::reference::{ReferenceStore, ReferenceValues, Whitelist};
use crate::tpm::Endorsement;
use crate::verifier::PodStatus;

/// A registered worker, as the registrar keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkerRecord {
    /// Its identifier.
    pub id: Uuid,
    /// Its host name.
    pub name: String,
    /// Its operating system.
    pub os: String,
    /// Where its agent listens: host and port.
    pub address: String,
    /// Its attestation key's public area (`TPMT_PUBLIC`).
    #[serde(with = "crate::tpm::base64_bytes")]
    #[schemars(with = "crate::tpm::Base64")]
    pub ak_public: Vec<u8>,
    /// Its endorsement key's public area (`TPMT_PUBLIC`).
    #[serde(with = "crate::tpm::base64_bytes")]
    #[schemars(with = "crate::tpm::Base64")]
    pub ek_public: Vec<u8>,
    /// Its endorsement key's certificate, in DER.
    #[serde(with = "crate::tpm::base64_bytes")]
    #[schemars(with = "crate::tpm::Base64")]
    pub ek_certificate: Vec<u8>,
    /// The digest of the public key of its TLS certificates.
    pub tls_key: String,
}

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

async fn done(client: &Client, method: Method, path: &str, body: Vec<u8>) -> Result<(), Problem> {
    let headers = [("content-type", "application/json")];
    client.send(method, path, &headers, body).await?;
    Ok(())
}

fn json<T: Serialize>(value: &T) -> Result<Vec<u8>, Problem> {
    serde_json::to_vec(value).map_err(Problem::internal)
}

/// A name as one segment of a path: whatever is in it, it names nothing else.
fn segment(name: &str) -> PercentEncode<'_> {
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

    /// Stores a worker that proved itself.
    pub async fn store_worker(&self, record: &WorkerRecord) -> Result<(), Problem> {
        match self {
            Registrar::Local(local) => local.store_worker(record),
            Registrar::Remote(client) => {
                done(client, Method::POST, "/v1/workers", json(record)?).await
            }
        }
    }

    /// Removes a worker.
    pub async fn remove_worker(&self, name: &str) -> Result<(), Problem> {
        match self {
            Registrar::Local(local) => local.remove_worker(name),
            Registrar::Remote(client) => {
                let path = format!("/v1/workers/{}", segment(name));
                done(client, Method::DELETE, &path, Vec::new()).await
            }
        }
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

/// A worker to be taken in by the verifier.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Admission {
    /// Its identifier.
    pub id: Uuid,
    /// Its name.
    pub name: String,
    /// Where its agent listens: host and port.
    pub address: String,
}

impl VerifierAccess {
    /// Takes in a registered worker.
    pub async fn admit(&self, id: Uuid, name: &str, address: &str) -> Result<(), Problem> {
        match self {
            VerifierAccess::Local(verifier) => verifier.admit(id, name, address),
            VerifierAccess::Remote(client) => {
                let admission = Admission {
                    id,
                    name: name.to_owned(),
                    address: address.to_owned(),
                };
                done(
                    client,
                    Method::POST,
                    "/v1/verifier/workers",
                    json(&admission)?,
                )
                .await
            }
        }
    }

    /// Forgets a worker.
    pub async fn remove(&self, name: &str) -> Result<(), Problem> {
        match self {
            VerifierAccess::Local(verifier) => verifier.remove(name),
            VerifierAccess::Remote(client) => {
                let path = format!("/v1/verifier/workers/{}", segment(name));
                done(client, Method::DELETE, &path, Vec::new()).await
            }
        }
    }

    /// What is known of a pod.
    pub async fn pod(&self, uid: PodUid) -> Result<PodStatus, Problem> {
        match self {
            VerifierAccess::Local(verifier) => verifier.pod(uid),
            VerifierAccess::Remote(client) => {
                Ok(client.get(&format!("/v1/verifier/pods/{uid}")).await?)
            }
        }
    }

    /// Attests a pod.
    pub async fn attest_pod(&self, uid: PodUid) -> Result<PodStatus, Problem> {
        match self {
            VerifierAccess::Local(verifier) => verifier.attest_pod(uid).await,
            VerifierAccess::Remote(client) => {
                let path = format!("/v1/verifier/pods/{uid}/attest");
                Ok(client.ask(Method::POST, &path, &()).await?)
            }
        }
    }
}
