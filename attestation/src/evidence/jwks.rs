//! Public keys as everybody reads them: a JWK Set (RFC 7517).

use p256::ecdsa::VerifyingKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::base64url::{base64url, from_base64url};
use super::jws::{JwsError, TrustedKeys, key_id};

/// A public key on P-256 that signs with ES256.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Jwk {
    /// Always `EC`.
    #[schemars(extend("const" = "EC"))]
    pub kty: String,
    /// Always `P-256`.
    #[schemars(extend("const" = "P-256"))]
    pub crv: String,
    /// The first coordinate, base64url.
    pub x: String,
    /// The second coordinate, base64url.
    pub y: String,
    /// The identifier in the header of tokens: the key's thumbprint (RFC 7638).
    pub kid: String,
    /// Always `ES256`.
    #[schemars(extend("const" = "ES256"))]
    pub alg: String,
    /// Always `sig`.
    #[serde(rename = "use")]
    #[schemars(extend("const" = "sig"))]
    pub purpose: String,
}

impl Jwk {
    /// Of a public key.
    pub fn of(key: &VerifyingKey) -> Self {
        let point = key.to_sec1_point(false);
        let bytes = point.as_bytes();
        let part = |range| base64url(bytes.get::<std::ops::Range<usize>>(range).unwrap_or(&[]));
        Jwk {
            kty: "EC".to_owned(),
            crv: "P-256".to_owned(),
            x: part(1..33),
            y: part(33..65),
            kid: key_id(key),
            alg: "ES256".to_owned(),
            purpose: "sig".to_owned(),
        }
    }

    /// The key, if this is one that signs results and its identifier is its own.
    pub fn key(&self) -> Result<VerifyingKey, JwsError> {
        let fits = self.kty == "EC" && self.crv == "P-256" && self.alg == "ES256";
        let part = |text: &str| from_base64url(text).filter(|bytes| bytes.len() == 32);
        let (Some(x), Some(y), true) = (part(&self.x), part(&self.y), fits) else {
            return Err(JwsError::Key);
        };
        let point = [&[4], x.as_slice(), y.as_slice()].concat();
        let key = VerifyingKey::from_sec1_bytes(&point).map_err(|_| JwsError::Key)?;
        if key_id(&key) != self.kid {
            return Err(JwsError::Key);
        }
        Ok(key)
    }
}

/// A set of public keys.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JwkSet {
    /// The keys: the one that signs now first, then those whose results may still count.
    pub keys: Vec<Jwk>,
}

impl JwkSet {
    /// Of some keys.
    pub fn of<'a>(keys: impl IntoIterator<Item = &'a VerifyingKey>) -> Self {
        JwkSet {
            keys: keys.into_iter().map(Jwk::of).collect(),
        }
    }

    /// What tokens are verified with.
    pub fn trusted(&self) -> Result<TrustedKeys, JwsError> {
        let mut trusted = TrustedKeys::new();
        for key in &self.keys {
            trusted = trusted.with(key.key()?);
        }
        Ok(trusted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::jws::TokenKey;

    #[test]
    fn a_key_goes_there_and_back_and_no_other_comes() {
        let key = TokenKey::generate().unwrap();
        let jwk = Jwk::of(&key.public());
        assert_eq!(jwk.key().unwrap(), key.public());
        let other = Jwk::of(&TokenKey::generate().unwrap().public());
        let twisted = [
            Jwk {
                kid: other.kid,
                ..jwk.clone()
            },
            Jwk {
                x: jwk.y.clone(),
                ..jwk.clone()
            },
            Jwk {
                crv: "P-384".to_owned(),
                ..jwk.clone()
            },
            Jwk {
                kty: "oct".to_owned(),
                ..jwk.clone()
            },
            Jwk {
                x: String::new(),
                ..jwk.clone()
            },
        ];
        for wrong in twisted {
            assert_eq!(wrong.key(), Err(JwsError::Key), "{wrong:?}");
            let set = JwkSet {
                keys: vec![jwk.clone(), wrong],
            };
            assert!(set.trusted().is_err());
        }
    }
}
