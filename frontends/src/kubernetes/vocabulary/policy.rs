//! What a project asks of its objects: the parameters of rules.

use locus_core::vocabulary::SigDecl;
use locus_core::vocabulary::declare::{lone, set, sig};

use super::{NUMBER, TEXT};

pub(super) const POLICY: SigDecl = sig(
    "Policy",
    None,
    "What a project asks of its objects, in `[kubernetes.policy]` of its settings; there is one.",
    &[
        lone(
            "least_replicas",
            NUMBER,
            "Replicas that a workload has at least.",
        ),
        lone(
            "least_scaled",
            NUMBER,
            "`minReplicas` that an autoscaler has at least.",
        ),
        lone(
            "spread_from",
            NUMBER,
            "Replicas from which on pods must be kept apart.",
        ),
        set(
            "spread_over",
            TEXT,
            "Patterns of the topology keys that keep pods apart.",
        ),
        set(
            "cpu_requirements",
            TEXT,
            "What containers must say of CPU: `request`, `limit`.",
        ),
        lone("least_cpu", TEXT, "CPU that a container asks for at least."),
        lone("most_cpu", TEXT, "CPU that a container asks for at most."),
        set(
            "memory_requirements",
            TEXT,
            "What containers must say of memory: `request`, `limit`.",
        ),
        lone(
            "least_memory",
            TEXT,
            "Memory that a container asks for at least.",
        ),
        lone(
            "most_memory",
            TEXT,
            "Memory that a container asks for at most.",
        ),
        set(
            "dropped_capabilities",
            TEXT,
            "Capabilities that containers must drop.",
        ),
        set(
            "capability_exceptions",
            TEXT,
            "Capabilities that containers may be given all the same.",
        ),
        set(
            "denied_images",
            TEXT,
            "Patterns of images that are not fixed, or not wanted.",
        ),
        set(
            "allowed_images",
            TEXT,
            "Patterns of the only images that may be used.",
        ),
        set(
            "secret_variables",
            TEXT,
            "Patterns of names of variables that hold secrets.",
        ),
        set("service_types", TEXT, "Types that Services must not have."),
        set(
            "priority_classes",
            TEXT,
            "Priority classes that may be used.",
        ),
        set(
            "needed_dns_options",
            &["Label"],
            "Options that `dnsConfig` must have.",
        ),
        set(
            "needed_labels",
            &["Label"],
            "Labels that workloads must have, with patterns of their values.",
        ),
        set(
            "needed_annotations",
            &["Label"],
            "Annotations that workloads must have, with patterns of their values.",
        ),
        set(
            "forbidden_annotations",
            &["Label"],
            "Annotations that objects must not have, with patterns of their values.",
        ),
        set(
            "denied_pull_policies",
            TEXT,
            "Values that `imagePullPolicy` must not have.",
        ),
        set(
            "claim_annotations",
            TEXT,
            "Annotations that claim templates of StatefulSets must have.",
        ),
        set(
            "denied_host_paths",
            TEXT,
            "Patterns of paths of nodes that must not be mounted.",
        ),
        set(
            "runtime_sockets",
            TEXT,
            "Patterns of sockets of container runtimes.",
        ),
        set("safe_sysctls", TEXT, "Further sysctls that pods may set."),
        set(
            "shell_ports",
            NUMBER,
            "Ports on which remote shells listen.",
        ),
        set(
            "default_accounts",
            TEXT,
            "Patterns of service accounts that workloads must not run as.",
        ),
        set(
            "workload_resources",
            TEXT,
            "Patterns of resources whose creation runs programs.",
        ),
        set(
            "workload_verbs",
            TEXT,
            "Patterns of verbs that create workloads.",
        ),
        set(
            "secret_resources",
            TEXT,
            "Patterns of resources that hold secrets.",
        ),
        set(
            "secret_verbs",
            TEXT,
            "Patterns of verbs that give access to secrets.",
        ),
        set(
            "update_strategies",
            TEXT,
            "Patterns of update strategies that may be used.",
        ),
        set(
            "restart_policies",
            TEXT,
            "Restart policies that may be used.",
        ),
        set(
            "ignored_secrets",
            TEXT,
            "Patterns of Secrets that need not be among the files.",
        ),
        set(
            "ignored_config_maps",
            TEXT,
            "Patterns of ConfigMaps that need not be among the files.",
        ),
        set(
            "forbidden_kinds",
            TEXT,
            "Patterns of kinds that must not be used, as in `^apps/v1/ReplicaSet$`.",
        ),
    ],
);
