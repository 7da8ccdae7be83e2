//! Pods: what the gate adds to them, and what nobody else may take away.

use std::collections::BTreeSet;

use json_patch::jsonptr::PointerBuf;
use json_patch::{AddOperation, PatchOperation, RemoveOperation};
use serde_json::{Value, json};

use super::images;
use super::{Ask, Decision, Problem, Verb, terms, unready};
use super::{signature, tenancy};
use crate::cluster::known::{Known, labels};
use crate::cluster::names::{
    KUBELET, MIRROR, PREFIX, READINESS_GATE, SCHEDULING_GATE, TENANT, TOPOLOGY,
};
use crate::cluster::object::{Workload, annotation, at, field, items, text};

/// Adds something to a list that may not be there.
pub(super) fn appended(object: &Value, path: &[&str], item: Value) -> Vec<PatchOperation> {
    let mut patch = Vec::new();
    let exists = at(object, path).is_array();
    let mut pointer = PointerBuf::from_tokens(path.iter().copied());
    let mut add = |path, value| patch.push(PatchOperation::Add(AddOperation { path, value }));
    if exists {
        pointer.push_back("-");
        add(pointer, item);
    } else {
        if let Some((_, parents)) = path.split_last()
            && !at(object, parents).is_object()
        {
            add(PointerBuf::from_tokens(parents.iter().copied()), json!({}));
        }
        add(pointer, json!([item]));
    }
    patch
}

fn has_scheduling_gate(pod: &Value) -> bool {
    let gates = items(at(pod, &["spec", "schedulingGates"]));
    gates
        .iter()
        .any(|gate| text(gate, &["name"]) == SCHEDULING_GATE)
}

fn has_readiness_gate(pod: &Value) -> bool {
    let gates = items(at(pod, &["spec", "readinessGates"]));
    gates
        .iter()
        .any(|gate| text(gate, &["conditionType"]) == READINESS_GATE)
}

/// Whether a pod is one that the gate holds back.
fn is_held(ask: &Ask, known: &Known) -> Result<bool, Problem> {
    if annotation(&ask.object, MIRROR).is_some()
        || images::is_exempt(field(&ask.object, "spec"), &ask.namespace, known)
    {
        return Ok(false);
    }
    terms(&ask.namespace, known).map(|terms| terms.enforced)
}

/// The tenant whose pod this is; none where nobody signs.
fn tenant(ask: &Ask, known: &Known) -> Option<String> {
    let workload = Workload::of_kind("", "Pod")?;
    let sets = known.sets(&ask.namespace);
    let (first, then): (Vec<_>, Vec<_>) = sets.iter().partition(|set| set.enforces());
    let mut all = first.into_iter().chain(then);
    all.find_map(|set| {
        let allowed = &set.spec.tenants;
        let found = if tenancy::is_controller(&ask.user) && tenancy::has_controller(&ask.object) {
            tenancy::root(&ask.object, allowed, known)
        } else {
            signature::signer(workload, &ask.object, allowed, known).map(|(tenant, _)| tenant)
        };
        found.ok().map(|tenant| tenant.id.clone())
    })
}

/// Whose a pod is, is for the gate to say, also of one that it does not hold back.
pub(super) fn claimed(ask: &Ask, known: &Known) -> Option<Problem> {
    (annotation(&ask.object, TENANT).map(str::to_owned) != due_to(ask, known)).then(|| {
        let message = format!("the annotation `{TENANT}` is not the tenant that signed");
        Problem::new("tenant", message).at("metadata.annotations")
    })
}

/// The tenant that a new pod is bound to: what a node runs by itself is the cluster's.
fn due_to(ask: &Ask, known: &Known) -> Option<String> {
    match annotation(&ask.object, MIRROR) {
        Some(_) => None,
        None => tenant(ask, known),
    }
}

/// Adds the gates, and binds the pod to its tenant.
pub(super) fn gated(ask: &Ask, known: &Known) -> Decision {
    let mut decision = Decision::default();
    // A pod that will be refused is refused by the second question, with all that is wrong.
    let Ok(held) = is_held(ask, known) else {
        return decision;
    };
    // One that chooses its node is refused by the second question; with the gate, the server would refuse it in its own words.
    let chosen = !text(&ask.object, &["spec", "nodeName"]).is_empty();
    if held && !chosen && !has_scheduling_gate(&ask.object) {
        let gate = json!({"name": SCHEDULING_GATE});
        decision
            .patch
            .extend(appended(&ask.object, &["spec", "schedulingGates"], gate));
    }
    if held && !has_readiness_gate(&ask.object) {
        let gate = json!({"conditionType": READINESS_GATE});
        decision
            .patch
            .extend(appended(&ask.object, &["spec", "readinessGates"], gate));
    }
    let path = PointerBuf::from_tokens(["metadata", "annotations", TENANT]);
    match (due_to(ask, known), annotation(&ask.object, TENANT)) {
        (Some(tenant), said) if said != Some(tenant.as_str()) => {
            if !at(&ask.object, &["metadata", "annotations"]).is_object() {
                let path = PointerBuf::from_tokens(["metadata", "annotations"]);
                let value = json!({});
                decision
                    .patch
                    .push(PatchOperation::Add(AddOperation { path, value }));
            }
            let value = Value::String(tenant);
            decision
                .patch
                .push(PatchOperation::Add(AddOperation { path, value }));
        }
        (None, Some(_)) => {
            decision
                .patch
                .push(PatchOperation::Remove(RemoveOperation { path }));
        }
        _ => {}
    }
    decision
}

/// What stands against a new pod that the gate holds back, beside its rules, images and tenant.
pub(super) fn admitted(ask: &Ask) -> Vec<Problem> {
    let mut found = Vec::new();
    let node = text(&ask.object, &["spec", "nodeName"]);
    if !node.is_empty() {
        let message =
            format!("the pod chooses the node `{node}` itself, past the scheduler and the gate");
        let problem = Problem::new("node-name", message).at("spec.nodeName");
        found.push(problem.fix("use `nodeSelector` or `affinity`"));
    } else if !has_scheduling_gate(&ask.object) || !has_readiness_gate(&ask.object) {
        let message = "the gates that Locus adds to pods are not there: something removed them";
        found.push(Problem::new("gates", message).at("spec"));
    }
    found
}

/// Another image in a pod that was let in without the gates, for its exempt images or as nobody was asked then: it would run
/// without being held back or attested.
pub(super) fn swapped(ask: &Ask) -> Option<Problem> {
    let run = |pod: &Value| -> BTreeSet<String> {
        let images = images::images(field(pod, "spec")).into_iter();
        images.map(|image| image.reference).collect()
    };
    let news = !run(&ask.object).is_subset(&run(&ask.old));
    (news && !has_readiness_gate(&ask.old)).then(|| {
        let message = "the pod was let in without the gates of Locus, and runs no other image";
        Problem::new("gates", message)
            .at("spec")
            .fix("delete it, and make it anew with that image")
    })
}

/// A static pod's stand-in: made by the kubelet of the node that it is on, of images that are known by digest.
pub(super) fn mirror(ask: &Ask, known: &Known) -> Option<Problem> {
    let node = text(&ask.object, &["spec", "nodeName"]);
    if node.is_empty() || ask.user != format!("system:node:{node}") {
        let message = "only a node makes the stand-ins of its static pods";
        return Some(Problem::new("mirror", message).at(format!("metadata.annotations.{MIRROR}")));
    }
    let spec = field(&ask.object, "spec");
    images::problems(spec, "spec", known).into_iter().next()
}

/// What only the gate may change in a pod.
pub(super) fn guarded(ask: &Ask, known: &Known) -> Option<Problem> {
    if ask.user == known.identity {
        return None;
    }
    if has_scheduling_gate(&ask.old) && !has_scheduling_gate(&ask.object) {
        let message = format!("only the gate takes away the scheduling gate `{SCHEDULING_GATE}`");
        return Some(Problem::new("gates", message).at("spec.schedulingGates"));
    }
    if has_readiness_gate(&ask.old) && !has_readiness_gate(&ask.object) {
        let message = format!("nobody takes away the readiness gate `{READINESS_GATE}`");
        return Some(Problem::new("gates", message).at("spec.readinessGates"));
    }
    for name in [TENANT, MIRROR] {
        if annotation(&ask.old, name) != annotation(&ask.object, name) {
            let message = format!("the annotation `{name}` does not change");
            return Some(Problem::new("tenant", message).at("metadata.annotations"));
        }
    }
    None
}

/// Whether the gate takes away its scheduling gate, and changes nothing else.
pub(super) fn opens(ask: &Ask, known: &Known) -> bool {
    let without = |pod: &Value| {
        let mut spec = field(pod, "spec").clone();
        if let Some(fields) = spec.as_object_mut() {
            fields.remove("schedulingGates");
        }
        spec
    };
    ask.user == known.identity
        && ask.verb == Verb::Update
        && ask.subresource.is_empty()
        && without(&ask.old) == without(&ask.object)
}

/// The condition that a pod's readiness depends on; a list may have it more than once.
fn conditions(pod: &Value) -> Vec<[&str; 3]> {
    let all = items(at(pod, &["status", "conditions"])).iter();
    all.filter(|one| text(one, &["type"]) == READINESS_GATE)
        .map(|one| ["status", "reason", "message"].map(|key| text(one, &[key])))
        .collect()
}

/// Only the gate says that a pod is attested, and a status says nothing of whose it is and what selects it.
pub(super) fn status(ask: &Ask, known: &Known) -> Option<Problem> {
    if ask.user == known.identity {
        return None;
    }
    if conditions(&ask.old) != conditions(&ask.object) {
        let message = format!("only the gate writes the condition `{READINESS_GATE}`");
        return Some(Problem::new("status", message).at("status.conditions"));
    }
    guarded(ask, known).or_else(|| {
        (labels(&ask.old) != labels(&ask.object)).then(|| {
            let message = "the labels of a pod are not changed by way of its status";
            Problem::new("status", message)
                .at("metadata.labels")
                .fix("change them in the pod itself")
        })
    })
}

/// What a binding would write into its pod beside the node: the server puts its annotations and labels over those of the pod.
fn smuggled(binding: &Value) -> Option<Problem> {
    let all = |list: &str| -> Vec<String> {
        let list = at(binding, &["metadata", list]).as_object();
        list.into_iter()
            .flatten()
            .map(|(key, _)| key.clone())
            .collect()
    };
    let ours = |key: &String| key.starts_with(PREFIX) || key.starts_with(KUBELET);
    let found = all("annotations").into_iter().find(ours);
    let found = found.map(|key| ("annotation", "metadata.annotations", key));
    let foreign = |key: &String| !TOPOLOGY.contains(&key.as_str());
    let label = all("labels").into_iter().find(foreign);
    let (what, place, key) = found.or(label.map(|key| ("label", "metadata.labels", key)))?;
    let message = format!("a binding does not write the {what} `{key}` into its pod");
    Some(Problem::new("binding", message).at(place))
}

/// A pod is bound to trusted workers only, whoever binds it and whatever it tolerates.
pub(super) fn binding(ask: &Ask, known: &Known) -> Option<Problem> {
    if let Some(problem) = smuggled(&ask.object) {
        return Some(problem);
    }
    let node = text(&ask.object, &["target", "name"]);
    let name = match ask.name.as_str() {
        "" => text(&ask.object, &["metadata", "name"]),
        name => name,
    };
    let Some(pod) = known.get("Pod", &ask.namespace, name) else {
        let message = format!("the pod `{name}` is not known yet");
        return Some(Problem::new("unknown", message).fix(unready().fix.unwrap_or_default()));
    };
    if images::is_exempt(field(pod, "spec"), &ask.namespace, known) {
        return None;
    }
    match terms(&ask.namespace, known) {
        Err(problem) => Some(problem),
        Ok(terms) if !terms.enforced => None,
        Ok(_) if known.trusts(node) => None,
        Ok(_) => {
            let message = format!("the worker `{node}` is not trusted");
            Some(Problem::new("worker", message).at("target.name"))
        }
    }
}
