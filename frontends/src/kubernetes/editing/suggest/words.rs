//! Words that the server takes where its schema says only that it takes text.

use crate::kubernetes::schema::schema;
use crate::kubernetes::schema::types::Served;
use crate::language::editing::CAPABILITIES;

use super::is_current;

/// The words of a field of a definition.
pub(super) fn words(definition: &str, field: &str) -> &'static [&'static str] {
    match (definition, field) {
        ("Capabilities", "add" | "drop") => CAPABILITIES,
        ("CertificateSigningRequestSpec", "signerName") => &[
            "kubernetes.io/kube-apiserver-client",
            "kubernetes.io/kube-apiserver-client-kubelet",
            "kubernetes.io/kubelet-serving",
        ],
        ("ContainerResizePolicy", "resourceName") => &["cpu", "memory"],
        ("CronJobSpec", "schedule") => &["@hourly", "@daily", "@weekly", "@monthly", "@yearly"],
        ("CSIDriverSpec", "fsGroupPolicy") => &["ReadWriteOnceWithFSType", "File", "None"],
        ("CustomResourceConversion", "strategy") => &["None", "Webhook"],
        ("CustomResourceDefinitionSpec", "scope") => &["Namespaced", "Cluster"],
        ("EmptyDirVolumeSource", "medium") => &["Memory"],
        ("HPAScalingPolicy", "type") => &["Pods", "Percent"],
        ("HPAScalingRules", "selectPolicy") => &["Max", "Min", "Disabled"],
        ("IngressClassParametersReference", "scope") => &["Cluster", "Namespace"],
        ("JSONSchemaProps", "type") => {
            &["array", "boolean", "integer", "number", "object", "string"]
        }
        ("JSONSchemaProps", "format") => &[
            "byte",
            "cidr",
            "date",
            "date-time",
            "double",
            "duration",
            "email",
            "float",
            "hostname",
            "int32",
            "int64",
            "ipv4",
            "ipv6",
            "password",
            "uri",
            "uuid",
        ],
        ("JSONSchemaProps", "x-kubernetes-list-type") => &["atomic", "map", "set"],
        ("JSONSchemaProps", "x-kubernetes-map-type") => &["atomic", "granular"],
        ("LabelSelectorRequirement", "operator") => &["In", "NotIn", "Exists", "DoesNotExist"],
        ("LimitRangeItem", "type") => &["Container", "PersistentVolumeClaim", "Pod"],
        ("MetricSpec", "type") => &[
            "ContainerResource",
            "External",
            "Object",
            "Pods",
            "Resource",
        ],
        ("MetricTarget", "type") => &["AverageValue", "Utilization", "Value"],
        ("NodeSelectorRequirement" | "TopologySelectorLabelRequirement", "key")
        | ("PodAffinityTerm" | "TopologySpreadConstraint", "topologyKey") => NODE_LABELS,
        ("ObjectFieldSelector", "fieldPath") => &[
            "metadata.name",
            "metadata.namespace",
            "metadata.uid",
            "spec.nodeName",
            "spec.serviceAccountName",
            "status.hostIP",
            "status.hostIPs",
            "status.podIP",
            "status.podIPs",
        ],
        ("PodOS", "name") => &["linux", "windows"],
        ("PodSpec", "priorityClassName") => &["system-cluster-critical", "system-node-critical"],
        ("PodSpec", "schedulerName") => &["default-scheduler"],
        ("PodSpec", "serviceAccountName") => &["default"],
        ("ResourceFieldSelector", "resource") => &[
            "limits.cpu",
            "limits.ephemeral-storage",
            "limits.memory",
            "requests.cpu",
            "requests.ephemeral-storage",
            "requests.memory",
        ],
        ("ResourceMetricSource" | "ContainerResourceMetricSource", "name") => &["cpu", "memory"],
        ("Rule" | "RuleWithOperations" | "NamedRuleWithOperations", "scope") => {
            &["*", "Cluster", "Namespaced"]
        }
        ("Rule" | "RuleWithOperations" | "NamedRuleWithOperations", "operations") => {
            &["*", "CONNECT", "CREATE", "DELETE", "UPDATE"]
        }
        ("Secret", "type") => &[
            "Opaque",
            "bootstrap.kubernetes.io/token",
            "kubernetes.io/basic-auth",
            "kubernetes.io/dockercfg",
            "kubernetes.io/dockerconfigjson",
            "kubernetes.io/service-account-token",
            "kubernetes.io/ssh-auth",
            "kubernetes.io/tls",
        ],
        ("ServicePort", "appProtocol") => {
            &["kubernetes.io/h2c", "kubernetes.io/ws", "kubernetes.io/wss"]
        }
        ("ServiceSpec", "clusterIP") => &["None"],
        ("StatefulSetPersistentVolumeClaimRetentionPolicy", "whenDeleted" | "whenScaled") => {
            &["Delete", "Retain"]
        }
        ("StorageClass", "provisioner") => &[
            "disk.csi.azure.com",
            "ebs.csi.aws.com",
            "file.csi.azure.com",
            "kubernetes.io/no-provisioner",
            "pd.csi.storage.gke.io",
        ],
        ("Sysctl", "name") => &[
            "kernel.shm_rmid_forced",
            "net.ipv4.ip_local_port_range",
            "net.ipv4.ip_local_reserved_ports",
            "net.ipv4.ip_unprivileged_port_start",
            "net.ipv4.ping_group_range",
            "net.ipv4.tcp_fin_timeout",
            "net.ipv4.tcp_keepalive_intvl",
            "net.ipv4.tcp_keepalive_probes",
            "net.ipv4.tcp_keepalive_time",
            "net.ipv4.tcp_syncookies",
        ],
        ("ValidatingAdmissionPolicyBindingSpec", "validationActions") => &["Audit", "Deny", "Warn"],
        ("VolumeMount", "recursiveReadOnly") => &["Disabled", "Enabled", "IfPossible"],
        _ => &[],
    }
}

/// The keys that a map of a definition is known to have, though it may have others.
pub(super) fn keys(definition: &str, field: &str) -> &'static [&'static str] {
    match (definition, field) {
        ("ResourceRequirements", "limits" | "requests") => &["cpu", "memory", "ephemeral-storage"],
        ("VolumeResourceRequirements", _) | ("PersistentVolumeSpec", "capacity") => &["storage"],
        ("NodeStatus", "allocatable" | "capacity") => {
            &["cpu", "memory", "ephemeral-storage", "pods"]
        }
        ("LimitRangeItem", _) => &["cpu", "memory", "ephemeral-storage", "storage"],
        ("ResourceQuotaSpec", "hard") => &[
            "configmaps",
            "count/deployments.apps",
            "count/jobs.batch",
            "limits.cpu",
            "limits.ephemeral-storage",
            "limits.memory",
            "persistentvolumeclaims",
            "pods",
            "requests.cpu",
            "requests.ephemeral-storage",
            "requests.memory",
            "requests.storage",
            "resourcequotas",
            "secrets",
            "services",
            "services.loadbalancers",
            "services.nodeports",
        ],
        ("PodSpec", "nodeSelector") => NODE_LABELS,
        _ => &[],
    }
}

/// The values that a label of nodes is known to have.
pub(super) fn node_label_values(label: &str) -> &'static [&'static str] {
    match label {
        "kubernetes.io/os" => &["linux", "windows"],
        "kubernetes.io/arch" => &["amd64", "arm64", "ppc64le", "s390x"],
        _ => &[],
    }
}

/// The labels that every node has.
const NODE_LABELS: &[&str] = &[
    "kubernetes.io/arch",
    "kubernetes.io/hostname",
    "kubernetes.io/os",
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
];

/// The labels that objects are recommended to have, and those that namespaces are secured by.
pub(super) fn labels(kind: Option<&str>) -> &'static [&'static str] {
    match kind {
        Some("Namespace") => &[
            "pod-security.kubernetes.io/audit",
            "pod-security.kubernetes.io/enforce",
            "pod-security.kubernetes.io/enforce-version",
            "pod-security.kubernetes.io/warn",
        ],
        _ => &[
            "app.kubernetes.io/component",
            "app.kubernetes.io/instance",
            "app.kubernetes.io/managed-by",
            "app.kubernetes.io/name",
            "app.kubernetes.io/part-of",
            "app.kubernetes.io/version",
        ],
    }
}

/// The values that a label is known to have.
pub(super) fn label_values(label: &str) -> &'static [&'static str] {
    match label.strip_prefix("pod-security.kubernetes.io/") {
        Some("audit" | "enforce" | "warn") => &["privileged", "baseline", "restricted"],
        Some(_) => &["latest"],
        None => &[],
    }
}

/// The kinds that are kept, and made by hand.
pub(super) fn kept() -> impl Iterator<Item = &'static Served> {
    let all = schema().kinds.iter().filter(|served| is_current(served));
    all.filter(|served| {
        let list = format!("{}List", served.kind);
        schema().kind(served.api_version, &list).is_some()
    })
}
