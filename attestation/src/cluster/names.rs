//! The names by which the gate is known in a cluster.

/// The group of the custom resources, and the prefix of labels, annotations, gates and taints.
pub const GROUP: &str = "locus.dev";
/// The version of the custom resources.
pub const VERSION: &str = "v1alpha1";
/// Keeps a pod from being scheduled until the model check passed and a trusted worker is there.
pub const SCHEDULING_GATE: &str = "locus.dev/attestation";
/// The condition of a pod that is true when its own attestation passed; its readiness depends on it.
pub const READINESS_GATE: &str = "locus.dev/attested";
/// Keeps pods off a worker that is not trusted.
pub const TAINT: &str = "locus.dev/untrusted";
/// The digest of what was checked when a pod was admitted.
pub const VERDICT: &str = "locus.dev/verdict";
/// The tenant that a pod belongs to, as its signature says.
pub const TENANT: &str = "locus.dev/tenant";
/// A tenant's signature over a workload.
pub const SIGNATURE: &str = "locus.dev/signature";
/// What every annotation of the gate starts with.
pub const PREFIX: &str = "locus.dev/";
/// Who writes the gate's part of objects, as server-side apply knows it.
pub const MANAGER: &str = "locus-gate";
/// The annotation by which a kubelet marks what stands for a static pod.
pub const MIRROR: &str = "kubernetes.io/config.mirror";
/// What a kubelet's own annotations of pods start with.
pub const KUBELET: &str = "kubernetes.io/config.";
/// The labels that the server gives a pod when it is bound: where its node is.
pub const TOPOLOGY: [&str; 2] = [
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
];
/// Where the agent of a node's worker listens, if not at the node's address: an annotation of the node.
pub const ADDRESS: &str = "locus.dev/agent-address";
/// Marks a node that the gate closed to new pods, so that it opens no node that somebody else closed.
pub const CORDONED: &str = "locus.dev/cordoned";
/// The webhook configurations of the gate.
pub const WEBHOOKS: &str = "locus-gate";
