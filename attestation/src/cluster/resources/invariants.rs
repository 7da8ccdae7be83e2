//! Which rules are in force for which namespaces.

use std::collections::BTreeMap;

use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

/// Rules that are in force for some namespaces. Where several sets name a namespace, all of them are.
///
/// Namespaces are named, not selected: whoever owns a namespace can change its labels.
#[derive(CustomResource, KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[kube(
    group = "locus.dev",
    version = "v1alpha1",
    kind = "InvariantSet",
    status = "InvariantSetStatus",
    derive = "PartialEq",
    category = "locus",
    doc = "Rules that are in force for the namespaces that it names.",
    printcolumn(name = "Mode", type_ = "string", json_path = ".spec.mode"),
    printcolumn(name = "Namespaces", type_ = "string", json_path = ".spec.namespaces"),
    printcolumn(name = "Pods", type_ = "string", json_path = ".spec.podSecurity"),
    printcolumn(
        name = "Usable",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Usable')].status"
    ),
    printcolumn(name = "Used", type_ = "date", json_path = ".status.lastUsed"),
    printcolumn(name = "Problem", type_ = "string", json_path = ".status.problem")
)]
#[serde(rename_all = "camelCase")]
pub struct InvariantSetSpec {
    /// The namespaces, by name; a `*` at the end stands for the rest of a name.
    #[schemars(
        length(min = 1, max = 256),
        inner(regex(pattern = r"^[a-z0-9]([a-z0-9-]{0,62})?\*?$|^\*$"))
    )]
    pub namespaces: Vec<String>,
    /// Whether what breaks a rule is refused, or only reported.
    #[serde(default)]
    pub mode: Mode,
    /// The Pod Security Standard that pods must meet.
    #[serde(default)]
    pub pod_security: PodSecurity,
    /// How bad it is to break a rule, by its identifier; others are as bad as they are by default.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 512))]
    pub rules: BTreeMap<String, Level>,
    /// Rules of your own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    pub own_rules: Vec<OwnRule>,
    /// The tenants that may deploy here, by name or identifier. If there are any, workloads must be signed by one of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), inner(length(min = 1, max = 255)))]
    pub tenants: Vec<String>,
}

/// What happens to what breaks a rule.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
pub enum Mode {
    /// It is refused.
    #[default]
    Enforce,
    /// It is reported, and let in.
    Audit,
}

/// A Pod Security Standard.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum PodSecurity {
    /// Everything is allowed.
    Privileged,
    /// Nothing that is known to break out of a pod.
    #[default]
    Baseline,
    /// Hardened pods only.
    Restricted,
}

impl PodSecurity {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            PodSecurity::Privileged => "privileged",
            PodSecurity::Baseline => "baseline",
            PodSecurity::Restricted => "restricted",
        }
    }
}

/// How bad it is to break a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// It is not checked.
    Off,
    /// It is not said.
    Info,
    /// It is said.
    Warning,
    /// It is refused.
    Error,
}

impl Level {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Level::Off => "off",
            Level::Info => "info",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }
}

/// A file of rules.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("has(self.text) != has(self.configMap)").message("give either `text` or `configMap`"))]
pub struct OwnRule {
    /// The name of the file, without its ending.
    #[schemars(regex(pattern = r"^[a-z][a-z0-9_]{0,62}$"))]
    pub name: String,
    /// The rules themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 65536))]
    pub text: Option<String>,
    /// Where they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_map: Option<ConfigMapKey>,
}

/// A key of a ConfigMap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ConfigMapKey {
    /// The namespace of the ConfigMap.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The key.
    pub key: String,
}

/// Whether a set can be used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct InvariantSetStatus {
    /// The generation that this is about.
    pub observed_generation: i64,
    /// What is wrong with it; while something is, nothing is let into its namespaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// How many namespaces there are that it names.
    pub namespace_count: i64,
    /// When it was last in force for something that the gate was asked about, to within five minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_used: Option<String>,
    /// Whether it is usable, and why.
    pub conditions: Vec<Condition>,
}

/// A condition, as objects of Kubernetes have them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// What it is about.
    #[serde(rename = "type")]
    pub kind: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// A word for why.
    pub reason: String,
    /// Why.
    pub message: String,
    /// The generation that this is about.
    pub observed_generation: i64,
    /// Since when.
    pub last_transition_time: String,
}
