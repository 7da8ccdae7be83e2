//! Verification of a quote: everything that must agree before a PCR value is believed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::attest::{ClockInfo, QuoteAttest};
use super::pcr::{PcrSelection, PcrValues};
use super::public::{Public, SignatureError};
use super::signature::Signature;
use super::wire::StructureError;
use crate::digest::HashAlg;

/// A quote as an agent sends it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Quote {
    /// What was signed (`TPMS_ATTEST`).
    #[serde(with = "super::base64_bytes")]
    #[schemars(with = "super::Base64")]
    pub attest: Vec<u8>,
    /// The signature (`TPMT_SIGNATURE`).
    #[serde(with = "super::base64_bytes")]
    #[schemars(with = "super::Base64")]
    pub signature: Vec<u8>,
    /// The values of the quoted registers, read apart from the quote.
    pub pcrs: PcrValues,
}

/// What a verified quote says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedQuote {
    /// The values of exactly the registers that were asked for.
    pub pcrs: PcrValues,
    /// Clock and boot counters.
    pub clock_info: ClockInfo,
    /// The firmware's version.
    pub firmware_version: u64,
    /// The qualified name of the key that signed.
    pub qualified_signer: Vec<u8>,
}

/// Why a quote is not believed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuoteError {
    /// A structure is malformed.
    #[error(transparent)]
    Structure(#[from] StructureError),
    /// The signature is wrong.
    #[error("the quote is not signed by the attestation key: {0}")]
    Signature(#[from] SignatureError),
    /// The nonce is not the one that was asked for.
    #[error("the quote answers another nonce: it is old, or meant for another request")]
    Nonce,
    /// The registers are not those that were asked for.
    #[error("the quote covers {found}, asked for were {asked}")]
    Selection {
        /// In the quote.
        found: String,
        /// In the request.
        asked: String,
    },
    /// Values are missing, or there are more than were asked for.
    #[error("the values sent are not those of the registers asked for: {0}")]
    Values(String),
    /// The values do not have the quoted digest.
    #[error("the PCR values do not have the digest in the quote")]
    Digest,
}

/// Verifies a quote against the key, the nonce and the registers that the *verifier* chose.
pub fn verify_quote(
    key: &Public,
    quote: &Quote,
    nonce: &[u8],
    asked: &PcrSelection,
) -> Result<VerifiedQuote, QuoteError> {
    // The signature comes first: nothing unauthenticated is interpreted beyond the signature itself.
    let signature = Signature::parse(&quote.signature)?;
    key.verify(&quote.attest, &signature)?;
    let attest = QuoteAttest::parse(&quote.attest)?;
    if nonce.is_empty() || attest.extra_data != nonce {
        return Err(QuoteError::Nonce);
    }
    // A TPM signs a selection of nothing when it does not have the bank that was asked for.
    let nothing = asked.registers().next().is_none();
    if nothing || attest.selection != *asked {
        return Err(QuoteError::Selection {
            found: describe(&attest.selection),
            asked: describe(asked),
        });
    }
    let count = asked.registers().count();
    if !quote.pcrs.is_consistent() || quote.pcrs.len() != count {
        return Err(QuoteError::Values(format!(
            "{} values for {count} registers",
            quote.pcrs.len()
        )));
    }
    let digest = quote
        .pcrs
        .digest(asked, signature.hash)
        .ok_or_else(|| QuoteError::Values("a register has no value".to_owned()))?;
    if digest.as_bytes() != attest.pcr_digest {
        return Err(QuoteError::Digest);
    }
    Ok(VerifiedQuote {
        pcrs: quote.pcrs.clone(),
        clock_info: attest.clock_info,
        firmware_version: attest.firmware_version,
        qualified_signer: attest.qualified_signer,
    })
}

fn describe(selection: &PcrSelection) -> String {
    let banks: Vec<String> = selection
        .banks()
        .iter()
        .map(|bank| {
            let pcrs: Vec<String> = bank.pcrs.iter().map(u8::to_string).collect();
            format!("{} PCR {}", bank.bank, pcrs.join(","))
        })
        .collect();
    if banks.is_empty() {
        "no register".to_owned()
    } else {
        banks.join(" and ")
    }
}

/// The hash with which the values behind a quote are digested: that of the key's scheme.
pub fn digest_hash(key: &Public) -> Option<HashAlg> {
    key.scheme.map(|(_, hash)| hash)
}
