//! Why a pod of a cluster is trusted or not: the whole chain, and where it is broken.

use k8s_openapi::api::core::v1::Event;
use kube::api::ListParams;
use kube::{Api, Client};
use serde::Serialize;
use serde_json::Value;

use super::{has_readiness_gate, is_held, json, known, said, word};
use crate::cluster::admission::images::{self, is_exempt};
use crate::cluster::admission::model::Checker;
use crate::cluster::connect::{ClusterFault, Reached, block_on};
use crate::cluster::known::{Known, Set};
use crate::cluster::names::{MIRROR, READINESS_GATE, SCHEDULING_GATE, SIGNATURE, TENANT};
use crate::cluster::object::{
    Workload, annotation, at, field, items, label, name, namespace, text, uid,
};
use crate::logs::shown;

/// A link in the chain that makes a pod trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Link {
    /// What it is about.
    pub about: &'static str,
    /// Whether it holds; null if that is not known yet, or not asked.
    pub holds: Option<bool>,
    /// What is known, in lines.
    pub said: Vec<String>,
}

/// The chain that makes a pod trusted, and where it is broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Why {
    /// Namespace and name.
    pub pod: String,
    /// Its UID.
    pub uid: String,
    /// Whether it is trusted, in a word.
    pub trust: String,
    /// The first link that does not hold.
    pub failed: Option<&'static str>,
    /// The links, in the order in which they are made.
    pub chain: Vec<Link>,
    /// What was said of the pod, oldest first.
    pub events: Vec<String>,
}

/// Why a pod is trusted or not, from the cluster's objects.
pub fn why(pod: &Value, known: &Known, checker: &Checker, events: Vec<String>) -> Why {
    let sets = known.sets(namespace(pod));
    let chain = vec![
        rules(pod, &sets, known, checker),
        pictures(pod, known),
        tenancy(pod, &sets),
        worker(pod, known),
        evidence(pod, known),
    ];
    let failed = chain.iter().find(|link| link.holds == Some(false));
    Why {
        pod: format!("{}/{}", namespace(pod), name(pod)),
        uid: uid(pod).to_owned(),
        trust: said(pod, known).map_or_else(
            || "Unknown".to_owned(),
            |told| word(told, &["trust"], "Unknown"),
        ),
        failed: failed.map(|link| link.about),
        chain,
        events,
    }
}

fn rules(pod: &Value, sets: &[Set], known: &Known, checker: &Checker) -> Link {
    let mut link = Link {
        about: "rules",
        holds: Some(true),
        said: Vec::new(),
    };
    let exempt = is_exempt(field(pod, "spec"), namespace(pod), known);
    if exempt || annotation(pod, MIRROR).is_some() {
        link.holds = None;
        let why = if exempt {
            "all its images are exempt"
        } else {
            "it is a static pod"
        };
        link.said.push(format!("not asked: {why}"));
        return link;
    }
    if sets.is_empty() {
        link.holds = Some(false);
        link.said
            .push("no InvariantSet names the namespace".to_owned());
    }
    let Some(workload) = Workload::of_kind("", "Pod") else {
        return link;
    };
    for set in sets {
        let mode = if set.enforces() { "enforces" } else { "audits" };
        let standard = set.spec.pod_security.name();
        let verdict = checker.check(workload, pod, set, known);
        let found = verdict.errors.len();
        let told = match &set.problem {
            Some(problem) => format!("cannot be used: {problem}"),
            None if found == 0 => "nothing is wrong".to_owned(),
            None => format!("{found} wrong"),
        };
        link.said.push(format!(
            "InvariantSet `{}` {mode}, Pod Security `{standard}`: {told}",
            set.name
        ));
        let broken = set.problem.is_some() || found > 0;
        if broken && set.enforces() {
            link.holds = Some(false);
        }
        let problems = verdict.errors.iter().chain(&verdict.warnings);
        link.said
            .extend(problems.map(|problem| format!("  {problem}")));
    }
    link
}

fn pictures(pod: &Value, known: &Known) -> Link {
    let spec = field(pod, "spec");
    let problems = images::problems(spec, "spec", known);
    let mut said = Vec::new();
    for image in images::images(spec) {
        let found = image.digest().and_then(|digest| known.reference(digest));
        let told = match found {
            None => "in no reference value".to_owned(),
            Some(one) => {
                let exempt = text(one, &["spec", "exempt", "reason"]);
                let exempt = match exempt {
                    "" => String::new(),
                    reason => format!(", exempt: {reason}"),
                };
                format!("ReferenceImage `{}`{exempt}", name(one))
            }
        };
        said.push(format!("{}: {told}", image.reference));
    }
    said.extend(problems.iter().map(|problem| format!("  {problem}")));
    Link {
        about: "images",
        holds: Some(problems.is_empty()),
        said,
    }
}

fn tenancy(pod: &Value, sets: &[Set]) -> Link {
    let asked = sets.iter().any(|set| !set.spec.tenants.is_empty());
    let tenant = annotation(pod, TENANT);
    let (holds, told) = match (asked, tenant) {
        (_, Some(tenant)) => (Some(true), format!("it belongs to the tenant `{tenant}`")),
        (false, None) => (None, "not asked: no InvariantSet names tenants".to_owned()),
        (true, None) => (Some(false), "it belongs to no tenant".to_owned()),
    };
    let mut said = vec![told];
    if annotation(pod, SIGNATURE).is_some() {
        said.push("it is signed itself".to_owned());
    }
    Link {
        about: "tenant",
        holds,
        said,
    }
}

fn worker(pod: &Value, known: &Known) -> Link {
    let node = text(pod, &["spec", "nodeName"]);
    let mut said = Vec::new();
    if is_held(pod) {
        said.push(format!(
            "held back by the scheduling gate `{SCHEDULING_GATE}`"
        ));
    }
    let holds = if node.is_empty() {
        said.push("on no worker yet".to_owned());
        let trusted = known.all("Agent").filter(|agent| known.trusts(name(agent)));
        said.push(format!(
            "{} workers of the cluster are trusted",
            trusted.count()
        ));
        None
    } else {
        match known.get("Agent", "", node) {
            None => {
                said.push(format!("`{node}` is not registered: no Agent speaks of it"));
                Some(false)
            }
            Some(agent) => {
                let trust = word(agent, &["status", "trust"], "Unknown");
                let reason = text(agent, &["status", "reason"]);
                said.push(format!("`{node}` is {trust}: {reason}"));
                let checked = word(agent, &["status", "checked"], "never");
                said.push(format!("its last quote was judged: {checked}"));
                let cursor = at(agent, &["status", "cursor"]);
                if cursor.is_object() {
                    said.push(format!("its log was read up to: {cursor}"));
                }
                (trust != "Unknown").then_some(trust == "Trusted")
            }
        }
    };
    Link {
        about: "worker",
        holds,
        said,
    }
}

fn condition(pod: &Value) -> Option<&Value> {
    let conditions = items(at(pod, &["status", "conditions"]));
    conditions
        .iter()
        .find(|one| text(one, &["type"]) == READINESS_GATE)
}

fn evidence(pod: &Value, known: &Known) -> Link {
    let mut said = Vec::new();
    let mut holds = None;
    if !has_readiness_gate(pod) && super::said(pod, known).is_none() {
        said.push(format!(
            "not asked: it has no readiness gate `{READINESS_GATE}`"
        ));
    }
    match super::said(pod, known) {
        None => said.push("nothing was measured of it yet".to_owned()),
        Some(told) => {
            let trust = word(told, &["trust"], "Unknown");
            let reason = text(told, &["reason"]);
            let checked = word(told, &["checked"], "never");
            said.push(format!("{trust}, judged {checked}: {reason}"));
            holds = (trust != "Unknown").then_some(trust == "Trusted");
        }
    }
    if let Some(told) = condition(pod) {
        let (status, message) = (text(told, &["status"]), text(told, &["message"]));
        said.push(format!(
            "the condition `{READINESS_GATE}` is {status}: {message}"
        ));
    }
    let asked = known.within("AttestationRequest", namespace(pod));
    for request in asked.filter(|one| text(one, &["spec", "uid"]) == uid(pod)) {
        let trust = word(request, &["status", "trust"], "not answered");
        let reason = text(request, &["status", "reason"]);
        said.push(format!(
            "AttestationRequest `{}`: {trust}: {reason}",
            name(request)
        ));
    }
    Link {
        about: "evidence",
        holds,
        said,
    }
}

fn why_text(why: &Why) -> String {
    let mut out = format!("pod `{}` is {}\n", shown(&why.pod), shown(&why.trust));
    if let Some(failed) = why.failed {
        out.push_str(&format!("  it fails by: {failed}\n"));
    }
    for link in &why.chain {
        let mark = match link.holds {
            Some(true) => "holds",
            Some(false) => "FAILS",
            None => "open",
        };
        out.push_str(&format!("\n{:<9} {mark}\n", link.about));
        for line in &link.said {
            out.push_str(&format!("  {}\n", shown(line)));
        }
    }
    if !why.events.is_empty() {
        out.push_str("\nevents\n");
        for line in &why.events {
            out.push_str(&format!("  {}\n", shown(line)));
        }
    }
    out
}

/// What was said of an object, oldest first.
async fn events(client: &Client, object: &Value) -> Vec<String> {
    let events: Api<Event> = Api::namespaced(client.clone(), namespace(object));
    let about = format!("involvedObject.uid={}", uid(object));
    // Whoever may not read them is told the rest.
    let found = events.list(&ListParams::default().fields(&about)).await;
    let mut all: Vec<(String, String)> = found
        .map(|list| list.items)
        .unwrap_or_default()
        .into_iter()
        .map(|event| {
            let first = event.event_time.map(|time| time.0.to_string());
            let last = event.last_timestamp.map(|time| time.0.to_string());
            let when = last.or(first).unwrap_or_default();
            let reason = event.reason.unwrap_or_default();
            let message = event.message.unwrap_or_default();
            (when.clone(), format!("{when} {reason}: {message}"))
        })
        .collect();
    all.sort();
    all.into_iter().map(|(_, line)| line).collect()
}

/// Prints why a pod of a cluster is trusted or not.
///
/// # Errors
/// When the cluster does not answer, or has no such pod.
pub fn why_pod(subject: &str, reached: &Reached, json_wanted: bool) -> Result<(), String> {
    let Some((space, pod)) = subject.split_once('/') else {
        return Err(format!("`{}` is not NAMESPACE/POD", shown(subject)));
    };
    let asked = async {
        let (client, _) = reached.open().await?;
        let (known, unread) = known(&client).await?;
        let found = known.get("Pod", space, pod).cloned();
        let found = found.ok_or_else(|| {
            let hidden = match unread.contains(&"Pod") {
                true => "; you may not read pods",
                false => "",
            };
            ClusterFault::Object(format!("there is no pod `{}`{hidden}", shown(subject)))
        })?;
        let events = events(&client, &found).await;
        let mut why = why(&found, &known, &Checker::default(), events);
        if !unread.is_empty() {
            let link = Link {
                about: "unread",
                holds: None,
                said: vec![format!("you may not read: {}", unread.join(", "))],
            };
            why.chain.push(link);
        }
        tracing::debug!(pod = label(&found), "explained");
        Ok::<Why, ClusterFault>(why)
    };
    let why = block_on(asked)?;
    match json_wanted {
        true => println!("{}", json(&why)?),
        false => print!("{}", why_text(&why)),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const DIGEST: &str = "sha256:9341b6548cc35b64a6de0085555264336e2f570e17ecff20190bf62222f2bd64";

    fn cluster(trust: &str, image: &str) -> (Value, Known) {
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "shop", "uid": "u"},
            "spec": {
                "nodeName": "one", "readinessGates": [{"conditionType": "locus.dev/attested"}],
                "containers": [{"name": "c", "image": image}],
            },
        });
        let mut known = Known::default();
        known.replace("Pod", [pod.clone()]);
        known.replace(
            "Node",
            [
                json!({"metadata": {"name": "one"}}),
                json!({"metadata": {"name": "two"}}),
            ],
        );
        known.replace(
            "InvariantSet",
            [json!({"metadata": {"name": "shop"}, "spec": {"namespaces": ["shop"]}})],
        );
        known.replace(
            "ReferenceImage",
            [json!({"metadata": {"name": "web"}, "spec": {"image": "web", "manifest": DIGEST}})],
        );
        known.replace("Agent", [json!({"metadata": {"name": "one"}, "status": {
            "trust": "Trusted", "reason": "everything was proven", "checked": "2026-11-18T19:00:00Z",
            "pods": [{"uid": "u", "namespace": "shop", "name": "web", "trust": trust, "reason": "it ran `/miner`"}],
        }})]);
        (pod, known)
    }

    #[test]
    fn the_chain_says_what_failed_first() {
        let web = format!("web@{DIGEST}");
        let (pod, known) = cluster("Untrusted", &web);
        let told = why(
            &pod,
            &known,
            &Checker::default(),
            vec!["t Evicted: m".to_owned()],
        );
        assert_eq!(told.failed, Some("evidence"), "{told:#?}");
        let text = why_text(&told);
        assert!(
            text.contains("it ran `/miner`") && text.contains("t Evicted: m"),
            "{text}"
        );
        let (pod, known) = cluster("Trusted", &web);
        let told = why(&pod, &known, &Checker::default(), Vec::new());
        assert_eq!(
            (told.failed, told.trust.as_str()),
            (None, "Trusted"),
            "{told:#?}"
        );
        let (pod, known) = cluster("Trusted", "web:1");
        let told = why(&pod, &known, &Checker::default(), Vec::new());
        assert_eq!(told.failed, Some("images"), "{told:#?}");
    }
}
