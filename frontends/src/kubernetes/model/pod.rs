//! Pods: what a workload runs.

use locus_core::Span;

use super::{Labels, Selector};
use crate::kubernetes::access::Access as _;
use crate::kubernetes::object::{Object, Text};
use crate::yaml::Node;

/// Something that has pods.
#[derive(Clone, Debug)]
pub struct Workload<'o> {
    /// The position of its object.
    pub object: usize,
    /// The pod itself, or the template of the pods: a map with `metadata` and `spec`.
    pub template: &'o Node,
    /// The `spec` of the pods.
    pub spec: &'o Node,
    /// Where the template is written: its key, or the kind of a bare pod.
    pub at: Span,
    /// The labels of the pods.
    pub labels: Labels,
    /// The selector of the controller, when it has one.
    pub selector: Option<Selector>,
    /// The containers of the pods, those of each role in their order.
    pub containers: Vec<Container<'o>>,
}

/// When a container runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContainerRole {
    /// With the others.
    Main,
    /// To its end, before the others.
    Init,
    /// Started before the others, and running beside them.
    Sidecar,
    /// Added to a running pod.
    Ephemeral,
}

impl ContainerRole {
    /// Its name in facts.
    pub fn as_str(self) -> &'static str {
        match self {
            ContainerRole::Main => "main",
            ContainerRole::Init => "init",
            ContainerRole::Sidecar => "sidecar",
            ContainerRole::Ephemeral => "ephemeral",
        }
    }
}

/// A container.
#[derive(Clone, Debug)]
pub struct Container<'o> {
    /// When it runs.
    pub role: ContainerRole,
    /// Its name.
    pub name: Option<Text>,
    /// The whole of it.
    pub node: &'o Node,
}

impl Container<'_> {
    /// Where a finding about it points: its name, or itself.
    pub fn span(&self) -> Span {
        self.name.as_ref().map_or(self.node.span, |name| name.span)
    }
}

/// Where the template of a kind is.
fn path(object: &Object) -> Option<&'static [&'static str]> {
    Some(match (object.group(), &*object.kind.text) {
        ("", "Pod") => &[],
        ("", "PodTemplate") => &["template"],
        ("", "ReplicationController")
        | ("apps", "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet")
        | ("extensions", "Deployment" | "DaemonSet" | "ReplicaSet")
        | ("apps.openshift.io", "DeploymentConfig")
        | ("batch", "Job") => &["spec", "template"],
        ("batch", "CronJob") => &["spec", "jobTemplate", "spec", "template"],
        _ => return None,
    })
}

/// The labels of a pod or template.
pub(super) fn label_pairs(template: &Node) -> impl Iterator<Item = (&str, &str)> {
    let labels = template.at(&["metadata", "labels"]);
    let entries = labels.map_or(&[][..], Node::entries).iter();
    entries.filter_map(|entry| {
        let value = entry.value.text_at().and_then(|_| entry.value.as_str())?;
        Some((&**entry.name()?, value))
    })
}

impl<'o> Workload<'o> {
    /// The pods of an object, if it has any.
    pub(super) fn of(at: usize, object: &'o Object) -> Option<Workload<'o>> {
        let path = path(object)?;
        let template = object.node.at(path)?;
        let spec = template.some("spec")?;
        let labels = label_pairs(template);
        let labels = labels
            .map(|(key, value)| (key.into(), value.into()))
            .collect();
        let span = match path.split_last() {
            None => object.kind.span,
            Some((last, before)) => {
                let above = object.node.at(before);
                let entry = above.and_then(|above| above.some_entry(last));
                entry.map_or(object.kind.span, |entry| entry.key.span)
            }
        };
        let selector = object.spec().and_then(|spec| spec.some("selector"));
        let selector = match (object.group(), &*object.kind.text) {
            ("" | "apps.openshift.io", "ReplicationController" | "DeploymentConfig") => {
                selector.map(Selector::of_labels)
            }
            ("", _) | ("batch", _) => None,
            _ => selector.map(Selector::of),
        };
        Some(Workload {
            object: at,
            template,
            spec,
            at: span,
            labels,
            selector,
            containers: containers(spec),
        })
    }

    /// A field of `securityContext` of the pods.
    pub fn security(&self, key: &str) -> Option<&'o Node> {
        let context = self.spec.some("securityContext")?;
        context.some(key)
    }
}

fn containers(spec: &Node) -> Vec<Container<'_>> {
    let lists = [
        ("initContainers", ContainerRole::Init),
        ("containers", ContainerRole::Main),
        ("ephemeralContainers", ContainerRole::Ephemeral),
    ];
    let mut all = Vec::new();
    for (key, role) in lists {
        for node in spec.items(key) {
            if node.as_mapping().is_none() {
                continue;
            }
            let sidecar =
                role == ContainerRole::Init && node.str_of("restartPolicy") == Some("Always");
            all.push(Container {
                role: if sidecar {
                    ContainerRole::Sidecar
                } else {
                    role
                },
                name: node.text_of("name").filter(|name| !name.text.is_empty()),
                node,
            });
        }
    }
    all
}
