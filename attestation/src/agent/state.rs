//! What an agent keeps between restarts: who it is, its attestation key, and its verifier.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use uuid::Uuid;
use zeroize::Zeroizing;

use super::AgentError;
use crate::net::pki::{read_file, write_secret};
use crate::protocol::enrolment::Registered;
use crate::tpm::AkBlob;

const IDENTITY: &str = "identity.json";
const REGISTERED: &str = "registered.json";

/// Who the agent is: made at its first start and never changed.
#[derive(Clone, Serialize, Deserialize)]
pub struct Keys {
    /// The worker's identifier.
    pub worker: Uuid,
    /// The attestation key; its private part is encrypted by the TPM.
    pub ak: AkBlob,
    /// The private key of the certificate that is bound to the attestation key, in PEM.
    pub tls_key: Zeroizing<String>,
}

/// A folder with the agent's state; every file is replaced as a whole.
pub struct StateFolder(PathBuf);

impl StateFolder {
    /// Uses a folder, which must exist.
    pub fn new(folder: &Path) -> Self {
        StateFolder(folder.to_owned())
    }

    /// The keys, if there are any yet.
    pub fn keys(&self) -> Result<Option<Keys>, AgentError> {
        self.read(IDENTITY)
    }

    /// Stores the keys.
    pub fn store_keys(&self, keys: &Keys) -> Result<(), AgentError> {
        self.write(IDENTITY, keys)
    }

    /// What is known of the verifier, if the worker is registered.
    pub fn registered(&self) -> Result<Option<Registered>, AgentError> {
        self.read(REGISTERED)
    }

    /// Stores what is known of the verifier.
    pub fn store_registered(&self, registered: &Registered) -> Result<(), AgentError> {
        self.write(REGISTERED, registered)
    }

    fn read<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, AgentError> {
        let path = self.0.join(name);
        if !path.exists() {
            return Ok(None);
        }
        let text = Zeroizing::new(read_file(&path)?);
        serde_json::from_str(&text)
            .map(Some)
            .map_err(|error| AgentError::State {
                path,
                reason: error.to_string(),
            })
    }

    fn write<T: Serialize>(&self, name: &str, value: &T) -> Result<(), AgentError> {
        let path = self.0.join(name);
        let text = serde_json::to_string_pretty(value).map_err(|error| AgentError::State {
            path: path.clone(),
            reason: error.to_string(),
        })?;
        Ok(write_secret(&path, &Zeroizing::new(text))?)
    }
}
