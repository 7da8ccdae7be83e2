//! Public areas of TPM keys (`TPMT_PUBLIC`), their names, and what their attributes promise.

use ring::signature as algorithms;

use super::signature::{Signature, SignatureScheme, SignatureValue};
use super::wire::{Reader, StructureError, Writer};
use crate::digest::HashAlg;

const RSA: u16 = 0x0001;
const ECC: u16 = 0x0023;
const NULL: u16 = 0x0010;
const AES: u16 = 0x0006;
const CFB: u16 = 0x0043;
/// `TPM_RH_ENDORSEMENT`, the hierarchy that endorsement keys live in.
const ENDORSEMENT: u32 = 0x4000_000b;
const STRUCTURE: &str = "the public area";

/// Attributes of a key (`TPMA_OBJECT`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes(pub u32);

impl Attributes {
    /// The key cannot leave its TPM.
    pub const FIXED_TPM: u32 = 1 << 1;
    /// The key cannot get another parent.
    pub const FIXED_PARENT: u32 = 1 << 4;
    /// The TPM made the private part itself.
    pub const SENSITIVE_DATA_ORIGIN: u32 = 1 << 5;
    /// Use needs only the key's (empty) password.
    pub const USER_WITH_AUTH: u32 = 1 << 6;
    /// Administration needs the key's policy.
    pub const ADMIN_WITH_POLICY: u32 = 1 << 7;
    /// Failed authorisations do not count against the dictionary attack limit.
    pub const NO_DA: u32 = 1 << 10;
    /// The key works only on what the TPM itself made.
    pub const RESTRICTED: u32 = 1 << 16;
    /// The key decrypts.
    pub const DECRYPT: u32 = 1 << 17;
    /// The key signs.
    pub const SIGN: u32 = 1 << 18;
    const KNOWN: u32 = 0x0007_0cf6;

    /// Whether all these are set.
    pub fn has(self, attributes: u32) -> bool {
        self.0 & attributes == attributes
    }
}

/// An elliptic curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curve {
    /// NIST P-256.
    P256,
    /// NIST P-384.
    P384,
    /// NIST P-521.
    P521,
}

impl Curve {
    fn tpm_id(self) -> u16 {
        match self {
            Curve::P256 => 0x0003,
            Curve::P384 => 0x0004,
            Curve::P521 => 0x0005,
        }
    }

    /// The size of its field in bits.
    pub fn bits(self) -> u16 {
        match self {
            Curve::P256 => 256,
            Curve::P384 => 384,
            Curve::P521 => 521,
        }
    }

    /// The size of a coordinate in bytes.
    pub fn size(self) -> usize {
        match self {
            Curve::P256 => 32,
            Curve::P384 => 48,
            Curve::P521 => 66,
        }
    }
}

/// The public key itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PublicKey {
    /// RSA with the exponent 65537.
    Rsa {
        /// The modulus, without leading zeros.
        modulus: Vec<u8>,
    },
    /// A point on a curve, both coordinates padded to the curve's size.
    Ecc {
        /// The curve.
        curve: Curve,
        /// The first coordinate.
        x: Vec<u8>,
        /// The second coordinate.
        y: Vec<u8>,
    },
}

/// A public area.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Public {
    /// The hash of the key's name.
    pub name_alg: HashAlg,
    /// The attributes.
    pub attributes: Attributes,
    /// The digest of the authorisation policy; empty for none.
    pub auth_policy: Vec<u8>,
    /// The AES key size in bits if the key protects children.
    pub symmetric: Option<u16>,
    /// The fixed signing scheme, if there is one.
    pub scheme: Option<(SignatureScheme, HashAlg)>,
    /// The key.
    pub key: PublicKey,
}

/// Why a key is no attestation key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AttestationKeyError {
    /// An attribute is missing.
    #[error("the attestation key is not {0}")]
    Lacks(&'static str),
    /// The key also decrypts.
    #[error("the attestation key may also decrypt")]
    Decrypts,
    /// The scheme is not fixed, or weak.
    #[error(
        "the attestation key signs with {0}, expected RSASSA or ECDSA with SHA-256 or stronger"
    )]
    Scheme(String),
    /// The name's hash is weak.
    #[error("the name of the attestation key is a {0} digest, expected SHA-256 or stronger")]
    NameHash(HashAlg),
}

/// Why a signature was not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// The signature's scheme or hash is not the key's.
    #[error("the signature was made with {found}, the key signs with {expected}")]
    Scheme {
        /// In the signature.
        found: String,
        /// In the key.
        expected: String,
    },
    /// The combination is not supported.
    #[error("a signature with {0} is not supported")]
    Unsupported(String),
    /// The signature does not fit the message.
    #[error("the signature does not match the message and the key")]
    Mismatch,
}

impl Public {
    /// Reads a public area; every byte must belong to it.
    pub fn parse(bytes: &[u8]) -> Result<Self, StructureError> {
        let mut reader = Reader::new(STRUCTURE, bytes);
        let kind = reader.u16("type")?;
        let name_alg = read_hash(&mut reader, "name algorithm")?;
        let attributes = reader.u32("attributes")?;
        if attributes & !Attributes::KNOWN != 0 {
            let found = format!("{attributes:#010x}");
            return Err(reader.value("attributes", found, "only bits that are defined"));
        }
        let auth_policy = reader
            .sized("authorisation policy", 64, "at most 64 bytes")?
            .to_vec();
        if !auth_policy.is_empty() && auth_policy.len() != name_alg.size() {
            let found = format!("{} bytes long", auth_policy.len());
            return Err(reader.value("authorisation policy", found, "a digest of the name's hash"));
        }
        let symmetric = read_symmetric(&mut reader)?;
        let scheme = read_scheme(&mut reader)?;
        let key = match kind {
            RSA => read_rsa(&mut reader)?,
            ECC => read_ecc(&mut reader)?,
            other => {
                let found = format!("{other:#06x}");
                return Err(reader.value("type", found, "RSA or ECC"));
            }
        };
        let fits = match (&key, scheme) {
            (_, None) => true,
            (PublicKey::Rsa { .. }, Some((scheme, _))) => scheme != SignatureScheme::EcDsa,
            (PublicKey::Ecc { .. }, Some((scheme, _))) => scheme == SignatureScheme::EcDsa,
        };
        if !fits {
            return Err(reader.value("scheme", "that of another type of key", "one of its type"));
        }
        reader.end()?;
        Ok(Public {
            name_alg,
            attributes: Attributes(attributes),
            auth_policy,
            symmetric,
            scheme,
            key,
        })
    }

    /// The wire form, from which the name is computed.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.u16(match self.key {
            PublicKey::Rsa { .. } => RSA,
            PublicKey::Ecc { .. } => ECC,
        })
        .u16(self.name_alg.tpm_id())
        .u32(self.attributes.0)
        .sized(&self.auth_policy);
        match self.symmetric {
            Some(bits) => out.u16(AES).u16(bits).u16(CFB),
            None => out.u16(NULL),
        };
        match self.scheme {
            Some((scheme, hash)) => out.u16(scheme.tpm_id()).u16(hash.tpm_id()),
            None => out.u16(NULL),
        };
        match &self.key {
            PublicKey::Rsa { modulus } => {
                let bits = u16::try_from(modulus.len().saturating_mul(8)).unwrap_or(u16::MAX);
                out.u16(bits).u32(0).sized(modulus)
            }
            PublicKey::Ecc { curve, x, y } => out.u16(curve.tpm_id()).u16(NULL).sized(x).sized(y),
        };
        out.0
    }

    /// The key's name: its hash algorithm and the digest of its public area.
    pub fn name(&self) -> Vec<u8> {
        name_of(self.name_alg, &[&self.to_bytes()])
    }

    /// The qualified name of this key as a primary key of the endorsement hierarchy.
    pub fn endorsement_qualified_name(&self) -> Vec<u8> {
        name_of(self.name_alg, &[&ENDORSEMENT.to_be_bytes(), &self.name()])
    }

    /// The qualified name of this key as a child of another.
    pub fn qualified_name(&self, parent: &[u8]) -> Vec<u8> {
        name_of(self.name_alg, &[parent, &self.name()])
    }

    /// Checks that the key is what quotes must be signed with: made by the TPM, bound to it, and
    /// restricted to what the TPM itself made.
    pub fn check_attestation_key(&self) -> Result<(), AttestationKeyError> {
        let needed = [
            (Attributes::FIXED_TPM, "fixed to its TPM"),
            (Attributes::FIXED_PARENT, "fixed to its parent"),
            (Attributes::SENSITIVE_DATA_ORIGIN, "made by the TPM itself"),
            (Attributes::RESTRICTED, "restricted to the TPM's own data"),
            (Attributes::SIGN, "a signing key"),
        ];
        for (attribute, what) in needed {
            if !self.attributes.has(attribute) {
                return Err(AttestationKeyError::Lacks(what));
            }
        }
        if self.attributes.has(Attributes::DECRYPT) {
            return Err(AttestationKeyError::Decrypts);
        }
        if self.name_alg == HashAlg::Sha1 {
            return Err(AttestationKeyError::NameHash(self.name_alg));
        }
        match self.scheme {
            Some((SignatureScheme::RsaSsa | SignatureScheme::EcDsa, hash))
                if hash != HashAlg::Sha1 =>
            {
                Ok(())
            }
            Some((scheme, hash)) => Err(AttestationKeyError::Scheme(format!(
                "{scheme:?} and {hash}"
            ))),
            None => Err(AttestationKeyError::Scheme("no fixed scheme".to_owned())),
        }
    }

    /// Verifies a signature of this key; its scheme and hash must be those fixed in the key.
    pub fn verify(&self, message: &[u8], signature: &Signature) -> Result<(), SignatureError> {
        let found = (signature.scheme, signature.hash);
        if self.scheme != Some(found) {
            return Err(SignatureError::Scheme {
                found: format!("{:?} and {}", found.0, found.1),
                expected: match self.scheme {
                    Some((scheme, hash)) => format!("{scheme:?} and {hash}"),
                    None => "no fixed scheme".to_owned(),
                },
            });
        }
        let unsupported = || SignatureError::Unsupported(format!("{:?} and {}", found.0, found.1));
        let verified = match (&self.key, &signature.value) {
            (PublicKey::Rsa { modulus }, SignatureValue::Rsa(value)) => {
                let algorithm = match found {
                    (SignatureScheme::RsaSsa, HashAlg::Sha256) => {
                        &algorithms::RSA_PKCS1_2048_8192_SHA256
                    }
                    (SignatureScheme::RsaSsa, HashAlg::Sha384) => {
                        &algorithms::RSA_PKCS1_2048_8192_SHA384
                    }
                    (SignatureScheme::RsaSsa, HashAlg::Sha512) => {
                        &algorithms::RSA_PKCS1_2048_8192_SHA512
                    }
                    _ => return Err(unsupported()),
                };
                algorithms::RsaPublicKeyComponents {
                    n: modulus.as_slice(),
                    e: &[1, 0, 1],
                }
                .verify(algorithm, message, value)
            }
            (PublicKey::Ecc { curve, x, y }, SignatureValue::Ecc { r, s }) => {
                let algorithm: &dyn algorithms::VerificationAlgorithm = match (curve, found.1) {
                    (Curve::P256, HashAlg::Sha256) => &algorithms::ECDSA_P256_SHA256_FIXED,
                    (Curve::P384, HashAlg::Sha384) => &algorithms::ECDSA_P384_SHA384_FIXED,
                    _ => return Err(unsupported()),
                };
                let (Some(r), Some(s)) = (padded(r, curve.size()), padded(s, curve.size())) else {
                    return Err(SignatureError::Mismatch);
                };
                let point = [&[4], x.as_slice(), y.as_slice()].concat();
                algorithms::UnparsedPublicKey::new(algorithm, point)
                    .verify(message, &[r, s].concat())
            }
            _ => return Err(unsupported()),
        };
        verified.map_err(|_| SignatureError::Mismatch)
    }
}

fn name_of(alg: HashAlg, parts: &[&[u8]]) -> Vec<u8> {
    let digest = alg.hash(parts);
    [&alg.tpm_id().to_be_bytes(), digest.as_bytes()].concat()
}

/// The number with zeros before it up to a size; none if it is longer.
pub(super) fn padded(number: &[u8], size: usize) -> Option<Vec<u8>> {
    let zeros = size.checked_sub(number.len())?;
    Some([&vec![0; zeros], number].concat())
}

fn read_hash(reader: &mut Reader<'_>, field: &'static str) -> Result<HashAlg, StructureError> {
    let id = reader.u16(field)?;
    HashAlg::from_tpm_id(id).ok_or_else(|| {
        let found = format!("{id:#06x}");
        reader.value(field, found, "sha1, sha256, sha384 or sha512")
    })
}

fn read_symmetric(reader: &mut Reader<'_>) -> Result<Option<u16>, StructureError> {
    match reader.u16("symmetric algorithm")? {
        NULL => Ok(None),
        AES => {
            let bits = reader.u16("symmetric key size")?;
            if !matches!(bits, 128 | 192 | 256) {
                return Err(reader.value("symmetric key size", bits, "128, 192 or 256"));
            }
            let mode = reader.u16("symmetric mode")?;
            if mode != CFB {
                let found = format!("{mode:#06x}");
                return Err(reader.value("symmetric mode", found, "CFB (0x0043)"));
            }
            Ok(Some(bits))
        }
        other => {
            let found = format!("{other:#06x}");
            Err(reader.value("symmetric algorithm", found, "AES or none"))
        }
    }
}

fn read_scheme(
    reader: &mut Reader<'_>,
) -> Result<Option<(SignatureScheme, HashAlg)>, StructureError> {
    let id = reader.u16("scheme")?;
    if id == NULL {
        return Ok(None);
    }
    let scheme = SignatureScheme::from_tpm_id(id).ok_or_else(|| {
        let found = format!("{id:#06x}");
        reader.value("scheme", found, "RSASSA, RSAPSS, ECDSA or none")
    })?;
    Ok(Some((scheme, read_hash(reader, "scheme's hash")?)))
}

fn read_rsa(reader: &mut Reader<'_>) -> Result<PublicKey, StructureError> {
    let bits = reader.u16("key size")?;
    if !matches!(bits, 2048 | 3072 | 4096) {
        return Err(reader.value("key size", bits, "2048, 3072 or 4096"));
    }
    let exponent = reader.u32("exponent")?;
    if !matches!(exponent, 0 | 65537) {
        return Err(reader.value("exponent", exponent, "65537, or 0 for it"));
    }
    if exponent != 0 {
        // The name is computed from the bytes, so there must be one way to write them.
        return Err(reader.value("exponent", exponent, "0, the default"));
    }
    let modulus = reader.sized("modulus", 512, "at most 512 bytes")?;
    let full = modulus.len() == usize::from(bits / 8);
    if !full || modulus.first().is_none_or(|top| top & 0x80 == 0) {
        let found = format!("{} bytes long", modulus.len());
        return Err(reader.value("modulus", found, "a number of the key's size"));
    }
    if modulus.last().is_some_and(|low| low & 1 == 0) {
        return Err(reader.value("modulus", "even", "odd"));
    }
    Ok(PublicKey::Rsa {
        modulus: modulus.to_vec(),
    })
}

fn read_ecc(reader: &mut Reader<'_>) -> Result<PublicKey, StructureError> {
    let id = reader.u16("curve")?;
    let curve = [Curve::P256, Curve::P384, Curve::P521]
        .into_iter()
        .find(|curve| curve.tpm_id() == id)
        .ok_or_else(|| reader.value("curve", format_args!("{id:#06x}"), "P-256, P-384 or P-521"))?;
    let kdf = reader.u16("key derivation")?;
    if kdf != NULL {
        return Err(reader.value("key derivation", format_args!("{kdf:#06x}"), "none"));
    }
    let mut coordinate = |field| {
        let number = reader.sized(field, 66, "at most 66 bytes")?;
        if number.len() == curve.size() {
            return Ok(number.to_vec());
        }
        let found = format!("{} bytes long", number.len());
        Err(reader.value(field, found, "as long as the curve's numbers"))
    };
    let (x, y) = (coordinate("x coordinate")?, coordinate("y coordinate")?);
    Ok(PublicKey::Ecc { curve, x, y })
}

#[cfg(test)]
#[path = "public_tests.rs"]
mod tests;
