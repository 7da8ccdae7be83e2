//! What an agent asks of a TPM, whichever it is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::attest::QuoteAttest;
use super::pcr::{PcrSelection, PcrValues};
use super::public::Public;
use super::quote::{Quote, digest_hash};
pub use super::template::EkKind;
use super::wire::StructureError;

/// How often a quote is repeated when the registers changed between quote and read.
pub const QUOTE_ATTEMPTS: u32 = 5;

/// What kind of attestation key to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AkKind {
    /// RSA 2048, PKCS #1 v1.5 with SHA-256.
    Rsa2048,
    /// ECDSA on P-256 with SHA-256.
    EccP256,
}

/// An endorsement key and what vouches for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Endorsement {
    /// The template.
    pub kind: EkKind,
    /// The public area (`TPMT_PUBLIC`).
    #[serde(with = "super::base64_bytes")]
    #[schemars(with = "super::Base64")]
    pub public: Vec<u8>,
    /// The manufacturer's certificate in DER, without the padding of its storage.
    #[serde(with = "super::base64_bytes")]
    #[schemars(with = "super::Base64")]
    pub certificate: Vec<u8>,
    /// Intermediate certificates that the TPM itself stores, in DER.
    #[serde(with = "super::base64_list")]
    #[schemars(with = "Vec<super::Base64>")]
    pub chain: Vec<Vec<u8>>,
}

/// An attestation key as it is stored between restarts; the private part is encrypted by the TPM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AkBlob {
    /// The endorsement key that is its parent.
    pub parent: EkKind,
    /// The public area (`TPMT_PUBLIC`).
    #[serde(with = "super::base64_bytes")]
    pub public: Vec<u8>,
    /// The private part, encrypted by the TPM.
    #[serde(with = "super::base64_bytes")]
    pub private: Vec<u8>,
}

impl AkBlob {
    /// The parsed public area.
    pub fn public_area(&self) -> Result<Public, StructureError> {
        Public::parse(&self.public)
    }
}

/// The two parts of a credential, as `TPM2_ActivateCredential` takes them, without outer lengths.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Credential {
    /// The authenticated, encrypted secret (`TPM2B_ID_OBJECT`).
    #[serde(with = "super::base64_bytes")]
    #[schemars(with = "super::Base64")]
    pub id_object: Vec<u8>,
    /// The seed, encrypted to the endorsement key (`TPM2B_ENCRYPTED_SECRET`).
    #[serde(with = "super::base64_bytes")]
    #[schemars(with = "super::Base64")]
    pub encrypted_seed: Vec<u8>,
}

/// What a TPM says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Properties {
    /// The manufacturer's four letters.
    pub manufacturer: String,
    /// The vendor's description.
    pub vendor: String,
    /// The firmware's version.
    pub firmware: u64,
    /// Whether this is a program rather than a chip: it protects nothing against its own machine.
    pub software: bool,
    /// The endorsement keys it can make.
    pub endorsement_kinds: Vec<EkKind>,
}

/// A quote before the values of its registers were read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedQuote {
    /// What was signed (`TPMS_ATTEST`).
    #[serde(with = "super::base64_bytes")]
    pub attest: Vec<u8>,
    /// The signature (`TPMT_SIGNATURE`).
    #[serde(with = "super::base64_bytes")]
    pub signature: Vec<u8>,
}

/// Why a TPM did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum TpmError {
    /// There is no TPM there, or it does not answer.
    #[error("the TPM does not answer: {0}")]
    Unavailable(String),
    /// The TPM asks to try later.
    #[error("the TPM is busy")]
    Busy,
    /// The TPM cannot do it.
    #[error("the TPM does not support {0}")]
    Unsupported(String),
    /// The endorsement key has no certificate.
    #[error("the TPM stores no certificate for its {0:?} endorsement key")]
    NoCertificate(EkKind),
    /// The stored key is not one of this TPM.
    #[error("the stored attestation key does not belong to this TPM")]
    ForeignKey,
    /// The credential was not made for this TPM and this key.
    #[error("the credential is not for this endorsement key and attestation key")]
    Credential,
    /// The registers changed between every quote and read.
    #[error("the registers changed during each of {0} quotes")]
    Unstable(u32),
    /// Anything else, as the TPM put it.
    #[error("the TPM failed: {0}")]
    Failed(String),
}

/// A TPM, seen from an agent.
///
/// Every implementation passes [`super::conformance::check`].
pub trait Tpm: Send {
    /// What it says about itself.
    fn properties(&mut self) -> Result<Properties, TpmError>;

    /// The endorsement key of a kind, with certificate and chain.
    fn endorsement(&mut self, kind: EkKind) -> Result<Endorsement, TpmError>;

    /// The public area of the endorsement key of a kind, whether or not it has a certificate.
    fn endorsement_public(&mut self, kind: EkKind) -> Result<Vec<u8>, TpmError> {
        Ok(self.endorsement(kind)?.public)
    }

    /// Makes an attestation key below an endorsement key.
    fn create_ak(&mut self, parent: EkKind, kind: AkKind) -> Result<AkBlob, TpmError>;

    /// Recovers the secret of a credential that was made for an endorsement key, which need not be the
    /// attestation key's parent: that both are in one TPM is what the secret proves.
    fn activate_credential(
        &mut self,
        ak: &AkBlob,
        endorsement: EkKind,
        credential: &Credential,
    ) -> Result<Zeroizing<Vec<u8>>, TpmError>;

    /// Signs the digest of some registers.
    fn sign_quote(
        &mut self,
        ak: &AkBlob,
        qualifying: &[u8],
        selection: &PcrSelection,
    ) -> Result<SignedQuote, TpmError>;

    /// Reads some registers.
    fn read_pcrs(&mut self, selection: &PcrSelection) -> Result<PcrValues, TpmError>;

    /// Extends a register in the banks of the given digests.
    ///
    /// The kernel does this for its log; here it is for tests and the demonstration.
    fn extend(&mut self, pcr: u8, digests: &[crate::digest::Digest]) -> Result<(), TpmError>;
}

/// A quote together with the values it covers.
///
/// Quote and read are two commands: when a register changed in between, both are repeated.
pub fn quote(
    tpm: &mut dyn Tpm,
    ak: &AkBlob,
    qualifying: &[u8],
    selection: &PcrSelection,
) -> Result<Quote, TpmError> {
    let failed = |error: StructureError| TpmError::Failed(error.to_string());
    let public = ak.public_area().map_err(failed)?;
    let hash = digest_hash(&public)
        .ok_or_else(|| TpmError::Unsupported("a key without a scheme".to_owned()))?;
    for _ in 0..QUOTE_ATTEMPTS {
        let signed = tpm.sign_quote(ak, qualifying, selection)?;
        let pcrs = tpm.read_pcrs(selection)?;
        let attest = QuoteAttest::parse(&signed.attest).map_err(failed)?;
        let digest = pcrs.digest(selection, hash);
        if digest.is_some_and(|digest| digest.as_bytes() == attest.pcr_digest) {
            return Ok(Quote {
                attest: signed.attest,
                signature: signed.signature,
                pcrs,
            });
        }
    }
    Err(TpmError::Unstable(QUOTE_ATTEMPTS))
}
