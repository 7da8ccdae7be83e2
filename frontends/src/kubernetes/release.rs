//! Releases of Kubernetes, and which of them serve a kind.

use locus_core::suggest;

use super::object::Scope;
use super::schema::{Served, schema};

/// The releases of which is known what they serve, by the second number: 25 is 1.25.
pub const RELEASES: std::ops::RangeInclusive<u8> = 25..=37;

/// The newest release that is known.
pub const NEWEST: u8 = 37;

/// What is known of a kind in a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// It is served, and what its objects are is known.
    Served {
        definition: u16,
        /// The `apiVersion` to use instead, when this one is on its way out.
        replacement: Option<&'static str>,
    },
    /// It is served, but only older releases say what its objects are.
    Unchecked,
    /// It is not served any more, or not yet.
    Gone { message: String, help: String },
    /// There is no such kind in this group, which comes with Kubernetes.
    Unknown {
        message: String,
        help: Option<String>,
    },
    /// The group is not one that comes with Kubernetes.
    Foreign,
}

/// Versions that no known release serves: `apiVersion`, kinds, the release that dropped them, what to use instead.
const DROPPED: &[(&str, &[&str], u8, Option<&str>)] = &[
    (
        "extensions/v1beta1",
        &["DaemonSet", "Deployment", "ReplicaSet"],
        16,
        Some("apps/v1"),
    ),
    (
        "extensions/v1beta1",
        &["NetworkPolicy"],
        16,
        Some("networking.k8s.io/v1"),
    ),
    ("extensions/v1beta1", &["PodSecurityPolicy"], 16, None),
    (
        "extensions/v1beta1",
        &["Ingress"],
        22,
        Some("networking.k8s.io/v1"),
    ),
    (
        "apps/v1beta1",
        &["ControllerRevision", "Deployment", "StatefulSet"],
        16,
        Some("apps/v1"),
    ),
    (
        "apps/v1beta2",
        &[
            "ControllerRevision",
            "DaemonSet",
            "Deployment",
            "ReplicaSet",
            "StatefulSet",
        ],
        16,
        Some("apps/v1"),
    ),
    (
        "networking.k8s.io/v1beta1",
        &["Ingress", "IngressClass"],
        22,
        Some("networking.k8s.io/v1"),
    ),
    (
        "rbac.authorization.k8s.io/v1beta1",
        &["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"],
        22,
        Some("rbac.authorization.k8s.io/v1"),
    ),
    (
        "rbac.authorization.k8s.io/v1alpha1",
        &["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"],
        22,
        Some("rbac.authorization.k8s.io/v1"),
    ),
    (
        "admissionregistration.k8s.io/v1beta1",
        &[
            "MutatingWebhookConfiguration",
            "ValidatingWebhookConfiguration",
        ],
        22,
        Some("admissionregistration.k8s.io/v1"),
    ),
    (
        "admissionregistration.k8s.io/v1alpha1",
        &["InitializerConfiguration"],
        14,
        None,
    ),
    (
        "apiextensions.k8s.io/v1beta1",
        &["CustomResourceDefinition"],
        22,
        Some("apiextensions.k8s.io/v1"),
    ),
    (
        "apiregistration.k8s.io/v1beta1",
        &["APIService"],
        22,
        Some("apiregistration.k8s.io/v1"),
    ),
    (
        "authentication.k8s.io/v1beta1",
        &["TokenReview"],
        22,
        Some("authentication.k8s.io/v1"),
    ),
    (
        "authorization.k8s.io/v1beta1",
        &[
            "LocalSubjectAccessReview",
            "SelfSubjectAccessReview",
            "SelfSubjectRulesReview",
            "SubjectAccessReview",
        ],
        22,
        Some("authorization.k8s.io/v1"),
    ),
    (
        "certificates.k8s.io/v1beta1",
        &["CertificateSigningRequest"],
        22,
        Some("certificates.k8s.io/v1"),
    ),
    (
        "coordination.k8s.io/v1beta1",
        &["Lease"],
        22,
        Some("coordination.k8s.io/v1"),
    ),
    (
        "scheduling.k8s.io/v1beta1",
        &["PriorityClass"],
        22,
        Some("scheduling.k8s.io/v1"),
    ),
    (
        "scheduling.k8s.io/v1alpha1",
        &["PriorityClass"],
        22,
        Some("scheduling.k8s.io/v1"),
    ),
    (
        "storage.k8s.io/v1beta1",
        &["CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"],
        22,
        Some("storage.k8s.io/v1"),
    ),
    ("settings.k8s.io/v1alpha1", &["PodPreset"], 20, None),
    ("batch/v2alpha1", &["CronJob"], 21, Some("batch/v1")),
    ("batch/v1beta1", &["CronJob"], 25, Some("batch/v1")),
    (
        "discovery.k8s.io/v1beta1",
        &["EndpointSlice"],
        25,
        Some("discovery.k8s.io/v1"),
    ),
    (
        "events.k8s.io/v1beta1",
        &["Event"],
        25,
        Some("events.k8s.io/v1"),
    ),
    (
        "autoscaling/v2beta1",
        &["HorizontalPodAutoscaler"],
        25,
        Some("autoscaling/v2"),
    ),
    (
        "policy/v1beta1",
        &["PodDisruptionBudget"],
        25,
        Some("policy/v1"),
    ),
    ("policy/v1beta1", &["PodSecurityPolicy"], 25, None),
    (
        "node.k8s.io/v1beta1",
        &["RuntimeClass"],
        25,
        Some("node.k8s.io/v1"),
    ),
];

/// The kinds that are not in namespaces.
const CLUSTER_SCOPED: &[&str] = &[
    "APIService",
    "CSIDriver",
    "CSINode",
    "CertificateSigningRequest",
    "ClusterCIDR",
    "ClusterRole",
    "ClusterRoleBinding",
    "ClusterTrustBundle",
    "ComponentStatus",
    "CustomResourceDefinition",
    "DeviceClass",
    "DeviceTaintRule",
    "FlowSchema",
    "IPAddress",
    "IngressClass",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
    "MutatingWebhookConfiguration",
    "Namespace",
    "Node",
    "PersistentVolume",
    "PodSecurityPolicy",
    "PriorityClass",
    "PriorityLevelConfiguration",
    "ResourceClass",
    "ResourceSlice",
    "RuntimeClass",
    "SelfSubjectAccessReview",
    "SelfSubjectReview",
    "SelfSubjectRulesReview",
    "ServiceCIDR",
    "StorageClass",
    "StorageVersion",
    "StorageVersionMigration",
    "SubjectAccessReview",
    "TokenReview",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingWebhookConfiguration",
    "VolumeAttachment",
    "VolumeAttributesClass",
];

/// Whether the objects of a kind that comes with Kubernetes are in namespaces.
pub(crate) fn scope(kind: &str) -> Scope {
    match CLUSTER_SCOPED.binary_search(&kind) {
        Ok(_) => Scope::Cluster,
        Err(_) => Scope::Namespaced,
    }
}

/// Finds a kind in a release.
pub(crate) fn lookup(api_version: &str, kind: &str, release: u8) -> Lookup {
    // What releases before the first that is known served, that one did too, for all that can be said.
    let known = release.max(*RELEASES.start());
    match schema().kind(api_version, kind) {
        Some(served) if (served.first..=served.last).contains(&known) => match served.definition {
            Some(definition) => Lookup::Served {
                definition,
                replacement: newer(served, known),
            },
            None => Lookup::Unchecked,
        },
        Some(served) if release < served.first => Lookup::Gone {
            message: format!(
                "Kubernetes 1.{release} does not have `{kind}` in `{api_version}` yet"
            ),
            help: format!("it came with Kubernetes 1.{}", served.first),
        },
        Some(served) => gone(
            api_version,
            kind,
            served.last + 1,
            instead(kind, api_version, known),
        ),
        None => unserved(api_version, kind, release),
    }
}

fn gone(api_version: &str, kind: &str, since: u8, replacement: Option<&str>) -> Lookup {
    Lookup::Gone {
        message: format!("`{kind}` of `{api_version}` was removed in Kubernetes 1.{since}"),
        help: match replacement {
            Some(version) => format!("use `apiVersion: {version}`"),
            None => "it has no replacement".to_owned(),
        },
    }
}

fn unserved(api_version: &str, kind: &str, release: u8) -> Lookup {
    let dropped = DROPPED
        .iter()
        .find(|(version, kinds, ..)| *version == api_version && kinds.contains(&kind));
    match dropped {
        // What its objects were is not known.
        Some(&(_, _, since, _)) if release < since => return Lookup::Unchecked,
        Some(&(_, _, since, replacement)) => {
            return gone(api_version, kind, since, replacement);
        }
        None => {}
    }
    let group = super::object::group(api_version);
    let known = schema()
        .kinds
        .iter()
        .any(|served| super::object::group(served.api_version) == group);
    if !known {
        return Lookup::Foreign;
    }
    let kinds = schema().kinds_of(api_version).map(|served| served.kind);
    let kinds: Vec<&str> = kinds.collect();
    let message = if kinds.is_empty() {
        format!("there is no `{api_version}` in Kubernetes")
    } else {
        format!("there is no kind `{kind}` in `{api_version}`")
    };
    let elsewhere = instead(kind, api_version, release);
    let help = match elsewhere {
        Some(version) => Some(format!("`{kind}` is in `{version}`")),
        None if kinds.is_empty() => {
            let versions = schema().kinds.iter().map(|served| served.api_version);
            suggest::did_you_mean(api_version, versions)
        }
        None => suggest::did_you_mean(kind, kinds),
    };
    Lookup::Unknown { message, help }
}

/// The most stable `apiVersion` of a kind that a release serves, that of the same group before others.
fn instead(kind: &str, api_version: &str, release: u8) -> Option<&'static str> {
    let group = super::object::group(api_version);
    let served = schema().kinds.iter().filter(|served| {
        served.kind == kind
            && served.api_version != api_version
            && (served.first..=served.last).contains(&release)
    });
    let best = served.max_by_key(|served| {
        let same = super::object::group(served.api_version) == group;
        (same, stability(served.api_version))
    });
    best.map(|served| served.api_version)
}

/// The `apiVersion` that has taken the place of one that is still served.
fn newer(served: &Served, release: u8) -> Option<&'static str> {
    // Many clients read Endpoints still, but all of Kubernetes itself reads EndpointSlices.
    if (served.api_version, served.kind) == ("v1", "Endpoints") && release >= 33 {
        return Some("discovery.k8s.io/v1");
    }
    let (level, _) = stability(served.api_version);
    if level == 2 {
        return None;
    }
    let group = super::object::group(served.api_version);
    let better = instead(served.kind, served.api_version, release)?;
    let same = super::object::group(better) == group;
    (same && stability(better).0 > level).then_some(better)
}

/// How stable a version is: 2 for `v1`, 1 for `v1beta1`, 0 for `v1alpha1`; and its numbers.
fn stability(api_version: &str) -> (u8, (u32, u32)) {
    let version = api_version.rsplit('/').next().unwrap_or(api_version);
    let version = version.strip_prefix('v').unwrap_or(version);
    let number = |text: &str| text.parse().unwrap_or(0);
    if let Some((major, minor)) = version.split_once("beta") {
        (1, (number(major), number(minor)))
    } else if let Some((major, minor)) = version.split_once("alpha") {
        (0, (number(major), number(minor)))
    } else {
        (2, (number(version), 0))
    }
}

/// A release as the value of an input, `1.25`, up to the newest that is known.
pub(crate) fn parse(text: &str) -> Option<u8> {
    let minor = text.strip_prefix('v').unwrap_or(text).strip_prefix("1.")?;
    let minor = minor.split('.').next()?.parse().ok()?;
    (minor <= NEWEST).then_some(minor)
}

/// A release as labels name it, `v1.25`, also one that is newer than all that are known.
pub(crate) fn parse_label(text: &str) -> Option<u8> {
    let minor = text.strip_prefix("v1.")?;
    let plain = minor.bytes().all(|byte| byte.is_ascii_digit());
    let canonical = minor == "0" || !minor.starts_with('0');
    if !plain || !canonical || minor.is_empty() {
        return None;
    }
    Some(minor.parse().unwrap_or(u8::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(CLUSTER_SCOPED.is_sorted());
        let kinds = &schema().kinds;
        for kind in CLUSTER_SCOPED
            .iter()
            .filter(|kind| **kind != "PodSecurityPolicy")
        {
            assert!(kinds.iter().any(|served| served.kind == *kind), "{kind}");
        }
        for (version, kinds, _, replacement) in DROPPED {
            for kind in *kinds {
                let served = schema().kind(version, kind);
                assert!(served.is_none(), "{version} {kind} is served");
                if let Some(replacement) = replacement {
                    let there = matches!(lookup(replacement, kind, NEWEST), Lookup::Served { .. });
                    assert!(there, "{replacement} {kind}");
                }
            }
        }
    }

    #[test]
    fn a_kind_is_served_by_some_releases() {
        let hpa = "HorizontalPodAutoscaler";
        assert_eq!(lookup("autoscaling/v2beta2", hpa, 25), Lookup::Unchecked);
        let gone = lookup("autoscaling/v2beta2", hpa, 26);
        assert!(
            matches!(&gone, Lookup::Gone { message, help }
                if message.contains("removed in Kubernetes 1.26") && help.contains("autoscaling/v2`")),
            "{gone:?}"
        );
        assert!(matches!(
            lookup("autoscaling/v2", hpa, 25),
            Lookup::Served {
                replacement: None,
                ..
            }
        ));
        let policy = lookup(
            "admissionregistration.k8s.io/v1",
            "ValidatingAdmissionPolicy",
            29,
        );
        assert!(matches!(policy, Lookup::Gone { .. }), "not yet");
        let old = lookup("policy/v1beta1", "PodDisruptionBudget", 20);
        assert_eq!(old, Lookup::Unchecked);
        let older = lookup("extensions/v1beta1", "Deployment", 20);
        assert!(matches!(older, Lookup::Gone { .. }), "{older:?}");
        let pod = lookup("v1", "Pod", 3);
        assert!(matches!(pod, Lookup::Served { .. }), "{pod:?}");
    }

    #[test]
    fn a_typo_is_told_from_a_foreign_kind() {
        let typo = lookup("apps/v1", "Deploymnt", NEWEST);
        assert!(
            matches!(&typo, Lookup::Unknown { help: Some(help), .. } if help.contains("`Deployment`")),
            "{typo:?}"
        );
        let wrong = lookup("v1", "Deployment", NEWEST);
        assert!(
            matches!(&wrong, Lookup::Unknown { help: Some(help), .. } if help.contains("`apps/v1`")),
            "{wrong:?}"
        );
        assert_eq!(
            lookup("monitoring.coreos.com/v1", "ServiceMonitor", NEWEST),
            Lookup::Foreign
        );
        assert!(matches!(
            lookup("extensions/v1beta1", "Ingress", NEWEST),
            Lookup::Gone { .. }
        ));
    }

    #[test]
    fn releases_are_read_with_and_without_their_patch() {
        assert_eq!(parse("1.30"), Some(30));
        assert_eq!(parse("v1.30.4"), Some(30));
        assert_eq!(parse("1.0"), Some(0));
        for text in ["1.38", "30", "1.x", ""] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse_label("v1.30"), Some(30));
        assert_eq!(parse_label("v1.999"), Some(u8::MAX));
        for text in ["1.30", "v1.30.1", "v1.", "v1.01", "latest"] {
            assert_eq!(parse_label(text), None, "{text}");
        }
    }
}
