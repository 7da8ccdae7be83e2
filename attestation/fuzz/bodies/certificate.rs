//! Any bytes as certificates and revocation lists: nobody is trusted by chance.

use locus_attestation::clock::Timestamp;
use locus_attestation::registrar::{TrustStore, unpad};

/// Fails when any of that is not so.
pub(crate) fn run(data: &[u8]) {
    let _ = unpad(data);
    let now = Timestamp::from_secs(1_800_000_000);
    let mut store = TrustStore::new();
    let _ = store.add_intermediate(data);
    let _ = store.add_revocation_list(data);
    assert!(store.validate_ek(data, &[data.to_vec()], now).is_err());
    // As a root it may vouch for itself, which is no endorsement certificate unless it says so.
    if store.add_root("id:49465800", data).is_ok() {
        let _ = store.validate_ek(data, &[], now);
    }
}
