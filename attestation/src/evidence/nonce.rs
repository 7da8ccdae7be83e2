//! Nonces: used once, before a deadline, for the purpose they were given out for.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::base64url::{base64url, from_base64url};
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
    /// Too many of its sender are remembered.
    #[error(
        "too many requests of this sender are remembered; send fewer, or let them expire sooner"
    )]
    Full,
}

/// What is remembered of one sender.
#[derive(Clone, Debug, Default)]
struct Sender {
    seen: HashSet<String>,
    by_expiry: BTreeSet<(i64, String)>,
}

impl Sender {
    fn forget_before(&mut self, now: i64) {
        while let Some((expiry, _)) = self.by_expiry.first()
            && *expiry < now
        {
            if let Some((_, nonce)) = self.by_expiry.pop_first() {
                self.seen.remove(&nonce);
            }
        }
    }
}

/// The nonces that others chose, remembered for as long as a message with them would be valid. Each
/// sender has room of its own: whoever fills it shuts out itself alone.
#[derive(Clone, Debug)]
pub struct SeenNonces {
    senders: HashMap<String, Sender>,
    per_sender: usize,
    started: Timestamp,
    /// The latest time there was: what expired before it is not remembered any more.
    latest: Timestamp,
    /// How many senders there may be before those with nothing to remember are forgotten.
    crowd: usize,
}

impl SeenNonces {
    /// Remembers at most `per_sender` of each; refuses messages made before `started`, which it cannot know.
    pub fn new(per_sender: usize, started: Timestamp) -> Self {
        SeenNonces {
            senders: HashMap::new(),
            per_sender,
            started,
            latest: started,
            crowd: 1024,
        }
    }

    /// Notes a nonce of a sender, who was proven before; an error when it was noted before.
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
        let latest = self.latest.millis();
        if self.senders.len() >= self.crowd {
            self.senders.retain(|_, known| {
                known.forget_before(latest);
                !known.seen.is_empty()
            });
            self.crowd = (self.senders.len() * 2).max(1024);
        }
        let known = self.senders.entry(sender.to_owned()).or_default();
        known.forget_before(latest);
        if known.seen.contains(nonce) {
            return Err(SeenError::Repeated);
        }
        if known.seen.len() >= self.per_sender {
            return Err(SeenError::Full);
        }
        known.by_expiry.insert((expires.millis(), nonce.to_owned()));
        known.seen.insert(nonce.to_owned());
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

    /// What the attacker wants: that nobody else is heard.
    #[test]
    fn one_tenant_cannot_fill_the_memory_of_nonces_for_another() {
        let mut seen = SeenNonces::new(1000, at(0));
        let note = |seen: &mut SeenNonces, sender: &str, number: i64, now| {
            let nonce = number.to_string();
            seen.note(sender, &nonce, at(now), at(now + 331_000), at(now))
        };
        let taken = (0..5000).filter(|number| note(&mut seen, "evil", *number, 0).is_ok());
        assert_eq!(taken.count(), 1000);
        assert_eq!(note(&mut seen, "good", 0, 1), Ok(()));
        assert_eq!(note(&mut seen, "evil", 6000, 1), Err(SeenError::Full));
        assert_eq!(note(&mut seen, "evil", 0, 1), Err(SeenError::Repeated));
        assert_eq!(note(&mut seen, "evil", 6000, 331_001), Ok(()));
        // Senders that came once and went are not remembered for good.
        for sender in 0..5000 {
            let now = 400_000 + sender * 1000;
            assert_eq!(note(&mut seen, &format!("s{sender}"), 0, now), Ok(()));
        }
        assert!(seen.senders.len() < 2000, "{}", seen.senders.len());
    }
}
