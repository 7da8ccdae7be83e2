//! `locus gate tenant-attest`: a tenant has its own pod attested.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use hyper::Method;

use super::connection::{ClientFault, Connection, block_on, read, segment};
use crate::clock::{Clock as _, SystemClock};
use crate::evidence::jws::TokenKey;
use crate::evidence::request::{CLOCK_AHEAD, Request, sign};
use crate::evidence::{Nonce, SeenError};
use crate::ima::PodUid;
use crate::logs::shown;
use crate::net::{ClientError, Role};
use crate::verifier::{PodStatus, Trust};

/// How long the signature of a request is valid, in seconds.
const LIFETIME: i64 = 60;

/// Whether a gate refuses a request because it has just started.
fn is_too_early(error: &ClientError) -> bool {
    let ClientError::Refused {
        status, message, ..
    } = error
    else {
        return false;
    };
    *status == 401 && *message == SeenError::BeforeStart.to_string()
}

/// A pod, and who asks for it.
#[derive(Args, Clone, Debug)]
pub struct TenantArgs {
    /// The pod's UID
    uid: String,
    /// The tenant's name or identifier
    #[arg(long, value_name = "NAME")]
    tenant: String,
    /// The tenant's private key: P-256, PKCS #8, PEM
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// Print the signed result, a token, in place of the verdict
    #[arg(long)]
    token: bool,
    #[command(flatten)]
    connection: Connection,
}

impl TenantArgs {
    /// Asks; true if the pod is not trusted.
    pub fn run(self) -> Result<bool, ClientFault> {
        block_on(self.ask())
    }

    async fn ask(self) -> Result<bool, ClientFault> {
        let uid = PodUid::parse(self.uid.as_bytes()).ok_or_else(|| {
            ClientFault::Local(format!("`{}` is not a pod's UID", shown(&self.uid)))
        })?;
        let key = TokenKey::from_pem(&read(&self.key)?).map_err(|error| ClientFault::Key {
            path: self.key.clone(),
            error,
        })?;
        let tenant = segment(&self.tenant);
        let target = format!("/v1/tenants/{tenant}/pods/{uid}/attest");
        let request = Request {
            method: "POST",
            target: &target,
            body: b"",
        };
        let client = self.connection.open_as(Role::Tenant)?;
        // A gate that has just started cannot tell a new request from one made before: it is asked again until it can.
        let mut again = CLOCK_AHEAD + 2;
        let answer = loop {
            let nonce = Nonce::random().map_err(|error| ClientFault::Local(error.to_string()))?;
            let signed = sign(&key, request, &nonce, SystemClock.now(), LIFETIME);
            let headers = [
                ("content-digest", signed.content_digest.as_str()),
                ("signature-input", signed.signature_input.as_str()),
                ("signature", signed.signature.as_str()),
            ];
            let sent = client.send(Method::POST, &target, &headers, Vec::new());
            match sent.await {
                Err(error) if again > 0 && is_too_early(&error) => {
                    again -= 1;
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
                answer => break answer?,
            }
        };
        let status: PodStatus = serde_json::from_slice(&answer)
            .map_err(|error| ClientFault::Local(format!("the gate's answer: {error}")))?;
        if self.token {
            println!("{}", status.token);
        } else {
            let label = shown(&status.pod.label());
            println!("pod `{label}` is {}", status.trust.name());
        }
        Ok(status.trust != Trust::Trusted)
    }
}
