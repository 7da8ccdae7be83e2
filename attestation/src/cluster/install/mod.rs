//! What an installation in a cluster consists of, as values: `locus gate install` prints or applies them, and the Helm chart
//! is made of the same.
//!
//! Objects are JSON as everywhere here. What must not be known to others (keys) is made on the spot from an installation's
//! folder ([`secrets`]); the key of the authority never enters the cluster.
#![expect(
    clippy::indexing_slicing,
    reason = "every value that is written to is a map: it is made here, or comes from a type that is one"
)]

pub mod apply;
pub mod args;
mod chart;
mod network;
pub mod policies;
mod rights;
pub mod secrets;
mod webhooks;
mod workloads;

use serde_json::{Value, json};

use super::resources;

pub use network::AGENT;

/// Where everything runs but the agents.
pub const NAMESPACE: &str = "locus-system";
/// Where the agents run: they use the worker's TPM, which no restricted pod can.
pub const AGENTS: &str = "locus-agents";
/// The label that all objects of an installation have.
pub const PART_OF: &str = "app.kubernetes.io/part-of";
/// The label by which the pods of a component are known.
pub const NAME: &str = "app.kubernetes.io/name";

/// A part of an installation that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Component {
    /// All parts of the gate: registrar, reference values, verifier, handlers, admission and controllers.
    Gate,
    /// What answers for a worker.
    Agent,
}

impl Component {
    /// All of them.
    pub const ALL: [Component; 2] = [Component::Gate, Component::Agent];

    /// The name of its workload, its service and its service account.
    pub fn name(self) -> &'static str {
        match self {
            Component::Gate => "locus-gate",
            Component::Agent => "locus-agent",
        }
    }

    /// Where it runs.
    pub fn namespace(self) -> &'static str {
        match self {
            Component::Gate => NAMESPACE,
            Component::Agent => AGENTS,
        }
    }

    /// The user that it is.
    pub fn user(self) -> String {
        format!("system:serviceaccount:{}:{}", self.namespace(), self.name())
    }

    /// The metadata of an object of its own.
    fn metadata(self) -> Value {
        json!({"name": self.name(), "namespace": self.namespace(), "labels": self.labels()})
    }

    fn labels(self) -> Value {
        json!({NAME: self.name(), PART_OF: "locus"})
    }

    /// What selects its pods.
    fn selector(self) -> Value {
        json!({NAME: self.name()})
    }
}

/// What is chosen of an installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The image with `locus-gate`, by digest.
    pub gate: String,
    /// The image with `locus-agent`, by digest.
    pub agent: String,
    /// The digest of the first image.
    pub gate_digest: String,
    /// The digest of the second.
    pub agent_digest: String,
    /// How much the gate may keep.
    pub storage: String,
    /// Images that need no check besides, by digest.
    pub exempt: Vec<String>,
    /// Whether the API server is to ask the gate.
    pub webhook: bool,
    /// The PostgreSQL that the gates share, if they do.
    pub store: Option<StoreChoice>,
}

/// A PostgreSQL that several gates share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreChoice {
    /// The Secret whose key `url` says where it is. What else is in there is beside it, such as the server's certificate.
    pub secret: String,
    /// Its port, which the gates may connect to.
    pub port: u32,
    /// How many gates there are.
    pub replicas: u32,
}

impl Choice {
    /// An installation of two images, which must be named by their digests.
    ///
    /// # Errors
    /// Which image is not.
    pub fn new(gate: &str, agent: &str) -> Result<Self, String> {
        Ok(Choice {
            gate: gate.to_owned(),
            agent: agent.to_owned(),
            gate_digest: digest(gate)?,
            agent_digest: digest(agent)?,
            storage: "8Gi".to_owned(),
            exempt: Vec::new(),
            webhook: true,
            store: None,
        })
    }
}

/// The digest in the name of an image.
fn digest(image: &str) -> Result<String, String> {
    let using = super::admission::images::ImageUse {
        path: String::new(),
        reference: image.to_owned(),
    };
    let found = using.digest().map(str::to_owned);
    found.ok_or_else(|| {
        format!(
            "the image `{}` is not named by its digest; write `NAME@sha256:...`",
            crate::logs::shown(image)
        )
    })
}

/// The definitions of the custom resources.
pub fn definitions() -> Vec<Value> {
    let all = resources::definitions().into_iter();
    let labelled = all.filter_map(|definition| {
        let mut value = serde_json::to_value(definition).ok()?;
        value["metadata"]["labels"] = json!({PART_OF: "locus"});
        Some(value)
    });
    labelled.collect()
}

/// Every object but the custom resources' definitions and the Secrets, in the order in which they are to be made.
pub fn objects(choice: &Choice) -> Vec<Value> {
    let mut all = vec![
        namespace(NAMESPACE, "restricted"),
        namespace(AGENTS, "privileged"),
    ];
    all.extend(rights::objects());
    all.extend(network::objects(choice));
    all.extend(references(choice));
    all.extend(workloads::objects(choice));
    all.extend(policies::objects(choice));
    // Last, as nothing else gets in from here on until the gate answers.
    if choice.webhook {
        all.extend(webhooks::objects(choice));
    }
    all
}

fn namespace(name: &str, standard: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": {
            PART_OF: "locus",
            "pod-security.kubernetes.io/enforce": standard,
            "pod-security.kubernetes.io/warn": standard,
            "pod-security.kubernetes.io/audit": standard,
        }},
    })
}

/// The images of the gate itself: what checks others cannot wait for itself.
fn references(choice: &Choice) -> Vec<Value> {
    let of = |component: Component, digest: &str| {
        json!({
            "apiVersion": "locus.dev/v1alpha1",
            "kind": "ReferenceImage",
            "metadata": {"name": component.name(), "labels": {PART_OF: "locus"}},
            "spec": {
                "image": component.name(),
                "manifest": digest,
                // Elsewhere it is a way round the rules: a pod that runs it may have any command, mounts and rights.
                "exempt": {
                    "reason": "a part of Locus, which cannot wait for itself",
                    "namespaces": [NAMESPACE, AGENTS],
                },
            },
        })
    };
    let mut all = vec![of(Component::Gate, &choice.gate_digest)];
    if choice.agent_digest != choice.gate_digest {
        all.push(of(Component::Agent, &choice.agent_digest));
    }
    all
}

/// Objects as a stream of YAML documents.
pub fn yaml(objects: &[Value]) -> Result<String, String> {
    let mut out = String::new();
    for object in objects {
        out.push_str("---\n");
        out.push_str(&document(object)?);
    }
    Ok(out)
}

fn document(object: &Value) -> Result<String, String> {
    let text = serde_saphyr::to_string(object).map_err(|error| error.to_string())?;
    Ok(ended(text))
}

/// A document in which no text is broken into lines: what stands for a value stays in one piece.
fn unfolded(object: &Value) -> Result<String, String> {
    let options = serde_saphyr::ser_options! { folded_wrap_chars: 1_000_000 };
    let text = serde_saphyr::to_string_with_options(object, options);
    Ok(ended(text.map_err(|error| error.to_string())?))
}

fn ended(mut text: String) -> String {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}
