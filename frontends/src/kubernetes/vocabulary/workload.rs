//! Workloads: pods, and what has a template of them.

use locus_core::vocabulary::SigDecl;
use locus_core::vocabulary::declare::{lone, one, set, sig};

use super::{BOOL, NUMBER, TEXT};

pub(super) const WORKLOAD: SigDecl = sig(
    "Workload",
    super::OBJECT,
    "A pod, or something with a template of pods.",
    &[
        lone(
            "replicas",
            NUMBER,
            "How many pods there are: `replicas`, or 1 where the kind has that field.",
        ),
        lone(
            "strategy",
            TEXT,
            "The type of its update strategy, when it is written.",
        ),
        lone("ttl", NUMBER, "`ttlSecondsAfterFinished` of a job."),
        set("pod_labels", &["Label"], "The labels of its pods."),
        set(
            "pod_annotations",
            &["Label"],
            "The annotations of its pods.",
        ),
        set("containers", &["Container"], "The containers of its pods."),
        set("volumes", &["Volume"], "The volumes of its pods."),
        lone(
            "controller_selector",
            &["ControllerSelector"],
            "The selector of a controller.",
        ),
        one(
            "scales",
            BOOL,
            "Whether an autoscaler chooses how many pods there are.",
        ),
        lone(
            "account",
            TEXT,
            "The name of the service account of its pods, when it is written.",
        ),
        lone(
            "old_account",
            TEXT,
            "`serviceAccount`, the old name of that field.",
        ),
        lone("mounts_token", BOOL, "`automountServiceAccountToken`."),
        one(
            "gets_token",
            BOOL,
            "Whether its pods are given the token of their account: unless they or the account say no.",
        ),
        set(
            "tokens",
            &["ProjectedToken"],
            "The tokens that volumes of its pods hold.",
        ),
        one(
            "host_network",
            BOOL,
            "Whether pods use the network of the node.",
        ),
        one(
            "host_pid",
            BOOL,
            "Whether pods see the processes of the node.",
        ),
        one("host_ipc", BOOL, "Whether pods share memory with the node."),
        one(
            "host_users",
            BOOL,
            "Whether pods use the users of the node: false only for `hostUsers: false`.",
        ),
        lone(
            "os",
            TEXT,
            "The operating system of its nodes, when it is written.",
        ),
        lone(
            "restart_policy",
            TEXT,
            "`restartPolicy`, when it is written.",
        ),
        lone(
            "priority_class",
            TEXT,
            "`priorityClassName`, when it is written.",
        ),
        set("dns_options", &["Label"], "The options of `dnsConfig`."),
        one("node_affinity", BOOL, "Whether it has any node affinity."),
        set(
            "spread_keys",
            TEXT,
            "The topology keys over which an anti-affinity or spread keeps its own pods apart.",
        ),
        set(
            "claim_templates",
            &["ClaimTemplate"],
            "The templates of claims of a StatefulSet.",
        ),
        one(
            "isolated",
            BOOL,
            "Whether a NetworkPolicy among the files selects its pods.",
        ),
        set(
            "reaches",
            &["Workload"],
            "The other workloads whose pods its pods can talk to, on some port, as far as policies decide it.",
        ),
        one(
            "reaches_internet",
            BOOL,
            "Whether its pods can talk to some address of the internet.",
        ),
        one(
            "internet_reaches",
            BOOL,
            "Whether some address of the internet can talk to its pods, also through an Ingress or route.",
        ),
        set(
            "standards",
            &["Standard"],
            "The Pod Security Standards that its pods must meet.",
        ),
        set(
            "seccomp_annotations",
            TEXT,
            "The seccomp profiles that annotations of its pods give to them or to their containers.",
        ),
        set("sysctls", TEXT, "The sysctls that are set for its pods."),
        lone(
            "pod_seccomp",
            TEXT,
            "The type of the seccomp profile of its pods.",
        ),
        lone(
            "pod_apparmor",
            TEXT,
            "The type of the AppArmor profile of its pods.",
        ),
        lone(
            "pod_host_process",
            BOOL,
            "`hostProcess` of its pods on Windows.",
        ),
        lone("pod_non_root", BOOL, "`runAsNonRoot` of its pods."),
        lone("pod_user", NUMBER, "`runAsUser` of its pods."),
        set(
            "pod_selinux",
            &["Label"],
            "The SELinux options of its pods, with their names.",
        ),
    ],
);

/// A kind of workload.
pub(super) const fn kind(name: &'static str, doc: &'static str) -> SigDecl {
    sig(name, super::WORKLOAD, doc, &[])
}

pub(super) const CONTAINER: SigDecl = sig(
    "Container",
    None,
    "A container; its span is its name.",
    &[
        one("workload", &["Workload"], "Its workload."),
        one("container_name", TEXT, "Its name."),
        one(
            "role",
            TEXT,
            "When it runs: `main`, `init`, `sidecar` or `ephemeral`.",
        ),
        lone("image", TEXT, "Its image."),
        set("ports", &["ContainerPort"], "The ports it lists."),
        set("variables", &["Variable"], "Its environment variables."),
        set("mounts", &["Mount"], "What is mounted into it."),
        set("probes", &["Probe"], "Its probes."),
        set("amounts", &["Amount"], "What it asks for of each resource."),
        lone("privileged", BOOL, "`privileged`."),
        lone("allow_escalation", BOOL, "`allowPrivilegeEscalation`."),
        set("added", TEXT, "The capabilities that it is given."),
        set("dropped", TEXT, "The capabilities that are taken from it."),
        lone("read_only_root", BOOL, "`readOnlyRootFilesystem`."),
        lone(
            "non_root",
            BOOL,
            "`runAsNonRoot`, its own or that of the pod.",
        ),
        lone("user", NUMBER, "`runAsUser`, its own or that of the pod."),
        lone(
            "user_group",
            NUMBER,
            "`runAsGroup`, its own or that of the pod.",
        ),
        lone(
            "pull_policy",
            TEXT,
            "`imagePullPolicy`, when it is written.",
        ),
        lone("own_non_root", BOOL, "`runAsNonRoot` of its own."),
        lone("own_user", NUMBER, "`runAsUser` of its own."),
        lone("proc_mount", TEXT, "`procMount`."),
        lone(
            "own_seccomp",
            TEXT,
            "The type of a seccomp profile of its own.",
        ),
        lone(
            "own_apparmor",
            TEXT,
            "The type of an AppArmor profile of its own, written as a field or as an annotation.",
        ),
        lone(
            "own_host_process",
            BOOL,
            "`hostProcess` of its own, on Windows.",
        ),
        set(
            "own_selinux",
            &["Label"],
            "SELinux options of its own, with their names.",
        ),
        set(
            "probe_hosts",
            TEXT,
            "The hosts that its probes and hooks name.",
        ),
    ],
);

pub(super) const TOKEN: SigDecl = sig(
    "ProjectedToken",
    None,
    "A token of a service account that a volume holds; its span is its source.",
    &[
        one("token_for", &["Workload"], "The pods that are given it."),
        lone("audience", TEXT, "Whom it is for, when that is written."),
        one("lifetime", NUMBER, "`expirationSeconds`, or an hour."),
    ],
);

pub(super) const CLAIM_TEMPLATE: SigDecl = sig(
    "ClaimTemplate",
    None,
    "A template of claims of a StatefulSet; its span is its name.",
    &[
        one("template_of", &["Workload"], "Its StatefulSet."),
        set("template_annotations", &["Label"], "Its annotations."),
    ],
);

pub(super) const PORT: SigDecl = sig(
    "ContainerPort",
    None,
    "A port that a container lists; its span is its number.",
    &[
        one("listed_by", &["Container"], "Its container."),
        one("container_port", NUMBER, "Its number."),
        one("port_protocol", TEXT, "Its protocol."),
        lone("listed_name", TEXT, "Its name."),
        lone(
            "host_port",
            NUMBER,
            "The port of the node that leads to it.",
        ),
    ],
);

pub(super) const VARIABLE: SigDecl = sig(
    "Variable",
    None,
    "An environment variable; its span is its name.",
    &[
        one("variable_of", &["Container"], "Its container."),
        one("variable_name", TEXT, "Its name."),
        lone("literal", TEXT, "Its value, when that is written."),
        lone(
            "from",
            TEXT,
            "Where it is taken from, as in `secretKeyRef`.",
        ),
    ],
);

pub(super) const PROBE: SigDecl = sig(
    "Probe",
    None,
    "A probe; its span is its port, or its key.",
    &[
        one("probe_of", &["Container"], "Its container."),
        one("probe_kind", TEXT, "`liveness`, `readiness` or `startup`."),
        lone("probe_port", &["Text + Number"], "The port that it asks."),
    ],
);

pub(super) const AMOUNT: SigDecl = sig(
    "Amount",
    None,
    "What a container asks for of a resource; its span is where it is written first.",
    &[
        one("amount_of", &["Container"], "Its container."),
        one("resource", TEXT, "The name of the resource."),
        lone("request", TEXT, "What it is sure to get."),
        lone("limit", TEXT, "The most it gets."),
    ],
);

pub(super) const MOUNT: SigDecl = sig(
    "Mount",
    None,
    "A mount; its span is the name of the volume.",
    &[
        one("mounted_in", &["Container"], "Its container."),
        one("volume_name", TEXT, "The name of its volume."),
        one("path", TEXT, "The path it is mounted at."),
        one("read_only", BOOL, "Whether it cannot be written to."),
        lone("mounted", &["Volume"], "The volume of that name."),
    ],
);

pub(super) const VOLUME: SigDecl = sig(
    "Volume",
    None,
    "A volume of pods; its span is its name.",
    &[
        one("volume_of", &["Workload"], "Its workload."),
        one("declared_name", TEXT, "Its name."),
        one("source", TEXT, "What it is, as in `configMap`."),
        lone("host_path", TEXT, "The path of the node that it is."),
    ],
);
