//! Keys that sign and verify: Ed25519, and ECDSA on P-256.

use pem::Pem;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA256_ASN1_SIGNING, ED25519, EcdsaKeyPair, Ed25519KeyPair,
    KeyPair as _, UnparsedPublicKey,
};

use super::sha256;

/// What stands before the bytes of an Ed25519 key in the DER form of public keys.
const ED25519_DER: &[u8] = &[
    0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
];

/// What stands before the point of a P-256 key in the DER form of public keys.
const P256_DER: &[u8] = &[
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

/// A private key.
pub struct SigningKey(Pair);

enum Pair {
    Ed25519(Ed25519KeyPair),
    P256(EcdsaKeyPair),
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SigningKey({})", self.public().id())
    }
}

fn one_pem(text: &[u8]) -> Result<Pem, String> {
    // OpenSSL writes the parameters of a curve before the key.
    let all = pem::parse_many(text).map_err(|error| format!("it is not in PEM form: {error}"))?;
    let mut keys = all.into_iter().filter(|one| one.tag() != "EC PARAMETERS");
    let first = keys.next().ok_or("it has no PEM block")?;
    match keys.next() {
        None => Ok(first),
        Some(_) => Err("it has more than one PEM block".to_owned()),
    }
}

impl SigningKey {
    /// Reads a private key in PEM form (PKCS #8).
    ///
    /// # Errors
    /// Why it cannot be used, in words for the user.
    pub fn from_pem(text: &[u8]) -> Result<SigningKey, String> {
        let pem = one_pem(text)?;
        match pem.tag() {
            "PRIVATE KEY" => {}
            "EC PRIVATE KEY" | "RSA PRIVATE KEY" => {
                return Err(format!(
                    "it is in the form `{}`; `openssl pkcs8 -topk8 -nocrypt` brings it into the form `PRIVATE KEY`",
                    pem.tag()
                ));
            }
            "ENCRYPTED PRIVATE KEY" => {
                return Err("it is encrypted; give a key without a password".to_owned());
            }
            "PUBLIC KEY" => {
                return Err("it is a public key; only a private key can sign".to_owned());
            }
            other => return Err(format!("it is a `{other}`, not a `PRIVATE KEY`")),
        }
        let der = pem.contents();
        if let Ok(pair) = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der) {
            return Ok(SigningKey(Pair::Ed25519(pair)));
        }
        let random = SystemRandom::new();
        let p256 = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, der, &random);
        match p256 {
            Ok(pair) => Ok(SigningKey(Pair::P256(pair))),
            Err(_) => Err("it is neither an Ed25519 key nor a P-256 key".to_owned()),
        }
    }

    /// The public key that verifies what this one signs.
    pub fn public(&self) -> PublicKey {
        match &self.0 {
            Pair::Ed25519(pair) => PublicKey {
                kind: Kind::Ed25519,
                point: pair.public_key().as_ref().to_vec(),
            },
            Pair::P256(pair) => PublicKey {
                kind: Kind::P256,
                point: pair.public_key().as_ref().to_vec(),
            },
        }
    }

    /// Signs a message.
    ///
    /// # Errors
    /// When the system gives no random numbers.
    pub(super) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, String> {
        match &self.0 {
            Pair::Ed25519(pair) => Ok(pair.sign(message).as_ref().to_vec()),
            Pair::P256(pair) => {
                let signed = pair.sign(&SystemRandom::new(), message);
                let signature = signed.map_err(|_| "the system gives no random numbers")?;
                Ok(signature.as_ref().to_vec())
            }
        }
    }
}

/// A public key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey {
    kind: Kind,
    point: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Ed25519,
    P256,
}

impl PublicKey {
    /// Reads a public key in PEM form.
    ///
    /// # Errors
    /// Why it cannot be used, in words for the user.
    pub fn from_pem(text: &[u8]) -> Result<PublicKey, String> {
        let pem = one_pem(text)?;
        match pem.tag() {
            "PUBLIC KEY" => {}
            "PRIVATE KEY" | "EC PRIVATE KEY" | "ENCRYPTED PRIVATE KEY" => {
                return Err(
                    "it is a private key; `openssl pkey -pubout` prints the public one".to_owned(),
                );
            }
            other => return Err(format!("it is a `{other}`, not a `PUBLIC KEY`")),
        }
        let der = pem.contents();
        let known = |prefix: &[u8], kind, length| {
            let point = der.strip_prefix(prefix)?;
            (point.len() == length).then(|| PublicKey {
                kind,
                point: point.to_vec(),
            })
        };
        known(ED25519_DER, Kind::Ed25519, 32)
            .or_else(|| known(P256_DER, Kind::P256, 65))
            .ok_or_else(|| "it is neither an Ed25519 key nor a P-256 key".to_owned())
    }

    /// The DER form of the key.
    fn der(&self) -> Vec<u8> {
        let prefix = match self.kind {
            Kind::Ed25519 => ED25519_DER,
            Kind::P256 => P256_DER,
        };
        [prefix, &self.point].concat()
    }

    /// The identifier of the key: the SHA-256 digest of its DER form.
    pub fn id(&self) -> String {
        sha256(&self.der())
    }

    /// The key in PEM form.
    pub fn to_pem(&self) -> String {
        pem::encode(&Pem::new("PUBLIC KEY", self.der()))
    }

    /// Whether a signature of a message is by this key.
    pub(super) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        let verified = match self.kind {
            Kind::Ed25519 => {
                UnparsedPublicKey::new(&ED25519, &self.point).verify(message, signature)
            }
            Kind::P256 => UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, &self.point)
                .verify(message, signature),
        };
        verified.is_ok()
    }
}
