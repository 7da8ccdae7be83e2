//! A public key by the digest that everybody can compute: of its `SubjectPublicKeyInfo`.

use der::Encode as _;
use der::asn1::{Any, BitString, Null, ObjectIdentifier, UintRef};
use x509_cert::spki::{AlgorithmIdentifierOwned, SubjectPublicKeyInfoOwned};

use super::public::{Curve, PublicKey};
use crate::digest::{Digest, HashAlg};

const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");

impl PublicKey {
    /// The SHA-256 digest of the key, as `openssl pkey -pubin -outform der | sha256sum` prints it.
    ///
    /// It is made from the numbers of the key: certificates and public areas that differ otherwise are of one
    /// key all the same.
    pub fn digest(&self) -> Digest {
        // A number and a point always have a DER form.
        HashAlg::Sha256.hash(&[&self.spki().unwrap_or_default()])
    }

    fn spki(&self) -> Result<Vec<u8>, der::Error> {
        let (algorithm, key) = match self {
            PublicKey::Rsa { modulus } => {
                let key = rsa::pkcs1::RsaPublicKey {
                    modulus: UintRef::new(modulus)?,
                    public_exponent: UintRef::new(&[1, 0, 1])?,
                };
                let algorithm = AlgorithmIdentifierOwned {
                    oid: RSA,
                    parameters: Some(Any::from(Null)),
                };
                (algorithm, key.to_der()?)
            }
            PublicKey::Ecc { curve, x, y } => {
                let curve = match curve {
                    Curve::P256 => ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7"),
                    Curve::P384 => ObjectIdentifier::new_unwrap("1.3.132.0.34"),
                    Curve::P521 => ObjectIdentifier::new_unwrap("1.3.132.0.35"),
                };
                let algorithm = AlgorithmIdentifierOwned {
                    oid: EC,
                    parameters: Some(Any::from(curve)),
                };
                (algorithm, [&[4], x.as_slice(), y.as_slice()].concat())
            }
        };
        let info = SubjectPublicKeyInfoOwned {
            algorithm,
            subject_public_key: BitString::from_bytes(&key)?,
        };
        info.to_der()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rsa::pkcs8::EncodePublicKey as _;
    use rsa::traits::PublicKeyParts as _;

    #[test]
    fn the_digest_is_that_of_the_usual_form() {
        let secret = p256::SecretKey::from_slice(&[7; 32]).unwrap();
        let point = secret.public_key().to_sec1_bytes();
        let key = PublicKey::Ecc {
            curve: Curve::P256,
            x: point[1..33].to_vec(),
            y: point[33..].to_vec(),
        };
        let usual = secret.public_key().to_public_key_der().unwrap();
        assert_eq!(key.digest(), HashAlg::Sha256.hash(&[usual.as_bytes()]));
        let modulus = [&[0x80][..], &[0x11; 254], &[1]].concat();
        let number = rsa::BoxedUint::from_be_slice_vartime(&modulus);
        let usual = rsa::RsaPublicKey::new(number, rsa::BoxedUint::from(65537u32)).unwrap();
        assert_eq!(usual.n_bytes().len(), 256);
        let usual = usual.to_public_key_der().unwrap();
        let key = PublicKey::Rsa { modulus };
        assert_eq!(key.digest(), HashAlg::Sha256.hash(&[usual.as_bytes()]));
    }
}
