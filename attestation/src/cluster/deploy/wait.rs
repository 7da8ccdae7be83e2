//! Waiting for the second verdict: every pod of what was applied is attested and ready, or one of them failed.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use k8s_openapi::api::apps::v1::ReplicaSet;
use k8s_openapi::api::core::v1::{Event, Pod};
use kube::api::ListParams;
use kube::{Api, Client};
use serde_json::Value;

use super::manifests::workload;
use super::{Ended, count};
use crate::cluster::connect::{ClusterFault, api};
use crate::cluster::names::{READINESS_GATE, SCHEDULING_GATE};
use crate::cluster::object::{
    annotation, at, controller, field, items, label, name, namespace, put, text, uid,
};
use crate::cluster::resources::{Agent, TrustWord};
use crate::logs::shown;

const PERIOD: Duration = Duration::from_millis(500);
/// By whom the gate's events are.
const GATE: &str = "locus.dev/gate";

/// What came of the attestation.
pub(super) enum Attested {
    /// Nothing of it has pods of its own now.
    Nothing,
    /// All pods are attested and ready; so many of them were asked to be attested.
    Well(usize, usize),
    /// A pod failed, and why.
    Failed(String),
    /// The gate refused to let a pod go, and why.
    Refused(String),
    /// There was no verdict in time: what each pod waits for.
    Late(Vec<String>),
}

impl Attested {
    pub(super) fn ended(&self) -> Ended {
        match self {
            Attested::Nothing | Attested::Well(..) => Ended::Well,
            Attested::Failed(_) => Ended::Untrusted,
            Attested::Refused(_) => Ended::Refused,
            Attested::Late(_) => Ended::Unanswered,
        }
    }

    pub(super) fn text(&self) -> String {
        match self {
            Attested::Nothing => "nothing to attest: no pods of their own".to_owned(),
            Attested::Well(all, 0) => {
                format!("not asked for; {} ready", count(*all, "pod"))
            }
            Attested::Well(all, attested) => {
                format!(
                    "passed, {} of {} attested, all ready",
                    attested,
                    count(*all, "pod")
                )
            }
            Attested::Failed(why) => format!("failed\n  {why}"),
            Attested::Refused(why) => {
                format!("not begun: the model check failed in the cluster\n  {why}")
            }
            Attested::Late(pods) => {
                format!("no verdict in time\n  {}", pods.join("\n  "))
            }
        }
    }
}

/// Where a pod stands.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stand {
    Waits(String),
    /// Ready; whether it was attested.
    Ready(bool),
    Failed(String),
}

/// Waits until all pods are ready, one failed, or the time is over.
pub(super) async fn wait(
    client: &Client,
    applied: &[Value],
    patience: Duration,
) -> Result<Attested, ClusterFault> {
    let has_pods = |object: &&Value| {
        workload(object).is_some_and(|one| !matches!(one.kind, "CronJob" | "PodTemplate"))
    };
    let all: Vec<&Value> = applied.iter().filter(has_pods).collect();
    if all.is_empty() {
        return Ok(Attested::Nothing);
    }
    let start = Instant::now();
    // What was last said of each pod, and whether it was attested once.
    let mut told: BTreeMap<String, (String, String)> = BTreeMap::new();
    loop {
        let mut late = Vec::new();
        let (mut ready, mut attested) = (0, 0);
        for object in &all {
            let api = api(client, object, namespace(object)).await?;
            let Some(now) = api.get_opt(name(object)).await? else {
                let why = format!("{} is not there any more", label(object));
                return Ok(Attested::Failed(because(client, object, why).await));
            };
            let now = serde_json::to_value(&now)
                .map_err(|error| ClusterFault::Object(error.to_string()))?;
            if uid(&now) != uid(object) {
                return Ok(Attested::Failed(format!("{} was replaced", label(object))));
            }
            let (wanted, pods) = pods(client, object, &now).await?;
            for pod in &pods {
                let entry = told.entry(uid(pod).to_owned()).or_default();
                entry.0 = label(pod);
            }
            // A pod may be gone before its state was seen here: what the gate said of it stays.
            if let Some(ended) = said(client, namespace(object), &told).await {
                return Ok(ended);
            }
            for pod in &pods {
                let stand = stand(client, pod).await;
                let what = label(pod);
                let text = match &stand {
                    Stand::Waits(why) => why.clone(),
                    Stand::Ready(true) => "attested and ready".to_owned(),
                    Stand::Ready(false) => "ready".to_owned(),
                    Stand::Failed(why) => {
                        return Ok(Attested::Failed(
                            because(client, pod, format!("{}: {}", shown(&what), shown(why))).await,
                        ));
                    }
                };
                let before = told.insert(uid(pod).to_owned(), (what.clone(), text.clone()));
                if before.is_none_or(|(_, before)| before != text) {
                    eprintln!("{}: {}", shown(&what), shown(&text));
                }
                match stand {
                    Stand::Ready(was) => {
                        ready += 1;
                        attested += usize::from(was);
                    }
                    _ => late.push(format!("{}: {}", shown(&what), shown(&text))),
                }
            }
            if pods.len() < wanted {
                late.push(format!(
                    "{}: {} of {} there",
                    shown(&label(object)),
                    pods.len(),
                    count(wanted, "pod")
                ));
            }
        }
        if late.is_empty() {
            return Ok(Attested::Well(ready, attested));
        }
        if start.elapsed() >= patience {
            return Ok(Attested::Late(late));
        }
        tokio::time::sleep(PERIOD).await;
    }
}

/// What the gate said against one of some pods, as events.
async fn said(
    client: &Client,
    space: &str,
    pods: &BTreeMap<String, (String, String)>,
) -> Option<Attested> {
    let events: Api<Event> = Api::namespaced(client.clone(), space);
    let warnings = ListParams::default().fields("type=Warning");
    // Who may not read them sees the state of pods all the same.
    let list = events.list(&warnings).await.ok()?;
    for event in list.items {
        let by_gate = event.reporting_component.as_deref() == Some(GATE);
        let about = event.involved_object.uid.unwrap_or_default();
        let (Some((pod, _)), true) = (pods.get(&about), by_gate) else {
            continue;
        };
        let reason = event.reason.unwrap_or_default();
        let message = shown(&event.message.unwrap_or_default());
        let why = format!("{}: {message}", shown(pod));
        match reason.as_str() {
            "PodUntrusted" | "Evicted" | "Deleted" => return Some(Attested::Failed(why)),
            "Refused" => return Some(Attested::Refused(why)),
            _ => {}
        }
    }
    None
}

/// How many pods a workload wants, and those of its newest form that there are.
async fn pods(
    client: &Client,
    applied: &Value,
    now: &Value,
) -> Result<(usize, Vec<Value>), ClusterFault> {
    let kind = text(applied, &["kind"]);
    let mut now = now.clone();
    put(&mut now, &["kind"], field(applied, "kind").clone());
    if kind == "Pod" {
        return Ok((1, vec![now]));
    }
    let number = |path: &[&str], otherwise: u64| {
        let found = at(&now, path).as_u64().unwrap_or(otherwise);
        usize::try_from(found).unwrap_or(usize::MAX)
    };
    let observed = at(&now, &["status", "observedGeneration"])
        .as_i64()
        .unwrap_or(0);
    let asked = at(&now, &["metadata", "generation"]).as_i64().unwrap_or(0);
    let wanted = match kind {
        // How many nodes there are, its controller says.
        "DaemonSet" if observed < asked => 1,
        "DaemonSet" => number(&["status", "desiredNumberScheduled"], 0),
        "Job" => number(&["spec", "parallelism"], 1),
        _ => number(&["spec", "replicas"], 1),
    };
    let owner = match kind {
        "Deployment" => match newest(client, &now).await? {
            Some(owner) => owner,
            None => return Ok((wanted, Vec::new())),
        },
        _ => uid(&now).to_owned(),
    };
    let revision = match kind {
        "StatefulSet" => text(&now, &["status", "updateRevision"]),
        _ => "",
    };
    let all: Api<Pod> = Api::namespaced(client.clone(), namespace(&now));
    let list = all.list(&ListParams::default()).await?;
    let mut found = Vec::new();
    for pod in &list.items {
        let mut pod =
            serde_json::to_value(pod).map_err(|error| ClusterFault::Object(error.to_string()))?;
        put(&mut pod, &["kind"], "Pod".into());
        let mine = controller(&pod).is_some_and(|one| text(one, &["uid"]) == owner);
        let hash = text(&pod, &["metadata", "labels", "controller-revision-hash"]);
        if mine && (revision.is_empty() || hash == revision) {
            found.push(pod);
        }
    }
    Ok((wanted, found))
}

/// The UID of the ReplicaSet with a Deployment's newest revision.
async fn newest(client: &Client, deployment: &Value) -> Result<Option<String>, ClusterFault> {
    const REVISION: &str = "deployment.kubernetes.io/revision";
    let observed = at(deployment, &["status", "observedGeneration"])
        .as_i64()
        .unwrap_or(0);
    let asked = at(deployment, &["metadata", "generation"])
        .as_i64()
        .unwrap_or(0);
    if observed < asked {
        return Ok(None);
    }
    let sets: Api<ReplicaSet> = Api::namespaced(client.clone(), namespace(deployment));
    let list = sets.list(&ListParams::default()).await?;
    for set in &list.items {
        let set =
            serde_json::to_value(set).map_err(|error| ClusterFault::Object(error.to_string()))?;
        let mine = controller(&set).is_some_and(|one| text(one, &["uid"]) == uid(deployment));
        if mine && annotation(&set, REVISION) == annotation(deployment, REVISION) {
            return Ok(Some(uid(&set).to_owned()));
        }
    }
    Ok(None)
}

fn condition<'p>(pod: &'p Value, kind: &str) -> Option<&'p Value> {
    let mut conditions = items(at(pod, &["status", "conditions"])).iter();
    conditions.find(|one| text(one, &["type"]) == kind)
}

/// Where a pod stands, and what it waits for.
async fn stand(client: &Client, pod: &Value) -> Stand {
    let is = |kind: &str| condition(pod, kind).is_some_and(|one| text(one, &["status"]) == "True");
    let gated = items(at(pod, &["spec", "readinessGates"]))
        .iter()
        .any(|gate| text(gate, &["conditionType"]) == READINESS_GATE);
    let phase = text(pod, &["status", "phase"]);
    let trust = trust(client, pod).await;
    if let Some((TrustWord::Untrusted, reason)) = &trust {
        return Stand::Failed(format!("not trusted: {reason}"));
    }
    if text(pod, &["status", "reason"]) == "Evicted" || condition(pod, "DisruptionTarget").is_some()
    {
        return Stand::Failed("evicted".to_owned());
    }
    match phase {
        "Failed" => {
            let why = text(pod, &["status", "message"]);
            return Stand::Failed(format!("it failed: {why}"));
        }
        "Succeeded" => return Stand::Ready(is(READINESS_GATE)),
        _ => {}
    }
    if !at(pod, &["metadata", "deletionTimestamp"]).is_null() {
        return Stand::Waits("is being removed".to_owned());
    }
    let held = items(at(pod, &["spec", "schedulingGates"]));
    if held
        .iter()
        .any(|gate| text(gate, &["name"]) == SCHEDULING_GATE)
    {
        return Stand::Waits("waits for the model check and a trusted worker".to_owned());
    }
    let node = text(pod, &["spec", "nodeName"]);
    if node.is_empty() {
        let why = condition(pod, "PodScheduled").map_or("", |one| text(one, &["message"]));
        return Stand::Waits(format!("waits for a node: {why}"));
    }
    if !is("ContainersReady") {
        return Stand::Waits(format!("starts on `{node}`"));
    }
    if gated && !is(READINESS_GATE) {
        let why = condition(pod, READINESS_GATE).map_or("", |one| text(one, &["message"]));
        let colon = if why.is_empty() { "" } else { ": " };
        return Stand::Waits(format!(
            "runs on `{node}`, and waits for its attestation{colon}{why}"
        ));
    }
    match is("Ready") {
        true => Stand::Ready(gated),
        false => Stand::Waits("waits to be ready".to_owned()),
    }
}

/// What the gate says of a pod on the worker it is on; nothing if that may not be read.
async fn trust(client: &Client, pod: &Value) -> Option<(TrustWord, String)> {
    let node = text(pod, &["spec", "nodeName"]);
    if node.is_empty() {
        return None;
    }
    let agents: Api<Agent> = Api::all(client.clone());
    let agent = agents.get_opt(node).await.ok()??;
    let pods = agent.status?.pods;
    let found = pods.into_iter().find(|known| known.uid == uid(pod))?;
    Some((found.trust, found.reason))
}

/// What failed, with the newest warnings about it.
async fn because(client: &Client, object: &Value, why: String) -> String {
    let events: Api<Event> = Api::namespaced(client.clone(), namespace(object));
    let about = format!("involvedObject.uid={},type=Warning", uid(object));
    let found = events.list(&ListParams::default().fields(&about)).await;
    let mut text = why;
    let items = found.map(|list| list.items).unwrap_or_default();
    for event in items.iter().rev().take(3) {
        let reason = event.reason.as_deref().unwrap_or_default();
        let message = event.message.as_deref().unwrap_or_default();
        text.push_str(&format!("\n  {}: {}", shown(reason), shown(message)));
    }
    text
}
