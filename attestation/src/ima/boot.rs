//! The boot aggregate: the first line of every log, and what it must be.

use super::entry::Entry;
use crate::digest::{Digest, HashAlg};

/// The name of the entry that binds a log to the boot it belongs to.
pub const BOOT_AGGREGATE: &[u8] = b"boot_aggregate";

/// The values a kernel may compute over the same boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BootAggregate {
    /// Over PCR 0 to 9: every kernel since 5.8, for every bank but SHA-1.
    pub current: Digest,
    /// Over PCR 0 to 7: older kernels, and the SHA-1 bank.
    pub older: Digest,
}

impl BootAggregate {
    /// Over the PCRs 0 to 9 of one bank, in order; nothing when one is missing or of another bank.
    pub fn over(alg: HashAlg, pcrs: &[Digest]) -> Option<Self> {
        if pcrs.len() != 10 || pcrs.iter().any(|pcr| pcr.alg() != alg) {
            return None;
        }
        let parts: Vec<&[u8]> = pcrs.iter().map(Digest::as_bytes).collect();
        Some(BootAggregate {
            current: alg.hash(&parts),
            older: alg.hash(parts.get(..8)?),
        })
    }

    /// Both values, the current one first.
    pub fn accepted(&self) -> [Digest; 2] {
        [self.current, self.older]
    }
}

/// The boot aggregate that an entry records, if it is such an entry.
pub fn boot_aggregate(entry: &Entry<'_>) -> Option<Digest> {
    if entry.path() != BOOT_AGGREGATE || entry.is_violation() {
        return None;
    }
    entry.file_digest()?.known()
}

/// Whether an entry is one of these boot aggregates, and not a file that somebody called so.
pub fn is_boot_aggregate(entry: &Entry<'_>, accepted: &[Digest]) -> bool {
    entry.path() == BOOT_AGGREGATE
        && entry.cgroup().is_none_or(|group| group == b"/")
        && boot_aggregate(entry).is_some_and(|found| accepted.contains(&found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covers_the_registers_that_kernels_cover() {
        let pcrs: Vec<Digest> = (0..10_u8)
            .map(|number| Digest::new(HashAlg::Sha256, &[number; 32]).unwrap())
            .collect();
        let aggregate = BootAggregate::over(HashAlg::Sha256, &pcrs).unwrap();
        let bytes: Vec<u8> = (0..10_u8).flat_map(|number| [number; 32]).collect();
        assert_eq!(aggregate.current, HashAlg::Sha256.hash(&[&bytes]));
        assert_eq!(aggregate.older, HashAlg::Sha256.hash(&[&bytes[..256]]));
    }

    #[test]
    fn needs_all_ten_registers_of_one_bank() {
        let mut pcrs = vec![Digest::zero(HashAlg::Sha256); 10];
        assert!(BootAggregate::over(HashAlg::Sha1, &pcrs).is_none());
        pcrs.pop();
        assert!(BootAggregate::over(HashAlg::Sha256, &pcrs).is_none());
    }
}
