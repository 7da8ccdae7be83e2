//! Objects that are not workloads.

use locus_core::vocabulary::SigDecl;
use locus_core::vocabulary::declare::{lone, one, set, sig};
use locus_core::vocabulary::lg::LOCATION;

use super::{BOOL, NUMBER, TEXT};

pub(super) const LABEL: SigDecl = sig(
    "Label",
    None,
    "A key and a value: a label, an annotation, an option; its span is its value.",
    &[
        one("key", TEXT, "The key."),
        one("value", TEXT, "The value."),
    ],
);

pub(super) const OBJECT: SigDecl = sig(
    "Object",
    Some(LOCATION),
    "An object; its span is its name.",
    &[
        one("name", TEXT, "Its name."),
        one("kind", TEXT, "Its kind."),
        one("api_version", TEXT, "Its `apiVersion`."),
        lone(
            "namespace",
            TEXT,
            "The namespace it is in; none when it is of the whole cluster.",
        ),
        lone("written_namespace", TEXT, "The namespace that it names."),
        one(
            "identity",
            TEXT,
            "What tells it from all others: group, kind, namespace and name.",
        ),
        one(
            "full_kind",
            TEXT,
            "`apiVersion` and kind, as in `apps/v1/Deployment`.",
        ),
        set("labels", &["Label"], "Its labels."),
        set("annotations", &["Label"], "Its annotations."),
    ],
);

/// A kind without fields of its own.
pub(super) const fn kind(name: &'static str, doc: &'static str) -> SigDecl {
    sig(name, super::OBJECT, doc, &[])
}

pub(super) const DATA: SigDecl = sig(
    "DataObject",
    super::OBJECT,
    "A ConfigMap or Secret.",
    &[
        set("keys", TEXT, "The keys of its data."),
        lone("secret_type", TEXT, "The type of a Secret."),
    ],
);

pub(super) const CLAIM: SigDecl = sig(
    "PersistentVolumeClaim",
    super::OBJECT,
    "A PersistentVolumeClaim.",
    &[set("access_modes", TEXT, "How it may be mounted.")],
);

pub(super) const ROLE: SigDecl = sig(
    "Role",
    super::OBJECT,
    "A Role or ClusterRole.",
    &[
        set("rules", &["PolicyRule"], "What it allows."),
        set(
            "aggregated",
            &["Object"],
            "The roles that it takes its rules from.",
        ),
    ],
);

pub(super) const RULE: SigDecl = sig(
    "PolicyRule",
    None,
    "A rule of a role; its span is its first line.",
    &[
        set("verbs", TEXT, "What may be done."),
        set("resources", TEXT, "With what."),
        set("groups", TEXT, "Of which groups."),
    ],
);

pub(super) const BINDING: SigDecl = sig(
    "Binding",
    super::OBJECT,
    "A RoleBinding or ClusterRoleBinding.",
    &[
        one("role_kind", TEXT, "`Role` or `ClusterRole`."),
        one("role_name", TEXT, "The name of the role."),
    ],
);

pub(super) const AUTOSCALER: SigDecl = sig(
    "HorizontalPodAutoscaler",
    super::OBJECT,
    "A HorizontalPodAutoscaler.",
    &[
        one("least", NUMBER, "`minReplicas`, or 1."),
        lone("most", NUMBER, "`maxReplicas`."),
    ],
);

pub(super) const BUDGET: SigDecl = sig(
    "PodDisruptionBudget",
    super::OBJECT,
    "A PodDisruptionBudget.",
    &[
        lone(
            "max_unavailable",
            &["Text + Number"],
            "`maxUnavailable`, a number or a percentage.",
        ),
        lone(
            "min_available",
            &["Text + Number"],
            "`minAvailable`, a number or a percentage.",
        ),
        lone("eviction_policy", TEXT, "`unhealthyPodEvictionPolicy`."),
        set(
            "uncounted",
            &["Workload"],
            "The bare pods that it selects, when it selects no others and asks for a share of them.",
        ),
    ],
);

pub(super) const KEPT: SigDecl = sig(
    "KeptWhole",
    None,
    "Whether a PodDisruptionBudget keeps every pod of a workload; its span is `minAvailable`.",
    &[
        one("keeper", &["PodDisruptionBudget"], "The budget."),
        one("kept", &["Workload"], "The workload."),
        one(
            "whole",
            super::BOOL,
            "Whether `minAvailable` asks for all pods that the budget selects, when there are as few as there may be.",
        ),
        one(
            "fewest",
            NUMBER,
            "How many pods the workload has at least: those that its autoscaler leaves, or its replicas.",
        ),
    ],
);

pub(super) const MONITOR: SigDecl = sig(
    "Monitor",
    super::OBJECT,
    "A ServiceMonitor or PodMonitor of Prometheus; it selects Services or pods by their labels.",
    &[
        set("monitored", &["Object"], "What it selects."),
        lone("monitor_selector", TEXT, "Where its selector is."),
    ],
);

pub(super) const LATE_KEY: SigDecl = sig(
    "LateKey",
    None,
    "The first key of a map that stands after a greater one; its span is the key.",
    &[
        one("late_in", &["Object"], "The object it is in."),
        one("late_after", TEXT, "The greater key."),
    ],
);

pub(super) const CONSTRAINTS: SigDecl = sig(
    "SecurityContextConstraints",
    super::OBJECT,
    "SecurityContextConstraints of OpenShift.",
    &[lone(
        "allow_privileged",
        BOOL,
        "`allowPrivilegedContainer`.",
    )],
);
