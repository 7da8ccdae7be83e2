//! Does what is due: the one place where controllers talk to the API server and to the gate.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use json_patch::Patch as JsonPatch;
use k8s_openapi::api::core::v1::{Node, Pod as ApiPod};
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::jiff::Timestamp as Time;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use kube::{Api, Client};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Action, Attested, GRACE, Note, Target};
use crate::cluster::admission::Gatekeeper;
use crate::cluster::names::{
    CORDONED, GROUP, MANAGER, READINESS_GATE, SCHEDULING_GATE, TAINT, VERSION,
};
use crate::cluster::object::{at, items, text, uid};
use crate::cluster::resources::{
    Agent, AttestationRequest, AttestationRequestStatus, InvariantSet,
};
use crate::cluster::watch::Watching;
use crate::evidence::Nonce;
use crate::gate::Verifier;
use crate::gate::workers::{Joined, WorkerHandler};
use crate::http::Problem;
use crate::ima::PodUid;

/// How long a budget of disruptions may hold up what has to go.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
pub enum ActError {
    /// The API server.
    #[error("{}", told(.0))]
    Server(#[from] kube::Error),
    /// The gate.
    #[error(transparent)]
    Gate(#[from] Problem),
    /// It cannot be done now.
    #[error("{0}")]
    Later(String),
}

/// What the API server said, in its own words.
pub fn told(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) => format!("the API server answers: {}", status.message),
        other => other.to_string(),
    }
}

fn code(error: &kube::Error) -> u16 {
    match error {
        kube::Error::Api(status) => status.code,
        _ => 0,
    }
}

/// Who acts.
pub struct Actor {
    /// To the API server.
    pub client: Client,
    /// What is known of the cluster.
    pub watching: Watching,
    /// Who attests.
    pub verifier: Arc<Verifier>,
    /// Who registers.
    pub workers: Arc<WorkerHandler>,
    /// Who decides what may enter.
    pub gatekeeper: Arc<Gatekeeper>,
    failures: Mutex<BTreeMap<String, String>>,
    refused: Mutex<HashMap<String, Instant>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn apply() -> PatchParams {
    PatchParams::apply(MANAGER).force()
}

/// What was there and is gone needs nothing more.
fn or_gone<T>(result: Result<T, kube::Error>) -> Result<(), ActError> {
    match result {
        Err(error) if code(&error) != 404 => Err(error.into()),
        _ => Ok(()),
    }
}

impl Actor {
    /// With its parts.
    pub fn new(
        client: Client,
        watching: Watching,
        (verifier, workers): (Arc<Verifier>, Arc<WorkerHandler>),
        gatekeeper: Arc<Gatekeeper>,
    ) -> Self {
        Actor {
            client,
            watching,
            verifier,
            workers,
            gatekeeper,
            failures: Mutex::default(),
            refused: Mutex::default(),
        }
    }

    /// Why workers could not be registered.
    pub fn failures(&self) -> BTreeMap<String, String> {
        lock(&self.failures).clone()
    }

    /// Does one thing.
    pub async fn act(&self, action: &Action) -> Result<(), ActError> {
        match action {
            Action::MakeAgent { node, address } => self.make_agent(node, address).await,
            Action::Register { worker, address } => self.register(worker, address).await,
            Action::RemoveWorker(worker) => Ok(self.workers.remove(worker).await?),
            Action::Attest { worker, .. } => {
                self.verifier
                    .attest_worker(worker, &Default::default())
                    .await?;
                Ok(())
            }
            Action::Report {
                agent,
                status,
                note,
            } => {
                let body = json!({
                    "apiVersion": agent.api_version, "kind": agent.kind,
                    "metadata": {"name": agent.name, "uid": agent.uid}, "status": status,
                });
                let agents: Api<Agent> = Api::all(self.client.clone());
                let patch = Patch::Apply(&body);
                or_gone(agents.patch_status(&agent.name, &apply(), &patch).await)?;
                if let Some((note, node)) = note {
                    self.remark(agent, note).await;
                    self.remark(node, note).await;
                }
                Ok(())
            }
            Action::Taint(node, on) => self.taint(node, *on).await,
            Action::Cordon(node, on) => self.cordon(node, *on).await,
            Action::DeleteNode(node) => {
                let nodes: Api<Node> = Api::all(self.client.clone());
                let note = Note::new(true, "Deleted", "the worker is not to be trusted");
                self.remark(node, &note).await;
                or_gone(nodes.delete(&node.name, &exactly(node)).await)
            }
            Action::Open(pod) => self.open(pod).await,
            Action::Declare(pod) => {
                self.verifier.declare(pod)?;
                Ok(())
            }
            Action::Forget(pod) => match self.verifier.remove_pod(*pod) {
                Err(problem) if problem.status != axum::http::StatusCode::NOT_FOUND => {
                    Err(problem.into())
                }
                _ => Ok(()),
            },
            Action::Condition(pod, attested) => self.condition(pod, attested).await,
            Action::Evict(pod, note) => self.evict(pod, note).await,
            Action::Remove(pod, note) => {
                let pods: Api<ApiPod> = Api::namespaced(self.client.clone(), &pod.namespace);
                self.remark(pod, note).await;
                or_gone(pods.delete(&pod.name, &self.soon(pod)).await)
            }
            Action::Say(about, note) => self.say(about, note).await,
            Action::Answer {
                request,
                pod,
                nonce,
            } => self.answer(request, *pod, *nonce).await,
            Action::Refuse(request, status) => self.answered(request, status).await,
            Action::Describe(set, status) => {
                let body = json!({
                    "apiVersion": set.api_version, "kind": set.kind,
                    "metadata": {"name": set.name, "uid": set.uid}, "status": status,
                });
                let sets: Api<InvariantSet> = Api::all(self.client.clone());
                let patch = Patch::Apply(&body);
                or_gone(sets.patch_status(&set.name, &apply(), &patch).await)
            }
        }
    }

    async fn make_agent(&self, node: &Target, address: &str) -> Result<(), ActError> {
        let agent = json!({
            "apiVersion": format!("{GROUP}/{VERSION}"), "kind": "Agent",
            "metadata": {
                "name": node.name,
                "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": node.name, "uid": node.uid}],
            },
            "spec": {"node": node.name, "address": address},
        });
        let agent: Agent = serde_json::from_value(agent).map_err(Problem::internal)?;
        let agents: Api<Agent> = Api::all(self.client.clone());
        match agents.create(&PostParams::default(), &agent).await {
            // It is there: it will be heard of.
            Err(error) if code(&error) != 409 => Err(error.into()),
            _ => Ok(()),
        }
    }

    async fn register(&self, worker: &str, address: &str) -> Result<(), ActError> {
        let joined = Joined {
            name: worker.to_owned(),
            address: address.to_owned(),
        };
        let registered = self.workers.register(&joined, &Default::default()).await;
        let mut failures = lock(&self.failures);
        match registered {
            Ok(_) => {
                failures.remove(worker);
                Ok(())
            }
            Err(problem) => {
                failures.insert(worker.to_owned(), problem.detail.clone());
                Err(problem.into())
            }
        }
    }

    /// Changes the taints of a node as they are now: one that somebody else adds meanwhile stays.
    async fn taint(&self, target: &Target, on: bool) -> Result<(), ActError> {
        let nodes: Api<Node> = Api::all(self.client.clone());
        let Some(node) = nodes.get_opt(&target.name).await? else {
            return Ok(());
        };
        let node = serde_json::to_value(&node).map_err(Problem::internal)?;
        if uid(&node) != target.uid {
            return Ok(());
        }
        let mut taints = items(at(&node, &["spec", "taints"])).to_vec();
        taints.retain(|taint| text(taint, &["key"]) != TAINT);
        if on {
            taints.push(json!({"key": TAINT, "effect": "NoSchedule"}));
        }
        let patch = json!({
            "metadata": {"resourceVersion": text(&node, &["metadata", "resourceVersion"])},
            "spec": {"taints": taints},
        });
        let parameters = PatchParams::default();
        or_gone(
            nodes
                .patch(&target.name, &parameters, &Patch::Merge(&patch))
                .await,
        )
    }

    async fn cordon(&self, node: &Target, on: bool) -> Result<(), ActError> {
        let nodes: Api<Node> = Api::all(self.client.clone());
        let mark = on.then_some("the worker is not to be trusted");
        let patch = json!({
            "metadata": {"uid": node.uid, "annotations": {CORDONED: mark}},
            "spec": {"unschedulable": on.then_some(true)},
        });
        let parameters = PatchParams::default();
        or_gone(
            nodes
                .patch(&node.name, &parameters, &Patch::Merge(&patch))
                .await,
        )
    }

    async fn open(&self, target: &Target) -> Result<(), ActError> {
        let known = self.watching.known();
        let Some(pod) = known.get("Pod", &target.namespace, &target.name).cloned() else {
            return Ok(());
        };
        if uid(&pod) != target.uid {
            return Ok(());
        }
        // Rules may have changed since it was admitted, and it may have come while nobody was asked.
        let (gatekeeper, checked) = (self.gatekeeper.clone(), pod.clone());
        let broken = tokio::task::spawn_blocking(move || gatekeeper.stands(&checked, &known)).await;
        let broken = broken.map_err(|_| ActError::Later("the check ended early".to_owned()))?;
        if let Some(problem) = broken.first() {
            let note = Note::new(true, "Refused", problem.to_string());
            self.remark(target, &note).await;
            return Err(ActError::Later(note.message));
        }
        let gates = items(at(&pod, &["spec", "schedulingGates"]));
        let place = gates
            .iter()
            .position(|gate| text(gate, &["name"]) == SCHEDULING_GATE);
        let Some(place) = place else {
            return Ok(());
        };
        let path = format!("/spec/schedulingGates/{place}");
        let patch = json!([
            {"op": "test", "path": "/metadata/uid", "value": target.uid},
            {"op": "test", "path": format!("{path}/name"), "value": SCHEDULING_GATE},
            {"op": "remove", "path": path},
        ]);
        let patch: JsonPatch = serde_json::from_value(patch).map_err(Problem::internal)?;
        let pods: Api<ApiPod> = Api::namespaced(self.client.clone(), &target.namespace);
        let parameters = PatchParams::default();
        let opened = pods
            .patch(&target.name, &parameters, &Patch::Json::<()>(patch))
            .await;
        or_gone(opened)?;
        let words = "rules, images and a trusted worker: it may be scheduled";
        self.remark(target, &Note::new(false, "Admitted", words))
            .await;
        Ok(())
    }

    async fn condition(&self, pod: &Target, attested: &Attested) -> Result<(), ActError> {
        let word = if attested.yes { "True" } else { "False" };
        let known = self.watching.known();
        let before = known.get("Pod", &pod.namespace, &pod.name);
        let before = before.and_then(|pod| {
            let mut all = items(at(pod, &["status", "conditions"])).iter();
            all.find(|one| text(one, &["type"]) == READINESS_GATE)
                .cloned()
        });
        let same = before.filter(|before| text(before, &["status"]) == word);
        let now = Value::String(Time::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
        let since = same
            .as_ref()
            .map(|same| at(same, &["lastTransitionTime"]).clone());
        let body = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": pod.name, "namespace": pod.namespace, "uid": pod.uid},
            "status": {"conditions": [{
                "type": READINESS_GATE, "status": word, "reason": attested.reason, "message": attested.message,
                "lastTransitionTime": since.filter(Value::is_string).unwrap_or(now),
            }]},
        });
        let pods: Api<ApiPod> = Api::namespaced(self.client.clone(), &pod.namespace);
        let patch = Patch::Apply(&body);
        or_gone(pods.patch_status(&pod.name, &apply(), &patch).await)?;
        let note = Note::new(
            !attested.yes && attested.reason.ends_with("Untrusted"),
            attested.reason,
            &*attested.message,
        );
        self.remark(pod, &note).await;
        Ok(())
    }

    /// Deletes this pod within a time that its maker did not choose.
    fn soon(&self, target: &Target) -> DeleteParams {
        let known = self.watching.known();
        let pod = known.get("Pod", &target.namespace, &target.name);
        let own = pod.and_then(|pod| at(pod, &["spec", "terminationGracePeriodSeconds"]).as_u64());
        let most = u32::try_from(GRACE).unwrap_or_default();
        let own = own.and_then(|own| u32::try_from(own).ok()).unwrap_or(most);
        DeleteParams {
            grace_period_seconds: Some(own.min(most)),
            ..exactly(target)
        }
    }

    async fn evict(&self, pod: &Target, note: &Note) -> Result<(), ActError> {
        let pods: Api<ApiPod> = Api::namespaced(self.client.clone(), &pod.namespace);
        // The client's own request would leave out which pod is meant, and how long it may take.
        let body = json!({
            "apiVersion": "policy/v1", "kind": "Eviction",
            "metadata": {"name": pod.name, "namespace": pod.namespace},
            "deleteOptions": self.soon(pod),
        });
        let parameters = PostParams::default();
        let asked =
            pods.create_subresource::<Value, Value>("eviction", &pod.name, &parameters, &body);
        let evicted = match asked.await {
            Err(error) if code(&error) == 429 => {
                let since = *lock(&self.refused)
                    .entry(pod.uid.clone())
                    .or_insert_with(Instant::now);
                if since.elapsed() < PATIENCE {
                    return Err(error.into());
                }
                // A budget is for availability: it does not keep what is not to be trusted.
                pods.delete(&pod.name, &self.soon(pod)).await.map(|_| ())
            }
            other => other.map(|_| ()),
        };
        or_gone(evicted)?;
        lock(&self.refused).remove(&pod.uid);
        let words = format!("{}: {}", note.reason, note.message);
        self.remark(pod, &Note::new(true, "Evicted", words)).await;
        Ok(())
    }

    async fn answer(
        &self,
        request: &Target,
        pod: PodUid,
        nonce: Option<Nonce>,
    ) -> Result<(), ActError> {
        let asked = crate::gate::Asked {
            nonce,
            audience: None,
        };
        let status = match self.verifier.attest_pod(pod, &asked).await {
            Ok(known) => AttestationRequestStatus {
                trust: Some(known.trust.into()),
                reason: known.reason,
                token: Some(known.token).filter(|token| !token.is_empty()),
            },
            // Something changed meanwhile: it is asked again.
            Err(problem) if problem.status == axum::http::StatusCode::CONFLICT => {
                return Err(problem.into());
            }
            Err(problem) => AttestationRequestStatus {
                trust: Some(self.verifier.pod(pod)?.trust.into()),
                reason: problem.detail,
                token: problem.result,
            },
        };
        self.answered(request, &status).await
    }

    async fn answered(
        &self,
        request: &Target,
        status: &AttestationRequestStatus,
    ) -> Result<(), ActError> {
        let body = json!({
            "apiVersion": request.api_version, "kind": request.kind,
            "metadata": {"name": request.name, "namespace": request.namespace, "uid": request.uid},
            "status": status,
        });
        let client = self.client.clone();
        let requests: Api<AttestationRequest> = Api::namespaced(client, &request.namespace);
        let patch = Patch::Apply(&body);
        or_gone(requests.patch_status(&request.name, &apply(), &patch).await)
    }

    /// Says something beside what is done: that it is not heard holds up nothing.
    async fn remark(&self, about: &Target, note: &Note) {
        if let Err(error) = self.say(about, note).await {
            tracing::warn!(name = about.name, reason = note.reason, %error, "not said");
        }
    }

    /// Says something of an object, as `kubectl describe` shows it.
    async fn say(&self, about: &Target, note: &Note) -> Result<(), ActError> {
        let namespace = match about.namespace.as_str() {
            "" => "default",
            namespace => namespace,
        };
        let now = Time::now();
        let event = json!({
            "apiVersion": "events.k8s.io/v1", "kind": "Event",
            "metadata": {"name": format!("{}.{:x}", about.name, now.as_nanosecond()), "namespace": namespace},
            "eventTime": format!("{now:.6}"),
            "reportingController": format!("{GROUP}/gate"), "reportingInstance": MANAGER,
            "action": note.reason, "reason": note.reason,
            "note": super::workers::cut(&note.message, 900),
            "type": if note.warning { "Warning" } else { "Normal" },
            "regarding": {
                "apiVersion": about.api_version, "kind": about.kind, "name": about.name,
                "namespace": about.namespace, "uid": about.uid,
            },
        });
        let event: Event = serde_json::from_value(event).map_err(Problem::internal)?;
        let events: Api<Event> = Api::namespaced(self.client.clone(), namespace);
        match events.create(&PostParams::default(), &event).await {
            // A namespace that is being deleted takes none.
            Err(error) if !matches!(code(&error), 403 | 404) => Err(error.into()),
            _ => Ok(()),
        }
    }
}

/// Deletes this object, and none of the same name.
fn exactly(target: &Target) -> DeleteParams {
    DeleteParams {
        preconditions: Some(Preconditions {
            uid: Some(target.uid.clone()),
            resource_version: None,
        }),
        ..DeleteParams::default()
    }
}
