//! Any bytes as evidence, and any text as a token, a request or a cursor: refused without a panic.

use locus_attestation::evidence::Evidence;
use locus_attestation::evidence::jws::TrustedKeys;
use locus_attestation::ima::{Cursor, Ledger};
use locus_attestation::protocol::{Acknowledgement, Challenge, EvidenceRequest, Identity, Proof};
use locus_attestation::reference::{ReferenceValues, import};
use serde::de::DeserializeOwned;

/// Fails when any of that is not so.
pub(crate) fn run(data: &[u8]) {
    let _ = Evidence::decode(data);
    let _ = Ledger::from_bytes(data);
    read::<Identity>(data);
    read::<Challenge>(data);
    read::<Proof>(data);
    read::<Acknowledgement>(data);
    read::<EvidenceRequest>(data);
    read::<Cursor>(data);
    read::<ReferenceValues>(data);
    if let Ok(text) = std::str::from_utf8(data) {
        assert!(import(text, &TrustedKeys::new(), None).is_err());
    }
}

fn read<T: DeserializeOwned>(data: &[u8]) {
    let _ = serde_json::from_slice::<T>(data);
}
