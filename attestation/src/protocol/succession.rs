//! A verifier's key is followed by another: agents learn of it from the key that they know.
//!
//! An agent answers one verifier, which it learned when it was registered. The next key is signed by the one before, so
//! that a worker which was off for any number of changes follows all of them when it comes back, and nobody has to
//! go to it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::message::digest_of;
use crate::net::identity::key_digest;

/// More changes in a row than this are not followed.
const MOST: usize = 64;
/// What stands before the point in the `SubjectPublicKeyInfo` of a P-256 key.
const BEFORE_POINT: usize = 26;
/// The size of that structure.
const SPKI: usize = 91;

/// One key follows another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Succession {
    /// The public key before (`SubjectPublicKeyInfo`, DER).
    #[serde(with = "crate::tpm::base64_bytes")]
    #[schemars(with = "crate::tpm::Base64")]
    pub from: Vec<u8>,
    /// The digest of the public key that follows.
    pub to: String,
    /// The signature of the key before (ECDSA with SHA-256, `r` and `s`).
    #[serde(with = "crate::tpm::base64_bytes")]
    #[schemars(with = "crate::tpm::Base64")]
    pub signature: Vec<u8>,
}

fn signed(from: &[u8], to: &str) -> Vec<u8> {
    digest_of("locus verifier succession v1", &[from, to.as_bytes()])
}

impl Succession {
    /// Has a key say what follows it; both public keys as `SubjectPublicKeyInfo`.
    #[cfg(feature = "gate")]
    pub fn sign(key: &crate::evidence::jws::TokenKey, from: &[u8], to: &[u8]) -> Self {
        let to = key_digest(to);
        Succession {
            signature: key.sign_bytes(&signed(from, &to)),
            from: from.to_vec(),
            to,
        }
    }

    /// Whether the key before says so.
    fn holds(&self) -> bool {
        let point = self.from.get(BEFORE_POINT..).unwrap_or_default();
        let algorithm = &ring::signature::ECDSA_P256_SHA256_FIXED;
        let key = ring::signature::UnparsedPublicKey::new(algorithm, point);
        let message = signed(&self.from, &self.to);
        self.from.len() == SPKI && key.verify(&message, &self.signature).is_ok()
    }
}

/// The key that follows a known one in the end, by digest; the known one if none does.
pub fn follow(known: &str, successions: &[Succession]) -> String {
    let mut key = known.to_owned();
    for _ in 0..MOST {
        let mut next = successions.iter();
        let next = next.find(|next| key_digest(&next.from) == key && next.holds());
        match next {
            Some(next) if next.to != key => key.clone_from(&next.to),
            _ => break,
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::jws::TokenKey;
    use p256::pkcs8::EncodePublicKey as _;

    fn key() -> (TokenKey, Vec<u8>) {
        let key = TokenKey::generate().unwrap();
        let spki = key.public().to_public_key_der().unwrap();
        (key, spki.as_bytes().to_vec())
    }

    #[test]
    fn a_key_is_followed_as_far_as_keys_say_so() {
        let [(one, a), (two, b), (_, c)] = [key(), key(), key()];
        let first = Succession::sign(&one, &a, &b);
        let second = Succession::sign(&two, &b, &c);
        let both = [second.clone(), first.clone()];
        assert_eq!(follow(&key_digest(&a), &both), key_digest(&c));
        assert_eq!(follow(&key_digest(&b), &both), key_digest(&c));
        assert_eq!(follow(&key_digest(&c), &both), key_digest(&c));
        assert_eq!(follow(&key_digest(&a), &[]), key_digest(&a));
        // Whoever does not have the key says nothing, and a circle has an end.
        let (thief, d) = key();
        let forged = [
            Succession::sign(&thief, &a, &d),
            Succession {
                to: key_digest(&d),
                ..first.clone()
            },
            Succession {
                from: d.clone(),
                ..first.clone()
            },
            Succession {
                signature: Vec::new(),
                ..first.clone()
            },
            Succession {
                from: Vec::new(),
                ..first.clone()
            },
        ];
        assert_eq!(follow(&key_digest(&a), &forged), key_digest(&a));
        let back = Succession::sign(&two, &b, &a);
        let circle = follow(&key_digest(&a), &[first, back]);
        assert!(circle == key_digest(&a) || circle == key_digest(&b));
    }
}
