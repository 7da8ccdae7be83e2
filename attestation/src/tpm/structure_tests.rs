//! Whatever bytes come: no panic, and what is accepted is written back byte for byte.

use proptest::prelude::*;

use super::emulated::EmulatedTpm;
use super::{AkKind, EkKind, PcrSelection, Public, QuoteAttest, Signature, Tpm};
use crate::digest::HashAlg;

/// A genuine key, quote and signature.
fn genuine() -> [Vec<u8>; 3] {
    let mut tpm = EmulatedTpm::from_seed([9; 32]);
    let ak = tpm.create_ak(EkKind::EccP256, AkKind::EccP256).unwrap();
    let selection = PcrSelection::of(HashAlg::Sha256, [0, 10]);
    let quote = tpm.sign_quote(&ak, &[1; 32], &selection).unwrap();
    [ak.public, quote.attest, quote.signature]
}

/// Each structure has one encoding: the name of a key is a digest of its bytes.
fn canonical(bytes: &[u8]) {
    if let Ok(key) = Public::parse(bytes) {
        assert_eq!(key.to_bytes(), bytes);
    }
    if let Ok(quote) = QuoteAttest::parse(bytes) {
        assert_eq!(quote.to_bytes(), bytes);
    }
    if let Ok(signature) = Signature::parse(bytes) {
        assert_eq!(signature.to_bytes(), bytes);
    }
}

proptest! {
    #[test]
    fn random_bytes_are_read_canonically_or_refused(
        bytes in proptest::collection::vec(any::<u8>(), 0..400),
    ) {
        canonical(&bytes);
    }
}

/// 10,000 mutations of each: bits flipped, bytes cut, bytes added.
#[test]
fn mutations_are_read_canonically_or_refused_and_never_verified() {
    let [public, attest, signature] = genuine();
    let key = Public::parse(&public).unwrap();
    let good = Signature::parse(&signature).unwrap();
    assert_eq!(key.verify(&attest, &good), Ok(()));
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(state >> 33).unwrap() % below
    };
    for original in [&public, &attest, &signature] {
        for _ in 0..10_000 {
            let mut mutated = original.clone();
            match random(4) {
                0 => mutated.truncate(random(original.len())),
                1 => mutated.push(u8::try_from(random(256)).unwrap()),
                _ => {
                    let at = random(original.len());
                    mutated[at] ^= 1 << random(8);
                }
            }
            canonical(&mutated);
            if original == &signature {
                let accepted = Signature::parse(&mutated)
                    .is_ok_and(|mutated| key.verify(&attest, &mutated).is_ok());
                assert!(!accepted, "{mutated:02x?}");
            }
        }
    }
    for bit in 0..attest.len() * 8 {
        let mut mutated = attest.clone();
        mutated[bit / 8] ^= 1 << (bit % 8);
        assert!(key.verify(&mutated, &good).is_err(), "bit {bit}");
    }
}
