//! The trust in a cluster at a glance.

use clap::Args;
use serde::Serialize;

use super::{Shown, has_readiness_gate, is_held, json, known, said, word};
use crate::cluster::connect::{Reached, block_on};
use crate::cluster::known::Known;
use crate::cluster::object::{at, items, name, namespace, text};
use crate::logs::shown;

/// The trust in a cluster.
#[derive(Args, Clone, Debug)]
pub struct StatusArgs {
    /// How to print
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    format: Shown,
    #[command(flatten)]
    reached: Reached,
}

/// A worker, in a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkerLine {
    /// The name of its node.
    pub node: String,
    /// Whether it is trusted, in a word.
    pub trust: String,
    /// When that was decided.
    pub checked: String,
    /// How many pods it has that are known.
    pub pods: usize,
    /// Why.
    pub reason: String,
}

/// A pod, in a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PodLine {
    /// Namespace and name.
    pub pod: String,
    /// Where it is.
    pub node: String,
    /// Whether it is trusted, in a word.
    pub trust: String,
    /// When that was decided.
    pub checked: String,
    /// Why.
    pub reason: String,
}

/// The trust in a cluster at a glance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// Every node, also those that no Agent speaks of.
    pub workers: Vec<WorkerLine>,
    /// The pods that the gate holds back, or that are not trusted.
    pub pods: Vec<PodLine>,
    /// How many pods are trusted.
    pub trusted_pods: usize,
    /// What is wrong with InvariantSets.
    pub problems: Vec<String>,
}

impl Status {
    /// Whether everything is trusted.
    pub fn is_good(&self) -> bool {
        let workers = self.workers.iter().all(|one| one.trust == "Trusted");
        workers && self.pods.is_empty() && self.problems.is_empty()
    }
}

/// The trust in a cluster, from its objects.
pub fn status(known: &Known) -> Status {
    let mut status = Status::default();
    for agent in known.all("Agent") {
        status.workers.push(WorkerLine {
            node: name(agent).to_owned(),
            trust: word(agent, &["status", "trust"], "Unknown"),
            checked: word(agent, &["status", "checked"], ""),
            pods: items(at(agent, &["status", "pods"])).len(),
            reason: word(agent, &["status", "reason"], "not attested yet"),
        });
    }
    for node in known.all("Node") {
        let node = name(node);
        if known.get("Agent", "", node).is_none() {
            status.workers.push(WorkerLine {
                node: node.to_owned(),
                trust: "Unknown".to_owned(),
                checked: String::new(),
                pods: 0,
                reason: "no Agent speaks of it: it is not registered".to_owned(),
            });
        }
    }
    status
        .workers
        .sort_by(|one, other| one.node.cmp(&other.node));
    for pod in known.all("Pod") {
        let ours = is_held(pod) || has_readiness_gate(pod);
        let told = said(pod, known);
        let trust = told.map_or_else(
            || "Unknown".to_owned(),
            |told| word(told, &["trust"], "Unknown"),
        );
        if trust == "Trusted" {
            status.trusted_pods += 1;
        }
        if trust == "Trusted" || !ours && told.is_none() {
            continue;
        }
        let reason = match told {
            _ if is_held(pod) => "waits for the model check and a trusted worker".to_owned(),
            Some(told) => word(told, &["reason"], ""),
            None => "not attested yet".to_owned(),
        };
        status.pods.push(PodLine {
            pod: format!("{}/{}", namespace(pod), name(pod)),
            node: word(pod, &["spec", "nodeName"], ""),
            trust,
            checked: told.map_or_else(String::new, |told| word(told, &["checked"], "")),
            reason,
        });
    }
    for set in known.all("InvariantSet") {
        let problem = text(set, &["status", "problem"]);
        if !problem.is_empty() {
            status
                .problems
                .push(format!("InvariantSet `{}`: {problem}", name(set)));
        }
    }
    status
}

impl StatusArgs {
    /// Prints it; true if something is not trusted.
    ///
    /// # Errors
    /// When the cluster does not answer, or may not be read.
    pub fn run(self) -> Result<bool, String> {
        let read = async {
            let (client, _) = self.reached.open().await?;
            known(&client).await
        };
        let (known, unread) = block_on(read)?;
        if unread.contains(&"Agent") {
            return Err(
                "the cluster has no Agents, or you may not read them: see `locus gate install`"
                    .to_owned(),
            );
        }
        for kind in &unread {
            eprintln!("note: objects of the kind {kind} could not be read");
        }
        let status = status(&known);
        match self.format {
            Shown::Json => println!("{}", json(&status)?),
            Shown::Text => print!("{}", status_text(&status)),
        }
        Ok(!status.is_good())
    }
}

fn status_text(status: &Status) -> String {
    let count = |trust: &str| {
        status
            .workers
            .iter()
            .filter(|one| one.trust == trust)
            .count()
    };
    let mut out = format!(
        "workers: {} trusted, {} unknown, {} untrusted\npods: {} trusted, {} not\n\n",
        count("Trusted"),
        count("Unknown"),
        count("Untrusted"),
        status.trusted_pods,
        status.pods.len(),
    );
    let rows: Vec<[String; 5]> = status
        .workers
        .iter()
        .map(|one| {
            let all = [
                &one.node,
                &one.trust,
                &one.checked,
                &one.pods.to_string(),
                &one.reason,
            ];
            all.map(|cell| shown(cell))
        })
        .collect();
    out.push_str(&crate::client::table(
        ["WORKER", "TRUST", "CHECKED", "PODS", "REASON"],
        &rows,
    ));
    if !status.pods.is_empty() {
        let rows: Vec<[String; 4]> = status
            .pods
            .iter()
            .map(|one| [&one.pod, &one.trust, &one.node, &one.reason].map(|cell| shown(cell)))
            .collect();
        out.push('\n');
        out.push_str(&crate::client::table(
            ["POD", "TRUST", "WORKER", "REASON"],
            &rows,
        ));
    }
    for problem in &status.problems {
        out.push_str(&format!("\nproblem: {}\n", shown(problem)));
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_node_that_no_agent_speaks_of_is_not_passed_over() {
        let mut known = Known::default();
        known.replace(
            "Node",
            ["one", "two"].map(|name| json!({"metadata": {"name": name}})),
        );
        let gates = json!([{"conditionType": "locus.dev/attested"}]);
        known.replace(
            "Pod",
            [json!({"metadata": {"name": "web", "namespace": "shop", "uid": "u"}, "spec": {"readinessGates": gates}})],
        );
        let pod = json!({"uid": "u", "trust": "Trusted"});
        known.replace(
            "Agent",
            [json!({"metadata": {"name": "one"}, "status": {"trust": "Trusted", "pods": [pod]}})],
        );
        let told = status(&known);
        assert!(!told.is_good());
        assert_eq!(told.trusted_pods, 1);
        let two = told.workers.iter().find(|one| one.node == "two").unwrap();
        assert_eq!(two.trust, "Unknown");
        let text = status_text(&told);
        assert!(
            text.starts_with(
                "workers: 1 trusted, 1 unknown, 0 untrusted\npods: 1 trusted, 0 not\n"
            ),
            "{text}"
        );
    }
}
