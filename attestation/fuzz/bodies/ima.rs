//! Any bytes as a measurement log: read to an end, attributed, and never the explanation of a quote.

use locus_attestation::digest::{Digest, HashAlg};
use locus_attestation::ima::{
    Attributor, Boot, Cursor, Ledger, Reader, ReplayPolicy, RuntimeProfile, Templates, TpmClock,
    advance, ascii,
};

/// Fails when any of that is not so.
pub(crate) fn run(data: &[u8]) {
    let templates = Templates::default();
    let profile = RuntimeProfile::default();
    for column in [HashAlg::Sha1, HashAlg::Sha256] {
        let mut attributor = Attributor::new(&profile);
        let mut ledger = Ledger::new();
        let mut lines = String::new();
        let mut reader = Reader::new(data, column, &templates);
        for entry in reader.by_ref() {
            let Ok(entry) = entry else { break };
            ledger.record(attributor.subject(&entry), &entry);
            lines.push_str(&format!("{entry}\n"));
        }
        assert!(reader.offset() <= data.len());
        assert_eq!(Ledger::from_bytes(&ledger.to_bytes()).unwrap(), ledger);
        // A line that is not text reads differently; whatever it reads as can be read again.
        let (binary, _) = ascii::to_binary(lines.as_bytes(), column, &templates);
        assert!(Reader::new(&binary, column, &templates).all(|entry| entry.is_ok()));
        let (binary, _) = ascii::to_binary(data, column, &templates);
        assert!(Reader::new(&binary, column, &templates).all(|entry| entry.is_ok()));

        let tpm = TpmClock {
            clock: 1,
            boot: Boot {
                reset_count: 1,
                restart_count: 0,
            },
        };
        let quoted = [HashAlg::Sha256.hash(&[b"nobody finds what leads to this"])];
        let accepted = [Digest::zero(HashAlg::Sha256)];
        let policy = ReplayPolicy {
            boot_aggregates: &accepted,
            deny_violations: false,
            max_behind: 1,
            allow_kexec: true,
            waypoint: None,
        };
        let start = Cursor::fresh(&[HashAlg::Sha256], tpm);
        let reader = Reader::new(data, column, &templates);
        assert!(advance(reader, column, &start, &quoted, &policy, |_, _| {}).is_err());
    }
}
