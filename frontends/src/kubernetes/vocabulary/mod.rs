//! What rules may say about the objects of a project: every signature and field, with its meaning.
//!
//! Equal texts and equal numbers are one atom each, so `a.name = b.name` compares values.

mod escalation;
mod identifiers;
mod network;
mod objects;
mod placement;
mod policy;
mod references;
mod rollout;
mod standards;
mod storage;
mod workload;

use locus_core::vocabulary::declare::{one, sig, value};
use locus_core::vocabulary::{Declarations, SigDecl, Vocabulary};

pub(crate) use identifiers::{field, sig};

/// The vocabulary of Kubernetes manifests.
pub fn vocabulary() -> Vocabulary {
    static FACTS: Declarations = DECLARATIONS;
    Vocabulary::of(&FACTS)
}

/// The fields that are stated only when a rule mentions one of them.
pub(super) const REACHABILITY: [&str; 3] = ["reaches", "reaches_internet", "internet_reaches"];

/// What policies do to each other, which is not stated when no rule mentions any of these.
pub(super) const AUDIT: &[&str] = &[
    "TrafficRule",
    "TrafficPeer",
    "TrafficPort",
    "PolicyTie",
    "Forward",
    "allows",
    "cut_off",
    "idle",
];

const BOOL: &[&str] = &["Bool"];
const TEXT: &[&str] = &["Text"];
const NUMBER: &[&str] = &["Number"];
const OBJECT: Option<&str> = Some("Object");
const WORKLOAD: Option<&str> = Some("Workload");
const REFERENCE: Option<&str> = Some("Reference");
const SELECTOR: Option<&str> = Some("Selector");

const CLUSTER: SigDecl = sig(
    "Cluster",
    None,
    "The cluster that is deployed to; there is one.",
    &[
        one("release", NUMBER, "Its release: 37 for 1.37."),
        one(
            "complete",
            BOOL,
            "Whether every file could be read as a whole; when not, what seems to be missing may be in a part that could not.",
        ),
    ],
);

/// The facts of Kubernetes manifests.
pub const DECLARATIONS: Declarations = Declarations {
    language: "kubernetes",
    sigs: &[
        value("Bool", None, "A truth value."),
        value("True", Some("Bool"), "Yes."),
        value("False", Some("Bool"), "No."),
        value("Text", None, "A text; equal texts are one atom."),
        value(
            "Number",
            None,
            "A whole number of any size; equal numbers are one atom.",
        ),
        CLUSTER,
        policy::POLICY,
        objects::LABEL,
        objects::OBJECT,
        workload::WORKLOAD,
        workload::kind("Pod", "A bare pod."),
        workload::kind("Deployment", "A Deployment."),
        workload::kind("StatefulSet", "A StatefulSet."),
        workload::kind("DaemonSet", "A DaemonSet."),
        workload::kind("ReplicaSet", "A ReplicaSet."),
        workload::kind("ReplicationController", "A ReplicationController."),
        workload::kind("Job", "A Job."),
        workload::kind("CronJob", "A CronJob."),
        workload::kind("OtherWorkload", "Another kind with a template of pods."),
        network::SERVICE,
        network::INGRESS,
        network::NETWORK_POLICY,
        objects::DATA,
        sig("ConfigMap", Some("DataObject"), "A ConfigMap.", &[]),
        sig("Secret", Some("DataObject"), "A Secret.", &[]),
        objects::CLAIM,
        objects::kind("PersistentVolume", "A PersistentVolume."),
        objects::kind("StorageClass", "A StorageClass."),
        objects::kind("ServiceAccount", "A ServiceAccount."),
        objects::ROLE,
        objects::BINDING,
        objects::AUTOSCALER,
        objects::BUDGET,
        objects::KEPT,
        objects::kind("Namespace", "A Namespace."),
        objects::kind("IngressClass", "An IngressClass."),
        objects::kind("PriorityClass", "A PriorityClass."),
        objects::kind("RuntimeClass", "A RuntimeClass."),
        objects::kind("Node", "A Node."),
        objects::CONSTRAINTS,
        objects::MONITOR,
        objects::kind("OtherObject", "An object of any other kind."),
        workload::CONTAINER,
        workload::CLAIM_TEMPLATE,
        workload::PORT,
        workload::VARIABLE,
        workload::PROBE,
        workload::AMOUNT,
        workload::MOUNT,
        workload::VOLUME,
        workload::TOKEN,
        standards::STANDARD,
        network::SERVICE_PORT,
        network::ROUTE,
        network::SELECTOR,
        network::selector(
            "ControllerSelector",
            "The selector of a controller of pods.",
        ),
        network::SERVICE_SELECTOR,
        network::selector("PolicySelector", "The `podSelector` of a NetworkPolicy."),
        network::selector(
            "PeerSelector",
            "The `podSelector` of a peer of a NetworkPolicy in its own namespace.",
        ),
        network::POLICY_RULE,
        network::POLICY_PEER,
        network::POLICY_PORT,
        network::POLICY_TIE,
        network::IDLE,
        network::FORWARD,
        network::selector("BudgetSelector", "The selector of a PodDisruptionBudget."),
        objects::RULE,
        escalation::ESCALATION,
        escalation::STEP,
        placement::QUESTION,
        placement::question("Placement", "All pods on all nodes."),
        placement::question("LossPlacement", "All pods when a node or zone is lost."),
        placement::question("SurgePlacement", "All pods and those of a rolling update."),
        placement::question(
            "ScalePlacement",
            "All pods when an autoscaler asks for the most.",
        ),
        placement::question("JobPlacement", "The pods of a job that runs now and then."),
        placement::PENDING,
        placement::LINE,
        rollout::START,
        rollout::CLOCK,
        rollout::QUOTA,
        rollout::GAP,
        rollout::RANGE,
        storage::MOUNTED,
        storage::MODE,
        storage::LEFT,
        objects::LATE_KEY,
        references::REFERENCE,
        references::DATA_USE,
        sig(
            "ConfigMapUse",
            Some("DataUse"),
            "A ConfigMap that pods are given.",
            &[],
        ),
        sig(
            "SecretUse",
            Some("DataUse"),
            "A Secret that pods are given.",
            &[],
        ),
        references::use_of("PullSecretUse", "A Secret to pull images with."),
        references::use_of("ClaimUse", "A PersistentVolumeClaim that pods mount."),
        references::use_of(
            "AccountUse",
            "The ServiceAccount of pods, when it is named.",
        ),
        references::use_of("PriorityClassUse", "The PriorityClass of pods."),
        references::use_of("RuntimeClassUse", "The RuntimeClass of pods."),
        references::use_of("IngressClassUse", "The IngressClass of an Ingress."),
        references::use_of("StorageClassUse", "The StorageClass of a claim or volume."),
        references::SERVICE_USE,
        sig(
            "RouteUse",
            Some("ServiceUse"),
            "A Service that a route of a Gateway sends requests to.",
            &[],
        ),
        references::use_of("GatewayUse", "The Gateway that a route belongs to."),
        references::use_of("GatewayClassUse", "The GatewayClass of a Gateway."),
        references::use_of("GoverningUse", "The Service of a StatefulSet."),
        references::use_of(
            "CertificateUse",
            "The Secret with the certificate of an Ingress.",
        ),
        references::use_of("RoleUse", "The role of a binding."),
        references::use_of("SubjectUse", "A ServiceAccount that a binding names."),
        references::use_of("TargetUse", "What an autoscaler scales."),
    ],
};
