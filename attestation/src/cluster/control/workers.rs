//! Workers: a node joins, is registered, attested, opened to pods, and closed when it loses trust.

use serde_json::Value;

use super::{Action, Facts, Note, OnUntrusted, Target, created, has_taint, is_leaving, written};
use crate::cluster::names::{ADDRESS, CORDONED};
use crate::cluster::object::{annotation, at, field, items, name, namespace, text};
use crate::cluster::resources::{AgentStatus, Cursor, PodTrust, TrustWord};
use crate::verifier::{PodStatus, Trust};

/// How long a worker may be without its Agent before it is forgotten: the Agent of a node that comes back is made anew.
const LEFT: i64 = 60_000;

pub(super) fn due(facts: &Facts<'_>, due: &mut Vec<Action>) {
    for node in facts.known.all("Node").filter(|node| !is_leaving(node)) {
        let agent = facts.known.get("Agent", "", name(node));
        match agent.filter(|agent| !is_leaving(agent)) {
            None => {
                due.extend(address(node, facts.settings.agent_port).map(|address| {
                    Action::MakeAgent {
                        node: Target::of(node),
                        address,
                    }
                }));
                // It may have been trusted before.
                if !has_taint(node) {
                    due.push(Action::Taint(Target::of(node), true));
                }
            }
            Some(agent) => known(facts, node, agent, due),
        }
    }
    for agent in facts.known.all("Agent").filter(|agent| !is_leaving(agent)) {
        if facts.known.get("Node", "", name(agent)).is_none() {
            alone(facts, agent, due);
        }
    }
    for (worker, status) in &facts.workers {
        let joined = ["Agent", "Node"].iter();
        let left = joined
            .clone()
            .all(|kind| facts.known.get(kind, "", worker).is_none());
        if left && facts.now.millis_since(status.checked) >= LEFT {
            due.push(Action::RemoveWorker(worker.clone()));
        }
    }
}

/// Where the agent of a node listens.
fn address(node: &Value, port: u16) -> Option<String> {
    if let Some(said) = annotation(node, ADDRESS) {
        return Some(said.to_owned());
    }
    let mut addresses = items(at(node, &["status", "addresses"])).iter();
    let internal = addresses.find(|one| text(one, &["type"]) == "InternalIP")?;
    let address = text(internal, &["address"]);
    match address.contains(':') {
        true => Some(format!("[{address}]:{port}")),
        false => Some(format!("{address}:{port}")),
    }
}

/// A node whose Agent is there.
fn known(facts: &Facts<'_>, node: &Value, agent: &Value, due: &mut Vec<Action>) {
    let worker = name(node);
    let (trust, reason) = facts.trust(node);
    register(facts, worker, agent, due);
    report(facts, agent, (trust, reason), Some(node), due);
    let waiting = waiting(facts, worker);
    // Trust that was proven before its node joined is as good as none.
    if facts.workers.contains_key(worker)
        && (trust == Trust::Unknown || (trust == Trust::Trusted && !waiting.is_empty()))
    {
        due.push(Action::Attest {
            worker: worker.to_owned(),
            pods: waiting,
        });
    }
    let target = Target::of(node);
    let trusted = trust == Trust::Trusted;
    if has_taint(node) == trusted {
        due.push(Action::Taint(target.clone(), !trusted));
    }
    let closed = field(field(node, "spec"), "unschedulable").as_bool() == Some(true);
    let by_us = annotation(node, CORDONED).is_some();
    match trust {
        Trust::Untrusted if facts.settings.untrusted >= OnUntrusted::Delete => {
            due.push(Action::DeleteNode(target));
        }
        Trust::Untrusted if facts.settings.untrusted >= OnUntrusted::Cordon && !closed => {
            due.push(Action::Cordon(target, true));
        }
        Trust::Trusted if closed && by_us => due.push(Action::Cordon(target, false)),
        _ => {}
    }
}

/// An Agent without a node: entered before its node joined, or after it left.
fn alone(facts: &Facts<'_>, agent: &Value, due: &mut Vec<Action>) {
    register(facts, name(agent), agent, due);
    let reason = "its node is not in the cluster".to_owned();
    report(facts, agent, (Trust::Unknown, reason), None, due);
}

fn register(facts: &Facts<'_>, worker: &str, agent: &Value, due: &mut Vec<Action>) {
    let address = text(agent, &["spec", "address"]);
    let wanted = match facts.workers.get(worker) {
        None => true,
        // An untrusted worker comes back by its operator alone.
        Some(known) => known.address != address && known.trust != Trust::Untrusted,
    };
    if wanted && !address.is_empty() {
        due.push(Action::Register {
            worker: worker.to_owned(),
            address: address.to_owned(),
        });
    }
}

/// The pods of a worker that are known with all their containers, and of which nothing is concluded yet.
fn waiting(facts: &Facts<'_>, worker: &str) -> Vec<(String, u64)> {
    let here = facts.pods.iter().filter(|(_, known)| {
        let whole = known.pod.containers.iter().any(|one| one.id.is_some());
        known.pod.worker == worker && known.trust == Trust::Unknown && whole
    });
    here.map(|(uid, known)| (uid.clone(), known.generation))
        .collect()
}

/// Says what is known of a worker, if the Agent says something else.
fn report(
    facts: &Facts<'_>,
    agent: &Value,
    (trust, reason): (Trust, String),
    node: Option<&Value>,
    due: &mut Vec<Action>,
) {
    let worker = facts.workers.get(name(agent));
    let pods: Vec<PodTrust> = facts
        .pods
        .values()
        .filter(|known| known.pod.worker == name(agent))
        .map(pod_trust)
        .collect();
    let untrusted = pods.iter().filter(|pod| pod.trust == TrustWord::Untrusted);
    let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    let status = AgentStatus {
        trust: trust.into(),
        reason: cut(&reason, 1000),
        checked: worker.and_then(|worker| written(worker.checked)),
        cursor: worker.map(|worker| Cursor {
            generation: i64::try_from(worker.generation).unwrap_or(i64::MAX),
            version: i64::try_from(worker.version).unwrap_or(i64::MAX),
        }),
        pod_count: count(pods.len()),
        untrusted_pods: count(untrusted.count()),
        pods,
    };
    let said: Option<AgentStatus> = serde_json::from_value(field(agent, "status").clone()).ok();
    if said.as_ref() == Some(&status) {
        return;
    }
    let before = said.unwrap_or_default();
    let changed = before.trust != status.trust
        || (before.checked.is_none() && before.reason != status.reason);
    let note = node.filter(|_| changed).map(|node| {
        let (warning, word) = match status.trust {
            TrustWord::Trusted => (false, "WorkerTrusted"),
            TrustWord::Unknown => (false, "WorkerUnknown"),
            TrustWord::Untrusted => (true, "WorkerUntrusted"),
        };
        let word = Note::new(warning, word, cut(&status.reason, 900));
        (word, Target::of(node))
    });
    due.push(Action::Report {
        agent: Target::of(agent),
        status: Box::new(status),
        note,
    });
}

fn pod_trust(known: &PodStatus) -> PodTrust {
    let tenant = (known.pod.tenant != super::CLUSTER).then(|| known.pod.tenant.to_string());
    PodTrust {
        uid: known.pod.uid.to_string(),
        namespace: known.pod.namespace.clone(),
        name: known.pod.name.clone(),
        tenant,
        trust: known.trust.into(),
        reason: cut(&known.reason, 500),
        checked: written(known.checked),
    }
}

/// A text that is not longer than it may be.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Whether a new pod may go to a node now: it is trusted and takes pods.
pub(super) fn takes_pods(facts: &Facts<'_>, node: &Value) -> bool {
    let closed = field(field(node, "spec"), "unschedulable").as_bool() == Some(true);
    debug_assert!(namespace(node).is_empty());
    !closed
        && !is_leaving(node)
        && created(node).is_some()
        && facts.trust(node).0 == Trust::Trusted
        && facts.known.trusts(name(node))
}
