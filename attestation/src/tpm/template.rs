//! The endorsement key templates of the TCG's profile, and the policies in them.
//!
//! A manufacturer certifies one key for each template. What a key is called is therefore held to what it
//! is: two keys of one kind are keys of two TPMs.

use serde::{Deserialize, Serialize};

use super::public::{Attributes, Curve, Public, PublicKey};
use crate::digest::HashAlg;

/// An endorsement key template of the TCG's profile.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum EkKind {
    /// RSA 2048 with SHA-256 (L-1).
    Rsa2048,
    /// ECC P-256 with SHA-256 (L-2).
    EccP256,
    /// ECC P-384 with SHA-384 (H-3), whose policy is a disjunction.
    EccP384,
    /// ECC P-521 with SHA-512 (H-4), whose policy is a disjunction.
    EccP521,
    /// RSA 3072 with SHA-384 (H-6), whose policy is a disjunction.
    Rsa3072,
}

impl EkKind {
    /// Every template, in the order of preference.
    pub const ALL: [EkKind; 5] = [
        EkKind::Rsa2048,
        EkKind::EccP256,
        EkKind::EccP384,
        EkKind::Rsa3072,
        EkKind::EccP521,
    ];

    /// The name in policies, flags and messages.
    pub const fn name(self) -> &'static str {
        match self {
            EkKind::Rsa2048 => "rsa-2048",
            EkKind::EccP256 => "ecc-p256",
            EkKind::EccP384 => "ecc-p384",
            EkKind::EccP521 => "ecc-p521",
            EkKind::Rsa3072 => "rsa-3072",
        }
    }

    /// Where the manufacturer stores the key's certificate.
    pub const fn certificate_index(self) -> u32 {
        match self {
            EkKind::Rsa2048 => 0x01c0_0002,
            EkKind::EccP256 => 0x01c0_000a,
            EkKind::EccP384 => 0x01c0_0016,
            EkKind::EccP521 => 0x01c0_0018,
            EkKind::Rsa3072 => 0x01c0_001c,
        }
    }

    /// The hash of its name and of its policy.
    pub const fn hash(self) -> HashAlg {
        match self {
            EkKind::Rsa2048 | EkKind::EccP256 => HashAlg::Sha256,
            EkKind::EccP384 | EkKind::Rsa3072 => HashAlg::Sha384,
            EkKind::EccP521 => HashAlg::Sha512,
        }
    }

    /// The size of the AES key that protects its children, in bits.
    pub const fn aes_bits(self) -> u16 {
        match self.hash() {
            HashAlg::Sha256 => 128,
            _ => 256,
        }
    }

    /// Whether a public area is one that this template gives.
    pub fn describes(self, public: &Public) -> bool {
        let key = match &public.key {
            PublicKey::Rsa { modulus } => match modulus.len() {
                256 => self == EkKind::Rsa2048,
                384 => self == EkKind::Rsa3072,
                _ => false,
            },
            PublicKey::Ecc { curve, .. } => match curve {
                Curve::P256 => self == EkKind::EccP256,
                Curve::P384 => self == EkKind::EccP384,
                Curve::P521 => self == EkKind::EccP521,
            },
        };
        let needed = Attributes::FIXED_TPM
            | Attributes::FIXED_PARENT
            | Attributes::SENSITIVE_DATA_ORIGIN
            | Attributes::RESTRICTED
            | Attributes::DECRYPT;
        key && public.name_alg == self.hash()
            && public.symmetric == Some(self.aes_bits())
            && public.scheme.is_none()
            && public.attributes.has(needed)
            && !public.attributes.has(Attributes::SIGN)
            && public.auth_policy == self.policy()
    }

    /// The policy that a key of this template has.
    pub fn policy(self) -> Vec<u8> {
        let by_secret = policy_by_secret(self.hash());
        match self.alternatives() {
            None => by_secret,
            Some([first, second]) => {
                let zero = vec![0; self.hash().size()];
                let code = POLICY_OR.to_be_bytes();
                let digest = self.hash().hash(&[&zero, &code, &first, &second]);
                digest.as_bytes().to_vec()
            }
        }
    }

    /// The two policies of which a key of the high range accepts either; the first is the one that a user of
    /// the endorsement hierarchy satisfies.
    pub fn alternatives(self) -> Option<[Vec<u8>; 2]> {
        let by_index = match self.hash() {
            HashAlg::Sha384 => POLICY_C_SHA384.as_slice(),
            HashAlg::Sha512 => POLICY_C_SHA512.as_slice(),
            HashAlg::Sha1 | HashAlg::Sha256 => return None,
        };
        Some([policy_by_secret(self.hash()), by_index.to_vec()])
    }
}

/// `TPM2_PolicySecret`.
const POLICY_SECRET: u32 = 0x0000_0151;
/// `TPM2_PolicyOR`.
const POLICY_OR: u32 = 0x0000_0171;
/// `TPM_RH_ENDORSEMENT`.
const ENDORSEMENT: u32 = 0x4000_000b;

/// Policy A of the profile: whoever may use the endorsement hierarchy.
fn policy_by_secret(alg: HashAlg) -> Vec<u8> {
    let zero = vec![0; alg.size()];
    let (code, handle) = (POLICY_SECRET.to_be_bytes(), ENDORSEMENT.to_be_bytes());
    let first = alg.hash(&[&zero, &code, &handle]);
    // The reference of the policy is empty, and hashed all the same.
    alg.hash(&[first.as_bytes()]).as_bytes().to_vec()
}

/// Policy C of the profile: what is written in an index of the manufacturer.
const POLICY_C_SHA384: [u8; 48] = [
    0xd6, 0x03, 0x2c, 0xe6, 0x1f, 0x2f, 0xb3, 0xc2, 0x40, 0xeb, 0x3c, 0xf6, 0xa3, 0x32, 0x37, 0xef,
    0x2b, 0x6a, 0x16, 0xf4, 0x29, 0x3c, 0x22, 0xb4, 0x55, 0xe2, 0x61, 0xcf, 0xfd, 0x21, 0x7a, 0xd5,
    0xb4, 0x94, 0x7c, 0x2d, 0x73, 0xe6, 0x30, 0x05, 0xee, 0xd2, 0xdc, 0x2b, 0x35, 0x93, 0xd1, 0x65,
];
const POLICY_C_SHA512: [u8; 64] = [
    0x58, 0x9e, 0xe1, 0xe1, 0x46, 0x54, 0x47, 0x16, 0xe8, 0xde, 0xaf, 0xe6, 0xdb, 0x24, 0x7b, 0x01,
    0xb8, 0x1e, 0x9f, 0x9c, 0x7d, 0xd1, 0x6b, 0x81, 0x4a, 0xa1, 0x59, 0x13, 0x87, 0x49, 0x10, 0x5f,
    0xba, 0x53, 0x88, 0xdd, 0x1d, 0xea, 0x70, 0x2f, 0x35, 0x24, 0x0c, 0x18, 0x49, 0x33, 0x12, 0x1e,
    0x2c, 0x61, 0xb8, 0xf5, 0x0d, 0x3e, 0xf9, 0x13, 0x93, 0xa4, 0x9a, 0x38, 0xc3, 0xf7, 0x3f, 0xc8,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::encode_hex;

    /// The digests that the TCG's profile prints.
    #[test]
    fn policies_are_those_of_the_profile() {
        assert_eq!(
            encode_hex(&EkKind::Rsa2048.policy()),
            "837197674484b3f81a90cc8d46a5d724fd52d76e06520b64f2a1da1b331469aa"
        );
        let [by_secret, _] = EkKind::EccP384.alternatives().unwrap();
        assert!(encode_hex(&by_secret).starts_with("8bbf2266537c171cb56e403c4dc1d4b6"));
        assert!(
            encode_hex(&EkKind::EccP384.policy()).starts_with("b26e7d28d11a50bc53d882bcf5fd3a1a")
        );
        assert_eq!(EkKind::EccP384.policy(), EkKind::Rsa3072.policy());
        assert!(EkKind::EccP256.alternatives().is_none());
    }
}
