//! Limits how often a peer may ask: a quote keeps a TPM busy for up to a second, an attestation the gate.

use std::collections::HashMap;

use crate::clock::Timestamp;

/// How many different peers are remembered.
const PEERS: usize = 4096;

/// A budget that fills up with time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// How many requests may come at once.
    pub burst: u32,
    /// How many come back each second.
    pub per_second: u32,
}

struct Bucket {
    millitokens: u64,
    at: Timestamp,
}

/// The budgets of all peers.
pub struct RateLimit {
    rate: Rate,
    buckets: HashMap<String, Bucket>,
}

impl RateLimit {
    /// With the same rate for every peer.
    pub fn new(rate: Rate) -> Self {
        RateLimit {
            rate,
            buckets: HashMap::new(),
        }
    }

    /// Takes one request from a peer's budget; false when there is none left.
    pub fn allow(&mut self, peer: &str, now: Timestamp) -> bool {
        let full = u64::from(self.rate.burst) * 1000;
        if self.buckets.len() >= PEERS && !self.buckets.contains_key(peer) {
            let per_second = u64::from(self.rate.per_second);
            self.buckets
                .retain(|_, bucket| refilled(bucket, per_second, full, now) < full);
            if self.buckets.len() >= PEERS {
                return false;
            }
        }
        let bucket = self.buckets.entry(peer.to_owned()).or_insert(Bucket {
            millitokens: full,
            at: now,
        });
        bucket.millitokens = refilled(bucket, u64::from(self.rate.per_second), full, now);
        bucket.at = now;
        match bucket.millitokens.checked_sub(1000) {
            Some(left) => {
                bucket.millitokens = left;
                true
            }
            None => false,
        }
    }
}

fn refilled(bucket: &Bucket, per_second: u64, full: u64, now: Timestamp) -> u64 {
    // A clock that went back fills nothing.
    let millis = u64::try_from(now.millis_since(bucket.at)).unwrap_or(0);
    let more = millis.saturating_mul(per_second);
    bucket.millitokens.saturating_add(more).min(full)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_allowed_and_then_the_rate() {
        let rate = Rate {
            burst: 3,
            per_second: 2,
        };
        let mut limit = RateLimit::new(rate);
        let start = Timestamp::from_secs(100);
        let allowed = (0..10).filter(|_| limit.allow("a", start)).count();
        assert_eq!(allowed, 3);
        assert!(limit.allow("b", start), "each peer has its own budget");
        assert!(!limit.allow("a", start.plus_millis(400)));
        assert!(limit.allow("a", start.plus_millis(600)));
        assert!(!limit.allow("a", Timestamp::from_secs(1)), "back in time");
    }

    #[test]
    fn many_peers_do_not_grow_without_bound() {
        let mut limit = RateLimit::new(Rate {
            burst: 1,
            per_second: 1,
        });
        let start = Timestamp::from_secs(0);
        for number in 0..3 * PEERS {
            limit.allow(&number.to_string(), start);
        }
        assert!(limit.buckets.len() <= PEERS);
        assert!(
            limit.allow("later", start.plus_secs(10)),
            "old ones make room"
        );
    }
}
