//! The loop of the controllers: what is known, what is due, and who does it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::{Id, JoinSet};
use tokio::time::Instant;

use super::acting::{ActError, Actor};
use super::backoff::Backoff;
use super::{Action, Facts, SetFacts, Settings, due, orphans};
use crate::clock::{Clock, Timestamp};
use crate::gate::registrar::LocalRegistrar;
use crate::http::Problem;
use crate::reference::ReferenceStore;

/// Changes come in crowds: they are looked at together.
const TOGETHER: Duration = Duration::from_millis(50);
/// How often it is looked without a change: trust runs out by itself.
const LOOK: Duration = Duration::from_secs(1);
/// How many things are done at once.
const AT_ONCE: usize = 32;

/// What the controllers are made of.
pub struct Controllers {
    /// Who acts.
    pub actor: Arc<Actor>,
    /// Who knows tenants.
    pub registrar: Arc<LocalRegistrar>,
    /// Who knows images.
    pub references: Arc<ReferenceStore>,
    /// What the operator decided.
    pub settings: Settings,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Whether this process may act at this moment.
    pub leads: Box<dyn Fn() -> bool + Send + Sync>,
}

impl Controllers {
    /// Looks and acts, until dropped.
    pub async fn run(self) {
        let mut changes = self.actor.watching.changes();
        let mut versions = self.actor.verifier.versions();
        let mut backoff = Backoff::default();
        // Read when this process begins to act: another may have acted before.
        let mut since: Option<BTreeMap<String, Timestamp>> = None;
        let mut running: JoinSet<Result<(), ActError>> = JoinSet::new();
        let mut actions: HashMap<Id, Action> = HashMap::new();
        let slots = Arc::new(Semaphore::new(AT_ONCE));
        loop {
            if (self.leads)() {
                match self.look(&mut since) {
                    Ok(due) => {
                        for action in backoff.take(due, Instant::now()) {
                            let (actor, slots) = (self.actor.clone(), slots.clone());
                            let acted = action.clone();
                            let task = running.spawn(async move {
                                let slot = slots.acquire_owned().await;
                                let done = actor.act(&acted).await;
                                drop(slot);
                                done
                            });
                            actions.insert(task.id(), action);
                        }
                    }
                    Err(problem) => tracing::error!(%problem, "the controllers cannot look"),
                }
            } else {
                since = None;
            }
            let again = backoff
                .next()
                .map_or(LOOK, |next| next.saturating_duration_since(Instant::now()));
            let mut ended = None;
            tokio::select! {
                _ = changes.changed() => tokio::time::sleep(TOGETHER).await,
                _ = versions.changed() => tokio::time::sleep(TOGETHER).await,
                () = tokio::time::sleep(again.clamp(TOGETHER, LOOK)) => {}
                Some(one) = running.join_next_with_id() => ended = Some(one),
            }
            while let Some(one) = ended {
                let (id, done) = match one {
                    Ok((id, done)) => (id, done.map_err(|error| error.to_string())),
                    Err(error) => (error.id(), Err(error.to_string())),
                };
                if let Some(action) = actions.remove(&id) {
                    let (what, about) = action.key();
                    match &done {
                        Ok(()) => tracing::debug!(what, about, "done"),
                        Err(why) => tracing::warn!(what, about, why, "not done yet"),
                    }
                    backoff.ended(&action, done.is_ok(), Instant::now());
                }
                ended = running.try_join_next_with_id();
            }
        }
    }

    /// What is due now.
    fn look(
        &self,
        since: &mut Option<BTreeMap<String, Timestamp>>,
    ) -> Result<Vec<Action>, Problem> {
        let known = self.actor.watching.known();
        if !known.is_complete() {
            return Ok(Vec::new());
        }
        let (verifier, now) = (&self.actor.verifier, self.clock.now());
        let list = self.references.whitelist()?;
        let before = match since {
            Some(since) => since,
            None => since.insert(verifier.orphans()?),
        };
        let mut orphaned = BTreeMap::new();
        for (uid, _, _) in orphans(&known) {
            let first = before.get(uid).copied().unwrap_or(now);
            orphaned.insert(uid.to_owned(), first);
        }
        if orphaned != *before {
            verifier.note_orphans(&orphaned)?;
            *before = orphaned;
        }
        let workers = verifier.workers()?.items.into_iter();
        let pods = verifier.pods(None)?.items.into_iter();
        let failures = self.actor.failures();
        let (gatekeeper, mut sets) = (&self.actor.gatekeeper, BTreeMap::new());
        let used = gatekeeper.asked();
        for (_, set) in known.all_sets() {
            let wrong = gatekeeper.checker().wrong_with(&set);
            let about = SetFacts {
                wrong: wrong.map(|problem| problem.to_string()),
                used: used.get(&set.name).copied(),
            };
            sets.insert(set.name, about);
        }
        Ok(due(&Facts {
            known: &known,
            workers: workers.map(|one| (one.name.clone(), one)).collect(),
            pods: pods.map(|one| (one.pod.uid.to_string(), one)).collect(),
            knows_image: &|digest| list.knows_image(digest),
            failures: &failures,
            orphans: before,
            sets: &sets,
            now,
            settings: self.settings,
        }))
    }
}
