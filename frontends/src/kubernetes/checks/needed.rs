//! What single fields must be, beyond what the schema says of them.

use super::Here;
use crate::kubernetes::access::Access as _;
use crate::kubernetes::text;

/// What a field must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    /// It must be given: what it holds has required fields of its own.
    Given,
    /// It must be given, and not be empty.
    Filled,
    /// Where it is given, it must not be empty.
    Spoken,
    /// Where it is given, it must be a name of DNS.
    Subdomain,
    /// Where it is given, it must be a label of DNS.
    Label,
    /// Where it is given, it must be the key of a label.
    LabelKey,
    /// Where it is given, it must be the value of a label.
    LabelValue,
    /// Where it is given, it must be the key of a ConfigMap or Secret.
    DataKey,
    /// Where it is given, it must be a path that starts with `/`.
    Absolute,
    /// Where it is given, it must be the mode of a file.
    Mode,
    /// Where it is given, it must have no `/` and no `%`.
    Segment,
}

/// The group and name of a definition, and what its fields must be.
type Needs = (&'static str, &'static str, &'static [(&'static str, Need)]);

/// In the order of groups and names.
const NEEDS: &[Needs] = &[
    (
        "admissionregistration",
        "ServiceReference",
        &[("path", Need::Absolute)],
    ),
    (
        "apiextensions",
        "ServiceReference",
        &[("path", Need::Absolute)],
    ),
    ("apps", "DaemonSet", &[("spec", Need::Given)]),
    ("apps", "Deployment", &[("spec", Need::Given)]),
    ("apps", "ReplicaSet", &[("spec", Need::Given)]),
    ("apps", "ReplicaSetSpec", &[("template", Need::Given)]),
    ("apps", "StatefulSet", &[("spec", Need::Given)]),
    (
        "autoscaling",
        "HPAScalingRules",
        &[("policies", Need::Spoken), ("selectPolicy", Need::Spoken)],
    ),
    (
        "autoscaling",
        "HorizontalPodAutoscaler",
        &[("spec", Need::Given)],
    ),
    ("batch", "CronJob", &[("spec", Need::Given)]),
    ("batch", "Job", &[("spec", Need::Given)]),
    ("batch", "JobSpec", &[("completionMode", Need::Spoken)]),
    ("batch", "JobTemplateSpec", &[("spec", Need::Given)]),
    (
        "batch",
        "PodFailurePolicyOnPodConditionsPattern",
        &[("type", Need::LabelKey)],
    ),
    (
        "core",
        "ConfigMapEnvSource",
        &[("name", Need::Filled), ("name", Need::Subdomain)],
    ),
    (
        "core",
        "ConfigMapKeySelector",
        &[
            ("name", Need::Filled),
            ("name", Need::Subdomain),
            ("key", Need::DataKey),
        ],
    ),
    ("core", "ConfigMapProjection", &[("name", Need::Filled)]),
    (
        "core",
        "ConfigMapVolumeSource",
        &[("name", Need::Filled), ("defaultMode", Need::Mode)],
    ),
    ("core", "Container", &[("restartPolicy", Need::Spoken)]),
    ("core", "DownwardAPIVolumeFile", &[("mode", Need::Mode)]),
    (
        "core",
        "DownwardAPIVolumeSource",
        &[("defaultMode", Need::Mode)],
    ),
    ("core", "ImageVolumeSource", &[("reference", Need::Filled)]),
    ("core", "KeyToPath", &[("mode", Need::Mode)]),
    ("core", "NFSVolumeSource", &[("path", Need::Absolute)]),
    ("core", "PersistentVolume", &[("spec", Need::Given)]),
    ("core", "PersistentVolumeClaim", &[("spec", Need::Given)]),
    (
        "core",
        "PersistentVolumeClaimSpec",
        &[
            ("volumeAttributesClassName", Need::Subdomain),
            ("volumeMode", Need::Spoken),
        ],
    ),
    (
        "core",
        "PersistentVolumeSpec",
        &[("volumeMode", Need::Spoken)],
    ),
    ("core", "Pod", &[("spec", Need::Given)]),
    (
        "core",
        "PodAffinityTerm",
        &[("topologyKey", Need::LabelKey)],
    ),
    ("core", "PodDNSConfigOption", &[("name", Need::Filled)]),
    (
        "core",
        "PodResourceClaim",
        &[
            ("resourceClaimName", Need::Spoken),
            ("resourceClaimName", Need::Subdomain),
            ("resourceClaimTemplateName", Need::Spoken),
            ("resourceClaimTemplateName", Need::Subdomain),
        ],
    ),
    ("core", "PodSpec", &[("serviceAccount", Need::Subdomain)]),
    ("core", "PodTemplate", &[("template", Need::Given)]),
    ("core", "PodTemplateSpec", &[("spec", Need::Given)]),
    (
        "core",
        "ProjectedVolumeSource",
        &[("defaultMode", Need::Mode)],
    ),
    ("core", "ReplicationController", &[("spec", Need::Given)]),
    (
        "core",
        "ReplicationControllerSpec",
        &[("template", Need::Given)],
    ),
    ("core", "ResourceClaim", &[("request", Need::Label)]),
    (
        "core",
        "SecretEnvSource",
        &[("name", Need::Filled), ("name", Need::Subdomain)],
    ),
    (
        "core",
        "SecretKeySelector",
        &[
            ("name", Need::Filled),
            ("name", Need::Subdomain),
            ("key", Need::DataKey),
        ],
    ),
    ("core", "SecretProjection", &[("name", Need::Filled)]),
    (
        "core",
        "SecretVolumeSource",
        &[("secretName", Need::Filled), ("defaultMode", Need::Mode)],
    ),
    ("core", "Service", &[("spec", Need::Given)]),
    ("core", "ServiceSpec", &[("ipFamilyPolicy", Need::Spoken)]),
    ("core", "Toleration", &[("value", Need::LabelValue)]),
    (
        "core",
        "TopologySelectorLabelRequirement",
        &[("key", Need::LabelKey), ("values", Need::Filled)],
    ),
    (
        "core",
        "VolumeMount",
        &[
            ("mountPropagation", Need::Spoken),
            ("recursiveReadOnly", Need::Spoken),
        ],
    ),
    (
        "core",
        "WindowsSecurityContextOptions",
        &[("runAsUserName", Need::Spoken)],
    ),
    ("networking", "Ingress", &[("spec", Need::Given)]),
    ("networking", "IngressClass", &[("spec", Need::Given)]),
    (
        "networking",
        "IngressClassParametersReference",
        &[
            ("apiGroup", Need::Subdomain),
            ("kind", Need::Segment),
            ("name", Need::Segment),
            ("namespace", Need::Label),
        ],
    ),
    (
        "networking",
        "IngressSpec",
        &[("ingressClassName", Need::Spoken)],
    ),
    (
        "networking",
        "NetworkPolicyPort",
        &[("protocol", Need::Spoken)],
    ),
    (
        "policy",
        "PodDisruptionBudgetSpec",
        &[("unhealthyPodEvictionPolicy", Need::Spoken)],
    ),
    (
        "storage",
        "StorageClass",
        &[("volumeBindingMode", Need::Spoken)],
    ),
];

/// Fields that the schema requires, and that may be empty.
pub(crate) fn may_be_empty(group: &str, definition: &str, field: &str) -> bool {
    matches!(
        (group, definition, field),
        ("core", "Sysctl" | "HTTPHeader", "value") | ("rbac", "RoleRef", "apiGroup")
    )
}

pub(super) fn check(group: &str, definition: &str, here: &mut Here<'_, '_, '_>) {
    let at = NEEDS.binary_search_by(|(of, name, _)| (*of, *name).cmp(&(group, definition)));
    let needs = at.ok().and_then(|at| NEEDS.get(at));
    for (field, need) in needs.map_or(&[][..], |(_, _, needs)| needs) {
        one(field, *need, here);
    }
}

fn one(field: &str, need: Need, here: &mut Here<'_, '_, '_>) {
    match need {
        Need::Given if here.node.some(field).is_none() => here.missing(field),
        Need::Given => {}
        Need::Filled => {
            here.not_empty(field);
        }
        Need::Spoken => {
            if here.node.some(field).is_some() {
                here.not_empty(field);
            }
        }
        Need::Subdomain => here.dns_subdomain(field),
        Need::Label => here.dns_label(field),
        Need::LabelKey => {
            let help = "write it as in `topology.kubernetes.io/zone`";
            here.syntax(field, text::is_qualified_name, "the key of a label", help);
        }
        Need::LabelValue => {
            let help = "use letters, digits, `-`, `_` and `.`, at most 63 characters";
            here.syntax(field, text::is_label_value, "the value of a label", help);
        }
        Need::DataKey => {
            let help = "use letters, digits, `-`, `_` and `.`, at most 253 characters";
            here.syntax(
                field,
                text::is_data_key,
                "a key of a ConfigMap or Secret",
                help,
            );
        }
        Need::Absolute => {
            let absolute = |path: &str| path.starts_with('/');
            here.syntax(field, absolute, "an absolute path", "start it with `/`");
        }
        Need::Mode => {
            if here
                .node
                .int_of(field)
                .is_some_and(|mode| !(0..=0o777).contains(&mode))
            {
                let path = here.path(field);
                let message = format!("`{path}` is not the mode of a file");
                let span = here.node.span_of(field);
                let help =
                    "use an octal number up to 0777, as in `0644`; in JSON its decimal value, 420";
                here.value(message, span, help);
            }
        }
        Need::Segment => {
            let help = "leave out `/` and `%`";
            here.syntax(field, text::is_path_segment, "a name", help);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::NEEDS;
    use crate::kubernetes::schema::schema;

    /// A name that is not in the schema would check nothing.
    #[test]
    fn fields_are_those_of_the_schema() {
        assert!(NEEDS.is_sorted_by_key(|(group, name, _)| (*group, *name)));
        for (group, name, fields) in NEEDS {
            let mut known = schema().definitions.iter();
            let known = known.find(|known| known.group == *group && known.name == *name);
            let known = known.unwrap_or_else(|| panic!("no definition {group}/{name}"));
            for (field, _) in *fields {
                assert!(known.field(field).is_some(), "{group}/{name}.{field}");
            }
        }
    }
}
