//! Pods: held back until a trusted worker is there, described to the verifier when they are bound, ready when they were
//! attested, and evicted when they fail.

use serde_json::Value;

use super::workers::{cut, takes_pods};
use super::{Action, Attested, CLUSTER, Facts, Note, OnUntrusted, Target, is_leaving, leaves_soon};
use crate::cluster::admission::images::images;
use crate::cluster::names::{MIRROR, READINESS_GATE, SCHEDULING_GATE, TENANT};
use crate::cluster::object::{annotation, at, field, items, name, namespace, text, uid};
use crate::digest::Digest;
use crate::ima::{ContainerId, PodUid};
use crate::verifier::{Pod, PodContainer, PodStatus, Trust};

/// The lists of containers of a pod, with the lists of what is said of them.
const CONTAINERS: [(&str, &str); 3] = [
    ("containers", "containerStatuses"),
    ("initContainers", "initContainerStatuses"),
    ("ephemeralContainers", "ephemeralContainerStatuses"),
];

/// The annotation by which a kubelet says what it calls a static pod.
const STATIC: &str = "kubernetes.io/config.hash";

pub(super) fn due(facts: &Facts<'_>, due: &mut Vec<Action>) {
    let mut taking = facts
        .known
        .all("Node")
        .filter(|node| takes_pods(facts, node));
    let place = taking.next().is_some();
    for pod in facts.known.all("Pod") {
        if is_gated(pod) {
            gated(facts, pod, place, due);
        } else if !text(pod, &["spec", "nodeName"]).is_empty() {
            bound(facts, pod, due);
        }
    }
    for (uid, known) in &facts.pods {
        let worker = facts.known.get("Agent", "", &known.pod.worker);
        let there = facts
            .known
            .get("Pod", &known.pod.namespace, &known.pod.name);
        let there = there.is_some_and(|pod| measured_uid(pod) == uid);
        if !there && worker.is_some() {
            due.push(Action::Forget(known.pod.uid));
        }
    }
}

fn is_gated(pod: &Value) -> bool {
    let gates = items(at(pod, &["spec", "schedulingGates"]));
    gates
        .iter()
        .any(|gate| text(gate, &["name"]) == SCHEDULING_GATE)
}

/// Whether the readiness of a pod is the gate's business.
pub(super) fn is_held(pod: &Value) -> bool {
    let gates = items(at(pod, &["spec", "readinessGates"]));
    gates
        .iter()
        .any(|gate| text(gate, &["conditionType"]) == READINESS_GATE)
}

/// Whether a pod ran to its end.
pub(super) fn is_over(pod: &Value) -> bool {
    matches!(text(pod, &["status", "phase"]), "Succeeded" | "Failed")
}

/// The UID that a worker knows a pod by: the control groups of a static pod have the hash of its manifest instead.
fn measured_uid(pod: &Value) -> &str {
    match annotation(pod, MIRROR) {
        Some(_) => annotation(pod, STATIC).unwrap_or_else(|| uid(pod)),
        None => uid(pod),
    }
}

/// A pod that is held back.
fn gated(facts: &Facts<'_>, pod: &Value, place: bool, due: &mut Vec<Action>) {
    if is_leaving(pod) {
        return;
    }
    let target = Target::of(pod);
    let unknown = unknown_images(facts, pod);
    let why = if !unknown.is_empty() {
        let list = unknown.join("`, `");
        format!("no reference value knows the files of `{list}`")
    } else if !place {
        "no worker is trusted and takes pods".to_owned()
    } else {
        due.push(Action::Open(target));
        return;
    };
    due.push(Action::Say(target, Note::new(true, "Waiting", why)));
}

/// The digest by which reference values know an image: of its manifest, or of its configuration.
fn digest_of(facts: &Facts<'_>, written: &str) -> Option<Digest> {
    let own: Digest = written.parse().ok()?;
    if (facts.knows_image)(&own) {
        return Some(own);
    }
    let reference = facts.known.reference(written)?;
    let spec = field(reference, "spec");
    let both = ["manifest", "configuration"].into_iter();
    let mut both = both.filter_map(|key| text(spec, &[key]).parse::<Digest>().ok());
    both.find(|digest| (facts.knows_image)(digest))
}

/// The images of a pod whose files nobody knows.
fn unknown_images(facts: &Facts<'_>, pod: &Value) -> Vec<String> {
    let all = images(field(pod, "spec")).into_iter();
    let unknown = all.filter(|image| {
        let known = image.digest().and_then(|digest| digest_of(facts, digest));
        known.is_none()
    });
    unknown.map(|image| image.reference).collect()
}

/// A pod that is on a node.
fn bound(facts: &Facts<'_>, pod: &Value, due: &mut Vec<Action>) {
    let node = text(pod, &["spec", "nodeName"]);
    if facts.known.get("Agent", "", node).is_none() {
        // Whoever may be there: it is an orphan, and never ready.
        if is_held(pod) && !is_over(pod) && said(pod).is_some_and(|(yes, ..)| yes) {
            let attested = Attested {
                yes: false,
                reason: "WorkerUnknown",
                message: format!("no Agent knows its node `{node}`"),
            };
            due.push(Action::Condition(Target::of(pod), attested));
        }
        return;
    }
    let known = facts.pods.get(measured_uid(pod));
    if !is_over(pod)
        && let Some(described) = described(facts, pod, known)
        && known.is_none_or(|known| known.pod != described)
    {
        due.push(Action::Declare(Box::new(described)));
    }
    let worker = facts.known.get("Node", "", node);
    let worker = worker.map_or((Trust::Unknown, String::new()), |node| facts.trust(node));
    if !is_held(pod) {
        if let Some(known) = known.filter(|known| known.trust == Trust::Untrusted) {
            let note = Note::new(true, "PodUntrusted", cut(&known.reason, 900));
            due.push(Action::Say(Target::of(pod), note));
        }
        return;
    }
    if is_over(pod) {
        return;
    }
    let (attested, evict) = verdict(facts, known, worker, pod);
    if said(pod) != Some((attested.yes, attested.reason, attested.message.as_str())) {
        due.push(Action::Condition(Target::of(pod), attested.clone()));
    }
    if evict && !leaves_soon(pod) {
        let note = Note::new(true, attested.reason, attested.message);
        due.push(Action::Evict(Target::of(pod), note));
    }
}

/// Whether a pod counts as attested, and whether it has to go.
fn verdict(
    facts: &Facts<'_>,
    known: Option<&PodStatus>,
    (worker, why): (Trust, String),
    pod: &Value,
) -> (Attested, bool) {
    let no = |reason: &'static str, message: &str| Attested {
        yes: false,
        reason,
        message: cut(message, 900),
    };
    if let Some(known) = known.filter(|known| known.trust == Trust::Untrusted) {
        return (no("PodUntrusted", &known.reason), true);
    }
    match worker {
        Trust::Untrusted => {
            let evict = facts.settings.untrusted >= OnUntrusted::Evict;
            return (no("WorkerUntrusted", &why), evict);
        }
        Trust::Unknown => return (no("WorkerUnknown", &why), false),
        Trust::Trusted => {}
    }
    match known {
        // What is not there yet was not judged: a kubelet has the pod ready as soon as its last container is.
        Some(known) if known.trust == Trust::Trusted && !all_started(known, pod) => (
            no("NotAttested", "not all of its containers were started yet"),
            false,
        ),
        Some(known) if known.trust == Trust::Trusted => {
            let attested = Attested {
                yes: true,
                reason: "Attested",
                message: "worker and pod were attested".to_owned(),
            };
            (attested, false)
        }
        Some(known) => (no("NotAttested", &known.reason), false),
        None => (
            no("NotAttested", "not described to the verifier yet"),
            false,
        ),
    }
}

/// Whether the verifier knows every container of a pod that stays by its identifier; those that prepare the pod end before.
fn all_started(known: &PodStatus, pod: &Value) -> bool {
    let mut containers = items(at(pod, &["spec", "containers"])).iter();
    containers.all(|container| {
        let own = text(container, &["name"]);
        let mut known = known.pod.containers.iter();
        known.any(|one| one.name == own && one.id.is_some())
    })
}

/// What the condition of a pod says.
fn said(pod: &Value) -> Option<(bool, &str, &str)> {
    let mut conditions = items(at(pod, &["status", "conditions"])).iter();
    let ours = conditions.find(|one| text(one, &["type"]) == READINESS_GATE)?;
    let yes = text(ours, &["status"]) == "True";
    Some((yes, text(ours, &["reason"]), text(ours, &["message"])))
}

/// A pod as the verifier is told of it. None if something of it cannot be told: then it is never ready.
fn described(facts: &Facts<'_>, pod: &Value, known: Option<&PodStatus>) -> Option<Pod> {
    let mut containers = Vec::new();
    for (list, statuses) in CONTAINERS {
        for container in items(field(field(pod, "spec"), list)) {
            let own = text(container, &["name"]);
            let reference = text(container, &["image"]);
            let written = reference.rsplit_once('@')?.1;
            let digest = digest_of(facts, written).or_else(|| written.parse().ok())?;
            let image = facts.known.reference(written);
            let image = image.map_or(reference, |image| text(image, &["spec", "image"]));
            let mut statuses = items(at(pod, &["status", statuses])).iter();
            let status = statuses.find(|status| text(status, &["name"]) == own);
            let id = status.and_then(container_id);
            // One that is just being started again has none for a moment.
            let before = known.iter().flat_map(|known| &known.pod.containers);
            let mut before = before.filter(|before| before.name == own && before.digest == digest);
            containers.push(PodContainer {
                name: own.to_owned(),
                image: image.to_owned(),
                digest,
                id: id.or_else(|| before.next().and_then(|before| before.id)),
            });
        }
    }
    // What a node runs by itself is the cluster's, whatever its manifest says.
    let tenant = annotation(pod, TENANT).filter(|_| annotation(pod, MIRROR).is_none());
    let tenant = tenant.and_then(|tenant| tenant.parse().ok());
    Some(Pod {
        uid: PodUid::parse(measured_uid(pod).as_bytes())?,
        namespace: namespace(pod).to_owned(),
        name: name(pod).to_owned(),
        tenant: tenant.unwrap_or(CLUSTER),
        worker: text(pod, &["spec", "nodeName"]).to_owned(),
        containers,
    })
}

/// The identifier of a container in its runtime, as a kubelet says it: `containerd://0f1e…`.
fn container_id(status: &Value) -> Option<ContainerId> {
    let (_, id) = text(status, &["containerID"]).split_once("://")?;
    ContainerId::parse(id.as_bytes())
}
