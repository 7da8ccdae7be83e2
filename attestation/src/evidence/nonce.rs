//! Nonces: used once, before a deadline, for the purpose they were given out for.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::jws::{base64url, from_base64url};
use crate::clock::Timestamp;

/// 32 random bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nonce([u8; 32]);

impl Nonce {
    /// A new one from the system's generator.
    pub fn random() -> Result<Self, NonceError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|_| NonceError::NoRandomness)?;
        Ok(Nonce(bytes))
    }

    /// From its bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Nonce(bytes)
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// From base64url text.
    pub fn parse(text: &str) -> Option<Self> {
        Some(Nonce(from_base64url(text)?.try_into().ok()?))
    }
}

impl fmt::Display for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&base64url(&self.0))
    }
}

impl fmt::Debug for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

crate::schema::text_schema!(
    Nonce,
    "^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$",
    "32 random bytes in base64url without padding (RFC 4648, section 5).",
    "contentEncoding": "base64url"
);

impl Serialize for Nonce {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Nonce {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Nonce::parse(&text).ok_or_else(|| serde::de::Error::custom("a nonce has 32 bytes"))
    }
}

/// Why a nonce is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NonceError {
    /// Never given out, or used already.
    #[error("the nonce was not given out, or was used already")]
    Unknown,
    /// Its deadline has passed.
    #[error("the nonce came back after its deadline")]
    Late,
    /// It comes back before it was given out: the clock was set back.
    #[error("the clock went back since the nonce was given out")]
    ClockWentBack,
    /// It was given out for something else.
    #[error("the nonce was given out for another purpose")]
    Purpose,
    /// Too many are outstanding.
    #[error("too many nonces are outstanding")]
    Full,
    /// The system gives no random bytes.
    #[error("the system gives no random bytes")]
    NoRandomness,
}

#[derive(Clone, Debug)]
struct Outstanding<P> {
    purpose: P,
    issued: Timestamp,
    deadline: Timestamp,
}

/// The nonces that were given out and have not come back.
///
/// They live in memory only: after a restart none is valid, and every protocol run starts over.
#[derive(Clone, Debug)]
pub struct NonceStore<P> {
    outstanding: HashMap<Nonce, Outstanding<P>>,
    capacity: usize,
}

impl<P: Eq> NonceStore<P> {
    /// Holds at most `capacity` outstanding nonces.
    pub fn new(capacity: usize) -> Self {
        NonceStore {
            outstanding: HashMap::new(),
            capacity,
        }
    }

    /// Gives out a nonce for a purpose, to come back within `lifetime_millis`.
    pub fn issue(
        &mut self,
        purpose: P,
        now: Timestamp,
        lifetime_millis: i64,
    ) -> Result<Nonce, NonceError> {
        if self.outstanding.len() >= self.capacity {
            self.outstanding
                .retain(|_, outstanding| outstanding.deadline >= now);
        }
        if self.outstanding.len() >= self.capacity {
            return Err(NonceError::Full);
        }
        let nonce = Nonce::random()?;
        let deadline = now.plus_millis(lifetime_millis);
        self.outstanding.insert(
            nonce,
            Outstanding {
                purpose,
                issued: now,
                deadline,
            },
        );
        Ok(nonce)
    }

    /// Takes a nonce back. Whatever the outcome, it is not accepted a second time.
    pub fn take(&mut self, nonce: &Nonce, purpose: &P, now: Timestamp) -> Result<(), NonceError> {
        let outstanding = self.outstanding.remove(nonce).ok_or(NonceError::Unknown)?;
        if now < outstanding.issued {
            return Err(NonceError::ClockWentBack);
        }
        if now > outstanding.deadline {
            return Err(NonceError::Late);
        }
        if outstanding.purpose != *purpose {
            return Err(NonceError::Purpose);
        }
        Ok(())
    }

    /// How many are outstanding.
    pub fn len(&self) -> usize {
        self.outstanding.len()
    }

    /// Whether none is outstanding.
    pub fn is_empty(&self) -> bool {
        self.outstanding.is_empty()
    }
}

/// Why a nonce that its sender chose is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SeenError {
    /// It was seen before.
    #[error("the request was sent before")]
    Repeated,
    /// It may have been seen by an earlier process, whose memory is gone.
    #[error("the request is older than this service; send it anew")]
    BeforeStart,
    /// The clock went back: it may have been seen and forgotten since.
    #[error("the clock went back, and the request may have been sent before; send it anew")]
    Forgotten,
    /// Too many are remembered.
    #[error("too many requests are remembered")]
    Full,
}

/// The nonces that others chose, remembered for as long as a message with them would be valid.
#[derive(Clone, Debug)]
pub struct SeenNonces {
    seen: HashMap<(String, String), i64>,
    by_expiry: BTreeMap<(i64, String, String), ()>,
    capacity: usize,
    started: Timestamp,
    /// The latest time there was: what expired before it is not remembered any more.
    latest: Timestamp,
}

impl SeenNonces {
    /// Remembers at most `capacity`; refuses messages made before `started`, which it cannot know.
    pub fn new(capacity: usize, started: Timestamp) -> Self {
        SeenNonces {
            seen: HashMap::new(),
            by_expiry: BTreeMap::new(),
            capacity,
            started,
            latest: started,
        }
    }

    /// Notes a nonce of a sender; an error when it was noted before.
    pub fn note(
        &mut self,
        sender: &str,
        nonce: &str,
        created: Timestamp,
        expires: Timestamp,
        now: Timestamp,
    ) -> Result<(), SeenError> {
        // Whole seconds: that is what the message can say.
        if created.secs() < self.started.secs() {
            return Err(SeenError::BeforeStart);
        }
        self.latest = self.latest.max(now);
        if expires < self.latest {
            return Err(SeenError::Forgotten);
        }
        while let Some(((expiry, _, _), ())) = self.by_expiry.first_key_value() {
            if *expiry >= self.latest.millis() {
                break;
            }
            if let Some(((_, sender, nonce), ())) = self.by_expiry.pop_first() {
                self.seen.remove(&(sender, nonce));
            }
        }
        let key = (sender.to_owned(), nonce.to_owned());
        if self.seen.contains_key(&key) {
            return Err(SeenError::Repeated);
        }
        if self.seen.len() >= self.capacity {
            return Err(SeenError::Full);
        }
        let expiry = expires.millis();
        self.by_expiry
            .insert((expiry, key.0.clone(), key.1.clone()), ());
        self.seen.insert(key, expiry);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[test]
    fn a_nonce_is_good_once() {
        let mut store = NonceStore::new(4);
        let nonce = store.issue("quote", at(0), 100).unwrap();
        assert_eq!(store.take(&nonce, &"quote", at(100)), Ok(()));
        assert_eq!(
            store.take(&nonce, &"quote", at(100)),
            Err(NonceError::Unknown)
        );
    }

    #[test]
    fn a_late_or_misused_nonce_is_spent() {
        type Case = (&'static str, i64, NonceError);
        let cases: [Case; 3] = [
            ("quote", 101, NonceError::Late),
            ("quote", -1, NonceError::ClockWentBack),
            ("challenge", 50, NonceError::Purpose),
        ];
        for (purpose, now, error) in cases {
            let mut store = NonceStore::new(4);
            let nonce = store.issue("quote", at(0), 100).unwrap();
            assert_eq!(store.take(&nonce, &purpose, at(now)), Err(error));
            assert_eq!(
                store.take(&nonce, &"quote", at(50)),
                Err(NonceError::Unknown),
                "it was spent by the failure"
            );
        }
    }

    #[test]
    fn outstanding_nonces_are_bounded_and_expire() {
        let mut store = NonceStore::new(2);
        store.issue((), at(0), 10).unwrap();
        store.issue((), at(0), 1000).unwrap();
        assert_eq!(store.issue((), at(5), 10), Err(NonceError::Full));
        assert!(store.issue((), at(11), 10).is_ok());
        assert_eq!(store.len(), 2);
    }

    #[test]
    fn a_message_is_taken_once_and_never_from_before_the_start() {
        let mut seen = SeenNonces::new(2, at(10_000));
        let note = |seen: &mut SeenNonces, nonce: &str, created, now| {
            seen.note("tenant", nonce, at(created), at(created + 5_000), at(now))
        };
        assert_eq!(
            note(&mut seen, "a", 9_999, 10_000),
            Err(SeenError::BeforeStart)
        );
        assert_eq!(note(&mut seen, "a", 10_000, 10_000), Ok(()));
        assert_eq!(
            note(&mut seen, "a", 10_000, 10_000),
            Err(SeenError::Repeated)
        );
        assert_eq!(note(&mut seen, "b", 10_000, 10_000), Ok(()));
        assert_eq!(note(&mut seen, "c", 10_000, 10_000), Err(SeenError::Full));
        assert_eq!(
            note(&mut seen, "c", 15_001, 15_001),
            Ok(()),
            "the others expired"
        );
        assert_eq!(
            seen.note("other", "c", at(15_001), at(20_000), at(15_001)),
            Ok(()),
            "each sender has nonces of its own"
        );
    }

    #[test]
    fn a_clock_that_jumps_ahead_and_back_lets_nothing_through_twice() {
        let mut seen = SeenNonces::new(10, at(10_000));
        let note = |seen: &mut SeenNonces, nonce: &str, now| {
            seen.note("tenant", nonce, at(10_000), at(20_000), at(now))
        };
        assert_eq!(note(&mut seen, "a", 11_000), Ok(()));
        let later = seen.note("tenant", "b", at(60_000), at(70_000), at(60_000));
        assert_eq!(later, Ok(()));
        assert_eq!(note(&mut seen, "a", 12_000), Err(SeenError::Forgotten));
    }
}
