//! Agents that cannot be reached, as they are behind NAT: they come and ask what there is to do.
//!
//! Everything that an agent would be asked is put here, the agent takes it with the certificate that it would
//! have answered with, and brings its answer. Who it is and what it may bring follows from that certificate
//! alone.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::{Notify, oneshot};
use uuid::Uuid;

use super::problem::Problem;
use crate::net::Peer;
use crate::protocol::Received;
use crate::protocol::port::{Fault, FaultKind};

/// The address of a worker whose agent comes by itself.
pub const PUSH: &str = "push";

/// How many tasks may wait for one worker.
const WAITING: usize = 16;

/// Something that an agent is to do: a request, as it would be made if the agent could be reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// Which task this is; the answer names it.
    pub id: Uuid,
    /// The path of the agent's endpoint.
    pub path: String,
    /// The body of the request; null if there is none.
    pub body: Value,
}

/// An answer: the status and the body.
type Answer = (StatusCode, Received);

struct Waiting {
    task: Task,
    /// The attestation key that the agent's certificate must be bound to.
    bound_to: Option<Vec<u8>>,
    answer: oneshot::Sender<Answer>,
    /// How long the answer may be.
    most: usize,
}

#[derive(Default)]
struct Inbox {
    waiting: VecDeque<Waiting>,
    taken: HashMap<Uuid, Waiting>,
    came: Arc<Notify>,
}

/// The tasks of all workers.
#[derive(Clone, Default)]
pub struct Mailbox {
    all: Arc<Mutex<HashMap<String, Inbox>>>,
    /// Whether nobody comes here: an agent would come to one of several gates, and another would have asked.
    closed: bool,
}

impl Mailbox {
    /// For a gate that is one of several.
    pub fn closed() -> Self {
        Mailbox {
            closed: true,
            ..Mailbox::default()
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Inbox>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has a worker's agent do something, and waits for its answer.
    pub async fn ask(
        &self,
        worker: &str,
        path: &str,
        body: Value,
        bound_to: Option<&[u8]>,
        (limit, most): (Duration, usize),
    ) -> Result<Answer, Fault> {
        if self.closed {
            return Err(Fault::new(
                FaultKind::Refused,
                "an agent that comes by itself (`push`) needs a gate that has its store alone, and this one shares it",
            ));
        }
        let id = Uuid::new_v4();
        let (answer, answered) = oneshot::channel();
        {
            let mut all = self.lock();
            let inbox = all.entry(worker.to_owned()).or_default();
            // Nobody waits any more for what was given up.
            inbox.waiting.retain(|waiting| !waiting.answer.is_closed());
            inbox.taken.retain(|_, taken| !taken.answer.is_closed());
            if inbox.waiting.len() + inbox.taken.len() >= WAITING {
                return Err(Fault::unavailable(format!(
                    "too much is asked of the agent of worker `{worker}`"
                )));
            }
            let path = path.to_owned();
            inbox.waiting.push_back(Waiting {
                task: Task { id, path, body },
                bound_to: bound_to.map(<[u8]>::to_vec),
                answer,
                most,
            });
            inbox.came.notify_one();
        }
        match tokio::time::timeout(limit, answered).await {
            Ok(Ok(answer)) => Ok(answer),
            _ => Err(Fault::unavailable(format!(
                "the agent of worker `{worker}` did not come for it, or did not answer, within {} ms",
                limit.as_millis()
            ))),
        }
    }

    /// What there is to do for the agent that asks; waits for a while if there is nothing.
    pub async fn next(&self, peer: &Peer, wait: Duration) -> Result<Option<Task>, Problem> {
        let worker = worker_of(peer)?;
        let deadline = tokio::time::Instant::now() + wait;
        loop {
            let came = {
                let mut all = self.lock();
                let inbox = all.get_mut(worker).ok_or_else(not_expected)?;
                if let Some(task) = inbox.take(peer) {
                    return Ok(Some(task));
                }
                inbox.came.clone()
            };
            if tokio::time::timeout_at(deadline, came.notified())
                .await
                .is_err()
            {
                return Ok(None);
            }
        }
    }

    /// How long the answer to a task may be, if one is expected from this agent: nothing else is read.
    pub fn expects(&self, peer: &Peer, id: &str) -> Result<usize, Problem> {
        let worker = worker_of(peer)?;
        let unknown = || Problem::not_found(format!("nobody waits for the answer to task `{id}`"));
        let all = self.lock();
        let inbox = all.get(worker).ok_or_else(not_expected)?;
        let id: Uuid = id.parse().map_err(|_| unknown())?;
        let taken = inbox.taken.get(&id).ok_or_else(unknown)?;
        if !allowed(taken.bound_to.as_deref(), peer) {
            return Err(not_bound());
        }
        Ok(taken.most)
    }

    /// Takes the answer of an agent.
    pub fn answer(&self, peer: &Peer, id: &str, answer: Answer) -> Result<(), Problem> {
        let worker = worker_of(peer)?;
        let unknown = || Problem::not_found(format!("nobody waits for the answer to task `{id}`"));
        let mut all = self.lock();
        let inbox = all.get_mut(worker).ok_or_else(not_expected)?;
        let id: Uuid = id.parse().map_err(|_| unknown())?;
        let taken = inbox.taken.remove(&id).ok_or_else(unknown)?;
        if !allowed(taken.bound_to.as_deref(), peer) {
            // The task stays with whoever took it.
            inbox.taken.insert(id, taken);
            return Err(not_bound());
        }
        taken.answer.send(answer).map_err(|_| unknown())
    }
}

impl Inbox {
    /// The next task that this agent may do.
    fn take(&mut self, peer: &Peer) -> Option<Task> {
        self.waiting.retain(|waiting| !waiting.answer.is_closed());
        let mut waiting = self.waiting.iter();
        let at = waiting.position(|next| allowed(next.bound_to.as_deref(), peer))?;
        let next = self.waiting.remove(at)?;
        let task = next.task.clone();
        self.taken.insert(task.id, next);
        Some(task)
    }
}

fn allowed(bound_to: Option<&[u8]>, peer: &Peer) -> bool {
    bound_to.is_none_or(|key| peer.attestation_key.as_deref() == Some(key))
}

/// An agent that nobody asked for anything is told so at once: strangers hold no connections.
fn not_expected() -> Problem {
    Problem::forbidden("nothing is expected of this worker; register it with the address `push`")
}

fn not_bound() -> Problem {
    Problem::forbidden("the certificate is not bound to the registered attestation key")
}

/// The worker is who the certificate says: an agent cannot come for another one.
fn worker_of(peer: &Peer) -> Result<&str, Problem> {
    let name = peer.names.first();
    name.map(String::as_str)
        .ok_or_else(|| Problem::forbidden("the certificate does not name a worker"))
}

/// What an agent answered, if it is a success.
pub(super) fn success(worker: &str, (status, body): Answer) -> Result<Received, Fault> {
    if status.is_success() {
        return Ok(body);
    }
    let kind = match status {
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => FaultKind::Unavailable,
        _ => FaultKind::Refused,
    };
    let problem: Option<Value> = serde_json::from_slice(&body).ok();
    let detail = problem
        .as_ref()
        .and_then(|problem| problem["detail"].as_str());
    let detail = detail.unwrap_or("without a reason");
    let detail: String = detail.chars().take(1000).collect();
    Err(Fault::new(
        kind,
        format!("the agent of worker `{worker}` refused: {detail} ({status})"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(name: &str, key: Option<u8>) -> Peer {
        Peer {
            names: vec![name.to_owned()],
            attestation_key: key.map(|byte| vec![byte]),
            ..Peer::default()
        }
    }

    #[tokio::test]
    async fn tasks_are_for_the_worker_they_are_for_with_the_key_it_registered() {
        let mailbox = Mailbox::default();
        let asked = {
            let mailbox = mailbox.clone();
            tokio::spawn(async move {
                let limit = (Duration::from_secs(60), 100);
                mailbox
                    .ask("worker", "/x", Value::Null, Some(&[7]), limit)
                    .await
            })
        };
        while mailbox.lock().get("worker").is_none() {
            tokio::task::yield_now().await;
        }
        let nobody = mailbox.next(&peer("other", Some(7)), Duration::ZERO).await;
        assert!(nobody.is_err(), "{nobody:?}");
        for stranger in [peer("worker", Some(8)), peer("worker", None)] {
            let found = mailbox.next(&stranger, Duration::ZERO).await.unwrap();
            assert_eq!(found, None, "{stranger:?}");
        }
        assert!(
            mailbox
                .next(&Peer::default(), Duration::ZERO)
                .await
                .is_err()
        );
        let own = peer("worker", Some(7));
        let task = mailbox.next(&own, Duration::ZERO).await.unwrap().unwrap();
        let good = || (StatusCode::OK, Received::from(b"good".to_vec()));
        for stranger in [peer("other", Some(7)), peer("worker", None)] {
            assert!(
                mailbox
                    .answer(&stranger, &task.id.to_string(), good())
                    .is_err()
            );
        }
        assert!(
            mailbox
                .answer(&own, &Uuid::new_v4().to_string(), good())
                .is_err()
        );
        mailbox.answer(&own, &task.id.to_string(), good()).unwrap();
        assert_eq!(asked.await.unwrap().unwrap(), good());
        assert!(
            mailbox.answer(&own, &task.id.to_string(), good()).is_err(),
            "once"
        );
    }

    #[tokio::test]
    async fn what_nobody_comes_for_is_given_up_and_forgotten() {
        let mailbox = Mailbox::default();
        for _ in 0..3 * WAITING {
            let limit = (Duration::from_millis(1), 100);
            let asked = mailbox.ask("worker", "/x", Value::Null, None, limit).await;
            assert_eq!(asked.unwrap_err().kind, FaultKind::Unavailable);
        }
        let found = mailbox.next(&peer("worker", None), Duration::ZERO).await;
        assert_eq!(found.unwrap(), None);
        let all = mailbox.lock();
        assert!(all["worker"].waiting.is_empty() && all["worker"].taken.is_empty());
    }
}
