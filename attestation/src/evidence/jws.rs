//! Signed tokens: JWS in its compact form, ES256 and nothing else.
//!
//! The algorithm is not negotiated and the key is never taken from the token.

use std::collections::BTreeMap;

use p256::ecdsa::signature::{Signer as _, Verifier as _};
use p256::ecdsa::{Signature, SigningKey, VerifyingKey};
use p256::pkcs8::{
    DecodePrivateKey as _, DecodePublicKey as _, EncodePrivateKey as _, EncodePublicKey as _,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use x509_cert::Certificate;
use x509_cert::der::{DecodePem as _, Encode as _};
use zeroize::Zeroizing;

use super::base64url::{base64url, from_base64url};
use crate::digest::HashAlg;

/// Why a token is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JwsError {
    /// Not three parts of base64url, or a header with more or less than it may have.
    #[error("the token is malformed")]
    Malformed,
    /// Another algorithm than ES256; `none` is one of those.
    #[error("the token is not signed with ES256")]
    Algorithm,
    /// A token of another kind.
    #[error("the token is of the type `{0}`")]
    Type(String),
    /// The key is none of those that are trusted.
    #[error("the token is signed with a key that is not trusted here (`{0}`)")]
    UnknownKey(String),
    /// The signature is wrong.
    #[error("the signature of the token is wrong")]
    Signature,
    /// The payload does not have the members it must have.
    #[error("the content of the token cannot be read: {0}")]
    Payload(String),
    /// A key cannot be read.
    #[error("the key cannot be read")]
    Key,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    alg: String,
    typ: String,
    kid: String,
}

/// A private key for tokens.
#[derive(Clone)]
pub struct TokenKey {
    key: SigningKey,
    id: String,
}

impl TokenKey {
    /// A new key.
    pub fn generate() -> Result<Self, JwsError> {
        loop {
            let mut secret = Zeroizing::new([0_u8; 32]);
            getrandom::fill(&mut *secret).map_err(|_| JwsError::Key)?;
            // All but a vanishing part of 256-bit numbers are keys.
            if let Ok(key) = SigningKey::from_slice(&*secret) {
                return Ok(Self::from_key(key));
            }
        }
    }

    /// From a key.
    pub fn from_key(key: SigningKey) -> Self {
        let id = key_id(key.verifying_key());
        TokenKey { key, id }
    }

    /// From PKCS #8 in PEM.
    pub fn from_pem(pem: &str) -> Result<Self, JwsError> {
        SigningKey::from_pkcs8_pem(pem)
            .map(Self::from_key)
            .map_err(|_| JwsError::Key)
    }

    /// As PKCS #8 in PEM.
    pub fn to_pem(&self) -> Result<Zeroizing<String>, JwsError> {
        self.key
            .to_pkcs8_pem(p256::pkcs8::LineEnding::LF)
            .map_err(|_| JwsError::Key)
    }

    /// The identifier of the key: its JWK thumbprint (RFC 7638).
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The public part.
    pub fn public(&self) -> VerifyingKey {
        *self.key.verifying_key()
    }

    /// Signs bytes; the signature is `r` and `s`, 32 bytes each.
    pub fn sign_bytes(&self, message: &[u8]) -> Vec<u8> {
        let signature: Signature = self.key.sign(message);
        signature.to_bytes().to_vec()
    }

    /// Signs a payload of a type.
    pub fn sign<T: Serialize>(&self, typ: &str, payload: &T) -> Result<String, JwsError> {
        let json = |error: serde_json::Error| JwsError::Payload(error.to_string());
        let header = Header {
            alg: "ES256".to_owned(),
            typ: typ.to_owned(),
            kid: self.id.clone(),
        };
        let header = serde_json::to_vec(&header).map_err(json)?;
        let payload = serde_json::to_vec(payload).map_err(json)?;
        let mut token = format!("{}.{}", base64url(&header), base64url(&payload));
        let signature = self.sign_bytes(token.as_bytes());
        token.push('.');
        token.push_str(&base64url(&signature));
        Ok(token)
    }
}

impl std::fmt::Debug for TokenKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TokenKey({})", self.id)
    }
}

/// The JWK thumbprint (RFC 7638) of a key.
pub fn key_id(key: &VerifyingKey) -> String {
    let point = key.to_sec1_point(false);
    let bytes = point.as_bytes();
    let x = bytes.get(1..33).unwrap_or(&[]);
    let y = bytes.get(33..65).unwrap_or(&[]);
    let jwk = format!(
        r#"{{"crv":"P-256","kty":"EC","x":"{}","y":"{}"}}"#,
        base64url(x),
        base64url(y)
    );
    base64url(HashAlg::Sha256.hash(&[jwk.as_bytes()]).as_bytes())
}

/// A public key from SubjectPublicKeyInfo in PEM.
pub fn public_key_from_pem(pem: &str) -> Result<VerifyingKey, JwsError> {
    VerifyingKey::from_public_key_pem(pem).map_err(|_| JwsError::Key)
}

/// A public key in PEM, or the one in a certificate; the certificate proves nothing here.
pub fn public_key_or_certificate(pem: &str) -> Result<VerifyingKey, JwsError> {
    let Ok(certificate) = Certificate::from_pem(pem) else {
        return public_key_from_pem(pem);
    };
    let key = certificate.tbs_certificate().subject_public_key_info();
    let der = key.to_der().map_err(|_| JwsError::Key)?;
    VerifyingKey::from_public_key_der(&der).map_err(|_| JwsError::Key)
}

/// A public key as SubjectPublicKeyInfo in PEM.
pub fn public_key_to_pem(key: &VerifyingKey) -> Result<String, JwsError> {
    key.to_public_key_pem(p256::pkcs8::LineEnding::LF)
        .map_err(|_| JwsError::Key)
}

/// Checks a signature of `r` and `s` over bytes.
pub fn verify_bytes(key: &VerifyingKey, message: &[u8], signature: &[u8]) -> bool {
    Signature::from_slice(signature).is_ok_and(|signature| key.verify(message, &signature).is_ok())
}

/// The public keys whose tokens are accepted.
#[derive(Clone, Debug, Default)]
pub struct TrustedKeys {
    keys: BTreeMap<String, VerifyingKey>,
}

impl TrustedKeys {
    /// No key at all.
    pub fn new() -> Self {
        TrustedKeys::default()
    }

    /// Also this key.
    #[must_use]
    pub fn with(mut self, key: VerifyingKey) -> Self {
        self.keys.insert(key_id(&key), key);
        self
    }

    /// Verifies a token of a type and gives its payload.
    pub fn verify<T: DeserializeOwned>(&self, typ: &str, token: &str) -> Result<T, JwsError> {
        let (signed, signature) = token.rsplit_once('.').ok_or(JwsError::Malformed)?;
        let (header, payload) = signed.split_once('.').ok_or(JwsError::Malformed)?;
        let part = |text: &str| from_base64url(text).ok_or(JwsError::Malformed);
        let (header, payload, signature) = (part(header)?, part(payload)?, part(signature)?);
        let header: Header = serde_json::from_slice(&header).map_err(|_| JwsError::Malformed)?;
        if header.alg != "ES256" {
            return Err(JwsError::Algorithm);
        }
        if header.typ != typ {
            return Err(JwsError::Type(header.typ));
        }
        let key = self
            .keys
            .get(&header.kid)
            .ok_or(JwsError::UnknownKey(header.kid))?;
        if !verify_bytes(key, signed.as_bytes(), &signature) {
            return Err(JwsError::Signature);
        }
        serde_json::from_slice(&payload).map_err(|error| JwsError::Payload(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forge(header: &str, payload: &str, key: &TokenKey) -> String {
        let signed = format!(
            "{}.{}",
            base64url(header.as_bytes()),
            base64url(payload.as_bytes())
        );
        let signature = base64url(&key.sign_bytes(signed.as_bytes()));
        format!("{signed}.{signature}")
    }

    #[test]
    fn a_token_goes_there_and_back() {
        let key = TokenKey::generate().unwrap();
        let key = TokenKey::from_pem(&key.to_pem().unwrap()).unwrap();
        let token = key.sign("test", &vec![1, 2, 3]).unwrap();
        let pem = public_key_to_pem(&key.public()).unwrap();
        let keys = TrustedKeys::new().with(public_key_from_pem(&pem).unwrap());
        assert_eq!(keys.verify("test", &token), Ok(vec![1, 2, 3]));
        assert_eq!(
            keys.verify::<Vec<u8>>("other", &token),
            Err(JwsError::Type("test".to_owned()))
        );
        let stranger = TrustedKeys::new().with(TokenKey::generate().unwrap().public());
        assert_eq!(
            stranger.verify::<Vec<u8>>("test", &token),
            Err(JwsError::UnknownKey(key.id().to_owned()))
        );
    }

    #[test]
    fn the_algorithm_and_the_key_are_not_the_tokens_choice() {
        let key = TokenKey::generate().unwrap();
        let keys = TrustedKeys::new().with(key.public());
        let id = key.id();
        let cases = [
            (
                format!(r#"{{"alg":"none","typ":"t","kid":"{id}"}}"#),
                JwsError::Algorithm,
            ),
            (
                format!(r#"{{"alg":"HS256","typ":"t","kid":"{id}"}}"#),
                JwsError::Algorithm,
            ),
            (
                r#"{"alg":"ES256","typ":"t"}"#.to_owned(),
                JwsError::Malformed,
            ),
            (
                format!(r#"{{"alg":"ES256","typ":"t","kid":"{id}","crit":["x"]}}"#),
                JwsError::Malformed,
            ),
            (
                format!(r#"{{"alg":"ES256","typ":"t","kid":"{id}","jwk":{{}}}}"#),
                JwsError::Malformed,
            ),
            (
                format!(r#"{{"alg":"ES256","typ":"t","kid":"{id}","kid":"{id}"}}"#),
                JwsError::Malformed,
            ),
        ];
        for (header, error) in cases {
            let token = forge(&header, "1", &key);
            assert_eq!(keys.verify::<u8>("t", &token), Err(error), "{header}");
        }
    }

    #[test]
    fn no_changed_character_is_accepted() {
        let key = TokenKey::generate().unwrap();
        let keys = TrustedKeys::new().with(key.public());
        let token = key.sign("t", &"payload").unwrap();
        for place in 0..token.len() {
            for with in [b'A', b'.', b'=', b'-'] {
                let mut bytes = token.clone().into_bytes();
                if bytes[place] == with {
                    continue;
                }
                bytes[place] = with;
                let changed = String::from_utf8(bytes).unwrap();
                assert!(keys.verify::<String>("t", &changed).is_err(), "{changed}");
            }
        }
        assert!(keys.verify::<String>("t", &format!("{token}.")).is_err());
    }
}
