//! Evidence: EAT claims, the quote that binds them, and the piece of log that explains it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::cbor::{CborError, Decoder, Encoder};
use super::cmw::{Cmw, CmwError, Indicator, collection_from_cbor, collection_to_cbor};
use super::nonce::Nonce;
use crate::digest::{Digest, HashAlg};
use crate::ima::PodUid;

/// The profile of the claims; a change of meaning gets a new number.
const PROFILE: &str = "tag:locus.invalid,2026:evidence#1";
/// Separates what is hashed here from anything else a TPM may be asked to quote.
const DOMAIN: &[u8] = b"locus-evidence-v1";
const CLAIMS_TYPE: &str = "application/eat-ucs+json";
const QUOTE_TYPE: &str = "application/vnd.locus.tpm-quote+cbor";
const LOG_TYPE: &str = "application/vnd.locus.ima-log";
const BOOT_LOG_TYPE: &str = "application/vnd.locus.tcg-event-log";

/// No event log of a firmware is longer: it reserves 64 KiB for it, and few need more.
pub const MAX_EVENT_LOG: usize = 1 << 20;

/// What the worker says about its evidence: an unsecured EAT claims set (RFC 9711).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvidenceClaims {
    eat_profile: String,
    /// The nonce that was asked with.
    pub eat_nonce: Nonce,
    /// When the worker made this, in seconds; informative, as its clock is its own.
    pub iat: i64,
    /// The worker.
    #[serde(rename = "locus.worker")]
    pub worker: Uuid,
    /// The pod that was asked about; nothing when it was the worker itself.
    #[serde(rename = "locus.pod", default, skip_serializing_if = "Option::is_none")]
    pub pod: Option<PodClaim>,
    /// The tenant that the pod belongs to.
    #[serde(
        rename = "locus.tenant",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub tenant: Option<Uuid>,
    /// Which piece of the log comes with it.
    #[serde(rename = "locus.log", default, skip_serializing_if = "Option::is_none")]
    pub log: Option<LogClaim>,
}

/// A pod, by the identifier that nobody can choose and the names that people know it by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PodClaim {
    /// Its unique identifier.
    pub uid: PodUid,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// A piece of the measurement log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogClaim {
    /// The number of its first entry.
    pub first: u64,
    /// The algorithm of its template hash column.
    pub column: HashAlg,
}

impl EvidenceClaims {
    /// Claims of a worker in answer to a nonce.
    pub fn new(nonce: Nonce, worker: Uuid, iat: i64) -> Self {
        EvidenceClaims {
            eat_profile: PROFILE.to_owned(),
            eat_nonce: nonce,
            iat,
            worker,
            pod: None,
            tenant: None,
            log: None,
        }
    }

    /// The bytes that are sent and bound; a receiver hashes what it received.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// From the bytes of a message.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, EvidenceError> {
        let claims: EvidenceClaims = serde_json::from_slice(bytes)
            .map_err(|error| EvidenceError::Claims(error.to_string()))?;
        if claims.eat_profile != PROFILE {
            return Err(EvidenceError::Profile(claims.eat_profile));
        }
        Ok(claims)
    }
}

/// The qualifying data of the quote: the nonce and the claims, bound together.
///
/// The TPM signs this with the attestation key, which is how the claims come to be signed.
pub fn binding(nonce: &Nonce, claims: &[u8]) -> Digest {
    let claims = HashAlg::Sha256.hash(&[claims]);
    HashAlg::Sha256.hash(&[DOMAIN, nonce.as_bytes(), claims.as_bytes()])
}

/// The value of one PCR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PcrValue {
    /// Its number.
    pub index: u32,
    /// Its value, of the algorithm of its bank.
    pub value: Digest,
}

/// A quote as it is sent: what the TPM signed, its signature, and the PCR values read with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotePart {
    /// The attestation structure (TPMS_ATTEST).
    pub attest: Vec<u8>,
    /// The signature (TPMT_SIGNATURE).
    pub signature: Vec<u8>,
    /// The PCR values, in the order of the quote.
    pub pcrs: Vec<PcrValue>,
}

/// More PCR values than any TPM has in all its banks.
const MAX_PCRS: u64 = 256;

impl QuotePart {
    fn encode(&self) -> Vec<u8> {
        let mut encoder = Encoder::default();
        encoder.array(3);
        encoder.bytes(&self.attest);
        encoder.bytes(&self.signature);
        encoder.array(self.pcrs.len());
        for pcr in &self.pcrs {
            encoder.array(3);
            encoder.unsigned(u64::from(pcr.value.alg().tpm_id()));
            encoder.unsigned(u64::from(pcr.index));
            encoder.bytes(pcr.value.as_bytes());
        }
        encoder.finish()
    }

    fn decode(bytes: &[u8]) -> Result<Self, CborError> {
        let mut decoder = Decoder::new(bytes);
        if decoder.array()? != 3 {
            return Err(CborError);
        }
        let attest = decoder.bytes()?.to_vec();
        let signature = decoder.bytes()?.to_vec();
        let count = decoder.array()?;
        if count > MAX_PCRS {
            return Err(CborError);
        }
        let mut pcrs = Vec::new();
        for _ in 0..count {
            if decoder.array()? != 3 {
                return Err(CborError);
            }
            let alg = u16::try_from(decoder.unsigned()?)
                .ok()
                .and_then(HashAlg::from_tpm_id)
                .ok_or(CborError)?;
            let index = u32::try_from(decoder.unsigned()?).map_err(|_| CborError)?;
            let value = Digest::new(alg, decoder.bytes()?).ok_or(CborError)?;
            pcrs.push(PcrValue { index, value });
        }
        decoder.end()?;
        Ok(QuotePart {
            attest,
            signature,
            pcrs,
        })
    }
}

/// A worker's evidence: a collection of conceptual messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence<'a> {
    /// The claims.
    pub claims: EvidenceClaims,
    /// The claims as they were sent; what [`binding`] is computed over.
    pub claims_bytes: &'a [u8],
    /// The quote.
    pub quote: QuotePart,
    /// The piece of log, in the kernel's binary form; empty when there is nothing new.
    pub log: &'a [u8],
    /// The firmware's event log, if it was asked for. Nothing binds it but the registers it leads to.
    pub boot_log: Option<&'a [u8]>,
}

/// Why a message is no evidence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvidenceError {
    /// Not even a wrapper.
    #[error(transparent)]
    Wrapper(#[from] CmwError),
    /// A part is missing, of another kind, or there is one too many.
    #[error("the part `{0}` of the evidence is missing or not as it must be")]
    Part(&'static str),
    /// The claims cannot be read.
    #[error("the claims cannot be read: {0}")]
    Claims(String),
    /// The claims follow another profile.
    #[error("the claims follow the profile `{0}`, which is not known here")]
    Profile(String),
}

impl<'a> Evidence<'a> {
    /// Encodes the parts of evidence; `claims` are the bytes that the quote is bound to.
    pub fn encode(claims: &[u8], quote: &QuotePart, log: Option<&[u8]>) -> Vec<u8> {
        Self::encode_with_boot_log(claims, quote, log, None)
    }

    /// The same with the firmware's event log.
    pub fn encode_with_boot_log(
        claims: &[u8],
        quote: &QuotePart,
        log: Option<&[u8]>,
        boot_log: Option<&[u8]>,
    ) -> Vec<u8> {
        let part = |media_type, value| Cmw {
            media_type,
            value,
            indicator: Indicator::EVIDENCE,
        };
        let quote = quote.encode();
        let mut records = vec![
            ("claims", part(CLAIMS_TYPE, claims)),
            ("quote", part(QUOTE_TYPE, &quote)),
        ];
        if let Some(log) = log {
            records.push(("log", part(LOG_TYPE, log)));
        }
        if let Some(boot_log) = boot_log {
            records.push(("boot-log", part(BOOT_LOG_TYPE, boot_log)));
        }
        collection_to_cbor(PROFILE, &records)
    }

    /// Decodes evidence; the log is borrowed. Nothing of it is verified here.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, EvidenceError> {
        let mut records = collection_from_cbor(PROFILE, bytes)?;
        let mut take = |name: &'static str, media_type: &str| match records.remove(name) {
            None => Ok(None),
            Some(record)
                if record.media_type == media_type && record.indicator == Indicator::EVIDENCE =>
            {
                Ok(Some(record.value))
            }
            Some(_) => Err(EvidenceError::Part(name)),
        };
        let claims_bytes = take("claims", CLAIMS_TYPE)?.ok_or(EvidenceError::Part("claims"))?;
        let quote = take("quote", QUOTE_TYPE)?.ok_or(EvidenceError::Part("quote"))?;
        let log = take("log", LOG_TYPE)?;
        let boot_log = take("boot-log", BOOT_LOG_TYPE)?;
        if !records.is_empty() {
            return Err(EvidenceError::Part("other"));
        }
        let claims = EvidenceClaims::from_bytes(claims_bytes)?;
        if claims.log.is_some() != log.is_some() {
            return Err(EvidenceError::Part("log"));
        }
        Ok(Evidence {
            claims,
            claims_bytes,
            quote: QuotePart::decode(quote).map_err(|CborError| EvidenceError::Part("quote"))?,
            log: log.unwrap_or(&[]),
            boot_log,
        })
    }

    /// What the qualifying data of the quote must be, for the nonce that was given out.
    pub fn binding(&self, nonce: &Nonce) -> Digest {
        binding(nonce, self.claims_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims() -> EvidenceClaims {
        let mut claims = EvidenceClaims::new(
            Nonce::from_bytes([7; 32]),
            Uuid::from_bytes([1; 16]),
            1_700_000_000,
        );
        claims.pod = Some(PodClaim {
            uid: "a00d22c4-3bfb-41d5-abad-493937e6ce50".parse().unwrap(),
            namespace: "shop".to_owned(),
            name: "redis".to_owned(),
        });
        claims.log = Some(LogClaim {
            first: 12,
            column: HashAlg::Sha256,
        });
        claims
    }

    fn quote() -> QuotePart {
        QuotePart {
            attest: vec![1, 2, 3],
            signature: vec![4; 70],
            pcrs: vec![PcrValue {
                index: 10,
                value: HashAlg::Sha256.hash(&[b"pcr"]),
            }],
        }
    }

    #[test]
    fn evidence_goes_there_and_back() {
        let bytes = Evidence::encode(&claims().to_bytes(), &quote(), Some(b"log"));
        let evidence = Evidence::decode(&bytes).unwrap();
        assert_eq!(evidence.claims, claims());
        assert_eq!(evidence.quote, quote());
        assert_eq!(evidence.log, b"log");
    }

    #[test]
    fn every_claim_changes_the_binding() {
        let nonce = Nonce::from_bytes([7; 32]);
        let honest = binding(&nonce, &claims().to_bytes());
        let mut others = Vec::new();
        let mut other = claims();
        other.worker = Uuid::from_bytes([2; 16]);
        others.push(other);
        let mut other = claims();
        other.log = Some(LogClaim {
            first: 0,
            column: HashAlg::Sha256,
        });
        others.push(other);
        let mut other = claims();
        other.pod = None;
        others.push(other);
        for other in others {
            assert_ne!(binding(&nonce, &other.to_bytes()), honest, "{other:?}");
        }
        let other = Nonce::from_bytes([8; 32]);
        assert_ne!(binding(&other, &claims().to_bytes()), honest);
    }

    #[test]
    fn claims_that_are_not_understood_are_refused() {
        let text = String::from_utf8(claims().to_bytes()).unwrap();
        let with = text.replacen('{', r#"{"locus.debug":true,"#, 1);
        assert!(matches!(
            EvidenceClaims::from_bytes(with.as_bytes()),
            Err(EvidenceError::Claims(_))
        ));
        let other = text.replace("evidence#1", "evidence#9");
        assert!(matches!(
            EvidenceClaims::from_bytes(other.as_bytes()),
            Err(EvidenceError::Profile(_))
        ));
    }

    #[test]
    fn a_claimed_log_must_be_there_and_no_other() {
        let bytes = Evidence::encode(&claims().to_bytes(), &quote(), None);
        assert_eq!(Evidence::decode(&bytes), Err(EvidenceError::Part("log")));
        let mut without = claims();
        without.log = None;
        let bytes = Evidence::encode(&without.to_bytes(), &quote(), Some(b""));
        assert_eq!(Evidence::decode(&bytes), Err(EvidenceError::Part("log")));
    }
}
