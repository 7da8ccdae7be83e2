//! Volumes and claims.

use locus_core::values::Quantity;

use super::Here;
use crate::kubernetes::access::Access as _;
use crate::kubernetes::metadata;
use crate::yaml::Node;

/// What a volume can be; `name` and settings are no sources.
const SOURCES: &[&str] = &[
    "awsElasticBlockStore",
    "azureDisk",
    "azureFile",
    "cephfs",
    "cinder",
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "fc",
    "flexVolume",
    "flocker",
    "gcePersistentDisk",
    "gitRepo",
    "glusterfs",
    "hostPath",
    "image",
    "iscsi",
    "local",
    "nfs",
    "persistentVolumeClaim",
    "photonPersistentDisk",
    "portworxVolume",
    "projected",
    "quobyte",
    "rbd",
    "scaleIO",
    "secret",
    "storageos",
    "vsphereVolume",
];

pub(super) fn check(name: &str, here: &mut Here<'_, '_, '_>) {
    match name {
        "Volume" => {
            here.dns_label("name");
            here.at_most_one(SOURCES);
        }
        "VolumeMount" => {
            here.not_empty("mountPath");
            here.at_most_one(&["subPath", "subPathExpr"]);
            for key in ["subPath", "subPathExpr"] {
                descending(here, key);
            }
        }
        "HostPathVolumeSource" => {
            let help = "write the whole path, without `..`";
            here.syntax("path", has_no_way_up, "a path without `..`", help);
        }
        "KeyToPath" => descending(here, "path"),
        "VolumeProjection" => here.exactly_one(&[
            "configMap",
            "secret",
            "downwardAPI",
            "serviceAccountToken",
            "clusterTrustBundle",
            "podCertificate",
        ]),
        "PersistentVolumeClaimSpec" => {
            here.dns_subdomain("storageClassName");
            claim(here);
        }
        "PersistentVolumeSpec" => {
            here.dns_subdomain("storageClassName");
            volume(here);
        }
        "ResourceRequirements" | "VolumeResourceRequirements" => amounts(here),
        "ReplicationControllerSpec" => controller(here),
        "ServiceAccountTokenProjection" => {
            here.range("expirationSeconds", 600, 1 << 32);
        }
        _ => {}
    }
}

fn has_no_way_up(path: &str) -> bool {
    path.split('/').all(|part| part != "..")
}

/// A path below where it is used.
fn descending(here: &mut Here<'_, '_, '_>, key: &str) {
    let help = "write a path without `..` that does not start with `/`";
    let below = |path: &str| !path.starts_with('/') && has_no_way_up(path);
    here.syntax(key, below, "a path below the volume", help);
}

fn claim(here: &mut Here<'_, '_, '_>) {
    here.not_empty("accessModes");
    match here.node.at(&["resources", "requests", "storage"]) {
        None => {
            let message = format!(
                "`{}` lacks the required field `resources.requests.storage`",
                here.steps.path()
            );
            let at = here.at;
            here.push(locus_core::Diagnostic::error("k8s-missing-field", message).at(at));
        }
        Some(storage) => positive(here, storage),
    }
    once_per_pod(here);
}

fn once_per_pod(here: &mut Here<'_, '_, '_>) {
    let modes = here.node.texts("accessModes");
    let alone = modes.iter().find(|mode| &*mode.text == "ReadWriteOncePod");
    if let Some(alone) = alone.filter(|_| modes.len() > 1) {
        let message = "`ReadWriteOncePod` cannot be combined with other access modes".to_owned();
        here.fields(message, alone.span, "keep one access mode");
    }
}

fn positive(here: &mut Here<'_, '_, '_>, node: &Node) {
    let quantity = node.as_str().and_then(Quantity::parse);
    if quantity.is_some_and(|amount| Some(amount) <= Quantity::parse("0")) {
        let text = node.as_str().unwrap_or_default();
        let message = format!("`{text}` of storage is nothing");
        here.value(message, node.used_at(), "ask for some storage, as in `1Gi`");
    }
}

fn volume(here: &mut Here<'_, '_, '_>) {
    here.not_empty("accessModes");
    here.exactly_one(SOURCES);
    match here.node.at(&["capacity", "storage"]) {
        None => here.missing("capacity"),
        Some(storage) => positive(here, storage),
    }
    once_per_pod(here);
}

/// Amounts of resources are not negative, and resources beyond the known ones are whole.
fn amounts(here: &mut Here<'_, '_, '_>) {
    let zero = Quantity::parse("0");
    for kind in ["limits", "requests"] {
        for entry in here.node.some(kind).map_or(&[][..], Node::entries) {
            let Some(text) = entry.value.as_str() else {
                continue;
            };
            let name = entry.name().map_or("", |name| name);
            let Some(amount) = Quantity::parse(text) else {
                continue;
            };
            if Some(amount) < zero {
                let message = format!("`{text}` of {name} is below zero");
                here.value(
                    message,
                    entry.value.used_at(),
                    "use an amount of at least 0",
                );
            }
            let extended = name.contains('/') && !name.starts_with("kubernetes.io/");
            let pages = name.starts_with("hugepages-");
            if extended && amount.whole().is_none() {
                let message = format!("`{text}` of {name} is not a whole number");
                here.value(
                    message,
                    entry.value.used_at(),
                    "only cpu and memory can be divided",
                );
            }
            let known = extended
                || pages
                || matches!(name, "cpu" | "memory" | "ephemeral-storage" | "storage")
                || name.starts_with("kubernetes.io/");
            if !known {
                let message = format!("`{name}` is not a resource of containers");
                let near = ["cpu", "memory", "ephemeral-storage"];
                let help = locus_core::suggest::did_you_mean(name, near);
                let help = help.unwrap_or_else(|| {
                    "use `cpu`, `memory`, `ephemeral-storage`, `hugepages-...`, or a name with a domain".to_owned()
                });
                here.value(message, entry.key.span, help);
            }
        }
    }
}

fn controller(here: &mut Here<'_, '_, '_>) {
    here.not_negative(&["replicas", "minReadySeconds"]);
    let labels = here.node.labels("selector");
    metadata::labels(&labels, here.diagnostics);
    let template = here.node.at(&["template", "metadata", "labels"]);
    // Without a selector, the labels of the template are it.
    if labels.is_empty() && template.is_none_or(|labels| labels.entries().is_empty()) {
        here.missing("selector");
    }
}
