//! The DSSE envelope that a statement is carried in.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::key::SigningKey;
use super::statement::Statement;

/// The type of what is carried.
const PAYLOAD: &str = "application/vnd.in-toto+json";

/// Stands for a key in the entry that holds a digest instead of a signature: against accidents, not attackers.
pub(super) const CHECKSUM: &str = "sha256";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Envelope {
    payload: String,
    payload_type: String,
    signatures: Vec<Signature>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Signature {
    keyid: String,
    sig: String,
}

/// An envelope that was opened.
pub(super) struct Opened {
    pub(super) statement: Statement,
    /// What was signed.
    pub(super) message: Vec<u8>,
    /// Identifiers of keys, and signatures.
    pub(super) signatures: Vec<(String, Vec<u8>)>,
}

/// What is signed: the payload and its type, each with its length.
fn message(payload: &[u8]) -> Vec<u8> {
    let mut message = format!("DSSEv1 {} {PAYLOAD} {} ", PAYLOAD.len(), payload.len()).into_bytes();
    message.extend_from_slice(payload);
    message
}

impl Statement {
    /// The statement in an envelope, signed if there is a key.
    ///
    /// # Errors
    /// Why it cannot be signed, in words for the user.
    pub fn seal(&self, key: Option<&SigningKey>) -> Result<Vec<u8>, String> {
        let mut statement = self.clone();
        statement.predicate.signer = key.map(|key| key.public().id());
        let payload = serde_json::to_vec(&statement).map_err(|error| error.to_string())?;
        let message = message(&payload);
        let mut signatures = Vec::new();
        if let Some(key) = key {
            signatures.push(Signature {
                keyid: key.public().id(),
                sig: STANDARD.encode(key.sign(&message)?),
            });
        }
        signatures.push(Signature {
            keyid: CHECKSUM.to_owned(),
            sig: STANDARD.encode(Sha256::digest(&message)),
        });
        let envelope = Envelope {
            payload: STANDARD.encode(&payload),
            payload_type: PAYLOAD.to_owned(),
            signatures,
        };
        envelope.to_bytes()
    }
}

impl Envelope {
    fn to_bytes(&self) -> Result<Vec<u8>, String> {
        let mut bytes = serde_json::to_vec(self).map_err(|error| error.to_string())?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Opens an envelope. It must be written as this program writes it, to the byte.
    pub(super) fn open(bytes: &[u8]) -> Result<Opened, String> {
        let envelope: Envelope = serde_json::from_slice(bytes)
            .map_err(|error| format!("it is not an envelope: {error}"))?;
        if envelope.payload_type != PAYLOAD {
            return Err(format!(
                "it carries `{}`, not a statement",
                envelope.payload_type
            ));
        }
        if envelope.to_bytes()? != bytes {
            return Err("it is not written as it was made".to_owned());
        }
        let decode = |text: &str| {
            let decoded = STANDARD.decode(text);
            decoded.map_err(|error| format!("it is not in base64: {error}"))
        };
        let payload = decode(&envelope.payload)?;
        let statement: Statement = serde_json::from_slice(&payload)
            .map_err(|error| format!("it carries no statement about a check: {error}"))?;
        // Nothing may be said twice, or in a place where nobody looks.
        let again = serde_json::to_vec(&statement).map_err(|error| error.to_string())?;
        if again != payload {
            return Err("its statement is not written as it was made".to_owned());
        }
        let signatures = envelope.signatures.iter();
        let signatures = signatures.map(|one| Ok((one.keyid.clone(), decode(&one.sig)?)));
        let signatures: Vec<(String, Vec<u8>)> = signatures.collect::<Result<_, String>>()?;
        Ok(Opened {
            statement,
            message: message(&payload),
            signatures,
        })
    }
}
