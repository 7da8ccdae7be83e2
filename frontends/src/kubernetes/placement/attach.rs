//! How many volumes can be attached to a node: a limit of each storage driver.
//!
//! It is counted like a resource, `attachable-volumes-csi-DRIVER`, as nodes call it. A volume that several pods share is attached
//! once to each node, so only volumes that a pod has for itself are counted.

use std::sync::Arc;

use locus_core::Span;

use super::nodes::NodeShape;
use crate::kubernetes::access::Access as _;
use crate::kubernetes::model::{Model, Workload};
use crate::kubernetes::object::Object;
use crate::yaml::Node;

/// What the resource is called, before the name of a driver.
const RESOURCE: &str = "attachable-volumes-csi-";

/// Whether a resource is a limit of volumes.
pub(super) fn is_limit(resource: &str) -> bool {
    resource.starts_with(RESOURCE)
}

/// Adds what the drivers of a node say that it can take.
pub(super) fn limit(model: &Model<'_>, shape: &mut NodeShape) {
    let drivers = shape.node.as_ref().and_then(|name| {
        let at = model.find("CSINode", None, name)?;
        model.object(at)?.spec()
    });
    for driver in drivers.map_or(&[][..], |spec| spec.items("drivers")) {
        let count = driver
            .some("allocatable")
            .and_then(|some| some.int_of("count"));
        if let (Some(name), Some(count)) = (driver.str_of("name"), count)
            && let Ok(count) = u64::try_from(count)
        {
            let most = (count.saturating_mul(1000), driver.span_of("allocatable"));
            let resource: Arc<str> = format!("{RESOURCE}{name}").into();
            shape.capacity.entry(resource).or_insert(most);
        }
    }
}

/// The volumes of a driver that each pod has for itself, by where they are written.
pub(super) fn volumes(
    model: &Model<'_>,
    workload: &Workload<'_>,
    object: &Object,
    one: bool,
    resource: &str,
) -> Vec<Span> {
    let namespace = model.namespace(workload.object);
    let Some(driver) = resource.strip_prefix(RESOURCE) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    let mut add = |claim: &Node, span: Span| {
        if provisioner(model, claim).as_deref() == Some(driver) {
            all.push(span);
        }
    };
    let templates = object.spec();
    let templates = templates.map_or(&[][..], |spec| spec.items("volumeClaimTemplates"));
    for template in templates {
        if let Some(claim) = template.some("spec") {
            add(claim, template.span);
        }
    }
    for volume in workload.spec.items("volumes") {
        if let Some(claim) = volume.at(&["ephemeral", "volumeClaimTemplate", "spec"]) {
            add(claim, volume.span_of("ephemeral"));
        }
        let named = volume.some("persistentVolumeClaim");
        let Some(name) = named.and_then(|named| named.text_of("claimName")) else {
            continue;
        };
        let claim = model.find("PersistentVolumeClaim", Some(namespace), &name.text);
        let claim = claim
            .and_then(|at| model.object(at))
            .and_then(|claim| claim.spec());
        if let Some(claim) = claim
            && one
            && &*object.kind.text != "DaemonSet"
            && mounts(model, namespace, &name.text) == 1
        {
            add(claim, name.span);
        }
    }
    all
}

/// How many workloads mount a claim.
fn mounts(model: &Model<'_>, namespace: &str, claim: &str) -> usize {
    let workloads = model.workloads.iter().filter(|workload| {
        model.namespace(workload.object) == namespace
            && workload.spec.items("volumes").iter().any(|volume| {
                let named = volume.some("persistentVolumeClaim");
                named.and_then(|named| named.str_of("claimName")) == Some(claim)
            })
    });
    workloads.count()
}

/// The driver that makes the volumes of a claim: that of its class, or of the class that holds where none is named.
fn provisioner(model: &Model<'_>, claim: &Node) -> Option<String> {
    const DEFAULT: &str = "storageclass.kubernetes.io/is-default-class";
    let class = match claim.str_of("storageClassName") {
        Some(name) => model
            .find("StorageClass", None, name)
            .and_then(|at| model.object(at))?,
        None => model.objects.iter().find(|object| {
            object.is("storage.k8s.io", "StorageClass")
                && object.annotation(DEFAULT) == Some("true")
        })?,
    };
    class.node.str_of("provisioner").map(str::to_owned)
}
