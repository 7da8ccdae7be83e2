//! Random changes of bytes, the same ones in every run.

/// Reproducible chance: a failure names the number of its mutation.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

/// One change: bits flipped, a byte replaced, the end cut off, bytes inserted, removed, repeated or moved.
pub(crate) fn mutate(original: &[u8], number: u64) -> Vec<u8> {
    let mut chance = Chance(number);
    let mut bytes = original.to_vec();
    if bytes.is_empty() {
        return vec![chance.next() as u8];
    }
    match chance.below(8) {
        0..=2 => {
            for _ in 0..=chance.below(3) {
                let at = chance.below(bytes.len());
                bytes[at] ^= 1 << chance.below(8);
            }
        }
        3 => {
            let at = chance.below(bytes.len());
            bytes[at] = chance.next() as u8;
        }
        4 => bytes.truncate(chance.below(original.len())),
        5 => {
            let at = chance.below(bytes.len());
            bytes.insert(at, chance.next() as u8);
        }
        6 => {
            let from = chance.below(bytes.len());
            let to = (from + 1 + chance.below(16)).min(bytes.len());
            bytes.drain(from..to);
        }
        _ => {
            let from = chance.below(bytes.len());
            let to = (from + 1 + chance.below(64)).min(bytes.len());
            let part = bytes[from..to].to_vec();
            let at = chance.below(bytes.len());
            bytes.splice(at..at, part);
        }
    }
    bytes
}
