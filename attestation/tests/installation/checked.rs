//! What is installed, judged by the library: its rules, who can come to what, and who reaches whom.

use std::collections::BTreeSet;
use std::fs;

use locus::report::{Format, Style};
use locus::session::{Batch, Cancel, Discovery, Given, Project, Session, Snapshot};
use locus_core::Severity;
use locus_frontends::language::{Able, RightsQuestion};
use tempfile::TempDir;

use crate::world::{image, printed};

struct Installation {
    folder: TempDir,
    snapshot: Snapshot,
}

fn arguments() -> (String, String) {
    (image("gate", 'a'), image("agent", 'b'))
}

impl Installation {
    fn make() -> Self {
        Self::make_with(&[])
    }

    fn make_with(more: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        let (gate, agent) = arguments();
        let first = ["install", "made", "--image", &gate, "--agent-image", &agent];
        let text = printed(folder.path(), &[&first, more].concat());
        fs::create_dir(folder.path().join("manifests")).unwrap();
        fs::write(folder.path().join("manifests/locus.yaml"), text).unwrap();
        let snapshot = Session::new().forgetful().snapshot();
        Installation { folder, snapshot }
    }

    fn paths(&self) -> Vec<std::path::PathBuf> {
        vec![self.folder.path().join("manifests")]
    }

    fn check(&self) -> Batch {
        let given = Given::default();
        let checked = self
            .snapshot
            .check_all(&self.paths(), &[], &given, &Cancel::default());
        checked.unwrap()
    }

    fn project(&self) -> Project {
        let Discovery { projects, .. } = self.snapshot.discover(&self.paths());
        projects.into_iter().next().unwrap()
    }

    /// Those who are granted something. The gate alone can come to more, and in the one way that is stated: whoever answers for
    /// admission can change every pod.
    fn able(&self, verb: &str, resource: &str) -> Vec<Able> {
        let question = RightsQuestion {
            verb: verb.to_owned(),
            resource: resource.to_owned(),
            place: None,
            name: None,
        };
        let given = Given::default();
        let answer = self.snapshot.who_can(&self.project(), &given, &question);
        let (answer, _) = answer.unwrap();
        assert!(answer.diagnostics.is_empty() && answer.unchecked.is_empty());
        let (granted, coming): (Vec<Able>, Vec<Able>) = answer
            .able
            .into_iter()
            .partition(|able| able.steps.is_empty());
        let stated = "may patch mutatingwebhookconfigurations `locus-gate`";
        for able in &coming {
            assert_eq!(able.name, "locus-system/locus-gate", "{verb} {resource}");
            let steps = &able.steps;
            assert!(
                steps.iter().any(|step| step.text.contains(stated)),
                "{verb} {resource}: {steps:?}"
            );
        }
        granted
    }

    fn names(&self, verb: &str, resource: &str) -> BTreeSet<String> {
        let able = self.able(verb, resource).into_iter();
        able.map(|able| {
            let only = able.names.join(",");
            format!("{} {only}", able.name).trim().to_owned()
        })
        .collect()
    }
}

#[test]
fn no_rule_finds_an_error_in_it() {
    let made = Installation::make();
    let batch = made.check();
    let text = Format::Compact.render(&batch, &Style::default());
    assert_eq!(batch.count(Severity::Error), 0, "{text}");
    assert!(batch.unchecked.is_empty(), "{text}");
    assert!(batch.checked.len() == 1 && batch.graph_is_there(), "{text}");
    // What an agent is for: the TPM of its node.
    let mut warned: Vec<(String, String)> = batch
        .findings
        .iter()
        .filter(|finding| finding.severity == Severity::Warning)
        .map(|finding| (finding.code.clone(), finding.message.clone()))
        .collect();
    warned.sort();
    let codes: Vec<&str> = warned.iter().map(|(code, _)| code.as_str()).collect();
    let expected: &[&str] = &["K8S050", "K8S053", "K8S053", "K8S053", "K8S250"];
    assert_eq!(codes, expected, "{text}");
    // Whoever answers for admission can change every pod: that is stated, and it is the only way to everything.
    let whole = Format::Text.render(&batch, &Style::default());
    let way = "ServiceAccount `locus-system/locus-gate` may patch mutatingwebhookconfigurations `locus-gate`";
    assert_eq!(whole.matches(" may ").count(), 1, "{whole}");
    assert!(whole.contains(way), "{whole}");
    let of_gate = warned
        .iter()
        .filter(|(_, message)| message.contains("locus-gate"));
    assert_eq!(of_gate.count(), 1, "{text}");
}

/// Several gates on a PostgreSQL: the Secret with its URL is the operator's own, and beside what is printed.
#[test]
fn no_rule_finds_an_error_in_several_gates() {
    let store = ["--store-secret", "db", "--store-port", "5433"];
    let made = Installation::make_with(&[&store[..], &["--replicas", "3"]].concat());
    let printed = fs::read_to_string(made.folder.path().join("manifests/locus.yaml")).unwrap();
    for part in [
        "kind: Deployment",
        "replicas: 3",
        "secretName: db",
        "port: 5433",
        "--store-file",
    ] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    for part in ["kind: StatefulSet", "PersistentVolumeClaim", "postgres://"] {
        assert!(!printed.contains(part), "{part}: {printed}");
    }
    let batch = made.check();
    let text = Format::Compact.render(&batch, &Style::default());
    assert_eq!(batch.count(Severity::Error), 0, "{text}");
}

trait Graph {
    fn graph_is_there(&self) -> bool;
}

impl Graph for Batch {
    fn graph_is_there(&self) -> bool {
        self.reports.iter().any(|report| report.files.len() == 1)
    }
}

#[test]
fn rights_are_those_that_are_stated() {
    let made = Installation::make();
    let none = BTreeSet::new();
    let gate: BTreeSet<String> = ["locus-system/locus-gate".to_owned()].into();
    let account = |names: &BTreeSet<String>| -> BTreeSet<String> {
        names.iter().map(|name| name.replace(':', "/")).collect()
    };
    // Nobody is granted everything, or may give itself more, speak for others, read Secrets, or make pods.
    for (verb, resource) in [
        ("*", "*"),
        ("escalate", "clusterroles"),
        ("bind", "clusterroles"),
        ("impersonate", "users"),
        ("create", "clusterrolebindings"),
        ("get", "secrets"),
        ("list", "secrets"),
        ("create", "pods"),
        ("create", "deployments"),
        ("create", "serviceaccounts/token"),
        ("create", "pods/exec"),
        ("update", "customresourcedefinitions"),
        ("patch", "invariantsets"),
        ("patch", "referenceimages"),
        ("create", "mutatingwebhookconfigurations"),
        ("delete", "validatingwebhookconfigurations"),
        ("patch", "validatingadmissionpolicies"),
    ] {
        assert_eq!(made.names(verb, resource), none, "{verb} {resource}");
    }
    // What the gate does, and nobody else: an agent may do nothing.
    for (verb, resource) in [
        ("patch", "pods"),
        ("create", "pods/eviction"),
        ("patch", "nodes"),
        ("patch", "agents/status"),
        ("create", "tokenreviews"),
    ] {
        assert_eq!(
            account(&made.names(verb, resource)),
            gate,
            "{verb} {resource}"
        );
    }
    let one = "mutatingwebhookconfigurations";
    let only = made.able("patch", one);
    assert!(
        only.iter().all(|able| able.names == ["locus-gate"]),
        "{only:?}"
    );
    assert_eq!(only.len(), 1);
    let leases = made.able("create", "leases");
    assert!(
        leases
            .iter()
            .all(|able| able.place.as_deref() == Some("locus-system"))
    );
}

/// Who reaches whom, with the cluster's own names and somebody else's pods beside.
#[test]
fn policies_let_the_gate_alone_reach_agents() {
    let made = Installation::make();
    let pod = |space: &str, name: &str, label: &str| {
        format!(
            "---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: {space}}}\n---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: {space}, labels: {label}}}\nspec: {{containers: [{{name: c, image: 'x@{}'}}]}}\n",
            crate::world::digest('c')
        )
    };
    let mut others = pod(
        "shop",
        "web",
        "{app: web, app.kubernetes.io/name: locus-gate}",
    );
    others.push_str(&pod("kube-system", "dns", "{k8s-app: kube-dns}"));
    fs::write(made.folder.path().join("manifests/others.yaml"), others).unwrap();
    let (reach, _) = made
        .snapshot
        .reach(&made.project(), &Given::default())
        .unwrap();
    assert!(reach.unchecked.is_empty(), "{:?}", reach.unchecked);
    let relation = reach.relation.unwrap();
    let peers = relation.peers();
    let find = |part: &str| {
        let found = peers.iter().position(|peer| peer.text.contains(part));
        found.unwrap_or_else(|| {
            let all: Vec<&str> = peers.iter().map(|peer| peer.text.as_str()).collect();
            panic!("{part}: {all:?}")
        })
    };
    let (gate, agent) = (
        find("locus-system/locus-gate"),
        find("locus-agents/locus-agent"),
    );
    let (web, dns) = (find("shop/web"), find("kube-system/dns"));
    let between = |from: usize, to: usize| {
        let reached = relation.reached(from).into_iter();
        let found = reached
            .filter(|(end, _)| *end == to)
            .map(|(_, what)| what.to_string());
        found.collect::<Vec<_>>().concat()
    };
    assert_eq!(between(gate, agent), "TCP 31000");
    assert_eq!(between(agent, gate), "TCP 30080");
    assert_eq!(between(web, agent), "");
    assert_eq!(between(web, gate), "TCP 8443,30000");
    assert_eq!(between(agent, dns), "TCP 53,UDP 53");
    assert_eq!(between(agent, web), "");
    // Nobody at all but the gate connects to an agent, from the cluster or from outside.
    for (from, peer) in peers.iter().enumerate() {
        if from != gate && from != agent {
            assert_eq!(between(from, agent), "", "{}", peer.text);
        }
    }
}
