//! How the gate is reached.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use hyper::Method;
use serde::Serialize;

use crate::evidence::jws::JwsError;
use crate::net::tls::{Credentials, TlsError};
use crate::net::{Client, ClientError, PkiError, Role};

/// The gate may have to ask an agent before it answers.
const ANSWER: Duration = Duration::from_secs(90);

/// Why nothing was entered.
#[derive(Debug, thiserror::Error)]
pub enum EnterError {
    /// The credentials.
    #[error(transparent)]
    Pki(#[from] PkiError),
    /// TLS.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The gate did not answer, or refused.
    #[error(transparent)]
    Gate(#[from] ClientError),
    /// A file cannot be used.
    #[error("`{}` cannot be used: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A key cannot be used.
    #[error("`{}`: {error}", path.display())]
    Key {
        /// The file of the key.
        path: PathBuf,
        /// Why.
        error: JwsError,
    },
    /// Something else of this machine.
    #[error("{0}")]
    Local(String),
}

/// Where the gate is, and who asks.
#[derive(Args, Clone, Debug)]
pub(super) struct Gate {
    /// Where the gate listens.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:30000")]
    gate: String,
    /// The folder with `ca.pem` and the certificate and key that `locus gate enrol` made.
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    credentials: PathBuf,
    /// The name in the gate's certificate.
    #[arg(long, value_name = "NAME", default_value = "gate")]
    server_name: String,
}

impl Gate {
    pub(super) fn open(&self, role: Role) -> Result<Client, EnterError> {
        let credentials = Credentials::read(&self.credentials, role.name())?;
        let client = Client::new(credentials.client()?, &self.gate, &self.server_name);
        Ok(client.with_timeout(ANSWER))
    }
}

/// The text of a file.
pub(super) fn read(path: &Path) -> Result<String, EnterError> {
    std::fs::read_to_string(path).map_err(|error| EnterError::File {
        path: path.to_owned(),
        reason: error.to_string(),
    })
}

/// Sends JSON and returns the bytes of the answer, which may be none.
pub(super) async fn send(
    client: &Client,
    method: Method,
    path: &str,
    body: &impl Serialize,
) -> Result<Vec<u8>, EnterError> {
    let body = serde_json::to_vec(body).map_err(|error| EnterError::Local(error.to_string()))?;
    let headers = [("content-type", "application/json")];
    Ok(client.send(method, path, &headers, body).await?.to_vec())
}
