//! Evidence kept for audit, and the flags for that and for notifications.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use clap::Args;
use zeroize::Zeroizing;

use super::GateError;
use super::problem::Problem;
use super::serve::GateConfig;
use super::verify::Verifier;
use super::webhook::WebhookConfig;
use crate::net::pki::read_file;
use crate::protocol::attestation::Shown;
use crate::verifier::{AuditStore, EvidenceRecord, KeptEvidence, Retention, StoreError, deflate};

/// What is kept of attestations, and who is told of them.
#[derive(Args, Clone, Debug)]
pub struct KeepArgs {
    /// How long to keep the evidence of attestations for audit, in days; 0 for not at all.
    #[arg(long, value_name = "DAYS", default_value_t = 0)]
    keep_evidence: u32,
    /// Post every change of trust to this URL; may be given more than once. Plain `http` is for this machine only.
    #[arg(long, value_name = "URL")]
    webhook: Vec<String>,
    /// The certificates (PEM) to verify the servers of webhooks with.
    #[arg(long, value_name = "FILE")]
    webhook_ca: Option<PathBuf>,
    /// The file with the secret to sign notifications with.
    #[arg(long, value_name = "FILE")]
    webhook_secret: Option<PathBuf>,
}

impl KeepArgs {
    /// Adds what the flags say to a configuration.
    pub(super) fn apply(&self, config: &mut GateConfig) -> Result<(), GateError> {
        config.retention = Retention::of_days(self.keep_evidence);
        let secret = self.webhook_secret.as_deref().map(read_file).transpose()?;
        config.webhooks = WebhookConfig {
            urls: self.webhook.clone(),
            roots: self.webhook_ca.as_deref().map(read_file).transpose()?,
            secret: secret.map(|text| Zeroizing::new(text.trim_end().as_bytes().to_vec())),
        };
        Ok(())
    }
}

impl Verifier {
    /// Asks the database, on a thread that nobody else waits for: evidence may be long.
    async fn audit<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&Mutex<AuditStore>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Problem> {
        let Some(audit) = self.parts().audit.clone() else {
            let detail = "no evidence is kept; start the gate with --keep-evidence DAYS";
            return Err(Problem::not_found(detail));
        };
        let asked = tokio::task::spawn_blocking(move || ask(&audit)).await;
        Ok(asked.map_err(Problem::internal)??)
    }

    /// Keeps evidence, if any is kept. An attestation does not fail because of it.
    pub(super) async fn keep_evidence(&self, shown: Shown) {
        if self.parts().audit.is_none() {
            return;
        }
        let worker = shown.worker.clone();
        let kept = self.audit(move |audit| {
            let deflated = deflate(&shown.evidence)?;
            open(audit).keep(&shown, &deflated)
        });
        if let Err(problem) = kept.await {
            tracing::error!(worker, %problem, "evidence was not kept");
        }
    }

    /// Throws away evidence that was kept for long enough.
    pub async fn prune(&self) {
        let now = self.parts().clock.now();
        if self.parts().audit.is_some()
            && let Err(problem) = self.audit(move |audit| open(audit).prune(now)).await
        {
            tracing::error!(%problem, "old evidence was not thrown away");
        }
    }

    /// The evidence that is kept, newest first.
    pub async fn kept(
        &self,
        worker: Option<String>,
        before: Option<u64>,
    ) -> Result<Vec<EvidenceRecord>, Problem> {
        self.audit(move |audit| open(audit).list(worker.as_deref(), before))
            .await
    }

    /// Evidence that is kept, whole.
    pub async fn kept_evidence(&self, id: u64) -> Result<KeptEvidence, Problem> {
        self.audit(move |audit| open(audit).evidence(id)).await
    }
}

fn open(audit: &Mutex<AuditStore>) -> MutexGuard<'_, AuditStore> {
    audit.lock().unwrap_or_else(PoisonError::into_inner)
}
