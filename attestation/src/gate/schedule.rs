//! Attests every worker again and again, at times that do not fall together.

use std::sync::Arc;
use std::time::Duration;

use super::verify::Verifier;
use super::workers::WorkerHandler;
use crate::verifier::Trust;

/// How far an interval may be off, in thousandths of it, to either side.
const JITTER: u64 = 200;

/// Attests all workers, each once per interval, until dropped. Certificates are renewed a few times in
/// their life.
pub async fn attest_forever(
    verifier: Arc<Verifier>,
    workers: Option<Arc<WorkerHandler>>,
    interval: Duration,
    rotation: Duration,
) {
    let mut since_rotation = Duration::ZERO;
    loop {
        let pause = jittered(interval, random());
        tokio::time::sleep(pause).await;
        since_rotation = since_rotation.saturating_add(pause);
        let rotate = since_rotation >= rotation;
        if rotate {
            since_rotation = Duration::ZERO;
        }
        let known = match verifier.store().workers() {
            Ok(known) => known,
            Err(error) => {
                tracing::error!(%error, "workers cannot be listed");
                continue;
            }
        };
        let count = u32::try_from(known.len()).unwrap_or(u32::MAX).max(1);
        for status in known {
            if status.trust == Trust::Untrusted {
                continue;
            }
            // The outcome is stored, counted and logged where it is decided.
            let _ = verifier.attest_worker(&status.name).await;
            if let (true, Some(workers)) = (rotate, &workers)
                && let Err(problem) = workers.rotate(&status.name).await
            {
                tracing::warn!(worker = status.name, %problem, "certificate not rotated");
            }
            // A hundred workers are not asked in one breath.
            tokio::time::sleep(interval / count / 4).await;
        }
    }
}

/// An interval that is longer or shorter by chance.
fn jittered(interval: Duration, random: u64) -> Duration {
    let thousandths = 1000 - JITTER + random % (2 * JITTER + 1);
    let millis = u64::try_from(interval.as_millis()).unwrap_or(u64::MAX);
    Duration::from_millis(
        (millis / 1000)
            .saturating_mul(thousandths)
            .saturating_add(millis % 1000 * thousandths / 1000),
    )
}

fn random() -> u64 {
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
}
