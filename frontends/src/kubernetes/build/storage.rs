//! Claims: who mounts them, what they may be bound to, and which StatefulSet they belong to.

use rustc_hash::FxHashSet;

use super::Builder;
use crate::kubernetes::access::Access as _;
use crate::kubernetes::model::{Model, Workload};
use crate::kubernetes::object::{Object, Text};
use crate::kubernetes::vocabulary::{field, sig};
use crate::yaml::Node;

/// Provisioners of disks, which one node at a time can write to.
const DISKS: [&str; 13] = [
    "kubernetes.io/aws-ebs",
    "ebs.csi.aws.com",
    "kubernetes.io/gce-pd",
    "pd.csi.storage.gke.io",
    "kubernetes.io/azure-disk",
    "disk.csi.azure.com",
    "kubernetes.io/cinder",
    "cinder.csi.openstack.org",
    "kubernetes.io/vsphere-volume",
    "rancher.io/local-path",
    "openebs.io/local",
    "dobs.csi.digitalocean.com",
    "csi.hetzner.cloud",
];

impl Builder<'_, '_> {
    /// States what is to say about claims.
    pub(super) fn storage(&mut self) {
        let model = self.model;
        let mut mounted = FxHashSet::default();
        for workload in &model.workloads {
            let namespace = model.namespace(workload.object);
            for volume in workload.spec.items("volumes") {
                let name = volume
                    .some("persistentVolumeClaim")
                    .and_then(|claim| claim.text_of("claimName"));
                let Some(name) = name else {
                    continue;
                };
                let found = model.find("PersistentVolumeClaim", Some(namespace), &name.text);
                if let Some(claim) = found {
                    mounted.insert(claim);
                    self.mounted_claim(workload, claim, &name);
                }
            }
            if let Some(object) = model.object(workload.object) {
                let templates = object.spec();
                for template in templates.map_or(&[][..], |spec| spec.items("volumeClaimTemplates"))
                {
                    self.claim_modes(workload.object, template.some("spec"), None);
                }
            }
        }
        for (at, object) in model.objects.iter().enumerate() {
            if object.is("", "PersistentVolumeClaim") {
                let named = object.spec().and_then(|spec| spec.str_of("volumeName"));
                let volume = named.and_then(|name| model.find("PersistentVolume", None, name));
                self.claim_modes(at, object.spec(), volume);
                if !mounted.contains(&at) {
                    self.left_claim(at, object);
                }
            }
        }
    }

    fn mounted_claim(&mut self, workload: &Workload<'_>, claim: usize, name: &Text) {
        let model = self.model;
        let (Some(object), Some(atom), Some(claimed)) = (
            model.object(workload.object),
            self.atom_of(workload.object),
            self.atom_of(claim),
        ) else {
            return;
        };
        let span = name.span;
        let modes = model.object(claim).and_then(Object::spec);
        let modes = modes.map_or_else(Vec::new, |spec| spec.texts("accessModes"));
        let has = |mode: &str| modes.iter().any(|own| &*own.text == mode);
        let many = modes.iter().any(|mode| mode.text.ends_with("Many"));
        let kind = &*object.kind.text;
        let count = self.scales.count(workload.object, object);
        let scaled = self.scales.scaled(workload.object);
        let scaled = scaled.is_some_and(|scaled| scaled.most > 1);
        let fact = self
            .facts
            .atom(sig!("MountedClaim"), name.text.clone(), span);
        self.fact(field!("MountedClaim", "mounting"), fact, atom, span);
        self.fact(field!("MountedClaim", "claimed"), fact, claimed, span);
        let strategy = object.node.at(&["spec", "strategy", "type"]);
        let recreates = strategy.and_then(Node::as_str) == Some("Recreate");
        let truths = [
            (
                field!("MountedClaim", "many_pods"),
                count > 1 || scaled || kind == "DaemonSet",
            ),
            (
                field!("MountedClaim", "rolling"),
                kind == "Deployment" && !recreates,
            ),
            (field!("MountedClaim", "pinned"), pinned(workload)),
            (
                field!("MountedClaim", "one_node"),
                has("ReadWriteOnce") && !many,
            ),
            (field!("MountedClaim", "one_pod"), has("ReadWriteOncePod")),
        ];
        for (field, truth) in truths {
            self.truth_fact(field, fact, truth, span);
        }
    }

    /// The access modes of a claim, when it is known what they are asked of.
    fn claim_modes(&mut self, of: usize, spec: Option<&Node>, volume: Option<usize>) {
        let model = self.model;
        let Some((spec, owner)) = spec.zip(self.atom_of(of)) else {
            return;
        };
        let offers: (Vec<Text>, String) = match volume.and_then(|at| model.object(at)) {
            Some(volume) => {
                let modes = volume.spec();
                let modes = modes.map_or_else(Vec::new, |spec| spec.texts("accessModes"));
                (modes, format!("PersistentVolume `{}`", volume.called()))
            }
            None => {
                let Some(disk) = disk(model, spec) else {
                    return;
                };
                (Vec::new(), disk)
            }
        };
        for mode in spec.texts("accessModes") {
            let offered = match volume {
                Some(_) => offers.0.iter().any(|own| own.text == mode.text),
                None => &*mode.text != "ReadWriteMany",
            };
            let fact = self
                .facts
                .atom(sig!("ClaimMode"), mode.text.clone(), mode.span);
            self.fact(field!("ClaimMode", "mode_of"), fact, owner, mode.span);
            self.text_fact(field!("ClaimMode", "mode"), fact, &mode.text, mode.span);
            self.truth_fact(field!("ClaimMode", "offered"), fact, offered, mode.span);
            let field = field!("ClaimMode", "offered_by");
            self.text_fact(field, fact, &offers.1, mode.span);
        }
    }

    /// A claim that has the name of one that a StatefulSet would make.
    fn left_claim(&mut self, at: usize, object: &Object) {
        let model = self.model;
        let (Some(name), Some(atom)) = (&object.name, self.atom_of(at)) else {
            return;
        };
        let Some((rest, number)) = name.text.rsplit_once('-') else {
            return;
        };
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return;
        }
        let sets = model.objects.iter().enumerate().filter(|(_, other)| {
            other.is("apps", "StatefulSet") && other.namespace == object.namespace
        });
        // The name of a set as each template would have it, and the set if it is called that.
        let mut found: Option<(&str, Option<usize>)> = None;
        for (set, other) in sets {
            let templates = other.spec();
            for template in templates.map_or(&[][..], |spec| spec.items("volumeClaimTemplates")) {
                let metadata = template.some("metadata");
                let template = metadata.and_then(|metadata| metadata.str_of("name"));
                let named = template
                    .and_then(|template| rest.strip_prefix(template)?.strip_prefix('-'))
                    .filter(|named| !named.is_empty());
                let Some(named) = named else {
                    continue;
                };
                if other.name.as_ref().is_some_and(|own| &*own.text == named) {
                    found = Some((named, Some(set)));
                } else if found.is_none() {
                    found = Some((named, None));
                }
            }
        }
        if let Some((named, set)) = found {
            let fact = self
                .facts
                .atom(sig!("TemplateClaim"), name.text.clone(), name.span);
            self.fact(field!("TemplateClaim", "left_claim"), fact, atom, name.span);
            self.text_fact(field!("TemplateClaim", "set_name"), fact, named, name.span);
            if let Some(set) = set.and_then(|set| self.atom_of(set)) {
                self.fact(field!("TemplateClaim", "owning_set"), fact, set, name.span);
            }
        }
    }
}

/// Whether something holds the pods of a workload on one node.
fn pinned(workload: &Workload<'_>) -> bool {
    let spec = workload.spec;
    let hostname = "kubernetes.io/hostname";
    let named = spec.str_of("nodeName").is_some_and(|name| !name.is_empty());
    let selector = spec.at(&["nodeSelector"]);
    let selects = selector.is_some_and(|selector| selector.some(hostname).is_some());
    let terms = spec.at(&["affinity", "podAffinity"]);
    let mut terms = terms
        .map_or(&[][..], |terms| {
            terms.items("requiredDuringSchedulingIgnoredDuringExecution")
        })
        .iter();
    named || selects || terms.any(|term| term.str_of("topologyKey") == Some(hostname))
}

/// What a class of disks is called; none when the class is not known, or is of another kind.
fn disk(model: &Model<'_>, spec: &Node) -> Option<String> {
    if spec.str_of("volumeMode") == Some("Block") {
        return None;
    }
    let name = spec.str_of("storageClassName")?;
    let class = model.object(model.find("StorageClass", None, name)?)?;
    let provisioner = class.node.str_of("provisioner")?;
    DISKS
        .contains(&provisioner)
        .then(|| format!("StorageClass `{name}` (`{provisioner}`)"))
}
