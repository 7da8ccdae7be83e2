//! `locus deploy`: checked, signed, applied, and waited for until both verdicts are there.
//!
//! It does the same with and without the webhook: what the webhook would add to pods, it adds itself where an InvariantSet is in
//! force, and whether they are let go and become ready is up to the gate's controllers either way.

mod manifests;
mod sent;
mod wait;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use locus::report::{Format, Style, frame};
use locus::session::{Cancel, Given, Session};
use locus_core::Severity;

use self::sent::{Refused, Sender};
use super::connect::Reached;
use crate::evidence::jws::TokenKey;
use crate::logs::shown;

/// How deploying ends, as the exit code says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Checked, attested and ready.
    Well = 0,
    /// The model check failed: here, or when the cluster made it.
    Refused = 1,
    /// Something could not be done, or was not concluded in time.
    Unanswered = 2,
    /// The attestation failed.
    Untrusted = 4,
}

/// What is deployed.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Exit codes:
  0  both verdicts are good, and everything is ready
  1  the model check failed, here or in the cluster
  2  something could not be done, or there was no verdict in time
  3  wrong usage
  4  the attestation failed")]
pub struct DeployArgs {
    /// Files of Kubernetes objects, or folders of such
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The namespace of objects that name none
    #[arg(short, long, value_name = "NAME")]
    namespace: Option<String>,
    /// Sign workloads with this key: P-256, PKCS #8, PEM
    #[arg(long, value_name = "FILE", requires = "tenant")]
    key: Option<PathBuf>,
    /// The identifier of the tenant that signs, as `locus gate enter tenant` printed it
    #[arg(long, value_name = "ID", requires = "key")]
    tenant: Option<String>,
    /// Settings of the check [default: the nearest `locus.toml`]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Take over fields that others wrote
    #[arg(long)]
    force_conflicts: bool,
    /// How long to wait for the verdicts, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    timeout: u64,
    /// Do not wait for the attestation
    #[arg(long)]
    no_wait: bool,
    #[command(flatten)]
    reached: Reached,
}

impl DeployArgs {
    /// Does all of it; says on standard output what the verdicts are.
    ///
    /// # Errors
    /// What could not be done.
    pub fn run(self) -> Result<Ended, String> {
        let key = self.key.as_ref().map(|path| {
            let text = std::fs::read_to_string(path).map_err(|error| error.to_string());
            let key =
                text.and_then(|text| TokenKey::from_pem(&text).map_err(|error| error.to_string()));
            key.map_err(|why| format!("`{}`: {why}", shown(&path.to_string_lossy())))
        });
        let key = key.transpose()?;
        let files = match self.check()? {
            Ok(files) => files,
            Err(ended) => {
                println!("model check: failed; nothing was sent to the cluster");
                return Ok(ended);
            }
        };
        let objects = manifests::read(&files)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        runtime.block_on(self.send(objects, key))
    }

    /// The model check, with findings as `locus check` prints them; the files that are Kubernetes' if nothing stands against them.
    fn check(&self) -> Result<Result<Vec<String>, Ended>, String> {
        let snapshot = Session::new().forgetful().snapshot();
        let given = Given {
            settings: self.config.as_ref().map(|path| path.display().to_string()),
            ..Given::of_process()
        };
        let checked = snapshot.check_all(&self.files, &[], &given, &Cancel::default());
        let batch = checked.map_err(|_| "the check was called off".to_owned())?;
        let style = Style {
            colour: frame::stdout_has_colour(),
            ..Style::default()
        };
        print!("{}", Format::Text.render(&batch, &style));
        if batch.count(Severity::Error) > 0 {
            return Ok(Err(Ended::Refused));
        }
        if !batch.unchecked.is_empty() {
            return Ok(Err(Ended::Unanswered));
        }
        let ours = batch
            .checked
            .iter()
            .filter(|one| one.report.language == "kubernetes");
        let mut files: Vec<String> = Vec::new();
        for file in ours.flat_map(|one| &one.report.files) {
            if !files.contains(file) {
                files.push(file.clone());
            }
        }
        if files.is_empty() {
            return Err("none of the files has Kubernetes objects".to_owned());
        }
        Ok(Ok(files))
    }

    async fn send(
        self,
        objects: Vec<serde_json::Value>,
        key: Option<TokenKey>,
    ) -> Result<Ended, String> {
        let (client, own) = self
            .reached
            .open()
            .await
            .map_err(|error| error.to_string())?;
        let namespace = self.namespace.unwrap_or(own);
        let signing = key.as_ref().zip(self.tenant.as_deref());
        let sender = Sender {
            client: client.clone(),
            namespace,
            signing,
            force: self.force_conflicts,
            sets: sent::sets(&client).await,
        };
        let mut applied = Vec::new();
        for object in &objects {
            match sender.apply(object).await {
                Ok(object) => applied.push(object),
                Err(Refused::Rule(message)) => {
                    println!(
                        "model check: failed in the cluster\n{}",
                        shown_lines(&message)
                    );
                    return Ok(Ended::Refused);
                }
                Err(Refused::Other(message)) => return Err(shown_lines(&message)),
            }
        }
        println!(
            "model check: passed, {} applied",
            count(applied.len(), "object")
        );
        if self.no_wait {
            println!("attestation: not waited for");
            return Ok(Ended::Well);
        }
        let patience = Duration::from_secs(self.timeout);
        let verdict = wait::wait(&client, &applied, patience).await;
        let verdict = verdict.map_err(|error| error.to_string())?;
        println!("attestation: {}", verdict.text());
        Ok(verdict.ended())
    }
}

fn count(number: usize, what: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {what}{s}")
}

/// What a server said, which may be several lines.
fn shown_lines(text: &str) -> String {
    text.lines().map(shown).collect::<Vec<_>>().join("\n")
}
