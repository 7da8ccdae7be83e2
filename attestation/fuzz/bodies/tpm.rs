//! Any bytes as a TPM's structures: refused, or written back byte for byte.

use locus_attestation::digest::HashAlg;
use locus_attestation::tpm::{
    PcrSelection, PcrValues, Public, Quote, QuoteAttest, Signature, verify_quote,
};

/// Fails when any of that is not so.
pub(crate) fn run(data: &[u8]) {
    if let Ok(quote) = QuoteAttest::parse(data) {
        assert_eq!(quote.to_bytes(), data);
    }
    if let Ok(signature) = Signature::parse(data) {
        assert_eq!(signature.to_bytes(), data);
    }
    if let Ok(key) = Public::parse(data) {
        assert_eq!(key.to_bytes(), data);
        let _ = key.check_attestation_key();
        let _ = key.name();
    }
    // A key, a quote and a signature, one after the other; nobody can sign for a key by chance.
    let [first, second, rest @ ..] = data else {
        return;
    };
    let (key, rest) = rest.split_at(usize::from(*first).min(rest.len()));
    let (attest, signature) = rest.split_at(usize::from(*second).min(rest.len()));
    if let Ok(key) = Public::parse(key) {
        let quote = Quote {
            attest: attest.to_vec(),
            signature: signature.to_vec(),
            pcrs: PcrValues::default(),
        };
        let selection = PcrSelection::of(HashAlg::Sha256, [10]);
        assert!(verify_quote(&key, &quote, &[7; 32], &selection).is_err());
    }
}
