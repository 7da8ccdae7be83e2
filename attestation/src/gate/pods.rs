//! The pod handler: tenants' requests, each signed by its tenant and only about its own pods.

use std::sync::{Arc, Mutex, PoisonError};

use uuid::Uuid;

use super::access::{Registrar, VerifierAccess};
use super::problem::Problem;
use super::result::Asked;
use crate::clock::Clock;
use crate::evidence::jws::public_key_from_pem;
use crate::evidence::request::{CLOCK_BEHIND, MAX_LIFETIME, Request, SignatureHeaders, verify};
use crate::evidence::{SeenError, SeenNonces};
use crate::ima::PodUid;
use crate::verifier::PodStatus;

/// How many signed requests are remembered.
const SEEN: usize = 100_000;

/// For how long a request may be valid after it came, in seconds: it is remembered for longer.
const VALID: i64 = MAX_LIFETIME + 2 * CLOCK_BEHIND;

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

    /// Whom the answer is for, if the request is signed by the tenant that owns the pod.
    async fn authorise(
        &self,
        (tenant, audience): (&str, Option<&str>),
        uid: PodUid,
        request: Request<'_>,
        headers: &SignatureHeaders,
    ) -> Result<Asked, Problem> {
        let refused = |error: String| Problem::new(axum::http::StatusCode::UNAUTHORIZED, error);
        let record = self.registrar.tenant(tenant).await?;
        let key = public_key_from_pem(&record.public_key).map_err(Problem::internal)?;
        let now = self.clock.now();
        let nonce = {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            verify(&key, request, headers, &mut seen, now)
                .map_err(|error| refused(error.to_string()))?
        };
        // Another pod handler may have seen it.
        if let VerifierAccess::Local(verifier) = &self.verifier {
            let (key, request) = (format!("{}/{nonce}", record.id), Uuid::new_v4().to_string());
            if !verifier.is_unused((&key, &request), now, now.plus_secs(VALID))? {
                return Err(refused(SeenError::Repeated.to_string()));
            }
        }
        // The answer is for whoever the tenant names, or for the tenant, and for this request alone.
        let asked = Asked {
            nonce: Some(nonce),
            audience: Some(audience.unwrap_or(tenant).to_owned()),
        };
        asked.check()?;
        let status = self.verifier.pod(uid, &Asked::default()).await?;
        if status.pod.tenant != record.id {
            // Whose pod it is, is nobody else's business.
            return Err(Problem::not_found(format!("there is no pod `{uid}`")));
        }
        Ok(asked)
    }

    /// Attests a tenant's pod; the result is for the audience that the tenant names, or for itself.
    pub async fn attest(
        &self,
        (tenant, audience): (&str, Option<&str>),
        uid: PodUid,
        request: Request<'_>,
        headers: &SignatureHeaders,
    ) -> Result<PodStatus, Problem> {
        let asked = self
            .authorise((tenant, audience), uid, request, headers)
            .await?;
        self.verifier.attest_pod(uid, &asked).await
    }

    /// What is known of a tenant's pod.
    pub async fn status(
        &self,
        (tenant, audience): (&str, Option<&str>),
        uid: PodUid,
        request: Request<'_>,
        headers: &SignatureHeaders,
    ) -> Result<PodStatus, Problem> {
        let asked = self
            .authorise((tenant, audience), uid, request, headers)
            .await?;
        self.verifier.pod(uid, &asked).await
    }
}
