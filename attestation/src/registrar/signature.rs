//! Signatures on certificates and revocation lists.

use p256::ecdsa::signature::hazmat::PrehashVerifier as _;
use rsa::RsaPublicKey;
use rsa::pkcs1::DecodeRsaPublicKey as _;
use rsa::signature::Verifier as _;
use sha2::{Sha256, Sha384, Sha512};
use x509_cert::spki::{AlgorithmIdentifierOwned, SubjectPublicKeyInfoOwned};

use super::certificate::{P256, P384, P521};
use crate::digest::{Digest, HashAlg};

/// Why a signature is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// An algorithm that is not known here, or one that is broken.
    #[error("it is signed with an algorithm that is not accepted (`{0}`)")]
    Algorithm(String),
    /// The key of the issuer cannot be used.
    #[error("the key of its issuer cannot be used")]
    Key,
    /// The signature is wrong.
    #[error("its signature is wrong")]
    Wrong,
}

/// Verifies a signature over a message with the key of an issuer.
pub(super) fn verify(
    key: &SubjectPublicKeyInfoOwned,
    algorithm: &AlgorithmIdentifierOwned,
    message: &[u8],
    signature: &[u8],
) -> Result<(), SignatureError> {
    let oid = algorithm.oid.to_string();
    match oid.as_str() {
        "1.2.840.113549.1.1.11" => rsa_pkcs1::<Sha256>(key, message, signature),
        "1.2.840.113549.1.1.12" => rsa_pkcs1::<Sha384>(key, message, signature),
        "1.2.840.113549.1.1.13" => rsa_pkcs1::<Sha512>(key, message, signature),
        "1.2.840.113549.1.1.10" => rsa_pss(key, algorithm, message, signature),
        "1.2.840.10045.4.3.2" => ecdsa(key, &HashAlg::Sha256.hash(&[message]), signature),
        "1.2.840.10045.4.3.3" => ecdsa(key, &HashAlg::Sha384.hash(&[message]), signature),
        "1.2.840.10045.4.3.4" => ecdsa(key, &HashAlg::Sha512.hash(&[message]), signature),
        // SHA-1 and everything else.
        _ => Err(SignatureError::Algorithm(oid)),
    }
}

/// Verifies a signature over something that was hashed already, by the kind of the key: RSA with PKCS #1, or ECDSA.
pub(crate) fn verify_digest(
    key: &SubjectPublicKeyInfoOwned,
    digest: &Digest,
    signature: &[u8],
) -> Result<(), SignatureError> {
    if key.algorithm.oid.to_string() != RSA {
        return ecdsa(key, digest, signature);
    }
    let signature =
        rsa::pkcs1v15::Signature::try_from(signature).map_err(|_| SignatureError::Wrong)?;
    let key = rsa_key(key)?;
    let bytes = digest.as_bytes();
    let verified = match digest.alg() {
        HashAlg::Sha256 => {
            rsa::pkcs1v15::VerifyingKey::<Sha256>::new(key).verify_prehash(bytes, &signature)
        }
        HashAlg::Sha384 => {
            rsa::pkcs1v15::VerifyingKey::<Sha384>::new(key).verify_prehash(bytes, &signature)
        }
        HashAlg::Sha512 => {
            rsa::pkcs1v15::VerifyingKey::<Sha512>::new(key).verify_prehash(bytes, &signature)
        }
        HashAlg::Sha1 => return Err(SignatureError::Algorithm("SHA-1".to_owned())),
    };
    verified.map_err(|_| SignatureError::Wrong)
}

/// The object identifier of RSA keys.
const RSA: &str = "1.2.840.113549.1.1.1";

fn rsa_key(key: &SubjectPublicKeyInfoOwned) -> Result<RsaPublicKey, SignatureError> {
    if key.algorithm.oid.to_string() != RSA {
        return Err(SignatureError::Key);
    }
    let bits = key
        .subject_public_key
        .as_bytes()
        .ok_or(SignatureError::Key)?;
    // Below 2048 bits a key is no protection any more.
    if bits.len() < 260 {
        return Err(SignatureError::Key);
    }
    RsaPublicKey::from_pkcs1_der(bits).map_err(|_| SignatureError::Key)
}

fn rsa_pkcs1<D>(
    key: &SubjectPublicKeyInfoOwned,
    message: &[u8],
    signature: &[u8],
) -> Result<(), SignatureError>
where
    D: sha2::digest::Digest + der::oid::AssociatedOid,
    rsa::pkcs1v15::VerifyingKey<D>: rsa::signature::Verifier<rsa::pkcs1v15::Signature>,
{
    let key = rsa::pkcs1v15::VerifyingKey::<D>::new(rsa_key(key)?);
    let signature =
        rsa::pkcs1v15::Signature::try_from(signature).map_err(|_| SignatureError::Wrong)?;
    key.verify(message, &signature)
        .map_err(|_| SignatureError::Wrong)
}

fn rsa_pss(
    key: &SubjectPublicKeyInfoOwned,
    algorithm: &AlgorithmIdentifierOwned,
    message: &[u8],
    signature: &[u8],
) -> Result<(), SignatureError> {
    let unknown = || SignatureError::Algorithm("RSASSA-PSS with other parameters".to_owned());
    let parameters = algorithm.parameters.as_ref().ok_or_else(unknown)?;
    let parameters: rsa::pkcs1::RsaPssParamsOwned =
        parameters.decode_as().map_err(|_| unknown())?;
    let signature = rsa::pss::Signature::try_from(signature).map_err(|_| SignatureError::Wrong)?;
    let salt = usize::from(parameters.salt_len);
    let key = rsa_key(key)?;
    let verified = match parameters.hash.oid.to_string().as_str() {
        "2.16.840.1.101.3.4.2.1" => rsa::pss::VerifyingKey::<Sha256>::new_with_salt_len(key, salt)
            .verify(message, &signature),
        "2.16.840.1.101.3.4.2.2" => rsa::pss::VerifyingKey::<Sha384>::new_with_salt_len(key, salt)
            .verify(message, &signature),
        "2.16.840.1.101.3.4.2.3" => rsa::pss::VerifyingKey::<Sha512>::new_with_salt_len(key, salt)
            .verify(message, &signature),
        _ => return Err(unknown()),
    };
    verified.map_err(|_| SignatureError::Wrong)
}

fn ecdsa(
    key: &SubjectPublicKeyInfoOwned,
    digest: &Digest,
    signature: &[u8],
) -> Result<(), SignatureError> {
    let curve = key
        .algorithm
        .parameters
        .as_ref()
        .and_then(|curve| curve.decode_as::<der::asn1::ObjectIdentifier>().ok())
        .ok_or(SignatureError::Key)?;
    let point = key
        .subject_public_key
        .as_bytes()
        .ok_or(SignatureError::Key)?;
    macro_rules! verify_on {
        ($curve:ident) => {{
            let key = $curve::ecdsa::VerifyingKey::from_sec1_bytes(point)
                .map_err(|_| SignatureError::Key)?;
            let signature =
                $curve::ecdsa::Signature::from_der(signature).map_err(|_| SignatureError::Wrong)?;
            key.verify_prehash(digest.as_bytes(), &signature)
                .map_err(|_| SignatureError::Wrong)
        }};
    }
    match curve.to_string().as_str() {
        P256 => verify_on!(p256),
        P384 => verify_on!(p384),
        P521 => verify_on!(p521),
        _ => Err(SignatureError::Key),
    }
}
