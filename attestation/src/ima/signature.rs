//! Signatures of files, as `evmctl ima_sign` puts them into the extended attribute `security.ima` and the templates
//! with a `sig` field log them; and the keyrings that an operator accepts them from.

use der::{Decode as _, DecodePem as _, Encode as _};
use x509_cert::Certificate;
use x509_cert::ext::pkix::SubjectKeyIdentifier;
use x509_cert::spki::SubjectPublicKeyInfoOwned;

use super::entry::Entry;
use super::template::Field;
use crate::digest::{Digest, HashAlg};
use crate::registrar::signature::verify_digest;

/// The signature is of the file's content.
const CONTENT: u8 = 0x03;
/// The signature is of the digest of the file's Merkle tree (fs-verity).
const VERITY: u8 = 0x06;

/// Why a keyring cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyringError {
    /// No certificate and no public key is in it.
    #[error("there is no certificate and no public key in PEM in it")]
    Empty,
    /// One of them cannot be read.
    #[error("its certificate or key {number} cannot be read: {reason}")]
    Unreadable {
        /// Which, counted from 1.
        number: usize,
        /// Why.
        reason: String,
    },
}

/// A signature of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileSignature<'a> {
    verity: bool,
    hash: HashAlg,
    /// The kernel's number for the hash.
    hash_id: u8,
    key: [u8; 4],
    bytes: &'a [u8],
}

impl<'a> FileSignature<'a> {
    /// Type, version, hash, key, size, signature.
    fn parse(field: &'a [u8]) -> Option<Self> {
        let [kind, version, hash_id, k0, k1, k2, k3, s0, s1, bytes @ ..] = field else {
            return None;
        };
        let verity = match (*kind, *version) {
            (CONTENT, 2) => false,
            (VERITY, 3) => true,
            _ => return None,
        };
        // As the kernel numbers them; SHA-1 and what is older can be forged.
        let hash = match hash_id {
            4 => HashAlg::Sha256,
            5 => HashAlg::Sha384,
            6 => HashAlg::Sha512,
            _ => return None,
        };
        let size = usize::from(u16::from_be_bytes([*s0, *s1]));
        (bytes.len() == size).then_some(FileSignature {
            verity,
            hash,
            hash_id: *hash_id,
            key: [*k0, *k1, *k2, *k3],
            bytes,
        })
    }

    /// What was signed, for a file with a digest.
    fn message(&self, digest: &Digest) -> Digest {
        if self.verity {
            let head = [VERITY, self.hash_id];
            self.hash.hash(&[&head, digest.as_bytes()])
        } else {
            *digest
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Key {
    /// As signatures name it, which is no proof of anything.
    id: [u8; 4],
    /// The digest of the whole key.
    name: Digest,
    info: SubjectPublicKeyInfoOwned,
}

/// Public keys whose signatures vouch for files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keyring(Vec<Key>);

impl Keyring {
    /// The names of its keys.
    pub fn names(&self) -> impl Iterator<Item = &Digest> {
        self.0.iter().map(|key| &key.name)
    }

    /// Adds all certificates and public keys of a file in PEM.
    pub fn add_pem(&mut self, text: &str) -> Result<(), KeyringError> {
        let mut found = 0;
        let mut rest = text;
        while let Some(start) = rest.find("-----BEGIN ") {
            found += 1;
            let unreadable = |reason: String| KeyringError::Unreadable {
                number: found,
                reason,
            };
            let piece = rest.get(start..).unwrap_or_default();
            let end = piece
                .find("-----END ")
                .and_then(|end| {
                    Some(end + piece.get(end..)?.find('\n').unwrap_or(piece.len() - end))
                })
                .ok_or_else(|| unreadable("it has no end".to_owned()))?;
            let (one, after) = piece.split_at_checked(end).unwrap_or((piece, ""));
            let key = if one.starts_with("-----BEGIN CERTIFICATE-----") {
                let certificate =
                    Certificate::from_pem(one).map_err(|error| unreadable(error.to_string()))?;
                Key::of_certificate(&certificate)
            } else {
                let info = SubjectPublicKeyInfoOwned::from_pem(one)
                    .map_err(|error| unreadable(error.to_string()))?;
                Key::of_public(info)
            };
            self.0
                .push(key.ok_or_else(|| unreadable("it has no key".to_owned()))?);
            rest = after;
        }
        if found == 0 {
            return Err(KeyringError::Empty);
        }
        Ok(())
    }

    /// Whether there is no key in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes over the keys of another.
    pub fn extend(&mut self, other: &Keyring) {
        self.0.extend(other.0.iter().cloned());
    }

    /// Whether a key is in it, by the name that [`voucher`](Self::voucher) gives.
    pub fn has(&self, name: &Digest) -> bool {
        self.0.iter().any(|key| key.name == *name)
    }

    /// Whether an entry has a signature of one of these keys for the digest it records.
    pub fn vouches_for(&self, entry: &Entry<'_>) -> bool {
        self.voucher(entry).is_some()
    }

    /// The name of the key whose signature for the digest it records an entry has: the digest of the key.
    pub fn voucher(&self, entry: &Entry<'_>) -> Option<Digest> {
        if self.0.is_empty() || entry.is_violation() {
            return None;
        }
        let signature = FileSignature::parse(entry.field(Field::Sig)?)?;
        let (digest, verity) = digest_of(entry)?;
        if verity != signature.verity || digest.alg() != signature.hash {
            return None;
        }
        let message = signature.message(&digest);
        let mut keys = self.0.iter().filter(|key| key.id == signature.key);
        let key = keys.find(|key| verify_digest(&key.info, &message, signature.bytes).is_ok())?;
        Some(key.name)
    }
}

/// The digest of an entry, and whether it is of a Merkle tree.
fn digest_of(entry: &Entry<'_>) -> Option<(Digest, bool)> {
    if let Some(field) = entry.field(Field::DNgV2) {
        let (kind, alg, bytes) = super::entry::split_typed(field)?;
        let digest = Digest::new(HashAlg::from_name(alg)?, bytes)?;
        return Some((digest, kind == b"verity"));
    }
    Some((entry.file_digest()?.known()?, false))
}

impl Key {
    fn of_certificate(certificate: &Certificate) -> Option<Self> {
        let certificate = certificate.tbs_certificate();
        let info = certificate.subject_public_key_info().clone();
        let named: Option<(bool, SubjectKeyIdentifier)> =
            certificate.get_extension().ok().flatten();
        match named {
            Some((_, named)) => {
                let id = last_four(named.0.as_bytes())?;
                let name = HashAlg::Sha256.hash(&[&info.to_der().ok()?]);
                Some(Key { id, name, info })
            }
            None => Key::of_public(info),
        }
    }

    /// A key without a name of its own is known by the digest of its bits.
    fn of_public(info: SubjectPublicKeyInfoOwned) -> Option<Self> {
        let digest = HashAlg::Sha1.hash(&[info.subject_public_key.as_bytes()?]);
        // Read back, so that what is kept is what was given.
        let der = info.to_der().ok()?;
        let info = SubjectPublicKeyInfoOwned::from_der(&der).ok()?;
        Some(Key {
            id: last_four(digest.as_bytes())?,
            name: HashAlg::Sha256.hash(&[&der]),
            info,
        })
    }
}

fn last_four(bytes: &[u8]) -> Option<[u8; 4]> {
    bytes.last_chunk::<4>().copied()
}

#[cfg(test)]
#[path = "signature_tests.rs"]
mod tests;
