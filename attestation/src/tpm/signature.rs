//! Signatures of a TPM key (`TPMT_SIGNATURE`).

use super::wire::{Reader, StructureError, Writer};
use crate::digest::HashAlg;

const RSASSA: u16 = 0x0014;
const RSAPSS: u16 = 0x0016;
const ECDSA: u16 = 0x0018;
/// The largest RSA signature: 4096 bits.
const MAX_RSA: usize = 512;
/// The largest elliptic curve number: 521 bits.
const MAX_ECC: usize = 66;
const STRUCTURE: &str = "the signature";

/// How a TPM key signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SignatureScheme {
    /// RSA with PKCS #1 v1.5 padding.
    RsaSsa,
    /// RSA with probabilistic padding.
    RsaPss,
    /// ECDSA.
    EcDsa,
}

impl SignatureScheme {
    pub(super) fn tpm_id(self) -> u16 {
        match self {
            SignatureScheme::RsaSsa => RSASSA,
            SignatureScheme::RsaPss => RSAPSS,
            SignatureScheme::EcDsa => ECDSA,
        }
    }

    pub(super) fn from_tpm_id(id: u16) -> Option<Self> {
        [Self::RsaSsa, Self::RsaPss, Self::EcDsa]
            .into_iter()
            .find(|scheme| scheme.tpm_id() == id)
    }
}

/// The numbers of a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignatureValue {
    /// An RSA signature.
    Rsa(Vec<u8>),
    /// An elliptic curve signature, both numbers without padding rules.
    Ecc {
        /// The first number.
        r: Vec<u8>,
        /// The second number.
        s: Vec<u8>,
    },
}

/// A signature with its scheme and hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The scheme.
    pub scheme: SignatureScheme,
    /// The hash of the signed message.
    pub hash: HashAlg,
    /// The numbers.
    pub value: SignatureValue,
}

impl Signature {
    /// Reads a signature; every byte must belong to it.
    pub fn parse(bytes: &[u8]) -> Result<Self, StructureError> {
        let mut reader = Reader::new(STRUCTURE, bytes);
        let id = reader.u16("scheme")?;
        let scheme = SignatureScheme::from_tpm_id(id).ok_or_else(|| {
            reader.value(
                "scheme",
                format_args!("{id:#06x}"),
                "RSASSA, RSAPSS or ECDSA",
            )
        })?;
        let id = reader.u16("hash")?;
        let hash = HashAlg::from_tpm_id(id).ok_or_else(|| {
            reader.value(
                "hash",
                format_args!("{id:#06x}"),
                "sha1, sha256, sha384 or sha512",
            )
        })?;
        let value = match scheme {
            SignatureScheme::RsaSsa | SignatureScheme::RsaPss => SignatureValue::Rsa(
                reader
                    .sized("RSA signature", MAX_RSA, "at most 512 bytes")?
                    .to_vec(),
            ),
            SignatureScheme::EcDsa => SignatureValue::Ecc {
                r: reader.sized("r", MAX_ECC, "at most 66 bytes")?.to_vec(),
                s: reader.sized("s", MAX_ECC, "at most 66 bytes")?.to_vec(),
            },
        };
        reader.end()?;
        Ok(Signature {
            scheme,
            hash,
            value,
        })
    }

    /// The wire form.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.u16(self.scheme.tpm_id()).u16(self.hash.tpm_id());
        match &self.value {
            SignatureValue::Rsa(signature) => out.sized(signature),
            SignatureValue::Ecc { r, s } => out.sized(r).sized(s),
        };
        out.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_go_through_the_wire() {
        let ecc = Signature {
            scheme: SignatureScheme::EcDsa,
            hash: HashAlg::Sha256,
            value: SignatureValue::Ecc {
                r: vec![1; 32],
                s: vec![2; 31],
            },
        };
        let rsa = Signature {
            scheme: SignatureScheme::RsaPss,
            hash: HashAlg::Sha384,
            value: SignatureValue::Rsa(vec![3; 256]),
        };
        for signature in [ecc, rsa] {
            let bytes = signature.to_bytes();
            assert_eq!(Signature::parse(&bytes), Ok(signature));
            for length in 0..bytes.len() {
                assert!(Signature::parse(&bytes[..length]).is_err());
            }
        }
    }

    #[test]
    fn an_hmac_is_no_signature() {
        let error = Signature::parse(&[0, 5, 0, 11]).unwrap_err();
        assert!(error.to_string().contains("0x0005"), "{error}");
    }
}
