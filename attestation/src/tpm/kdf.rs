//! Key derivation and symmetric protection as TPM 2.0 part 1 defines them (KDFa, KDFe, CFB).

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use hmac::{Hmac, Mac};
use sha1::Sha1;
use sha2::{Sha256, Sha384, Sha512};

use crate::digest::HashAlg;

/// An HMAC with a hash chosen at run time.
pub(super) fn hmac(alg: HashAlg, key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    fn run<M: Mac + KeyInit>(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
        // An HMAC key may have any length, so that this never falls to the empty answer.
        let Ok(mut mac) = <M as KeyInit>::new_from_slice(key) else {
            return Vec::new();
        };
        for part in parts {
            mac.update(part);
        }
        mac.finalize().into_bytes().to_vec()
    }
    match alg {
        HashAlg::Sha1 => run::<Hmac<Sha1>>(key, parts),
        HashAlg::Sha256 => run::<Hmac<Sha256>>(key, parts),
        HashAlg::Sha384 => run::<Hmac<Sha384>>(key, parts),
        HashAlg::Sha512 => run::<Hmac<Sha512>>(key, parts),
    }
}

/// `KDFa`: the counter mode of SP 800-108 with HMAC.
pub(super) fn kdfa(
    alg: HashAlg,
    key: &[u8],
    label: &str,
    context_u: &[u8],
    context_v: &[u8],
    bits: u32,
) -> Vec<u8> {
    expand(alg, bits, |counter| {
        let parts: [&[u8]; 6] = [
            &counter,
            label.as_bytes(),
            &[0],
            context_u,
            context_v,
            &bits.to_be_bytes(),
        ];
        hmac(alg, key, &parts)
    })
}

/// `KDFe`: the concatenation of SP 800-56A over a Diffie-Hellman secret.
pub(super) fn kdfe(
    alg: HashAlg,
    z: &[u8],
    label: &str,
    party_u: &[u8],
    party_v: &[u8],
    bits: u32,
) -> Vec<u8> {
    expand(alg, bits, |counter| {
        let parts: [&[u8]; 6] = [&counter, z, label.as_bytes(), &[0], party_u, party_v];
        alg.hash(&parts).as_bytes().to_vec()
    })
}

fn expand(alg: HashAlg, bits: u32, block: impl Fn([u8; 4]) -> Vec<u8>) -> Vec<u8> {
    let length = usize::try_from(bits.div_ceil(8)).unwrap_or(usize::MAX);
    let blocks = length.div_ceil(alg.size());
    let mut out: Vec<u8> = (1..=u32::try_from(blocks).unwrap_or(u32::MAX))
        .flat_map(|counter| block(counter.to_be_bytes()))
        .collect();
    out.truncate(length);
    out
}

/// Whether to encrypt or to decrypt.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Encrypt,
    Decrypt,
}

/// AES in cipher feedback mode with a zero initial vector; none if the key has no AES size.
pub(super) fn aes_cfb(key: &[u8], data: &[u8], direction: Direction) -> Option<Vec<u8>> {
    match key.len() {
        16 => cfb(&aes::Aes128::new_from_slice(key).ok()?, data, direction),
        24 => cfb(&aes::Aes192::new_from_slice(key).ok()?, data, direction),
        32 => cfb(&aes::Aes256::new_from_slice(key).ok()?, data, direction),
        _ => None,
    }
}

fn cfb<C: BlockCipherEncrypt>(cipher: &C, data: &[u8], direction: Direction) -> Option<Vec<u8>> {
    let mut feedback = aes::cipher::Block::<C>::default();
    let mut out = Vec::with_capacity(data.len());
    for chunk in data.chunks(feedback.len()) {
        cipher.encrypt_block(&mut feedback);
        let mixed: Vec<u8> = chunk.iter().zip(&feedback).map(|(a, b)| a ^ b).collect();
        let next = if direction == Direction::Encrypt {
            mixed.as_slice()
        } else {
            chunk
        };
        for (to, from) in feedback.iter_mut().zip(next) {
            *to = *from;
        }
        out.extend_from_slice(&mixed);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::decode_hex;

    /// SP 800-38A, F.3.13, but its initial vector is not zero: the first block is compared after
    /// mixing the difference in, and the chain by a round trip.
    #[test]
    fn cfb_goes_back_and_forth_and_chains() {
        let key = decode_hex(b"2b7e151628aed2a6abf7158809cf4f3c").unwrap();
        let plain: Vec<u8> = (0..37).collect();
        let sealed = aes_cfb(&key, &plain, Direction::Encrypt).unwrap();
        assert_eq!(
            aes_cfb(&key, &sealed, Direction::Decrypt),
            Some(plain.clone())
        );
        // AES-128 of the zero block under this key.
        let pad = decode_hex(b"7df76b0c1ab899b33e42f047b91b546f").unwrap();
        let first: Vec<u8> = plain.iter().zip(&pad).map(|(a, b)| a ^ b).collect();
        assert_eq!(sealed[..16], first);
        let mut changed = plain;
        changed[0] ^= 1;
        let other = aes_cfb(&key, &changed, Direction::Encrypt).unwrap();
        assert_ne!(
            other[16..32],
            sealed[16..32],
            "later blocks depend on earlier ones"
        );
        assert_eq!(aes_cfb(&key[..15], &[0], Direction::Encrypt), None);
    }

    #[test]
    fn hmac_agrees_with_rfc_4231() {
        assert_eq!(
            hmac(
                HashAlg::Sha256,
                b"Jefe",
                &[b"what do ya want ", b"for nothing?"]
            ),
            decode_hex(b"5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
                .unwrap()
        );
    }

    #[test]
    fn derived_keys_have_the_asked_size() {
        for bits in [128, 256, 384, 1024] {
            let length = usize::try_from(bits / 8).unwrap();
            assert_eq!(
                kdfa(HashAlg::Sha256, b"k", "L", b"u", b"v", bits).len(),
                length
            );
            assert_eq!(
                kdfe(HashAlg::Sha384, b"z", "L", b"u", b"v", bits).len(),
                length
            );
        }
        let short = kdfa(HashAlg::Sha256, b"k", "L", b"", b"", 128);
        let long = kdfa(HashAlg::Sha256, b"k", "L", b"", b"", 256);
        assert_ne!(short[..], long[..16], "the size is part of the derivation");
    }
}
