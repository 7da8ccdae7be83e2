//! What is due in each state of a worker and of a pod, and that nothing is due that would let something in.

use serde_json::json;

use super::*;
use crate::cluster::known::WATCHED;
use crate::cluster::names::{READINESS_GATE, SCHEDULING_GATE};
use crate::verifier::PodStatus;

const NOW: Timestamp = Timestamp::from_secs(1_800_000_000);
const KNOWN: &str = "sha256:9341b6548cc35b64a6de0085555264336e2f570e17ecff20190bf62222f2bd64";
const OTHER: &str = "sha256:2222222222222222222222222222222222222222222222222222222222222222";
const POD: &str = "6f1c2a3e-5b7d-4c1e-9a10-0c2d4e6f8a01";
const CONTAINER: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f00112233445566778899aabbccddeeff0";

struct State {
    known: Known,
    workers: Vec<WorkerStatus>,
    pods: Vec<PodStatus>,
    settings: Settings,
    since: i64,
}

fn node(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "uid": format!("uid-of-{name}"), "creationTimestamp": "2027-01-15T07:00:00Z"},
        "status": {"addresses": [{"type": "InternalIP", "address": "10.0.0.1"}]},
    })
}

fn with_taint(mut node: Value) -> Value {
    node["spec"]["taints"] = json!([{"key": "locus.dev/untrusted", "effect": "NoSchedule"}]);
    node
}

fn agent(name: &str, trust: &str) -> Value {
    json!({
        "apiVersion": "locus.dev/v1alpha1", "kind": "Agent", "metadata": {"name": name, "uid": format!("agent-{name}")},
        "spec": {"node": name, "address": "10.0.0.1:31000"}, "status": {"trust": trust},
    })
}

fn worker(name: &str, trust: Trust) -> WorkerStatus {
    WorkerStatus {
        id: Uuid::from_u128(1),
        name: name.to_owned(),
        address: "10.0.0.1:31000".to_owned(),
        trust,
        reason: "because".to_owned(),
        checked: NOW,
        version: 7,
        generation: 3,
    }
}

/// A pod as the gate made it: held back and not bound yet.
fn gated() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "redis", "namespace": "shop", "uid": POD},
        "spec": {
            "containers": [{"name": "main", "image": format!("redis@{KNOWN}")}],
            "schedulingGates": [{"name": SCHEDULING_GATE}],
            "readinessGates": [{"conditionType": READINESS_GATE}],
        },
    })
}

/// The same on a node, running.
fn running() -> Value {
    let mut pod = gated();
    pod["spec"]["nodeName"] = json!("one");
    pod["spec"]["schedulingGates"] = Value::Null;
    pod["status"] = json!({
        "phase": "Running",
        "containerStatuses": [{"name": "main", "containerID": format!("containerd://{CONTAINER}")}],
    });
    pod
}

fn declared(trust: Trust) -> PodStatus {
    let mut status = PodStatus::declared(Pod {
        uid: POD.parse().unwrap(),
        namespace: "shop".to_owned(),
        name: "redis".to_owned(),
        tenant: CLUSTER,
        worker: "one".to_owned(),
        containers: vec![crate::verifier::PodContainer {
            name: "main".to_owned(),
            image: "redis".to_owned(),
            digest: KNOWN.parse().unwrap(),
            id: Some(CONTAINER.parse().unwrap()),
        }],
    });
    status.trust = trust;
    status.reason = "the pod says so".to_owned();
    status
}

impl State {
    /// A cluster where the namespace `shop` is enrolled, with one node whose worker is trusted as it is said.
    fn new(trust: Trust) -> Self {
        let mut known = Known::new("gate");
        for kind in WATCHED {
            known.replace(kind.kind, []);
        }
        known.put(
            "InvariantSet",
            json!({"metadata": {"name": "shop"}, "spec": {"namespaces": ["shop"]}}),
        );
        known.put(
            "ReferenceImage",
            json!({"metadata": {"name": "redis"}, "spec": {"image": "redis", "manifest": KNOWN}}),
        );
        let word = TrustWord::from(trust);
        known.put("Agent", agent("one", &format!("{word:?}")));
        let node = node("one");
        known.put(
            "Node",
            if trust == Trust::Trusted {
                node
            } else {
                with_taint(node)
            },
        );
        State {
            known,
            workers: vec![worker("one", trust)],
            pods: Vec::new(),
            settings: Settings::default(),
            since: 10,
        }
    }

    fn due(&self) -> Vec<Action> {
        let workers = self.workers.iter();
        let pods = self.pods.iter();
        let known: Digest = KNOWN.parse().unwrap();
        let orphans = [(POD.to_owned(), NOW.plus_secs(-self.since))];
        due(&Facts {
            known: &self.known,
            workers: workers.map(|one| (one.name.clone(), one.clone())).collect(),
            pods: pods
                .map(|one| (one.pod.uid.to_string(), one.clone()))
                .collect(),
            knows_image: &|digest| *digest == known,
            failures: &BTreeMap::new(),
            orphans: &orphans.into_iter().collect(),
            sets: &BTreeMap::new(),
            now: NOW,
            settings: self.settings,
        })
    }

    /// What is due, in a word each; reports of state alone are left out.
    fn words(&self) -> Vec<String> {
        let due = self.due();
        let due = due
            .iter()
            .filter(|action| !matches!(action, Action::Report { .. } | Action::Describe(..)));
        due.map(word).collect()
    }
}

use crate::cluster::resources::TrustWord;

fn word(action: &Action) -> String {
    match action {
        Action::Taint(_, on) | Action::Cordon(_, on) => format!("{} {on}", action.key().0),
        Action::Condition(_, attested) => format!("condition {} {}", attested.yes, attested.reason),
        Action::Say(_, note) | Action::Evict(_, note) | Action::Remove(_, note) => {
            format!("{} {}", action.key().0, note.reason)
        }
        Action::Attest { pods, .. } => format!("attest {}", pods.len()),
        other => other.key().0.to_owned(),
    }
}

#[test]
fn a_node_is_registered_attested_and_only_then_opened() {
    let mut state = State::new(Trust::Unknown);
    state.workers.clear();
    state.known.replace("Agent", []);
    assert_eq!(state.words(), ["make agent"]);
    let due = state.due();
    assert!(
        matches!(&due[0], Action::MakeAgent { address, .. } if address == "10.0.0.1:31000"),
        "{due:?}"
    );
    state.known.put("Agent", agent("one", "Unknown"));
    assert_eq!(state.words(), ["register"]);
    state.workers.push(worker("one", Trust::Unknown));
    assert_eq!(state.words(), ["attest 0"]);
    state.workers[0].trust = Trust::Trusted;
    assert_eq!(state.words(), ["taint false"]);
    state.known.put("Node", node("one"));
    assert!(state.words().is_empty());
}

#[test]
fn a_node_says_where_its_agent_is() {
    let mut state = State::new(Trust::Unknown);
    state.known.replace("Agent", []);
    let mut said = with_taint(node("one"));
    said["metadata"]["annotations"] = json!({"locus.dev/agent-address": "push"});
    state.known.put("Node", said);
    assert!(matches!(&state.due()[0], Action::MakeAgent { address, .. } if address == "push"));
    let mut silent = with_taint(node("one"));
    silent["status"] = Value::Null;
    state.known.put("Node", silent);
    assert!(state.words().is_empty(), "nobody knows where its agent is");
}

#[test]
fn a_node_that_lost_its_agent_or_its_trust_is_closed() {
    let mut state = State::new(Trust::Trusted);
    assert!(state.words().is_empty());
    for trust in [Trust::Unknown, Trust::Untrusted] {
        state.workers[0].trust = trust;
        assert!(
            state.words().contains(&"taint true".to_owned()),
            "{trust:?}"
        );
    }
    let mut state = State::new(Trust::Trusted);
    state.known.replace("Agent", []);
    assert_eq!(state.words(), ["make agent", "taint true"]);
}

/// Another machine takes the name of one that was trusted.
#[test]
fn a_node_that_joined_after_the_last_attestation_is_not_trusted() {
    let mut state = State::new(Trust::Trusted);
    let mut later = node("one");
    later["metadata"]["creationTimestamp"] = json!("2027-01-15T08:00:01Z");
    state.known.put("Node", later);
    assert_eq!(state.words(), ["attest 0", "taint true"]);
    let mut never = node("one");
    never["metadata"]["creationTimestamp"] = Value::Null;
    state.known.put("Node", never);
    assert_eq!(state.words(), ["attest 0", "taint true"]);
}

#[test]
fn an_untrusted_worker_is_treated_as_the_operator_decided() {
    let mut state = State::new(Trust::Untrusted);
    state.known.put("Pod", running());
    state.pods.push(declared(Trust::Trusted));
    let told = |state: &State| {
        let mut words = state.words();
        words.retain(|word| !word.starts_with("condition"));
        words
    };
    state.settings.untrusted = OnUntrusted::Taint;
    assert!(told(&state).is_empty());
    state.settings.untrusted = OnUntrusted::Cordon;
    assert_eq!(told(&state), ["cordon true"]);
    state.settings.untrusted = OnUntrusted::Evict;
    assert_eq!(told(&state), ["cordon true", "evict WorkerUntrusted"]);
    state.settings.untrusted = OnUntrusted::Delete;
    assert_eq!(told(&state), ["delete node", "evict WorkerUntrusted"]);
}

#[test]
fn a_node_that_somebody_else_closed_stays_closed() {
    let mut state = State::new(Trust::Trusted);
    let mut closed = node("one");
    closed["spec"]["unschedulable"] = json!(true);
    state.known.put("Node", closed.clone());
    assert!(state.words().is_empty());
    closed["metadata"]["annotations"] = json!({"locus.dev/cordoned": "x"});
    state.known.put("Node", closed);
    assert_eq!(state.words(), ["cordon false"]);
}

#[test]
fn a_worker_that_left_is_forgotten_after_a_while() {
    let mut state = State::new(Trust::Trusted);
    state.known.replace("Agent", []);
    state.known.replace("Node", []);
    assert!(state.words().is_empty());
    state.workers[0].checked = NOW.plus_secs(-61);
    assert_eq!(state.words(), ["register"]);
    assert!(matches!(state.due()[0], Action::RemoveWorker(_)));
}

#[test]
fn an_untrusted_worker_does_not_come_back_by_another_address() {
    let mut state = State::new(Trust::Untrusted);
    state.workers[0].address = "10.0.0.9:1".to_owned();
    assert!(!state.words().contains(&"register".to_owned()));
    state.workers[0].trust = Trust::Unknown;
    assert!(state.words().contains(&"register".to_owned()));
}

#[test]
fn a_pod_waits_for_a_trusted_worker_and_known_files() {
    let mut state = State::new(Trust::Trusted);
    state.known.put("Pod", gated());
    assert_eq!(state.words(), ["open"]);
    let mut unknown = gated();
    unknown["spec"]["initContainers"] = json!([{"name": "x", "image": format!("x@{OTHER}")}]);
    state.known.put("Pod", unknown);
    assert_eq!(state.words(), ["say Waiting"]);
    for trust in [Trust::Unknown, Trust::Untrusted] {
        let mut state = State::new(trust);
        state.known.put("Pod", gated());
        assert!(state.words().contains(&"say Waiting".to_owned()));
        assert!(!state.words().contains(&"open".to_owned()));
    }
    // A worker that takes no pods is none.
    let mut closed = node("one");
    closed["spec"]["unschedulable"] = json!(true);
    state.known.put("Node", closed);
    state.known.put("Pod", gated());
    assert_eq!(state.words(), ["say Waiting"]);
    let mut leaving = gated();
    leaving["metadata"]["deletionTimestamp"] = json!("2027-01-15T08:00:00Z");
    state.known.put("Pod", leaving);
    assert!(state.words().is_empty());
}

#[test]
fn an_image_is_known_by_manifest_or_configuration() {
    let mut state = State::new(Trust::Trusted);
    let mut pod = gated();
    pod["spec"]["containers"][0]["image"] = json!(format!("redis@{OTHER}"));
    state.known.put("Pod", pod);
    assert_eq!(state.words(), ["say Waiting"]);
    state.known.put(
        "ReferenceImage",
        json!({"metadata": {"name": "redis"}, "spec": {"image": "redis", "manifest": OTHER, "configuration": KNOWN}}),
    );
    assert_eq!(state.words(), ["open"]);
}

#[test]
fn a_bound_pod_is_described_attested_and_only_then_ready() {
    let mut state = State::new(Trust::Trusted);
    let mut starting = running();
    starting["status"] = Value::Null;
    state.known.put("Pod", starting);
    assert_eq!(state.words(), ["declare", "condition false NotAttested"]);
    let due = state.due();
    let told = due.iter().find_map(|action| match action {
        Action::Declare(told) => Some(told),
        _ => None,
    });
    let told = told.unwrap();
    assert_eq!((told.worker.as_str(), told.containers[0].id), ("one", None));
    let mut without = declared(Trust::Unknown);
    without.pod.containers[0].id = None;
    state.pods.push(without);
    assert_eq!(
        state.words(),
        ["condition false NotAttested"],
        "no container runs yet"
    );
    state.known.put("Pod", running());
    assert_eq!(state.words(), ["declare", "condition false NotAttested"]);
    state.pods[0] = declared(Trust::Unknown);
    assert_eq!(state.words(), ["attest 1", "condition false NotAttested"]);
    state.pods[0].trust = Trust::Trusted;
    assert_eq!(state.words(), ["condition true Attested"]);
    let mut ready = running();
    ready["status"]["conditions"] = json!([{
        "type": READINESS_GATE, "status": "True", "reason": "Attested", "message": "worker and pod were attested",
    }]);
    state.known.put("Pod", ready);
    assert!(state.words().is_empty());
    // A container is just started again: what is known of it stays.
    let mut again = running();
    again["status"]["containerStatuses"] = json!([{"name": "main"}]);
    state.known.put("Pod", again);
    assert!(!state.words().contains(&"declare".to_owned()));
}

#[test]
fn what_prepares_a_pod_does_not_prove_the_rest_of_it() {
    let mut state = State::new(Trust::Trusted);
    let mut preparing = running();
    preparing["spec"]["initContainers"] =
        json!([{"name": "first", "image": format!("redis@{KNOWN}")}]);
    preparing["status"] = json!({
        "phase": "Pending",
        "initContainerStatuses": [{"name": "first", "containerID": format!("containerd://{CONTAINER}")}],
        "containerStatuses": [{"name": "main"}],
    });
    state.known.put("Pod", preparing);
    let mut known = declared(Trust::Trusted);
    let mut first = known.pod.containers[0].clone();
    known.pod.containers[0].id = None;
    first.name = "first".to_owned();
    known.pod.containers.push(first);
    state.pods.push(known);
    assert_eq!(state.words(), ["condition false NotAttested"]);
}

#[test]
fn readiness_is_taken_away_with_trust() {
    let mut state = State::new(Trust::Trusted);
    let mut ready = running();
    ready["status"]["conditions"] = json!([{"type": READINESS_GATE, "status": "True"}]);
    state.known.put("Pod", ready);
    state.pods.push(declared(Trust::Unknown));
    assert!(
        state
            .words()
            .contains(&"condition false NotAttested".to_owned())
    );
    state.pods[0].trust = Trust::Untrusted;
    assert_eq!(
        state.words(),
        ["condition false PodUntrusted", "evict PodUntrusted"]
    );
    // The pod is as it should be, and its worker is not.
    state.pods[0].trust = Trust::Trusted;
    state.workers[0].trust = Trust::Unknown;
    assert!(
        state
            .words()
            .contains(&"condition false WorkerUnknown".to_owned())
    );
}

#[test]
fn an_eviction_is_due_until_the_pod_is_gone() {
    let mut state = State::new(Trust::Trusted);
    state.known.put("Pod", running());
    state.pods.push(declared(Trust::Untrusted));
    assert!(state.words().contains(&"evict PodUntrusted".to_owned()));
    let mut leaving = running();
    leaving["metadata"]["deletionTimestamp"] = json!("2027-01-15T08:00:00Z");
    state.known.put("Pod", leaving);
    assert_eq!(state.words(), ["condition false PodUntrusted"]);
    state.known.replace("Pod", []);
    assert_eq!(state.words(), ["forget"]);
}

/// Whoever makes a pod chooses how long it takes to leave, and whoever deletes it, too.
#[test]
fn to_stay_long_after_an_eviction() {
    let mut state = State::new(Trust::Trusted);
    state.pods.push(declared(Trust::Untrusted));
    let mut leaving = running();
    leaving["metadata"]["deletionTimestamp"] = json!("2027-01-15T08:00:00Z");
    for (grace, evicted) in [(0, false), (30, false), (31, true), (1_000_000, true)] {
        leaving["metadata"]["deletionGracePeriodSeconds"] = json!(grace);
        state.known.put("Pod", leaving.clone());
        let words = state.words();
        let found = words.contains(&"evict PodUntrusted".to_owned());
        assert_eq!(found, evicted, "{grace}: {words:?}");
    }
    // The same for one that nobody knows.
    leaving["spec"]["readinessGates"] = Value::Null;
    state.known.put("Pod", leaving);
    state.settings.orphans = OnOrphans::Remove;
    state.since = 300;
    assert!(state.words().contains(&"remove Orphan".to_owned()));
}

/// A static pod whose manifest says whose it is.
#[test]
fn to_have_what_a_node_runs_taken_for_a_tenants() {
    let mut state = State::new(Trust::Trusted);
    let mut object = running();
    object["metadata"]["annotations"] = json!({"locus.dev/tenant": POD, "kubernetes.io/config.mirror": "x", "kubernetes.io/config.hash": POD});
    state.known.put("Pod", object);
    let due = state.due();
    let told = due.iter().find_map(|action| match action {
        Action::Declare(told) => Some(told.tenant),
        _ => None,
    });
    assert_eq!(told, Some(CLUSTER));
}

/// Nobody vouches for the worker of a pod any more.
#[test]
fn to_stay_ready_by_deleting_the_agent_of_the_worker() {
    let mut state = State::new(Trust::Trusted);
    let mut ready = running();
    ready["status"]["conditions"] = json!([{"type": READINESS_GATE, "status": "True"}]);
    state.known.put("Pod", ready);
    state.pods.push(declared(Trust::Trusted));
    state.known.replace("Agent", []);
    let words = state.words();
    assert!(
        words.contains(&"condition false WorkerUnknown".to_owned()),
        "{words:?}"
    );
}

/// A pod of the same name came: what is known of the old one is not said of it.
#[test]
fn a_pod_is_not_taken_for_its_namesake() {
    let mut state = State::new(Trust::Trusted);
    let mut namesake = running();
    namesake["metadata"]["uid"] = json!("aaaaaaaa-5b7d-4c1e-9a10-0c2d4e6f8a01");
    state.known.put("Pod", namesake);
    state.pods.push(declared(Trust::Trusted));
    assert_eq!(
        state.words(),
        ["declare", "condition false NotAttested", "forget"]
    );
}

#[test]
fn a_pod_that_came_past_the_gate_is_an_orphan() {
    let mut state = State::new(Trust::Trusted);
    let mut past = running();
    past["spec"]["readinessGates"] = Value::Null;
    state.known.put("Pod", past.clone());
    assert!(state.words().contains(&"say Orphan".to_owned()));
    // Its owner may be heard of a moment later.
    state.since = 1;
    assert!(!state.words().iter().any(|word| word.contains("Orphan")));
    state.since = 10;
    state.settings.orphans = OnOrphans::Remove;
    assert!(state.words().contains(&"say Orphan".to_owned()), "not yet");
    state.since = 300;
    assert!(state.words().contains(&"remove Orphan".to_owned()));
    // What is only watched is let in without gates.
    let audit =
        json!({"metadata": {"name": "shop"}, "spec": {"namespaces": ["shop"], "mode": "Audit"}});
    state.known.put("InvariantSet", audit);
    assert!(!state.words().iter().any(|word| word.contains("Orphan")));
    state.known.replace("InvariantSet", []);
    assert!(
        state.words().contains(&"remove Orphan".to_owned()),
        "a closed namespace"
    );
    // A node's own pods come back by themselves.
    past["metadata"]["annotations"] = json!({"kubernetes.io/config.mirror": "x"});
    past["spec"]["containers"][0]["image"] = json!("x:latest");
    state.known.put("Pod", past);
    assert!(state.words().contains(&"say Orphan".to_owned()));
}

#[test]
fn a_pod_without_node_agent_owner_or_tenant_is_an_orphan() {
    let why =
        |state: &State| -> Vec<String> { orphans(&state.known).map(|(_, _, why)| why).collect() };
    let mut state = State::new(Trust::Trusted);
    state.known.tenants = Some(Vec::new());
    state.known.put("Pod", running());
    assert!(why(&state).is_empty());
    let mut owned = running();
    owned["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "redis", "uid": "r1", "controller": true,
    }]);
    state.known.put("Pod", owned);
    assert!(why(&state)[0].contains("its owner, the ReplicaSet `redis`"));
    let set = |uid: &str| json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "redis", "namespace": "shop", "uid": uid}});
    state.known.put("ReplicaSet", set("r2"));
    assert_eq!(why(&state).len(), 1, "another of the same name");
    state.known.put("ReplicaSet", set("r1"));
    assert!(why(&state).is_empty());
    let mut foreign = running();
    foreign["metadata"]["annotations"] = json!({"locus.dev/tenant": "gone"});
    state.known.put("Pod", foreign);
    assert!(why(&state)[0].contains("tenant `gone`"));
    state.known.put("Pod", running());
    state.known.replace("Agent", []);
    assert!(why(&state)[0].contains("no Agent"));
    state.known.replace("Node", []);
    assert!(why(&state)[0].contains("not in the cluster"));
}

#[test]
fn a_request_is_answered_once_and_for_pods_of_its_namespace() {
    let mut state = State::new(Trust::Trusted);
    state.known.put("Pod", running());
    state.pods.push(declared(Trust::Trusted));
    let request = |namespace: &str, at: &str| {
        json!({
            "apiVersion": "locus.dev/v1alpha1", "kind": "AttestationRequest",
            "metadata": {"name": "ask", "namespace": namespace, "uid": "q", "creationTimestamp": at},
            "spec": {"pod": "redis", "uid": POD},
        })
    };
    let answers = |state: &State| -> Vec<Action> {
        let mut due = state.due();
        due.retain(|action| action.key().0 == "answer");
        due
    };
    state.known.replace(
        "AttestationRequest",
        [request("shop", "2027-01-15T08:00:00Z")],
    );
    assert!(matches!(answers(&state)[0], Action::Answer { .. }));
    let mut answered = request("shop", "2027-01-15T08:00:00Z");
    answered["status"] = json!({"trust": "Trusted"});
    state.known.replace("AttestationRequest", [answered]);
    assert!(answers(&state).is_empty());
    // Another tenant's namespace.
    state.known.replace(
        "AttestationRequest",
        [request("mine", "2027-01-15T08:00:00Z")],
    );
    assert!(answers(&state).is_empty(), "it may be heard of yet");
    state.known.replace(
        "AttestationRequest",
        [request("mine", "2027-01-15T07:59:00Z")],
    );
    assert!(
        matches!(&answers(&state)[0], Action::Refuse(_, status) if status.reason.contains("there is no pod"))
    );
}

#[test]
fn nothing_is_done_before_the_cluster_is_known() {
    let mut state = State::new(Trust::Untrusted);
    state.known.put("Pod", running());
    state.pods.push(declared(Trust::Untrusted));
    assert!(!state.due().is_empty());
    state.known.lose("Namespace");
    assert!(state.due().is_empty());
}

/// Whatever the state is, a pod is opened and called attested only when all of it is trusted.
#[test]
fn in_no_state_is_anything_let_in_that_was_not_attested() {
    for worker in Trust::ALL {
        for pod in Trust::ALL {
            for agent_says in ["Unknown", "Trusted", "Untrusted"] {
                let mut state = State::new(worker);
                state.known.put("Agent", agent("one", agent_says));
                let mut waiting = gated();
                waiting["metadata"]["name"] = json!("waiting");
                state.known.put("Pod", waiting);
                state.known.put("Pod", running());
                state.pods.push(declared(pod));
                let words = state.words();
                let opened = words.contains(&"open".to_owned());
                let attested = words.contains(&"condition true Attested".to_owned());
                assert!(!opened || (worker == Trust::Trusted && agent_says == "Trusted"));
                assert_eq!(attested, worker == Trust::Trusted && pod == Trust::Trusted);
                let tainted = words.contains(&"taint false".to_owned());
                assert!(!tainted || worker == Trust::Trusted);
            }
        }
    }
}
