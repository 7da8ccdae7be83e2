//! Orphans: pods on workers that no Agent, tenant or owner knows, or that came past the gate.

use serde_json::Value;

use super::pods::{is_held, is_over};
use super::{Action, Facts, Note, OnOrphans, Target, leaves_soon};
use crate::cluster::admission::images;
use crate::cluster::known::{Known, WATCHED};
use crate::cluster::names::{MIRROR, TENANT};
use crate::cluster::object::{annotation, controller, field, group, namespace, text, uid};

/// How long a pod has to be an orphan before that is said, in milliseconds: each kind of object is heard of by itself, an owner
/// perhaps after its pods.
const HEARD: i64 = 3_000;

/// Why a pod is an orphan, if it is one.
fn orphaned(known: &Known, pod: &Value) -> Option<String> {
    let node = text(pod, &["spec", "nodeName"]);
    if node.is_empty() || leaves_soon(pod) || is_over(pod) {
        return None;
    }
    if known.get("Node", "", node).is_none() {
        return Some(format!("its node `{node}` is not in the cluster"));
    }
    if known.get("Agent", "", node).is_none() {
        return Some(format!("no Agent knows its node `{node}`"));
    }
    if let Some(owner) = controller(pod) {
        let of = (group(text(owner, &["apiVersion"])), text(owner, &["kind"]));
        let watched = WATCHED.iter().any(|kind| (kind.group, kind.kind) == of);
        if watched && known.owner(namespace(pod), owner).is_none() && of.1 != "Node" {
            let name = text(owner, &["name"]);
            return Some(format!("its owner, the {} `{name}`, is not there", of.1));
        }
    }
    if let (Some(tenant), true) = (annotation(pod, TENANT), known.tenants.is_some())
        && known.tenant(tenant).is_none()
    {
        return Some(format!("its tenant `{tenant}` is not known"));
    }
    let spec = field(pod, "spec");
    if is_held(pod) || images::is_exempt(spec, namespace(pod), known) {
        return None;
    }
    if annotation(pod, MIRROR).is_some() {
        let unknown = images::problems(spec, "spec", known).into_iter().next();
        return unknown.map(|problem| format!("a static pod: {}", problem.message));
    }
    let sets = known.sets(namespace(pod));
    let reports = !sets.is_empty()
        && sets
            .iter()
            .all(|set| !set.enforces() && set.problem.is_none());
    (!reports).then(|| "it was not let in by the gate".to_owned())
}

/// The pods that are orphans now, by UID.
pub fn found(known: &Known) -> impl Iterator<Item = (&str, &Value, String)> {
    known.all("Pod").filter_map(|pod| {
        let why = orphaned(known, pod)?;
        Some((uid(pod), pod.as_ref(), why))
    })
}

pub(super) fn due(facts: &Facts<'_>, due: &mut Vec<Action>) {
    for (uid, pod, why) in found(facts.known) {
        let since = facts.orphans.get(uid).copied().unwrap_or(facts.now);
        let age = facts.now.millis_since(since);
        let old = age >= facts.settings.orphan_grace.saturating_mul(1000);
        let note = Note::new(true, "Orphan", format!("nobody knows this pod: {why}"));
        let target = Target::of(pod);
        // What a kubelet runs by itself comes back: there is nothing to be removed.
        let static_pod = annotation(pod, MIRROR).is_some();
        if facts.settings.orphans == OnOrphans::Remove && old && !static_pod {
            due.push(Action::Remove(target, note));
        } else if age >= HEARD {
            due.push(Action::Say(target, note));
        }
    }
}
