//! A table that is asked for every entry of a log: packed, so that it stays in the processor's cache.

use std::hash::BuildHasher as _;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

/// Values by keys, both bytes. It is made once and does not change.
#[derive(Default)]
pub(super) struct Packed {
    /// Where the records start.
    table: HashTable<usize>,
    /// Each record: the length of the key, the length of the value, the key, the value.
    records: Vec<u8>,
    state: RandomState,
}

impl Packed {
    /// With these entries, each key once. They stay in their order: what is asked for together should
    /// stand together.
    pub(super) fn new(entries: &[(Vec<u8>, Vec<u8>)]) -> Self {
        let mut packed = Packed {
            table: HashTable::with_capacity(entries.len()),
            ..Packed::default()
        };
        for (key, value) in entries {
            let start = packed.records.len();
            for part in [key, value] {
                let length = u64::try_from(part.len()).unwrap_or(u64::MAX);
                packed.records.extend_from_slice(&length.to_le_bytes());
            }
            packed.records.extend_from_slice(key);
            packed.records.extend_from_slice(value);
            let hash = packed.state.hash_one(key.as_slice());
            // There is room for all, and each key comes once: nothing is hashed again or compared.
            packed.table.insert_unique(hash, start, |_| hash);
        }
        packed
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &[u8]) -> Option<&[u8]> {
        let hash = self.state.hash_one(key);
        let same = |start: &usize| self.record(*start).is_some_and(|(found, _)| found == key);
        let start = self.table.find(hash, same)?;
        Some(self.record(*start)?.1)
    }

    fn record(&self, start: usize) -> Option<(&[u8], &[u8])> {
        let rest = self.records.get(start..)?;
        let (key, rest) = rest.split_first_chunk::<8>()?;
        let (value, rest) = rest.split_first_chunk::<8>()?;
        let length = |bytes: &[u8; 8]| usize::try_from(u64::from_le_bytes(*bytes)).ok();
        let (key, rest) = rest.split_at_checked(length(key)?)?;
        Some((key, rest.get(..length(value)?)?))
    }
}

impl std::fmt::Debug for Packed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Packed({} entries)", self.table.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_its_own_value_and_no_other_has_one() {
        let key = |number: u32| format!("/usr/lib/{number}.so").into_bytes();
        let mut entries: Vec<(Vec<u8>, Vec<u8>)> = (0..10_000_u32)
            .map(|number| (key(number), number.to_le_bytes().to_vec()))
            .collect();
        entries.push((Vec::new(), b"of nothing".to_vec()));
        entries.push((b"nothing".to_vec(), Vec::new()));
        let packed = Packed::new(&entries);
        for (key, value) in &entries {
            assert_eq!(packed.get(key), Some(value.as_slice()));
        }
        for number in 10_000..20_000 {
            assert_eq!(packed.get(&key(number)), None);
        }
        assert_eq!(Packed::default().get(b""), None);
    }
}
