//! How commands reach a cluster: by a kubeconfig, or from within a pod.

use std::future::Future;
use std::path::PathBuf;

use clap::Args;
use kube::api::{ApiResource, DynamicObject};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use serde_json::Value;

use super::object::{group, namespace, text};

/// Which cluster, and as whom.
#[derive(Args, Clone, Debug, Default)]
pub struct Reached {
    /// The kubeconfig [default: `KUBECONFIG`, then `~/.kube/config`, then the pod's own account]
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// The context in it
    #[arg(long, value_name = "NAME")]
    pub context: Option<String>,
}

/// Why a cluster was not reached, or did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum ClusterFault {
    /// The kubeconfig.
    #[error("the kubeconfig cannot be used: {0}")]
    Config(String),
    /// The API server.
    #[error("{0}")]
    Server(#[from] Box<kube::Error>),
    /// An object that cannot be asked for.
    #[error("{0}")]
    Object(String),
}

impl From<kube::Error> for ClusterFault {
    fn from(error: kube::Error) -> Self {
        ClusterFault::Server(Box::new(error))
    }
}

impl ClusterFault {
    /// The status that the server answered with; 0 if it did not.
    pub fn code(&self) -> u16 {
        match self {
            ClusterFault::Server(error) => code(error),
            _ => 0,
        }
    }
}

/// The status in an answer of the server; 0 if there was none.
pub fn code(error: &kube::Error) -> u16 {
    match error {
        kube::Error::Api(status) => status.code,
        _ => 0,
    }
}

impl Reached {
    /// A client, and the namespace that is meant if none is said.
    ///
    /// # Errors
    /// When there is no cluster to be found, or its configuration cannot be used.
    pub async fn open(&self) -> Result<(Client, String), ClusterFault> {
        let wrong = |error: &dyn std::fmt::Display| ClusterFault::Config(error.to_string());
        let config = if self.kubeconfig.is_some() || self.context.is_some() {
            let read = match &self.kubeconfig {
                Some(path) => Kubeconfig::read_from(path),
                None => Kubeconfig::read(),
            };
            let options = KubeConfigOptions {
                context: self.context.clone(),
                ..KubeConfigOptions::default()
            };
            let read = read.map_err(|error| wrong(&error))?;
            let config = Config::from_custom_kubeconfig(read, &options).await;
            config.map_err(|error| wrong(&error))?
        } else {
            Config::infer().await.map_err(|error| wrong(&error))?
        };
        let namespace = config.default_namespace.clone();
        Ok((Client::try_from(config)?, namespace))
    }
}

/// Does what a command says, and waits for it.
///
/// # Errors
/// What the work ends with, or that it cannot be begun.
pub fn block_on<T, E: std::fmt::Display>(
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    runtime.block_on(work).map_err(|error| error.to_string())
}

/// The resources that commands write, by group and kind: whether they are in namespaces, and what they are called.
const KINDS: &[(&str, &str, bool, &str)] = &[
    ("", "Namespace", false, "namespaces"),
    ("", "ServiceAccount", true, "serviceaccounts"),
    ("", "Secret", true, "secrets"),
    ("", "ConfigMap", true, "configmaps"),
    ("", "Service", true, "services"),
    ("", "Node", false, "nodes"),
    ("", "Pod", true, "pods"),
    ("", "PodTemplate", true, "podtemplates"),
    ("", "ReplicationController", true, "replicationcontrollers"),
    ("apps", "DaemonSet", true, "daemonsets"),
    ("apps", "Deployment", true, "deployments"),
    ("apps", "ReplicaSet", true, "replicasets"),
    ("apps", "StatefulSet", true, "statefulsets"),
    ("batch", "CronJob", true, "cronjobs"),
    ("batch", "Job", true, "jobs"),
    (
        "policy",
        "PodDisruptionBudget",
        true,
        "poddisruptionbudgets",
    ),
    (
        "networking.k8s.io",
        "NetworkPolicy",
        true,
        "networkpolicies",
    ),
    ("rbac.authorization.k8s.io", "Role", true, "roles"),
    (
        "rbac.authorization.k8s.io",
        "RoleBinding",
        true,
        "rolebindings",
    ),
    (
        "rbac.authorization.k8s.io",
        "ClusterRole",
        false,
        "clusterroles",
    ),
    (
        "rbac.authorization.k8s.io",
        "ClusterRoleBinding",
        false,
        "clusterrolebindings",
    ),
    (
        "admissionregistration.k8s.io",
        "MutatingWebhookConfiguration",
        false,
        "mutatingwebhookconfigurations",
    ),
    (
        "admissionregistration.k8s.io",
        "ValidatingWebhookConfiguration",
        false,
        "validatingwebhookconfigurations",
    ),
    (
        "admissionregistration.k8s.io",
        "ValidatingAdmissionPolicy",
        false,
        "validatingadmissionpolicies",
    ),
    (
        "admissionregistration.k8s.io",
        "ValidatingAdmissionPolicyBinding",
        false,
        "validatingadmissionpolicybindings",
    ),
    (
        "apiextensions.k8s.io",
        "CustomResourceDefinition",
        false,
        "customresourcedefinitions",
    ),
    ("locus.dev", "Agent", false, "agents"),
    (
        "locus.dev",
        "AttestationRequest",
        true,
        "attestationrequests",
    ),
    ("locus.dev", "InvariantSet", false, "invariantsets"),
    ("locus.dev", "ReferenceImage", false, "referenceimages"),
];

/// The resource of a kind: of the table, or as the server lists it.
///
/// # Errors
/// When the server has no such kind, or does not say.
pub async fn resource(
    client: &Client,
    api_version: &str,
    kind: &str,
) -> Result<(ApiResource, bool), ClusterFault> {
    let of = group(api_version);
    let version = api_version.rsplit('/').next().unwrap_or_default();
    let made = |plural: &str| ApiResource {
        group: of.to_owned(),
        version: version.to_owned(),
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        plural: plural.to_owned(),
    };
    let mut table = KINDS.iter();
    if let Some((_, _, within, plural)) =
        table.find(|(known, name, ..)| *known == of && *name == kind)
    {
        return Ok((made(plural), *within));
    }
    let listed = match of {
        "" => client.list_core_api_resources(version).await?,
        _ => client.list_api_group_resources(api_version).await?,
    };
    let mut found = listed.resources.iter();
    let found = found.find(|one| one.kind == kind && !one.name.contains('/'));
    let found = found.ok_or_else(|| {
        ClusterFault::Object(format!(
            "the cluster has no kind `{kind}` in `{api_version}`"
        ))
    })?;
    Ok((made(&found.name), found.namespaced))
}

/// Where objects like one are: in the namespace that it says, or else in the one that is meant.
///
/// # Errors
/// When the server has no such kind, or does not say.
pub async fn api(
    client: &Client,
    object: &Value,
    meant: &str,
) -> Result<Api<DynamicObject>, ClusterFault> {
    let (api_version, kind) = (text(object, &["apiVersion"]), text(object, &["kind"]));
    let (resource, within) = resource(client, api_version, kind).await?;
    Ok(match (within, namespace(object)) {
        (false, _) => Api::all_with(client.clone(), &resource),
        (true, "") => Api::namespaced_with(client.clone(), meant, &resource),
        (true, own) => Api::namespaced_with(client.clone(), own, &resource),
    })
}
