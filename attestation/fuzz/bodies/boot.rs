//! Any bytes as an event log: refused, or read so that replaying and judging it end.

use locus_attestation::boot::{BootPolicy, EventLog, learn};
use locus_attestation::digest::HashAlg;

/// Fails when any of that is not so.
pub(crate) fn run(data: &[u8]) {
    let Ok(log) = EventLog::parse(data) else {
        return;
    };
    for bank in HashAlg::ALL {
        let Ok(values) = log.replay(bank) else {
            continue;
        };
        // What a log leads to, it explains; what it consists of, a policy made from it accepts or names.
        let boot = log.explain(bank, &values).unwrap();
        let _ = BootPolicy::default().judge(&boot);
        let _ = learn(&boot);
    }
}
