//! How a running gate is reached.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use hyper::Method;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::evidence::jws::JwsError;
use crate::logs::shown;
use crate::net::tls::{Credentials, TlsError};
use crate::net::{Client, ClientError, PkiError, Role};

/// How long the gate may take: it may have to ask an agent first.
const ANSWER: Duration = Duration::from_secs(90);

/// Why the gate was not asked, or did not answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientFault {
    /// The credentials.
    #[error(transparent)]
    Pki(#[from] PkiError),
    /// TLS.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The gate's answer.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// A file of the one who asks.
    #[error("`{}` cannot be used: {reason}", shown(&path.to_string_lossy()))]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A key of the one who asks.
    #[error("`{}`: {error}", shown(&path.to_string_lossy()))]
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
pub struct Connection {
    /// Where the gate listens.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:30000")]
    gate: String,
    /// The folder with `ca.pem` and your certificate and key, as `locus gate enrol` made it.
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    credentials: PathBuf,
    /// The name in the gate's certificate: that of a component that runs alone, or of a host.
    #[arg(long, value_name = "NAME", default_value = "gate")]
    server_name: String,
}

impl Connection {
    /// A client with the operator's credentials.
    pub(super) fn open(&self) -> Result<Client, ClientFault> {
        self.open_as(Role::Operator)
    }

    /// A client with the credentials of a role.
    pub(super) fn open_as(&self, role: Role) -> Result<Client, ClientFault> {
        let credentials = Credentials::read(&self.credentials, role.name())?;
        let client = Client::new(credentials.client()?, &self.gate, &self.server_name);
        Ok(client.with_timeout(ANSWER))
    }
}

/// Does what a command says, and waits for it.
pub(super) fn block_on<T>(
    work: impl Future<Output = Result<T, ClientFault>>,
) -> Result<T, ClientFault> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| ClientFault::Local(error.to_string()))?;
    runtime.block_on(work)
}

/// A name as a part of a path.
pub(super) fn segment(name: &str) -> String {
    utf8_percent_encode(name, NON_ALPHANUMERIC).to_string()
}

/// The text of a file.
pub(super) fn read(path: &Path) -> Result<String, ClientFault> {
    std::fs::read_to_string(path).map_err(|error| unusable(path, &error))
}

/// The JSON of a file.
pub(super) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, ClientFault> {
    serde_json::from_str(&read(path)?).map_err(|error| unusable(path, &error))
}

fn unusable(path: &Path, reason: &dyn std::fmt::Display) -> ClientFault {
    ClientFault::File {
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}

/// Sends JSON where nothing depends on the answer, which may be empty.
pub(super) async fn tell<Q: Serialize>(
    client: &Client,
    method: Method,
    path: &str,
    question: &Q,
) -> Result<(), ClientFault> {
    let body =
        serde_json::to_vec(question).map_err(|error| ClientFault::Local(error.to_string()))?;
    let headers = [("content-type", "application/json")];
    client.send(method, path, &headers, body).await?;
    Ok(())
}

/// What the gate answers to a question, or nothing if it knows no such thing.
pub(super) async fn find<A: DeserializeOwned>(
    client: &Client,
    path: &str,
) -> Result<Option<A>, ClientFault> {
    match client.get(path).await {
        Ok(answer) => Ok(Some(answer)),
        Err(ClientError::Refused { status: 404, .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
