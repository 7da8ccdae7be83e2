//! Credentials (`TPM2_MakeCredential`): a secret that only the TPM with this endorsement key can
//! recover, and only while the named attestation key is loaded in it.

use getrandom::rand_core::CryptoRng;
use p256::elliptic_curve::Generate;
use rsa::{BoxedUint, Oaep, RsaPublicKey};
use sha1::Sha1;
use sha2::{Sha256, Sha384, Sha512};
use zeroize::Zeroizing;

use super::device::Credential;
use super::kdf::{Direction, aes_cfb, hmac, kdfa, kdfe};
use super::public::{Attributes, Curve, Public, PublicKey};
use super::wire::Writer;
use crate::digest::HashAlg;

/// The label under which the seed of a credential is protected.
pub(super) const IDENTITY: &str = "IDENTITY";
/// The label of the key that hides the secret.
pub(super) const STORAGE: &str = "STORAGE";
/// The label of the key that authenticates it.
pub(super) const INTEGRITY: &str = "INTEGRITY";

/// Why no credential can be made for a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CredentialError {
    /// The endorsement key is not one that opens credentials.
    #[error("the endorsement key is not a restricted decryption key fixed to its TPM")]
    NotEndorsement,
    /// The key has no symmetric algorithm to protect with.
    #[error("the endorsement key names no AES key size")]
    NoSymmetric,
    /// The public key is not valid.
    #[error("the endorsement key is not a valid public key")]
    InvalidKey,
    /// The secret is longer than the name's digest.
    #[error("the secret has {0} bytes, more than the digest of the endorsement key's name")]
    SecretTooLong(usize),
}

/// Makes a credential that protects `secret` for the TPM with the endorsement key `ek`, to be
/// released only with the key named `ak_name`.
pub fn make_credential<R: CryptoRng + ?Sized>(
    ek: &Public,
    ak_name: &[u8],
    secret: &[u8],
    rng: &mut R,
) -> Result<Credential, CredentialError> {
    let needed = Attributes::FIXED_TPM | Attributes::RESTRICTED | Attributes::DECRYPT;
    if !ek.attributes.has(needed) || ek.attributes.has(Attributes::SIGN) {
        return Err(CredentialError::NotEndorsement);
    }
    let bits = ek.symmetric.ok_or(CredentialError::NoSymmetric)?;
    let alg = ek.name_alg;
    if secret.len() > alg.size() {
        return Err(CredentialError::SecretTooLong(secret.len()));
    }
    let (seed, encrypted_seed) = match &ek.key {
        PublicKey::Rsa { modulus } => share_rsa(alg, modulus, rng)?,
        PublicKey::Ecc { curve, x, y } => share_ecc(alg, *curve, x, y, rng)?,
    };
    let id_object = seal(alg, &seed, bits, ak_name, secret).ok_or(CredentialError::NoSymmetric)?;
    Ok(Credential {
        id_object,
        encrypted_seed,
    })
}

/// The outer wrap of a secret under a seed and a name.
pub(super) fn seal(
    alg: HashAlg,
    seed: &[u8],
    bits: u16,
    name: &[u8],
    secret: &[u8],
) -> Option<Vec<u8>> {
    let mut plain = Writer::default();
    plain.sized(secret);
    let plain = Zeroizing::new(plain.0);
    let key = Zeroizing::new(kdfa(alg, seed, STORAGE, name, &[], u32::from(bits)));
    let hidden = aes_cfb(&key, &plain, Direction::Encrypt)?;
    let tag = integrity(alg, seed, &hidden, name);
    let mut out = Writer::default();
    out.sized(&tag).raw(&hidden);
    Some(out.0)
}

/// The authentication tag over a hidden secret and the name it is bound to.
pub(super) fn integrity(alg: HashAlg, seed: &[u8], hidden: &[u8], name: &[u8]) -> Vec<u8> {
    let bits = u32::try_from(alg.size() * 8).unwrap_or(u32::MAX);
    let key = Zeroizing::new(kdfa(alg, seed, INTEGRITY, &[], &[], bits));
    hmac(alg, &key, &[hidden, name])
}

type Shared = (Zeroizing<Vec<u8>>, Vec<u8>);

fn share_rsa<R: CryptoRng + ?Sized>(
    alg: HashAlg,
    modulus: &[u8],
    rng: &mut R,
) -> Result<Shared, CredentialError> {
    let invalid = CredentialError::InvalidKey;
    let number = BoxedUint::from_be_slice_vartime(modulus);
    let key = RsaPublicKey::new(number, BoxedUint::from(65537u32)).map_err(|_| invalid)?;
    let mut seed = Zeroizing::new(vec![0; alg.size()]);
    rng.fill_bytes(&mut seed);
    // The label is a C string: its zero byte is part of it.
    let label = b"IDENTITY\0".as_slice();
    let sealed = match alg {
        HashAlg::Sha1 => key.encrypt(rng, Oaep::<Sha1>::new_with_label(label), &seed),
        HashAlg::Sha256 => key.encrypt(rng, Oaep::<Sha256>::new_with_label(label), &seed),
        HashAlg::Sha384 => key.encrypt(rng, Oaep::<Sha384>::new_with_label(label), &seed),
        HashAlg::Sha512 => key.encrypt(rng, Oaep::<Sha512>::new_with_label(label), &seed),
    };
    Ok((seed, sealed.map_err(|_| CredentialError::InvalidKey)?))
}

fn share_ecc<R: CryptoRng + ?Sized>(
    alg: HashAlg,
    curve: Curve,
    x: &[u8],
    y: &[u8],
    rng: &mut R,
) -> Result<Shared, CredentialError> {
    let point = [&[4], x, y].concat();
    let (z, ephemeral) = match curve {
        Curve::P256 => {
            let peer = p256::PublicKey::from_sec1_bytes(&point);
            let peer = peer.map_err(|_| CredentialError::InvalidKey)?;
            let mine = p256::ecdh::EphemeralSecret::generate_from_rng(rng);
            let z = mine.diffie_hellman(&peer);
            let public = mine.public_key().to_sec1_bytes();
            (Zeroizing::new(z.raw_secret_bytes().to_vec()), public)
        }
        Curve::P384 => {
            let peer = p384::PublicKey::from_sec1_bytes(&point);
            let peer = peer.map_err(|_| CredentialError::InvalidKey)?;
            let mine = p384::ecdh::EphemeralSecret::generate_from_rng(rng);
            let z = mine.diffie_hellman(&peer);
            let public = mine.public_key().to_sec1_bytes();
            (Zeroizing::new(z.raw_secret_bytes().to_vec()), public)
        }
        Curve::P521 => {
            let peer = p521::PublicKey::from_sec1_bytes(&point);
            let peer = peer.map_err(|_| CredentialError::InvalidKey)?;
            let mine = p521::ecdh::EphemeralSecret::generate_from_rng(rng);
            let z = mine.diffie_hellman(&peer);
            let public = mine.public_key().to_sec1_bytes();
            (Zeroizing::new(z.raw_secret_bytes().to_vec()), public)
        }
    };
    let coordinates = ephemeral.get(1..).unwrap_or_default();
    let (ex, ey) = coordinates
        .split_at_checked(curve.size())
        .filter(|(_, second)| second.len() == curve.size())
        .ok_or(CredentialError::InvalidKey)?;
    let bits = u32::try_from(alg.size() * 8).unwrap_or(u32::MAX);
    let seed = Zeroizing::new(kdfe(alg, &z, IDENTITY, ex, x, bits));
    let mut encrypted = Writer::default();
    encrypted.sized(ex).sized(ey);
    Ok((seed, encrypted.0))
}
