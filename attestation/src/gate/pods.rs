//! The pod handler: tenants' requests, each signed by its tenant and only about its own pods.

use std::sync::{Arc, Mutex, PoisonError};

use super::access::{Registrar, VerifierAccess};
use super::problem::Problem;
use crate::clock::Clock;
use crate::evidence::SeenNonces;
use crate::evidence::jws::public_key_from_pem;
use crate::evidence::request::{Request, SignatureHeaders, verify};
use crate::ima::PodUid;
use crate::verifier::PodStatus;

/// How many signed requests are remembered.
const SEEN: usize = 100_000;

/// The pod handler.
pub struct PodHandler {
    registrar: Registrar,
    verifier: VerifierAccess,
    clock: Arc<dyn Clock>,
    seen: Mutex<SeenNonces>,
}

impl PodHandler {
    /// Starts with the components it asks.
    pub fn new(registrar: Registrar, verifier: VerifierAccess, clock: Arc<dyn Clock>) -> Self {
        let seen = Mutex::new(SeenNonces::new(SEEN, clock.now()));
        PodHandler {
            registrar,
            verifier,
            clock,
            seen,
        }
    }

    /// The pod, if the request is signed by the tenant that owns it.
    async fn authorise(
        &self,
        tenant: &str,
        uid: PodUid,
        request: Request<'_>,
        headers: &SignatureHeaders,
    ) -> Result<PodStatus, Problem> {
        let refused = |error: String| Problem::new(axum::http::StatusCode::UNAUTHORIZED, error);
        let record = self.registrar.tenant(tenant).await?;
        let key = public_key_from_pem(&record.public_key).map_err(Problem::internal)?;
        let now = self.clock.now();
        {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            verify(&key, request, headers, &mut seen, now)
                .map_err(|error| refused(error.to_string()))?;
        }
        let status = self.verifier.pod(uid).await?;
        if status.pod.tenant != record.id {
            // Whose pod it is, is nobody else's business.
            return Err(Problem::not_found(format!("there is no pod `{uid}`")));
        }
        Ok(status)
    }

    /// Attests a tenant's pod.
    pub async fn attest(
        &self,
        tenant: &str,
        uid: PodUid,
        request: Request<'_>,
        headers: &SignatureHeaders,
    ) -> Result<PodStatus, Problem> {
        self.authorise(tenant, uid, request, headers).await?;
        self.verifier.attest_pod(uid).await
    }

    /// What is known of a tenant's pod.
    pub async fn status(
        &self,
        tenant: &str,
        uid: PodUid,
        request: Request<'_>,
        headers: &SignatureHeaders,
    ) -> Result<PodStatus, Problem> {
        self.authorise(tenant, uid, request, headers).await
    }
}
