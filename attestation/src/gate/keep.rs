//! Evidence kept for audit, and the flags for that and for notifications.

use std::path::PathBuf;

use clap::Args;
use zeroize::Zeroizing;

use super::GateError;
use super::problem::Problem;
use super::serve::GateConfig;
use super::verify::Verifier;
use super::webhook::WebhookConfig;
use crate::net::pki::read_file;
use crate::protocol::attestation::Shown;
use crate::verifier::{AuditStore, EvidenceRecord, KeptEvidence, Retention};

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
    fn audit<T>(
        &self,
        ask: impl FnOnce(&mut AuditStore) -> Result<T, crate::verifier::StoreError>,
    ) -> Result<T, Problem> {
        let Some(audit) = &self.parts().audit else {
            let detail = "no evidence is kept; start the gate with --keep-evidence DAYS";
            return Err(Problem::not_found(detail));
        };
        let mut audit = audit
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        Ok(ask(&mut audit)?)
    }

    /// Keeps evidence, if any is kept. An attestation does not fail because of it.
    pub(super) fn keep_evidence(&self, shown: &Shown) {
        if self.parts().audit.is_none() {
            return;
        }
        if let Err(problem) = self.audit(|audit| audit.keep(shown)) {
            tracing::error!(worker = shown.worker, %problem, "evidence was not kept");
        }
    }

    /// Throws away evidence that was kept for long enough.
    pub fn prune(&self) {
        let now = self.parts().clock.now();
        if self.parts().audit.is_some()
            && let Err(problem) = self.audit(|audit| audit.prune(now))
        {
            tracing::error!(%problem, "old evidence was not thrown away");
        }
    }

    /// The evidence that is kept, newest first.
    pub fn kept(
        &self,
        worker: Option<&str>,
        before: Option<u64>,
    ) -> Result<Vec<EvidenceRecord>, Problem> {
        self.audit(|audit| audit.list(worker, before))
    }

    /// Evidence that is kept, whole.
    pub fn kept_evidence(&self, id: u64) -> Result<KeptEvidence, Problem> {
        self.audit(|audit| audit.evidence(id))
    }
}
