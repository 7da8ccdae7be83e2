//! Joins requests for the same thing: at most one is under way and one waits, whoever asks however often.
//!
//! Who asks while one is under way is not served by it, as that one may have looked at the thing before; all who
//! ask meanwhile share the next one.

use std::collections::HashMap;
use std::future::Future;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Mutex as AsyncMutex, watch};
use tokio::task::JoinSet;

/// What is to be done about one thing.
struct Flight<Q, T> {
    questions: Vec<Q>,
    outcome: watch::Sender<Option<T>>,
}

struct Lane<Q, T> {
    /// Held by the one that is under way.
    turn: Arc<AsyncMutex<()>>,
    /// The one that waits.
    next: Option<Flight<Q, T>>,
    /// How many are under way or wait.
    users: usize,
}

type Lanes<K, Q, T> = Arc<Mutex<HashMap<K, Lane<Q, T>>>>;

/// Work that goes on when whoever asked for it goes away, joined by what it is about.
pub struct Flights<K, Q, T> {
    lanes: Lanes<K, Q, T>,
    tasks: Mutex<JoinSet<()>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<K, Q, T> Default for Flights<K, Q, T> {
    fn default() -> Self {
        Flights {
            lanes: Arc::default(),
            tasks: Mutex::default(),
        }
    }
}

impl<K, Q, T> Flights<K, Q, T>
where
    K: Clone + Eq + Hash + Send + 'static,
    Q: Send + 'static,
    T: Clone + Send + Sync + 'static,
{
    /// Has something done about a thing, together with all who ask for it before it is begun; none if the
    /// process ends before it is done.
    pub async fn join<W: Future<Output = T> + Send + 'static>(
        &self,
        key: K,
        question: Q,
        work: impl FnOnce(Vec<Q>) -> W + Send + 'static,
    ) -> Option<T> {
        let mut outcome = {
            let mut lanes = lock(&self.lanes);
            let lane = lanes.entry(key.clone()).or_insert_with(|| Lane {
                turn: Arc::default(),
                next: None,
                users: 0,
            });
            match &mut lane.next {
                Some(flight) => {
                    flight.questions.push(question);
                    flight.outcome.subscribe()
                }
                None => {
                    let (sender, receiver) = watch::channel(None);
                    lane.next = Some(Flight {
                        questions: vec![question],
                        outcome: sender,
                    });
                    lane.users += 1;
                    self.fly(key, lane.turn.clone(), work);
                    receiver
                }
            }
        };
        let done = outcome.wait_for(Option::is_some).await;
        done.ok().and_then(|done| done.clone())
    }

    fn fly<W: Future<Output = T> + Send + 'static>(
        &self,
        key: K,
        turn: Arc<AsyncMutex<()>>,
        work: impl FnOnce(Vec<Q>) -> W + Send + 'static,
    ) {
        let lanes = self.lanes.clone();
        let mut tasks = lock(&self.tasks);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move {
            let turn = turn.lock_owned().await;
            let flight = lock(&lanes).get_mut(&key).and_then(|lane| lane.next.take());
            if let Some(flight) = flight {
                let done = work(flight.questions).await;
                flight.outcome.send_replace(Some(done));
            }
            drop(turn);
            let mut lanes = lock(&lanes);
            if let Some(lane) = lanes.get_mut(&key) {
                lane.users = lane.users.saturating_sub(1);
                if lane.users == 0 {
                    lanes.remove(&key);
                }
            }
        });
    }

    /// Ends everything where it stands, as a kill would.
    pub fn abort(&self) {
        lock(&self.tasks).abort_all();
        lock(&self.lanes).clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tokio::sync::Semaphore;

    #[tokio::test]
    async fn whoever_asks_meanwhile_shares_the_next_one() {
        let flights: Arc<Flights<&str, usize, usize>> = Arc::default();
        let (gate, begun, runs) = (
            Arc::new(Semaphore::new(0)),
            Arc::new(Semaphore::new(0)),
            Arc::new(AtomicUsize::new(0)),
        );
        let ask = |number: usize| {
            let (flights, gate, begun, runs) =
                (flights.clone(), gate.clone(), begun.clone(), runs.clone());
            async move {
                let work = move |questions: Vec<usize>| async move {
                    let run = runs.fetch_add(1, Ordering::SeqCst);
                    begun.add_permits(1);
                    gate.acquire().await.unwrap().forget();
                    assert_eq!(questions.len(), if run == 0 { 1 } else { 9 });
                    run
                };
                flights.join("worker", number, work).await
            }
        };
        let first = tokio::spawn(ask(0));
        begun.acquire().await.unwrap().forget();
        let others: Vec<_> = (1..10).map(|number| tokio::spawn(ask(number))).collect();
        while lock(&flights.lanes)
            .get("worker")
            .and_then(|lane| lane.next.as_ref())
            .is_none_or(|next| next.questions.len() < 9)
        {
            tokio::task::yield_now().await;
        }
        // One of those who ask goes away: the others do not notice.
        others[3].abort();
        gate.add_permits(2);
        assert_eq!(first.await.unwrap(), Some(0));
        for (number, other) in others.into_iter().enumerate() {
            if number != 3 {
                assert_eq!(other.await.unwrap(), Some(1));
            }
        }
        assert_eq!(runs.load(Ordering::SeqCst), 2);
        while !lock(&flights.lanes).is_empty() {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn an_end_ends_the_waiting() {
        let flights: Arc<Flights<&str, (), ()>> = Arc::default();
        let asked = {
            let flights = flights.clone();
            tokio::spawn(async move {
                let never = |_| std::future::pending::<()>();
                flights.join("worker", (), never).await
            })
        };
        while lock(&flights.lanes).is_empty() {
            tokio::task::yield_now().await;
        }
        flights.abort();
        assert_eq!(asked.await.unwrap(), None);
    }
}
