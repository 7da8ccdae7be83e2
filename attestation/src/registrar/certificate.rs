//! Certificates as they come out of TPMs and from their manufacturers.

use der::{Decode as _, Encode as _};
use x509_cert::certificate::{CertificateInner, Raw};

use crate::digest::{Digest, HashAlg};

/// Why bytes are no certificate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CertificateError {
    /// Not DER, or not a certificate.
    #[error("the certificate cannot be read: {0}")]
    Malformed(String),
    /// Something other than padding follows the certificate.
    #[error("something other than padding follows the certificate")]
    Trailing,
    /// A key that is not RSA or of a known curve, or too weak.
    #[error("the key of the certificate is of a kind or size that is not accepted")]
    Key,
}

/// A certificate with the exact bytes that were signed.
#[derive(Clone, Debug)]
pub(super) struct Certificate {
    pub(super) parsed: CertificateInner<Raw>,
    pub(super) der: Vec<u8>,
    tbs: std::ops::Range<usize>,
}

impl Certificate {
    pub(super) fn from_der(der: &[u8]) -> Result<Self, CertificateError> {
        let parsed = CertificateInner::<Raw>::from_der(der)
            .map_err(|error| CertificateError::Malformed(error.to_string()))?;
        let malformed = || CertificateError::Malformed("its length is wrong".to_owned());
        let (outer, _) = header(der).ok_or_else(malformed)?;
        let inside = der.get(outer..).ok_or_else(malformed)?;
        let (inner, len) = header(inside).ok_or_else(malformed)?;
        Ok(Certificate {
            parsed,
            der: der.to_vec(),
            tbs: outer..outer + inner + len,
        })
    }

    /// The signed part, as it was received: encoding it anew could differ.
    pub(super) fn tbs(&self) -> &[u8] {
        self.der.get(self.tbs.clone()).unwrap_or(&[])
    }

    pub(super) fn digest(&self) -> Digest {
        HashAlg::Sha256.hash(&[&self.der])
    }

    pub(super) fn subject(&self) -> String {
        self.parsed.tbs_certificate().subject().to_string()
    }

    pub(super) fn spki(&self) -> Option<Vec<u8>> {
        self.parsed
            .tbs_certificate()
            .subject_public_key_info()
            .to_der()
            .ok()
    }

    pub(super) fn key(&self) -> Result<EkKey, CertificateError> {
        EkKey::from_certificate(&self.parsed)
    }
}

/// The sizes of the header and of the content of a DER value; definite lengths below 2^24 only.
fn header(der: &[u8]) -> Option<(usize, usize)> {
    match der {
        [0x30, len @ 0..=0x7f, ..] => Some((2, usize::from(*len))),
        [0x30, 0x81, len, ..] => Some((3, usize::from(*len))),
        [0x30, 0x82, high, low, ..] => Some((4, usize::from(*high) << 8 | usize::from(*low))),
        [0x30, 0x83, high, middle, low, ..] => Some((
            5,
            usize::from(*high) << 16 | usize::from(*middle) << 8 | usize::from(*low),
        )),
        _ => None,
    }
}

/// The certificate in an NV index, which is often larger than what it holds.
pub fn unpad(bytes: &[u8]) -> Result<&[u8], CertificateError> {
    let malformed = || CertificateError::Malformed("it is not a DER sequence".to_owned());
    let (head, len) = header(bytes).ok_or_else(malformed)?;
    let (certificate, padding) = bytes.split_at_checked(head + len).ok_or_else(malformed)?;
    let same = |byte: u8| padding.iter().all(|other| *other == byte);
    if same(0) || same(0xff) {
        Ok(certificate)
    } else {
        Err(CertificateError::Trailing)
    }
}

/// A public endorsement key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EkKey {
    /// RSA.
    Rsa {
        /// The modulus, without leading zeros.
        modulus: Vec<u8>,
        /// The exponent, without leading zeros.
        exponent: Vec<u8>,
    },
    /// On a curve.
    Ec {
        /// The size of the field in bits: 256, 384 or 521.
        bits: u16,
        /// The point, uncompressed (SEC 1).
        point: Vec<u8>,
    },
}

/// TPMs and certificates disagree about leading zeros.
fn without_zeros(bytes: &[u8]) -> &[u8] {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    bytes.get(zeros..).unwrap_or(&[])
}

pub(super) const P256: &str = "1.2.840.10045.3.1.7";
pub(super) const P384: &str = "1.3.132.0.34";
pub(super) const P521: &str = "1.3.132.0.35";

impl EkKey {
    /// Whether this is the RSA key with that modulus and exponent, big-endian.
    pub fn is_rsa(&self, modulus: &[u8], exponent: u64) -> bool {
        let bytes = exponent.to_be_bytes();
        matches!(self, EkKey::Rsa { modulus: own, exponent: e }
            if own == without_zeros(modulus) && e == without_zeros(&bytes))
    }

    /// Whether this is the point with those coordinates, big-endian, on the curve of that size.
    pub fn is_ec(&self, curve_bits: u16, x: &[u8], y: &[u8]) -> bool {
        let EkKey::Ec { bits, point } = self else {
            return false;
        };
        let Some((_, coordinates)) = point.split_first() else {
            return false;
        };
        let (own_x, own_y) = coordinates.split_at(coordinates.len() / 2);
        *bits == curve_bits
            && without_zeros(own_x) == without_zeros(x)
            && without_zeros(own_y) == without_zeros(y)
    }

    fn from_certificate(certificate: &CertificateInner<Raw>) -> Result<Self, CertificateError> {
        let spki = certificate.tbs_certificate().subject_public_key_info();
        let bits = spki
            .subject_public_key
            .as_bytes()
            .ok_or(CertificateError::Key)?;
        match spki.algorithm.oid.to_string().as_str() {
            // The second is a key marked for OAEP, as some manufacturers do.
            "1.2.840.113549.1.1.1" | "1.2.840.113549.1.1.7" => {
                let key = rsa::pkcs1::RsaPublicKeyRef::from_der(bits)
                    .map_err(|_| CertificateError::Key)?;
                let modulus = key.modulus.as_bytes().to_vec();
                if modulus.len() < 256 {
                    return Err(CertificateError::Key);
                }
                Ok(EkKey::Rsa {
                    modulus,
                    exponent: key.public_exponent.as_bytes().to_vec(),
                })
            }
            "1.2.840.10045.2.1" => {
                let curve = spki
                    .algorithm
                    .parameters
                    .as_ref()
                    .and_then(|curve| curve.decode_as::<der::asn1::ObjectIdentifier>().ok())
                    .ok_or(CertificateError::Key)?;
                let (size, width) = match curve.to_string().as_str() {
                    P256 => (256, 32),
                    P384 => (384, 48),
                    P521 => (521, 66),
                    _ => return Err(CertificateError::Key),
                };
                if bits.first() != Some(&4) || bits.len() != 1 + 2 * width {
                    return Err(CertificateError::Key);
                }
                Ok(EkKey::Ec {
                    bits: size,
                    point: bits.to_vec(),
                })
            }
            _ => Err(CertificateError::Key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_compared_without_leading_zeros() {
        let rsa = EkKey::Rsa {
            modulus: vec![0xab; 256],
            exponent: vec![1, 0, 1],
        };
        let padded = [&[0][..], &[0xab; 256]].concat();
        assert!(rsa.is_rsa(&padded, 65537));
        assert!(!rsa.is_rsa(&padded, 3));
        assert!(!rsa.is_rsa(&[0xab; 255], 65537));
        let mut point = vec![4];
        point.extend([0; 1]);
        point.extend([7; 31]);
        point.extend([9; 32]);
        let ec = EkKey::Ec { bits: 256, point };
        assert!(ec.is_ec(256, &[7; 31], &[9; 32]));
        assert!(!ec.is_ec(384, &[7; 31], &[9; 32]));
        assert!(!ec.is_ec(256, &[9; 32], &[7; 31]));
        assert!(!ec.is_rsa(&[7; 31], 3));
    }

    #[test]
    fn padding_is_taken_off_and_nothing_else() {
        let certificate = [0x30, 0x03, 1, 2, 3];
        for padding in [&[][..], &[0, 0], &[0xff; 9]] {
            let padded = [&certificate, padding].concat();
            assert_eq!(unpad(&padded), Ok(&certificate[..]));
        }
        assert_eq!(
            unpad(&[0x30, 0x01, 7, 0, 1]),
            Err(CertificateError::Trailing)
        );
        for wrong in [&[][..], &[0x31, 0], &[0x30, 0x80, 0, 0], &[0x30, 5, 1]] {
            assert!(unpad(wrong).is_err(), "{wrong:?}");
        }
        let long = [&[0x30, 0x82, 0x01, 0x00][..], &[7; 256], &[0xff; 3]].concat();
        assert_eq!(unpad(&long).map(<[u8]>::len), Ok(260));
    }
}
