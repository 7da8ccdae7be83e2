//! Hash algorithms and digests, as every part of attestation speaks of them.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha1::Sha1;
use sha2::{Sha256, Sha384, Sha512};

/// The size of the largest digest.
pub const MAX_DIGEST_SIZE: usize = 64;

/// A hash algorithm that a TPM bank or a measurement may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HashAlg {
    /// SHA-1: only because measurement logs still carry it; never a bank to rely on.
    Sha1,
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

impl HashAlg {
    /// Every algorithm, weakest first.
    pub const ALL: [HashAlg; 4] = [
        HashAlg::Sha1,
        HashAlg::Sha256,
        HashAlg::Sha384,
        HashAlg::Sha512,
    ];

    /// The name that Linux and the OCI specifications use.
    pub const fn name(self) -> &'static str {
        match self {
            HashAlg::Sha1 => "sha1",
            HashAlg::Sha256 => "sha256",
            HashAlg::Sha384 => "sha384",
            HashAlg::Sha512 => "sha512",
        }
    }

    /// The algorithm of that name.
    pub fn from_name(name: &[u8]) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|alg| alg.name().as_bytes() == name)
    }

    /// The digest's size in bytes.
    pub const fn size(self) -> usize {
        match self {
            HashAlg::Sha1 => 20,
            HashAlg::Sha256 => 32,
            HashAlg::Sha384 => 48,
            HashAlg::Sha512 => 64,
        }
    }

    /// The TCG algorithm identifier (TPM_ALG_ID).
    pub const fn tpm_id(self) -> u16 {
        match self {
            HashAlg::Sha1 => 0x0004,
            HashAlg::Sha256 => 0x000b,
            HashAlg::Sha384 => 0x000c,
            HashAlg::Sha512 => 0x000d,
        }
    }

    /// The algorithm with that TCG identifier.
    pub fn from_tpm_id(id: u16) -> Option<Self> {
        Some(match id {
            0x0004 => HashAlg::Sha1,
            0x000b => HashAlg::Sha256,
            0x000c => HashAlg::Sha384,
            0x000d => HashAlg::Sha512,
            _ => return None,
        })
    }

    /// The digest of the concatenation of some byte strings.
    pub fn hash(self, parts: &[&[u8]]) -> Digest {
        fn run<D: sha2::digest::Digest>(alg: HashAlg, parts: &[&[u8]]) -> Digest {
            let mut hasher = D::new();
            for part in parts {
                hasher.update(part);
            }
            Digest::filled(alg, &hasher.finalize())
        }
        match self {
            HashAlg::Sha1 => run::<Sha1>(self, parts),
            HashAlg::Sha256 => run::<Sha256>(self, parts),
            HashAlg::Sha384 => run::<Sha384>(self, parts),
            HashAlg::Sha512 => run::<Sha512>(self, parts),
        }
    }
}

impl fmt::Display for HashAlg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for HashAlg {
    type Err = ParseDigestError;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        HashAlg::from_name(s.as_bytes()).ok_or(ParseDigestError::UnknownAlgorithm)
    }
}

impl schemars::JsonSchema for HashAlg {
    fn schema_name() -> Cow<'static, str> {
        "HashAlg".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "A hash algorithm that a bank of registers or a measurement may use.",
            "enum": HashAlg::ALL.map(HashAlg::name),
        })
    }
}

impl Serialize for HashAlg {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for HashAlg {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        name.parse().map_err(serde::de::Error::custom)
    }
}

/// Why a text is no digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseDigestError {
    /// There is no `algorithm:` before the digits.
    #[error("a digest is written `algorithm:hexadecimal`")]
    NoAlgorithm,
    /// The algorithm is not one of those known here.
    #[error("the hash algorithm is none of sha1, sha256, sha384, sha512")]
    UnknownAlgorithm,
    /// The digits are too few, too many, or not hexadecimal.
    #[error("the digest does not have the hexadecimal digits of its algorithm")]
    Digits,
}

/// A digest with its algorithm.
///
/// Bytes beyond the algorithm's size are zero, so equality and hashing need not look at the size.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Digest {
    alg: HashAlg,
    bytes: [u8; MAX_DIGEST_SIZE],
}

impl Digest {
    /// A digest of exactly the size of its algorithm.
    #[inline]
    pub fn new(alg: HashAlg, bytes: &[u8]) -> Option<Self> {
        (bytes.len() == alg.size()).then(|| Digest::filled(alg, bytes))
    }

    /// Fills from the left with what there is; the rest stays zero.
    #[inline]
    pub(crate) fn filled(alg: HashAlg, bytes: &[u8]) -> Self {
        let mut all = [0; MAX_DIGEST_SIZE];
        let len = bytes.len().min(alg.size());
        if let (Some(to), Some(from)) = (all.get_mut(..len), bytes.get(..len)) {
            to.copy_from_slice(from);
        }
        Digest { alg, bytes: all }
    }

    /// All bits zero: a PCR after reset, a violation in a log.
    pub const fn zero(alg: HashAlg) -> Self {
        Digest {
            alg,
            bytes: [0; MAX_DIGEST_SIZE],
        }
    }

    /// All bits one: what a violation extends.
    pub fn ones(alg: HashAlg) -> Self {
        Digest::filled(alg, &[0xff; MAX_DIGEST_SIZE])
    }

    /// The algorithm.
    pub const fn alg(&self) -> HashAlg {
        self.alg
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.alg.size()).unwrap_or(&self.bytes)
    }

    /// Whether all bits are zero.
    pub fn is_zero(&self) -> bool {
        self.bytes.iter().all(|byte| *byte == 0)
    }

    /// What a PCR with this value holds after `measured` is extended into it.
    #[must_use]
    pub fn extend(&self, measured: &[u8]) -> Self {
        self.alg.hash(&[self.as_bytes(), measured])
    }

    /// The hexadecimal digits without the algorithm.
    pub fn to_hex(&self) -> String {
        encode_hex(self.as_bytes())
    }
}

/// A digest that stands elsewhere, as in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DigestRef<'a> {
    alg: HashAlg,
    bytes: &'a [u8],
}

impl<'a> DigestRef<'a> {
    /// A digest of exactly the size of its algorithm.
    pub fn new(alg: HashAlg, bytes: &'a [u8]) -> Option<Self> {
        (bytes.len() == alg.size()).then_some(DigestRef { alg, bytes })
    }

    /// The algorithm.
    pub const fn alg(&self) -> HashAlg {
        self.alg
    }

    /// The bytes.
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The digest itself.
    pub fn to_digest(self) -> Digest {
        Digest::filled(self.alg, self.bytes)
    }
}

impl<'a> From<&'a Digest> for DigestRef<'a> {
    fn from(digest: &'a Digest) -> Self {
        DigestRef {
            alg: digest.alg,
            bytes: digest.as_bytes(),
        }
    }
}

impl std::hash::Hash for Digest {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        // The size tells the algorithm, and the rest is zero.
        state.write(self.as_bytes());
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.alg, self.to_hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = ParseDigestError;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        let (alg, digits) = s.split_once(':').ok_or(ParseDigestError::NoAlgorithm)?;
        let alg: HashAlg = alg.parse()?;
        let bytes = decode_hex(digits.as_bytes()).ok_or(ParseDigestError::Digits)?;
        Digest::new(alg, &bytes).ok_or(ParseDigestError::Digits)
    }
}

crate::schema::text_schema!(
    Digest,
    "^(sha1:[0-9A-Fa-f]{40}|sha256:[0-9A-Fa-f]{64}|sha384:[0-9A-Fa-f]{96}|sha512:[0-9A-Fa-f]{128})$",
    "A digest with its algorithm, such as `sha256:` and 64 hexadecimal digits; lower case in answers."
);

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// A digest in the making, for content that comes in pieces.
#[derive(Clone)]
pub struct Hasher(State);

#[derive(Clone)]
enum State {
    Sha1(Sha1),
    Sha256(Sha256),
    Sha384(Sha384),
    Sha512(Sha512),
}

impl Hasher {
    /// Starts.
    pub fn new(alg: HashAlg) -> Self {
        use sha2::digest::Digest as _;
        Hasher(match alg {
            HashAlg::Sha1 => State::Sha1(Sha1::new()),
            HashAlg::Sha256 => State::Sha256(Sha256::new()),
            HashAlg::Sha384 => State::Sha384(Sha384::new()),
            HashAlg::Sha512 => State::Sha512(Sha512::new()),
        })
    }

    /// Takes the next piece.
    pub fn update(&mut self, bytes: &[u8]) {
        use sha2::digest::Digest as _;
        match &mut self.0 {
            State::Sha1(state) => state.update(bytes),
            State::Sha256(state) => state.update(bytes),
            State::Sha384(state) => state.update(bytes),
            State::Sha512(state) => state.update(bytes),
        }
    }

    /// The digest of all pieces.
    pub fn finish(self) -> Digest {
        use sha2::digest::Digest as _;
        match self.0 {
            State::Sha1(state) => Digest::filled(HashAlg::Sha1, &state.finalize()),
            State::Sha256(state) => Digest::filled(HashAlg::Sha256, &state.finalize()),
            State::Sha384(state) => Digest::filled(HashAlg::Sha384, &state.finalize()),
            State::Sha512(state) => Digest::filled(HashAlg::Sha512, &state.finalize()),
        }
    }
}

impl fmt::Debug for Hasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hasher")
    }
}

/// Lower-case hexadecimal digits.
pub fn encode_hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|nibble| char::from_digit(u32::from(nibble), 16).unwrap_or('0'))
        .collect()
}

/// The bytes that hexadecimal digits of either case stand for.
pub fn decode_hex(digits: &[u8]) -> Option<Vec<u8>> {
    let nibble = |digit: u8| char::from(digit).to_digit(16);
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    digits
        .chunks_exact(2)
        .map(|pair| match pair {
            [high, low] => u8::try_from(nibble(*high)? << 4 | nibble(*low)?).ok(),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_what_the_standard_says() {
        let known = [
            (HashAlg::Sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (
                HashAlg::Sha256,
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            ),
            (
                HashAlg::Sha384,
                "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed\
                 8086072ba1e7cc2358baeca134c825a7",
            ),
            (
                HashAlg::Sha512,
                "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
                 2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
            ),
        ];
        for (alg, hex) in known {
            assert_eq!(alg.hash(&[b"a", b"bc"]).to_hex(), hex, "{alg}");
            let mut hasher = Hasher::new(alg);
            hasher.update(b"ab");
            hasher.update(b"c");
            assert_eq!(hasher.finish().to_hex(), hex, "{alg}");
        }
    }

    #[test]
    fn text_goes_back_and_forth() {
        for alg in HashAlg::ALL {
            let digest = alg.hash(&[b"locus"]);
            assert_eq!(digest.to_string().parse(), Ok(digest));
            assert_eq!(HashAlg::from_tpm_id(alg.tpm_id()), Some(alg));
        }
    }

    #[test]
    fn wrong_texts_are_refused() {
        let cases = [
            ("abc", ParseDigestError::NoAlgorithm),
            ("md5:00", ParseDigestError::UnknownAlgorithm),
            ("sha1:00", ParseDigestError::Digits),
            ("sha1:zz", ParseDigestError::Digits),
            ("sha1:0", ParseDigestError::Digits),
        ];
        for (text, error) in cases {
            assert_eq!(text.parse::<Digest>(), Err(error), "{text}");
        }
    }

    #[test]
    fn zero_and_ones_have_the_size_of_the_algorithm() {
        assert!(Digest::zero(HashAlg::Sha1).is_zero());
        assert_eq!(Digest::ones(HashAlg::Sha1).as_bytes(), [0xff; 20]);
        assert_ne!(
            Digest::zero(HashAlg::Sha1),
            Digest::zero(HashAlg::Sha256),
            "the algorithm is part of a digest"
        );
    }
}
