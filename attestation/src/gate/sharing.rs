//! Several verifiers on one store: who is there, whose turn it is to attest a worker, and who does it.
//!
//! Every verifier says again and again that it is there. Each worker has one of those that are there that it prefers: the
//! first by a digest of both names, so that as few as possible change hands when one comes or goes, and what is kept of a
//! worker in memory stays of use. That one attests it when its turn comes; one whose turn was a while ago is attested by
//! whoever sees it first. Exactness does not depend on any of this but on the [lease](crate::verifier::Lease): who has it
//! attests, and concludes something only as long as nobody else took it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::problem::Problem;
use super::result::Asked;
use super::schedule::{AT_ONCE, jittered, random};
use super::verify::Verifier;
use crate::clock::Timestamp;
use crate::digest::HashAlg;
use crate::protocol::AttestationError;
use crate::verifier::{Beat, Lease, SKEW_MILLIS, StoreError};

/// How fast verifiers notice each other. All of them have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// How long a lease lasts that is not renewed: for so long nobody attests a worker whose verifier died in the middle.
    pub lasts: Duration,
    /// How often a lease is renewed while its worker is attested.
    pub renewed: Duration,
    /// How often a verifier says that it is there.
    pub said: Duration,
    /// After how long one that says nothing is not there any more.
    pub gone: Duration,
    /// After how long a worker's turn is anybody's.
    pub anybody: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Pace {
            lasts: Duration::from_secs(30),
            renewed: Duration::from_secs(10),
            said: Duration::from_secs(4),
            gone: Duration::from_secs(15),
            anybody: Duration::from_secs(20),
        }
    }
}

/// How long somebody who asks waits for another verifier that attests the worker just now.
const PATIENCE: Duration = Duration::from_secs(45);
/// How often it is looked whether that one is done.
const LOOK: Duration = Duration::from_millis(100);

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

/// The part of one verifier in what several do.
pub struct Sharing {
    /// How this verifier is called, by which no other was ever called.
    id: String,
    /// How often every worker is attested; never by itself if zero.
    interval: Duration,
    pace: Pace,
    heard: Mutex<Option<Heard>>,
    /// The authority by which it is known that answers an API server here.
    authority: Mutex<(String, Option<Instant>)>,
    /// Leases that were taken for workers whose turn it is, until their attestation begins.
    taken: Mutex<HashMap<String, Lease>>,
}

/// What was heard last from the store.
#[derive(Clone, Debug)]
struct Heard {
    at: Instant,
    there: Vec<String>,
    #[cfg_attr(
        not(any(feature = "kubernetes", test)),
        expect(dead_code, reason = "who answers an API server needs it")
    )]
    authorities: Vec<String>,
    /// How far the clock is ahead of the store's, in milliseconds.
    ahead: i64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sharing {
    /// Of a verifier that was just started.
    pub fn new(interval: Duration, pace: Pace) -> Self {
        Sharing {
            id: uuid::Uuid::new_v4().to_string(),
            interval,
            pace,
            heard: Mutex::default(),
            authority: Mutex::default(),
            taken: Mutex::default(),
        }
    }

    /// How this verifier is called.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The verifiers that are there, as far as this one knows.
    pub fn there(&self) -> Vec<String> {
        let heard = lock(&self.heard);
        heard
            .as_ref()
            .map_or_else(Vec::new, |heard| heard.there.clone())
    }

    /// Has others told of the authority by which it is known that answers an API server here.
    #[cfg(any(feature = "kubernetes", test))]
    pub(crate) fn announce(&self, authority: &str) {
        let mut own = lock(&self.authority);
        if own.0 != authority {
            *own = (authority.to_owned(), Some(Instant::now()));
        }
    }

    /// The authorities of all that are there, this verifier's first.
    #[cfg(any(feature = "kubernetes", test))]
    pub(crate) fn authorities(&self) -> Vec<String> {
        let mut all = vec![lock(&self.authority).0.clone()];
        let heard = lock(&self.heard);
        let others = heard.iter().flat_map(|heard| &heard.authorities);
        for authority in others {
            if !all.contains(authority) {
                all.push(authority.clone());
            }
        }
        all
    }

    /// Why this process is not to be asked now, if it is not: an API server may not have heard yet how it is known.
    pub(super) fn unready(&self) -> Option<String> {
        let since = lock(&self.authority).1;
        let alone = self.there().len() <= 1;
        let fresh = since.is_some_and(|since| since.elapsed() < self.pace.gone);
        self.unfit().or_else(|| {
            (fresh && !alone).then(|| "the API server has yet to hear of this gate".to_owned())
        })
    }

    /// Whether the clock may be relied on: trust must end here when it ends elsewhere.
    pub(super) fn clock_is_right(&self) -> bool {
        let heard = lock(&self.heard);
        heard
            .as_ref()
            .is_none_or(|heard| heard.ahead.abs() <= SKEW_MILLIS)
    }

    /// Why this verifier does not attest now, if it does not.
    pub(super) fn unfit(&self) -> Option<String> {
        let heard = lock(&self.heard);
        let Some(heard) = &*heard else {
            return Some("this verifier has not reached its store yet".to_owned());
        };
        if heard.at.elapsed() > self.pace.gone {
            let seconds = heard.at.elapsed().as_secs();
            return Some(format!(
                "this verifier has not reached its store for {seconds} seconds"
            ));
        }
        (heard.ahead.abs() > SKEW_MILLIS).then(|| {
            format!(
                "the clock of this verifier is {} ms {} that of its store; synchronise the clocks",
                heard.ahead.abs(),
                if heard.ahead > 0 {
                    "ahead of"
                } else {
                    "behind"
                }
            )
        })
    }

    /// Takes in what the store said, between two moments of this clock.
    fn hear(&self, beat: Beat, (before, after): (i64, i64)) {
        let time = beat.time.millis();
        // Between the two it may have been any time.
        let ahead = if time < before {
            before - time
        } else if time > after {
            after - time
        } else {
            0
        };
        *lock(&self.heard) = Some(Heard {
            at: Instant::now(),
            there: beat.there,
            authorities: beat.authorities,
            ahead,
        });
    }

    /// Whether a worker is this verifier's to attest.
    fn is_mine(&self, worker: &str, overdue: i64) -> bool {
        overdue >= millis(self.pace.anybody)
            || preferred(worker, &self.there()).is_none_or(|first| first == self.id)
    }
}

/// Which of some verifiers a worker prefers.
fn preferred(worker: &str, there: &[String]) -> Option<String> {
    let weight = |id: &&String| HashAlg::Sha256.hash(&[id.as_bytes(), b"\0", worker.as_bytes()]);
    there.iter().max_by_key(|id| weight(id).to_hex()).cloned()
}

impl Verifier {
    /// How this verifier is called among those that share its store.
    pub fn sharing_id(&self) -> Option<String> {
        self.sharing().map(|sharing| sharing.id.clone())
    }

    /// Whether something that one alone is to do is this verifier's: at a change of hands it may be nobody's for a moment,
    /// or two's.
    pub fn is_first(&self, about: &str) -> bool {
        let Some(sharing) = self.sharing() else {
            return true;
        };
        sharing.unfit().is_none()
            && preferred(about, &sharing.there()).as_ref() == Some(&sharing.id)
    }

    /// Whether a request is the first to use something that counts once, among all that share the store. Where one process
    /// answers, that knows by itself.
    pub fn is_unused(
        &self,
        (key, request): (&str, &str),
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, Problem> {
        if self.sharing().is_none() {
            return Ok(true);
        }
        Ok(self.store().use_once((key, request), now, until)?)
    }

    /// Says that this verifier is there, and hears who else is.
    pub fn beat(&self) -> Result<(), Problem> {
        let Some(sharing) = self.sharing() else {
            return Ok(());
        };
        let clock = &self.parts().clock;
        let before = clock.now().millis();
        let authority = lock(&sharing.authority).0.clone();
        let within = millis(sharing.pace.gone);
        let beat = self.store().beat_with(sharing.id(), &authority, within)?;
        let others = beat.there.len().saturating_sub(1);
        let was = sharing.unfit();
        sharing.hear(beat, (before, clock.now().millis()));
        match (was, sharing.unfit()) {
            (_, Some(why)) => tracing::error!(why, "nothing is attested here"),
            (Some(_), None) => tracing::info!(others, "this verifier takes part"),
            (None, None) => {}
        }
        Ok(())
    }

    /// Says that this verifier goes: others need not wait to find that out.
    pub(super) fn leave(&self) {
        if let Some(sharing) = self.sharing()
            && let Err(error) = self.store().leave(sharing.id())
        {
            tracing::debug!(%error, "the other verifiers find out by themselves");
        }
    }

    /// The lease of a worker that is about to be attested; none where nobody else attests.
    pub(super) async fn lease(&self, worker: &str) -> Result<Option<Lease>, AttestationError> {
        let Some(sharing) = self.sharing() else {
            return Ok(None);
        };
        if let Some(lease) = lock(&sharing.taken).remove(worker) {
            return Ok(Some(lease));
        }
        if let Some(why) = sharing.unfit() {
            return Err(AttestationError::Store(why));
        }
        let begun = Instant::now();
        loop {
            let taken = self
                .store()
                .take_lease(worker, sharing.id(), millis(sharing.pace.lasts));
            match taken {
                Ok(Some(lease)) => return Ok(Some(lease)),
                Ok(None) if begun.elapsed() < PATIENCE => tokio::time::sleep(LOOK).await,
                Ok(None) => {
                    let why =
                        format!("another verifier has been attesting worker `{worker}` for long");
                    return Err(AttestationError::Store(why));
                }
                Err(error) => return Err(AttestationError::Store(error.to_string())),
            }
        }
    }

    /// Renews a lease, until another has it.
    pub(super) async fn renew(&self, lease: &Lease) {
        let pace = self
            .sharing()
            .map_or_else(Pace::default, |sharing| sharing.pace);
        loop {
            tokio::time::sleep(pace.renewed).await;
            let renewed = self.store().renew_lease(lease, millis(pace.lasts));
            match renewed {
                Ok(true) => {}
                Ok(false) => return,
                // What is concluded is kept only if nobody else took it meanwhile.
                Err(error) => {
                    tracing::warn!(worker = lease.worker, %error, "a lease was not renewed")
                }
            }
        }
    }

    /// Gives a lease back when its worker was attested.
    pub(super) fn give_back(&self, lease: &Lease) {
        let interval = self
            .sharing()
            .map_or(Duration::ZERO, |sharing| sharing.interval);
        let again = (!interval.is_zero()).then(|| millis(jittered(interval, random())));
        if let Err(error) = self.store().give_back(lease, again) {
            tracing::warn!(worker = lease.worker, %error, "a lease runs out by itself");
        }
    }

    /// Takes the lease of a worker whose turn it is, if it still is.
    fn take_turn(&self, worker: &str) -> Result<bool, StoreError> {
        let Some(sharing) = self.sharing() else {
            return Ok(false);
        };
        let taken = self
            .store()
            .take_turn(worker, sharing.id(), millis(sharing.pace.lasts))?;
        let Some(lease) = taken else {
            return Ok(false);
        };
        lock(&sharing.taken).insert(worker.to_owned(), lease);
        Ok(true)
    }
}

/// Says that a verifier is there, until dropped.
pub async fn beat_forever(verifier: Arc<Verifier>) {
    let pace = verifier
        .sharing()
        .map_or_else(Pace::default, |sharing| sharing.pace);
    loop {
        tokio::time::sleep(pace.said).await;
        if let Err(problem) = verifier.beat() {
            tracing::error!(%problem, "the store cannot be told that this verifier is there");
        }
    }
}

/// Attests the workers whose turn it is and who prefer this verifier, or whom nobody else attests, until dropped.
pub async fn share_forever(verifier: Arc<Verifier>) {
    let Some(interval) = verifier.sharing().map(|sharing| sharing.interval) else {
        return;
    };
    let pause = (interval / 50).clamp(Duration::from_millis(100), Duration::from_secs(2));
    let slots = Arc::new(Semaphore::new(AT_ONCE));
    let mut running = JoinSet::new();
    loop {
        if let Err(problem) = take_turns(&verifier, &slots, &mut running).await {
            tracing::error!(%problem, "it cannot be told whose turn it is");
        }
        while running.try_join_next().is_some() {}
        tokio::time::sleep(pause).await;
    }
}

async fn take_turns(
    verifier: &Arc<Verifier>,
    slots: &Arc<Semaphore>,
    running: &mut JoinSet<()>,
) -> Result<(), Problem> {
    let Some(sharing) = verifier.sharing() else {
        return Ok(());
    };
    if sharing.unfit().is_some() {
        return Ok(());
    }
    let turns = verifier.store().turns()?;
    let mine = turns
        .into_iter()
        .filter(|turn| sharing.is_mine(&turn.worker, turn.overdue));
    for turn in mine {
        let slot = slots.clone().acquire_owned().await;
        let slot = slot.map_err(|_| Problem::new(StatusCode::SERVICE_UNAVAILABLE, "it stops"))?;
        if sharing.unfit().is_some() || !verifier.take_turn(&turn.worker)? {
            continue;
        }
        let verifier = verifier.clone();
        running.spawn(async move {
            // The outcome is stored, counted and logged where it is decided.
            let _ = verifier
                .attest_worker(&turn.worker, &Asked::default())
                .await;
            drop(slot);
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_workers_change_hands_when_one_goes() {
        let all: Vec<String> = ["a", "b", "c"].map(str::to_owned).to_vec();
        let left = all.get(..2).unwrap();
        let mut counts: HashMap<String, u32> = HashMap::new();
        for number in 0..3000 {
            let worker = format!("worker-{number}");
            let before = preferred(&worker, &all).unwrap();
            let after = preferred(&worker, left).unwrap();
            assert!(before == after || before == "c", "{worker}");
            *counts.entry(before).or_default() += 1;
        }
        assert!(
            counts.values().all(|count| (800..1200).contains(count)),
            "{counts:?}"
        );
        assert_eq!(preferred("worker", &[]), None);
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_attested_by_a_wrong_clock_or_without_the_store() {
        let sharing = Sharing::new(Duration::ZERO, Pace::default());
        assert!(sharing.unfit().unwrap().contains("not reached"));
        let beat = |time| Beat {
            time: Timestamp::from_millis(time),
            there: vec![sharing.id().to_owned()],
            authorities: Vec::new(),
        };
        sharing.hear(beat(1_000_000), (999_000, 1_000_500));
        assert_eq!(sharing.unfit(), None);
        assert!(sharing.is_mine("worker", 0));
        // Two seconds are within what is allowed for, ten are not.
        for (time, fit) in [
            (998_000, true),
            (1_002_500, true),
            (989_000, false),
            (1_010_500, false),
        ] {
            sharing.hear(beat(time), (1_000_000, 1_000_500));
            assert_eq!(sharing.unfit().is_none(), fit, "{time}");
            assert_eq!(sharing.clock_is_right(), fit, "{time}");
        }
        sharing.hear(beat(1_000_000), (1_000_000, 1_000_000));
        tokio::time::advance(sharing.pace.gone + Duration::from_secs(1)).await;
        let why = sharing.unfit().unwrap();
        assert!(
            why.contains("not reached its store for 16 seconds"),
            "{why}"
        );
        assert!(sharing.clock_is_right());
    }

    #[test]
    fn whoever_others_do_not_attest_is_anybodys() {
        let sharing = Sharing::new(Duration::ZERO, Pace::default());
        let beat = Beat {
            time: Timestamp::from_millis(0),
            there: vec!["another".to_owned()],
            authorities: vec!["its".to_owned()],
        };
        sharing.hear(beat, (0, 0));
        assert!(!sharing.is_mine("worker", 19_000));
        assert!(sharing.is_mine("worker", 20_000));
        sharing.announce("own");
        assert_eq!(sharing.authorities(), ["own", "its"]);
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_new_among_others_waits_until_it_is_known() {
        let sharing = Sharing::new(Duration::ZERO, Pace::default());
        let hear = |others: &[&str]| {
            let mut there = vec![sharing.id().to_owned()];
            there.extend(others.iter().map(|&other| other.to_owned()));
            let beat = Beat {
                time: Timestamp::from_millis(0),
                there,
                authorities: Vec::new(),
            };
            sharing.hear(beat, (0, 0));
        };
        sharing.announce("own");
        hear(&[]);
        assert_eq!(sharing.unready(), None, "there is nobody else to be asked");
        hear(&["another"]);
        assert!(sharing.unready().unwrap().contains("yet to hear"));
        tokio::time::advance(Duration::from_secs(15)).await;
        hear(&["another"]);
        assert_eq!(sharing.unready(), None);
    }
}
