//! Attests every worker and renews every certificate again and again, at times that do not fall together.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::result::Asked;
use super::verify::Verifier;
use super::workers::WorkerHandler;
use crate::verifier::Trust;

/// How far an interval may be off, in thousandths of it, to either side.
const JITTER: u64 = 200;
/// Into which part of an interval the first turns of all workers fall.
const FIRST: u32 = 10;
/// How many workers are asked at once: one that does not answer must not hold up the others.
pub(super) const AT_ONCE: usize = 32;

/// How often it is looked for trust that ran out.
const EXPIRE: Duration = Duration::from_secs(1);
/// After how many such looks old evidence is thrown away.
const PRUNE: u64 = 60;
/// When a worker is asked again whose certificate could not be renewed.
const RETRY: Duration = Duration::from_secs(60);
/// How often it is looked for registrations and removals that were not completed.
const SETTLE: Duration = Duration::from_secs(10);

/// Whose turn it is, each worker at times of its own.
pub struct Schedule {
    interval: Duration,
    due: HashMap<String, Instant>,
}

impl Schedule {
    /// Everybody once per interval, more or less.
    pub fn new(interval: Duration) -> Self {
        Schedule {
            interval,
            due: HashMap::new(),
        }
    }

    /// Those of the known workers whose turn has come. Each gets its next turn; who is new gets a first
    /// turn soon, and who is not known any more is forgotten.
    pub fn take(
        &mut self,
        known: &[String],
        now: Instant,
        mut random: impl FnMut() -> u64,
    ) -> Vec<String> {
        let mut due = HashMap::with_capacity(known.len());
        let mut taken = Vec::new();
        for name in known {
            let at = self.due.get(name).copied();
            let at = at.unwrap_or_else(|| now + part(self.interval / FIRST, random()));
            if at > now {
                due.insert(name.clone(), at);
                continue;
            }
            due.insert(name.clone(), now + jittered(self.interval, random()));
            taken.push(name.clone());
        }
        self.due = due;
        taken
    }

    /// Gives a worker its next turn earlier.
    fn earlier(&mut self, name: &str, at: Instant) {
        if let Some(due) = self.due.get_mut(name) {
            *due = at.min(*due);
        }
    }

    /// How long to wait before asking again whose turn it is.
    fn pause(&self) -> Duration {
        (self.interval / 50).clamp(Duration::from_millis(10), Duration::from_secs(5))
    }
}

/// Attests all workers that are not condemned, each once per interval, until dropped.
pub async fn attest_forever(verifier: Arc<Verifier>, interval: Duration) {
    let known = {
        let verifier = verifier.clone();
        move || {
            let verifier = verifier.clone();
            async move {
                let known = match verifier.workers() {
                    Ok(known) => known,
                    Err(problem) => {
                        tracing::error!(%problem, "workers cannot be listed");
                        return None;
                    }
                };
                let asked = known
                    .items
                    .into_iter()
                    .filter(|status| status.trust != Trust::Untrusted);
                Some(asked.map(|status| status.name).collect())
            }
        }
    };
    forever(Schedule::new(interval), known, move |name| {
        let verifier = verifier.clone();
        async move {
            // The outcome is stored, counted and logged where it is decided.
            let _ = verifier.attest_worker(&name, &Asked::default()).await;
            None
        }
    })
    .await;
}

/// Ends the trust that ran out, so that whoever watches hears of it, and throws old evidence away, until dropped.
pub async fn expire_forever(verifier: Arc<Verifier>) {
    let mut turn = 0u64;
    loop {
        if turn.is_multiple_of(PRUNE) {
            verifier.prune().await;
        }
        turn += 1;
        tokio::time::sleep(EXPIRE).await;
        if let Err(problem) = verifier.expire() {
            tracing::error!(%problem, "trust that ran out cannot be ended");
        }
    }
}

/// Renews the certificates of all registered agents, each once per interval, until dropped.
pub async fn rotate_forever(
    workers: Arc<WorkerHandler>,
    interval: Duration,
    verifier: Option<Arc<Verifier>>,
) {
    let known = {
        let workers = workers.clone();
        move || {
            let (workers, verifier) = (workers.clone(), verifier.clone());
            async move {
                match workers.registered().await {
                    Ok(mut known) => {
                        // Of several gates one does it.
                        let mine = |name: &String| {
                            let verifier = verifier.as_ref();
                            verifier.is_none_or(|verifier| {
                                verifier.is_first(&format!("certificate/{name}"))
                            })
                        };
                        known.retain(mine);
                        Some(known)
                    }
                    Err(problem) => {
                        tracing::error!(%problem, "registered workers cannot be listed");
                        None
                    }
                }
            }
        }
    };
    forever(Schedule::new(interval), known, move |name| {
        let workers = workers.clone();
        async move {
            let problem = workers.rotate(&name).await.err()?;
            tracing::warn!(worker = name, %problem, "certificate not rotated");
            // It may be off. When it comes back, its certificate may have run out.
            Some(RETRY)
        }
    })
    .await;
}

/// Completes what somebody began and did not end, as soon as registrar and verifier answer, until dropped.
pub async fn settle_forever(workers: Arc<WorkerHandler>) {
    loop {
        tokio::time::sleep(SETTLE).await;
        if let Err(problem) = workers.settle(None).await {
            tracing::warn!(%problem, "a registration or a removal is not completed yet");
        }
    }
}

async fn forever<K, W>(
    mut schedule: Schedule,
    known: impl Fn() -> K,
    work: impl Fn(String) -> W + Clone + Send + 'static,
) where
    K: Future<Output = Option<Vec<String>>>,
    // After which time to do it again, if that is not to wait for the next turn.
    W: Future<Output = Option<Duration>> + Send + 'static,
{
    let slots = Arc::new(Semaphore::new(AT_ONCE));
    let mut running: JoinSet<(String, Option<Duration>)> = JoinSet::new();
    loop {
        if let Some(known) = known().await {
            for name in schedule.take(&known, Instant::now(), random) {
                // Closed by nobody.
                let Ok(slot) = slots.clone().acquire_owned().await else {
                    return;
                };
                let work = work.clone();
                running.spawn(async move {
                    let again = work(name.clone()).await;
                    drop(slot);
                    (name, again)
                });
            }
        }
        while let Some(done) = running.try_join_next() {
            if let Ok((name, Some(again))) = done {
                schedule.earlier(&name, Instant::now() + again);
            }
        }
        tokio::time::sleep(schedule.pause()).await;
    }
}

/// An interval that is longer or shorter by chance.
pub(super) fn jittered(interval: Duration, random: u64) -> Duration {
    let thousandths = 1000 - JITTER + random % (2 * JITTER + 1);
    millis(interval, thousandths)
}

/// Some part of an interval, by chance.
fn part(interval: Duration, random: u64) -> Duration {
    millis(interval, random % 1001)
}

fn millis(interval: Duration, thousandths: u64) -> Duration {
    let millis = u64::try_from(interval.as_millis()).unwrap_or(u64::MAX);
    Duration::from_millis(
        (millis / 1000)
            .saturating_mul(thousandths)
            .saturating_add(millis % 1000 * thousandths / 1000),
    )
}

pub(super) fn random() -> u64 {
    // Without randomness the intervals are merely regular.
    getrandom::u64().unwrap_or(JITTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_stay_within_a_fifth_and_differ() {
        let interval = Duration::from_secs(60);
        let all: Vec<Duration> = (0..=400).map(|chance| jittered(interval, chance)).collect();
        assert_eq!(all.iter().min(), Some(&Duration::from_secs(48)));
        assert_eq!(all.iter().max(), Some(&Duration::from_secs(72)));
        assert!(jittered(Duration::from_millis(1500), 200) == Duration::from_millis(1500));
    }

    #[test]
    fn every_worker_has_its_turn_once_per_interval_at_a_time_of_its_own() {
        let interval = Duration::from_secs(100);
        let names: Vec<String> = (0..100).map(|number| format!("w{number}")).collect();
        let mut schedule = Schedule::new(interval);
        let begun = Instant::now();
        // Not random, but far apart: a test that fails fails always.
        let mut seed = 1u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            seed >> 33
        };
        let mut turns: HashMap<String, Vec<u64>> = HashMap::new();
        let mut most = 0;
        for second in 0..1000 {
            let taken = schedule.take(&names, begun + Duration::from_secs(second), &mut random);
            most = most.max(taken.len());
            for name in taken {
                turns.entry(name).or_default().push(second);
            }
        }
        assert_eq!(turns.len(), 100, "nobody is left out");
        for (name, times) in &turns {
            assert!(times[0] <= 11, "{name} is new and comes soon: {times:?}");
            let pauses = times.windows(2).map(|pair| pair[1] - pair[0]);
            assert!(
                pauses.clone().all(|pause| (80..=121).contains(&pause)),
                "{name}: {times:?}"
            );
            assert!((8..=13).contains(&times.len()), "{name}: {times:?}");
        }
        assert!(most < 30, "{most} at once");
        assert!(schedule.take(&[], begun, &mut random).is_empty());
        assert!(schedule.due.is_empty(), "who left is forgotten");
    }
}
