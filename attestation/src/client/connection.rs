//! How a running gate is reached.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use hyper::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;

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
    /// Something else of this machine.
    #[error("{0}")]
    Local(String),
}

/// Where the gate is, and who asks.
#[derive(Args, Clone, Debug)]
pub struct Connection {
    /// Where the gate listens.
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1:30000",
        global = true
    )]
    gate: String,
    /// The folder with `ca.pem`, `operator.pem` and `operator.key`, as `locus gate enrol` made it.
    #[arg(long, value_name = "FOLDER", default_value = ".", global = true)]
    credentials: PathBuf,
    /// The name in the gate's certificate: that of a component that runs alone, or of a host.
    #[arg(long, value_name = "NAME", default_value = "gate", global = true)]
    server_name: String,
}

impl Connection {
    /// A client with the operator's credentials.
    pub fn open(&self) -> Result<Client, ClientFault> {
        let credentials = Credentials::read(&self.credentials, Role::Operator.name())?;
        let client = Client::new(credentials.client()?, &self.gate, &self.server_name);
        Ok(client.with_timeout(ANSWER))
    }
}

/// Asks with a body that the answer does not depend on being JSON: some answers are empty.
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
