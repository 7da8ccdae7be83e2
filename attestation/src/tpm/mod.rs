//! TPM 2.0: the structures a verifier reads, and the devices an agent speaks to.
//!
//! Everything but [`esapi`] is pure Rust. A verifier uses [`public`], [`quote`] and [`credential`]; an
//! agent speaks to a [`device::Tpm`].

pub mod attest;
#[cfg(feature = "testing")]
pub mod conformance;
#[cfg(feature = "gate")]
pub mod credential;
pub mod device;
#[cfg(feature = "testing")]
pub mod emulated;
#[cfg(feature = "tpm")]
pub mod esapi;
#[cfg(feature = "gate")]
mod kdf;
pub mod pcr;
pub mod public;
pub mod quote;
#[cfg(feature = "testing")]
pub mod recorded;
pub mod signature;
#[cfg(feature = "gate")]
mod spki;
#[cfg(test)]
mod structure_tests;
mod template;
mod wire;

pub use attest::{ClockInfo, QuoteAttest};
#[cfg(feature = "gate")]
pub use credential::{CredentialError, make_credential};
pub use device::{
    AkBlob, AkKind, Credential, EkKind, Endorsement, Properties, SignedQuote, Tpm, TpmError,
};
pub use pcr::{PcrSelection, PcrValues};
pub use public::{AttestationKeyError, Public, PublicKey, SignatureError};
pub use quote::{Quote, QuoteError, VerifiedQuote, verify_quote};
pub use signature::Signature;
pub use wire::StructureError;

/// What [`base64_bytes`] reads and writes, for schemas.
pub(crate) struct Base64;
crate::schema::text_schema!(
    Base64,
    "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$",
    "Bytes in base64 with padding (RFC 4648, section 4).",
    "contentEncoding": "base64"
);

/// Bytes as base64 text in JSON.
pub(crate) mod base64_bytes {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD.decode(text).map_err(serde::de::Error::custom)
    }
}

/// A list of byte strings as base64 texts in JSON.
pub(crate) mod base64_list {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(
        list: &[Vec<u8>],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let texts: Vec<String> = list.iter().map(|bytes| STANDARD.encode(bytes)).collect();
        texts.serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<Vec<u8>>, D::Error> {
        Vec::<String>::deserialize(deserializer)?
            .into_iter()
            .map(|text| STANDARD.decode(text).map_err(serde::de::Error::custom))
            .collect()
    }
}
