//! Volumes and claims.

use locus_core::values::Quantity;

use super::{Here, amounts, workload};
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
            here.word("recursiveReadOnly", &["Disabled", "Enabled", "IfPossible"]);
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
        "VolumeProjection" => here.at_most_one(&[
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
        "ResourceRequirements" => {
            amounts::check(here);
            amounts::taken_whole(here);
            amounts::huge_pages(here);
        }
        "VolumeResourceRequirements" => amounts::check(here),
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

fn controller(here: &mut Here<'_, '_, '_>) {
    here.not_negative(&["replicas", "minReadySeconds"]);
    workload::restart_policy(here, &["Always"]);
    let labels = here.node.labels("selector");
    metadata::labels(&labels, here.diagnostics);
    let template = here.node.at(&["template", "metadata", "labels"]);
    // Without a selector, the labels of the template are it.
    if labels.is_empty() && template.is_none_or(|labels| labels.entries().is_empty()) {
        here.missing("selector");
    }
}
